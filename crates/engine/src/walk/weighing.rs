//! What does it change that pages matter more, or less, than was known?

use evercrawl_model::{Event, Importance, PageKey, Time};
use evercrawl_state::Store;

use super::Walk;
use crate::EngineError;
use crate::importance::passed_on;
use crate::process::Processed;

impl<S: Store> Walk<S> {
    /// Takes over how much pages matter; those that are worth a visit sooner come sooner.
    pub fn weigh(
        &mut self,
        pages: Vec<(PageKey, Importance)>,
        now: Time,
    ) -> Result<(), EngineError> {
        let event = Event::Weighed { pages };
        self.apply(&event, now)?;
        let Event::Weighed { pages } = event else { return Ok(()) };
        for (page, _) in pages {
            let Some(row) = self.state.page(page)? else { continue };
            if let Some(due) = self.planner.sooner(page, &row, now) {
                self.apply(&Event::Rescheduled { page, due, noted: None }, now)?;
            }
        }
        Ok(())
    }

    /// How much the pages matter that a visit has found, as far as can be told at once.
    pub(super) fn importance_of_found(&self, processed: &Processed) -> Importance {
        if self.planner.plan().importance {
            passed_on(processed.job.lease.row.importance, processed.found.len())
        } else {
            Importance::UNKNOWN
        }
    }
}
