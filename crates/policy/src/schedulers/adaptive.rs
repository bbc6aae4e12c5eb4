//! `adaptive`: sooner after a change, later after none, as Nutch and StormCrawler do.

use crate::page::{Days, Page, VisitEvidence};
use crate::policy::Policy;

/// The numbers of an adaptive rule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Adaptive {
    /// The interval of a page that has not been checked.
    pub start: Days,
    /// The shortest interval.
    pub min: Days,
    /// The longest.
    pub max: Days,
    /// An unchanged page's interval grows by this share.
    pub increase: f64,
    /// A changed page's interval shrinks by this share.
    pub decrease: f64,
    /// How far the next visit is drawn towards the phase of the page's own changes, where the page
    /// tells when it last changed.
    pub sync: Option<f64>,
}

impl Adaptive {
    /// Nutch's `AdaptiveFetchSchedule` as shipped.
    pub(crate) const NUTCH: Adaptive = Adaptive {
        start: 30.0,
        min: 60.0 / 86_400.0,
        max: 365.0,
        increase: 0.4,
        decrease: 0.2,
        sync: Some(0.3),
    };

    /// StormCrawler's `AdaptiveScheduler` as shipped.
    pub(crate) const STORM_CRAWLER: Adaptive = Adaptive {
        start: 1.0,
        min: 60.0 / 1_440.0,
        max: 14.0,
        increase: 0.5,
        decrease: 0.5,
        sync: None,
    };

    /// The interval stands in the page's first note; 0 is none yet.
    fn interval(&self, page: &Page) -> Days {
        if page.note[0] > 0.0 { f64::from(page.note[0]) } else { self.start }
    }
}

impl Policy for Adaptive {
    fn record_discovery(&mut self, page: &mut Page, now: Days) {
        page.due = if page.is_known() { page.last + self.interval(page) } else { now };
    }

    fn record_visit(&mut self, page: &mut Page, seen: &VisitEvidence) {
        let mut interval = self.interval(page);
        let mut from = seen.at;
        if let Some((_, changed)) = seen.check() {
            interval *= if changed { 1.0 - self.decrease } else { 1.0 + self.increase };
            if let (Some(sync), Some(age)) = (self.sync, seen.age) {
                interval = interval.max(age);
                from -= sync * age;
            }
            interval = interval.clamp(self.min, self.max);
            page.note[0] = interval as f32;
        }
        page.due = (from + interval).max(seen.at + self.min);
    }

    fn explain(&self, page: &Page, _now: Days) -> Vec<(&'static str, f64)> {
        vec![("interval", self.interval(page))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::{Finding, Visit};

    fn after(mut rule: Adaptive, finds: &[Finding]) -> Days {
        let mut page = Page::new(0);
        let mut at = 0.0;
        for &found in [Finding::Changed].iter().chain(finds) {
            let seen = page.record(&Visit::new(at, found));
            rule.record_visit(&mut page, &seen);
            at = page.due;
        }
        page.due - page.last
    }

    #[test]
    fn intervals_grow_and_shrink_within_their_limits() {
        use Finding::{Changed, Same};
        for (rule, finds, want) in [
            (Adaptive::NUTCH, &[][..], 30.0),
            (Adaptive::NUTCH, &[Same], 42.0),
            (Adaptive::NUTCH, &[Same, Changed], 33.6),
            (Adaptive::NUTCH, &[Same; 20], 365.0),
            (Adaptive::STORM_CRAWLER, &[Same], 1.5),
            (Adaptive::STORM_CRAWLER, &[Changed], 0.5),
            (Adaptive::STORM_CRAWLER, &[Same; 20], 14.0),
            (Adaptive::STORM_CRAWLER, &[Changed; 20], 1.0 / 24.0),
        ] {
            assert!((after(rule, finds) - want).abs() < 1e-4, "{finds:?} {}", after(rule, finds));
        }
    }

    #[test]
    fn a_date_moves_the_phase() {
        let (mut rule, mut page) = (Adaptive::NUTCH, Page::new(0));
        page.record(&Visit::new(0.0, Finding::Changed));
        let dated = Visit { modified: Some(20.0), ..Visit::new(30.0, Finding::Changed) };
        let seen = page.record(&dated);
        rule.record_visit(&mut page, &seen);
        assert!((page.due - (30.0 + 24.0 - 3.0)).abs() < 1e-9);
    }
}
