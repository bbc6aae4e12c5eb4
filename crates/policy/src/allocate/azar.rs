//! Which allocation has a closed form?
//!
//! With randomly spaced fetches, Σ w f/(f+λ) is maximised exactly after one sort (Azar, Horvitz,
//! Lubetzky, Peres and Shahaf, PNAS 2018). Evenly spaced fetches at those rates reach about 99 % of
//! the freshness optimum.

use super::{Allocation, Demand};

/// Divides `budget` over pages by the closed form, in O(n log n).
///
/// f = √(wλ/(μc)) - λ for the pages with the largest w/(cλ), 0 for the others; among the first k the
/// budget gives √μ = Σ√(wλc)/(B + Σcλ), and k is the largest for which all of them get something.
/// The same as [`allocate`](super::allocate) with [`Objective::Random`](super::Objective::Random),
/// without limits and without iteration.
pub fn closed_form(pages: &[Demand], budget: f64) -> Allocation {
    let worth = |page: &Demand| page.weight / (page.price() * page.rate);
    let useful =
        |page: &Demand| page.rate > 1e-100 && page.rate < f64::INFINITY && page.weight > 0.0;
    let mut order: Vec<usize> = (0..pages.len()).filter(|&i| useful(&pages[i])).collect();
    order.sort_unstable_by(|&a, &b| worth(&pages[b]).total_cmp(&worth(&pages[a])));
    let mut frequency = vec![0.0; pages.len()];
    if budget.is_nan() || budget <= 0.0 || order.is_empty() {
        let mu = if budget > 0.0 { 0.0 } else { f64::INFINITY };
        return Allocation { mu, frequency };
    }
    let root = root_mu(order.iter().map(|&i| &pages[i]), budget, worth);
    for &i in &order {
        let page = &pages[i];
        let wanted = (page.weight * page.rate / page.price()).sqrt() / root - page.rate;
        frequency[i] = wanted.clamp(0.0, f64::MAX);
    }
    Allocation { mu: root * root, frequency }
}

/// √μ, from the pages in falling order of worth.
fn root_mu<'a>(
    pages: impl Iterator<Item = &'a Demand>,
    budget: f64,
    worth: impl Fn(&Demand) -> f64,
) -> f64 {
    let (mut roots, mut rates, mut root) = (0.0, budget, 0.0);
    for page in pages {
        // A page joins as long as it is worth more than the threshold without it.
        if root > 0.0 && worth(page) <= root * root {
            break;
        }
        roots += (page.weight * page.rate * page.price()).sqrt();
        rates += page.price() * page.rate;
        root = roots / rates;
    }
    root
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allocate::{Objective, allocate};
    use crate::index::IntervalLimits;
    use proptest::prelude::*;

    #[test]
    fn edges_are_answered() {
        assert!(closed_form(&[], 1.0).frequency.is_empty());
        assert_eq!(closed_form(&[Demand::new(1.0, 1.0)], 0.0).frequency, [0.0]);
        assert_eq!(closed_form(&[Demand::new(0.0, 1.0)], 1.0).frequency, [0.0]);
        assert_eq!(closed_form(&[Demand::new(f64::NAN, f64::NAN)], 1.0).frequency, [0.0]);
    }

    proptest! {
        #[test]
        fn the_closed_form_is_what_the_search_finds(
            pages in prop::collection::vec((-4.0..4.0_f64, -4.0..4.0_f64, 0.1..10.0_f64), 1..50),
            budget in -3.0..3.0_f64,
        ) {
            let pages: Vec<Demand> = pages
                .into_iter()
                .map(|(rate, weight, cost)| Demand { rate: 10f64.powf(rate), weight: 10f64.powf(weight), cost })
                .collect();
            let budget = 10f64.powf(budget);
            let (closed, searched) = (closed_form(&pages, budget), allocate(Objective::Random, &pages, budget, IntervalLimits::NONE));
            prop_assert!((closed.mu / searched.mu - 1.0).abs() < 1e-9);
            for (a, b) in closed.frequency.iter().zip(&searched.frequency) {
                prop_assert!((a - b).abs() < 1e-6 * budget, "{a} {b}");
            }
        }
    }
}
