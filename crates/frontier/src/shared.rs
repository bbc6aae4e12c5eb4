//! When may a host or an address be asked again, where several crawls run together?
//!
//! Each crawl keeps its own pauses as if it were alone; this table adds those that the others cause. So a crawl that is
//! alone has no such table, and pays nothing for it. Hosts are known by name here, since each crawl has keys of its own.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use evercrawl_model::Time;

/// Entries that are kept before those are dropped that hold nobody up.
const PRUNE_AT: usize = 1 << 16;
/// An entry this old holds nobody up, however long the pauses are that a crawl keeps.
const OLD: Duration = Duration::from_secs(600);
/// A host that another crawl is waiting for is looked at again no sooner than this.
const LEAST_WAIT: Duration = Duration::from_millis(10);

/// The pauses that crawls in one process keep together.
#[derive(Clone, Debug)]
pub struct SharedPauses(Arc<Mutex<Table>>);

#[derive(Debug)]
struct Table {
    hosts: Pauses<Box<str>>,
    addresses: Pauses<IpAddr>,
    /// What has no entry may have been asked until then.
    asked_until: Time,
}

/// A host as one crawl asks it.
#[derive(Clone, Copy, Debug)]
pub struct Asker<'a> {
    /// The host.
    pub authority: &'a str,
    /// The address by which it is paced, if known.
    pub address: Option<IpAddr>,
    /// The pause after a request to the host.
    pub host_pause: Duration,
    /// The pause after a request to the address.
    pub address_pause: Duration,
    /// Requests that the host gets at once.
    pub per_host: usize,
}

/// A request that is out and is none of a crawl's leases; it is until this is dropped.
#[derive(Debug)]
pub struct Turn {
    pauses: SharedPauses,
    authority: Box<str>,
}

impl Turn {
    /// It was answered: the pauses begin.
    pub fn end(self, asker: &Asker<'_>, now: Time) {
        self.pauses.answered(asker, now);
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.pauses.returned(&self.authority, 1);
    }
}

/// The place of a lease whose page came and asks nothing more; others have it until this is dropped.
#[derive(Debug)]
pub struct Lent {
    pauses: SharedPauses,
    authority: Box<str>,
    since: Time,
}

impl Drop for Lent {
    fn drop(&mut self) {
        let mut table = self.pauses.lock();
        table.hosts.entry(self.authority.as_ref().into(), self.since).out += 1;
    }
}

/// What is known of one host or address.
#[derive(Clone, Copy, Debug)]
struct Pause {
    /// Requests out, of all crawls.
    out: usize,
    /// When one last began or ended.
    last: Time,
    /// When its pause is over by the crawl that asked.
    free: Time,
}

impl SharedPauses {
    /// A table from `now` on: everything may have been asked until then.
    pub fn new(now: Time) -> Self {
        let (hosts, addresses) = (Pauses::default(), Pauses::default());
        SharedPauses(Arc::new(Mutex::new(Table { hosts, addresses, asked_until: now })))
    }

    /// Everything may have been asked until `now`: the clock was set ahead.
    pub fn all_asked(&self, now: Time) {
        let mut table = self.lock();
        table.asked_until = now;
        let Table { hosts, addresses, .. } = &mut *table;
        hosts.entries.values_mut().chain(addresses.entries.values_mut()).for_each(|pause| {
            pause.free = now.after(pause.free.since(pause.last));
            pause.last = now;
        });
    }

    /// A request that belongs to no lease goes out now; or says when to try again.
    pub fn claim(&self, asker: &Asker<'_>, now: Time) -> Result<Turn, Time> {
        let mut table = self.lock();
        let ready_at = table.ready_at(asker, now);
        if ready_at > now {
            return Err(ready_at);
        }
        table.asked(asker, now);
        Ok(Turn { pauses: self.clone(), authority: asker.authority.into() })
    }

    /// The page of a lease came, and its place is given to others until the lease goes on. The host's pause begins.
    pub fn lend(&self, asker: &Asker<'_>, now: Time) -> Lent {
        self.answered(asker, now);
        self.returned(asker.authority, 1);
        Lent { pauses: self.clone(), authority: asker.authority.into(), since: now }
    }

    /// When `asker` may ask its host; where another crawl's request is out, when to look again.
    pub(super) fn ready_at(&self, asker: &Asker<'_>, now: Time) -> Time {
        self.lock().ready_at(asker, now)
    }

    /// A request of `asker` goes out, unless another crawl has asked since [`ready_at`](Self::ready_at) said that it may:
    /// then false.
    pub(super) fn try_ask(&self, asker: &Asker<'_>, now: Time) -> bool {
        let mut table = self.lock();
        let may_ask = table.ready_at(asker, now) <= now;
        if may_ask {
            table.asked(asker, now);
        }
        may_ask
    }

    /// A request of `asker` is out.
    pub(super) fn asked(&self, asker: &Asker<'_>, now: Time) {
        self.lock().asked(asker, now);
    }

    /// A request of `asker` ended.
    pub(super) fn answered(&self, asker: &Asker<'_>, now: Time) {
        let mut table = self.lock();
        table.hosts.entry(asker.authority.into(), now).pause_from(now, asker.host_pause);
        if let Some(address) = asker.address.filter(|_| !asker.address_pause.is_zero()) {
            table.addresses.entry(address, now).pause_from(now, asker.address_pause);
        }
    }

    /// A host is to be left alone until then.
    pub fn block(&self, authority: &str, until: Time, now: Time) {
        let mut table = self.lock();
        let host = table.hosts.entry(authority.into(), now);
        host.free = host.free.max(until);
    }

    /// So many requests to a host are not out any more.
    pub(super) fn returned(&self, authority: &str, count: usize) {
        if let Some(host) = self.lock().hosts.entries.get_mut(authority) {
            host.out = host.out.saturating_sub(count);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    /// When `asker` may ask its host; where another crawl's request is out, when to look again.
    fn ready_at(&self, asker: &Asker<'_>, now: Time) -> Time {
        let host = self.hosts.entries.get(asker.authority);
        if host.is_some_and(|host| host.out >= asker.per_host) {
            return now.after(asker.host_pause.max(LEAST_WAIT));
        }
        let free = |pause: Option<&Pause>, own: Duration| match pause {
            Some(pause) => pause.free.max(pause.last.after(own)),
            None => self.asked_until.after(own),
        };
        let address = asker.address.map_or(Time::EPOCH, |address| {
            let pause = self.addresses.entries.get(&address);
            // Where the user's own machine needs no pause, it needs none after other crawls either.
            if asker.address_pause.is_zero() {
                Time::EPOCH
            } else {
                free(pause, asker.address_pause)
            }
        });
        free(host, asker.host_pause).max(address)
    }

    fn asked(&mut self, asker: &Asker<'_>, now: Time) {
        let host = self.hosts.entry(asker.authority.into(), now);
        host.out += 1;
        host.pause_from(now, asker.host_pause);
        if let Some(address) = asker.address.filter(|_| !asker.address_pause.is_zero()) {
            let pause = self.addresses.entry(address, now);
            (pause.last, pause.free) = (now, pause.free.max(now).after(asker.address_pause));
        }
    }
}

impl Pause {
    fn pause_from(&mut self, now: Time, pause: Duration) {
        self.last = self.last.max(now);
        self.free = self.free.max(now.after(pause));
    }
}

/// Pauses by host, or by address.
#[derive(Debug)]
struct Pauses<K> {
    entries: HashMap<K, Pause>,
    prune_at: usize,
}

impl<K> Default for Pauses<K> {
    fn default() -> Self {
        Pauses { entries: HashMap::new(), prune_at: PRUNE_AT }
    }
}

impl<K: Eq + Hash> Pauses<K> {
    fn entry(&mut self, key: K, now: Time) -> &mut Pause {
        if self.entries.len() >= self.prune_at {
            self.entries.retain(|_, it| it.out > 0 || it.free > now || now.since(it.last) < OLD);
            self.prune_at = PRUNE_AT.max(2 * self.entries.len());
        }
        self.entries.entry(key).or_insert(Pause { out: 0, last: now, free: now })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Time = Time::from_secs(1_000_000);

    const fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    fn asker(authority: &str, host_ms: u64, address_ms: u64) -> Asker<'_> {
        Asker {
            authority,
            address: Some([192, 0, 2, 1].into()),
            host_pause: ms(host_ms),
            address_pause: ms(address_ms),
            per_host: 1,
        }
    }

    /// A table in which everything has had its pause.
    fn rested() -> SharedPauses {
        SharedPauses::new(Time::EPOCH)
    }

    #[test]
    fn a_host_waits_for_the_longer_of_two_pauses() {
        let (pauses, slow, quick) = (rested(), asker("a", 1000, 0), asker("a", 200, 0));
        pauses.asked(&quick, START);
        pauses.answered(&quick, START.after(ms(50)));
        pauses.returned("a", 1);
        let now = START.after(ms(60));
        assert_eq!(pauses.ready_at(&quick, now), START.after(ms(250)));
        assert_eq!(
            pauses.ready_at(&slow, now),
            START.after(ms(1050)),
            "its own pause, from then on"
        );
        let after_slow = START.after(ms(2000));
        pauses.asked(&slow, after_slow);
        pauses.answered(&slow, after_slow);
        pauses.returned("a", 1);
        assert_eq!(pauses.ready_at(&quick, after_slow), after_slow.after(ms(1000)));
        assert_eq!(pauses.ready_at(&asker("b", 200, 0), after_slow), Time::EPOCH.after(ms(200)));
    }

    #[test]
    fn a_host_gets_one_request_at_a_time() {
        let (pauses, asker) = (rested(), asker("a", 0, 0));
        assert_eq!(pauses.ready_at(&asker, START), Time::EPOCH);
        pauses.asked(&asker, START);
        assert_eq!(pauses.ready_at(&asker, START), START.after(LEAST_WAIT));
        let two = Asker { per_host: 2, ..asker };
        assert_eq!(pauses.ready_at(&two, START), START);
        pauses.answered(&asker, START.after(ms(5)));
        pauses.returned("a", 1);
        assert_eq!(pauses.ready_at(&asker, START.after(ms(5))), START.after(ms(5)));
    }

    #[test]
    fn of_two_crawls_that_may_ask_one_does_and_all_leave_a_blocked_host_alone() {
        let (pauses, asker) = (rested(), asker("a", 100, 0));
        assert!(pauses.ready_at(&asker, START) <= START);
        assert!(pauses.try_ask(&asker, START));
        assert!(!pauses.try_ask(&asker, START));
        pauses.answered(&asker, START);
        pauses.returned("a", 1);
        let until = START.after(ms(60_000));
        pauses.block("a", until, START);
        assert_eq!(pauses.ready_at(&asker, START.after(ms(200))), until);
        assert!(!pauses.try_ask(&asker, START.after(ms(200))) && pauses.try_ask(&asker, until));
    }

    #[test]
    fn what_a_page_is_made_of_takes_turns_with_leases() {
        let (pauses, asker) = (rested(), asker("a", 100, 0));
        assert!(pauses.try_ask(&asker, START), "the page itself");
        assert!(pauses.claim(&asker, START).is_err());
        let came = START.after(ms(50));
        let lent = pauses.lend(&asker, came);
        assert_eq!(pauses.claim(&asker, came).unwrap_err(), came.after(ms(100)));
        let now = came.after(ms(100));
        let turn = pauses.claim(&asker, now).unwrap();
        assert!(pauses.claim(&asker, now.after(ms(1000))).is_err(), "one at a time");
        turn.end(&asker, now.after(ms(20)));
        drop(lent);
        let later = now.after(ms(1000));
        assert!(!pauses.try_ask(&asker, later), "the lease is out again");
        pauses.returned("a", 1);
        assert!(pauses.try_ask(&asker, later));
    }

    #[test]
    fn requests_to_an_address_line_up_whatever_their_host() {
        let pauses = rested();
        for (n, host) in ["a", "b", "c"].into_iter().enumerate() {
            let asker = asker(host, 0, 250);
            assert_eq!(
                pauses.ready_at(&asker, START),
                if n == 0 { ms_after(250) } else { START.after(ms(250 * n as u64)) }
            );
            pauses.asked(&asker, START);
        }
        let own_machine = asker("d", 0, 0);
        assert_eq!(pauses.ready_at(&own_machine, START), Time::EPOCH);
    }

    fn ms_after(n: u64) -> Time {
        Time::EPOCH.after(ms(n))
    }

    #[test]
    fn what_the_table_does_not_know_may_just_have_been_asked() {
        let (pauses, known, unknown) =
            (SharedPauses::new(START), asker("a", 1000, 250), asker("b", 1000, 0));
        assert_eq!(pauses.ready_at(&unknown, START), START.after(ms(1000)));
        let later = START.after(ms(5000));
        pauses.asked(&known, later);
        pauses.returned("a", 1);
        // By the clock that was set ahead, all pauses seem to be over.
        let ahead = START.after(ms(900_000));
        pauses.all_asked(ahead);
        assert_eq!(pauses.ready_at(&known, ahead), ahead.after(ms(1000)));
        assert_eq!(pauses.ready_at(&unknown, ahead), ahead.after(ms(1000)));
    }

    #[test]
    fn entries_that_hold_nobody_up_are_dropped() {
        let mut pauses = Pauses::<u64> { prune_at: 4, ..Pauses::default() };
        pauses.entry(0, START).out = 1;
        pauses.entry(1, START).free = START.after(ms(3_600_000));
        (2..4).for_each(|key| {
            pauses.entry(key, START);
        });
        let later = START.after(OLD);
        pauses.entry(9, later);
        let mut left: Vec<u64> = pauses.entries.keys().copied().collect();
        left.sort_unstable();
        assert_eq!(left, [0, 1, 9]);
    }
}
