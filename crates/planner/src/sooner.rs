//! Which waiting pages are due sooner than they were told, and which are to be asked about?

use std::collections::HashSet;

use evercrawl_model::{PageKey, Time};
use evercrawl_policy::Group;
use evercrawl_state::{PageRow, Place};

use super::page::{days, page_of};
use super::{Planner, SLACK};

impl Planner {
    /// When a waiting page is due by what is known now, where that is sooner than it was told.
    pub fn sooner(&self, key: PageKey, row: &PageRow, now: Time) -> Option<Time> {
        let (Some(Place::Due(due)), Some(past), true) =
            (row.place, &row.past, self.spends_ahead() && row.held())
        else {
            return None;
        };
        let page = self.page(key, row);
        let wanted = self.policy.due(&page, days(now));
        let wanted = self.within_bounds(wanted, past.last_visit, past.failures);
        let slack = SLACK * page.elapsed(days(due));
        (days(due) - days(wanted) > slack).then_some(wanted)
    }

    /// The groups in which much changed since it was last asked: their pages may be due sooner.
    pub fn stirred(&mut self) -> Vec<Group> {
        let mut groups = Vec::new();
        self.policy.stirred(&mut groups);
        groups
    }

    /// [`sooner`](Self::sooner), for a page that is in one of `groups`.
    pub fn sooner_in(
        &self,
        groups: &HashSet<Group>,
        key: PageKey,
        row: &PageRow,
        now: Time,
    ) -> Option<Time> {
        let mut of_page = page_of(key, row).groups();
        of_page.any(|group| groups.contains(&group)).then(|| self.sooner(key, row, now)).flatten()
    }

    /// [`sooner`](Self::sooner), for a page that has its turn. What comes up before its next turn is asked about then.
    pub fn sooner_in_turn(&self, key: PageKey, row: &PageRow, now: Time) -> Option<Time> {
        let Some(Place::Due(due)) = row.place else { return None };
        let waits_long = days(due) - days(now) >= self.policy.asked_again_every();
        waits_long.then(|| self.sooner(key, row, now)).flatten()
    }

    /// After a visit at `now`: how many of so many pages are to be asked about again, whatever stirred.
    pub fn asked_again(&mut self, pages: u64, now: Time) -> usize {
        self.rota.turns(pages as usize, self.policy.asked_again_every(), days(now))
    }
}
