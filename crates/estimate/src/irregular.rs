//! How often does a page change, if it was checked whenever we came by?
//!
//! Each check knows only whether something changed since the one before. The likelihood of the rate
//! is Π(1 - e^(-λt)) over the changed intervals times e^(-λU), U the unchanged time (Cho).

use crate::gamma::Gamma;
use crate::root;
use crate::special::gamma_p_inverse;

/// One check: the time since the one before, and whether the page had changed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimedCheck {
    /// Time since the check before.
    pub interval: f64,
    /// Whether the page was found changed.
    pub changed: bool,
}

/// A rate with the ends of its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ConfidenceInterval {
    /// The estimate.
    pub rate: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end; infinite where nothing bounds the rate.
    pub high: f64,
}

/// The changed and unchanged intervals of one page, ready for the estimators.
///
/// Intervals that are not positive and finite are left out: they tell nothing.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct IrregularChecks {
    changed: Vec<f64>,
    changed_time: f64,
    unchanged: Vec<f64>,
    unchanged_time: f64,
}

impl IrregularChecks {
    /// Sorts checks into changed and unchanged intervals.
    pub fn new(checks: impl IntoIterator<Item = TimedCheck>) -> Self {
        let mut sorted = Self::default();
        for check in checks {
            if !(check.interval > 0.0 && check.interval < f64::INFINITY) {
                continue;
            }
            let (list, time) = if check.changed {
                (&mut sorted.changed, &mut sorted.changed_time)
            } else {
                (&mut sorted.unchanged, &mut sorted.unchanged_time)
            };
            list.push(check.interval);
            *time += check.interval;
        }
        sorted
    }

    /// Returns the same with one imaginary changed and one imaginary unchanged interval of `length`.
    ///
    /// LambdaCrawl's regularisation (its released code, with length ½): then the estimate is neither
    /// zero nor infinite.
    #[must_use]
    pub fn with_pseudo(mut self, length: f64) -> Self {
        if length > 0.0 && length < f64::INFINITY {
            self.changed.push(length);
            self.changed_time += length;
            self.unchanged.push(length);
            self.unchanged_time += length;
        }
        self
    }

    /// Returns the maximum-likelihood rate: the root of Σ_changed t/(e^(λt)-1) = U.
    ///
    /// 0 if nothing changed, infinite if everything did; the root is unique otherwise, and lies
    /// between X/(all time) and X/U.
    pub fn mle(&self) -> f64 {
        self.extreme().unwrap_or_else(|| {
            let x = self.changed.len() as f64;
            let (low, high) =
                (x / (self.changed_time + self.unchanged_time), x / self.unchanged_time);
            in_log(low, high, |rate| self.score(rate))
        })
    }

    /// Returns the maximum-likelihood rate with its interval of confidence at `level` (as .95).
    ///
    /// All rates whose log-likelihood lies within χ²₁(level)/2 of the top (Wilks). Unlike the curvature's
    /// it never reaches below zero, and it holds where the estimate is 0 or infinite.
    pub(crate) fn mle_interval(&self, level: f64) -> ConfidenceInterval {
        let rate = self.mle();
        if self.changed.is_empty() && self.unchanged.is_empty() {
            return ConfidenceInterval { rate, low: 0.0, high: f64::INFINITY };
        }
        let depth = gamma_p_inverse(0.5, level.clamp(0.0, 1.0));
        let top = self.log_likelihood(rate) - depth;
        let above = |rate: f64| self.log_likelihood(rate) - top;
        let scale = if rate > 0.0 && rate.is_finite() { rate } else { self.natural_rate() };
        let low = if rate == 0.0 { 0.0 } else { search(scale, 0.5, above) };
        let high = if rate.is_infinite() { rate } else { search(scale, 2.0, above) };
        ConfidenceInterval { rate, low, high }
    }

    /// Returns the most probable rate under a Gamma prior: the score plus (a-1)/λ - b is zero.
    ///
    /// For a shape of at most 1 the prior pulls to 0 and the top may lie there.
    pub fn map(&self, prior: Gamma) -> f64 {
        let (extra, pull) = (prior.shape() - 1.0, prior.rate());
        let x = self.changed.len() as f64;
        if x + extra <= 0.0 {
            return 0.0;
        }
        let slope = |rate: f64| self.score(rate) + extra / rate - pull;
        // t/(e^(λt)-1) lies between 1/λ - t and 1/λ.
        let low = (x + extra) / (self.changed_time + self.unchanged_time + pull);
        let high = (x + extra.max(0.0)) / (self.unchanged_time + pull);
        in_log(low.min(high) * 0.999, high * 1.001, slope)
    }

    /// Returns the rate whose expected number of changed checks is the observed one.
    ///
    /// Σ(1 - e^(-λt)) = X: the moment equation of Upadhyay et al. (AAAI 2020, from memory).
    pub fn moment(&self) -> f64 {
        self.extreme().unwrap_or_else(|| {
            let x = self.changed.len() as f64;
            let all = || self.changed.iter().chain(&self.unchanged);
            let missing = |rate: f64| x - all().map(|t| -(-rate * t).exp_m1()).sum::<f64>();
            let low = x / (self.changed_time + self.unchanged_time);
            let shortest = all().copied().fold(f64::INFINITY, f64::min);
            let n = (self.changed.len() + self.unchanged.len()) as f64;
            // If even the shortest interval had changed with chance X/n, the sum is at least X.
            in_log(low * 0.999, -(-x / n).ln_1p() / shortest * 1.001, missing)
        })
    }

    /// Returns the log-likelihood of a rate.
    pub(crate) fn log_likelihood(&self, rate: f64) -> f64 {
        let changed: f64 = self.changed.iter().map(|t| (-(-rate * t).exp_m1()).ln()).sum();
        if self.unchanged_time > 0.0 { changed - rate * self.unchanged_time } else { changed }
    }

    /// The estimate where it needs no solving: nothing changed, or everything.
    fn extreme(&self) -> Option<f64> {
        if self.changed.is_empty() {
            Some(0.0)
        } else if self.unchanged.is_empty() {
            Some(f64::INFINITY)
        } else {
            None
        }
    }

    /// The derivative of the log-likelihood.
    fn score(&self, rate: f64) -> f64 {
        self.changed.iter().map(|t| t / (rate * t).exp_m1()).sum::<f64>() - self.unchanged_time
    }

    fn natural_rate(&self) -> f64 {
        (self.changed.len() + self.unchanged.len()) as f64
            / (self.changed_time + self.unchanged_time)
    }
}

/// A root between two positive ends, sought on a logarithmic scale.
fn in_log(low: f64, high: f64, f: impl Fn(f64) -> f64) -> f64 {
    root::between(low.ln(), high.ln(), |log| f(log.exp())).exp()
}

/// Walks from `start` by growing factors until `above` is negative, then finds the crossing.
fn search(start: f64, factor: f64, above: impl Fn(f64) -> f64) -> f64 {
    let (mut inside, mut step) = (start, factor);
    // Where the start itself is outside (everything or nothing changed), come from the other side.
    for _ in 0..1100 {
        if above(inside) >= 0.0 {
            break;
        }
        inside /= factor;
    }
    for _ in 0..12 {
        let outside = inside * step;
        if above(outside) < 0.0 {
            return in_log(inside.min(outside), inside.max(outside), above);
        }
        inside = outside;
        step *= step;
    }
    inside
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Uniforms, assert_close, golden, number, numbers, rows};
    use proptest::prelude::*;

    fn intervals(changed: &[f64], unchanged: &[f64]) -> IrregularChecks {
        let checks = |list: &[f64], changed| {
            list.iter().map(|&interval| TimedCheck { interval, changed }).collect::<Vec<_>>()
        };
        IrregularChecks::new(checks(changed, true).into_iter().chain(checks(unchanged, false)))
    }

    #[test]
    fn estimates_match_the_reference_numbers() {
        let Some(golden) = golden() else { return };
        for row in rows(&golden, "mle_irregular") {
            let page = intervals(&numbers(&row["changed"]), &numbers(&row["unchanged"]));
            assert_close(page.mle(), number(row, "lam"), 1e-9);
            assert_close(page.map(Gamma::new(2.0, 1.0)), number(row, "map_gamma_2_1"), 1e-9);
            assert_close(page.moment(), number(row, "moment_match"), 1e-9);
        }
    }

    #[test]
    fn regular_checks_give_the_log_estimate() {
        let page = intervals(&[2.0; 8], &[2.0; 2]);
        assert_close(page.mle(), 5f64.ln() / 2.0, 1e-14);
        assert_close(page.moment(), 5f64.ln() / 2.0, 1e-14);
    }

    #[test]
    fn extremes_have_intervals_too() {
        let quiet = intervals(&[], &[3.0, 4.0]).mle_interval(0.95);
        assert_eq!((quiet.rate, quiet.low), (0.0, 0.0));
        assert_close(quiet.high, 3.841_458_820_694_124 / 2.0 / 7.0, 1e-9);
        let busy = intervals(&[3.0, 4.0], &[]).mle_interval(0.95);
        assert_eq!((busy.rate, busy.high), (f64::INFINITY, f64::INFINITY));
        assert!(busy.low > 0.0 && busy.low < 1.0);
        let none = IrregularChecks::default().mle_interval(0.95);
        assert_eq!((none.rate, none.low, none.high), (0.0, 0.0, f64::INFINITY));
        assert!(intervals(&[3.0], &[]).with_pseudo(0.5).mle().is_finite());
    }

    #[test]
    fn the_interval_covers_the_truth_as_often_as_it_says() {
        let (mut random, rounds, mut covered) = (Uniforms::new(2), 2000, 0);
        for _ in 0..rounds {
            let page = IrregularChecks::new((0..30).map(|_| {
                let interval = 0.2 + 2.0 * random.next();
                TimedCheck { interval, changed: random.next() > (-0.7 * interval).exp() }
            }));
            let found = page.mle_interval(0.9);
            covered += i32::from(found.low <= 0.7 && 0.7 <= found.high);
        }
        assert!((f64::from(covered) / f64::from(rounds) - 0.9).abs() < 0.03, "{covered}");
    }

    #[test]
    fn senseless_intervals_are_left_out() {
        let odd = [f64::NAN, -1.0, 0.0, f64::INFINITY];
        assert_eq!(intervals(&odd, &odd), IrregularChecks::default());
        assert_eq!(IrregularChecks::default().map(Gamma::new(0.5, 1.0)), 0.0);
        assert_close(IrregularChecks::default().map(Gamma::new(3.0, 4.0)), 0.5, 1e-9);
    }

    proptest! {
        #[test]
        fn the_score_is_zero_at_the_estimate(
            changed in prop::collection::vec(-6.0..6.0_f64, 1..8),
            unchanged in prop::collection::vec(-6.0..6.0_f64, 1..8),
            shape in 1.0..5.0_f64,
        ) {
            let power = |list: Vec<f64>| list.into_iter().map(|e| 10f64.powf(e)).collect::<Vec<_>>();
            let page = intervals(&power(changed), &power(unchanged));
            let rate = page.mle();
            prop_assert!(rate > 0.0 && page.score(rate).abs() < 1e-9 * page.unchanged_time, "{rate}");
            let prior = Gamma::new(shape, 1.0);
            let map = page.map(prior);
            let slope = page.score(map) + (shape - 1.0) / map - 1.0;
            prop_assert!(slope.abs() < 1e-9 * (page.unchanged_time + 1.0), "{map}");
            let found = page.mle_interval(0.95);
            prop_assert!(found.low < rate && rate < found.high, "{found:?}");
            prop_assert!(page.moment() > 0.0 && page.moment().is_finite());
        }
    }
}
