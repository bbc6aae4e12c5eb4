//! How is one budget divided over collections that do not see each other's pages?
//!
//! Each collection says how many requests it could use at each of a list of prices; the price at which all together use
//! the budget is common to all, so that the last fetch is worth the same everywhere. Where a policy knows no prices, the
//! budget is divided by what pages are worth together.

/// How many prices there are.
pub const PRICES: usize = 24;
/// The lowest price, and how many times each is the one before.
const LOWEST: f64 = 1e-5;
const STEP: f64 = 2.5;

/// What a collection could do with requests, in requests a second.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BudgetDemand {
    /// Visits to known pages at each of the [`prices`]; empty if the policy knows no prices.
    pub known: Vec<f64>,
    /// The worth of all known pages: each by its weight, and by the chance that it changes between two visits.
    pub weight: f64,
    /// Visits to new pages that could be made.
    pub new: f64,
    /// The share for new pages while known ones are due.
    pub discovery: f64,
    /// More has not been used lately.
    pub usable: f64,
    /// More is not allowed.
    pub limit: f64,
}

/// By what a budget is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BudgetSplit {
    /// In equal parts: what others are measured against.
    Equal,
    /// In proportion to the worth of all pages.
    Weight,
    /// By a price common to all.
    Price,
}

/// The prices at which collections say what they could use.
pub fn prices() -> [f64; PRICES] {
    std::array::from_fn(|n| LOWEST * STEP.powi(n as i32))
}

/// Divides `budget`: first among new pages, up to their share, an equal part for each collection; then among known
/// pages. What nobody can use is divided all the same, so that the parts add up to the budget, unless all have reached
/// their limits.
pub fn divide(split: BudgetSplit, budget: f64, demands: &[BudgetDemand]) -> Vec<f64> {
    let most: Vec<f64> = demands.iter().map(|of| of.limit.min(of.usable).max(0.0)).collect();
    let mut parts = for_new_pages(budget, demands, &most);
    let rest = budget - parts.iter().sum::<f64>();
    let room: Vec<f64> = most.iter().zip(&parts).map(|(most, part)| most - part).collect();
    let known = match split {
        BudgetSplit::Equal => fill(rest, &vec![1.0; demands.len()], &room),
        BudgetSplit::Price if has_prices(demands) => by_price(rest, demands, &room),
        _ => fill(rest, &weights(demands), &room),
    };
    parts.iter_mut().zip(known).for_each(|(part, known)| *part += known);
    // What pages that are known and new leave over, and then what nobody has used lately.
    for ceiling in [most, demands.iter().map(|of| of.limit).collect()] {
        let rest = budget - parts.iter().sum::<f64>();
        let room: Vec<f64> = ceiling.iter().zip(&parts).map(|(most, part)| most - part).collect();
        let shares: Vec<f64> = parts.iter().map(|part| part + 0.01 * budget).collect();
        parts.iter_mut().zip(fill(rest, &shares, &room)).for_each(|(part, more)| *part += more);
    }
    parts
}

/// The parts that go to new pages: all of the budget where no page is known.
fn for_new_pages(budget: f64, demands: &[BudgetDemand], most: &[f64]) -> Vec<f64> {
    let wants: Vec<&BudgetDemand> = demands.iter().filter(|of| of.new > 0.0).collect();
    let is_nothing_known = demands.iter().all(|of| of.weight <= 0.0);
    let share = match wants.len() {
        0 => return vec![0.0; demands.len()],
        _ if is_nothing_known => 1.0,
        count => wants.iter().map(|of| of.discovery).sum::<f64>() / count as f64,
    };
    let equal: Vec<f64> = demands.iter().map(|of| f64::from(of.new > 0.0)).collect();
    let room: Vec<f64> = demands.iter().zip(most).map(|(of, most)| of.new.min(*most)).collect();
    fill(budget * share, &equal, &room)
}

/// Whether all that know pages know prices.
fn has_prices(demands: &[BudgetDemand]) -> bool {
    demands.iter().all(|of| of.weight <= 0.0 || of.known.len() == PRICES)
}

fn weights(demands: &[BudgetDemand]) -> Vec<f64> {
    demands.iter().map(|of| of.weight).collect()
}

/// How many halvings find the price: to a millionth of the distance of two prices.
const HALVINGS: usize = 30;

/// The parts at the price at which they add up to `budget`, or what can be used at the lowest price.
fn by_price(budget: f64, demands: &[BudgetDemand], room: &[f64]) -> Vec<f64> {
    let at = |place: f64| -> Vec<f64> {
        let wanted = demands.iter().map(|of| wanted_at(&of.known, place));
        wanted.zip(room).map(|(wanted, room)| wanted.min(*room).max(0.0)).collect()
    };
    let (mut low, mut high) = (0.0, (PRICES - 1) as f64);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        let is_low = at(middle).iter().sum::<f64>() > budget;
        *(if is_low { &mut low } else { &mut high }) = middle;
    }
    let parts = at(high);
    // Even at the highest price more may be wanted than there is: pages that must be visited at the latest.
    let all: f64 = parts.iter().sum();
    let scale = if all > budget { budget.max(0.0) / all } else { 1.0 };
    parts.into_iter().map(|part| part * scale).collect()
}

/// What is wanted between two prices, by the number of the price: flows are nearly straight in logarithms.
fn wanted_at(known: &[f64], place: f64) -> f64 {
    let below = place.floor() as usize;
    let (Some(&low), part) = (known.get(below), place.fract()) else { return 0.0 };
    let high = known.get(below + 1).copied().unwrap_or(low);
    if low > 0.0 && high > 0.0 {
        (low.ln() * (1.0 - part) + high.ln() * part).exp()
    } else {
        low * (1.0 - part) + high * part
    }
}

/// Divides `amount` in proportion to `shares`, nobody above its `room`; what one cannot take the others get.
fn fill(amount: f64, shares: &[f64], room: &[f64]) -> Vec<f64> {
    let mut parts = vec![0.0; shares.len()];
    let mut open: Vec<usize> =
        (0..shares.len()).filter(|&n| shares[n] > 0.0 && room[n] > 0.0).collect();
    let mut left = amount;
    while left > 0.0 && !open.is_empty() {
        let all: f64 = open.iter().map(|&n| shares[n]).sum();
        let (full, free): (Vec<usize>, Vec<usize>) =
            open.iter().partition(|&&n| left * shares[n] / all >= room[n]);
        if full.is_empty() {
            free.iter().for_each(|&n| parts[n] = left * shares[n] / all);
            break;
        }
        for &n in &full {
            parts[n] = room[n];
            left -= room[n];
        }
        open = free;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;

    /// Pages that want so many visits a second at price 1, and half of that at four times the price.
    fn known(visits: f64) -> BudgetDemand {
        BudgetDemand {
            known: prices().map(|price| visits / price.sqrt()).to_vec(),
            weight: visits,
            new: 0.0,
            discovery: 0.5,
            usable: f64::INFINITY,
            limit: f64::INFINITY,
        }
    }

    fn assert_parts(parts: &[f64], want: &[f64]) {
        let near =
            parts.iter().zip(want).all(|(part, want)| (part - want).abs() < 1e-3 * want.max(0.1));
        assert!(near && parts.len() == want.len(), "{parts:?} instead of {want:?}");
    }

    #[test]
    fn the_last_fetch_costs_the_same_everywhere() {
        let mut quick = known(1.0);
        // Worth nothing above a price of 4.
        quick
            .known
            .iter_mut()
            .zip(prices())
            .for_each(|(wanted, price)| *wanted = if price > 4.0 { 0.0 } else { 9.0 });
        let demands = [known(2.0), known(6.0), quick];
        // At price 16 the first two want 0.5 and 1.5.
        assert_parts(&divide(BudgetSplit::Price, 2.0, &demands), &[0.5, 1.5, 0.0]);
        let cheap = divide(BudgetSplit::Price, 17.0, &demands);
        assert_parts(&cheap, &[2.0, 6.0, 9.0]);
    }

    #[test]
    fn by_weight_what_one_cannot_take_the_others_get() {
        let demands = [known(1.0), BudgetDemand { usable: 2.0, ..known(8.0) }, known(3.0)];
        assert_parts(&divide(BudgetSplit::Weight, 10.0, &demands), &[2.0, 2.0, 6.0]);
        let nobody = [
            BudgetDemand { usable: 1.0, ..known(1.0) },
            BudgetDemand { usable: 1.0, ..known(1.0) },
        ];
        assert_parts(&divide(BudgetSplit::Weight, 10.0, &nobody), &[5.0, 5.0]);
        let limited =
            [BudgetDemand { limit: 1.0, ..known(1.0) }, BudgetDemand { limit: 2.0, ..known(1.0) }];
        assert_parts(&divide(BudgetSplit::Price, 10.0, &limited), &[1.0, 2.0]);
    }

    #[test]
    fn new_pages_get_their_share_in_equal_parts() {
        let new = |pages: f64, of: BudgetDemand| BudgetDemand { new: pages, ..of };
        let demands = [new(100.0, known(1.0)), known(1.0), new(1.0, known(2.0))];
        assert_parts(&divide(BudgetSplit::Price, 8.0, &demands), &[4.0, 1.0, 3.0]);
        let fresh = || BudgetDemand { new: 9.0, weight: 0.0, known: Vec::new(), ..known(1.0) };
        assert_parts(&divide(BudgetSplit::Price, 8.0, &[fresh(), fresh()]), &[4.0, 4.0]);
    }

    #[test]
    fn parts_add_up_to_the_budget_whatever_is_wanted() {
        let mut random = SplitMix64::new(1);
        for _ in 0..2000 {
            let mut size = || {
                if random.uniform() < 0.2 { 0.0 } else { (20.0 * random.uniform() - 10.0).exp() }
            };
            let demands: Vec<BudgetDemand> = (0..6)
                .map(|n| BudgetDemand {
                    known: if n == 0 { Vec::new() } else { known(size()).known },
                    weight: size(),
                    new: size(),
                    usable: size(),
                    ..known(1.0)
                })
                .collect();
            let budget = size() + 0.1;
            for split in [BudgetSplit::Equal, BudgetSplit::Weight, BudgetSplit::Price] {
                let parts = divide(split, budget, &demands);
                let all: f64 = parts.iter().sum();
                assert!((all / budget - 1.0).abs() < 1e-6, "{all} of {budget}: {demands:?}");
                assert!(parts.iter().all(|part| *part >= 0.0), "{parts:?}");
            }
        }
        assert!(divide(BudgetSplit::Price, 5.0, &[]).is_empty());
    }
}
