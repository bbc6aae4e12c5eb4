//! Which pages point to important pages, and which are pointed to?
//!
//! A good hub links to good authorities, a good authority is linked from good hubs (Kleinberg 1999):
//! the leading singular vectors of the graph, found by going back and forth.

use crate::blocks::{BLOCK, sweep};
use crate::{Graph, RankSettings};

/// Two scores for every node, and how they were come by.
#[derive(Clone, Debug, PartialEq)]
pub struct Hits {
    /// How well each node points to authorities; they add up to 1.
    pub hubs: Vec<f64>,
    /// How well each node is pointed to by hubs; they add up to 1.
    pub authorities: Vec<f64>,
    /// How many times it went back and forth.
    pub rounds: u32,
    /// How much the authorities may be off, all differences added up: an estimate, since nothing bounds it.
    pub error: f64,
}

/// Finds hubs and authorities, beginning with all nodes alike; `damping` plays no part.
///
/// Where several parts of a graph lead alike, all of them keep their share of the start. Without any
/// link, all scores are 0. On several threads it holds the graph in both directions, twice the memory of a
/// ranking.
pub fn hits(graph: &Graph, settings: &RankSettings) -> Hits {
    let mut scores = Scores::new(graph, settings.threads);
    let (mut rounds, mut error, mut last_change) = (0, f64::INFINITY, f64::INFINITY);
    while rounds < settings.most_rounds && error > settings.tolerance {
        let change = scores.update_authorities();
        scores.update_hubs();
        error = still_to_come(change, last_change);
        last_change = change;
        rounds += 1;
    }
    let Scores { mut hubs, authorities, .. } = scores;
    let scale = scale(in_blocks(&hubs));
    hubs.iter_mut().for_each(|score| *score *= scale);
    Hits { hubs, authorities, rounds, error }
}

/// Scores on their way back and forth. Memory is what a sweep waits for, so there are two lists and no third: each
/// way touches the hubs at random, which stay at hand, and goes along the authorities.
struct Scores<'a> {
    graph: &'a Graph,
    /// The reversed links, for several threads, each of which writes to its own hubs only.
    reversed: Option<Graph>,
    threads: usize,
    /// Not scaled; `given` says how much all their links pass on.
    hubs: Vec<f64>,
    given: f64,
    /// All hubs have the same, as at the start.
    alike: bool,
    /// They add up to 1.
    authorities: Vec<f64>,
}

impl<'a> Scores<'a> {
    fn new(graph: &'a Graph, threads: usize) -> Self {
        let nodes = graph.nodes() as usize;
        let alike = vec![1.0 / nodes as f64; nodes];
        let given = graph.link_count() as f64 / nodes as f64;
        let reversed = (threads > 1).then(|| graph.reversed());
        let hubs = alike.clone();
        Scores { graph, reversed, threads, hubs, given, alike: true, authorities: alike }
    }

    /// Hubs make authorities; returns how much these changed. What they add up to is known before, by the links that
    /// each hub has, so one sweep makes them and scales them.
    fn update_authorities(&mut self) -> f64 {
        let (graph, hubs, scale) = (self.graph, &self.hubs, scale(self.given));
        let of_each = hubs.first().filter(|_| self.alike);
        let [changed, _] = sweep(self.threads, &mut self.authorities, |start, block| {
            let mut changed = 0.0;
            for (value, sources) in block.iter_mut().zip(graph.rows(start)) {
                let sum =
                    of_each.map_or_else(|| total(sources, hubs), |hub| hub * sources.len() as f64);
                let next = sum * scale;
                changed += (next - *value).abs();
                *value = next;
            }
            [changed, 0.0]
        });
        changed
    }

    /// Authorities make hubs.
    fn update_hubs(&mut self) {
        match &self.reversed {
            Some(reversed) => collect(reversed, &self.authorities, &mut self.hubs, self.threads),
            None => hand_out(self.graph, &self.authorities, &mut self.hubs),
        }
        let degrees = self.graph.out_degrees();
        let [given, _] = sweep(self.threads, &mut self.hubs, |start, block| {
            let links = block.iter().zip(&degrees[start..]);
            [links.fold(0.0, |sum, (hub, &degree)| sum + *hub * f64::from(degree)), 0.0]
        });
        (self.given, self.alike) = (given, false);
    }
}

/// Every hub sums up what its targets have: one after the other, as [`hand_out`] gives it to them, so that the bits
/// are the same.
fn collect(reversed: &Graph, authorities: &[f64], hubs: &mut [f64], threads: usize) {
    sweep(threads, hubs, |start, block| {
        for (hub, targets) in block.iter_mut().zip(reversed.rows(start)) {
            *hub = targets.iter().fold(0.0, |sum, &target| sum + authorities[target as usize]);
        }
        [0.0; 2]
    });
}

/// Every authority gives what it has to each of its sources.
fn hand_out(graph: &Graph, authorities: &[f64], hubs: &mut [f64]) {
    hubs.fill(0.0);
    for (authority, sources) in authorities.iter().zip(graph.rows(0)) {
        for &source in sources {
            hubs[source as usize] += authority;
        }
    }
}

/// What these nodes have together. Four sums grow side by side, since an addition waits for the one before it;
/// of no nodes they are 0.
fn total(nodes: &[u32], values: &[f64]) -> f64 {
    let value = |node: u32| values[node as usize];
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
        let star = hits(&small(4, &[(0, 3), (1, 3), (2, 3)]), &RankSettings::default());
        close(&star.hubs, &[1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0, 0.0], 1e-12);
        close(&star.authorities, &[0.0, 0.0, 0.0, 1.0], 1e-12);
        assert!(star.authorities.iter().all(|score| score.is_sign_positive()), "no -0");
        // Every link of a path leads alike.
        let path = hits(&small(3, &[(0, 1), (1, 2)]), &RankSettings::default());
        close(&path.hubs, &[0.5, 0.5, 0.0], 1e-12);
        close(&path.authorities, &[0.0, 0.5, 0.5], 1e-12);
    }

    #[test]
    fn no_links_no_scores_and_no_nodes_no_harm() {
        let none = hits(&small(3, &[]), &RankSettings::default());
        assert_eq!((none.hubs, none.authorities, none.error), (vec![0.0; 3], vec![0.0; 3], 0.0));
        assert!(hits(&small(0, &[]), &RankSettings::default()).hubs.is_empty());
    }

    #[test]
    fn any_number_of_threads_gives_the_same_bits() {
        let graph = random_graph(3, 20_000, 60_000);
        let alone = hits(&graph, &RankSettings::default());
        assert!((alone.hubs.iter().sum::<f64>() - 1.0).abs() < 1e-12 && alone.error <= 1e-12);
        assert_eq!(hits(&graph, &RankSettings { threads: 3, ..RankSettings::default() }), alone);
    }
}
