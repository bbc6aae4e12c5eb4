//! Does the user guide list every metric as it is?
#![allow(clippy::unwrap_used, reason = "a failing test panics")]

#[test]
fn the_guide_has_the_table_of_metrics() {
    let guide = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/metrics.md");
    let text = std::fs::read_to_string(guide).unwrap();
    let table = evercrawl_metrics::markdown_table();
    assert!(text.contains(&table), "docs/metrics.md must have this table:\n{table}");
}
