//! What is known about this name, and is it time to look it up again?

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::DnsSettings;
use crate::failure::DnsFailure;
use crate::oldest;

/// The longest any answer holds, whatever the settings say.
const LONGEST: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The addresses of a name, or why there are none.
pub(crate) type DnsAnswer = Result<Arc<[IpAddr]>, DnsFailure>;

/// What was learned of each name, bounded in number. It reads no clock: every call brings the time.
#[derive(Debug, Default)]
pub(super) struct AnswerTable {
    hosts: HashMap<Box<str>, CachedAnswer>,
}

#[derive(Debug)]
struct CachedAnswer {
    answer: DnsAnswer,
    /// When the name servers last gave this answer.
    learned: Instant,
    refresh: Instant,
    expires: Instant,
    used: Instant,
}

/// What the table says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TableLookup {
    /// It knows.
    Fresh(DnsAnswer),
    /// The answer is about to expire: the caller should have the name looked up meanwhile.
    Aging(DnsAnswer),
    /// It does not know, or no longer.
    Nothing,
}

impl AnswerTable {
    pub(super) fn find(&mut self, host: &str, now: Instant) -> TableLookup {
        let Some(entry) = self.hosts.get_mut(host) else { return TableLookup::Nothing };
        entry.used = now;
        if now >= entry.expires {
            TableLookup::Nothing
        } else if now >= entry.refresh {
            TableLookup::Aging(entry.answer.clone())
        } else {
            TableLookup::Fresh(entry.answer.clone())
        }
    }

    /// Takes in what a lookup gave, with its time to live if it had one, and returns what counts now.
    ///
    /// While the name servers stumble, addresses that they gave within a day go on being used.
    pub(super) fn learn(
        &mut self,
        host: &str,
        news: DnsAnswer,
        ttl: Option<Duration>,
        settings: &DnsSettings,
        now: Instant,
    ) -> DnsAnswer {
        let ttl = lifetime(&news, ttl, settings);
        let mut learned = now;
        let mut answer = news;
        if let Some(old) = self.hosts.get(host)
            && matches!(answer, Err(DnsFailure::Temporary(_)))
            && old.answer.is_ok()
            && now.duration_since(old.learned) < settings.max_ttl
        {
            (answer, learned) = (old.answer.clone(), old.learned);
        }
        let (refresh, expires) = (now + ttl * 4 / 5, now + ttl);
        let entry = CachedAnswer { answer: answer.clone(), learned, refresh, expires, used: now };
        self.make_room(settings.capacity);
        self.hosts.insert(host.into(), entry);
        answer
    }

    fn make_room(&mut self, capacity: usize) {
        if self.hosts.len() >= capacity.max(1)
            && let Some(cutoff) = oldest::cutoff(self.hosts.values().map(|entry| entry.used))
        {
            self.hosts.retain(|_, entry| entry.used > cutoff);
        }
    }
}

/// How long an answer holds. Short times to live are for load balancing and mean little to a crawler;
/// long ones would keep it on servers that are gone.
fn lifetime(answer: &DnsAnswer, ttl: Option<Duration>, settings: &DnsSettings) -> Duration {
    let DnsSettings { min_ttl, max_ttl, negative_ttl, failure_ttl, .. } = *settings;
    let lifetime = match answer {
        Ok(_) => ttl.unwrap_or(min_ttl).max(min_ttl).min(max_ttl),
        Err(DnsFailure::NotFound) => ttl.unwrap_or(failure_ttl).max(failure_ttl).min(negative_ttl),
        Err(DnsFailure::Temporary(_)) => failure_ttl,
    };
    lifetime.min(LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);
    const DAY: Duration = Duration::from_secs(86_400);

    fn answer(last: u8) -> DnsAnswer {
        Ok(Arc::from([IpAddr::from([192, 0, 2, last])]))
    }

    fn stumble() -> DnsAnswer {
        Err(DnsFailure::Temporary("SERVFAIL".to_owned()))
    }

    struct World {
        table: AnswerTable,
        settings: DnsSettings,
        now: Instant,
    }

    impl World {
        fn new(capacity: usize) -> Self {
            let settings = DnsSettings { capacity, ..DnsSettings::default() };
            World { table: AnswerTable::default(), settings, now: Instant::now() }
        }

        fn learn(&mut self, host: &str, news: DnsAnswer, ttl: Duration) -> DnsAnswer {
            self.table.learn(host, news, Some(ttl), &self.settings, self.now)
        }

        fn find_after(&mut self, host: &str, time: Duration) -> TableLookup {
            self.table.find(host, self.now + time)
        }
    }

    #[test]
    fn times_to_live_are_clamped_and_refreshed_ahead() {
        for (news, ttl, holds) in [
            (answer(1), Duration::ZERO, 5 * MINUTE),
            (answer(1), 60 * MINUTE, 60 * MINUTE),
            (answer(1), 30 * DAY, DAY),
            (Err(DnsFailure::NotFound), 5 * MINUTE, 5 * MINUTE),
            (Err(DnsFailure::NotFound), DAY, 10 * MINUTE),
            (Err(DnsFailure::NotFound), Duration::ZERO, MINUTE / 2),
            (stumble(), DAY, MINUTE / 2),
        ] {
            let mut world = World::new(10);
            assert_eq!(world.learn("h", news.clone(), ttl), news);
            let fresh = world.find_after("h", holds * 79 / 100);
            assert_eq!(fresh, TableLookup::Fresh(news.clone()), "{news:?} {ttl:?}");
            let aging = world.find_after("h", holds * 81 / 100);
            assert_eq!(aging, TableLookup::Aging(news.clone()), "{news:?} {ttl:?}");
            assert_eq!(world.find_after("h", holds), TableLookup::Nothing, "{news:?} {ttl:?}");
        }
    }

    #[test]
    fn old_addresses_serve_while_name_servers_stumble_but_not_for_ever() {
        let mut world = World::new(10);
        assert_eq!(world.learn("h", answer(1), DAY), answer(1));
        world.now += DAY - MINUTE;
        assert_eq!(world.learn("h", stumble(), DAY), answer(1));
        assert_eq!(world.find_after("h", MINUTE / 4), TableLookup::Fresh(answer(1)));
        world.now += MINUTE;
        assert_eq!(world.learn("h", stumble(), DAY), stumble());
        assert_eq!(world.learn("h", answer(2), DAY), answer(2));
        assert_eq!(world.learn("h", Err(DnsFailure::NotFound), DAY), Err(DnsFailure::NotFound));
    }

    #[test]
    fn the_table_stays_small_and_keeps_what_is_used() {
        let mut world = World::new(16);
        for i in 0..1000 {
            world.now += Duration::from_millis(1);
            assert_eq!(world.learn(&i.to_string(), answer(1), DAY), answer(1));
            assert_eq!(world.find_after("often", MINUTE) == TableLookup::Nothing, i == 0);
            assert_eq!(world.learn("often", answer(2), DAY), answer(2));
            assert!(world.table.hosts.len() <= 16);
        }
        assert_eq!(world.find_after("often", MINUTE), TableLookup::Fresh(answer(2)));
        assert_eq!(world.find_after("3", MINUTE), TableLookup::Nothing);
    }
}
