//! How long is the pause between two requests?

use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;

/// Reading the pages of one host may take at most a twentieth of a core.
const READING_PAUSE_FACTOR: u32 = 20;

/// Pauses between requests to one host and to one address.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// The pause after each request to a host. Zero means that the host is the user's own: then the only pause is
    /// what its robots.txt asks for.
    pub host: Duration,
    /// The pause after each request to an address, for all hosts on it.
    pub address: Duration,
    /// True when the address pause applies to loopback too, where only the user's own servers are.
    pub address_on_loopback: bool,
    /// The longest Crawl-delay that is respected.
    pub max_crawl_delay: Duration,
    /// A slow host gets a pause of this many times its last response time.
    pub slow_factor: f64,
    /// The longest pause caused by slow responses.
    pub max_slow: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Pace {
            host: Duration::from_secs(1),
            address: Duration::from_millis(250),
            address_on_loopback: false,
            max_crawl_delay: Duration::from_secs(30),
            slow_factor: 1.0,
            max_slow: Duration::from_secs(30),
        }
    }
}

impl Pace {
    /// The pause of a host.
    pub fn host_pause(&self, crawl_delay: Option<Duration>, answer_time: Duration) -> Duration {
        let asked = crawl_delay.unwrap_or_default().min(self.max_crawl_delay);
        if self.host.is_zero() {
            return asked;
        }
        let slow = answer_time.as_secs_f64() * self.slow_factor;
        let slow = Duration::try_from_secs_f64(slow).unwrap_or(self.max_slow).min(self.max_slow);
        self.host.max(asked).max(slow)
    }

    /// The pause of a host whose last page took this long to read. It keeps one host from using more than a small
    /// part of a core.
    pub(crate) fn reading_pause(&self, reading: Duration) -> Duration {
        if self.host.is_zero() {
            return Duration::ZERO;
        }
        reading.saturating_mul(READING_PAUSE_FACTOR).min(self.max_slow)
    }

    /// The longest pause, except for those that hosts ask for by `Retry-After`.
    pub(crate) fn longest_pause(&self) -> Duration {
        self.host.max(self.max_crawl_delay).max(self.max_slow)
    }

    /// The pause of an address.
    pub(crate) fn address_pause(&self, ip: IpAddr) -> Duration {
        let own = ip.is_loopback() && !self.address_on_loopback;
        if own { Duration::ZERO } else { self.address }
    }
}

/// The address by which a server is paced. IPv6 addresses with the same first 64 bits usually belong to one machine, so
/// they count as one; an IPv4 address counts alone.
pub(crate) fn paced_address(ip: IpAddr) -> IpAddr {
    match ip.to_canonical() {
        IpAddr::V6(ip) if !ip.is_loopback() => {
            Ipv6Addr::from_bits(ip.to_bits() & (u128::MAX << 64)).into()
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    #[test]
    fn the_longest_of_the_reasons_counts() {
        let pace = Pace::default();
        assert_eq!(pace.host_pause(None, ms(20)), ms(1000));
        assert_eq!(pace.host_pause(Some(ms(5000)), ms(20)), ms(5000));
        assert_eq!(pace.host_pause(Some(ms(500_000)), ms(20)), ms(30_000));
        assert_eq!(pace.host_pause(None, ms(2500)), ms(2500));
        assert_eq!(pace.host_pause(None, ms(90_000)), ms(30_000));
        let own = Pace { host: Duration::ZERO, ..pace };
        assert_eq!(own.host_pause(None, ms(2500)), Duration::ZERO);
        assert_eq!(own.host_pause(Some(ms(700)), ms(2500)), ms(700));
    }

    #[test]
    fn an_expensive_host_waits_long() {
        let pace = Pace::default();
        for (reading, pause) in [(0, 0), (1, 20), (200, 4000), (2000, 30_000)] {
            assert_eq!(pace.reading_pause(ms(reading)), ms(pause));
        }
        let own = Pace { host: Duration::ZERO, ..pace };
        assert_eq!(own.reading_pause(ms(1000)), Duration::ZERO);
    }

    #[test]
    fn neighbours_in_ipv6_are_paced_as_one() {
        for (ip, paced) in [
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
            ("2001:db8:1:2::9", "2001:db8:1:2::"),
            ("2001:db8:1:3::9", "2001:db8:1:3::"),
            ("::ffff:192.0.2.1", "192.0.2.1"),
            ("192.0.2.1", "192.0.2.1"),
            ("::1", "::1"),
        ] {
            let [ip, paced]: [IpAddr; 2] = [ip, paced].map(|text| text.parse().unwrap());
            assert_eq!(paced_address(ip), paced, "{ip}");
        }
    }

    #[test]
    fn loopback_needs_no_pause_unless_asked_for() {
        let pace = Pace::default();
        assert_eq!(pace.address_pause([127, 0, 0, 9].into()), Duration::ZERO);
        assert_eq!(pace.address_pause([192, 0, 2, 1].into()), ms(250));
        let strict = Pace { address_on_loopback: true, ..pace };
        assert_eq!(strict.address_pause([127, 0, 0, 9].into()), ms(250));
    }
}
