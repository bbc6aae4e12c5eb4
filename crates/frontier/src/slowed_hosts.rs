//! How much longer is the pause of a host that said it is requested too often?
//!
//! Each complaint doubles the pause; some good answers in a row halve it. So the pace settles just below what the
//! host accepts. This is kept in memory only: after a restart a host complains once more.

use std::collections::HashMap;
use std::time::Duration;

use evercrawl_model::HostKey;

/// The most times a pause is doubled.
const MAX_DOUBLINGS: u32 = 6;
/// Good answers in a row that halve the pause.
const GOOD_ANSWERS_TO_HALVE: u32 = 20;
/// No pause grows beyond this because of complaints.
const LONGEST_PAUSE: Duration = Duration::from_secs(300);
/// The most hosts remembered. If more complain, the fault is probably on our side.
const MAX_HOSTS: usize = 1 << 16;

/// The hosts that complained.
#[derive(Default)]
pub(super) struct SlowedHosts(HashMap<HostKey, Slowdown>);

#[derive(Default)]
struct Slowdown {
    doublings: u32,
    good: u32,
}

impl SlowedHosts {
    /// Doubles the pause of a host that complained.
    pub(super) fn record_complaint(&mut self, host: HostKey) {
        if self.0.len() < MAX_HOSTS || self.0.contains_key(&host) {
            let slow = self.0.entry(host).or_default();
            slow.doublings = (slow.doublings + 1).min(MAX_DOUBLINGS);
            slow.good = 0;
        }
    }

    /// Counts a good answer of a host.
    pub(super) fn record_good_answer(&mut self, host: HostKey) {
        let Some(slow) = self.0.get_mut(&host) else { return };
        slow.good += 1;
        if slow.good == GOOD_ANSWERS_TO_HALVE {
            *slow = Slowdown { doublings: slow.doublings - 1, good: 0 };
        }
        if slow.doublings == 0 {
            self.0.remove(&host);
        }
    }

    /// The pause of a host, given its `usual` one.
    pub(super) fn lengthen(&self, host: HostKey, usual: Duration) -> Duration {
        match self.0.get(&host) {
            Some(slow) => usual.saturating_mul(1 << slow.doublings).min(LONGEST_PAUSE).max(usual),
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
        let mut slowed = SlowedHosts::default();
        let mut pauses = Vec::new();
        for _ in 0..8 {
            slowed.record_complaint(host);
            pauses.push(slowed.lengthen(host, usual).as_secs());
        }
        assert_eq!(pauses, [2, 4, 8, 16, 32, 64, 64, 64]);
        assert_eq!(slowed.lengthen(other, usual), usual);
        assert_eq!(slowed.lengthen(host, Duration::from_secs(10)), LONGEST_PAUSE);
        assert_eq!(slowed.lengthen(host, Duration::from_secs(999)), Duration::from_secs(999));
        assert_eq!(slowed.lengthen(host, Duration::ZERO), Duration::ZERO, "the user's own host");
        for _ in 0..GOOD_ANSWERS_TO_HALVE {
            slowed.record_good_answer(host);
        }
        assert_eq!(slowed.lengthen(host, usual).as_secs(), 32);
        for _ in 0..5 * GOOD_ANSWERS_TO_HALVE {
            slowed.record_good_answer(host);
        }
        assert!(slowed.0.is_empty(), "what is forgiven is forgotten");
    }

    #[test]
    fn good_answers_count_in_a_row() {
        let (host, mut slowed) = (HostKey::default(), SlowedHosts::default());
        for _ in 0..3 {
            slowed.record_complaint(host);
            for _ in 1..GOOD_ANSWERS_TO_HALVE {
                slowed.record_good_answer(host);
            }
        }
        assert_eq!(slowed.lengthen(host, Duration::from_secs(1)).as_secs(), 8);
    }
}
