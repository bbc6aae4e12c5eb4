//! Is a change there to stay? A page that goes to and fro can be looked at once more.
//!
//! Servers that do not agree with each other, tests on visitors, a maintenance page that comes and goes:
//! such a page changes to what it had been before. Where the user asks for it, such a change is looked
//! at again a little later. Either it holds, or what came back is known from then on to take turns.

use std::collections::HashSet;

use evercrawl_model::{NextVisit, PageKey};

use crate::process::Processed;
use crate::schedule::Schedule;

/// Pages that wait for their second look at a time; beyond it they go without.
const MOST: usize = 10_000;

/// Pages whose change is to be looked at again.
#[derive(Debug, Default)]
pub(super) struct Confirming(HashSet<PageKey>);

impl Confirming {
    /// A page was visited: sets its next visit where its change is in doubt. One that was looked at
    /// again is not in doubt any more, whatever was found.
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

    /// Whether a page that came up did so for its second look.
    pub(super) fn wants(&self, page: PageKey) -> bool {
        self.0.contains(&page)
    }
}
