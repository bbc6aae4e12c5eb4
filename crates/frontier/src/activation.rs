//! Which hosts are active in memory, and which give up their place?
//!
//! The number of active hosts is bounded. While others are queued, a host stays active for its quantum of pages or
//! for [`LONGEST_ACTIVE_TURN`]. It is parked sooner when it has nothing to fetch or a long pause.

use std::time::Duration;

use evercrawl_model::{Band, Event, HostKey, Time};
use evercrawl_state::{HostRow, StateError, Store, View};

use super::back_queue::BackQueue;
use super::new_page_share::Streak;
use super::{ActiveHost, Frontier, MAX_HOSTS_PER_CALL};

/// A host with a longer pause than this is parked on disk.
pub(super) const LONG_PAUSE: Duration = Duration::from_secs(60);

/// How long a host stays active while others are queued.
const LONGEST_ACTIVE_TURN: Duration = Duration::from_secs(60);

impl ActiveHost {
    /// Whether it has used its quantum, in pages or in time: a slow host must not keep others waiting.
    pub(super) fn has_used_quantum(&self, quantum: u32, now: Time) -> bool {
        self.taken >= quantum
            || self.taken > 0 && now.since(self.active_since) >= LONGEST_ACTIVE_TURN
    }
}

impl Frontier {
    /// Moves hosts whose block has ended back to the queues of hosts with work.
    pub(super) fn requeue_unblocked_hosts<S: Store>(
        &mut self,
        state: &View<S>,
        now: Time,
        events: &mut Vec<Event>,
    ) -> Result<(), StateError> {
        for _ in 0..MAX_HOSTS_PER_CALL {
            let idle = |host: HostKey, _: &HostRow| !self.active.contains_key(&host);
            let Some((host, row)) = self.fronts.take_unblocked(state, now, idle)? else { break };
            let since = row.front.map_or(now, |(_, since)| since);
            let mut queue = self.rested.take(host);
            let front = self.front_queue_of(state, &mut queue, row.waiting)?;
            let front = front.map(|(band, wake)| match wake <= now {
                // Pages that will probably fail come after all others.
                true => (band.min(Band::LAST), wake.max(since)),
                false => (band, wake),
            });
            self.rested.keep(host, queue);
            events.push(Event::HostParked { host, front });
        }
        Ok(())
    }

    /// The front queue for a host with this back queue, and from when on.
    fn front_queue_of<S: Store>(
        &self,
        state: &View<S>,
        queue: &mut BackQueue,
        waiting: u32,
    ) -> Result<Option<(Band, Time)>, StateError> {
        let front = queue.front_queue(state, waiting > 0)?;
        let by_size = self.config.larger_first && waiting > 0;
        Ok(front.map(|(band, wake)| (if by_size { band_of_size(waiting) } else { band }, wake)))
    }

    /// Activates hosts from the front queues until enough are active or none has work. Bounded per call.
    pub(super) fn activate_hosts<S: Store>(
        &mut self,
        state: &View<S>,
        now: Time,
        events: &mut Vec<Event>,
    ) -> Result<(), StateError> {
        for _ in 0..MAX_HOSTS_PER_CALL {
            let room = self.active.len() < self.config.active_hosts;
            if !room || !self.fronts.has_work(self.horizon) {
                break;
            }
            let (active, new_only) = (&self.active, self.config.new_only);
            let wanted = |host: HostKey, row: &HostRow| {
                !active.contains_key(&host) && (row.waiting > 0 || !new_only)
            };
            let bands = self.selector.bands();
            let found = self.fronts.take(state, bands, self.horizon, wanted)?;
            found.into_iter().for_each(|(host, row)| self.activate_host(host, row, now, events));
        }
        Ok(())
    }

    fn activate_host(&mut self, key: HostKey, row: HostRow, now: Time, events: &mut Vec<Event>) {
        let until = row.blocked_until.max(row.next_allowed);
        if until > now.after(LONG_PAUSE) {
            events.push(Event::HostParked { host: key, front: Some((Band::BLOCKED, until)) });
            return;
        }
        let delay = self.slowed.lengthen(key, self.config.pace.host_pause(None, row.answer_time));
        let after_crash =
            if self.started_after_crash { self.started_at.after(delay) } else { Time::EPOCH };
        let host = ActiveHost {
            next_allowed: row.next_allowed.max(after_crash),
            blocked_until: row.blocked_until,
            row,
            queue: self.rested.take(key),
            rules: [None, None],
            in_flight: 0,
            out: 0,
            taken: 0,
            active_since: now,
            streak: Streak::default(),
            queued_at: None,
            delay,
            address_looked_up: false,
            awaits_robots: false,
        };
        self.active.insert(key, Box::new(host));
        self.enqueue_host(key, now);
    }

    /// Parks a host with a long pause, so that another can be active.
    pub fn park_if_paused<S: Store>(
        &mut self,
        state: &View<S>,
        key: HostKey,
        now: Time,
        events: &mut Vec<Event>,
    ) -> Result<(), StateError> {
        let Some(host) = self.active.get(&key) else { return Ok(()) };
        if host.ready_at(&self.pauses, now) <= now.after(LONG_PAUSE) {
            return Ok(());
        }
        self.park_host(state, key, now, events)
    }

    /// Parks a host on disk until it has work and may be requested. Does nothing while requests to it are in flight.
    pub(super) fn park_host<S: Store>(
        &mut self,
        state: &View<S>,
        key: HostKey,
        now: Time,
        events: &mut Vec<Event>,
    ) -> Result<(), StateError> {
        if self.active.get(&key).is_none_or(|host| host.in_flight > 0) {
            return Ok(());
        }
        let Some(mut host) = self.active.remove(&key) else { return Ok(()) };
        let waiting = state.host(key)?.map_or(0, |row| row.waiting);
        let front = self.front_queue_of(state, &mut host.queue, waiting)?;
        let allowed = host.ready_at(&self.pauses, now);
        let front = front.map(|(band, wake)| match wake.max(now) {
            wake if wake < allowed => (Band::BLOCKED, allowed),
            wake => (band, wake),
        });
        self.rested.keep(key, host.queue);
        events.push(Event::HostParked { host: key, front });
        Ok(())
    }
}

/// The band of a host with this many queued pages: each band stands for four times as many.
pub fn band_of_size(waiting: u32) -> Band {
    let fourfolds = f64::from(waiting.max(1)).log2() / 2.0;
    let last = f64::from(Band::LAST.number());
    Band::new((last - fourfolds).floor().clamp(1.0, last) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_with_more_waiting_pages_come_first() {
        for (waiting, want) in [(0, 7), (1, 7), (4, 6), (100, 3), (5000, 1)] {
            assert_eq!(band_of_size(waiting), Band::new(want), "{waiting}");
        }
    }
}
