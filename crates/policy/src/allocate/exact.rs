//! What is the exact optimum for one budget over all pages?

use super::objective::Objective;
use super::threshold::PriceSearch;
use super::{Allocation, Demand, parallel};
use crate::index::IntervalLimits;

/// Above this many pages the search starts from the threshold of a sample.
const MANY: usize = 1 << 17;
const SAMPLE: usize = 1 << 15;

/// Divides `budget` (cost per unit of time) over pages so that `objective` is best.
///
/// The problem is convex, so the conditions of Karush, Kuhn and Tucker decide: every page is fetched
/// at the frequency where its marginal gain per cost is μ, or not at all where it never is that much
/// (seed eq. 28; [`Objective::frequency`] has the formulas). μ is found to rounding error, in about
/// a dozen passes over the pages.
///
/// `limits` bound every interval. Longest intervals that cost more than the budget are all stretched
/// alike until they fit; then μ is infinite. Where the shortest intervals, or pages that never
/// change, cannot use the whole budget, μ is 0 and the rest is left unspent.
///
/// ```
/// use evercrawl_policy::allocate::{Demand, Objective, allocate};
/// use evercrawl_policy::index::IntervalLimits;
///
/// let pages: Vec<Demand> = (1..=5).map(|rate| Demand::new(f64::from(rate), 1.0)).collect();
/// let best = allocate(Objective::Freshness, &pages, 5.0, IntervalLimits::NONE);
/// assert!((best.frequency[0] - 1.14989).abs() < 1e-5);
/// assert_eq!(best.frequency[4], 0.0); // The page that changes most is not worth its fetches.
/// ```
pub fn allocate(
    objective: Objective,
    pages: &[Demand],
    budget: f64,
    limits: IntervalLimits,
) -> Allocation {
    let bounds = FrequencyBounds::new(limits);
    let least = parallel::sum(pages, |page| page.price() * bounds.low);
    if budget.is_nan() || budget <= least {
        return stretched(pages, budget, bounds.low, least);
    }
    let threshold = find(objective, pages, budget, bounds);
    let frequency = parallel::map(pages, |page| {
        finite(threshold.mix(|mu| bounds.frequency(objective, page, mu)))
    });
    Allocation { mu: threshold.mu, frequency }
}

/// The interval limits, read as frequencies.
#[derive(Debug, Clone, Copy)]
pub(super) struct FrequencyBounds {
    pub(super) low: f64,
    high: f64,
}

impl FrequencyBounds {
    pub(super) fn new(limits: IntervalLimits) -> Self {
        let low = if limits.max > 0.0 { 1.0 / limits.max } else { 0.0 };
        let high = if limits.min > 0.0 { 1.0 / limits.min } else { f64::INFINITY };
        Self { low: low.min(high), high }
    }

    /// The frequency of a page at threshold `mu`.
    pub(super) fn frequency(self, objective: Objective, page: &Demand, mu: f64) -> f64 {
        self.at_price(objective, page, mu * page.price())
    }

    /// The frequency of a page at the price of one more fetch.
    pub(super) fn at_price(self, objective: Objective, page: &Demand, price: f64) -> f64 {
        objective.frequency(page.rate, page.weight, price).clamp(self.low, self.high)
    }
}

/// The threshold that spends the budget, with nothing but the interval limits to heed.
pub(super) fn find(
    objective: Objective,
    pages: &[Demand],
    budget: f64,
    bounds: FrequencyBounds,
) -> PriceSearch {
    let spent =
        |mu: f64| parallel::sum(pages, |page| page.price() * bounds.frequency(objective, page, mu));
    PriceSearch::find(start(objective, pages, budget, bounds), budget, spent)
}

/// A threshold near the answer, from a sample taken at even steps.
fn start(objective: Objective, pages: &[Demand], budget: f64, bounds: FrequencyBounds) -> f64 {
    if pages.len() < MANY {
        return 1.0;
    }
    let stride = pages.len() / SAMPLE;
    let sample: Vec<Demand> = pages.iter().step_by(stride).copied().collect();
    let share = budget * sample.len() as f64 / pages.len() as f64;
    find(objective, &sample, share, bounds).mu
}

/// Every page at its longest interval, and longer still where the budget does not reach.
fn stretched(pages: &[Demand], budget: f64, low: f64, least: f64) -> Allocation {
    let share = if budget > 0.0 && least > 0.0 { budget / least } else { 0.0 };
    Allocation { mu: f64::INFINITY, frequency: vec![low * share; pages.len()] }
}

/// With a budget that nothing can use up, a page would be fetched without pause: say the most that
/// a number can.
pub(super) fn finite(frequency: f64) -> f64 {
    frequency.min(f64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allocate::testing::{assert_close, number, numbers, population};
    use crate::random::SplitMix64;
    use crate::testing::golden;
    use proptest::prelude::*;

    const ALL: [Objective; 4] =
        [Objective::Freshness, Objective::Age, Objective::Harmonic, Objective::Random];

    fn best(objective: Objective, pages: &[Demand], budget: f64) -> Allocation {
        allocate(objective, pages, budget, IntervalLimits::NONE)
    }

    fn spent(pages: &[Demand], frequency: &[f64]) -> f64 {
        pages.iter().zip(frequency).map(|(page, f)| page.cost * f).sum()
    }

    #[test]
    fn chos_example_matches_the_reference_numbers() {
        for key in ["cho5", "cho5_weighted", "cho5_tight"] {
            let Some(golden) = golden(key) else { return };
            let pages: Vec<Demand> = numbers(&golden["lam"])
                .into_iter()
                .zip(numbers(&golden["w"]))
                .map(|(rate, weight)| Demand::new(rate, weight))
                .collect();
            check(&golden, &pages);
            for (objective, name) in [
                (Objective::Freshness, "f_opt"),
                (Objective::Age, "f_age"),
                (Objective::Random, "f_azar"),
                (Objective::Harmonic, "f_harmonic"),
            ] {
                let got = best(objective, &pages, number(&golden, "B")).frequency;
                for (got, want) in got.iter().zip(numbers(&golden[name])) {
                    assert_close(*got, want, 1e-9);
                }
            }
        }
    }

    #[test]
    fn five_hundred_pages_match_the_reference_numbers() {
        for size in ["250", "500", "1000"] {
            for tail in ["", "_pareto"] {
                let Some(golden) = golden(&format!("exp500_B{size}{tail}")) else { return };
                let weight = |u: f64| if tail.is_empty() { 1.0 } else { 1.0 / u.sqrt() };
                check(&golden, &population(42, 500, |u| -u.ln(), weight));
            }
        }
    }

    /// Everything that the reference says of a population without naming its pages.
    fn check(golden: &serde_json::Value, pages: &[Demand]) {
        let budget = number(golden, "B");
        let want = |key: &str| number(golden, key);
        let even = |objective: Objective, f: &[f64]| objective.value(pages, f);
        let total: f64 = pages.iter().map(|page| page.rate).sum();
        let uniform = vec![budget / pages.len() as f64; pages.len()];
        let proportional: Vec<f64> = pages.iter().map(|p| p.rate * budget / total).collect();
        let fresh = best(Objective::Freshness, pages, budget);
        let age = best(Objective::Age, pages, budget);
        let random = best(Objective::Random, pages, budget);
        let harmonic = best(Objective::Harmonic, pages, budget);
        let zero = fresh.frequency.iter().filter(|f| **f == 0.0).count();
        for (got, key) in [
            (fresh.mu, "mu"),
            (even(Objective::Freshness, &fresh.frequency), "F_opt"),
            (even(Objective::Freshness, &uniform), "F_uniform"),
            (even(Objective::Freshness, &proportional), "F_prop"),
            (even(Objective::Freshness, &random.frequency), "F_with_azar_rates_even"),
            (even(Objective::Random, &random.frequency), "F_azar_randomized"),
            (random.mu, "mu_azar"),
            (even(Objective::Freshness, &harmonic.frequency), "F_with_harmonic_rates_even"),
            (harmonic.mu, "mu_harmonic"),
            (even(Objective::Harmonic, &harmonic.frequency), "harmonic_cost"),
            (even(Objective::Age, &age.frequency), "age_opt"),
            (age.mu, "mu_age"),
            (even(Objective::Age, &uniform), "age_uniform"),
            (even(Objective::Age, &proportional), "age_prop"),
            (even(Objective::Freshness, &age.frequency), "F_of_age_opt"),
            (zero as f64, "zero_pages"),
        ] {
            // In one population a page stands at its very threshold, where the reference leaves a
            // little unspent; at 70 digits the optimum is ours: .616800885771248097...
            let tolerance = if key == "F_opt" { 2e-9 } else { 1e-9 };
            assert!((got - want(key)).abs() <= tolerance * want(key).max(1.0), "{key}: {got}");
        }
    }

    #[test]
    fn costs_match_the_reference_numbers() {
        let Some(golden) = golden("cho5_sizes") else { return };
        let pages: Vec<Demand> = numbers(&golden["c"])
            .into_iter()
            .zip(1..)
            .map(|(cost, rate)| Demand { rate: f64::from(rate), weight: 1.0, cost })
            .collect();
        let got = best(Objective::Freshness, &pages, number(&golden, "B"));
        for (got, want) in got.frequency.iter().zip(numbers(&golden["f"])) {
            assert_close(*got, want, 1e-9);
        }
        assert_close(got.mu, number(&golden, "mu"), 1e-9);
        let value = Objective::Freshness.value(&pages, &got.frequency);
        assert_close(value, number(&golden, "F"), 1e-9);
    }

    #[test]
    fn edges_are_answered() {
        let page = Demand::new(1.0, 1.0);
        for objective in ALL {
            assert!(best(objective, &[], 5.0).frequency.is_empty());
            for nothing in [0.0, -1.0, f64::NAN] {
                let none = best(objective, &[page, page], nothing);
                assert_eq!((none.mu, none.frequency), (f64::INFINITY, vec![0.0, 0.0]));
            }
            for budget in [1e-9, 0.01, 1.0, 1e9] {
                let alone = best(objective, &[page], budget);
                assert!(
                    (alone.frequency[0] / budget - 1.0).abs() < 1e-9,
                    "{objective:?} {alone:?}"
                );
            }
            let still = best(objective, &[Demand::new(0.0, 1.0), Demand::new(1.0, 0.0)], 5.0);
            assert_eq!((still.mu, still.frequency), (0.0, vec![0.0, 0.0]));
            let endless = best(objective, &[page], f64::INFINITY);
            assert!(endless.frequency[0] > 1e100, "{endless:?}");
        }
        let restless = [page, Demand::new(f64::INFINITY, 1.0)];
        assert_eq!(best(Objective::Freshness, &restless, 2.0).frequency[1], 0.0);
        assert!(best(Objective::Age, &restless, 2.0).frequency[1] > 1.0);
    }

    #[test]
    fn limits_bound_every_interval() {
        let pages = population(1, 200, |u| -u.ln(), |u| 1.0 / u);
        let limits = IntervalLimits { min: 0.5, max: 10.0 };
        for objective in ALL {
            let got = allocate(objective, &pages, 100.0, limits);
            assert!(got.frequency.iter().all(|f| (0.1..=2.0).contains(f)));
            assert!((spent(&pages, &got.frequency) - 100.0).abs() < 1e-9);
            let rich = allocate(objective, &pages, 1e6, limits);
            assert_eq!((rich.mu, rich.frequency[0]), (0.0, 2.0));
            let poor = allocate(objective, &pages, 10.0, limits);
            assert_eq!(poor.mu, f64::INFINITY);
            assert!((spent(&pages, &poor.frequency) - 10.0).abs() < 1e-9);
        }
    }

    #[test]
    fn many_pages_are_solved_as_few_are() {
        let pages = population(3, MANY + 17, |u| -u.ln(), |u| 1.0 / u.sqrt());
        let got = best(Objective::Freshness, &pages, 50_000.0);
        assert!((spent(&pages, &got.frequency) / 50_000.0 - 1.0).abs() < 1e-11);
    }

    /// Pages over twelve orders of magnitude.
    fn wide() -> impl Strategy<Value = Vec<Demand>> {
        let decades = || (-6.0..6.0_f64).prop_map(|e| 10f64.powf(e));
        let page = (decades(), decades(), 0.1..10.0_f64);
        prop::collection::vec(
            page.prop_map(|(rate, weight, cost)| Demand { rate, weight, cost }),
            1..40,
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn the_optimality_conditions_hold(pages in wide(), budget in -6.0..6.0_f64) {
            let budget = 10f64.powf(budget);
            for objective in ALL {
                let got = best(objective, &pages, budget);
                prop_assert!((spent(&pages, &got.frequency) / budget - 1.0).abs() < 1e-9, "{objective:?}");
                for (page, f) in pages.iter().zip(&got.frequency) {
                    prop_assert!(f.is_finite() && *f >= 0.0);
                    // A little lower threshold asks for at least as much, a little higher for no more.
                    let at = |mu: f64| objective.frequency(page.rate, page.weight, mu * page.cost);
                    prop_assert!(at(got.mu * (1.0 - 1e-9)) >= *f * (1.0 - 1e-9), "{objective:?}");
                    prop_assert!(at(got.mu * (1.0 + 1e-9)) <= *f * (1.0 + 1e-9), "{objective:?}");
                }
            }
        }

        #[test]
        fn more_budget_means_more_for_every_page(pages in wide(), budget in -3.0..3.0_f64) {
            let budget = 10f64.powf(budget);
            for objective in ALL {
                let (less, more) = (best(objective, &pages, budget), best(objective, &pages, 1.5 * budget));
                prop_assert!(more.mu <= less.mu * (1.0 + 1e-12));
                for (less, more) in less.frequency.iter().zip(&more.frequency) {
                    prop_assert!(*more >= less * (1.0 - 1e-9), "{objective:?}");
                }
            }
        }

        #[test]
        fn units_do_not_matter(pages in wide(), budget in -3.0..3.0_f64, unit in 0.01..100.0_f64) {
            let budget = 10f64.powf(budget);
            let scaled: Vec<Demand> = pages.iter().map(|p| Demand { rate: p.rate * unit, weight: p.weight * 7.0, cost: p.cost }).collect();
            for objective in ALL {
                let (here, there) = (best(objective, &pages, budget), best(objective, &scaled, budget * unit));
                for (f, g) in here.frequency.iter().zip(&there.frequency) {
                    prop_assert!((f * unit - g).abs() <= 1e-8 * (f * unit) + 1e-12 * budget * unit, "{objective:?} {f} {g}");
                }
            }
        }

        #[test]
        fn no_random_division_is_better(pages in wide(), budget in -3.0..3.0_f64, seed in any::<u64>()) {
            let (budget, mut random) = (10f64.powf(budget), SplitMix64::new(seed));
            for objective in ALL {
                let got = best(objective, &pages, budget).frequency;
                let parts: Vec<f64> = got.iter().map(|f| (f + 1e-3 * budget) * random.uniform()).collect();
                let total = spent(&pages, &parts);
                let other: Vec<f64> = parts.iter().map(|part| part * budget / total).collect();
                let (ours, theirs) = (objective.value(&pages, &got), objective.value(&pages, &other));
                let better = match objective {
                    Objective::Freshness | Objective::Random => theirs > ours + 1e-12,
                    Objective::Age | Objective::Harmonic => theirs < ours * (1.0 - 1e-12),
                };
                prop_assert!(!better, "{objective:?}: {theirs} beats {ours}");
            }
        }
    }
}
