//! Is a change there to stay? A page that alternates can be visited a second time to confirm.
//!
//! Servers that do not agree with each other, tests on visitors, a maintenance page that comes and goes:
//! such a page changes to what it had been before. Where the user asks for it, such a change is confirmed by
//! another visit a little later. Either it holds, or what came back is known from then on to alternate.
//!
//! A page on which something differs in a place of which nothing is known gets a second look, too: what differs again
//! was drawn for the request.

use std::collections::HashSet;
use std::time::Duration;

use evercrawl_compare::PageMemory;
use evercrawl_model::{NextVisit, PageKey, Time};

use crate::frontier::Lease;
use crate::process::Processed;
use crate::schedule::Schedule;

/// Pages that wait for confirmation at a time; beyond it they go without.
const MOST: usize = 10_000;

/// Pages whose change is to be confirmed.
#[derive(Debug, Default)]
pub(super) struct Confirming(HashSet<PageKey>);

impl Confirming {
    /// A page was visited: sets its next visit where its change is in doubt. After a second visit it is not in
    /// doubt any more, whatever was found.
    pub(super) fn visited(&mut self, processed: &mut Processed, schedule: &Schedule) {
        let page = processed.visited.visit.page;
        let Some(pause) = schedule.confirm else { return };
        if self.0.remove(&page) || !processed.went_back() || self.0.len() >= MOST {
            return;
        }
        if let NextVisit::Due(due) = processed.visited.next {
            self.0.insert(page);
            processed.visited.next = NextVisit::Due(due.min(processed.job.ended.after(pause)));
        }
    }

    /// Whether a page that came up did so to be confirmed.
    pub(super) fn wants(&self, page: PageKey) -> bool {
        self.0.contains(&page)
    }
}

/// Whether a page that came up waits for a second look.
pub(super) fn is_second_look(lease: &Lease) -> bool {
    let memory = lease.row.past.as_ref().and_then(|past| past.memory.as_deref());
    memory.is_some_and(PageMemory::waits_for_second_look)
}

/// When a page that was visited at `ended` gets its second look: soon, and sooner where it is visited often.
pub(super) fn second_look(lease: &Lease, schedule: &Schedule, ended: Time) -> Time {
    let pause = schedule.second_look.unwrap_or(Duration::ZERO);
    let last_look = lease.row.past.as_ref().and_then(|past| past.last_look);
    let interval = last_look.map_or(pause, |last_look| ended.since(last_look));
    let soonest = SOONEST.min(interval / 2);
    ended.after((interval / SECOND_LOOK_SHARE).max(soonest).min(pause))
}

/// A second look comes after this part of the time between the last two looks, at the latest.
const SECOND_LOOK_SHARE: u32 = 10;
/// A clock should have gone on by then.
const SOONEST: Duration = Duration::from_secs(2);
