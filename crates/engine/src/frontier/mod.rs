//! Which page next, and when? Politeness and order, in milliseconds.
//!
//! On disk, a host with work waits in a *front queue*: one per priority band, ordered by the time
//! at which it has something to fetch. A biased selector takes hosts from higher bands more often.
//! A host that was taken becomes active: its *back queue* (its own pages, in order) gets a window
//! in memory, and a heap orders the active hosts by the moment at which each may next be asked,
//! the later of the host's own pace and its address's. So memory grows with active hosts, never
//! with URLs, and the next ready host is found in O(log n).
//!
//! Pages are due up to a *horizon*: the present, or a later moment where requests are left that
//! nothing else asks for ([`Frontier::look_ahead`]); then what is due next comes ahead of its time.
//!
//! A page handed out is leased, not popped: it stays on disk where it was until the commit of its
//! visit moves it. After a crash it is simply there again.

mod addresses;
mod back_queue;
mod lease;
mod manners;
mod pace;
mod rested;
mod selector;
mod share;
mod slowed;
mod urgent;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use evercrawl_compare::SiteMemory;
use evercrawl_model::{Band, Event, HostKey, PageKey, Time};
use evercrawl_robots::RobotsTxt;
use evercrawl_state::{Applied, HostRow, Lane, Place, State, StateError, Store};

use crate::importance::band_of_size;
use crate::nature::Manner;
use addresses::Addresses;
use back_queue::{BackQueue, Order};
pub(crate) use lease::DOUBTED_AFTER;
pub use lease::{Conditions, Lease};
pub use pace::Pace;
use rested::Rested;
use selector::Selector;
use share::{Row, Share};
use slowed::Slowed;
use urgent::Urgent;

/// When a page is due that was drawn for an audit: since ever, so that nothing comes before it.
pub const DRAWN: Time = Time::EPOCH;

/// A host that is blocked for longer than this waits on disk.
const LONG_BLOCK: Duration = Duration::from_secs(60);

/// How long a host is believed to answer as it once did for what does not exist.
const MANNERS_LAST: Duration = Duration::from_secs(30 * 86_400);

/// The front queues: one a band, and that of blocked hosts.
const FRONTS: usize = Band::COUNT as usize + 1;

/// Rules that an origin set, and until when they hold.
#[derive(Clone, Debug)]
pub struct Rules {
    /// The parsed robots.txt.
    pub robots: Arc<RobotsTxt>,
    /// When to fetch it again.
    pub expires: Time,
}

/// What the frontier answers.
#[derive(Debug)]
pub enum Next {
    /// Ask for this page; nothing is known yet of whether robots.txt allows it.
    Page(Box<Lease>),
    /// Nothing may be asked before this moment.
    Wait(Time),
    /// Nothing waits at all.
    Empty,
}

/// How wide the frontier is and what it hands out.
#[derive(Clone, Copy, Debug)]
pub struct FrontierConfig {
    /// How many hosts are active at once.
    pub active_hosts: usize,
    /// How many requests one host gets at once.
    pub per_host: usize,
    /// Pages taken from a host before it lets waiting hosts take their turn.
    pub quantum: u32,
    /// Hand out only pages that were never visited.
    pub new_only: bool,
    /// The share of requests that goes to pages never visited, while there are such and others are
    /// due too. What one kind leaves, the other takes, but for half of the other's share of each host.
    pub discover: f64,
    /// Hosts of which more pages wait come first, rather than those whose first page is most urgent.
    pub larger_first: bool,
    /// Pauses between requests.
    pub pace: Pace,
}

/// The active hosts, and the way to those that wait on disk.
pub struct Frontier {
    config: FrontierConfig,
    active: HashMap<HostKey, Active>,
    rested: Rested,
    ready: BinaryHeap<Reverse<(Time, HostKey)>>,
    addresses: Addresses,
    slowed: Slowed,
    urgent: Urgent,
    /// For each front queue, the place before which no waiting host is left.
    low_water: [(Time, HostKey); FRONTS],
    /// No host on disk has work before this moment.
    next_wake: Time,
    /// No host on disk that may be asked has a page due before this moment.
    next_due: Time,
    /// Pages that are due up to here are handed out.
    horizon: Time,
    share: Share,
    selector: Selector,
    /// Leases that are out.
    in_flight: usize,
    opened: Time,
    /// When it was last asked what is next.
    last_turn: Time,
    /// True when requests of the last run may be so recent that hosts still need their pause.
    careful: bool,
}

/// A host whose pages are being fetched.
struct Active {
    row: HostRow,
    queue: BackQueue,
    rules: [Option<Rules>; 2],
    in_flight: usize,
    taken: u32,
    row_of_a_kind: Row,
    next_allowed: Time,
    blocked_until: Time,
    /// The moment under which it stands in the heap; entries of other moments are stale.
    queued_at: Option<Time>,
    delay: Duration,
    /// True once its address was looked up in vain or with success.
    located: bool,
    /// True while its robots.txt is asked for: until that is known, nothing else is.
    asks_rules: bool,
}

impl Active {
    /// When it may next be asked: by its own pace, by its address's, and once it is not blocked.
    fn ready_at(&self, addresses: &Addresses) -> Time {
        let address = self.row.ip.map_or(Time::EPOCH, |ip| addresses.free(ip));
        self.next_allowed.max(self.blocked_until).max(address)
    }
}

impl Frontier {
    /// An empty frontier. `careful` says that the last run did not end cleanly, so that every host
    /// may have been asked a moment ago.
    pub fn new(config: FrontierConfig, seed: u64, opened: Time, careful: bool) -> Self {
        let addresses = Addresses::new(config.pace, opened, 4 * config.active_hosts);
        Frontier {
            config,
            active: HashMap::new(),
            rested: Rested::default(),
            ready: BinaryHeap::new(),
            addresses,
            slowed: Slowed::default(),
            urgent: Urgent::default(),
            low_water: [(Time::EPOCH, HostKey::default()); FRONTS],
            next_wake: Time::EPOCH,
            next_due: Time::NEVER,
            horizon: Time::EPOCH,
            share: Share::new(config.discover),
            selector: Selector::new(seed),
            in_flight: 0,
            opened,
            last_turn: opened,
            careful,
        }
    }

    /// Active hosts.
    pub fn active_hosts(&self) -> usize {
        self.active.len()
    }

    /// Leases that are out.
    pub fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// The next page that may be asked for at `now`. Hosts that have nothing left are laid to
    /// rest through `events`, which the caller applies.
    pub fn next<S: Store>(
        &mut self,
        state: &State<S>,
        now: Time,
        events: &mut Vec<Event>,
    ) -> Result<Next, StateError> {
        self.horizon = self.horizon.max(now);
        self.last_turn = now;
        self.wake_hosts(state, now, events)?;
        while let Some(&Reverse((at, host))) = self.ready.peek() {
            if at > now {
                return Ok(Next::Wait(at.min(self.next_arrival())));
            }
            self.ready.pop();
            if let Some(lease) = self.ask_host(state, host, at, now, events)? {
                return Ok(Next::Page(Box::new(lease)));
            }
        }
        Ok(match self.next_arrival() {
            Time::NEVER if self.in_flight == 0 => Next::Empty,
            wake => Next::Wait(wake),
        })
    }

    /// Lets the page that is due next be handed out ahead of its time, once nothing else is left to
    /// ask for; false where there is none.
    pub fn look_ahead(&mut self) -> bool {
        let room = self.active.len() < self.config.active_hosts;
        let ahead = room && self.next_due < Time::NEVER && self.next_due > self.horizon;
        if ahead {
            self.horizon = self.next_due;
            self.next_wake = self.next_wake.min(self.next_due);
        }
        ahead
    }

    /// Hands out only what is due at `now`.
    pub fn look_back(&mut self, now: Time) {
        self.horizon = now;
    }

    /// When a host may next come in from disk: never, while there is no room for it.
    fn next_arrival(&self) -> Time {
        if self.active.len() < self.config.active_hosts { self.next_wake } else { Time::NEVER }
    }

    /// Takes hosts from the front queues until enough are active or none has work now.
    fn wake_hosts<S: Store>(
        &mut self,
        state: &State<S>,
        now: Time,
        events: &mut Vec<Event>,
    ) -> Result<(), StateError> {
        while self.active.len() < self.config.active_hosts && self.next_wake <= self.horizon {
            let Some(host) = self.select_host(state, now)? else { break };
            self.activate(state, host, now, events)?;
        }
        Ok(())
    }

    /// A waiting host with work at `now`, from a front queue that the selector chose.
    fn select_host<S: Store>(
        &mut self,
        state: &State<S>,
        now: Time,
    ) -> Result<Option<HostKey>, StateError> {
        let (mut next_wake, mut next_due) = (Time::NEVER, Time::NEVER);
        for band in self.selector.bands().chain([Band::BLOCKED]) {
            let blocked = band == Band::BLOCKED;
            let until = if blocked { now } else { self.horizon };
            while let Some((wake, host)) = self.head(state, band)? {
                if wake > until {
                    next_wake = next_wake.min(wake);
                    next_due = if blocked { next_due } else { next_due.min(wake) };
                    break;
                }
                self.low_water[usize::from(band.number())] = (wake, after(host));
                if !self.active.contains_key(&host) && self.has_work(state, host)? {
                    return Ok(Some(host));
                }
            }
        }
        (self.next_wake, self.next_due) = (next_wake, next_due);
        Ok(None)
    }

    fn head<S: Store>(
        &self,
        state: &State<S>,
        band: Band,
    ) -> Result<Option<(Time, HostKey)>, StateError> {
        let from = self.low_water[usize::from(band.number())];
        Ok(state.front(band, from, 1)?.first().copied())
    }

    fn has_work<S: Store>(&self, state: &State<S>, host: HostKey) -> Result<bool, StateError> {
        let row = state.host(host)?;
        Ok(row.is_some_and(|row| row.waiting > 0 || !self.config.new_only))
    }

    fn activate<S: Store>(
        &mut self,
        state: &State<S>,
        key: HostKey,
        now: Time,
        events: &mut Vec<Event>,
    ) -> Result<(), StateError> {
        let Some(row) = state.host(key)? else { return Ok(()) };
        if row.blocked_until > now.after(LONG_BLOCK) {
            let front = Some((Band::BLOCKED, row.blocked_until));
            events.push(Event::HostRested { host: key, front });
            return Ok(());
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
            taken: 0,
            row_of_a_kind: Row::default(),
            queued_at: None,
            delay,
            located: false,
            asks_rules: false,
        };
        self.active.insert(key, host);
        self.enqueue(key, now);
        Ok(())
    }

    /// Puts a host into the heap at the moment it may next be asked.
    fn enqueue(&mut self, key: HostKey, now: Time) {
        let Some(host) = self.active.get_mut(&key) else { return };
        if host.asks_rules || host.in_flight >= self.config.per_host {
            return;
        }
        let at = host.ready_at(&self.addresses).max(now);
        host.queued_at = Some(at);
        self.ready.push(Reverse((at, key)));
    }

    /// It is `key`'s turn: a lease on its next page, or `None` when it has to wait or rest.
    fn ask_host<S: Store>(
        &mut self,
        state: &State<S>,
        key: HostKey,
        at: Time,
        now: Time,
        events: &mut Vec<Event>,
    ) -> Result<Option<Lease>, StateError> {
        let Some(host) = self.active.get_mut(&key) else { return Ok(None) };
        let busy = host.asks_rules || host.in_flight >= self.config.per_host;
        if host.queued_at != Some(at) || busy {
            return Ok(None);
        }
        if host.ready_at(&self.addresses) > now {
            self.enqueue(key, now);
            return Ok(None);
        }
        host.queued_at = None;
        let crowded = self.next_wake <= self.horizon && host.taken >= self.config.quantum;
        let order = match self.config.new_only {
            true => Order::NewOnly,
            false => self.share.order(host.row_of_a_kind),
        };
        let urgent = self.urgent.due(key, now).find(|(page, _)| !host.queue.is_leased(*page));
        let taken = match urgent.filter(|_| order != Order::NewOnly) {
            _ if crowded => None,
            Some(found) => Some(found),
            None => host.queue.take(state, now, self.horizon, &mut self.selector, order)?,
        };
        match taken {
            Some((page, place)) => self.lease(state, page, place, now),
            None => {
                self.rest(state, key, now, events)?;
                Ok(None)
            }
        }
    }

    fn lease<S: Store>(
        &mut self,
        state: &State<S>,
        page: PageKey,
        place: Place,
        now: Time,
    ) -> Result<Option<Lease>, StateError> {
        let row = state.page(page)?;
        let current = row.as_ref().is_some_and(|row| row.place == Some(place));
        let Some(host) = self.active.get_mut(&page.host) else { return Ok(None) };
        let (Some(row), true) = (row, current) else {
            // It moved since the window was read: look at the host again at once.
            self.urgent.noticed(page, None);
            self.enqueue(page.host, now);
            return Ok(None);
        };
        host.in_flight += 1;
        host.taken += 1;
        host.queue.leased(page);
        self.in_flight += 1;
        let (ip, host_failures) = (host.row.ip, host.row.failures);
        self.share.spent(&mut host.row_of_a_kind, matches!(place, Place::New(..)));
        let seen = row.past.is_some();
        let site = if seen { state.site(page.host)? } else { SiteMemory::default() };
        let manner = state.manner(page.host)?.filter(|known| now.since(known.at) < MANNERS_LAST);
        let manner_at = manner.as_ref().map_or(Time::EPOCH, |known| known.at);
        let manner = manner.map(|known| Manner::from_bytes(&known.manner));
        let conditions = Conditions::ALL;
        Ok(Some(Lease { page, row, place, ip, host_failures, site, manner, manner_at, conditions }))
    }

    /// Whether a page is handed out.
    pub fn is_leased(&self, page: PageKey) -> bool {
        self.active.get(&page.host).is_some_and(|host| host.queue.is_leased(page))
    }

    /// A lease is given back unused, to be handed out again.
    pub fn give_back(&mut self, lease: &Lease, now: Time) {
        if let Some(host) = self.active.get_mut(&lease.page.host) {
            host.queue.give_back(lease.page, lease.place);
            host.taken = host.taken.saturating_sub(1);
        }
        self.finished(lease.page, now);
    }

    /// These pages are pinned, and wait there: when they are due, they come before all others.
    pub fn set_pins(&mut self, pages: impl IntoIterator<Item = (PageKey, Option<Place>)>) {
        self.urgent.set_pins(pages);
    }

    /// A lease is over: its visit is applied, or it was settled without asking the host. The
    /// host's next turn may come.
    pub fn finished(&mut self, page: PageKey, now: Time) {
        if let Some(host) = self.active.get_mut(&page.host) {
            host.in_flight = host.in_flight.saturating_sub(1);
            host.queue.released(page);
            self.in_flight = self.in_flight.saturating_sub(1);
        }
        self.enqueue(page.host, now);
    }

    /// What applying an event changed on disk: windows and low-water marks follow.
    pub fn noticed(&mut self, applied: &Applied, now: Time) {
        if let Some((key, band, wake)) = applied.front
            && !self.active.contains_key(&key)
        {
            let mark = &mut self.low_water[usize::from(band.number())];
            *mark = (*mark).min((wake, key));
            self.next_wake = self.next_wake.min(wake);
            if band != Band::BLOCKED {
                self.next_due = self.next_due.min(wake);
            }
        }
        let Some((page, place)) = applied.queued else { return };
        self.urgent.noticed(page, Some(place));
        let Some(host) = self.active.get_mut(&page.host) else {
            return self.rested.noticed(page, place);
        };
        host.queue.noticed(page, place);
        if host.queued_at.is_none() {
            self.enqueue(page.host, now);
        }
    }

    /// A host that is blocked for long leaves memory, so that others can take its place.
    pub fn rest_if_blocked<S: Store>(
        &mut self,
        state: &State<S>,
        key: HostKey,
        now: Time,
        events: &mut Vec<Event>,
    ) -> Result<(), StateError> {
        let Some(host) = self.active.get(&key) else { return Ok(()) };
        let until = host.blocked_until;
        if until <= now.after(LONG_BLOCK) {
            return Ok(());
        }
        self.rest(state, key, until, events)
    }

    /// Lays a host to rest on disk until it has work, but not before `earliest`; unless requests
    /// to it are still out.
    fn rest<S: Store>(
        &mut self,
        state: &State<S>,
        key: HostKey,
        earliest: Time,
        events: &mut Vec<Event>,
    ) -> Result<(), StateError> {
        let Some(host) = self.active.get_mut(&key) else { return Ok(()) };
        if host.in_flight > 0 {
            return Ok(());
        }
        let waiting = state.host(key)?.map_or(0, |row| row.waiting);
        let front = host.queue.front(state, waiting > 0)?;
        let by_size = self.config.larger_first && waiting > 0;
        let front =
            front.map(|(band, wake)| (if by_size { band_of_size(waiting) } else { band }, wake));
        let blocked = host.blocked_until >= earliest;
        let front = front.map(|(band, wake)| match wake < earliest && blocked {
            true => (Band::BLOCKED, earliest),
            false => (band, wake.max(earliest)),
        });
        if let Some(host) = self.active.remove(&key) {
            self.rested.keep(key, host.queue);
        }
        events.push(Event::HostRested { host: key, front });
        Ok(())
    }
}

/// The host key right after `host`.
fn after(host: HostKey) -> HostKey {
    HostKey { host: host.host.wrapping_add(1), ..host }
}

/// The lane that a place lies in.
fn lane_of(place: Place) -> Lane {
    match place {
        Place::New(band, _) => Lane::New(band),
        Place::Due(_) => Lane::Due,
        Place::Recheck(_) => Lane::Recheck,
    }
}
