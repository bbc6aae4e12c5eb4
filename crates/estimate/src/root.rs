//! Where does a continuous function cross zero?

const STEPS: usize = 200;

/// Returns a root of `f` between `a` and `b`, where its signs differ, to rounding error.
///
/// Chandrupatla's method: inverse quadratic interpolation where that is safe, else bisection.
/// Where the signs do not differ, the end with the smaller value is returned.
pub fn between(mut a: f64, mut b: f64, f: impl Fn(f64) -> f64) -> f64 {
    let (mut fa, mut fb) = (f(a), f(b));
    if fa * fb > 0.0 || fa == 0.0 || fb == 0.0 {
        return if fa.abs() <= fb.abs() { a } else { b };
    }
    let mut t = 0.5;
    for _ in 0..STEPS {
        let x = a + t * (b - a);
        let fx = f(x);
        let (c, fc);
        if fx.signum() == fa.signum() {
            (c, fc) = (a, fa);
        } else {
            (c, fc) = (b, fb);
            (b, fb) = (a, fa);
        }
        (a, fa) = (x, fx);
        let best = if fa.abs() < fb.abs() { a } else { b };
        let limit = (2.0 * f64::EPSILON * best.abs() + f64::MIN_POSITIVE)
            / (b - c).abs().max(f64::MIN_POSITIVE);
        if limit > 0.5 || fa == 0.0 || fb == 0.0 {
            return best;
        }
        t = next_share((a, fa), (b, fb), (c, fc)).clamp(limit, 1.0 - limit);
    }
    a
}

/// How far from a to b to look next.
fn next_share((a, fa): (f64, f64), (b, fb): (f64, f64), (c, fc): (f64, f64)) -> f64 {
    let xi = (a - b) / (c - b);
    let phi = (fa - fb) / (fc - fb);
    if phi * phi < xi && (1.0 - phi) * (1.0 - phi) < 1.0 - xi {
        fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
    } else {
        0.5
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_of_easy_and_hard_functions_are_found() {
        assert!((between(0.0, 2.0, |x| x * x - 2.0) - 2f64.sqrt()).abs() < 1e-15);
        assert!((between(-4.0, 9.0, |x| (x - 1.0).powi(9)) - 1.0).abs() < 1e-12);
        assert!((between(0.0, 1.0, |x| (x - 1e-9).signum()) - 1e-9).abs() < 1e-15);
    }

    #[test]
    fn without_a_change_of_sign_the_nearer_end_is_returned() {
        assert_eq!(between(1.0, 2.0, |x| x), 1.0);
        assert_eq!(between(-2.0, -1.0, |x| x), -1.0);
        assert_eq!(between(0.0, 1.0, |x| x), 0.0);
    }

    #[test]
    fn a_function_without_values_ends() {
        assert!(between(0.0, 1.0, |_| f64::NAN).is_finite());
    }
}
