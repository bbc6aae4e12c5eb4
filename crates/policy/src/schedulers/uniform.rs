//! `uniform`: every page as often as every other.

use crate::page::{Days, Page, VisitEvidence};
use crate::policy::{Policy, Round};
use crate::schedulers::{advance, spread};

/// Fetches all pages in turn, evenly spaced.
///
/// No better than that with knowledge of nothing, and for freshness never worse than fetching in
/// proportion to change (Cho and Garcia-Molina; B9).
#[derive(Debug)]
pub struct Uniform {
    interval: Days,
}

impl Uniform {
    /// A turn takes as long as the budget makes it, once a round has told the budget.
    pub fn new() -> Self {
        Uniform { interval: 1.0 }
    }
}

impl Default for Uniform {
    fn default() -> Self {
        Uniform::new()
    }
}

impl Policy for Uniform {
    fn record_discovery(&mut self, page: &mut Page, now: Days) {
        page.due = if page.is_known() { spread(page, self.interval) } else { now };
    }

    fn record_visit(&mut self, page: &mut Page, seen: &VisitEvidence) {
        page.due = advance(page.due, seen.at, self.interval);
    }

    fn plan_round(&mut self, round: &Round, pages: &mut [Page]) -> bool {
        let alive = pages.iter().filter(|page| page.alive).count();
        if round.rate() > 0.0 {
            self.interval = (alive as f64 / round.rate()).max(f64::MIN_POSITIVE);
        }
        false
    }

    fn explain(&self, _page: &Page, _now: Days) -> Vec<(&'static str, f64)> {
        vec![("interval", self.interval)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{World, all_equal};

    #[test]
    fn every_page_gets_its_turn() {
        let mut world = World::still(10);
        let fetched = world.run(Box::new(Uniform::new()), 6, 5);
        assert!(all_equal(fetched.iter().copied()), "{fetched:?}");
        assert_eq!(fetched.iter().sum::<usize>(), 30);
    }
}
