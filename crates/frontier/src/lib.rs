//! Decides which page is fetched next, and when. Order and politeness are kept to the millisecond.
//!
//! On disk, a host with work is in a *front queue*. There is one per priority band, ordered by the time at which the
//! host has something to fetch. A biased selector takes hosts from higher bands more often. A host taken from a front
//! queue becomes active: its *back queue* (its own pages, in order) gets a window in memory. A heap orders the active
//! hosts by the moment at which each may next be requested: the later of the host's own pause and its address's. So
//! memory grows with active hosts, never with URLs, and the next ready host is found in O(log n).
//!
//! Pages due up to a *horizon* are handed out. The horizon is the present, or later when the budget has requests left
//! ([`Frontier::extend_horizon`]); then the page that is due next is fetched ahead of its time.
//!
//! A page is leased, not popped: it stays in its queue on disk until the commit of its visit moves it. After a crash
//! it is simply still there.

mod activation;
mod addresses;
mod back_queue;
mod band_selector;
mod front_queues;
mod lease;
mod new_page_share;
mod pace;
mod pacing;
mod parked_queues;
mod pauses;
mod shared;
mod slowed_hosts;
mod urgent_pages;
mod window;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use evercrawl_model::{Event, HostKey, PageKey, Time};
use evercrawl_robots::RobotsTxt;
use evercrawl_state::{Applied, HostRow, Place, StateError, Store, View};

use activation::LONG_PAUSE;
pub use activation::band_of_size;
use back_queue::{BackQueue, Order};
use band_selector::BandSelector;
use front_queues::FrontQueues;
pub use lease::{Lease, SOFT_404_RECHECK_AFTER};
use new_page_share::{NewPageShare, Streak};
pub use pace::Pace;
use parked_queues::ParkedQueues;
use pauses::Pauses;
pub use shared::SharedPauses;
use slowed_hosts::SlowedHosts;
use urgent_pages::UrgentPages;

/// The due time of a page drawn for an audit: the earliest there is, so that nothing comes before it.
pub const AUDIT_DUE: Time = Time::EPOCH;

/// How many hosts one call activates, and how many it tries to lease from. The bound keeps a call short when
/// thousands of hosts become ready at once.
const MAX_HOSTS_PER_CALL: usize = 16;

/// The robots.txt rules of an origin, and when they expire.
#[derive(Clone, Debug)]
pub struct RobotsRules {
    /// The parsed robots.txt.
    pub robots: Arc<RobotsTxt>,
    /// When to fetch it again.
    pub expires: Time,
    /// Whether no answer came, while the host answers by another scheme.
    pub unreachable: bool,
}

/// The answer to a request for a lease.
#[derive(Debug)]
pub enum NextLease {
    /// Fetch this page, unless robots.txt disallows it: that is not checked yet.
    Page(Box<Lease>),
    /// Not known yet; call again, since more hosts must be looked at.
    More,
    /// No request is allowed before this moment.
    Wait(Time),
    /// No page is queued and none is in flight.
    Empty,
}

/// How many hosts are active, and which pages are handed out.
#[derive(Clone, Copy, Debug)]
pub struct FrontierConfig {
    /// How many hosts are active at once.
    pub active_hosts: usize,
    /// The most concurrent requests to one host.
    pub per_host: usize,
    /// How many pages an active host gives before it yields to queued hosts. It yields after a minute as well.
    pub quantum: u32,
    /// Hand out only pages that were never visited.
    pub new_only: bool,
    /// The share of requests that goes to new pages while both new and due pages are queued. What one kind does not
    /// use, the other takes. On each host both kinds keep at least half of their share.
    pub discover: f64,
    /// Prefer hosts with more queued pages over hosts whose first page is more urgent.
    pub larger_first: bool,
    /// Pauses between requests.
    pub pace: Pace,
}

/// The active hosts, and the front queues that lead to the others.
pub struct Frontier {
    config: FrontierConfig,
    /// Boxed: the table has room for twice as many hosts as it holds, and is copied when it grows.
    active: HashMap<HostKey, Box<ActiveHost>>,
    rested: ParkedQueues,
    ready: BinaryHeap<Reverse<(Time, HostKey)>>,
    pauses: Pauses,
    slowed: SlowedHosts,
    urgent: UrgentPages,
    fronts: FrontQueues,
    /// Pages due up to this moment are handed out.
    horizon: Time,
    share: NewPageShare,
    selector: BandSelector,
    /// The number of outstanding leases.
    in_flight: usize,
    started_at: Time,
    /// When a lease was last requested.
    last_asked: Time,
    /// True while requests of the last run may be so recent that hosts still need their pause.
    started_after_crash: bool,
}

/// A host in memory, whose pages are being fetched.
struct ActiveHost {
    row: HostRow,
    queue: BackQueue,
    rules: [Option<RobotsRules>; 2],
    in_flight: usize,
    /// Requests out: what was leased may not have been asked for yet.
    out: usize,
    /// Pages leased since the host became active, and since when it is active.
    taken: u32,
    active_since: Time,
    streak: Streak,
    next_allowed: Time,
    blocked_until: Time,
    /// The time under which the host is in the heap; heap entries with another time are stale.
    queued_at: Option<Time>,
    delay: Duration,
    /// True once its address was looked up, whatever the result.
    address_looked_up: bool,
    /// True while its robots.txt is being fetched: no page is leased until then.
    awaits_robots: bool,
}

impl ActiveHost {
    /// When the host may next be requested: after its own pause, its address's, those of other crawls, and any block.
    fn ready_at(&self, pauses: &Pauses, now: Time) -> Time {
        let others = pauses.ready_at(&self.row, self.delay, now);
        self.next_allowed.max(self.blocked_until).max(others)
    }
}

impl Frontier {
    /// An empty frontier. `started_after_crash` says that the last run did not end cleanly, so that any host may have
    /// been requested a moment ago.
    pub fn new(config: FrontierConfig, seed: u64, opened: Time, started_after_crash: bool) -> Self {
        Frontier {
            config,
            active: HashMap::new(),
            rested: ParkedQueues::default(),
            ready: BinaryHeap::new(),
            pauses: Pauses::new(config, opened),
            slowed: SlowedHosts::default(),
            urgent: UrgentPages::default(),
            fronts: FrontQueues::new(),
            horizon: Time::EPOCH,
            share: NewPageShare::new(config.discover),
            selector: BandSelector::new(seed),
            in_flight: 0,
            started_at: opened,
            last_asked: opened,
            started_after_crash,
        }
    }

    /// The number of active hosts.
    pub fn active_hosts(&self) -> usize {
        self.active.len()
    }

    /// The number of outstanding leases.
    pub fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// Leases the next page that may be fetched at `now`. Hosts with nothing left are parked through `events`, which
    /// the caller applies.
    pub fn lease_next_page<S: Store>(
        &mut self,
        state: &View<S>,
        now: Time,
        events: &mut Vec<Event>,
    ) -> Result<NextLease, StateError> {
        self.horizon = self.horizon.max(now);
        self.last_asked = now;
        self.requeue_unblocked_hosts(state, now, events)?;
        self.activate_hosts(state, now, events)?;
        for _ in 0..MAX_HOSTS_PER_CALL {
            let Some(&Reverse((at, host))) = self.ready.peek().filter(|next| next.0.0 <= now)
            else {
                return Ok(self.answer_without_lease(now));
            };
            self.ready.pop();
            if let Some(lease) = self.lease_from_host(state, host, at, now, events)? {
                return Ok(NextLease::Page(Box::new(lease)));
            }
        }
        Ok(NextLease::More)
    }

    /// The answer when no active host may be requested now.
    fn answer_without_lease(&self, now: Time) -> NextLease {
        let room = self.active.len() < self.config.active_hosts;
        let unblocked = self.fronts.next_unblocked();
        if unblocked <= now || room && self.fronts.has_work(self.horizon) {
            return NextLease::More;
        }
        let arrival = if room { self.fronts.next_due().min(unblocked) } else { unblocked };
        match self.ready.peek() {
            Some(&Reverse((at, _))) => NextLease::Wait(at.min(arrival)),
            None if arrival == Time::NEVER && self.in_flight == 0 => NextLease::Empty,
            None => NextLease::Wait(arrival),
        }
    }

    /// Allows the page that is due next to be handed out ahead of its time, when nothing else is left to fetch.
    /// Returns false when there is no such page.
    pub fn extend_horizon(&mut self) -> bool {
        let room = self.active.len() < self.config.active_hosts;
        let next_due = self.fronts.next_due();
        let ahead = room && next_due < Time::NEVER && next_due > self.horizon;
        if ahead {
            self.horizon = next_due;
        }
        ahead
    }

    /// Hands out only pages that are due at `now`.
    pub fn reset_horizon(&mut self, now: Time) {
        self.horizon = now;
    }

    /// Puts a host into the heap at the moment it may next be requested.
    fn enqueue_host(&mut self, key: HostKey, now: Time) {
        let Some(host) = self.active.get_mut(&key) else { return };
        if host.awaits_robots || host.in_flight >= self.config.per_host {
            return;
        }
        let at = host.ready_at(&self.pauses, now).max(now);
        host.queued_at = Some(at);
        self.ready.push(Reverse((at, key)));
    }

    /// Leases the next page of `key`, or returns `None` when the host must wait or was parked.
    fn lease_from_host<S: Store>(
        &mut self,
        state: &View<S>,
        key: HostKey,
        at: Time,
        now: Time,
        events: &mut Vec<Event>,
    ) -> Result<Option<Lease>, StateError> {
        let Some(host) = self.active.get_mut(&key) else { return Ok(None) };
        let busy = host.awaits_robots || host.in_flight >= self.config.per_host;
        if host.queued_at != Some(at) || busy {
            return Ok(None);
        }
        let ready_at = host.ready_at(&self.pauses, now);
        if self.pauses.is_shared() && ready_at > now.after(LONG_PAUSE) {
            // Another crawl was asked to leave it alone.
            host.queued_at = None;
            self.park_host(state, key, now, events)?;
            return Ok(None);
        }
        if ready_at > now {
            self.enqueue_host(key, now);
            return Ok(None);
        }
        host.queued_at = None;
        let had_turn = host.has_used_quantum(self.config.quantum, now);
        let crowded = had_turn && self.fronts.has_work(self.horizon);
        let order = match self.config.new_only {
            true => Order::NewOnly,
            false => self.share.choose_order(host.streak),
        };
        let urgent = self.urgent.due_pages(key, now).find(|(page, _)| !host.queue.is_leased(*page));
        let taken = match urgent.filter(|_| order != Order::NewOnly) {
            _ if crowded => None,
            Some(found) => Some(found),
            None => host.queue.take_page(state, now, self.horizon, &mut self.selector, order)?,
        };
        match taken {
            Some((page, place)) => self.lease_page(state, page, place, now),
            None => {
                self.park_host(state, key, now, events)?;
                Ok(None)
            }
        }
    }

    fn lease_page<S: Store>(
        &mut self,
        state: &View<S>,
        page: PageKey,
        place: Place,
        now: Time,
    ) -> Result<Option<Lease>, StateError> {
        let row = state.page(page)?;
        let current = row.as_ref().is_some_and(|row| row.place == Some(place));
        let Some(host) = self.active.get_mut(&page.host) else { return Ok(None) };
        let (Some(row), true) = (row, current) else {
            // It moved since the window was read: try the host again at once.
            self.urgent.update_place(page, None);
            self.enqueue_host(page.host, now);
            return Ok(None);
        };
        host.in_flight += 1;
        host.taken += 1;
        host.queue.mark_leased(page);
        self.in_flight += 1;
        let (ip, host_failures) = (host.row.ip, host.row.failures);
        self.share.record_lease(&mut host.streak, matches!(place, Place::New(..)));
        let lease = Lease::read(state, (page, row), place, now)?;
        Ok(Some(Lease { ip, host_failures, ..lease }))
    }

    /// Whether a page is leased.
    pub fn is_leased(&self, page: PageKey) -> bool {
        self.active.get(&page.host).is_some_and(|host| host.queue.is_leased(page))
    }

    /// Puts a leased page back without a fetch, to be leased again.
    pub fn defer_page(&mut self, lease: &Lease, now: Time) {
        if let Some(host) = self.active.get_mut(&lease.page.host) {
            host.queue.put_back(lease.page, lease.place);
            host.taken = host.taken.saturating_sub(1);
        }
        self.end_lease(lease.page, now);
    }

    /// Sets the pinned pages and where they are queued. When due, they come before all others.
    pub fn set_pins(&mut self, pages: impl IntoIterator<Item = (PageKey, Option<Place>)>) {
        self.urgent.set_pins(pages);
    }

    /// Ends a lease: its visit was applied, or no request was needed. The host may give its next page.
    pub fn end_lease(&mut self, page: PageKey, now: Time) {
        if let Some(host) = self.active.get_mut(&page.host) {
            host.in_flight = host.in_flight.saturating_sub(1);
            let returned = host.out.saturating_sub(host.in_flight);
            host.out -= returned;
            self.pauses.returned(&host.row, returned);
            host.queue.mark_released(page);
            self.in_flight = self.in_flight.saturating_sub(1);
        }
        self.enqueue_host(page.host, now);
    }

    /// Updates the windows in memory after an applied event changed the queues on disk.
    pub fn update_windows(&mut self, applied: &Applied, now: Time) {
        if let Some((key, band, wake)) = applied.front
            && !self.active.contains_key(&key)
        {
            self.fronts.insert(key, band, wake);
        }
        let Some((page, place)) = applied.queued else { return };
        self.urgent.update_place(page, Some(place));
        let Some(host) = self.active.get_mut(&page.host) else {
            return self.rested.insert_page(page, place);
        };
        host.queue.insert(page, place);
        if host.queued_at.is_none() {
            self.enqueue_host(page.host, now);
        }
    }
}
