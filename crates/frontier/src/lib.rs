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
mod fronts;
mod lease;
mod manners;
mod pace;
mod pauses;
mod places;
mod rested;
mod selector;
mod share;
mod shared;
mod slowed;
mod urgent;
mod window;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use evercrawl_compare::{SiteMemory, Soft404Profile};
use evercrawl_model::{Event, HostKey, PageKey, Time};
use evercrawl_planner::Conditions;
use evercrawl_robots::RobotsTxt;
use evercrawl_state::{Applied, HostRow, Place, StateError, Store, View};

use back_queue::{BackQueue, Order};
use fronts::Fronts;
pub use lease::{DOUBTED_AFTER, Lease};
pub use pace::Pace;
use pauses::Pauses;
use places::LONG_PAUSE;
pub use places::band_of_size;
use rested::Rested;
use selector::Selector;
use share::{Row, Share};
pub use shared::SharedPauses;
use slowed::Slowed;
use urgent::Urgent;

/// When a page is due that was drawn for an audit: since ever, so that nothing comes before it.
pub const DRAWN: Time = Time::EPOCH;

/// Hosts that come in, and hosts that are asked for a page, in one call at most: whoever waits for the next page is not to
/// wait for thousands of hosts.
const HOSTS_A_CALL: usize = 16;

/// How long a host is believed to answer as it once did for what does not exist.
const MANNERS_LAST: Duration = Duration::from_secs(30 * 86_400);

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
    /// That is not known yet: there are more hosts to look at.
    More,
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
    /// Pages taken from a host before it lets waiting hosts take their turn; it does so after a minute too.
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
    /// Each in memory of its own: the table has room for twice as many as there are, and is copied where it grows.
    active: HashMap<HostKey, Box<Active>>,
    rested: Rested,
    ready: BinaryHeap<Reverse<(Time, HostKey)>>,
    pauses: Pauses,
    slowed: Slowed,
    urgent: Urgent,
    fronts: Fronts,
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
    /// Requests out: what was leased may not have been asked for yet.
    out: usize,
    /// Pages taken in this turn, and when it began.
    taken: u32,
    since: Time,
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
    /// When it may next be asked: by its own pace, by its address's and other crawls', and once it
    /// is not blocked.
    fn ready_at(&self, pauses: &Pauses, now: Time) -> Time {
        let others = pauses.ready_at(&self.row, self.delay, now);
        self.next_allowed.max(self.blocked_until).max(others)
    }
}

impl Frontier {
    /// An empty frontier. `careful` says that the last run did not end cleanly, so that every host
    /// may have been asked a moment ago.
    pub fn new(config: FrontierConfig, seed: u64, opened: Time, careful: bool) -> Self {
        Frontier {
            config,
            active: HashMap::new(),
            rested: Rested::default(),
            ready: BinaryHeap::new(),
            pauses: Pauses::new(config, opened),
            slowed: Slowed::default(),
            urgent: Urgent::default(),
            fronts: Fronts::new(),
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
        state: &View<S>,
        now: Time,
        events: &mut Vec<Event>,
    ) -> Result<Next, StateError> {
        self.horizon = self.horizon.max(now);
        self.last_turn = now;
        self.unblock_hosts(state, now, events)?;
        self.wake_hosts(state, now, events)?;
        for _ in 0..HOSTS_A_CALL {
            let Some(&Reverse((at, host))) = self.ready.peek().filter(|next| next.0.0 <= now)
            else {
                return Ok(self.nothing_now(now));
            };
            self.ready.pop();
            if let Some(lease) = self.ask_host(state, host, at, now, events)? {
                return Ok(Next::Page(Box::new(lease)));
            }
        }
        Ok(Next::More)
    }

    /// No active host may be asked now.
    fn nothing_now(&self, now: Time) -> Next {
        let room = self.active.len() < self.config.active_hosts;
        let unblocked = self.fronts.next_unblocked();
        if unblocked <= now || room && self.fronts.have_work(self.horizon) {
            return Next::More;
        }
        let arrival = if room { self.fronts.next_due().min(unblocked) } else { unblocked };
        match self.ready.peek() {
            Some(&Reverse((at, _))) => Next::Wait(at.min(arrival)),
            None if arrival == Time::NEVER && self.in_flight == 0 => Next::Empty,
            None => Next::Wait(arrival),
        }
    }

    /// Lets the page that is due next be handed out ahead of its time, once nothing else is left to
    /// ask for; false where there is none.
    pub fn look_ahead(&mut self) -> bool {
        let room = self.active.len() < self.config.active_hosts;
        let next_due = self.fronts.next_due();
        let ahead = room && next_due < Time::NEVER && next_due > self.horizon;
        if ahead {
            self.horizon = next_due;
        }
        ahead
    }

    /// Hands out only what is due at `now`.
    pub fn look_back(&mut self, now: Time) {
        self.horizon = now;
    }

    /// Puts a host into the heap at the moment it may next be asked.
    fn enqueue(&mut self, key: HostKey, now: Time) {
        let Some(host) = self.active.get_mut(&key) else { return };
        if host.asks_rules || host.in_flight >= self.config.per_host {
            return;
        }
        let at = host.ready_at(&self.pauses, now).max(now);
        host.queued_at = Some(at);
        self.ready.push(Reverse((at, key)));
    }

    /// It is `key`'s turn: a lease on its next page, or `None` when it has to wait or rest.
    fn ask_host<S: Store>(
        &mut self,
        state: &View<S>,
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
        let ready_at = host.ready_at(&self.pauses, now);
        if self.pauses.is_shared() && ready_at > now.after(LONG_PAUSE) {
            // Another crawl was asked to leave it alone.
            host.queued_at = None;
            self.rest(state, key, now, events)?;
            return Ok(None);
        }
        if ready_at > now {
            self.enqueue(key, now);
            return Ok(None);
        }
        host.queued_at = None;
        let had_turn = host.has_had_turn(self.config.quantum, now);
        let crowded = had_turn && self.fronts.have_work(self.horizon);
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
        state: &View<S>,
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
        let manner = manner.map(|known| Soft404Profile::from_bytes(&known.manner));
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
            let returned = host.out.saturating_sub(host.in_flight);
            host.out -= returned;
            self.pauses.returned(&host.row, returned);
            host.queue.released(page);
            self.in_flight = self.in_flight.saturating_sub(1);
        }
        self.enqueue(page.host, now);
    }

    /// What applying an event changed on disk: windows follow.
    pub fn noticed(&mut self, applied: &Applied, now: Time) {
        if let Some((key, band, wake)) = applied.front
            && !self.active.contains_key(&key)
        {
            self.fronts.take_in(key, band, wake);
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
}
