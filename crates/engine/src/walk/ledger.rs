//! How does what happens reach the state and the frontier? Through here, one event after another.

use evercrawl_model::{Event, HostKey, Time};
use evercrawl_state::{Applied, State, Store, View};

use super::consequences::stays_on;
use crate::EngineError;
use crate::frontier::{Frontier, NextLease};

/// The state, and the frontier that follows it: an event is applied to one and noticed by the other.
pub(super) struct Ledger<S> {
    pub(super) state: State<S>,
    pub(super) frontier: Frontier,
    /// Pages that entered the frontier in this run.
    pub(super) queued: u64,
    /// The host whose rows alone may change now: that of the visit that is completed, or of the note that is delivered.
    /// Held in debug builds, so that every test of a crawl holds it.
    acting_for: Option<HostKey>,
}

impl<S: Store> Ledger<S> {
    /// A ledger that acts for all hosts.
    pub(super) fn new(state: State<S>, frontier: Frontier) -> Self {
        Ledger { state, frontier, queued: 0, acting_for: None }
    }

    /// From now on events change rows of this host alone, or of any; returns what held before.
    pub(super) fn act_for(&mut self, host: Option<HostKey>) -> Option<HostKey> {
        std::mem::replace(&mut self.acting_for, host)
    }

    /// The state, for readers.
    pub(super) fn view(&self) -> &View<S> {
        self.state.view()
    }

    /// Applies an event.
    pub(super) fn apply(&mut self, event: &Event, now: Time) -> Result<Applied, EngineError> {
        debug_assert!(
            self.acting_for.is_none_or(|host| stays_on(host, event)),
            "an event of another host than {:?}: {event:?}",
            self.acting_for
        );
        let applied = self.state.apply(event)?;
        self.frontier.update_windows(&applied, now);
        let is_new = matches!(event, Event::Discovered(_)) && applied.queued.is_some();
        self.queued += u64::from(is_new);
        Ok(applied)
    }

    fn apply_all(&mut self, events: &[Event], now: Time) -> Result<(), EngineError> {
        events.iter().try_for_each(|event| self.apply(event, now).map(drop))
    }

    /// What the frontier offers next, and whether it laid hosts to rest on the way.
    pub(super) fn next(&mut self, now: Time) -> Result<(NextLease, bool), EngineError> {
        let mut events = Vec::new();
        let next = self.frontier.lease_next_page(self.state.view(), now, &mut events)?;
        self.apply_all(&events, now)?;
        Ok((next, !events.is_empty()))
    }

    /// Lets a host leave memory that may not be asked for long.
    pub(super) fn rest_if_paused(&mut self, host: HostKey, now: Time) -> Result<(), EngineError> {
        let mut events = Vec::new();
        self.frontier.park_if_paused(self.state.view(), host, now, &mut events)?;
        self.apply_all(&events, now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::walk::steps::test_visit::{START, frontier, key_of, link_to, state};

    #[test]
    #[should_panic(expected = "an event of another host")]
    fn a_host_that_acts_changes_no_rows_of_another() {
        let mut ledger = Ledger::new(state(), frontier());
        ledger.act_for(Some(key_of("http://a.test/").host));
        let own = Event::Discovered(link_to("http://a.test/1"));
        assert!(ledger.apply(&own, START).is_ok());
        let other = Event::Discovered(link_to("http://b.test/1"));
        let _ = ledger.apply(&other, START);
    }
}
