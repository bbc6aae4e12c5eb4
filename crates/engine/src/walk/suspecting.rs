//! What changes when a host is taken for spam, or is so no more?

use std::sync::Arc;
use std::time::Duration;

use evercrawl_archive::SegmentStore;
use evercrawl_model::{Event, HostKey, Suspicion, Time};
use evercrawl_state::Store;

use super::Walk;
use super::overriding::Cursor;
use crate::EngineError;
use crate::frontier::Lease;
use crate::suspicion::Suspects;

/// How long a suspect host rests when suspect hosts have had their share: for a run that ends when all is
/// visited that is longer than it waits.
const REST: Duration = Duration::from_secs(600);

impl<S: Store> Walk<S> {
    /// The hosts that something is done about.
    pub fn suspects(&self) -> Arc<Suspects> {
        self.suspects.clone()
    }

    /// The segments of the archive.
    pub fn segments(&self) -> Arc<dyn SegmentStore> {
        Arc::clone(self.archive.segments())
    }

    /// Takes over what hosts are taken for.
    pub fn suspect(
        &mut self,
        found: Vec<(HostKey, Option<Suspicion>)>,
        now: Time,
    ) -> Result<(), EngineError> {
        for (host, suspicion) in found {
            self.apply(&Event::SuspicionChanged { host, suspicion }, now)?;
        }
        self.reread_suspects()?;
        // Some may be suspect no more.
        self.sweep.back = Some(Cursor::default());
        self.look_again();
        Ok(())
    }

    pub(super) fn reread_suspects(&mut self) -> Result<(), EngineError> {
        let spam = self.planner.plan().spam;
        self.suspects = Arc::new(Suspects::read(self.state.view(), &spam)?);
        self.planner.set_suspects(self.suspects.clone());
        Ok(())
    }

    /// Whether a page has to wait since suspect hosts have had their share; then its host rests.
    pub(super) fn had_its_share(&mut self, lease: &Lease, now: Time) -> Result<bool, EngineError> {
        let page = lease.page;
        let all = self.tally.pages + self.frontier.in_flight() as u64;
        if self.suspects.may_request(page.host, self.tally.suspect, all) {
            return Ok(false);
        }
        self.frontier.block(page.host, now.after(REST), lease.host_failures);
        self.frontier.defer_page(lease, now);
        self.rest_if_paused(page, now)?;
        Ok(true)
    }
}
