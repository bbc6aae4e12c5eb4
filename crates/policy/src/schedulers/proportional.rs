//! `proportional`: a page twice as often as one that changes half as often.

use crate::page::{Days, Page, VisitEvidence};
use crate::policy::{Policy, Round};
use crate::schedulers::{advance, estimated_rate, mean, spread};

/// Fetches in proportion to the estimated change rate (eq. 13, floored).
///
/// What intuition says, and for freshness worse than fetching all alike: it spends the most on pages
/// that are stale again at once. For coverage it is right.
#[derive(Debug)]
pub(crate) struct Proportional {
    /// Days between fetches of a page that changes once a day.
    interval: Days,
    /// What a page is taken to change at before it has been checked.
    usual_rate: f64,
}

impl Proportional {
    /// Knows nothing before the first round.
    pub(crate) fn new() -> Self {
        Proportional { interval: 1.0, usual_rate: 1.0 }
    }

    fn interval(&self, page: &Page) -> Days {
        self.interval / estimated_rate(page).unwrap_or(self.usual_rate)
    }
}

impl Default for Proportional {
    fn default() -> Self {
        Proportional::new()
    }
}

impl Policy for Proportional {
    fn record_discovery(&mut self, page: &mut Page, now: Days) {
        page.due = if page.is_known() { spread(page, self.interval(page)) } else { now };
    }

    fn record_visit(&mut self, page: &mut Page, seen: &VisitEvidence) {
        page.due = advance(page.due, seen.at, self.interval(page));
    }

    fn plan_round(&mut self, round: &Round, pages: &mut [Page]) -> bool {
        let alive = pages.iter().filter(|page| page.alive);
        let count = alive.clone().count() as f64;
        self.usual_rate = mean(alive.filter_map(estimated_rate)).unwrap_or(self.usual_rate);
        if round.rate() > 0.0 {
            self.interval = self.usual_rate * count.max(1.0) / round.rate();
        }
        false
    }

    fn explain(&self, page: &Page, _now: Days) -> Vec<(&'static str, f64)> {
        let rate = estimated_rate(page).unwrap_or(self.usual_rate);
        vec![("rate", rate), ("interval", self.interval(page))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::World;

    #[test]
    fn a_page_that_always_changes_is_fetched_far_more_often() {
        // Page 0 changes every day, the others never.
        let mut world = World::with_changes(10, (1..200).map(|day| (0, f64::from(day))));
        let fetched = world.run(Box::new(Proportional::new()), 10, 20);
        let others = fetched[1..].iter().sum::<usize>() as f64 / 9.0;
        assert!(fetched[0] as f64 > 3.0 * others, "{fetched:?}");
        assert!(fetched.iter().all(|&n| n > 0), "{fetched:?}");
    }
}
