//! What does a Poisson page look like some time after it was fetched?
//!
//! Changes come at rate λ, independently: k of them in t with probability (λt)^k e^(-λt)/k!. Seed
//! eq. 1 to 8. (The survey derives the exponential gap from k = 1; it follows from k = 0.)

use crate::curve::g;
use crate::special::ln_gamma;

/// Returns the chance of exactly `k` changes within `t`.
pub fn chance_of(k: u32, rate: f64, t: f64) -> f64 {
    let r = changes(rate, t);
    if r == 0.0 {
        return if k == 0 { 1.0 } else { 0.0 };
    }
    let k = f64::from(k);
    (k * r.ln() - r - ln_gamma(k + 1.0)).exp()
}

/// Returns the chance of at least one change within `t`: 1 - e^(-λt).
pub fn change_within(rate: f64, t: f64) -> f64 {
    -(-changes(rate, t)).exp_m1()
}

/// Returns the expected freshness at time `t` after a fetch: e^(-λt) (eq. 7).
pub fn freshness_at(rate: f64, t: f64) -> f64 {
    (-changes(rate, t)).exp()
}

/// Returns the expected age at time `t` after a fetch, counted from the first change not yet seen.
///
/// t - (1 - e^(-λt))/λ (eq. 8; the survey's prose calls it the mean over the interval, which it is
/// not). This is the age that all the optima use.
pub fn age_at(rate: f64, t: f64) -> f64 {
    let r = changes(rate, t);
    if r > 0.0 { t * (r * phi(2, r)) } else { 0.0 }
}

/// Returns the expected age at time `t`, counted from the last change: g(λt)/λ.
///
/// The literal reading of eq. 4, which contradicts eq. 8. Nothing else uses it.
pub fn age_since_last_change_at(rate: f64, t: f64) -> f64 {
    let r = changes(rate, t);
    if r > 0.0 { g(r) / r * t } else { 0.0 }
}

/// Returns the freshness averaged over an interval of length `t` after a fetch: (1 - e^-r)/r.
pub fn mean_freshness(rate: f64, t: f64) -> f64 {
    phi(1, changes(rate, t))
}

/// Returns the age averaged over an interval of length `t` after a fetch: t(1/2 - 1/r + (1-e^-r)/r²).
pub(crate) fn mean_age(rate: f64, t: f64) -> f64 {
    let r = changes(rate, t);
    if r > 0.0 { t * (r * phi(3, r)) } else { 0.0 }
}

/// Returns φ_k(r) = Σ (-r)ⁿ/(n+k)!, so that φ₁ = (1-e^-r)/r and φ_(k+1) = (1/k! - φ_k)/r.
///
/// Every average of this model is a short sum of these, and in that form none of them cancels.
pub(crate) fn phi(k: u32, r: f64) -> f64 {
    let mut factorial = (1..=k).map(f64::from).product::<f64>();
    if r < 1.0 {
        return phi_series(k, r, 1.0 / factorial);
    }
    factorial = 1.0;
    let mut value = (-r).exp();
    for j in 0..k {
        value = (1.0 / factorial - value) / r;
        factorial *= f64::from(j + 1);
    }
    value
}

fn phi_series(k: u32, r: f64, first: f64) -> f64 {
    let (mut term, mut sum) = (first, 0.0);
    for n in 1..24 {
        sum += term;
        term *= -r / f64::from(n + k);
        if term.abs() < 1e-17 * sum {
            break;
        }
    }
    sum
}

/// The expected number of changes; no rate or no time means none, and it is always finite.
pub(crate) fn changes(rate: f64, t: f64) -> f64 {
    if rate > 0.0 && t > 0.0 { (rate * t).min(1e100) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Uniforms, assert_close, golden, number, rows};

    #[test]
    fn moments_after_a_fetch_match_the_reference_numbers() {
        let Some(golden) = golden() else { return };
        for row in rows(&golden, "expected_at_t") {
            let (rate, t) = (number(row, "lam"), number(row, "t"));
            assert_close(freshness_at(rate, t), number(row, "freshness"), 1e-9);
            assert_close(age_at(rate, t), number(row, "age_first_change"), 1e-9);
            assert_close(age_since_last_change_at(rate, t), number(row, "age_last_change"), 1e-9);
        }
        let row = &golden["age_definition_mc"];
        assert_close(age_at(1.0, 2.0), number(row, "eq8"), 1e-9);
        assert_close(age_since_last_change_at(1.0, 2.0), number(row, "eq4_literal"), 1e-9);
    }

    #[test]
    fn chance_shows_that_the_two_ages_differ() {
        let (mut random, rounds) = (Uniforms::new(3), 200_000);
        let (mut first, mut last) = (0.0, 0.0);
        for _ in 0..rounds {
            let (mut time, mut changes) = (random.gap(1.0), Vec::new());
            while time < 2.0 {
                changes.push(time);
                time += random.gap(1.0);
            }
            first += changes.first().map_or(0.0, |t| 2.0 - t);
            last += changes.last().map_or(0.0, |t| 2.0 - t);
        }
        assert!((first / f64::from(rounds) - age_at(1.0, 2.0)).abs() < 0.01);
        assert!((last / f64::from(rounds) - age_since_last_change_at(1.0, 2.0)).abs() < 0.01);
    }

    #[test]
    fn the_chances_of_all_counts_sum_to_one() {
        let sum: f64 = (0..60).map(|k| chance_of(k, 2.0, 3.0)).sum();
        assert_close(sum, 1.0, 1e-12);
        assert_close(chance_of(0, 2.0, 3.0), 1.0 - change_within(2.0, 3.0), 1e-14);
        assert_eq!(chance_of(0, 0.0, 3.0), 1.0);
        assert_eq!(chance_of(2, 0.0, 3.0), 0.0);
    }

    #[test]
    fn averages_are_the_integrals_of_the_moments() {
        let (rate, t, steps) = (0.7, 3.0, 20_000);
        let h = t / f64::from(steps);
        let mean = |f: fn(f64, f64) -> f64| {
            (0..steps).map(|i| f(rate, (f64::from(i) + 0.5) * h)).sum::<f64>() / f64::from(steps)
        };
        assert_close(mean(freshness_at), mean_freshness(rate, t), 1e-8);
        assert_close(mean(age_at), mean_age(rate, t), 1e-8);
    }

    #[test]
    fn the_two_branches_of_phi_meet() {
        for k in 1..5 {
            assert_close(phi(k, 1.0 - 1e-14), phi(k, 1.0), 1e-12);
        }
    }

    #[test]
    fn edges_are_answered() {
        for t in [0.0, -1.0, f64::NAN] {
            assert_eq!(freshness_at(1.0, t), 1.0);
            assert_eq!(age_at(1.0, t), 0.0);
        }
        assert_eq!(freshness_at(0.0, f64::INFINITY), 1.0);
        assert_eq!(mean_age(0.0, 5.0), 0.0);
        assert_eq!(freshness_at(f64::INFINITY, 1.0), 0.0);
        assert_close(age_at(f64::INFINITY, 2.0), 2.0, 1e-12);
        assert_close(mean_age(f64::INFINITY, 2.0), 1.0, 1e-12);
    }
}
