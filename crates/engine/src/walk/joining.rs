//! A page moved for good: what becomes of what was learned of it? It goes with the page.
//!
//! Where the page is now is a page of its own, with visits of its own. Which of the two was met first is
//! chance: a site that was moved links to its new addresses before the old ones are looked at again.

use evercrawl_model::{Event, HostKey, PageKey, Time};
use evercrawl_state::{PageRow, Place, Store, View};

use super::Walk;
use crate::EngineError;
use crate::process::Processed;

/// The page that moved for good to the one of `row`, which has not been visited yet.
pub(super) fn former<S: Store>(
    state: &View<S>,
    row: &PageRow,
) -> Result<Option<(PageKey, PageRow)>, EngineError> {
    let Some(via) = row.via.filter(|_| row.hops > 0 && row.past.is_none()) else { return Ok(None) };
    let former = state.page(via)?.filter(PageRow::is_moved);
    Ok(former.map(|row| (via, row)))
}

/// Where a page is by now that was found to have moved for good.
pub(super) fn target(processed: &Processed) -> Option<(HostKey, Box<str>)> {
    let found = processed.leads.found.first().filter(|_| processed.visited.visit.is_move())?;
    Some((found.page.host, found.url.clone()))
}

impl<S: Store> Walk<S> {
    /// A page moved for good to `target`, which may have been visited already: it is believed to change as
    /// often as the page did, where that was watched for longer.
    pub(super) fn join(
        &mut self,
        page: PageKey,
        target: Option<(HostKey, Box<str>)>,
        now: Time,
    ) -> Result<(), EngineError> {
        let Some((host, url)) = target else { return Ok(()) };
        let (Some((target, mut row)), Some(former)) =
            (self.state.view().find(host, &url)?, self.state.view().page(page)?)
        else {
            return Ok(());
        };
        let Some(Place::Due(due)) = row.place.filter(|_| !self.frontier.is_leased(target)) else {
            return Ok(());
        };
        let Some(noted) = self.planner.inherit_notes((page, &former), (target, &row)) else {
            return Ok(());
        };
        row.past.iter_mut().for_each(|past| past.noted = noted);
        self.planner.sample_page(target, &row);
        let due = self.planner.earlier_due(target, &row, now).unwrap_or(due);
        self.apply(&Event::Rescheduled { page: target, due, policy_notes: Some(noted) }, now)?;
        Ok(())
    }
}
