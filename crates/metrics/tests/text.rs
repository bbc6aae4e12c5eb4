//! Is what we publish what Prometheus reads?
#![allow(clippy::unwrap_used, reason = "a failing test panics")]

mod common {
    pub(crate) mod strict;
}

use common::strict::{self, Line};
use evercrawl_metrics::{
    CollectionSamples, Distribution, Metric, MetricKind, MetricScope, MetricsSnapshot,
    prometheus_text,
};
use proptest::prelude::*;

/// A snapshot with a value for every metric and all of its labels' values.
fn full() -> MetricsSnapshot {
    let mut snapshot = MetricsSnapshot::default();
    for &metric in Metric::ALL {
        let values = metric.labels().first().map(|label| label.values().unwrap_or(vec!["1.0"]));
        let sets: Vec<Vec<&str>> =
            values.map_or(vec![vec![]], |values| values.iter().map(|value| vec![*value]).collect());
        for labels in sets {
            match metric.kind() {
                MetricKind::Histogram => {
                    let counts = vec![1, 0, 7];
                    let counted = Distribution { bounds: vec![0.5, 2.0], counts, sum: 30.25 };
                    snapshot.add_distribution(metric, &labels, counted);
                }
                _ => snapshot.add_number(metric, &labels, 4.5),
            }
        }
    }
    snapshot
}

#[test]
fn every_metric_is_read_back_by_a_strict_reader() {
    let snapshot = full();
    let part = |collection| CollectionSamples { collection, snapshot: &snapshot };
    let text = prometheus_text(&[part(Some("a")), part(Some("b"))]);
    let lines = strict::read(&text).unwrap();
    for metric in Metric::ALL {
        let of_it: Vec<&Line> =
            lines.iter().filter(|line| line.name.starts_with(metric.name())).collect();
        assert!(of_it.iter().any(|line| line.label("collection") == Some("b")), "{metric:?}");
        for label in metric.labels() {
            assert!(of_it.iter().all(|line| line.label(label.name()).is_some()), "{metric:?}");
        }
    }
}

#[test]
fn the_strict_reader_refuses_what_prometheus_refuses() {
    let head = "# HELP a b\n# TYPE a counter\n";
    for wrong in [
        "a 1\n",
        "# TYPE a counter\na 1\n",
        "# HELP a b\n# TYPE a counter\na 1",
        &format!("{head}a 1\na 2\n"),
        &format!("{head}b 1\n"),
        &format!("{head}a -1\n"),
        &format!("{head}a{{l=\"x}} 1\n"),
        &format!("{head}a{{l=\"\\x\"}} 1\n"),
        &format!("{head}a{{l=\"x\",l=\"y\"}} 1\n"),
        &format!("{head}a one\n"),
        &format!("{head}{head}a 1\n"),
        "# HELP h b\n# TYPE h histogram\nh_bucket{le=\"1\"} 1\nh_sum 1\nh_count 1\n",
        "# HELP h b\n# TYPE h histogram\nh_bucket{le=\"1\"} 2\nh_bucket{le=\"+Inf\"} 1\nh_sum 1\nh_count 1\n",
    ] {
        assert!(strict::read(wrong).is_err(), "{wrong}");
    }
    assert_eq!(strict::read(&format!("{head}a{{l=\"x\"}} 1\n")).unwrap().len(), 1);
}

#[test]
fn what_belongs_to_the_process_has_no_collection() {
    let of_process: Vec<_> =
        Metric::ALL.iter().filter(|metric| metric.scope() == MetricScope::Process).collect();
    assert_eq!(of_process, [&Metric::BuildInfo]);
}

proptest! {
    /// A data directory may be called anything.
    #[test]
    fn any_name_of_a_collection_is_read_back(name in "\\PC*|[\\\\\"\n a-c]*", value in any::<f64>()) {
        let mut snapshot = MetricsSnapshot::default();
        snapshot.add_number(Metric::Age, &[], value);
        let text = prometheus_text(&[CollectionSamples { collection: Some(&name), snapshot: &snapshot }]);
        let lines = strict::read(&text);
        prop_assert!(lines.is_ok(), "{:?}", lines);
        let lines = lines.unwrap();
        prop_assert_eq!(lines[0].label("collection"), Some(name.as_str()));
        prop_assert!(lines[0].value == value || value.is_nan());
    }
}
