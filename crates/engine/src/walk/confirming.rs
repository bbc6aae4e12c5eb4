//! Is a change there to stay? A page that alternates can be visited a second time to confirm.
//!
//! Servers that do not agree with each other, tests on visitors, a maintenance page that comes and goes:
//! such a page changes to what it had been before. Where the user asks for it, such a change is confirmed by
//! another visit a little later. Either it holds, or what came back is known from then on to alternate.

use std::collections::HashSet;

use evercrawl_model::{NextVisit, PageKey};

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
