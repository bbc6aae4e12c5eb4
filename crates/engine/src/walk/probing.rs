//! How does a host answer for what does not exist? It is asked once, when that would tell what one
//! of its pages is.
//!
//! The address is a page like others while it waits: its request is in the budget, at the host's
//! pace, and robots.txt may forbid it. Then it is forgotten, and only the answer is remembered.

use evercrawl_model::{Event, Time};
use evercrawl_state::Store;

use super::Walk;
use crate::EngineError;
use crate::frontier::{Lease, SOFT_404_RECHECK_AFTER};
use crate::process::Processed;
use evercrawl_compare::Soft404Profile;

impl<S: Store> Walk<S> {
    /// Has the host of a page asked, unless it has been.
    pub(super) fn probe(&mut self, of: &Lease, now: Time) -> Result<(), EngineError> {
        let known = self.state.view().manner(of.page.host)?;
        if known.is_some_and(|known| now.since(known.at) < SOFT_404_RECHECK_AFTER) {
            return Ok(());
        }
        if let Some(found) = self.links.probe(of, now) {
            self.apply(&Event::Discovered(found), now)?;
        }
        Ok(())
    }

    /// The answer came, or none did; a host that failed is asked again at the next doubt.
    pub(super) fn probed(
        &mut self,
        processed: &mut Processed,
        now: Time,
    ) -> Result<(), EngineError> {
        let host = processed.job.lease.page.host;
        if let Some(manner) = &processed.manner {
            self.apply(&Event::Probed { host, at: now, profile: manner.to_bytes() }, now)?;
        }
        self.forget(processed, now)
    }

    /// robots.txt forbids to ask: what cannot be known counts as well behaved.
    pub(super) fn may_not_probe(&mut self, lease: &Lease, now: Time) -> Result<(), EngineError> {
        let manner = Soft404Profile::HONEST.to_bytes();
        self.apply(&Event::Probed { host: lease.page.host, at: now, profile: manner }, now)?;
        self.apply(&Event::Forgotten { page: lease.page }, now)?;
        Ok(())
    }
}
