//! How do snapshots read as Prometheus text, format 0.0.4?

use std::fmt::Write;

use crate::{Distribution, Metric, MetricSample, MetricValue, MetricsSnapshot};

/// A snapshot, and whose it is.
#[derive(Clone, Copy, Debug)]
pub struct CollectionSamples<'a> {
    /// The collection; `None` for what belongs to the process.
    pub collection: Option<&'a str>,
    /// Its values.
    pub snapshot: &'a MetricsSnapshot,
}

/// Writes the values of a process and of its collections. The samples of one metric stand
/// together, whichever collection they belong to, as the format asks for.
pub fn prometheus_text(parts: &[CollectionSamples<'_>]) -> String {
    let mut text = String::new();
    for &metric in Metric::ALL {
        let mut written = false;
        for part in parts {
            for sample in part.snapshot.samples_of(metric) {
                if !std::mem::replace(&mut written, true) {
                    write_head(&mut text, metric);
                }
                write_sample(&mut text, sample, part.collection);
            }
        }
    }
    text
}

fn write_head(text: &mut String, metric: Metric) {
    let (name, help) = (metric.name(), escaped_help(metric.help()));
    text.push_str(&format!("# HELP {name} {help}\n# TYPE {name} {}\n", metric.kind().code()));
}

fn write_sample(text: &mut String, sample: &MetricSample, collection: Option<&str>) {
    let names = sample.metric.labels().iter().map(|label| label.name());
    let labels = collection.map(|name| ("collection", name)).into_iter();
    let labels = labels.chain(names.zip(sample.labels.iter().map(|value| &**value)));
    let labels: Vec<_> = labels.collect();
    match &sample.value {
        MetricValue::Number(number) => write_line(text, sample.metric, "", &labels, *number),
        MetricValue::Distribution(counted) => {
            write_distribution(text, sample.metric, labels, counted)
        }
    }
}

/// Prometheus buckets are cumulative: each includes all lower ones.
fn write_distribution(
    text: &mut String,
    metric: Metric,
    labels: Vec<(&str, &str)>,
    counted: &Distribution,
) {
    let mut below = 0;
    let bounds = counted.bounds.iter().map(|bound| bound.to_string());
    for (bound, count) in bounds.chain([String::from("+Inf")]).zip(&counted.counts) {
        below += count;
        let mut labels = labels.clone();
        labels.push(("le", &bound));
        write_line(text, metric, "_bucket", &labels, below as f64);
    }
    write_line(text, metric, "_sum", &labels, counted.sum);
    write_line(text, metric, "_count", &labels, below as f64);
}

fn write_line(
    text: &mut String,
    metric: Metric,
    suffix: &str,
    labels: &[(&str, &str)],
    value: f64,
) {
    text.push_str(metric.name());
    text.push_str(suffix);
    for (n, (name, label)) in labels.iter().enumerate() {
        let before = if n == 0 { '{' } else { ',' };
        text.push_str(&format!("{before}{name}=\"{}\"", escaped_label(label)));
    }
    if !labels.is_empty() {
        text.push('}');
    }
    // Writing to a string cannot fail.
    let _ = match value {
        f64::INFINITY => writeln!(text, " +Inf"),
        f64::NEG_INFINITY => writeln!(text, " -Inf"),
        value => writeln!(text, " {value}"),
    };
}

fn escaped_help(help: &str) -> String {
    help.replace('\\', "\\\\").replace('\n', "\\n")
}

fn escaped_label(value: &str) -> String {
    escaped_help(value).replace('"', "\\\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_is_written_with_all_that_lies_below_each_bound() {
        let mut snapshot = MetricsSnapshot::default();
        let counted = Distribution { bounds: vec![0.001, 0.5], counts: vec![2, 3, 1], sum: 1.75 };
        snapshot.add_distribution(Metric::CommitDuration, &[], counted);
        let text =
            prometheus_text(&[CollectionSamples { collection: Some("news"), snapshot: &snapshot }]);
        let expected = "\
# HELP evercrawl_commit_duration_seconds How long commits took: archive synced, state written.
# TYPE evercrawl_commit_duration_seconds histogram
evercrawl_commit_duration_seconds_bucket{collection=\"news\",le=\"0.001\"} 2
evercrawl_commit_duration_seconds_bucket{collection=\"news\",le=\"0.5\"} 5
evercrawl_commit_duration_seconds_bucket{collection=\"news\",le=\"+Inf\"} 6
evercrawl_commit_duration_seconds_sum{collection=\"news\"} 1.75
evercrawl_commit_duration_seconds_count{collection=\"news\"} 6
";
        assert_eq!(text, expected);
    }

    #[test]
    fn what_would_break_a_line_is_escaped() {
        assert_eq!(escaped_label("a\"b\\c\nd"), "a\\\"b\\\\c\\nd");
        assert_eq!(escaped_help("a \"b\" \\ \n"), "a \"b\" \\\\ \\n");
    }

    #[test]
    fn samples_of_several_collections_stand_together() {
        let mut snapshot = MetricsSnapshot::default();
        snapshot.add_count(Metric::Hosts, &[], 3);
        snapshot.add_count(Metric::Mirrors, &[], 1);
        let part = |name| CollectionSamples { collection: Some(name), snapshot: &snapshot };
        let text = prometheus_text(&[part("a"), part("b")]);
        let heads: Vec<_> = text.lines().filter(|line| line.starts_with("# TYPE")).collect();
        assert_eq!(heads, ["# TYPE evercrawl_hosts gauge", "# TYPE evercrawl_mirrors gauge"]);
        let hosts = "evercrawl_hosts{collection=\"a\"} 3\nevercrawl_hosts{collection=\"b\"} 3\n";
        assert!(text.contains(hosts), "{text}");
    }
}
