//! How much longer is the pause of a host that said it was asked too often?
//!
//! Each time it says so its pause doubles, and after some good answers in a row it is halved again: so
//! the pace settles just below what the host puts up with. This is kept in memory alone. After a
//! restart a host says it once more.

use std::collections::HashMap;
use std::time::Duration;

use evercrawl_model::HostKey;

/// A pause doubles at most so many times.
const MOST_DOUBLINGS: u32 = 6;
/// Good answers in a row after which it is halved.
const GOOD_ANSWERS: u32 = 20;
/// No pause grows beyond this because a host complained.
const LONGEST: Duration = Duration::from_secs(300);
/// Hosts that are kept in mind: with more of them, the web is in trouble and not a host.
const MOST_HOSTS: usize = 1 << 16;

/// The hosts that said so.
#[derive(Default)]
pub(super) struct Slowed(HashMap<HostKey, Slow>);

#[derive(Default)]
struct Slow {
    doublings: u32,
    good: u32,
}

impl Slowed {
    /// A host said that it was asked too often.
    pub(super) fn complained(&mut self, host: HostKey) {
        if self.0.len() < MOST_HOSTS || self.0.contains_key(&host) {
            let slow = self.0.entry(host).or_default();
            slow.doublings = (slow.doublings + 1).min(MOST_DOUBLINGS);
            slow.good = 0;
        }
    }

    /// A host answered well.
    pub(super) fn answered(&mut self, host: HostKey) {
        let Some(slow) = self.0.get_mut(&host) else { return };
        slow.good += 1;
        if slow.good == GOOD_ANSWERS {
            *slow = Slow { doublings: slow.doublings - 1, good: 0 };
        }
        if slow.doublings == 0 {
            self.0.remove(&host);
        }
    }

    /// The pause of a host whose usual one is this.
    pub(super) fn pause(&self, host: HostKey, usual: Duration) -> Duration {
        match self.0.get(&host) {
            Some(slow) => usual.saturating_mul(1 << slow.doublings).min(LONGEST).max(usual),
            None => usual,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_doubles_with_complaints_and_is_halved_by_good_answers() {
        let (host, other) = (HostKey { host: 1, ..HostKey::default() }, HostKey::default());
        let usual = Duration::from_secs(1);
        let mut slowed = Slowed::default();
        let mut pauses = Vec::new();
        for _ in 0..8 {
            slowed.complained(host);
            pauses.push(slowed.pause(host, usual).as_secs());
        }
        assert_eq!(pauses, [2, 4, 8, 16, 32, 64, 64, 64]);
        assert_eq!(slowed.pause(other, usual), usual);
        assert_eq!(slowed.pause(host, Duration::from_secs(10)), LONGEST);
        assert_eq!(slowed.pause(host, Duration::from_secs(999)), Duration::from_secs(999));
        assert_eq!(slowed.pause(host, Duration::ZERO), Duration::ZERO, "the user's own host");
        for _ in 0..GOOD_ANSWERS {
            slowed.answered(host);
        }
        assert_eq!(slowed.pause(host, usual).as_secs(), 32);
        for _ in 0..5 * GOOD_ANSWERS {
            slowed.answered(host);
        }
        assert!(slowed.0.is_empty(), "what is forgiven is forgotten");
    }

    #[test]
    fn good_answers_count_in_a_row() {
        let (host, mut slowed) = (HostKey::default(), Slowed::default());
        for _ in 0..3 {
            slowed.complained(host);
            for _ in 1..GOOD_ANSWERS {
                slowed.answered(host);
            }
        }
        assert_eq!(slowed.pause(host, Duration::from_secs(1)).as_secs(), 8);
    }
}
