//! Which graphs do the tests use, and when are scores alike?

use evercrawl_policy::SplitMix64;

use crate::{Graph, Repeats};

pub(crate) fn small(nodes: u32, links: &[(u32, u32)]) -> Graph {
    Graph::new(nodes, links.iter().copied(), Repeats::Once)
}

/// Links whose targets are drawn in favour of low numbers; some nodes have none.
pub(crate) fn random_graph(seed: u64, nodes: u32, links: usize) -> Graph {
    let mut dice = SplitMix64::new(seed);
    let nodes_f = f64::from(nodes);
    let mut draw = |power: i32| (nodes_f * dice.uniform().powi(power)) as u32;
    let links: Vec<(u32, u32)> = (0..links).map(|_| (draw(2), draw(3))).collect();
    small(nodes, &links)
}

#[track_caller]
pub(crate) fn close(got: &[f64], want: &[f64], tolerance: f64) {
    assert_eq!(got.len(), want.len());
    let off: f64 = got.iter().zip(want).map(|(a, b)| (a - b).abs()).sum();
    assert!(off <= tolerance, "off by {off}: {got:?} for {want:?}");
}

/// Spearman's: how alike two lists order their places; equal numbers share their rank.
pub(crate) fn rank_correlation(a: &[f64], b: &[f64]) -> f64 {
    let (a, b) = (ranks(a), ranks(b));
    let mean = (a.len() as f64 - 1.0) / 2.0;
    let product = |x: &[f64], y: &[f64]| -> f64 {
        x.iter().zip(y).map(|(x, y)| (x - mean) * (y - mean)).sum()
    };
    product(&a, &b) / (product(&a, &a) * product(&b, &b)).sqrt()
}

fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    for tied in order.chunk_by(|a, b| values[*a] == values[*b]) {
        let first = order.iter().position(|place| *place == tied[0]).unwrap_or(0);
        for &place in tied {
            ranks[place] = first as f64 + (tied.len() as f64 - 1.0) / 2.0;
        }
    }
    ranks
}
