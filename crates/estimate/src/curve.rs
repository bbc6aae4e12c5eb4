//! What is the curve g that every freshness optimum runs along, and how is it inverted?
//!
//! g(r) = 1 - (1+r)e^-r is what a fetch is worth, in units of w/λ, when r = λτ changes were to be
//! expected since the last one. It rises from 0 to 1. The optimal interval solves g(r) = μλ/w.

use crate::quick;

/// Returns g(r) = 1 - (1+r)e^-r, to rounding error; 0 for r <= 0 and NaN.
///
/// Below 1 as e^-r Σ rⁿ/n!, n >= 2, whose terms are all positive.
pub fn g(r: f64) -> f64 {
    if r >= 1.0 {
        1.0 - g_tail(r)
    } else if r > 0.0 {
        small_g(r)
    } else {
        0.0
    }
}

/// Returns 1 - g(r) = (1+r)e^-r, which keeps its digits where g is nearly 1.
pub(crate) fn g_tail(r: f64) -> f64 {
    if r > 745.0 { 0.0 } else { (1.0 + r.max(0.0)) * (-r.max(0.0)).exp() }
}

/// Returns the r with g(r) = y; infinity from y = 1 on, 0 for y <= 0 and NaN.
///
/// In closed form -1 - W₋₁(-(1-y)/e), with W₋₁ the lower branch of Lambert's function.
pub fn g_inverse(y: f64) -> f64 {
    if y >= 1.0 {
        f64::INFINITY
    } else if y > SMALL {
        from_log_tail(if y > 0.5 { -(1.0 - y).ln() } else { -(-y).ln_1p() })
    } else if y > 0.0 {
        small_inverse(y)
    } else {
        0.0
    }
}

/// Returns the r with (1+r)e^-r = c, for tails c too small to be told from 0 in 1 - c.
pub fn g_tail_inverse(c: f64) -> f64 {
    if c >= 1.0 - SMALL {
        g_inverse(1.0 - c)
    } else if c > 0.0 {
        from_log_tail(-c.ln())
    } else {
        f64::INFINITY
    }
}

/// Returns what fetching a page is worth: w g(λτ)/λ (Olston and Pandey, WWW 2008).
///
/// It is τD(τ) - ∫D for the expected staleness D(τ) = 1 - e^(-λτ): the staleness that would not
/// have been there, had the same budget come earlier. Equal worth everywhere is optimal. A rate of
/// 0 makes it 0; an infinite rate too, since the page is stale again at once.
pub fn value(w: f64, rate: f64, tau: f64) -> f64 {
    if rate > 0.0 && w > 0.0 && tau > 0.0 && rate.is_finite() {
        w * (g(rate * tau) / rate)
    } else {
        0.0
    }
}

/// Returns the time after which fetching is worth `mu`; infinity where it never is.
///
/// τ = g⁻¹(μλ/w)/λ.
pub fn time_to_value(w: f64, rate: f64, mu: f64) -> f64 {
    if rate > 0.0 && w > 0.0 && rate.is_finite() {
        g_inverse(mu.max(0.0) / w * rate) / rate
    } else {
        f64::INFINITY
    }
}

/// Below this y the root is found on g itself, since -ln(1-y) and r - ln(1+r) would cancel.
const SMALL: f64 = 2e-3;

fn small_g(r: f64) -> f64 {
    let (mut term, mut sum) = (0.5 * r * r, 0.0);
    for n in 3..24 {
        sum += term;
        term *= r / f64::from(n);
        if term < 1e-17 * sum {
            break;
        }
    }
    sum * (-r).exp()
}

/// The branch-point series of W₋₁ in √(2y), then one Newton step.
fn small_inverse(y: f64) -> f64 {
    const SERIES: [f64; 7] = [
        1.0,
        1.0 / 3.0,
        11.0 / 72.0,
        43.0 / 540.0,
        769.0 / 17_280.0,
        221.0 / 8_505.0,
        680_863.0 / 43_545_600.0,
    ];
    let s = (2.0 * y).sqrt();
    let r = s * SERIES.iter().rev().fold(0.0, |sum, c| sum * s + c);
    if r < 1e-9 { r } else { r - (small_g(r) - y) * r.exp() / r }
}

/// Solves r - ln(1+r) = sigma: a rational function of √(2 sigma), then a step of fourth order.
///
/// The function was fitted to 1.3e-6 of r for sigma up to 40, where 1 - g has run out of digits; it
/// is a fair start beyond.
fn from_log_tail(sigma: f64) -> f64 {
    let s = (2.0 * sigma).sqrt();
    let above = 1.0 + s * (0.329_721_4 + s * 0.017_491_96);
    let below = 1.0 + s * (0.496_367_4 + s * (0.072_533_89 + s * 0.001_871_772));
    let mut r = sigma + s * above / below;
    for _ in 0..4 {
        let z = r - quick::ln_1p(r) - sigma;
        let q = 2.0 * r * (r - 2.0 / 3.0 * z);
        let step = (1.0 + r) * (z / r) * (q - z) / (q - 2.0 * z);
        r -= step;
        if step.abs() < 1e-4 * r {
            break;
        }
    }
    r
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_close, golden, number, rows};
    use proptest::prelude::*;

    #[test]
    fn g_matches_the_reference_numbers() {
        let Some(golden) = golden() else { return };
        for row in rows(&golden, "g") {
            let (r, y) = (number(row, "r"), number(row, "g"));
            assert!((g(r) - y).abs() < 1e-9 * y, "{r}");
            assert_close(g_inverse(g(r)), number(row, "g_inv_of_g"), 1e-9);
        }
    }

    #[test]
    fn the_small_series_is_the_stated_one() {
        for r in [1e-9_f64, 1e-6, 1e-4, 1e-3] {
            let series = r * r / 2.0 - r * r * r / 3.0 + r.powi(4) / 8.0 - r.powi(5) / 30.0;
            assert!((g(r) - series).abs() < 2e-14 * series);
        }
    }

    #[test]
    fn the_ends_are_answered() {
        for r in [0.0, -1.0, f64::NAN] {
            assert_eq!(g(r), 0.0);
            assert_eq!(g_inverse(r), 0.0);
        }
        assert_eq!(g(f64::INFINITY), 1.0);
        assert_eq!(g_tail(f64::INFINITY), 0.0);
        assert_eq!(g_inverse(1.0), f64::INFINITY);
        assert_eq!(g_tail_inverse(0.0), f64::INFINITY);
        assert_eq!(g_tail_inverse(1.0), 0.0);
        assert_eq!(value(1.0, 0.0, 5.0), 0.0);
        assert_eq!(value(1.0, f64::INFINITY, 5.0), 0.0);
        assert_eq!(time_to_value(1.0, 2.0, 0.5), f64::INFINITY);
        assert_eq!(time_to_value(0.0, 2.0, 0.5), f64::INFINITY);
        assert_eq!(time_to_value(1.0, 2.0, 0.0), 0.0);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn g_and_its_inverse_round_trip(exponent in -150.0..2.8_f64) {
            let r = 10f64.powf(exponent);
            let back = if r < 2.0 { g_inverse(g(r)) } else { g_tail_inverse(g_tail(r)) };
            prop_assert!((back - r).abs() <= 1e-12 * r, "{r} came back as {back}");
        }

        #[test]
        fn the_inverse_and_g_round_trip(exponent in -300.0..0.0_f64) {
            let y = 10f64.powf(exponent).min(1.0 - 1e-16);
            prop_assert!((g(g_inverse(y)) - y).abs() <= 1e-12 * y, "{y}");
        }

        #[test]
        fn the_worth_is_reached_when_foretold(w in -6.0..6.0_f64, rate in -6.0..6.0_f64, share in 1e-6..0.999_f64) {
            let (w, rate) = (10f64.powf(w), 10f64.powf(rate));
            let mu = share * w / rate;
            let reached = value(w, rate, time_to_value(w, rate, mu));
            prop_assert!((reached - mu).abs() < 1e-12 * mu, "{reached} {mu}");
        }
    }
}
