//! When may an address be asked again, whichever host it is asked for?

use std::collections::HashMap;
use std::net::IpAddr;

use evercrawl_model::Time;

use super::Pace;

/// Addresses that were asked lately.
pub(super) struct Addresses {
    pace: Pace,
    /// When each may be asked again.
    free: HashMap<IpAddr, Time>,
    /// Any other may have been asked until then.
    asked_until: Time,
    /// How many are remembered before those that may be asked are forgotten.
    most: usize,
}

impl Addresses {
    pub(super) fn new(pace: Pace, asked_until: Time, most: usize) -> Self {
        Addresses { pace, free: HashMap::new(), asked_until, most }
    }

    /// When an address may be asked again.
    pub(super) fn free(&self, ip: IpAddr) -> Time {
        let unknown = || self.asked_until.after(self.pace.address_pause(ip));
        self.free.get(&ip).copied().unwrap_or_else(unknown)
    }

    /// Counts a request that goes out now.
    pub(super) fn asked(&mut self, ip: IpAddr, now: Time) {
        let delay = self.pace.address_pause(ip);
        if delay.is_zero() {
            return;
        }
        if self.free.len() > self.most {
            self.free.retain(|_, free| *free > now);
        }
        let free = self.free.entry(ip).or_insert(now);
        *free = (*free).max(now).after(delay);
    }

    /// A request ended now.
    pub(super) fn answered(&mut self, ip: IpAddr, now: Time) {
        let delay = self.pace.address_pause(ip);
        if !delay.is_zero() {
            let free = self.free.entry(ip).or_insert(now);
            *free = (*free).max(now.after(delay));
        }
    }

    /// Every address may have been asked until now.
    pub(super) fn all_asked(&mut self, now: Time) {
        self.asked_until = now;
        self.free.clear();
    }
}
