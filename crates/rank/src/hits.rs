//! Which pages point to what matters, and which are pointed to?
//!
//! A good hub links to good authorities, a good authority is linked from good hubs (Kleinberg 1999):
//! the leading singular vectors of the graph, found by going back and forth.

use crate::blocks::sweep;
use crate::{Graph, Settings};

/// Two scores for every node, and how they were come by.
#[derive(Clone, Debug, PartialEq)]
pub struct Hits {
    /// How well each node points to authorities; they add up to 1.
    pub hubs: Vec<f64>,
    /// How well each node is pointed to by hubs; they add up to 1.
    pub authorities: Vec<f64>,
    /// How many times it went back and forth.
    pub rounds: u32,
    /// How much the hubs may be off, all differences added up: an estimate, since nothing bounds it.
    pub error: f64,
}

/// Finds hubs and authorities, beginning with all nodes alike; `damping` plays no part.
///
/// Where several parts of a graph lead alike, all of them keep their share of the start. Without any
/// link, all scores are 0. On several threads it holds the graph in both directions, twice the memory of a
/// ranking.
pub fn hits(graph: &Graph, settings: &Settings) -> Hits {
    let nodes = graph.nodes() as usize;
    let reversed = (settings.threads > 1).then(|| graph.reversed());
    let mut hubs = vec![1.0 / nodes as f64; nodes];
    let (mut authorities, mut next) = (vec![0.0; nodes], vec![0.0; nodes]);
    let (mut rounds, mut error, mut last_change) = (0, f64::INFINITY, f64::INFINITY);
    let mut authority_sum = 0.0;
    while rounds < settings.most_rounds && error > settings.tolerance {
        let sum;
        (authority_sum, sum) = match &reversed {
            Some(reversed) => (
                gather(graph, &hubs, &mut authorities, settings.threads),
                gather(reversed, &authorities, &mut next, settings.threads),
            ),
            None => there_and_back(graph, &hubs, &mut authorities, &mut next),
        };
        let change = replace(&mut hubs, &next, sum, settings.threads);
        error = still_to_come(change, last_change);
        last_change = change;
        rounds += 1;
    }
    authorities.iter_mut().for_each(|score| *score *= scale(authority_sum));
    Hits { hubs, authorities, rounds, error }
}

/// Adds up what each node's sources have; returns the sum over all nodes.
fn gather(graph: &Graph, from: &[f64], to: &mut [f64], threads: usize) -> f64 {
    let [sum, _] = sweep(threads, to, |start, block| {
        let mut sum = 0.0;
        for (node, value) in (start..).zip(block) {
            *value = total(graph.sources(node as u32), from);
            sum += *value;
        }
        [sum, 0.0]
    });
    sum
}

/// Gathers there and back in one sweep: what a node has is given to its sources while they are at hand. Every
/// sum is taken in the order in which [`gather`] takes it, so the bits are the same.
fn there_and_back(
    graph: &Graph,
    hubs: &[f64],
    authorities: &mut [f64],
    next: &mut [f64],
) -> (f64, f64) {
    next.fill(0.0);
    for (node, authority) in (0..).zip(&mut *authorities) {
        let sources = graph.sources(node);
        *authority = total(sources, hubs);
        sources.iter().for_each(|&source| next[source as usize] += *authority);
    }
    let all = |list: &mut [f64]| {
        let [sum, _] = sweep(1, list, |_, block| [block.iter().fold(0.0, |a, b| a + b), 0.0]);
        sum
    };
    (all(authorities), all(next))
}

/// What these nodes have together. Of none that is 0; `sum` would make it -0.
fn total(nodes: &[u32], values: &[f64]) -> f64 {
    nodes.iter().fold(0.0, |sum, &node| sum + values[node as usize])
}

/// What makes scores add up to 1, given their sum.
fn scale(sum: f64) -> f64 {
    if sum > 0.0 { sum.recip() } else { 0.0 }
}

/// Puts `values` in place of what is there, divided by their sum; returns how much that changes.
fn replace(list: &mut [f64], values: &[f64], sum: f64, threads: usize) -> f64 {
    let scale = scale(sum);
    let [changed, _] = sweep(threads, list, |start, block| {
        let mut changed = 0.0;
        for (node, value) in (start..).zip(block) {
            let next = values[node] * scale;
            changed += (next - *value).abs();
            *value = next;
        }
        [changed, 0.0]
    });
    changed
}

/// What all rounds to come will change, if each goes on to shrink as the last one did.
fn still_to_come(change: f64, before: f64) -> f64 {
    let shrinks = change / before;
    if change == 0.0 {
        0.0
    } else if shrinks < 1.0 && before.is_finite() {
        change * shrinks / (1.0 - shrinks)
    } else {
        f64::INFINITY
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{close, random_graph, small};

    #[test]
    fn a_star_and_a_path_have_the_scores_worked_out_by_hand() {
        let star = hits(&small(4, &[(0, 3), (1, 3), (2, 3)]), &Settings::default());
        close(&star.hubs, &[1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0, 0.0], 1e-12);
        close(&star.authorities, &[0.0, 0.0, 0.0, 1.0], 1e-12);
        assert!(star.authorities.iter().all(|score| score.is_sign_positive()), "no -0");
        // Every link of a path leads alike.
        let path = hits(&small(3, &[(0, 1), (1, 2)]), &Settings::default());
        close(&path.hubs, &[0.5, 0.5, 0.0], 1e-12);
        close(&path.authorities, &[0.0, 0.5, 0.5], 1e-12);
    }

    #[test]
    fn no_links_no_scores_and_no_nodes_no_harm() {
        let none = hits(&small(3, &[]), &Settings::default());
        assert_eq!((none.hubs, none.authorities, none.error), (vec![0.0; 3], vec![0.0; 3], 0.0));
        assert!(hits(&small(0, &[]), &Settings::default()).hubs.is_empty());
    }

    #[test]
    fn any_number_of_threads_gives_the_same_bits() {
        let graph = random_graph(3, 20_000, 60_000);
        let alone = hits(&graph, &Settings::default());
        assert!((alone.hubs.iter().sum::<f64>() - 1.0).abs() < 1e-12 && alone.error <= 1e-12);
        assert_eq!(hits(&graph, &Settings { threads: 3, ..Settings::default() }), alone);
    }
}
