//! Which pages point to what matters, and which are pointed to?
//!
//! A good hub links to good authorities, a good authority is linked from good hubs (Kleinberg 1999):
//! the leading singular vectors of the graph, found by going back and forth.

use crate::blocks::{BLOCK, sweep};
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
    match settings.threads {
        0 | 1 => rounds(Alone::new(graph), settings),
        threads => rounds(Together::new(graph, threads), settings),
    }
}

/// A way to go back and forth.
trait Sweeps {
    /// Goes back and forth once; returns how much the hubs changed.
    fn round(&mut self) -> f64;
    /// Hubs, authorities and what these add up to.
    fn into_scores(self) -> (Vec<f64>, Vec<f64>, f64);
}

fn rounds(mut sweeps: impl Sweeps, settings: &Settings) -> Hits {
    let (mut rounds, mut error, mut last_change) = (0, f64::INFINITY, f64::INFINITY);
    while rounds < settings.most_rounds && error > settings.tolerance {
        let change = sweeps.round();
        error = still_to_come(change, last_change);
        last_change = change;
        rounds += 1;
    }
    let (hubs, mut authorities, sum) = sweeps.into_scores();
    authorities.iter_mut().for_each(|score| *score *= scale(sum));
    Hits { hubs, authorities, rounds, error }
}

/// On several threads: the graph in both directions, so that each node is written by one thread.
struct Together<'a> {
    graph: &'a Graph,
    reversed: Graph,
    threads: usize,
    hubs: Vec<f64>,
    next: Vec<f64>,
    authorities: Vec<f64>,
    authority_sum: f64,
}

impl<'a> Together<'a> {
    fn new(graph: &'a Graph, threads: usize) -> Self {
        let nodes = graph.nodes() as usize;
        Together {
            graph,
            reversed: graph.reversed(),
            threads,
            hubs: vec![1.0 / nodes as f64; nodes],
            next: vec![0.0; nodes],
            authorities: vec![0.0; nodes],
            authority_sum: 0.0,
        }
    }
}

impl Sweeps for Together<'_> {
    fn round(&mut self) -> f64 {
        let (threads, hubs) = (self.threads, &self.hubs);
        self.authority_sum = gather(self.graph, &mut self.authorities, threads, |sources| {
            total(sources, |source| hubs[source as usize])
        });
        // One after the other, as a single thread hands them out.
        let authorities = &self.authorities;
        let sum = gather(&self.reversed, &mut self.next, threads, |targets| {
            targets.iter().fold(0.0, |sum, &target| sum + authorities[target as usize])
        });
        replace(&mut self.hubs, &self.next, sum, self.threads)
    }

    fn into_scores(self) -> (Vec<f64>, Vec<f64>, f64) {
        (self.hubs, self.authorities, self.authority_sum)
    }
}

/// Lets `add` sum up what each node's sources have; returns the sum over all nodes.
fn gather(
    graph: &Graph,
    to: &mut [f64],
    threads: usize,
    add: impl Fn(&[u32]) -> f64 + Sync,
) -> f64 {
    let [sum, _] = sweep(threads, to, |start, block| {
        let mut sum = 0.0;
        for (node, value) in (start..).zip(block) {
            *value = add(graph.sources(node as u32));
            sum += *value;
        }
        [sum, 0.0]
    });
    sum
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

/// On one thread: there, and back by the same links, which hand out what they gathered. Each way touches one list of
/// scores at random, since memory is what a sweep waits for: one list of a million nodes is at hand, two are not.
/// Every sum is taken in the order in which several threads take it, so the bits are the same.
struct Alone<'a> {
    graph: &'a Graph,
    hubs: Vec<f64>,
    next: Vec<f64>,
    authorities: Vec<f64>,
    authority_sum: f64,
}

impl<'a> Alone<'a> {
    fn new(graph: &'a Graph) -> Self {
        let nodes = graph.nodes() as usize;
        let (hubs, zeros) = (vec![1.0 / nodes as f64; nodes], vec![0.0; nodes]);
        Alone { graph, hubs, next: zeros.clone(), authorities: zeros, authority_sum: 0.0 }
    }
}

impl Sweeps for Alone<'_> {
    fn round(&mut self) -> f64 {
        let hubs = &self.hubs;
        self.authority_sum = gather(self.graph, &mut self.authorities, 1, |sources| {
            total(sources, |source| hubs[source as usize])
        });
        self.next.fill(0.0);
        for (node, authority) in (0..).zip(&self.authorities) {
            for &source in self.graph.sources(node) {
                self.next[source as usize] += authority;
            }
        }
        let sum = in_blocks(&self.next);
        replace(&mut self.hubs, &self.next, sum, 1)
    }

    fn into_scores(self) -> (Vec<f64>, Vec<f64>, f64) {
        (self.hubs, self.authorities, self.authority_sum)
    }
}

/// What these nodes have together. Four sums grow side by side, since an addition waits for the one before it;
/// of no nodes they are 0.
fn total(nodes: &[u32], value: impl Fn(u32) -> f64) -> f64 {
    let (fours, rest) = nodes.as_chunks::<4>();
    let mut sums = [0.0; 4];
    for four in fours {
        sums.iter_mut().zip(four).for_each(|(sum, &node)| *sum += value(node));
    }
    let sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    rest.iter().fold(sum, |sum, &node| sum + value(node))
}

/// Adds up a list block by block, as [`sweep`] does.
fn in_blocks(list: &[f64]) -> f64 {
    let sum = |values: &[f64]| values.iter().fold(0.0, |sum, value| sum + value);
    list.chunks(BLOCK).map(sum).fold(0.0, |sum, part| sum + part)
}

/// What makes scores add up to 1, given their sum.
fn scale(sum: f64) -> f64 {
    if sum > 0.0 { sum.recip() } else { 0.0 }
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
