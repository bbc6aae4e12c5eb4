//! When may a host be requested again? After its own pause, its address's pause, and its failures.

use std::net::IpAddr;
use std::time::Duration;

use evercrawl_model::{HostKey, Time};

use super::{Frontier, Lease, RobotsRules, SharedPauses};

/// Our clock counts whole milliseconds, and a server sees the end of its response a little later than we do. This
/// margin makes the pause long enough by the server's clock too.
pub(super) const MARGIN: Duration = Duration::from_millis(2);

impl Frontier {
    /// Records that a request for a leased page is sent now. False if it must not be sent: another crawl has just sent
    /// one to this host or address.
    #[must_use]
    pub fn record_request(&mut self, lease: &Lease, now: Time) -> bool {
        let Some(host) = self.active.get_mut(&lease.page.host) else { return true };
        let may_ask = self.pauses.try_ask(&host.row, lease.ip, host.delay, now);
        if may_ask {
            host.next_allowed = now.after(host.delay);
            host.out += 1;
            self.enqueue_host(lease.page.host, now);
        }
        may_ask
    }

    /// Records that a robots.txt request for a leased page is sent now; false as for a page.
    #[must_use]
    pub fn record_robots_request(&mut self, lease: &Lease, now: Time) -> bool {
        let may_ask = self.record_request(lease, now);
        if let Some(host) = self.active.get_mut(&lease.page.host) {
            host.awaits_robots |= may_ask;
        }
        may_ask
    }

    /// Records that the robots.txt request of a host ended, whatever the result.
    pub fn end_robots_request(&mut self, key: HostKey) {
        if let Some(host) = self.active.get_mut(&key) {
            host.awaits_robots = false;
        }
    }

    /// The robots.txt rules for pages of `host`, if in memory and not expired.
    pub fn robots_rules(&self, host: HostKey, https: bool, now: Time) -> Option<&RobotsRules> {
        let rules = self.active.get(&host)?.rules[usize::from(https)].as_ref()?;
        (rules.expires > now).then_some(rules)
    }

    /// Sets the robots.txt rules for pages of `host`.
    pub fn set_robots_rules(&mut self, key: HostKey, https: bool, rules: RobotsRules) {
        let Some(host) = self.active.get_mut(&key) else { return };
        let usual = self.config.pace.host_pause(rules.robots.crawl_delay(), host.row.answer_time);
        host.delay = self.slowed.lengthen(key, usual);
        host.rules[usize::from(https)] = Some(rules);
        if self.started_after_crash {
            host.next_allowed = host.next_allowed.max(self.started_at.after(host.delay));
        }
    }

    /// Whether a host's pause is not over, given rules that were read since its lease.
    pub fn is_pausing(&self, key: HostKey, now: Time) -> bool {
        self.active.get(&key).is_some_and(|host| host.next_allowed > now)
    }

    /// Whether a host's address must be looked up before its pause can be respected.
    pub fn needs_address(&self, key: HostKey) -> bool {
        let paced = !self.config.pace.address.is_zero();
        paced
            && self
                .active
                .get(&key)
                .is_some_and(|host| host.row.ip.is_none() && !host.address_looked_up)
    }

    /// Sets a host's address; `None` when the look-up failed.
    pub fn set_address(&mut self, key: HostKey, ip: Option<IpAddr>) {
        if let Some(host) = self.active.get_mut(&key) {
            host.row.ip = ip.or(host.row.ip);
            host.address_looked_up = true;
        }
    }

    /// Records that a request to a host ended at `now`. Returns when it may be requested again.
    pub fn record_answer(
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
        host.delay =
            self.slowed.lengthen(key, self.config.pace.host_pause(crawl_delay, answer_time));
        let margin = if host.delay.is_zero() { Duration::ZERO } else { MARGIN };
        host.next_allowed = now.after(host.delay + margin);
        host.row.next_allowed = host.next_allowed;
        let next = host.next_allowed;
        self.pauses.answered(&host.row, ip, host.delay, now);
        next
    }

    /// Extends a host's pause in proportion to the time that its page took to read. Returns when it may be requested
    /// again.
    pub fn pause_for_reading(&mut self, key: HostKey, reading: Duration, now: Time) -> Time {
        let rested = now.after(self.config.pace.reading_pause(reading));
        let Some(host) = self.active.get_mut(&key) else { return rested };
        host.next_allowed = host.next_allowed.max(rested);
        host.row.next_allowed = host.next_allowed;
        host.next_allowed
    }

    /// Blocks requests to a host before `until`, after this many `failures` in a row.
    pub fn block(&mut self, key: HostKey, until: Time, failures: u16) {
        if let Some(host) = self.active.get_mut(&key) {
            host.blocked_until = until;
            host.row.failures = failures;
        }
    }

    /// Blocks requests to a host that failed or asked for a pause, for other crawls in this process too.
    pub fn block_for_all(&mut self, key: HostKey, until: Time, failures: u16, now: Time) {
        self.block(key, until, failures);
        if let Some(host) = self.active.get(&key) {
            self.pauses.block(&host.row, until, now);
        }
    }

    /// Allows requests to a blocked host from `until` on; false when the host is not active.
    pub fn unblock(&mut self, key: HostKey, until: Time, now: Time) -> bool {
        let Some(host) = self.active.get_mut(&key) else { return false };
        host.blocked_until = until;
        self.enqueue_host(key, now);
        true
    }

    /// Whether the state has every host's pause on record: no request is in flight, and every host requested before a
    /// crash has had its pause since.
    pub fn has_recorded_pauses(&self) -> bool {
        let rested = self.last_asked.since(self.started_at) >= self.config.pace.longest_pause();
        self.in_flight == 0 && (rested || !self.started_after_crash)
    }

    /// Starts every pause anew after the clock was set ahead, as after a crash: all pauses would seem to be over.
    pub fn restart_pauses(&mut self, now: Time) {
        (self.started_at, self.started_after_crash) = (now, true);
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
        if self.last_asked > self.started_at {
            // What was asked lately is not in the table, and other crawls must not ask it too soon.
            shared.all_asked(now);
        }
        self.pauses.share(shared);
        for host in self.active.values() {
            // Not what the user paused for this crawl alone.
            if host.row.failures > 0 && host.blocked_until < Time::NEVER {
                self.pauses.block(&host.row, host.blocked_until, now);
            }
            (0..host.out).for_each(|_| self.pauses.announce(&host.row, host.delay, now));
        }
    }

    /// This crawl leaves the process: what is out is out no more.
    pub fn leave_shared_pauses(&mut self, now: Time) {
        for host in self.active.values_mut().filter(|host| host.out > 0) {
            self.pauses.answered(&host.row, host.row.ip, host.delay, now);
            self.pauses.returned(&host.row, std::mem::take(&mut host.out));
        }
    }

    /// Lengthens the pauses of a host that said it is requested too often.
    pub fn lengthen_pauses(&mut self, key: HostKey) {
        self.slowed.record_complaint(key);
    }

    /// Records a good answer of a host: its failures are forgiven.
    pub fn record_good_answer(&mut self, key: HostKey) {
        self.slowed.record_good_answer(key);
        if let Some(host) = self.active.get_mut(&key) {
            host.row.failures = 0;
        }
    }
}
