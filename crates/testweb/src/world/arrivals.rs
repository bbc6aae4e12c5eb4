//! When does a Poisson process ring? Answered for any moment without walking there from the beginning.
//!
//! Time is cut into epochs in which four arrivals are expected. The number of arrivals of an epoch and their places in
//! it are
//! drawn from the epoch's own key, so that only the epochs asked about are ever looked at. An epoch is empty with
//! probability e^-4, so the latest arrival is nearly always found in the first or second epoch looked at.

use super::dice::{DicePurpose, WorldDice};

/// A Poisson process that begins at a moment and has no end. A millisecond holds at most one arrival.
#[derive(Clone, Copy)]
pub(crate) struct Arrivals {
    seed: u64,
    key: u64,
    start_ms: u64,
    epoch_ms: u64,
}

impl Arrivals {
    /// Begins the process, or says that it never rings because its rate is zero.
    pub(crate) fn new(seed: u64, key: u64, start_ms: u64, per_ms: f64) -> Option<Self> {
        let epoch_ms = (PER_EPOCH / per_ms).round();
        if per_ms <= 0.0 || !epoch_ms.is_finite() || epoch_ms > LONGEST_EPOCH_MS {
            return None;
        }
        // Whole milliseconds, so that no arrival is rounded into a neighbouring epoch.
        Some(Arrivals { seed, key, start_ms, epoch_ms: (epoch_ms as u64).max(SHORTEST_EPOCH_MS) })
    }

    /// Expected arrivals a millisecond.
    pub(crate) fn rate(&self) -> f64 {
        PER_EPOCH / self.epoch_ms as f64
    }

    /// The latest arrival at or before a moment.
    pub(crate) fn latest(&self, until_ms: u64) -> Option<u64> {
        let last = until_ms.checked_sub(self.start_ms)? / self.epoch_ms;
        (0..=last).rev().find_map(|epoch| self.in_epoch(epoch).filter(|&at| at <= until_ms).max())
    }

    /// Appends the arrivals after one moment, up to and including another, in order of epochs.
    pub(crate) fn between(&self, after_ms: u64, until_ms: u64, out: &mut Vec<u64>) {
        let Some(span) = until_ms.checked_sub(self.start_ms) else { return };
        let first = after_ms.saturating_sub(self.start_ms) / self.epoch_ms;
        for epoch in first..=span / self.epoch_ms {
            out.extend(self.in_epoch(epoch).filter(|&at| at > after_ms && at <= until_ms));
        }
    }

    fn in_epoch(&self, epoch: u64) -> impl Iterator<Item = u64> {
        let mut dice = WorldDice::new(self.seed, DicePurpose::Arrivals, self.key, epoch);
        let epoch_ms = self.epoch_ms;
        let start_ms = self.start_ms + epoch * epoch_ms;
        (0..arrivals_in_an_epoch(dice.unit()))
            .map(move |_| start_ms.saturating_add(dice.below(epoch_ms)))
    }
}

const PER_EPOCH: f64 = 4.0;
/// At most about a hundred arrivals a second: a faster page would be new at every look anyway.
const SHORTEST_EPOCH_MS: u64 = 40;
/// Thirty thousand years without a change may be called never.
const LONGEST_EPOCH_MS: f64 = 1e15;

/// Turns a uniform draw into a Poisson draw with mean [`PER_EPOCH`] by inversion.
fn arrivals_in_an_epoch(uniform: f64) -> u32 {
    let mut probability = (-PER_EPOCH).exp();
    let mut below = probability;
    let mut count = 0;
    while uniform >= below && count < 40 {
        count += 1;
        probability *= PER_EPOCH / f64::from(count);
        below += probability;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn counts_over_a_window_have_the_mean_and_variance_of_poisson() {
        let window_ms = 25_000;
        let counts: Vec<f64> = (0..4_000)
            .map(|key| {
                let mut rings = Vec::new();
                Arrivals::new(7, key, 1_000, 1e-4).unwrap().between(
                    13_000,
                    13_000 + window_ms,
                    &mut rings,
                );
                rings.len() as f64
            })
            .collect();
        let mean = counts.iter().sum::<f64>() / counts.len() as f64;
        let variance =
            counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / counts.len() as f64;
        // Four standard errors of a mean of 2.5 over 4,000 windows.
        assert!((mean - 2.5).abs() < 0.1, "mean {mean}");
        assert!((variance - 2.5).abs() < 0.25, "variance {variance}");
    }

    #[test]
    fn a_rate_of_zero_never_rings() {
        assert!(Arrivals::new(1, 1, 0, 0.0).is_none());
        assert!(Arrivals::new(1, 1, 0, 1e-30).is_none());
        assert!(Arrivals::new(1, 1, 0, f64::NAN).is_none());
    }

    proptest! {
        #[test]
        fn the_latest_is_the_last_of_those_between(key: u64, rate in 1e-5f64..1.0, until in 0u64..20_000) {
            let arrivals = Arrivals::new(3, key, 1_000, rate).unwrap();
            let mut all = Vec::new();
            arrivals.between(0, until, &mut all);
            prop_assert_eq!(arrivals.latest(until), all.iter().copied().max());
        }

        #[test]
        fn windows_add_up(key: u64, rate in 1e-6f64..1.0, cut in 0u64..5_000, rest in 0u64..5_000) {
            let arrivals = Arrivals::new(3, key, 0, rate).unwrap();
            let (mut whole, mut parts) = (Vec::new(), Vec::new());
            arrivals.between(0, cut + rest, &mut whole);
            arrivals.between(0, cut, &mut parts);
            arrivals.between(cut, cut + rest, &mut parts);
            whole.sort_unstable();
            parts.sort_unstable();
            prop_assert_eq!(whole, parts);
        }
    }
}
