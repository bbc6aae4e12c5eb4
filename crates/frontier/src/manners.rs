//! When may a host be asked again? By its pace, its address's, its rules and its troubles.

use std::net::IpAddr;
use std::time::Duration;

use evercrawl_model::{HostKey, Time};

use super::{Frontier, Lease, Rules, SharedPauses};

/// Our clock counts whole milliseconds, and a server sees the end of its answer a little later
/// than we do: with this much more, a pause is one by the server's clock too.
pub(super) const MARGIN: Duration = Duration::from_millis(2);

impl Frontier {
    /// A request for a leased page goes out now.
    pub fn departs(&mut self, lease: &Lease, now: Time) {
        let Some(host) = self.active.get_mut(&lease.page.host) else { return };
        host.next_allowed = now.after(host.delay);
        host.out += 1;
        self.pauses.asked(&host.row, lease.ip, host.delay, now);
        self.enqueue(lease.page.host, now);
    }

    /// A request for the rules that a leased page needs goes out now.
    pub fn asks_rules(&mut self, lease: &Lease, now: Time) {
        if let Some(host) = self.active.get_mut(&lease.page.host) {
            host.asks_rules = true;
        }
        self.departs(lease, now);
    }

    /// The request for a host's rules ended, however it did.
    pub fn rules_answered(&mut self, key: HostKey) {
        if let Some(host) = self.active.get_mut(&key) {
            host.asks_rules = false;
        }
    }

    /// The rules that hold for pages of `host`, where they are in memory and not expired.
    pub fn rules(&self, host: HostKey, https: bool, now: Time) -> Option<&Rules> {
        let rules = self.active.get(&host)?.rules[usize::from(https)].as_ref()?;
        (rules.expires > now).then_some(rules)
    }

    /// Rules were learned for pages of `host`.
    pub fn set_rules(&mut self, key: HostKey, https: bool, rules: Rules) {
        let Some(host) = self.active.get_mut(&key) else { return };
        let usual = self.config.pace.delay(rules.robots.crawl_delay(), host.row.answer_time);
        host.delay = self.slowed.pause(key, usual);
        host.rules[usize::from(https)] = Some(rules);
        if self.careful {
            host.next_allowed = host.next_allowed.max(self.opened.after(host.delay));
        }
    }

    /// Whether a host's pause is not over, by rules that were learned since its turn came.
    pub fn must_wait(&self, key: HostKey, now: Time) -> bool {
        self.active.get(&key).is_some_and(|host| host.next_allowed > now)
    }

    /// Whether a host's address must be found out before it can be asked at the right pace.
    pub fn needs_address(&self, key: HostKey) -> bool {
        let paced = !self.config.pace.address.is_zero();
        paced && self.active.get(&key).is_some_and(|host| host.row.ip.is_none() && !host.located)
    }

    /// A host's address was looked up; `None` where it has none that could be had.
    pub fn located(&mut self, key: HostKey, ip: Option<IpAddr>) {
        if let Some(host) = self.active.get_mut(&key) {
            host.row.ip = ip.or(host.row.ip);
            host.located = true;
        }
    }

    /// A request to a host ended at `now`: it may be asked again after its pause.
    /// Returns that moment.
    pub fn answered(
        &mut self,
        key: HostKey,
        ip: Option<IpAddr>,
        answer_time: Duration,
        now: Time,
    ) -> Time {
        let Some(host) = self.active.get_mut(&key) else { return now };
        host.row.answer_time = answer_time;
        host.row.ip = ip.or(host.row.ip);
        let crawl_delay = host.rules.iter().flatten().filter_map(|r| r.robots.crawl_delay()).max();
        host.delay = self.slowed.pause(key, self.config.pace.delay(crawl_delay, answer_time));
        let margin = if host.delay.is_zero() { Duration::ZERO } else { MARGIN };
        host.next_allowed = now.after(host.delay + margin);
        host.row.next_allowed = host.next_allowed;
        let next = host.next_allowed;
        self.pauses.answered(&host.row, ip, host.delay, now);
        next
    }

    /// A page that ended at `now` took so long to read: its host waits in proportion.
    /// Returns when it may be asked again.
    pub fn read_for(&mut self, key: HostKey, reading: Duration, now: Time) -> Time {
        let rested = now.after(self.config.pace.reading_pause(reading));
        let Some(host) = self.active.get_mut(&key) else { return rested };
        host.next_allowed = host.next_allowed.max(rested);
        host.row.next_allowed = host.next_allowed;
        host.next_allowed
    }

    /// A host is not to be asked before `until`; `failures` in a row led to it.
    pub fn block(&mut self, key: HostKey, until: Time, failures: u16) {
        if let Some(host) = self.active.get_mut(&key) {
            host.blocked_until = until;
            host.row.failures = failures;
        }
    }

    /// A host that was blocked may be asked from `until` on; false when it is not active.
    pub fn unblock(&mut self, key: HostKey, until: Time, now: Time) -> bool {
        let Some(host) = self.active.get_mut(&key) else { return false };
        host.blocked_until = until;
        self.enqueue(key, now);
        true
    }

    /// Whether it is on record when each host may be asked again: no answer is being waited for, and every
    /// host that was asked before a crash has had its pause since.
    pub fn is_calm(&self) -> bool {
        let rested = self.last_turn.since(self.opened) >= self.config.pace.longest();
        self.in_flight == 0 && (rested || !self.careful)
    }

    /// The clock was set ahead: every pause seems to be over, so each host and address gets one anew, as
    /// after a crash.
    pub fn clock_set(&mut self, now: Time) {
        (self.opened, self.careful) = (now, true);
        self.pauses.all_asked(now);
        for host in self.active.values_mut() {
            host.next_allowed = host.next_allowed.max(now.after(host.delay));
        }
    }

    /// Other crawls run in this process: from `now` on, no host or address gets less than its pause from all of them
    /// together.
    pub fn share_pauses(&mut self, shared: SharedPauses, now: Time) {
        if self.pauses.is_shared() {
            return;
        }
        self.pauses.share(shared);
        for host in self.active.values() {
            (0..host.out).for_each(|_| self.pauses.asked(&host.row, host.row.ip, host.delay, now));
        }
    }

    /// This crawl leaves the process: what is out is out no more.
    pub fn leave_shared_pauses(&mut self, now: Time) {
        for host in self.active.values_mut().filter(|host| host.out > 0) {
            self.pauses.answered(&host.row, host.row.ip, host.delay, now);
            self.pauses.returned(&host.row, std::mem::take(&mut host.out));
        }
    }

    /// A host said that it is asked too often: from now on its pauses are longer.
    pub fn complained(&mut self, key: HostKey) {
        self.slowed.complained(key);
    }

    /// A host answered as it should: its failures are forgiven.
    pub fn recovered(&mut self, key: HostKey) {
        self.slowed.answered(key);
        if let Some(host) = self.active.get_mut(&key) {
            host.row.failures = 0;
        }
    }
}
