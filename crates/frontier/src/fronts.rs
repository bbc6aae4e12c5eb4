//! Which host gets the next place in memory? One that has work, from a front queue that the selector chose.
//!
//! In each queue the host comes first that has waited longest. So a host waits for no more than the hosts before it in its
//! queue: with the share of places that its queue gets, each of them free again after a turn.

use std::array;

use evercrawl_model::{Band, HostKey, Time};
use evercrawl_state::{HostRow, StateError, Store, View};

use super::window::{LENGTH, Window};

/// The front queues: one a band, and that of blocked hosts.
const FRONTS: usize = Band::COUNT as usize + 1;

/// The hosts that wait on disk.
pub(super) struct Fronts {
    queues: [Window<(Time, HostKey)>; FRONTS],
    /// No host that may be asked has a page due before this moment.
    next_due: Time,
    /// No host is blocked until a moment before this.
    next_unblocked: Time,
}

impl Fronts {
    /// Of which nothing is known yet.
    pub(super) fn new() -> Self {
        let queues = array::from_fn(|_| Window::default());
        Fronts { queues, next_due: Time::EPOCH, next_unblocked: Time::EPOCH }
    }

    /// Whether a host may have work by `horizon`.
    pub(super) fn have_work(&self, horizon: Time) -> bool {
        self.next_due <= horizon
    }

    /// When the next page of a host that may be asked is due.
    pub(super) fn next_due(&self) -> Time {
        self.next_due
    }

    /// Until when no host is blocked any longer that is now.
    pub(super) fn next_unblocked(&self) -> Time {
        self.next_unblocked
    }

    /// A host came to wait, or waits elsewhere.
    pub(super) fn take_in(&mut self, host: HostKey, band: Band, wake: Time) {
        self.queues[usize::from(band.number())].take_in((wake, host));
        let next =
            if band == Band::BLOCKED { &mut self.next_unblocked } else { &mut self.next_due };
        *next = (*next).min(wake);
    }

    /// The first host with work that is `wanted`, from the first of these `bands` that has one; `None` where there is none.
    pub(super) fn take<S: Store>(
        &mut self,
        state: &View<S>,
        bands: impl Iterator<Item = Band>,
        horizon: Time,
        wanted: impl Fn(HostKey, &HostRow) -> bool,
    ) -> Result<Option<(HostKey, HostRow)>, StateError> {
        let mut next_due = Time::NEVER;
        for band in bands {
            match self.take_from(state, band, horizon, &wanted)? {
                Head::Host(host, row) => return Ok(Some((host, row))),
                Head::Later(wake) => next_due = next_due.min(wake),
            }
        }
        self.next_due = next_due;
        Ok(None)
    }

    /// A host that is not to be left alone any longer at `now`, and is `wanted`.
    pub(super) fn take_unblocked<S: Store>(
        &mut self,
        state: &View<S>,
        now: Time,
        wanted: impl Fn(HostKey, &HostRow) -> bool,
    ) -> Result<Option<(HostKey, HostRow)>, StateError> {
        if self.next_unblocked > now {
            return Ok(None);
        }
        match self.take_from(state, Band::BLOCKED, now, wanted)? {
            Head::Host(host, row) => Ok(Some((host, row))),
            Head::Later(wake) => {
                self.next_unblocked = wake;
                Ok(None)
            }
        }
    }

    fn take_from<S: Store>(
        &mut self,
        state: &View<S>,
        band: Band,
        until: Time,
        wanted: impl Fn(HostKey, &HostRow) -> bool,
    ) -> Result<Head, StateError> {
        let queue = &mut self.queues[usize::from(band.number())];
        let read = |last: Option<(Time, HostKey)>| {
            let from = last.map_or_else(Default::default, |(wake, host)| (wake, after(host)));
            state.front(band, from, LENGTH)
        };
        while let Some((wake, host)) = queue.first(read)? {
            if wake > until {
                return Ok(Head::Later(wake));
            }
            queue.pop();
            // It may have gone elsewhere since it was read.
            let row = state.host(host)?.filter(|row| row.front == Some((band, wake)));
            if let Some(row) = row.filter(|row| wanted(host, row)) {
                return Ok(Head::Host(host, row));
            }
        }
        Ok(Head::Later(Time::NEVER))
    }
}

/// What is at the head of a front queue.
enum Head {
    /// A host with work.
    Host(HostKey, HostRow),
    /// None that has work before this moment.
    Later(Time),
}

/// The host key right after `host`.
fn after(host: HostKey) -> HostKey {
    HostKey { host: host.host.wrapping_add(1), ..host }
}
