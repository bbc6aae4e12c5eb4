//! How wrong are the estimators for regular checks, on average?
//!
//! Exact means and variances of eq. 9 to 14, as functions of the number of checks n and of
//! r = λ/f, the changes per interval: what the bias curves are drawn from.

use crate::regular::RegularChecks;
use crate::special::ln_gamma;

/// Mean and variance of an estimate of r.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EstimatorMoments {
    /// Its expectation.
    pub mean: f64,
    /// Its variance.
    pub variance: f64,
}

/// Returns the moments of eq. 9, X/n: 1 - e^-r and e^-r(1 - e^-r)/n (eq. 10 and 11).
pub fn naive(checks: u64, r: f64) -> EstimatorMoments {
    let unchanged = (-r.max(0.0)).exp();
    let mean = -(-r.max(0.0)).exp_m1();
    let variance = if checks > 0 { unchanged * mean / checks as f64 } else { 0.0 };
    EstimatorMoments { mean, variance }
}

/// Returns the moments of eq. 12, given that some check found no change.
///
/// Without that condition both are infinite.
pub fn log(checks: u64, r: f64) -> EstimatorMoments {
    moments(checks, r, |page| page.log())
}

/// Returns the moments of eq. 13.
pub fn eq13(checks: u64, r: f64) -> EstimatorMoments {
    shifted(checks, r, 0.5)
}

/// Returns the moments of -ln((X̄+a)/(n+a)), by the exact sum over X̄.
///
/// Eq. 14 as it must read: Σᵢ C(n,i)(1-e^-r)^(n-i) e^(-ri) · \[-ln((i+a)/(n+b))\], with a = b. The
/// survey prints it without the bracketed factor.
pub fn shifted(checks: u64, r: f64, a: f64) -> EstimatorMoments {
    moments(checks, r, |page| page.shifted(a))
}

/// Returns the shift a that makes the estimate unbiased to first order in r.
///
/// a = (n - q(n-1))/(q-1) with q = e^(1/n): .582 for one check, falling to ½. It follows from
/// -ln((n+a)/(n+b)) = 0 and n ln((n+a)/(n-1+a)) = 1, the two first terms of eq. 14's expansion, in
/// which the survey prints X̄ for n and b for a.
pub fn unbiased_shift(checks: u64) -> f64 {
    let n = checks.max(1) as f64;
    // (n - q(n-1))/(q-1) = 1/(q-1) - (n-1), whose difference would cancel for large n.
    if n > 1e4 { 0.5 + 1.0 / (12.0 * n) } else { 1.0 / (1.0 / n).exp_m1() - (n - 1.0) }
}

/// Sums over the number of unchanged checks, leaving out those with an infinite estimate.
fn moments(checks: u64, r: f64, estimate: impl Fn(RegularChecks) -> f64) -> EstimatorMoments {
    let r = if r > 0.0 { r.min(1e6) } else { 0.0 };
    let (mut weight, mut mean, mut square) = (0.0, 0.0, 0.0);
    for unchanged in 0..=checks {
        let page = RegularChecks { checks, changes: checks - unchanged, span: checks as f64 };
        let value = estimate(page);
        if value.is_finite() {
            let chance = chance_of_unchanged(checks, unchanged, r);
            weight += chance;
            mean += chance * value;
            square += chance * value * value;
        }
    }
    if weight == 0.0 {
        return EstimatorMoments { mean: 0.0, variance: 0.0 };
    }
    let mean = mean / weight;
    EstimatorMoments { mean, variance: (square / weight - mean * mean).max(0.0) }
}

fn chance_of_unchanged(checks: u64, unchanged: u64, r: f64) -> f64 {
    let (n, i) = (checks as f64, unchanged as f64);
    let ways = ln_gamma(n + 1.0) - ln_gamma(i + 1.0) - ln_gamma(n - i + 1.0);
    let changed = -(-r).exp_m1();
    let log_changed = if checks == unchanged { 0.0 } else { (n - i) * changed.ln() };
    (ways + log_changed - r * i).exp()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Uniforms, assert_close, golden, number, rows};

    #[test]
    fn moments_match_the_reference_numbers() {
        let Some(golden) = golden() else { return };
        for (key, function) in [
            ("estimator_naive_eq9_11", naive as fn(u64, f64) -> EstimatorMoments),
            ("estimator_eq13_exact", eq13),
        ] {
            for row in rows(&golden, key) {
                let got = function(number(row, "n") as u64, number(row, "r"));
                assert_close(got.mean, number(row, "mean"), 1e-9);
                assert_close(got.variance, number(row, "var"), 1e-9);
            }
        }
        for row in rows(&golden, "estimator_eq27_mc") {
            let (n, r) = (number(row, "n") as u64, number(row, "r"));
            assert_close(naive(n, r).mean, number(row, "naive_mean"), 1e-9);
            assert_close(eq13(n, r).mean, number(row, "eq13_mean"), 1e-9);
            assert_close(eq13(n, r).variance.sqrt(), number(row, "eq13_sd"), 1e-9);
        }
        for row in rows(&golden, "eq14_exact_a") {
            assert_close(unbiased_shift(number(row, "n") as u64), number(row, "a"), 1e-9);
        }
    }

    #[test]
    fn eq13_is_biased_as_stated_at_three_changes_per_check() {
        for (n, bias) in [(3, -1.21), (10, -0.44), (50, -0.007)] {
            assert!((eq13(n, 3.0).mean - 3.0 - bias).abs() < 0.005, "{n}");
        }
    }

    #[test]
    fn the_bias_is_what_chance_shows() {
        let (mut random, rounds) = (Uniforms::new(21), 40_000);
        for n in [3, 10, 50] {
            for r in [0.5_f64, 1.0, 3.0] {
                let mut sums = [0.0; 2];
                for _ in 0..rounds {
                    let changes = (0..n).filter(|_| random.next() > (-r).exp()).count() as u64;
                    let page = RegularChecks { checks: n, changes, span: n as f64 };
                    sums[0] += page.naive();
                    sums[1] += page.eq13();
                }
                let means = sums.map(|s| s / f64::from(rounds));
                assert!((means[0] - naive(n, r).mean).abs() < 0.01, "naive {n} {r}");
                assert!((means[1] - eq13(n, r).mean).abs() < 0.02, "eq13 {n} {r}");
            }
        }
    }

    #[test]
    fn the_unbiased_shift_beats_one_half_for_few_checks() {
        let bias = |a: f64| (shifted(2, 0.1, a).mean - 0.1).abs();
        assert!(bias(unbiased_shift(2)) < bias(0.5));
    }

    #[test]
    fn edges_are_answered() {
        for f in [naive, log, eq13] {
            for r in [0.0, -1.0, f64::NAN] {
                assert_eq!(f(5, r).mean, 0.0);
            }
            assert!(f(0, 1.0).variance == 0.0 && f(5, f64::INFINITY).mean.is_finite());
        }
        assert_eq!(unbiased_shift(0), unbiased_shift(1));
        assert!((unbiased_shift(10_000) - unbiased_shift(10_001)).abs() < 1e-9);
    }
}
