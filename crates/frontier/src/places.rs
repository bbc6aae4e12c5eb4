//! Who has a place in memory, and who gives one up?
//!
//! There are as many places as hosts may be active. While others wait, a host keeps its place for a turn: so many pages,
//! or [`TURN`]. It gives it up sooner when it has nothing to fetch, or is not to be asked for long.

use std::time::Duration;

use evercrawl_model::{Band, Event, HostKey, Time};
use evercrawl_state::{HostRow, StateError, Store, View};

use super::back_queue::BackQueue;
use super::share::Row;
use super::{Active, Frontier, HOSTS_A_CALL};

/// A host that is not to be asked for longer than this waits on disk.
pub(super) const LONG_PAUSE: Duration = Duration::from_secs(60);

/// How long a host keeps its place while others wait for one.
const TURN: Duration = Duration::from_secs(60);

impl Active {
    /// Whether it has had its turn, by pages or by time: a slow host is not to keep others waiting.
    pub(super) fn has_had_turn(&self, quantum: u32, now: Time) -> bool {
        self.taken >= quantum || self.taken > 0 && now.since(self.since) >= TURN
    }
}

impl Frontier {
    /// Hosts that are not to be left alone any longer wait with the others again, from that moment on.
    pub(super) fn unblock_hosts<S: Store>(
        &mut self,
        state: &View<S>,
        now: Time,
        events: &mut Vec<Event>,
    ) -> Result<(), StateError> {
        for _ in 0..HOSTS_A_CALL {
            let idle = |host: HostKey, _: &HostRow| !self.active.contains_key(&host);
            let Some((host, row)) = self.fronts.take_unblocked(state, now, idle)? else { break };
            let since = row.front.map_or(now, |(_, since)| since);
            let mut queue = self.rested.take(host);
            let front = self.front_of(state, &mut queue, row.waiting)?;
            let front = front.map(|(band, wake)| match wake <= now {
                // Pages that there is little hope for come after all others.
                true => (band.min(Band::LAST), wake.max(since)),
                false => (band, wake),
            });
            self.rested.keep(host, queue);
            events.push(Event::HostRested { host, front });
        }
        Ok(())
    }

    /// The front queue that a host with this back queue waits in, and from when on.
    fn front_of<S: Store>(
        &self,
        state: &View<S>,
        queue: &mut BackQueue,
        waiting: u32,
    ) -> Result<Option<(Band, Time)>, StateError> {
        let front = queue.front(state, waiting > 0)?;
        let by_size = self.config.larger_first && waiting > 0;
        Ok(front.map(|(band, wake)| (if by_size { band_of_size(waiting) } else { band }, wake)))
    }

    /// Takes hosts from the front queues until enough are active or none has work now; some at a time.
    pub(super) fn wake_hosts<S: Store>(
        &mut self,
        state: &View<S>,
        now: Time,
        events: &mut Vec<Event>,
    ) -> Result<(), StateError> {
        for _ in 0..HOSTS_A_CALL {
            let room = self.active.len() < self.config.active_hosts;
            if !room || !self.fronts.have_work(self.horizon) {
                break;
            }
            let (active, new_only) = (&self.active, self.config.new_only);
            let wanted = |host: HostKey, row: &HostRow| {
                !active.contains_key(&host) && (row.waiting > 0 || !new_only)
            };
            let bands = self.selector.bands();
            let found = self.fronts.take(state, bands, self.horizon, wanted)?;
            found.into_iter().for_each(|(host, row)| self.activate(host, row, now, events));
        }
        Ok(())
    }

    fn activate(&mut self, key: HostKey, row: HostRow, now: Time, events: &mut Vec<Event>) {
        let until = row.blocked_until.max(row.next_allowed);
        if until > now.after(LONG_PAUSE) {
            events.push(Event::HostRested { host: key, front: Some((Band::BLOCKED, until)) });
            return;
        }
        let delay = self.slowed.pause(key, self.config.pace.delay(None, row.answer_time));
        let after_crash = if self.careful { self.opened.after(delay) } else { Time::EPOCH };
        let host = Active {
            next_allowed: row.next_allowed.max(after_crash),
            blocked_until: row.blocked_until,
            row,
            queue: self.rested.take(key),
            rules: [None, None],
            in_flight: 0,
            out: 0,
            taken: 0,
            since: now,
            row_of_a_kind: Row::default(),
            queued_at: None,
            delay,
            located: false,
            asks_rules: false,
        };
        self.active.insert(key, Box::new(host));
        self.enqueue(key, now);
    }

    /// A host that is not to be asked for long leaves memory, so that others can take its place.
    pub fn rest_if_paused<S: Store>(
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
        self.rest(state, key, now, events)
    }

    /// Lays a host to rest on disk until it has work and may be asked; unless requests to it are still out.
    pub(super) fn rest<S: Store>(
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
        let front = self.front_of(state, &mut host.queue, waiting)?;
        let allowed = host.ready_at(&self.pauses, now);
        let front = front.map(|(band, wake)| match wake.max(now) {
            wake if wake < allowed => (Band::BLOCKED, allowed),
            wake => (band, wake),
        });
        self.rested.keep(key, host.queue);
        events.push(Event::HostRested { host: key, front });
        Ok(())
    }
}

/// The front queue of a host of which so many pages wait: a queue for each fourfold.
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
