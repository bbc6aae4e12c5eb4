//! How does the index of an uncertain page grow, and when does it reach a threshold?
//!
//! On the scale x = ln(1 + τ/b) the index of a page of weight 1 depends on the shape alone:
//! G(x) = a ∫₀ˣ (e^y - 1)e^(-ay) dy in units of b. [`Gamma`](crate::Gamma) asks here.

use crate::quick;
use crate::special::mean_decay;

/// Returns G(x), by whichever of three forms of the integral neither cancels nor overflows.
pub(crate) fn gain(a: f64, x: f64) -> f64 {
    let z = a * x;
    if a >= 2.0 && z >= 1.0 {
        (quick::decay(z) - a * quick::exp(x - z) * quick::decay(x)) / (a - 1.0)
    } else if x >= 0.5 {
        z * (mean_decay(z - x) - mean_decay(z))
    } else {
        gain_early(a, x, z)
    }
}

/// Returns the x with G(x) = m; infinity where m is never reached (a > 1 and m >= 1/(a-1)).
///
/// With d = a-1 and K(x) = x - ln(1 + d(1 - e^-x))/d, the equation becomes K(x) = -ln(1 - dm)/d.
/// K is convex, its slope t/(1+t) with t = a(e^x - 1) lies between 0 and 1, and it is smooth
/// through a = 1, so one or two steps of fourth order suffice.
pub(crate) fn gain_inverse(a: f64, m: f64) -> f64 {
    if m.is_nan() || m <= 0.0 {
        return 0.0;
    }
    let d = a - 1.0;
    if d * m >= 1.0 || m == f64::INFINITY {
        return f64::INFINITY;
    }
    let target = log_ratio(-d, m);
    let s = (2.0 * target / a).sqrt();
    if (1.0 + a) * s < 1e-2 {
        return small_inverse(a, m);
    }
    let mut x = first_guess(a, s, target);
    for _ in 0..40 {
        let step = householder(a, d, x, target);
        x = (x - step).max(0.1 * x);
        if step.abs() < 1e-3 * x {
            break;
        }
    }
    // K is of the order of a; where that is small, its rounding error shows.
    if a < 0.1 { x - (gain(a, x) - m) / gain_slope(a, x) } else { x }
}

/// The root of K to about a hundredth.
///
/// x - K(x) is s - (a+1)/6 s² + (a²-a+1)/36 s³ for small s = √(2K/a), and ln(a)/(a-1), nearly
/// 6/(1+a+4√a), for large: the rational function that has all four.
fn first_guess(a: f64, s: f64, target: f64) -> f64 {
    let root = a.sqrt();
    let (c, p) = ((a + 1.0) / 6.0, root / 8.0);
    let end = (1.0 + a + 4.0 * root) / 6.0;
    target + s * (1.0 + p * s) / (1.0 + (c + p) * s + p * end * s * s)
}

/// Householder's step of fourth order towards K(x) = target.
fn householder(a: f64, d: f64, x: f64, target: f64) -> f64 {
    let lost = quick::decay(x);
    let left = 1.0 - lost;
    let miss = x - log_ratio(d, lost) - target;
    // t, 1 + t and K's derivatives, all times e^-x so that nothing overflows.
    let t = a * lost;
    let whole = left + t;
    let newton = miss * whole / t;
    let bend = a * left / (t * whole);
    let twist = bend * (left - t - 2.0 * a * left) / whole;
    newton * (1.0 - 0.5 * newton * bend) / (1.0 - newton * bend + newton * newton * twist / 6.0)
}

/// G'(x) = a(e^x - 1)e^(-ax), written so that it does not overflow.
fn gain_slope(a: f64, x: f64) -> f64 {
    a * quick::decay(x) * quick::exp(x - a * x)
}

/// ln(1 + dv)/d, which is v at d = 0.
fn log_ratio(d: f64, v: f64) -> f64 {
    if (d * v).abs() < 1e-16 { v } else { quick::ln_1p(d * v) / d }
}

/// Where a x is small, G is nearly ax²/2: Newton on the series itself.
fn small_inverse(a: f64, m: f64) -> f64 {
    let s = (2.0 * m / a).sqrt();
    let mut x = s * (1.0 + (2.0 * a - 1.0) / 6.0 * s);
    for _ in 0..3 {
        let step = (gain_early(a, x, a * x) - m) / gain_slope(a, x);
        x -= step;
        if step.abs() < 1e-9 * x {
            break;
        }
    }
    x
}

/// The Taylor series in u = (a-1)x and z = ax, divided by z - u = x: h_n = Σ u^i z^(n-1-i).
fn gain_early(a: f64, x: f64, z: f64) -> f64 {
    let u = z - x;
    let (mut h, mut u_power, mut sum) = (1.0_f64, 1.0_f64, 0.0_f64);
    for factor in FACTORS {
        sum += h * factor;
        // h alone may vanish by chance (u = -z); u^n with it does not.
        if h.abs().max(u_power.abs()) * factor.abs() < 1e-17 * sum.abs() {
            break;
        }
        u_power *= u;
        h = z * h + u_power;
    }
    a * x * x * sum
}

/// 1/2!, -1/3!, 1/4! and so on: divided here, where it costs nothing.
const FACTORS: [f64; 23] = {
    let mut factors = [0.5; 23];
    let mut n = 1;
    while n < factors.len() {
        factors[n] = factors[n - 1] / -((n + 2) as f64);
        n += 1;
    }
    factors
};

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The index as an integral, by the midpoint rule.
    fn gain_by_sum(a: f64, x: f64) -> f64 {
        let steps = 200_000;
        let h = x / f64::from(steps);
        (0..steps)
            .map(|i| (f64::from(i) + 0.5) * h)
            .map(|y| a * h * y.exp_m1() * (-a * y).exp())
            .sum()
    }

    #[test]
    fn the_three_forms_agree_with_the_integral() {
        for a in [1e-3, 0.5, 0.999_999, 1.0, 1.000_001, 1.7, 2.0, 3.0, 40.0] {
            for x in [1e-3, 0.1, 0.3, 0.499, 0.501, 0.9, 2.0, 5.0] {
                let want = gain_by_sum(a, x);
                assert!((gain(a, x) - want).abs() < 1e-7 * want, "{a} {x}");
            }
        }
    }

    #[test]
    fn what_is_never_reached_is_infinitely_far() {
        assert_eq!(gain_inverse(3.0, 0.5), f64::INFINITY);
        assert_eq!(gain_inverse(3.0, 7.0), f64::INFINITY);
        assert!(gain_inverse(1.0, 50.0).is_finite());
        assert!(gain_inverse(0.2, 1e12).is_finite());
        assert_eq!(gain_inverse(3.0, 0.0), 0.0);
        assert_eq!(gain_inverse(3.0, f64::NAN), 0.0);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn the_inverse_finds_its_way_back(a in -4.0..6.0_f64, x in -9.0..1.3_f64) {
            let (a, x) = (10f64.powf(a), 10f64.powf(x));
            let m = gain(a, x);
            // Far out on a bounded index the level no longer tells the time: G'(x) is the yardstick.
            let blur = 1e-15 * m / (gain_slope(a, x) * x);
            let back = gain_inverse(a, m);
            let error = (back - x).abs() / x;
            prop_assert!(error < 1e-11 + 16.0 * blur || blur > 1e-6, "a {a} x {x} back {back} blur {blur}");
        }
    }
}
