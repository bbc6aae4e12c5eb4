//! Which queued pages are due earlier than planned, and which are to be checked for that?

use std::collections::HashSet;

use evercrawl_model::{PageKey, Time};
use evercrawl_policy::Group;
use evercrawl_state::{PageRow, Place};

use super::page::{to_days, unweighted_policy_page};
use super::{DUE_TIME_SLACK, Planner};

impl Planner {
    /// When a queued page is due by what is known now; `None` where that is no earlier than planned.
    pub fn earlier_due(&self, key: PageKey, row: &PageRow, now: Time) -> Option<Time> {
        let (Some(Place::Due(due)), Some(past), true) =
            (row.place, &row.past, self.may_fetch_ahead() && row.held())
        else {
            return None;
        };
        let page = self.policy_page(key, row);
        let wanted = self.policy.due(&page, to_days(now));
        let wanted = self.within_bounds(wanted, past.last_visit, past.failures);
        let slack = DUE_TIME_SLACK * page.elapsed(to_days(due));
        (to_days(due) - to_days(wanted) > slack).then_some(wanted)
    }

    /// Takes the groups in which much changed: their pages may be due earlier.
    pub fn take_changed_groups(&mut self) -> Vec<Group> {
        let mut groups = Vec::new();
        self.policy.take_changed_groups(&mut groups);
        groups
    }

    /// [`earlier_due`](Self::earlier_due), for a page that belongs to one of `groups`.
    pub fn earlier_due_in_groups(
        &self,
        groups: &HashSet<Group>,
        key: PageKey,
        row: &PageRow,
        now: Time,
    ) -> Option<Time> {
        let mut of_page = unweighted_policy_page(key, row).groups();
        of_page
            .any(|group| groups.contains(&group))
            .then(|| self.earlier_due(key, row, now))
            .flatten()
    }

    /// [`earlier_due`](Self::earlier_due), for a page reached by the rotation over all pages. Pages that come due
    /// before the next rotation are skipped: they are checked then.
    pub fn earlier_due_in_rotation(&self, key: PageKey, row: &PageRow, now: Time) -> Option<Time> {
        let Some(Place::Due(due)) = row.place else { return None };
        let waits_long = to_days(due) - to_days(now) >= self.policy.reconsider_interval();
        waits_long.then(|| self.earlier_due(key, row, now)).flatten()
    }

    /// How many of all `pages` the rotation should check after a visit at `now`.
    pub fn pages_to_reconsider(&mut self, pages: u64, now: Time) -> usize {
        self.rota.pages_due(pages as usize, self.policy.reconsider_interval(), to_days(now))
    }
}
