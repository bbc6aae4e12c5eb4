//! How does the list of metrics read in a document?

use crate::Metric;

/// The list as a table in Markdown.
pub fn markdown_table() -> String {
    let mut table = String::from("| metric | type | labels | meaning |\n|---|---|---|---|\n");
    for metric in Metric::ALL {
        let labels: Vec<_> = metric.labels().iter().map(|label| label.name()).collect();
        let (name, labels) = (metric.name(), labels.join(", "));
        let (kind, help) = (metric.kind().code(), metric.help());
        table.push_str(&format!("| `{name}` | {kind} | {labels} | {help} |\n"));
    }
    table
}
