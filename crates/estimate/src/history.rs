//! What do all estimators say about one page's history, side by side?

use crate::gamma::Gamma;
use crate::irregular::{ConfidenceInterval, IrregularChecks, TimedCheck};
use crate::last_modified::eq27;
use crate::observation::Observation;
use crate::regular::RegularChecks;

/// One recorded check of a page.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DatedVisit {
    /// Time since the check before.
    pub interval: f64,
    /// Whether the page had changed.
    pub changed: bool,
    /// The part of the interval known to be unmodified, where Last-Modified told.
    pub unmodified: Option<f64>,
}

/// Every estimator's answer for one page, in changes per unit of time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateEstimates {
    /// Number of checks.
    pub checks: u64,
    /// How many found a change.
    pub changes: u64,
    /// Eq. 9.
    pub naive: f64,
    /// Eq. 12; infinite if every check found a change.
    pub log: f64,
    /// Eq. 13.
    pub eq13: f64,
    /// Eq. 13, at least ½/T.
    pub eq13_floored: f64,
    /// Eq. 27; `None` where a changed check lacks its Last-Modified.
    pub eq27: Option<f64>,
    /// The irregular-interval maximum likelihood, with its interval of confidence.
    pub mle: ConfidenceInterval,
    /// The most probable rate under the prior.
    pub map: f64,
    /// The rate that makes the expected number of changed checks the observed one.
    pub moment: f64,
    /// The posterior mean, with its interval of equal tails.
    pub gamma: ConfidenceInterval,
}

/// Returns every estimate for a page; intervals hold the truth with probability `level`.
pub fn estimate_rate(visits: &[DatedVisit], prior: Gamma, level: f64) -> RateEstimates {
    let usable = |v: &&DatedVisit| v.interval > 0.0 && v.interval < f64::INFINITY;
    let visits: Vec<&DatedVisit> = visits.iter().filter(usable).collect();
    let checks = visits.len() as u64;
    let changes = visits.iter().filter(|v| v.changed).count() as u64;
    let regular = RegularChecks { checks, changes, span: visits.iter().map(|v| v.interval).sum() };
    let check = |v: &&DatedVisit| TimedCheck { interval: v.interval, changed: v.changed };
    let intervals = IrregularChecks::new(visits.iter().map(check));
    let belief = visits.iter().fold(prior, |belief, v| belief.observe(observation(v)));
    let tail = (1.0 - level.clamp(0.0, 1.0)) / 2.0;
    RateEstimates {
        checks,
        changes,
        naive: regular.naive(),
        log: regular.log(),
        eq13: regular.eq13(),
        eq13_floored: regular.eq13_floored(),
        eq27: unmodified_time(&visits).map(|time| eq27(checks, changes, time)),
        mle: intervals.mle_interval(level),
        map: intervals.map(prior),
        moment: intervals.moment(),
        gamma: ConfidenceInterval {
            rate: belief.mean(),
            low: belief.quantile(tail),
            high: belief.quantile(1.0 - tail),
        },
    }
}

fn observation(visit: &DatedVisit) -> Observation {
    let tau = visit.interval;
    match (visit.changed, visit.unmodified) {
        (false, _) => Observation::Unchanged { tau },
        (true, Some(age)) => Observation::ChangedAt { tau, age },
        (true, None) => Observation::Changed { tau },
    }
}

fn unmodified_time(visits: &[&DatedVisit]) -> Option<f64> {
    visits.iter().map(|v| if v.changed { v.unmodified } else { Some(v.interval) }).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_close;

    fn visit(interval: f64, changed: bool, unmodified: Option<f64>) -> DatedVisit {
        DatedVisit { interval, changed, unmodified }
    }

    #[test]
    fn the_estimators_agree_on_an_easy_page() {
        let visits: Vec<DatedVisit> = (0..200).map(|i| visit(1.0, i % 4 == 0, Some(0.5))).collect();
        let all = estimate_rate(&visits, Gamma::new(1.0, 1.0), 0.95);
        let truth = -(0.75f64.ln());
        for rate in [all.log, all.eq13, all.eq13_floored, all.mle.rate, all.map, all.moment] {
            assert!((rate / truth - 1.0).abs() < 0.02, "{rate}");
        }
        assert_eq!((all.checks, all.changes), (200, 50));
        assert_close(all.naive, 0.25, 1e-12);
        assert!(all.eq27.unwrap() > 0.25 && all.gamma.low < truth && truth < all.gamma.high);
    }

    #[test]
    fn eq27_needs_every_date() {
        let prior = Gamma::new(1.0, 1.0);
        let dated = [visit(1.0, true, Some(0.2)), visit(1.0, false, None)];
        let undated = [visit(1.0, true, None), visit(1.0, false, None)];
        assert!(estimate_rate(&dated, prior, 0.95).eq27.is_some());
        assert!(estimate_rate(&undated, prior, 0.95).eq27.is_none());
    }

    #[test]
    fn no_history_is_the_prior() {
        let none = estimate_rate(&[visit(f64::NAN, true, None)], Gamma::new(2.0, 4.0), 0.95);
        assert_eq!((none.checks, none.naive, none.mle.rate), (0, 0.0, 0.0));
        assert_close(none.gamma.rate, 0.5, 1e-12);
    }
}
