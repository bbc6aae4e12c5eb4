//! Are the scores those of networkx and numpy, to 1e-9, on random graphs and odd ones?
//!
//! `tools/install` brings both; $TEST_TOOLS names another directory whose python3 has them.
#![allow(
    clippy::unwrap_used,
    clippy::explicit_write,
    reason = "a failing test panics, a skipped one is loud"
)]

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use evercrawl_policy::SplitMix64;
use evercrawl_rank::{Graph, JumpWeights, RankSettings, Repeats, distrust, hits, pagerank, trust};
use serde_json::{Value, json};

const CLOSE: f64 = 1e-9;

struct Case {
    name: String,
    nodes: u32,
    links: Vec<(u32, u32)>,
    repeats: Repeats,
    damping: f64,
    weights: Vec<f64>,
    good: Vec<u32>,
}

impl Case {
    fn new(name: &str, nodes: u32, links: Vec<(u32, u32)>) -> Self {
        let weights = (0..nodes).map(|node| f64::from(node % 4)).collect();
        let good = vec![0, nodes / 2];
        let (repeats, damping) = (Repeats::Once, 0.85);
        Case { name: name.to_owned(), nodes, links, repeats, damping, weights, good }
    }

    /// Links between nodes drawn at random, low numbers more often the higher `skew` is.
    fn random(seed: u64, nodes: u32, count: u32, skew: i32) -> Self {
        let mut dice = SplitMix64::new(seed);
        let mut node = || (f64::from(nodes) * dice.uniform().powi(skew)) as u32;
        let links = (0..count).map(|_| (node(), node())).collect();
        Case::new(&format!("random {nodes} {count} {skew}"), nodes, links)
    }

    fn json(&self) -> Value {
        json!({
            "nodes": self.nodes, "links": self.links, "each": self.repeats == Repeats::Each,
            "damping": self.damping, "weights": self.weights, "good": self.good,
        })
    }

    fn check(&self, want: &Value) {
        let graph = Graph::new(self.nodes, self.links.iter().copied(), self.repeats);
        let settings =
            RankSettings { damping: self.damping, threads: 2, ..RankSettings::default() };
        let in_degrees = (0..self.nodes).map(|node| graph.in_degree(node) as f64);
        let both = hits(&graph, &settings);
        for (method, got) in [
            ("indegree", in_degrees.collect()),
            ("pagerank", pagerank(&graph, JumpWeights::Anywhere, &settings).scores),
            ("personal", pagerank(&graph, JumpWeights::To(&self.weights), &settings).scores),
            ("trust", trust(&graph, &self.good, &settings).scores),
            ("distrust", distrust(&graph, &self.good, &settings).scores),
            ("hubs", both.hubs),
            ("authorities", both.authorities),
        ] {
            let want: Vec<f64> = serde_json::from_value(want[method].clone()).unwrap();
            assert_eq!(got.len(), want.len(), "{} of {}", method, self.name);
            for (node, (got, want)) in got.iter().zip(&want).enumerate() {
                let off = (got - want).abs();
                assert!(off <= CLOSE, "{method} of {node} in {}: {got}, not {want}", self.name);
            }
        }
    }
}

/// Twenty: nine drawn, eleven odd.
fn cases() -> Vec<Case> {
    let ring = |nodes: u32| (0..nodes).map(move |node| (node, (node + 1) % nodes));
    let all = |nodes: u32| (0..nodes).flat_map(move |a| (0..nodes).map(move |b| (a, b)));
    let star: Vec<(u32, u32)> = (1..8).map(|leaf| (leaf, 0)).collect();
    let tree: Vec<(u32, u32)> = (1..15).map(|node| ((node - 1) / 2, node)).collect();
    let two_rings = ring(5).chain(ring(4).map(|(a, b)| (a + 5, b + 5)));
    let farm = all(6).filter(|(a, b)| a != b).chain([(6, 7), (7, 8), (8, 6), (0, 6)]);
    let mut cases: Vec<Case> = [(10, 20, 1), (30, 60, 2), (50, 400, 1), (80, 300, 3)]
        .into_iter()
        .zip(1..)
        .map(|((nodes, count, skew), seed)| Case::random(seed, nodes, count, skew))
        .collect();
    cases.extend([
        Case::new("ring", 6, ring(6).collect()),
        Case::new("two rings", 9, two_rings.collect()),
        Case::new("star", 8, star.clone()),
        Case::new("star turned round", 8, star.iter().map(|&(a, b)| (b, a)).collect()),
        Case::new("tree whose leaves dangle", 15, tree),
        Case::new("complete, with links to itself", 7, all(7).collect()),
        Case::new("two nodes", 2, vec![(0, 1)]),
        Case::new("isolated nodes", 12, vec![(0, 1), (1, 2), (2, 0), (3, 0)]),
        Case::new("links to itself alone", 4, vec![(0, 0), (1, 1), (2, 3)]),
        Case::new("a farm beside a ring", 9, farm.collect()),
        Case::new("bipartite", 9, (0..4).flat_map(|a| (4..9).map(move |b| (a, b))).collect()),
    ]);
    let each = |case: Case| Case { repeats: Repeats::Each, ..case };
    cases.push(each(Case::random(21, 20, 200, 2)));
    cases.push(each(Case::random(22, 6, 100, 1)));
    cases.push(Case { damping: 0.5, ..Case::random(23, 40, 160, 2) });
    cases.push(Case { damping: 0.99, ..Case::random(24, 40, 160, 2) });
    cases.push(Case { damping: 0.0, ..Case::random(25, 40, 160, 2) });
    cases
}

/// What the reference says of all cases; `None` where it is not installed.
fn reference(cases: &[Case]) -> Option<Vec<Value>> {
    let usual = concat!(env!("CARGO_MANIFEST_DIR"), "/../../.tools/venv/bin");
    let dir = std::env::var_os("TEST_TOOLS").unwrap_or_else(|| usual.into());
    let python = Path::new(&dir).join("python3");
    let probe = Command::new(&python).args(["-c", "import networkx, scipy"]).output();
    if !probe.is_ok_and(|probe| probe.status.success()) {
        let dir = dir.display();
        // Not by `eprintln`, which the test runner keeps to itself.
        writeln!(std::io::stderr(), "SKIPPED: no networkx in {dir}; run tools/install").unwrap();
        return None;
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/reference.py");
    let mut command = Command::new(&python);
    command.arg(script).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let graphs: Vec<Value> = cases.iter().map(Case::json).collect();
    child.stdin.take().unwrap().write_all(json!(graphs).to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "the reference failed; it says why above");
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

#[test]
fn twenty_graphs_have_the_scores_of_the_reference() {
    let cases = cases();
    assert_eq!(cases.len(), 20);
    let Some(answers) = reference(&cases) else { return };
    assert_eq!(answers.len(), cases.len());
    cases.iter().zip(&answers).for_each(|(case, want)| case.check(want));
}
