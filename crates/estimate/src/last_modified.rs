//! How often does a page change, if it also says when it last did?

/// Returns the rate from checks whose answers carry Last-Modified (the survey's eq. 27, corrected).
///
/// ```text
/// λ = [(X - 1) - X/(N ln(1 - X/N))]/U
/// ```
///
/// N checks, X of which found a change (the survey: "time"), and U the total *time* known to be
/// unmodified: the page's age for a changed check, the whole interval otherwise (the survey:
/// "number of times"). Its printed denominator S·T has the wrong dimension unless T is a share of
/// the span S; read U. Nearly unbiased. Without changes 0; with a change at every check (N-1)/U,
/// which for a single check is 0 and says nothing: fall back to a prior.
pub fn eq27(checks: u64, changes: u64, unmodified: f64) -> f64 {
    let (n, x) = (checks as f64, changes.min(checks) as f64);
    if x == 0.0 || unmodified.is_nan() || unmodified < 0.0 {
        return 0.0;
    }
    let correction = if x == n { 0.0 } else { x / (n * (-x / n).ln_1p()) };
    let numerator = x - 1.0 - correction;
    if numerator > 0.0 { numerator / unmodified } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Uniforms, assert_close, golden, number, rows};

    #[test]
    fn eq27_matches_the_reference_numbers() {
        let Some(golden) = golden() else { return };
        for row in rows(&golden, "estimator_eq27_values") {
            let (n, x) = (number(row, "N") as u64, number(row, "X") as u64);
            assert_close(eq27(n, x, number(row, "T_unmod")), number(row, "lam"), 1e-9);
        }
    }

    #[test]
    fn eq27_is_nearly_unbiased_where_changes_over_time_is_not() {
        let (mut random, rounds) = (Uniforms::new(4), 100_000);
        for (r, plain) in [(0.2, 0.224), (1.0, 1.165), (3.0, 3.718)] {
            let (mut sum, mut naive) = (0.0, 0.0);
            for _ in 0..rounds {
                let (mut changes, mut unmodified) = (0, 0.0);
                for _ in 0..5 {
                    // Backwards from the check, the last change is an exponential gap away.
                    let age = random.gap(r);
                    changes += u64::from(age < 1.0);
                    unmodified += age.min(1.0);
                }
                sum += eq27(5, changes, unmodified);
                naive += changes as f64 / unmodified;
            }
            assert!((sum / f64::from(rounds) - r).abs() < 0.02 * r.max(1.0), "{r}");
            assert!((naive / f64::from(rounds) - plain).abs() < 0.02 * plain.max(1.0), "{r}");
        }
    }

    #[test]
    fn edges_are_answered() {
        assert_eq!(eq27(0, 0, 1.0), 0.0);
        assert_eq!(eq27(3, 9, 2.0), eq27(3, 3, 2.0));
        assert_eq!(eq27(3, 2, f64::NAN), 0.0);
        assert_eq!(eq27(3, 3, 0.0), f64::INFINITY);
    }
}
