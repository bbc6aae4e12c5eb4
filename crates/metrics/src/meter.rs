//! How is something counted while other threads count too, at next to no cost?

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use crate::Distribution;

/// How often something happened.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// It happened once more.
    pub(crate) fn increment(&self) {
        self.0.fetch_add(1, Relaxed);
    }

    /// How often it happened.
    pub fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// How large something was, each time: counted in classes with fixed upper bounds. Values are
/// whole numbers (microseconds, bytes), so that sums are exact and need no lock.
#[derive(Debug)]
pub struct Histogram {
    bounds: &'static [u64],
    /// How many counted units make one that is published.
    per_unit: f64,
    /// One class per bound, and one for values above all of them.
    classes: Box<[AtomicU64]>,
    sum: AtomicU64,
}

impl Histogram {
    /// Counts times; the bounds are microseconds, in rising order.
    pub(crate) fn of_times(bounds: &'static [u64]) -> Self {
        Self::new(bounds, 1e6)
    }

    /// Counts bytes; the bounds are bytes, in rising order.
    pub fn of_bytes(bounds: &'static [u64]) -> Self {
        Self::new(bounds, 1.0)
    }

    fn new(bounds: &'static [u64], per_unit: f64) -> Self {
        let classes = std::iter::repeat_with(AtomicU64::default).take(bounds.len() + 1).collect();
        Histogram { bounds, per_unit, classes, sum: AtomicU64::default() }
    }

    /// Counts a time.
    pub(crate) fn observe_time(&self, took: Duration) {
        self.observe(u64::try_from(took.as_micros()).unwrap_or(u64::MAX));
    }

    /// Counts a value.
    pub fn observe(&self, value: u64) {
        let class = self.bounds.partition_point(|bound| *bound < value);
        if let Some(count) = self.classes.get(class) {
            count.fetch_add(1, Relaxed);
        }
        self.sum.fetch_add(value, Relaxed);
    }

    /// What was counted so far.
    pub fn distribution(&self) -> Distribution {
        Distribution {
            bounds: self.bounds.iter().map(|bound| *bound as f64 / self.per_unit).collect(),
            counts: self.classes.iter().map(|count| count.load(Relaxed)).collect(),
            sum: self.sum.load(Relaxed) as f64 / self.per_unit,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_at_a_bound_belongs_to_its_class() {
        let histogram = Histogram::of_bytes(&[10, 100]);
        [0, 10, 11, 100, 101, 5000].into_iter().for_each(|value| histogram.observe(value));
        let counted = histogram.distribution();
        assert_eq!(counted.bounds, [10.0, 100.0]);
        assert_eq!(counted.counts, [2, 2, 2]);
        assert_eq!(counted.sum, 5222.0);
    }

    #[test]
    fn times_are_published_in_seconds() {
        let histogram = Histogram::of_times(&[1_000, 1_000_000]);
        histogram.observe_time(Duration::from_millis(250));
        histogram.observe_time(Duration::MAX);
        let counted = histogram.distribution();
        assert_eq!(counted.bounds, [0.001, 1.0]);
        assert_eq!(counted.counts, [0, 1, 1]);
    }
}
