//! The worked examples of both papers, against reference values computed independently.
#![allow(
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test stops at what it did not expect"
)]

use evercrawl_sites::{Partition, PartitionMethod, Server, pivot_groups, width_groups};
use serde_json::Value;

const GOLDEN: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/golden/scheduling.json");

fn golden(part: &str) -> Option<Value> {
    let Ok(text) = std::fs::read_to_string(GOLDEN) else {
        eprintln!("SKIPPED: no reference values at {GOLDEN}");
        return None;
    };
    let all: Value = serde_json::from_str(&text).expect("reference values are JSON");
    Some(all[part].clone())
}

struct Example {
    names: Vec<String>,
    server: Server,
}

impl Example {
    fn read(golden: &Value) -> Self {
        let directories = golden["dirof"].as_object().expect("dirof");
        let names: Vec<String> = directories.keys().cloned().collect();
        let number = |name: &str| names.iter().position(|n| n == name).expect("known") as u32;
        let dirs: Vec<&str> = directories.values().map(|d| d.as_str().expect("text")).collect();
        let mut links = Vec::new();
        for (from, to) in golden["links"].as_object().expect("links") {
            for to in to.as_array().expect("list") {
                links.push((number(from), number(to.as_str().expect("text"))));
            }
        }
        let server = Server::new(&dirs, &links, &[number("R")]);
        Example { names, server }
    }

    fn named(&self, pages: &[u32]) -> Vec<&str> {
        pages.iter().map(|&page| self.names[page as usize].as_str()).collect()
    }

    /// Sites of more than one page, as the reference lists them.
    fn sites(&self, method: PartitionMethod) -> Vec<(Vec<&str>, Vec<&str>)> {
        let partition = Partition::new(&self.server, method);
        let proper = partition.sites().filter(|&site| !partition.members(site).is_empty());
        let mut sites: Vec<_> = proper
            .map(|s| (self.named(partition.tops(s)), self.named(partition.members(s))))
            .collect();
        sites.sort();
        sites
    }
}

fn texts(list: &Value) -> Vec<&str> {
    list.as_array().expect("list").iter().map(|v| v.as_str().expect("text")).collect()
}

#[test]
fn the_worked_example_divides_as_printed() {
    let Some(golden) = golden("sites") else { return };
    let example = Example::read(&golden);
    for (name, depth) in golden["depth"].as_object().expect("depth") {
        let page = example.names.iter().position(|n| n == name).expect("known") as u32;
        assert_eq!(
            u64::from(example.server.depth(page)),
            depth.as_u64().expect("number"),
            "{name}"
        );
    }
    let by_directory: Vec<_> =
        golden["A"].as_array().expect("A").iter().map(|s| (texts(&s[0]), texts(&s[1]))).collect();
    assert_eq!(example.sites(PartitionMethod::A), by_directory);
    let by_links: Vec<_> = golden["B"]
        .as_array()
        .expect("B")
        .iter()
        .map(|s| (vec![s[0].as_str().expect("top")], texts(&s[1])))
        .collect();
    for method in [PartitionMethod::B, PartitionMethod::C, PartitionMethod::Open] {
        assert_eq!(example.sites(method), by_links, "{method:?}");
    }
}

#[test]
fn the_site_of_c_lies_above_the_site_of_g() {
    let Some(golden) = golden("sites") else { return };
    let example = Example::read(&golden);
    let partition = Partition::new(&example.server, PartitionMethod::C);
    let site_of = |top: &str| {
        partition.sites().find(|&s| example.named(partition.tops(s)) == [top]).expect("a top")
    };
    assert_eq!(partition.upper(site_of("G")), [site_of("A")]);
    assert_eq!(partition.upper(site_of("E")), [site_of("D")]);
    assert_eq!(partition.upper(site_of("A")), [site_of("R")]);
    assert!(partition.upper(site_of("R")).is_empty());
}

#[test]
fn groups_by_dependence_are_those_of_the_reference() {
    let Some(golden) = golden("hiromichi") else { return };
    let values: Vec<f64> = golden["values"]
        .as_object()
        .expect("values")
        .values()
        .map(|v| v.as_f64().expect("number"))
        .collect();
    let named = |groups: Vec<Vec<u32>>| -> Vec<Vec<String>> {
        groups.iter().map(|g| g.iter().map(|m| format!("p{}", m + 1)).collect()).collect()
    };
    for percent in [0, 5, 20, 50] {
        let width = f64::from(percent) / 100.0;
        let components: Vec<_> = golden[format!("components_{percent}")]
            .as_array()
            .expect("list")
            .iter()
            .map(texts)
            .collect();
        assert_eq!(
            named(width_groups(&values, width, 0.0)),
            components,
            "components at {percent} %"
        );
        let pivots = golden[format!("pivot_{percent}")].as_array().expect("list");
        let groups: Vec<_> = pivots.iter().map(|p| texts(&p[1])).collect();
        assert_eq!(named(pivot_groups(&values, width)), groups, "pivots at {percent} %");
    }
}
