//! What is somebody's word that a page changed worth? As much as such words proved to be on its host.

use evercrawl_model::{Noted, PageKey, Time};
use evercrawl_policy::Page;
use evercrawl_state::{PageRow, Place};

use super::{Planner, days, noted};

/// Without a budget nothing else bids for the request: a word is heeded as long as a look has this
/// chance of finding a change.
const WORTH_A_LOOK: f64 = 0.1;

impl Planner {
    /// Somebody says that a page changed since it was visited: when it is due by now, which is never
    /// later than it was, and what is noted of it. `None` for a page that was never visited.
    pub fn signalled(&mut self, key: PageKey, row: &PageRow, now: Time) -> Option<(Time, Noted)> {
        let last = row.past.as_ref()?.last_visit;
        let mut page = self.page(key, row);
        self.policy.signalled(&mut page, days(now));
        let waits = match row.place {
            Some(Place::Due(at) | Place::Recheck(at)) => at,
            _ => Time::NEVER,
        };
        let soonest = now.max(last.after(self.plan.shortest));
        let wanted = match row.held() {
            // There is nothing to be fresh: it is looked for, as it would be if it were new.
            false => soonest,
            true if self.spends_ahead() => self.within_bounds(page.due, last),
            true if self.is_worth_a_look(&page, now) => soonest,
            true => waits,
        };
        if row.held() && self.sample.wants(key) {
            self.sample.put(key, page);
        }
        Some((wanted.min(waits), noted(&page)))
    }

    fn is_worth_a_look(&self, page: &Page, now: Time) -> bool {
        let outlook = self.policy.outlook(page, days(now));
        outlook.is_none_or(|outlook| 1.0 - outlook.fresh >= WORTH_A_LOOK)
    }
}
