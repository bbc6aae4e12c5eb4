//! How often does a page change, if it was checked at regular intervals?
//!
//! n checks over a span T, X of which found a change: the survey's eq. 9, 12 and 13.

/// A page checked at regular intervals.
///
/// With irregular ones n/T is only a stand-in for the frequency; use [`irregular`](crate::irregular).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RegularChecks {
    /// Number of checks, n.
    pub checks: u64,
    /// How many of them found a change, X.
    pub changes: u64,
    /// Total time, T = n intervals. With T = n, rates are changes per check.
    pub span: f64,
}

impl RegularChecks {
    /// Returns X/T (eq. 9).
    ///
    /// Saturates at one change per check, and its bias does not go away with more checks. 0 without
    /// checks or time, as all estimates here.
    pub fn naive(self) -> f64 {
        self.per_time(self.changes() / self.checks as f64)
    }

    /// Returns -(n/T) ln(X̄/n), with X̄ = n - X (eq. 12).
    ///
    /// Infinite when every check found a change. The survey's r = log q lacks the minus sign.
    pub fn log(self) -> f64 {
        self.per_time(-(self.unchanged() / self.checks as f64).ln())
    }

    /// Returns -(n/T) ln((X̄+½)/(n+½)) (eq. 13).
    ///
    /// Nearly unbiased up to one change per check, never infinite. ½ is the limit of
    /// [`unbiased_shift`](crate::bias::unbiased_shift) for many checks, not its value.
    pub fn eq13(self) -> f64 {
        self.shifted(0.5)
    }

    /// Returns the same with another shift a: -(n/T) ln((X̄+a)/(n+a)).
    pub fn shifted(self, a: f64) -> f64 {
        self.per_time(-((self.unchanged() + a) / (self.checks as f64 + a)).ln())
    }

    /// Returns eq. 13, but at least ½/T.
    ///
    /// A few short unchanged intervals make eq. 13 zero, and a policy that believes it never looks
    /// again. The floor takes out nearly all of that loss (our own simulation study).
    pub fn eq13_floored(self) -> f64 {
        if self.span > 0.0 { self.eq13().max(0.5 / self.span) } else { 0.0 }
    }

    fn changes(self) -> f64 {
        self.changes.min(self.checks) as f64
    }

    fn unchanged(self) -> f64 {
        self.checks.saturating_sub(self.changes) as f64
    }

    fn per_time(self, per_check: f64) -> f64 {
        if self.checks > 0 && self.span > 0.0 {
            // Adding 0 turns the -0 of an unchanged page into 0.
            per_check * (self.checks as f64 / self.span) + 0.0
        } else {
            0.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_close, golden, number, rows};

    fn per_check(checks: u64, unchanged: u64) -> RegularChecks {
        RegularChecks { checks, changes: checks - unchanged, span: checks as f64 }
    }

    #[test]
    fn eq13_matches_the_reference_numbers() {
        let Some(golden) = golden() else { return };
        for row in rows(&golden, "estimator_eq13_values") {
            let (n, unchanged) = (number(row, "n") as u64, number(row, "unchanged") as u64);
            assert_close(per_check(n, unchanged).eq13(), number(row, "r"), 1e-9);
        }
    }

    #[test]
    fn the_ends_are_as_stated() {
        assert_close(per_check(7, 0).eq13(), 15f64.ln(), 1e-14);
        assert_eq!(per_check(7, 7).eq13(), 0.0);
        assert!(per_check(7, 7).eq13().is_sign_positive());
        assert_eq!(per_check(7, 0).log(), f64::INFINITY);
        assert_eq!(per_check(7, 0).naive(), 1.0);
        assert_close(per_check(7, 7).eq13_floored(), 0.5 / 7.0, 1e-14);
        assert_eq!(per_check(7, 0).eq13_floored(), per_check(7, 0).eq13());
    }

    #[test]
    fn time_scales_the_rate() {
        let daily = RegularChecks { checks: 10, changes: 4, span: 10.0 };
        let hourly = RegularChecks { span: 240.0, ..daily };
        for estimate in [
            RegularChecks::naive,
            RegularChecks::log,
            RegularChecks::eq13,
            RegularChecks::eq13_floored,
        ] {
            assert_close(estimate(daily) / 24.0, estimate(hourly), 1e-14);
        }
    }

    #[test]
    fn nothing_known_is_zero_and_more_changes_than_checks_is_all() {
        for span in [0.0, -1.0, f64::NAN] {
            let none = RegularChecks { checks: 3, changes: 1, span };
            assert_eq!(none.naive() + none.log() + none.eq13() + none.eq13_floored(), 0.0);
        }
        assert_eq!(RegularChecks { checks: 0, changes: 0, span: 1.0 }.eq13(), 0.0);
        assert_eq!(RegularChecks { checks: 2, changes: 9, span: 2.0 }.naive(), 1.0);
    }
}
