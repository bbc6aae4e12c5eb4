//! Which figures does a crawl publish, and what do they mean?
//!
//! - [`Metric`] is the one list of names, with types, labels and help text. A name that is not in
//!   it cannot be published, and a misspelt one does not compile.
//! - [`Meters`] counts what happens while it happens. Each crawl owns one; nothing is global, so
//!   many crawls can run in one process.
//! - [`MetricsSnapshot`] holds the values of a moment: those of the meters, and what the crawl knows anyway.
//! - [`prometheus_text`] writes snapshots in the text format of Prometheus.
//!
//! This crate reads no clock and does no I/O.

mod label;
mod meter;
mod meters;
mod metric;
mod prometheus;
mod snapshot;
mod table;

pub use label::{BlockCause, Label, Phase, RobotsOutcome};
pub use meter::{Counter, Histogram};
pub use meters::Meters;
pub use metric::{Metric, MetricKind, MetricScope};
pub use prometheus::{CollectionSamples, prometheus_text};
pub use snapshot::{Distribution, MetricSample, MetricValue, MetricsSnapshot};
pub use table::markdown_table;
