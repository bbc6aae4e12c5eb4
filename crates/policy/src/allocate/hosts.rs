//! What is the exact optimum when politeness also caps the fetches of each host?
//!
//! Kolobov et al. (SIGIR 2019) treat the problem; the conditions used here are our own derivation: a
//! host whose cap binds charges its pages a price ν on top of μ, so that the cap is just met.

use super::exact::{self, FrequencyBounds, finite};
use super::objective::Objective;
use super::threshold::PriceSearch;
use super::{Allocation, Demand};
use crate::index::IntervalLimits;

/// A division of the budget under host caps.
#[derive(Debug, Clone, PartialEq)]
pub struct CappedAllocation {
    /// The division; its μ is the price of the budget alone.
    pub allocation: Allocation,
    /// What a fetch of each host costs on top: 0 where the cap does not bind.
    pub host_price: Vec<f64>,
}

/// Divides `budget` so that `objective` is best and no host is fetched more often than its cap.
///
/// `hosts` numbers each page's host and `caps` holds fetches per unit of time by that number; a page
/// with a number beyond `caps`, or without one, is uncapped. Every page satisfies marginal gain =
/// μ c + ν(host), ν >= 0 and only where the cap is met: nested bisection, the caps inside the budget.
/// A cap too low for its pages' longest intervals stretches them alike.
pub fn allocate_capped(
    objective: Objective,
    pages: &[Demand],
    hosts: &[u32],
    caps: &[f64],
    budget: f64,
    limits: IntervalLimits,
) -> CappedAllocation {
    let groups = Groups::new(pages.len(), hosts, caps.len());
    let problem = Problem { objective, pages, caps, groups, bounds: FrequencyBounds::new(limits) };
    // Without caps more is spent, so that threshold is a little too high: a good place to start.
    let start = exact::find(objective, pages, budget, problem.bounds).mu;
    let threshold = PriceSearch::find(start, budget, |mu| problem.spent(mu));
    let (frequency, host_price) = problem.at(threshold.mu);
    let other = threshold.other().map(|mu| problem.at(mu).0);
    let mixed = (0..pages.len()).map(|i| {
        finite(match &other {
            Some(other) => threshold.blend(frequency[i], other[i]),
            None => frequency[i],
        })
    });
    let allocation = Allocation { mu: threshold.mu, frequency: mixed.collect() };
    CappedAllocation { allocation, host_price }
}

struct Problem<'a> {
    objective: Objective,
    pages: &'a [Demand],
    caps: &'a [f64],
    groups: Groups,
    bounds: FrequencyBounds,
}

impl Problem<'_> {
    fn spent(&self, mu: f64) -> f64 {
        let (frequency, _) = self.at(mu);
        self.pages.iter().zip(&frequency).map(|(page, f)| page.price() * f).sum()
    }

    /// Every page's frequency, and every host's price, when the budget's price is `mu`.
    fn at(&self, mu: f64) -> (Vec<f64>, Vec<f64>) {
        let mut frequency = vec![0.0; self.pages.len()];
        for &i in self.groups.members(self.caps.len()) {
            frequency[i as usize] = self.frequency(i, mu, 0.0);
        }
        let serve = |(host, cap): (usize, &f64)| {
            self.serve(self.groups.members(host), cap.max(0.0), mu, &mut frequency)
        };
        let prices = self.caps.iter().enumerate().map(serve).collect();
        (frequency, prices)
    }

    /// Sets the frequencies of one host's pages within its cap, and returns the price that this takes.
    fn serve(&self, members: &[u32], cap: f64, mu: f64, frequency: &mut [f64]) -> f64 {
        if self.total(members, mu, 0.0) <= cap {
            for &i in members {
                frequency[i as usize] = self.frequency(i, mu, 0.0);
            }
            return 0.0;
        }
        let price = PriceSearch::find(mu, cap, |nu| self.total(members, mu, nu));
        // Where even the longest intervals exceed the cap, the cap wins.
        let least = self.bounds.low * members.len() as f64;
        let stretch = if least > cap { cap / least } else { 1.0 };
        for &i in members {
            frequency[i as usize] = stretch * price.mix(|nu| self.frequency(i, mu, nu));
        }
        price.mu
    }

    fn total(&self, members: &[u32], mu: f64, nu: f64) -> f64 {
        members.iter().map(|&i| self.frequency(i, mu, nu)).sum()
    }

    fn frequency(&self, page: u32, mu: f64, nu: f64) -> f64 {
        let page = &self.pages[page as usize];
        self.bounds.at_price(self.objective, page, mu * page.price() + nu)
    }
}

/// The pages of each host, the uncapped ones last.
struct Groups {
    start: Vec<usize>,
    pages: Vec<u32>,
}

impl Groups {
    fn new(pages: usize, hosts: &[u32], caps: usize) -> Self {
        let host = |page: usize| hosts.get(page).map_or(caps, |h| (*h as usize).min(caps));
        let mut start = vec![0; caps + 2];
        (0..pages).for_each(|page| start[host(page) + 1] += 1);
        (0..=caps).for_each(|h| start[h + 1] += start[h]);
        let (mut next, mut sorted) = (start.clone(), vec![0; pages]);
        for page in 0..pages {
            let slot = &mut next[host(page)];
            sorted[*slot] = page as u32;
            *slot += 1;
        }
        Self { start, pages: sorted }
    }

    fn members(&self, host: usize) -> &[u32] {
        &self.pages[self.start[host]..self.start[host + 1]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allocate::testing::{assert_close, number, numbers, population};
    use crate::allocate::{allocate, testing};
    use crate::testing::golden;
    use proptest::prelude::*;

    #[test]
    fn eight_polite_pages_match_the_reference_numbers() {
        let Some(golden) = golden("polite8") else { return };
        let pages: Vec<Demand> = numbers(&golden["lam"])
            .into_iter()
            .zip(numbers(&golden["w"]))
            .map(|(rate, weight)| Demand::new(rate, weight))
            .collect();
        let hosts: Vec<u32> = numbers(&golden["host"]).iter().map(|h| *h as u32).collect();
        let caps = ["0", "1", "2"].map(|host| number(&golden["cap"], host));
        let budget = number(&golden, "B");
        let freshness = Objective::Freshness;
        let got = allocate_capped(freshness, &pages, &hosts, &caps, budget, IntervalLimits::NONE);
        for (got, want) in got.allocation.frequency.iter().zip(numbers(&golden["f"])) {
            assert_close(*got, want, 1e-6);
        }
        for (host, name) in ["0", "1", "2"].into_iter().enumerate() {
            assert_close(got.host_price[host], number(&golden["nu"], name), 1e-6);
        }
        let value = |f: &[f64]| freshness.value(&pages, f);
        assert_close(value(&got.allocation.frequency), number(&golden, "F"), 1e-9);
        let free = allocate(freshness, &pages, budget, IntervalLimits::NONE);
        assert_close(value(&free.frequency), number(&golden, "F_no_caps"), 1e-9);
    }

    #[test]
    fn caps_that_sum_below_the_budget_leave_it_unspent() {
        let pages = population(5, 30, |u| -u.ln(), |_| 1.0);
        let hosts: Vec<u32> = (0..30).map(|i| i % 3).collect();
        let got = allocate_capped(
            Objective::Freshness,
            &pages,
            &hosts,
            &[1.0, 2.0, 3.0],
            50.0,
            IntervalLimits::NONE,
        );
        assert_eq!(got.allocation.mu, 0.0);
        assert!((got.allocation.frequency.iter().sum::<f64>() - 6.0).abs() < 1e-9);
    }

    #[test]
    fn a_cap_of_zero_closes_a_host() {
        let pages = population(5, 4, |u| -u.ln(), |_| 1.0);
        for objective in [Objective::Freshness, Objective::Age, Objective::Harmonic] {
            let got = allocate_capped(
                objective,
                &pages,
                &[0, 0, 1, 1],
                &[0.0, 9.0],
                2.0,
                IntervalLimits::NONE,
            );
            assert_eq!(got.allocation.frequency[..2], [0.0, 0.0]);
            let open: f64 = got.allocation.frequency[2..].iter().sum();
            assert!((open - 2.0).abs() < 1e-9, "{open}");
        }
    }

    #[test]
    fn a_cap_below_the_longest_intervals_stretches_them() {
        let pages = population(5, 4, |u| -u.ln(), |_| 1.0);
        let limits = IntervalLimits { min: 0.0, max: 1.0 };
        let got = allocate_capped(Objective::Freshness, &pages, &[0; 4], &[2.0], 9.0, limits);
        assert!(got.allocation.frequency.iter().all(|f| (f - 0.5).abs() < 1e-12));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]

        #[test]
        fn caps_and_budget_hold_and_prices_explain_them(seed in any::<u64>(), budget in 1.0..40.0_f64, cap in 0.5..5.0_f64) {
            let pages = testing::population(seed, 40, |u| -u.ln(), |u| 1.0 / u);
            let hosts: Vec<u32> = (0..40).map(|i| i % 7).collect();
            let caps = [cap, 2.0 * cap, 1e9, 0.1, cap, 3.0];
            for objective in [Objective::Freshness, Objective::Age, Objective::Harmonic, Objective::Random] {
                let got = allocate_capped(objective, &pages, &hosts, &caps, budget, IntervalLimits::NONE);
                let Allocation { mu, frequency } = &got.allocation;
                prop_assert!((frequency.iter().sum::<f64>() / budget - 1.0).abs() < 1e-9);
                for (host, cap) in caps.iter().enumerate() {
                    let sum: f64 = hosts.iter().zip(frequency).filter(|(h, _)| **h as usize == host).map(|(_, f)| f).sum();
                    prop_assert!(sum <= cap * (1.0 + 1e-9), "{sum} over {cap}");
                    prop_assert!(got.host_price[host] == 0.0 || sum > cap * (1.0 - 1e-9));
                }
                for (i, f) in frequency.iter().enumerate() {
                    let nu = got.host_price.get(hosts[i] as usize).copied().unwrap_or(0.0);
                    let at = |scale: f64| objective.frequency(pages[i].rate, pages[i].weight, (mu + nu) * scale);
                    prop_assert!(at(1.0 - 1e-9) >= f * (1.0 - 1e-9) && at(1.0 + 1e-9) <= f * (1.0 + 1e-9));
                }
            }
        }
    }
}
