//! What is the age objective's counterpart of g, and how is it inverted?

/// Returns k(r) = r²/2 - g(r) = r²/2 - 1 + (1+r)e^-r, which is r³/3 for small r.
///
/// w k(λI)/λ² is what a little more frequency takes off the age of a page fetched every I. `decay`
/// is e^-r. Below 1 as e^-r Σ (n(n-1)/2 - 1) rⁿ/n!, n >= 3, whose terms are all positive.
fn age_curve(r: f64, decay: f64) -> f64 {
    if r >= 1.0 {
        return r * r / 2.0 - 1.0 + (1.0 + r) * decay;
    }
    let (mut power, mut sum) = (r * r / 2.0, 0.0);
    for n in 3..26 {
        let n = f64::from(n);
        power *= r / n;
        let term = power * (n * (n - 1.0) / 2.0 - 1.0);
        sum += term;
        if term < 1e-17 * sum {
            break;
        }
    }
    sum * decay
}

/// Returns the r with k(r) = v: the start of its series, then Householder's steps of fourth order.
pub(super) fn age_curve_inverse(v: f64) -> f64 {
    if v > 1e15 {
        return (2.0 * v).sqrt();
    }
    let mut r = if v < 1.0 { small_inverse((3.0 * v).cbrt()) } else { (2.0 * v + 1.2).sqrt() };
    if r < 1e-5 {
        return r;
    }
    for _ in 0..8 {
        let decay = (-r).exp();
        let slope = r * (1.0 - decay);
        let newton = (age_curve(r, decay) - v) / slope;
        let bend = (1.0 - decay + r * decay) / slope;
        let twist = (2.0 - r) * decay / slope;
        let step = newton * (1.0 - 0.5 * newton * bend)
            / (1.0 - newton * bend + newton * newton * twist / 6.0);
        r -= step;
        if step.abs() < 1e-3 * r {
            break;
        }
    }
    r
}

/// The inverse series in s = (3v)^(1/3); three terms are exact to 1e-15 below 1e-5.
fn small_inverse(s: f64) -> f64 {
    s * (1.0 + s * (1.0 / 8.0 + s * 13.0 / 960.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_two_forms_meet_and_the_small_end_is_cubic() {
        let k = |r: f64| age_curve(r, (-r).exp());
        assert!((k(1.0 - 1e-14) / k(1.0) - 1.0).abs() < 1e-12);
        assert!((k(1e-5) / (1e-15 / 3.0) - 1.0).abs() < 1e-5);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn the_curve_and_its_inverse_round_trip(exponent in -90.0..8.0_f64) {
            let r = 10f64.powf(exponent);
            let back = age_curve_inverse(age_curve(r, (-r).exp()));
            prop_assert!((back - r).abs() <= 1e-12 * r, "{r} came back as {back}");
        }
    }
}
