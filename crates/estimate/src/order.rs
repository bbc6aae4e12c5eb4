//! How fresh and how old is a page on average, depending on the order in which pages are visited?
//!
//! The survey's table 1 (after Cho and Garcia-Molina): all six formulas are right as printed. Its
//! prose is not: purely random visits have exponential gaps, not Zipf ones.

use crate::poisson::{mean_age, mean_freshness, phi};

/// The order in which a crawler goes through its pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VisitOrder {
    /// The same order every cycle: every page at an even interval. The best of the three.
    Fixed,
    /// A fresh shuffle every cycle: one visit per cycle, at a random moment in it.
    RandomPerCycle,
    /// A random page each time: exponential gaps.
    PurelyRandom,
}

impl VisitOrder {
    /// Returns the mean freshness at change rate λ and fetch rate f, with r = λ/f.
    ///
    /// Fixed (1-e^-r)/r; random per cycle (1 - ((1-e^-r)/r)²)/r; purely random 1/(1+r). A page that
    /// never changes is fresh even if never fetched; one that changes and is never fetched is not.
    pub fn freshness(self, rate: f64, frequency: f64) -> f64 {
        let Some(r) = ratio(rate, frequency) else { return 1.0 };
        if r.is_infinite() {
            return 0.0;
        }
        match self {
            Self::Fixed => mean_freshness(r, 1.0),
            Self::RandomPerCycle => phi(2, r) * (1.0 + phi(1, r)),
            Self::PurelyRandom => 1.0 / (1.0 + r),
        }
    }

    /// Returns the mean age at change rate λ and fetch rate f, with r = λ/f.
    ///
    /// Times f: fixed 1/2 - 1/r + (1-e^-r)/r²; random per cycle 1/3 + (1/2-1/r)² - ((1-e^-r)/r²)²;
    /// purely random r/(1+r). Infinite for a page that changes and is never fetched.
    pub fn age(self, rate: f64, frequency: f64) -> f64 {
        let Some(r) = ratio(rate, frequency) else { return 0.0 };
        if frequency <= 0.0 {
            return f64::INFINITY;
        }
        let r = r.min(1e100);
        let times_frequency = match self {
            Self::Fixed => mean_age(r, 1.0),
            Self::RandomPerCycle => r * (2.0 * phi(4, r) + phi(3, r) * (phi(2, r) + 0.5)),
            Self::PurelyRandom => r / (1.0 + r),
        };
        times_frequency / frequency
    }
}

/// Changes per fetch; `None` for a page that never changes or is watched without a pause.
fn ratio(rate: f64, frequency: f64) -> Option<f64> {
    if rate > 0.0 && frequency < f64::INFINITY {
        Some(rate / frequency.max(0.0))
    } else if rate > 0.0 && frequency.is_nan() {
        Some(f64::INFINITY)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Uniforms, assert_close, golden, number, rows};
    use proptest::prelude::*;

    const ALL: [(VisitOrder, &str); 3] = [
        (VisitOrder::Fixed, "fixed"),
        (VisitOrder::RandomPerCycle, "random"),
        (VisitOrder::PurelyRandom, "pure"),
    ];

    #[test]
    fn the_table_matches_the_reference_numbers() {
        let Some(golden) = golden() else { return };
        for row in rows(&golden, "table1") {
            let (order, _) = ALL.into_iter().find(|(_, name)| row["policy"] == *name).unwrap();
            let r = number(row, "r");
            assert_close(order.freshness(r, 1.0), number(row, "freshness"), 1e-9);
            assert_close(order.age(r, 1.0), number(row, "age_times_f"), 1e-9);
            assert_close(order.age(2.0 * r, 2.0), number(row, "age_times_f") / 2.0, 1e-9);
        }
    }

    #[test]
    fn the_references_own_simulation_agrees() {
        let Some(golden) = golden() else { return };
        for row in rows(&golden, "table1_mc") {
            let (order, _) = ALL.into_iter().find(|(_, name)| row["policy"] == *name).unwrap();
            let r = number(row, "r");
            assert_close(order.freshness(r, 1.0), number(row, "exact_freshness"), 1e-9);
            assert_close(order.age(r, 1.0), number(row, "exact_age"), 1e-9);
            assert!((order.freshness(r, 1.0) - number(row, "mc_freshness")).abs() < 0.01);
            assert!((order.age(r, 1.0) - number(row, "mc_age")).abs() < 0.02);
        }
    }

    /// The visits of one page at frequency 1, up to `end`.
    fn visits(order: VisitOrder, end: u32, random: &mut Uniforms) -> Vec<f64> {
        match order {
            VisitOrder::Fixed => (0..end).map(f64::from).collect(),
            VisitOrder::RandomPerCycle => (0..end).map(|i| f64::from(i) + random.next()).collect(),
            VisitOrder::PurelyRandom => {
                let mut time = 0.0;
                std::iter::from_fn(|| {
                    time += random.gap(1.0);
                    (time < f64::from(end)).then_some(time)
                })
                .collect()
            }
        }
    }

    #[test]
    fn all_six_formulas_are_what_chance_shows() {
        let (mut random, end) = (Uniforms::new(9), 200_000);
        for (order, name) in ALL {
            for r in [0.5, 2.0] {
                let visits = visits(order, end, &mut random);
                let (mut fresh, mut age, mut span) = (0.0, 0.0, 0.0);
                for pair in visits.windows(2) {
                    let gap = pair[1] - pair[0];
                    let first_change = random.gap(r).min(gap);
                    fresh += first_change;
                    age += (gap - first_change).powi(2) / 2.0;
                    span += gap;
                }
                assert!((fresh / span - order.freshness(r, 1.0)).abs() < 0.01, "{name} {r}");
                assert!((age / span - order.age(r, 1.0)).abs() < 0.02, "{name} {r}");
            }
        }
    }

    #[test]
    fn edges_are_those_of_the_definition() {
        for (order, _) in ALL {
            assert_eq!(order.freshness(0.0, 0.0), 1.0);
            assert_eq!(order.age(0.0, 0.0), 0.0);
            assert_eq!(order.freshness(1.0, 0.0), 0.0);
            assert_eq!(order.age(1.0, 0.0), f64::INFINITY);
            assert_eq!(order.freshness(1.0, f64::INFINITY), 1.0);
            assert_eq!(order.age(1.0, f64::INFINITY), 0.0);
            assert_eq!(order.freshness(f64::INFINITY, 1.0), 0.0);
            assert!(order.age(f64::INFINITY, 1.0) <= 1.0);
            assert_eq!(order.freshness(1.0, f64::NAN), 0.0);
            assert_eq!(order.freshness(f64::NAN, 1.0), 1.0);
        }
    }

    proptest! {
        #[test]
        fn even_spacing_is_best(exponent in -6.0..6.0_f64) {
            let r = 10f64.powf(exponent);
            let [fixed, shuffled, random] = ALL.map(|(o, _)| (o.freshness(r, 1.0), o.age(r, 1.0)));
            let slack = 1.0 - 1e-12;
            prop_assert!(fixed.0 >= shuffled.0 * slack && shuffled.0 >= random.0 * slack);
            prop_assert!(fixed.1 * slack <= shuffled.1 && shuffled.1 * slack <= random.1);
        }

        #[test]
        fn uniform_is_never_worse_than_proportional(rates in prop::collection::vec(1e-3..1e3_f64, 1..20)) {
            let n = rates.len() as f64;
            let total: f64 = rates.iter().sum();
            let uniform: f64 = rates.iter().map(|&l| VisitOrder::Fixed.freshness(l, 1.0)).sum();
            let shared: f64 = rates.iter().map(|&l| VisitOrder::Fixed.freshness(l, l * n / total)).sum();
            prop_assert!(uniform >= shared * (1.0 - 1e-12));
        }
    }
}
