//! Where does a continuous function cross zero?

const STEPS: usize = 200;

/// Returns a root of `f` between `a` and `b`, where its signs differ, to rounding error.
///
/// Where the signs do not differ, the end with the smaller value is returned.
pub fn between(a: f64, b: f64, f: impl Fn(f64) -> f64) -> f64 {
    enclose((a, f(a)), (b, f(b)), f).0
}

/// Returns the root's nearest neighbours: the better one, and the one on the other side of zero.
///
/// `a` and `b` come with their values, which are not asked for again. Chandrupatla's method: inverse
/// quadratic interpolation where that is safe, else bisection. A function that is steeper than
/// numbers can follow crosses zero between the two; one that is exactly zero somewhere, or has no
/// crossing, gives the same point twice.
pub fn enclose(a: (f64, f64), b: (f64, f64), f: impl Fn(f64) -> f64) -> (f64, f64) {
    let ((mut a, mut fa), (mut b, mut fb)) = (a, b);
    if fa * fb > 0.0 || fa == 0.0 || fb == 0.0 {
        let end = if fa.abs() <= fb.abs() { a } else { b };
        return (end, end);
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
        if fa == 0.0 {
            return (a, a);
        }
        let tolerance = 2.0 * f64::EPSILON * a.abs().min(b.abs()) + f64::MIN_POSITIVE;
        let limit = tolerance / (b - c).abs().max(f64::MIN_POSITIVE);
        if limit > 0.5 {
            break;
        }
        t = next_share((a, fa), (b, fb), (c, fc)).clamp(limit, 1.0 - limit);
    }
    if fa.abs() < fb.abs() { (a, b) } else { (b, a) }
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
    fn a_jump_is_enclosed_by_its_neighbours() {
        let step = |x: f64| if x < 0.3 { -1.0 } else { 2.0 };
        let (a, b) = enclose((0.0, -1.0), (1.0, 2.0), step);
        assert!(a < 0.3 && b >= 0.3 && b - a < 1e-15, "{a} {b}");
        assert_eq!(enclose((0.0, 0.0), (1.0, 0.5), |x| (x - 0.5).max(0.0)), (0.0, 0.0));
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
