//! Which host becomes active next? One with work, from a front queue that the selector chose.
//!
//! Each queue is first come, first served. So a host waits only for the hosts before it in its own queue, and each of
//! these leaves memory after its quantum.

use std::array;

use evercrawl_model::{Band, HostKey, Time};
use evercrawl_state::{HostRow, StateError, Store, View};

use super::window::{READ_LENGTH, Window};

/// One front queue per band, and one for blocked hosts.
const FRONT_QUEUES: usize = Band::COUNT as usize + 1;

/// The hosts on disk, by front queue.
pub(super) struct FrontQueues {
    queues: [Window<(Time, HostKey)>; FRONT_QUEUES],
    /// No host that may be requested has a page due before this moment.
    next_due: Time,
    /// No blocked host is unblocked before this moment.
    next_unblocked: Time,
}

impl FrontQueues {
    /// Starts with nothing known.
    pub(super) fn new() -> Self {
        let queues = array::from_fn(|_| Window::default());
        FrontQueues { queues, next_due: Time::EPOCH, next_unblocked: Time::EPOCH }
    }

    /// Whether a host may have work by `horizon`.
    pub(super) fn has_work(&self, horizon: Time) -> bool {
        self.next_due <= horizon
    }

    /// When the next page of a host that may be requested is due.
    pub(super) fn next_due(&self) -> Time {
        self.next_due
    }

    /// When the next blocked host is unblocked, at the earliest.
    pub(super) fn next_unblocked(&self) -> Time {
        self.next_unblocked
    }

    /// Records that a host was queued, or moved to another queue.
    pub(super) fn insert(&mut self, host: HostKey, band: Band, wake: Time) {
        self.queues[usize::from(band.number())].insert((wake, host));
        let next =
            if band == Band::BLOCKED { &mut self.next_unblocked } else { &mut self.next_due };
        *next = (*next).min(wake);
    }

    /// Takes the first `wanted` host with work from the first of these `bands` that has one.
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

    /// Takes a `wanted` host whose block has ended at `now`.
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
            state.front(band, from, READ_LENGTH)
        };
        while let Some((wake, host)) = queue.first(read)? {
            if wake > until {
                return Ok(Head::Later(wake));
            }
            queue.pop();
            // It may have moved since it was read.
            let row = state.host(host)?.filter(|row| row.front == Some((band, wake)));
            if let Some(row) = row.filter(|row| wanted(host, row)) {
                return Ok(Head::Host(host, row));
            }
        }
        Ok(Head::Later(Time::NEVER))
    }
}

/// The first entry of a front queue.
enum Head {
    /// A host with work.
    Host(HostKey, HostRow),
    /// No host has work before this moment.
    Later(Time),
}

/// The host key right after `host`.
fn after(host: HostKey) -> HostKey {
    HostKey { host: host.host.wrapping_add(1), ..host }
}
