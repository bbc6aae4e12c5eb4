//! How long a pause between two requests?

use std::net::IpAddr;
use std::time::Duration;

/// The pages of one host are read for no more than a twentieth of a core's time.
const READING_FACTOR: u32 = 20;

/// Pauses between requests to one host and to one address.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// The pause after each request to a host. Zero means that the host is the user's own: then
    /// there is no pause at all but what its robots.txt asks for.
    pub host: Duration,
    /// The pause after each request to an address, whichever host it serves.
    pub address: Duration,
    /// True when the address pause holds for loopback too, where nobody else's server is.
    pub address_on_loopback: bool,
    /// The longest Crawl-delay that is honoured.
    pub max_crawl_delay: Duration,
    /// A slow host gets a pause of this many times its last answer's time.
    pub slow_factor: f64,
    /// The longest pause that slowness leads to.
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
    /// The pause that a host gets.
    pub fn delay(&self, crawl_delay: Option<Duration>, answer_time: Duration) -> Duration {
        let asked = crawl_delay.unwrap_or_default().min(self.max_crawl_delay);
        if self.host.is_zero() {
            return asked;
        }
        let slow = answer_time.as_secs_f64() * self.slow_factor;
        let slow = Duration::try_from_secs_f64(slow).unwrap_or(self.max_slow).min(self.max_slow);
        self.host.max(asked).max(slow)
    }

    /// The pause that a host gets whose last page took so long to read: what one host sends must not
    /// take more than a small part of a core from all others.
    pub fn reading_pause(&self, reading: Duration) -> Duration {
        if self.host.is_zero() {
            return Duration::ZERO;
        }
        reading.saturating_mul(READING_FACTOR).min(self.max_slow)
    }

    /// No pause is longer than this, but for those that hosts ask for by `Retry-After`.
    pub fn longest(&self) -> Duration {
        self.host.max(self.max_crawl_delay).max(self.max_slow)
    }

    /// The pause that an address gets.
    pub fn address_delay(&self, ip: IpAddr) -> Duration {
        let own = ip.is_loopback() && !self.address_on_loopback;
        if own { Duration::ZERO } else { self.address }
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
        assert_eq!(pace.delay(None, ms(20)), ms(1000));
        assert_eq!(pace.delay(Some(ms(5000)), ms(20)), ms(5000));
        assert_eq!(pace.delay(Some(ms(500_000)), ms(20)), ms(30_000));
        assert_eq!(pace.delay(None, ms(2500)), ms(2500));
        assert_eq!(pace.delay(None, ms(90_000)), ms(30_000));
        let own = Pace { host: Duration::ZERO, ..pace };
        assert_eq!(own.delay(None, ms(2500)), Duration::ZERO);
        assert_eq!(own.delay(Some(ms(700)), ms(2500)), ms(700));
    }

    #[test]
    fn whoever_costs_much_waits_for_long() {
        let pace = Pace::default();
        for (reading, pause) in [(0, 0), (1, 20), (200, 4000), (2000, 30_000)] {
            assert_eq!(pace.reading_pause(ms(reading)), ms(pause));
        }
        let own = Pace { host: Duration::ZERO, ..pace };
        assert_eq!(own.reading_pause(ms(1000)), Duration::ZERO);
    }

    #[test]
    fn loopback_needs_no_pause_unless_asked_for() {
        let pace = Pace::default();
        assert_eq!(pace.address_delay([127, 0, 0, 9].into()), Duration::ZERO);
        assert_eq!(pace.address_delay([192, 0, 2, 1].into()), ms(250));
        let strict = Pace { address_on_loopback: true, ..pace };
        assert_eq!(strict.address_delay([127, 0, 0, 9].into()), ms(250));
    }
}
