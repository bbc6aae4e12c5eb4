//! What do all estimators say about one page's history, side by side?

use crate::gamma::Gamma;
use crate::irregular::{Check, Interval, Intervals};
use crate::last_modified::eq27;
use crate::observation::Observation;
use crate::regular::Regular;

/// One recorded check of a page.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Visit {
    /// Time since the check before.
    pub interval: f64,
    /// Whether the page had changed.
    pub changed: bool,
    /// The part of the interval known to be unmodified, where Last-Modified told.
    pub unmodified: Option<f64>,
}

/// Every estimator's answer for one page, in changes per unit of time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimates {
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
    pub mle: Interval,
    /// The most probable rate under the prior.
    pub map: f64,
    /// The rate that makes the expected number of changed checks the observed one.
    pub moment: f64,
    /// The posterior mean, with its interval of equal tails.
    pub gamma: Interval,
}

/// Returns every estimate for a page; intervals hold the truth with probability `level`.
pub fn estimates(visits: &[Visit], prior: Gamma, level: f64) -> Estimates {
    let usable = |v: &&Visit| v.interval > 0.0 && v.interval < f64::INFINITY;
    let visits: Vec<&Visit> = visits.iter().filter(usable).collect();
    let checks = visits.len() as u64;
    let changes = visits.iter().filter(|v| v.changed).count() as u64;
    let regular = Regular { checks, changes, span: visits.iter().map(|v| v.interval).sum() };
    let check = |v: &&Visit| Check { interval: v.interval, changed: v.changed };
    let intervals = Intervals::new(visits.iter().map(check));
    let belief = visits.iter().fold(prior, |belief, v| belief.observe(observation(v)));
    let tail = (1.0 - level.clamp(0.0, 1.0)) / 2.0;
    Estimates {
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
        gamma: Interval {
            rate: belief.mean(),
            low: belief.quantile(tail),
            high: belief.quantile(1.0 - tail),
        },
    }
}

fn observation(visit: &Visit) -> Observation {
    let tau = visit.interval;
    match (visit.changed, visit.unmodified) {
        (false, _) => Observation::Unchanged { tau },
        (true, Some(age)) => Observation::ChangedAt { tau, age },
        (true, None) => Observation::Changed { tau },
    }
}

fn unmodified_time(visits: &[&Visit]) -> Option<f64> {
    visits.iter().map(|v| if v.changed { v.unmodified } else { Some(v.interval) }).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_close;

    fn visit(interval: f64, changed: bool, unmodified: Option<f64>) -> Visit {
        Visit { interval, changed, unmodified }
    }

    #[test]
    fn the_estimators_agree_on_an_easy_page() {
        let visits: Vec<Visit> = (0..200).map(|i| visit(1.0, i % 4 == 0, Some(0.5))).collect();
        let all = estimates(&visits, Gamma::new(1.0, 1.0), 0.95);
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
        assert!(estimates(&dated, prior, 0.95).eq27.is_some());
        assert!(estimates(&undated, prior, 0.95).eq27.is_none());
    }

    #[test]
    fn no_history_is_the_prior() {
        let none = estimates(&[visit(f64::NAN, true, None)], Gamma::new(2.0, 4.0), 0.95);
        assert_eq!((none.checks, none.naive, none.mle.rate), (0, 0.0, 0.0));
        assert_close(none.gamma.rate, 0.5, 1e-12);
    }
}
