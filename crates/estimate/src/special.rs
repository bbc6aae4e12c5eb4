//! Which special functions does the mathematics of change need, and how are they computed?
//!
//! The log of the Gamma function, the regularised incomplete Gamma function and its inverse. They
//! are written here because a handful of lines is cheaper to trust than a dependency.

use std::f64::consts::PI;

use crate::quick;

const MAX_TERMS: usize = 400_000;
const MAX_STEPS: usize = 200;

/// Returns ln Γ(x) for x > 0, to about 1e-14; `inf` at 0, NaN below.
///
/// Stirling's series from 10 on; smaller arguments are lifted there by Γ(x+1) = xΓ(x).
pub(crate) fn ln_gamma(x: f64) -> f64 {
    if x == 0.0 {
        return f64::INFINITY;
    }
    if x < 0.0 || x.is_nan() {
        return f64::NAN;
    }
    let (mut lifted, mut product) = (x, 1.0);
    while lifted < 10.0 {
        product *= lifted;
        lifted += 1.0;
    }
    (lifted - 0.5) * lifted.ln() - lifted + 0.5 * (2.0 * PI).ln() + stirling_tail(lifted)
        - product.ln()
}

/// Returns P(a, x) = γ(a, x)/Γ(a), the chance that a Gamma(a, 1) variable is at most x.
///
/// NaN unless a > 0. Power series below the mean, continued fraction above it; the number of terms
/// grows with √a, so shapes up to 1e9 are practical.
pub fn gamma_p(a: f64, x: f64) -> f64 {
    tails(a, x).0
}

/// Returns Q(a, x) = 1 - P(a, x) without losing the small tail to cancellation.
pub fn gamma_q(a: f64, x: f64) -> f64 {
    tails(a, x).1
}

/// Returns the x with P(a, x) = p: the quantile function of Gamma(a, 1).
///
/// p is clamped to 0..=1, whose ends map to 0 and infinity. Newton's method on the logarithm of the
/// smaller tail, kept inside a bracket, so that quantiles far out keep their relative accuracy.
pub(crate) fn gamma_p_inverse(a: f64, p: f64) -> f64 {
    if a.is_nan() || a <= 0.0 || p.is_nan() {
        return f64::NAN;
    }
    if p <= 0.0 {
        return 0.0;
    }
    if p >= 1.0 {
        return f64::INFINITY;
    }
    let (mut low, mut high) = (f64::MIN_POSITIVE, f64::MAX);
    let mut x = first_guess(a, p).clamp(low, high);
    for _ in 0..MAX_STEPS {
        let (below, above) = tails(a, x);
        if below < p {
            low = x;
        } else {
            high = x;
        }
        let slope = a * prefactor(a, x);
        let step = if p < 0.5 {
            (below / p).ln() * below / slope
        } else {
            ((1.0 - p) / above).ln() * above / slope
        };
        let newton = x * (-step).exp();
        let inside = newton >= low && newton <= high;
        let next = if inside { newton } else { low.sqrt() * high.sqrt() };
        if (next - x).abs() <= 1e-15 * x {
            return next;
        }
        x = next;
    }
    x
}

/// Returns (1 - e^-z)/z, which is 1 at 0 and has no cancellation there.
pub(crate) fn mean_decay(z: f64) -> f64 {
    if z.abs() < 1e-300 { 1.0 } else { quick::decay(z) / z }
}

fn tails(a: f64, x: f64) -> (f64, f64) {
    if a.is_nan() || a <= 0.0 || x.is_nan() {
        return (f64::NAN, f64::NAN);
    }
    if x <= 0.0 {
        return (0.0, 1.0);
    }
    if x.is_infinite() {
        return (1.0, 0.0);
    }
    if x < a + 1.0 {
        let p = (prefactor(a, x) * power_series(a, x)).min(1.0);
        (p, 1.0 - p)
    } else {
        let q = (a * prefactor(a, x) * continued_fraction(a, x)).min(1.0);
        (1.0 - q, q)
    }
}

/// x^a e^-x / Γ(a+1). Around the mean of a large shape, the two big logarithms are never formed.
fn prefactor(a: f64, x: f64) -> f64 {
    if a < 10.0 {
        return (a * x.ln() - x - ln_gamma(a + 1.0)).exp();
    }
    let offset = (x - a) / a;
    let excess = if offset.abs() < 0.5 { excess_over_log(offset) } else { offset - (x / a).ln() };
    (-a * excess - stirling_tail(a)).exp() / (2.0 * PI * a).sqrt()
}

/// m - ln(1+m) for |m| <= 1/2, by the series of ln((1+r)/(1-r)) with r = m/(2+m).
fn excess_over_log(m: f64) -> f64 {
    let r = m / (2.0 + m);
    let (mut power, mut sum) = (1.0, 0.0);
    for k in 0..24 {
        sum += power / f64::from(2 * k + 3);
        power *= r * r;
    }
    m * r - 2.0 * r * r * r * sum
}

fn power_series(a: f64, x: f64) -> f64 {
    let (mut term, mut sum, mut n) = (1.0, 1.0, a);
    for _ in 0..MAX_TERMS {
        n += 1.0;
        term *= x / n;
        sum += term;
        if term < sum * 1e-17 {
            break;
        }
    }
    sum
}

fn continued_fraction(a: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let mut b = x + 1.0 - a;
    let mut c = 1.0 / TINY;
    let mut d = 1.0 / b;
    let mut value = d;
    for i in 1..MAX_TERMS {
        let i = i as f64;
        let numerator = -i * (i - a);
        b += 2.0;
        d = 1.0 / away_from_zero(numerator * d + b, TINY);
        c = away_from_zero(b + numerator / c, TINY);
        let factor = c * d;
        value *= factor;
        if (factor - 1.0).abs() < 1e-16 {
            break;
        }
    }
    value
}

fn away_from_zero(value: f64, tiny: f64) -> f64 {
    if value.abs() < tiny { tiny } else { value }
}

/// ln Γ(x) minus its Stirling main part, for x >= 10.
fn stirling_tail(x: f64) -> f64 {
    const COEFFICIENTS: [f64; 7] = [
        1.0 / 12.0,
        -1.0 / 360.0,
        1.0 / 1260.0,
        -1.0 / 1680.0,
        1.0 / 1188.0,
        -691.0 / 360_360.0,
        1.0 / 156.0,
    ];
    let square = 1.0 / (x * x);
    COEFFICIENTS.iter().rev().fold(0.0, |sum, c| sum * square + c) / x
}

/// Wilson and Hilferty's cube for large shapes, the leading power of x for small ones.
fn first_guess(a: f64, p: f64) -> f64 {
    let small = ((p.ln() + ln_gamma(a + 1.0)) / a).exp();
    if a < 0.5 || small < 0.1 * a {
        return small;
    }
    let cube_root = 1.0 - 1.0 / (9.0 * a) + normal_quantile(p) / (3.0 * a.sqrt());
    if cube_root > 0.0 { a * cube_root.powi(3) } else { small }
}

/// The standard normal quantile to three digits: enough to start Newton's method from.
fn normal_quantile(p: f64) -> f64 {
    let t = (-2.0 * p.min(1.0 - p).ln()).sqrt();
    let z = t - (2.307_53 + 0.270_61 * t) / (1.0 + t * (0.992_29 + 0.044_81 * t));
    if p < 0.5 { -z } else { z }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_close;
    use proptest::prelude::*;
    use std::f64::consts::LN_2;

    #[test]
    fn ln_gamma_knows_factorials_and_halves() {
        let mut factorial = 1.0_f64;
        for n in 1..100 {
            assert_close(ln_gamma(f64::from(n)), factorial.ln(), 1e-14);
            factorial *= f64::from(n);
        }
        assert_close(ln_gamma(0.5), PI.sqrt().ln(), 1e-14);
        assert_close(ln_gamma(1e-9), -(1e-9_f64).ln() - 0.577_215_664_901_532_9e-9, 1e-14);
    }

    #[test]
    fn incomplete_gamma_matches_its_closed_forms() {
        for x in [1e-8, 0.3, 1.0, 2.5, 7.0, 40.0] {
            assert_close(gamma_p(1.0, x), -(-x).exp_m1(), 1e-14);
            assert_close(gamma_q(2.0, x), (1.0 + x) * (-x).exp(), 1e-14);
            assert_close(gamma_q(3.0, x), (1.0 + x + x * x / 2.0) * (-x).exp(), 1e-14);
        }
    }

    #[test]
    fn the_chi_square_quantile_is_the_tabulated_one() {
        assert_close(2.0 * gamma_p_inverse(0.5, 0.95), 3.841_458_820_694_124, 1e-13);
        assert_close(2.0 * gamma_p_inverse(2.5, 0.99), 15.086_272_469_388_99, 1e-13);
        assert_close(gamma_p_inverse(1.0, 0.5), LN_2, 1e-14);
    }

    #[test]
    fn nonsense_is_answered_not_panicked_on() {
        for a in [f64::NAN, -1.0, 0.0] {
            assert!(gamma_p(a, 1.0).is_nan());
            assert!(gamma_p_inverse(a, 0.5).is_nan());
        }
        assert_eq!(gamma_p(2.0, -1.0), 0.0);
        assert_eq!(gamma_q(2.0, f64::INFINITY), 0.0);
        assert_eq!(gamma_p_inverse(2.0, -3.0), 0.0);
        assert_eq!(gamma_p_inverse(2.0, 3.0), f64::INFINITY);
    }

    proptest! {
        #[test]
        fn quantiles_round_trip(log_shape in -3.0..6.0_f64, p in 1e-6..0.999_999_f64) {
            let a = 10f64.powf(log_shape);
            let x = gamma_p_inverse(a, p);
            if x > 1e-290 {
                prop_assert!((gamma_p(a, x) - p).abs() < 1e-9 * p, "a {a} p {p} x {x}");
            }
        }

        #[test]
        fn the_tails_sum_to_one(log_shape in -6.0..6.0_f64, scale in -3.0..3.0_f64) {
            let a = 10f64.powf(log_shape);
            let x = a * 10f64.powf(scale);
            let (p, q) = (gamma_p(a, x), gamma_q(a, x));
            prop_assert!((p + q - 1.0).abs() < 1e-14 && p >= 0.0 && q >= 0.0);
        }
    }
}
