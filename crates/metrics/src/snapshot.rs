//! What are the values at one moment?

use crate::Metric;

/// How large something was, each time: how many values lie in which class.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Distribution {
    /// The classes' upper bounds, in rising order.
    pub bounds: Vec<f64>,
    /// How many values each class holds, and then how many are above every bound.
    pub counts: Vec<u64>,
    /// All values added up.
    pub sum: f64,
}

impl Distribution {
    /// What this share of all values does not exceed: the upper bound of the class in which the last of them
    /// lies. `None` where there are no values, or where that one is above every bound.
    pub fn within(&self, share: f64) -> Option<f64> {
        let mut left = (self.count() as f64 * share).ceil() as u64;
        let reached = |count: &u64| {
            left = left.saturating_sub(*count);
            left == 0
        };
        let class = self.counts.iter().position(reached).filter(|_| self.count() > 0)?;
        self.bounds.get(class).copied()
    }

    /// The mean of the values; `None` where there are none.
    pub fn mean(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.sum / self.count() as f64)
    }

    /// How many values there are.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }
}

/// The value of a sample.
#[derive(Clone, Debug, PartialEq)]
pub enum MetricValue {
    /// Of a counter or gauge.
    Number(f64),
    /// Of a histogram.
    Distribution(Distribution),
}

/// One value of one metric.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricSample {
    /// Which metric.
    pub metric: Metric,
    /// The values of the metric's labels, in their order.
    pub labels: Vec<Box<str>>,
    /// How much.
    pub value: MetricValue,
}

/// The values of a moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MetricsSnapshot(Vec<MetricSample>);

impl MetricsSnapshot {
    /// Adds a count. `labels` are the values of the metric's labels, in their order.
    pub fn add_count(&mut self, metric: Metric, labels: &[&str], count: u64) {
        self.add_number(metric, labels, count as f64);
    }

    /// Adds a number.
    pub fn add_number(&mut self, metric: Metric, labels: &[&str], number: f64) {
        self.push(metric, labels, MetricValue::Number(number));
    }

    /// Adds a distribution.
    pub fn add_distribution(&mut self, metric: Metric, labels: &[&str], counted: Distribution) {
        self.push(metric, labels, MetricValue::Distribution(counted));
    }

    fn push(&mut self, metric: Metric, labels: &[&str], value: MetricValue) {
        debug_assert_eq!(labels.len(), metric.labels().len(), "labels of {metric:?}");
        let labels = labels.iter().map(|&label| label.into()).collect();
        self.0.push(MetricSample { metric, labels, value });
    }

    /// All samples, in the order of [`Metric::ALL`], and of one metric as they were added.
    pub fn samples(&self) -> Vec<&MetricSample> {
        let mut samples: Vec<_> = self.0.iter().collect();
        samples.sort_by_key(|sample| sample.metric);
        samples
    }

    /// The samples of one metric.
    pub(crate) fn samples_of(&self, metric: Metric) -> impl Iterator<Item = &MetricSample> {
        self.0.iter().filter(move |sample| sample.metric == metric)
    }

    /// One value, where it is there.
    pub fn value(&self, metric: Metric, labels: &[&str]) -> Option<&MetricValue> {
        let mut samples = self.samples_of(metric);
        samples.find(|s| s.labels.iter().map(|l| &**l).eq(labels.iter().copied())).map(|s| &s.value)
    }
}
