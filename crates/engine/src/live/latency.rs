//! How long do steps take? Counted in classes that double, which costs next to nothing.

use std::time::Duration;

use evercrawl_metrics::Distribution;

/// The classes: up to 1 us, up to 2, up to 4, and so on.
const CLASSES: usize = 32;

/// How many steps took how long.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Latency([u64; CLASSES]);

impl Latency {
    /// A step took so long.
    pub fn add(&mut self, took: Duration) {
        let class = took.as_micros().checked_next_power_of_two().map_or(127, u128::trailing_zeros);
        self.0[(class as usize).min(CLASSES - 1)] += 1;
    }

    /// The same for [`Metric::NextDuration`](evercrawl_metrics::Metric::NextDuration). The sum counts each
    /// step with the end of its class.
    pub fn distribution(&self) -> Distribution {
        let ends = (0..CLASSES).map(|class| (1_u64 << class) as f64 / 1e6);
        let bounds: Vec<f64> = ends.collect();
        let sum = self.0.iter().zip(&bounds).map(|(steps, end)| *steps as f64 * end).sum();
        // No step is above the last class.
        let counts = self.0.iter().copied().chain([0]).collect();
        Distribution { bounds, counts, sum }
    }

    /// What this share of all steps did not exceed: the end of the class in which the last of them lies.
    pub fn within(&self, share: f64) -> Duration {
        let all: u64 = self.0.iter().sum();
        let mut left = (all as f64 * share).ceil() as u64;
        let reached = |steps: &u64| {
            left = left.saturating_sub(*steps);
            left == 0
        };
        let class = self.0.iter().position(reached).unwrap_or(CLASSES - 1);
        if all == 0 { Duration::ZERO } else { Duration::from_micros(1 << class) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_lie_within_their_class() {
        let mut latency = Latency::default();
        assert_eq!(latency.within(0.99), Duration::ZERO);
        (0..99).for_each(|_| latency.add(Duration::from_micros(3)));
        latency.add(Duration::from_millis(5));
        assert_eq!(latency.within(0.5), Duration::from_micros(4));
        assert_eq!(latency.within(0.99), Duration::from_micros(4));
        assert_eq!(latency.within(1.0), Duration::from_micros(8192));
        latency.add(Duration::MAX);
        assert!(latency.within(1.0) > Duration::from_secs(1000));
    }
}
