//! How are logarithms and exponentials had where a fetch needs dozens of them?
//!
//! Short series after a reduction by powers of two, in plain arithmetic that the compiler can weave into
//! what surrounds it: half the time of a call of the system's library, and the same digits on every
//! system. Good to about 1e-14.

use std::f64::consts::{FRAC_1_SQRT_2, LN_2, LOG2_E};

/// Returns ln x; as the system has it where x is no positive normal number.
#[inline]
pub fn ln(x: f64) -> f64 {
    if !(f64::MIN_POSITIVE..f64::INFINITY).contains(&x) {
        return x.ln();
    }
    // x = 2^power m, with m between √½ and √2.
    let bits = x.to_bits();
    let power = bits.wrapping_sub(FRAC_1_SQRT_2.to_bits()) as i64 >> 52;
    let m = f64::from_bits(bits.wrapping_sub((power as u64) << 52));
    power as f64 * LN_2 + atanh_twice((m - 1.0) / (m + 1.0))
}

/// Returns ln(1 + y) without losing a small y.
#[inline]
pub fn ln_1p(y: f64) -> f64 {
    if y > -0.29 && y < 0.41 { atanh_twice(y / (2.0 + y)) } else { ln(1.0 + y) }
}

/// Returns e^x.
#[inline]
pub fn exp(x: f64) -> f64 {
    if x.is_nan() || x.abs() > 700.0 {
        return x.exp();
    }
    let (power, rest) = halves(x);
    power * (1.0 + rest * growth(rest))
}

/// Returns 1 - e^-x without losing a small x.
#[inline]
pub fn decay(x: f64) -> f64 {
    if x.abs() < 0.5 * LN_2 { x * growth(-x) } else { 1.0 - exp(-x) }
}

/// 2^n and r with x = n ln 2 + r and |r| at most half of ln 2.
#[inline]
fn halves(x: f64) -> (f64, f64) {
    /// Added and taken off again, it leaves a whole number.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    /// ln 2 in two parts, the first so short that its multiples are exact.
    const LN_2_HIGH: f64 = 0.693_147_180_369_123_8;
    const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    let n = (x * LOG2_E + ROUND) - ROUND;
    let power = f64::from_bits(((n as i64 + 1023) as u64) << 52);
    (power, (x - n * LN_2_HIGH) - n * LN_2_LOW)
}

/// (e^r - 1)/r for |r| up to 0.35.
#[inline]
fn growth(r: f64) -> f64 {
    const TERMS: [f64; 12] = [
        1.0,
        1.0 / 2.0,
        1.0 / 6.0,
        1.0 / 24.0,
        1.0 / 120.0,
        1.0 / 720.0,
        1.0 / 5_040.0,
        1.0 / 40_320.0,
        1.0 / 362_880.0,
        1.0 / 3_628_800.0,
        1.0 / 39_916_800.0,
        1.0 / 479_001_600.0,
    ];
    polynomial(&TERMS, r)
}

/// 2 atanh(s) = ln((1+s)/(1-s)) for |s| up to 0.172.
#[inline]
fn atanh_twice(s: f64) -> f64 {
    const TERMS: [f64; 10] = [
        2.0,
        2.0 / 3.0,
        2.0 / 5.0,
        2.0 / 7.0,
        2.0 / 9.0,
        2.0 / 11.0,
        2.0 / 13.0,
        2.0 / 15.0,
        2.0 / 17.0,
        2.0 / 19.0,
    ];
    let square = s * s;
    s * polynomial(&TERMS, square)
}

/// Σ terms\[n\] xⁿ, of an even number of terms. Even and odd powers apart, so that the processor does both at a time.
#[inline]
fn polynomial<const N: usize>(terms: &[f64; N], x: f64) -> f64 {
    const { assert!(N.is_multiple_of(2)) }
    let square = x * x;
    let (mut even, mut odd) = (0.0, 0.0);
    for [low, high] in terms.as_chunks().0.iter().rev() {
        (even, odd) = (even * square + low, odd * square + high);
    }
    even + x * odd
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_close;
    use proptest::prelude::*;

    #[test]
    fn ends_and_nonsense_are_as_elsewhere() {
        for x in [0.0, -0.0, -1.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e-310, 1e308] {
            let same = |a: f64, b: f64| {
                a == b || (a.is_nan() && b.is_nan()) || (a / b - 1.0).abs() < 1e-13
            };
            assert!(same(ln(x), x.ln()) && same(exp(x), x.exp()), "{x}");
            assert!(same(ln_1p(x), x.ln_1p()), "{x}");
        }
        assert_eq!((ln(1.0), exp(0.0), ln_1p(0.0), decay(0.0)), (0.0, 1.0, 0.0, 0.0));
        assert_eq!((exp(800.0), exp(-800.0), decay(800.0)), (f64::INFINITY, 0.0, 1.0));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn they_agree_with_the_exact_ones(x in -690.0..690.0_f64, small in -9.0..0.5_f64, sign in any::<bool>()) {
            assert_close(exp(x), x.exp(), 1e-13);
            assert_close(ln(x.exp()), x, 1e-13);
            let near = 10f64.powf(small) * if sign { 1.0 } else { -1.0 };
            if near > -1.0 {
                assert_close(ln_1p(near), near.ln_1p(), 1e-13);
            }
            assert_close(decay(near), -(-near).exp_m1(), 1e-13);
        }
    }
}
