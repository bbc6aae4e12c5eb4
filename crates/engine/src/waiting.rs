//! What waits, and for what? Hosts that have something to fetch, by what keeps it from being fetched.

use evercrawl_model::{Band, HostKey, Time};
use evercrawl_state::{HostRow, StateError, Store, View};

use crate::overrides::Overrides;
use crate::robots::keeps_waiting;

/// Hosts that are read in each front queue: enough for a quick answer.
const MOST_READ: usize = 64;

/// Hosts that wait for one reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// How many.
    pub hosts: u64,
    /// Their pages that were never visited.
    pub new_pages: u64,
}

impl Held {
    fn add(&mut self, row: &HostRow) {
        self.hosts += 1;
        self.new_pages += u64::from(row.waiting);
    }
}

/// Hosts that have something to fetch, by what they wait for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    /// The user paused them.
    pub paused: Held,
    /// Their robots.txt is unreachable.
    pub robots: Held,
    /// They failed, or asked for a pause.
    pub back_off: Held,
    /// They were asked a moment ago.
    pub pace: Held,
    /// They may be asked: the budget, or other hosts, come first.
    pub turn: Held,
    /// Nothing of theirs is due yet.
    pub later: Held,
    /// False where there are more hosts than were read.
    pub complete: bool,
}

impl Waiting {
    /// What the front queues say at `now`.
    pub fn read<S: Store>(
        state: &View<S>,
        overrides: &Overrides,
        now: Time,
    ) -> Result<Self, StateError> {
        let mut waiting = Waiting { complete: true, ..Waiting::default() };
        for band in (0..=Band::COUNT).map(Band::of_front_queue) {
            let hosts = state.front(band, (Time::EPOCH, HostKey::default()), MOST_READ)?;
            waiting.complete &= hosts.len() < MOST_READ;
            for (wake, key) in hosts {
                if let Some(row) = state.host(key)? {
                    let paused = overrides.is_paused(key);
                    let reason = wait_reason(state, &row, (paused, wake), now)?;
                    waiting.of(reason).add(&row);
                }
            }
        }
        Ok(waiting)
    }

    fn of(&mut self, reason: WaitReason) -> &mut Held {
        match reason {
            WaitReason::Paused => &mut self.paused,
            WaitReason::Robots => &mut self.robots,
            WaitReason::BackOff => &mut self.back_off,
            WaitReason::Pace => &mut self.pace,
            WaitReason::Turn => &mut self.turn,
            WaitReason::NotDue => &mut self.later,
        }
    }
}

/// Whether hosts with new pages wait, each of them is blocked, and `given_up` says yes to each.
pub fn only_hosts_wait_that<S: Store>(
    state: &View<S>,
    now: Time,
    given_up: impl Fn(HostKey) -> bool,
) -> Result<bool, StateError> {
    let mut found = false;
    for band in (0..=Band::COUNT).map(Band::of_front_queue) {
        let hosts = state.front(band, (Time::EPOCH, HostKey::default()), MOST_READ)?;
        if hosts.len() >= MOST_READ {
            return Ok(false);
        }
        for (_, key) in hosts {
            let Some(row) = state.host(key)?.filter(|row| row.waiting > 0) else { continue };
            if row.blocked_until <= now || !given_up(key) {
                return Ok(false);
            }
            found = true;
        }
    }
    Ok(found)
}

/// What keeps the pages of a host from being fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitReason {
    /// The user paused it.
    Paused,
    /// Its robots.txt could not be fetched.
    Robots,
    /// It failed, or asked for a pause.
    BackOff,
    /// It was asked a moment ago.
    Pace,
    /// It may be asked: the budget, or other hosts, come first.
    Turn,
    /// Nothing of it is due yet.
    NotDue,
}

/// What a host waits for that has something to fetch from `wake` on.
pub fn wait_reason<S: Store>(
    state: &View<S>,
    row: &HostRow,
    (paused, wake): (bool, Time),
    now: Time,
) -> Result<WaitReason, StateError> {
    Ok(match () {
        () if paused => WaitReason::Paused,
        () if row.blocked_until > now && lacks_robots(state, row)? => WaitReason::Robots,
        () if row.blocked_until > now => WaitReason::BackOff,
        () if row.next_allowed > now && row.next_allowed >= wake => WaitReason::Pace,
        () if wake > now => WaitReason::NotDue,
        () => WaitReason::Turn,
    })
}

/// Whether a host is blocked since its robots.txt is unreachable.
fn lacks_robots<S: Store>(state: &View<S>, row: &HostRow) -> Result<bool, StateError> {
    for scheme in ["https", "http"] {
        let copy = state.robots(&format!("{scheme}://{}", row.authority))?;
        if copy.as_ref().is_some_and(keeps_waiting) {
            return Ok(true);
        }
    }
    Ok(false)
}
