//! Is there a connection that we can use again?

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::config::PoolSettings;
use crate::connection::HttpConnection;
use crate::oldest;

/// How often connections that lay idle for too long are looked for.
const SWEEP_EVERY: Duration = Duration::from_secs(1);

/// Connections that lie idle, by the host they were opened for.
#[derive(Debug)]
pub(crate) struct Pool<T = HttpConnection> {
    settings: PoolSettings,
    idle: Mutex<IdleConnections<T>>,
}

#[derive(Debug)]
struct IdleConnections<T> {
    hosts: HashMap<Box<str>, Vec<IdleConnection<T>>>,
    count: usize,
    next_sweep: Instant,
}

#[derive(Debug)]
struct IdleConnection<T> {
    link: T,
    since: Instant,
}

impl<T> Pool<T> {
    pub(crate) fn new(settings: PoolSettings) -> Self {
        let next_sweep = Instant::now() + SWEEP_EVERY;
        Pool {
            settings,
            idle: Mutex::new(IdleConnections { hosts: HashMap::new(), count: 0, next_sweep }),
        }
    }

    /// Takes out the connection for `host` that suits and was parked last.
    pub(crate) fn take(&self, host: &str, suits: impl Fn(&T) -> bool) -> Option<T> {
        self.with_pool(|idle, now| {
            let parked = idle.hosts.get_mut(host)?;
            let fresh = |it: &IdleConnection<T>| now.duration_since(it.since) < self.settings.idle;
            let at = parked.iter().rposition(|it| fresh(it) && suits(&it.link))?;
            idle.count -= 1;
            Some(parked.remove(at).link)
        })
    }

    /// Parks a connection for later; closes it if its host has enough of them.
    pub(crate) fn put(&self, host: &str, link: T) {
        let PoolSettings { per_host, total, .. } = self.settings;
        if per_host == 0 || total == 0 {
            return;
        }
        self.with_pool(|idle, now| {
            if idle.count >= total {
                idle.drop_oldest();
            }
            if !idle.hosts.contains_key(host) {
                idle.hosts.insert(host.into(), Vec::with_capacity(1));
            }
            if let Some(parked) = idle.hosts.get_mut(host)
                && parked.len() < per_host
            {
                parked.push(IdleConnection { link, since: now });
                idle.count += 1;
            }
        });
    }

    fn with_pool<R>(&self, act: impl FnOnce(&mut IdleConnections<T>, Instant) -> R) -> R {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        if now >= idle.next_sweep {
            idle.retain(|parked| now.duration_since(parked.since) < self.settings.idle);
            idle.next_sweep = now + SWEEP_EVERY;
        }
        act(&mut idle, now)
    }
}

impl<T> IdleConnections<T> {
    fn drop_oldest(&mut self) {
        let since = self.hosts.values().flatten().map(|parked| parked.since);
        if let Some(cutoff) = oldest::cutoff(since) {
            self.retain(|parked| parked.since > cutoff);
        }
    }

    /// Closes all but those that `wanted` names, and forgets hosts that have none.
    fn retain(&mut self, wanted: impl Fn(&IdleConnection<T>) -> bool) {
        self.hosts.retain(|_, parked| {
            parked.retain(&wanted);
            !parked.is_empty()
        });
        self.count = self.hosts.values().map(Vec::len).sum();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool(per_host: usize, total: usize) -> Pool<u32> {
        Pool::new(PoolSettings { per_host, total, idle: Duration::from_secs(60) })
    }

    #[test]
    fn the_last_parked_that_suits_comes_back_once() {
        let pool = pool(3, 10);
        for link in [1, 2, 3] {
            pool.put("a", link);
        }
        assert_eq!(pool.take("b", |_| true), None);
        assert_eq!(pool.take("a", |link| *link < 3), Some(2));
        assert_eq!(pool.take("a", |_| true), Some(3));
        assert_eq!(pool.take("a", |_| true), Some(1));
        assert_eq!(pool.take("a", |_| true), None);
    }

    #[test]
    fn a_host_parks_no_more_than_its_share() {
        let pool = pool(1, 10);
        pool.put("a", 1);
        pool.put("a", 2);
        assert_eq!(pool.take("a", |_| true), Some(1));
        assert_eq!(pool.take("a", |_| true), None);
        assert_eq!(self::pool(0, 10).put("a", 1), ());
    }

    #[test]
    fn the_longest_idle_makes_room() {
        let pool = pool(1, 8);
        for link in 0..100 {
            pool.put(&link.to_string(), link);
            let idle = pool.idle.lock().unwrap();
            assert!(idle.count <= 8);
            assert_eq!(idle.count, idle.hosts.values().map(Vec::len).sum::<usize>());
        }
        assert_eq!(pool.take("99", |_| true), Some(99));
        assert_eq!(pool.take("0", |_| true), None);
    }

    #[tokio::test(start_paused = true)]
    async fn what_lay_idle_too_long_is_closed() {
        let pool = pool(1, 8);
        pool.put("a", 1);
        tokio::time::advance(Duration::from_secs(59)).await;
        pool.put("b", 2);
        tokio::time::advance(Duration::from_secs(2)).await;
        assert_eq!(pool.take("a", |_| true), None);
        assert_eq!(pool.idle.lock().unwrap().hosts.len(), 1, "the expired one is gone");
        assert_eq!(pool.take("b", |_| true), Some(2));
    }
}
