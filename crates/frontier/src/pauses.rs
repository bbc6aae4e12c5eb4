//! When may a host be asked, by the pause of its address and by what other crawls ask?

use std::net::IpAddr;
use std::time::Duration;

use evercrawl_model::Time;
use evercrawl_state::HostRow;

use super::FrontierConfig;
use super::addresses::Addresses;
use super::pace::paced_address;
use super::pacing::MARGIN;
use super::shared::{Asker, SharedPauses};

/// The pauses that do not concern one host of this crawl alone.
pub(super) struct Pauses {
    addresses: Addresses,
    config: FrontierConfig,
    /// `None` where no other crawl runs beside this one.
    shared: Option<SharedPauses>,
}

impl Pauses {
    pub(super) fn new(config: FrontierConfig, opened: Time) -> Self {
        let addresses = Addresses::new(config.pace, opened, 4 * config.active_hosts);
        Pauses { addresses, config, shared: None }
    }

    /// From now on the pauses of other crawls count too.
    pub(super) fn share(&mut self, shared: SharedPauses) {
        self.shared = Some(shared);
    }

    pub(super) fn is_shared(&self) -> bool {
        self.shared.is_some()
    }

    /// When a host with this pause may be asked.
    pub(super) fn ready_at(&self, host: &HostRow, pause: Duration, now: Time) -> Time {
        let own = host.ip.map_or(Time::EPOCH, |ip| self.addresses.free(paced_address(ip)));
        match &self.shared {
            None => own,
            Some(shared) => own.max(shared.ready_at(&self.asker(host, host.ip, pause), now)),
        }
    }

    /// A request goes out now.
    pub(super) fn asked(&mut self, host: &HostRow, ip: Option<IpAddr>, pause: Duration, now: Time) {
        if let Some(ip) = ip {
            self.addresses.asked(paced_address(ip), now);
        }
        if let Some(shared) = &self.shared {
            shared.asked(&self.asker(host, ip, pause), now);
        }
    }

    /// A request ended now.
    pub(super) fn answered(
        &mut self,
        host: &HostRow,
        ip: Option<IpAddr>,
        pause: Duration,
        now: Time,
    ) {
        if let Some(ip) = ip {
            self.addresses.answered(paced_address(ip), now);
        }
        if let Some(shared) = &self.shared {
            shared.answered(&self.asker(host, ip, pause), now);
        }
    }

    /// So many requests to a host are not out any more.
    pub(super) fn returned(&self, host: &HostRow, count: usize) {
        if let Some(shared) = self.shared.as_ref().filter(|_| count > 0) {
            shared.returned(&host.authority, count);
        }
    }

    /// Every address, and every host, may have been asked until now.
    pub(super) fn all_asked(&mut self, now: Time) {
        self.addresses.all_asked(now);
        self.shared.iter().for_each(|shared| shared.all_asked(now));
    }

    fn asker<'a>(&self, host: &'a HostRow, address: Option<IpAddr>, pause: Duration) -> Asker<'a> {
        let margin = if pause.is_zero() { Duration::ZERO } else { MARGIN };
        let address_pause = |ip| self.config.pace.address_pause(ip);
        let address = address.map(paced_address);
        Asker {
            authority: &host.authority,
            address,
            host_pause: pause + margin,
            address_pause: address.map_or(Duration::ZERO, address_pause),
            per_host: self.config.per_host,
        }
    }
}
