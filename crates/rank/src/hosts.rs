//! From which scores should a ranking start, given the host of each page?
//!
//! Most links stay on their host. So pages are ranked within their hosts, hosts among each other, and
//! the product is a ranking of pages that is nearly right (Kamvar, Haveliwala, Manning and Golub 2003).

use std::collections::HashMap;

use crate::{Graph, JumpWeights, RankSettings, Repeats, pagerank};

/// Sweeps within hosts: links there are many, and a start need not be exact.
const LOCAL: RankSettings =
    RankSettings { damping: 0.85, tolerance: 1e-2, most_rounds: 8, threads: 1 };
/// Sweeps over the graph of hosts, which is small.
const HOST_ROUNDS: usize = 50;

/// A start for [`crate::pagerank_from`]: the rank of each page within its host, times its host's.
///
/// `host_of` names the host of each page; a page without one below `hosts` begins with nothing.
pub fn host_start(graph: &Graph, host_of: &[u32], hosts: u32, settings: &RankSettings) -> Vec<f64> {
    let host = |page: u32| host_of.get(page as usize).copied().unwrap_or(u32::MAX);
    let local = local_ranks(graph, host, hosts, settings);
    let ranks = HostLinks::new(graph, host, hosts, &local).ranks(settings.damping);
    let product =
        |(page, local): (u32, f64)| local * ranks.get(host(page) as usize).copied().unwrap_or(0.0);
    (0..).zip(local).map(product).collect()
}

/// The rank of each page within its host; those of a host add up to 1.
///
/// Without links between hosts, one ranking is the rankings of all hosts side by side, but for a
/// factor each.
fn local_ranks(
    graph: &Graph,
    host: impl Fn(u32) -> u32 + Copy,
    hosts: u32,
    settings: &RankSettings,
) -> Vec<f64> {
    let within = graph.links().filter(move |&(from, to)| host(from) == host(to));
    let within = Graph::new(graph.nodes(), within, Repeats::Each);
    let settings = RankSettings { damping: settings.damping, threads: settings.threads, ..LOCAL };
    let mut ranks = pagerank(&within, JumpWeights::Anywhere, &settings).scores;
    let mut sums = vec![0.0; hosts as usize];
    for (page, rank) in (0..).zip(&ranks) {
        if let Some(sum) = sums.get_mut(host(page) as usize) {
            *sum += rank;
        }
    }
    for (page, rank) in (0..).zip(&mut ranks) {
        *rank /= sums.get(host(page) as usize).copied().unwrap_or(f64::INFINITY);
    }
    ranks
}

/// Where a surfer who is somewhere on a host goes next.
struct HostLinks {
    /// From host, to host, with which probability; in order, so that sums are always the same.
    links: Vec<((u32, u32), f64)>,
    /// Each host's share of all pages: where a jump leads.
    sizes: Vec<f64>,
}

impl HostLinks {
    fn new(graph: &Graph, host: impl Fn(u32) -> u32, hosts: u32, local: &[f64]) -> Self {
        let mut sizes = vec![0.0; hosts as usize];
        for page in 0..graph.nodes() {
            if let Some(size) = sizes.get_mut(host(page) as usize) {
                *size += f64::from(graph.nodes()).recip();
            }
        }
        let mut weights = HashMap::new();
        for (from, to) in graph.links() {
            if host(from) < hosts && host(to) < hosts {
                let share = local[from as usize] / f64::from(graph.out_degree(from));
                *weights.entry((host(from), host(to))).or_insert(0.0) += share;
            }
        }
        let mut links: Vec<((u32, u32), f64)> = weights.into_iter().collect();
        links.sort_unstable_by_key(|(hosts, _)| *hosts);
        HostLinks { links, sizes }
    }

    fn ranks(&self, damping: f64) -> Vec<f64> {
        let mut ranks = self.sizes.clone();
        for _ in 0..HOST_ROUNDS {
            let mut next = vec![0.0; ranks.len()];
            for &((from, to), share) in &self.links {
                next[to as usize] += damping * share * ranks[from as usize];
            }
            let jumping = 1.0 - next.iter().sum::<f64>();
            next.iter_mut().zip(&self.sizes).for_each(|(rank, size)| *rank += jumping * size);
            ranks = next;
        }
        ranks
    }
}

#[cfg(test)]
mod tests {
    use evercrawl_policy::SplitMix64;

    use super::*;
    use crate::pagerank_from;

    /// Hosts of 50 pages; nine links of ten stay on their host and tend to its first pages.
    fn web(hosts: u32) -> (Graph, Vec<u32>) {
        let (pages, mut dice) = (hosts * 50, SplitMix64::new(11));
        let host_of: Vec<u32> = (0..pages).map(|page| page / 50).collect();
        let mut link = |page: u32| {
            let near = dice.uniform() < 0.9;
            let host =
                if near { page / 50 } else { (f64::from(hosts) * dice.uniform().powi(3)) as u32 };
            (page, host * 50 + (50.0 * dice.uniform().powi(2)) as u32)
        };
        let links: Vec<(u32, u32)> = (0..pages * 8).map(|n| link(n / 8)).collect();
        (Graph::new(pages, links.iter().copied(), Repeats::Once), host_of)
    }

    #[test]
    fn beginning_with_hosts_is_nearer_to_the_truth_than_beginning_with_all_alike() {
        let (graph, host_of) = web(200);
        let settings = RankSettings { tolerance: 1e-6, ..RankSettings::default() };
        let truth = pagerank(&graph, JumpWeights::Anywhere, &settings);
        let start = host_start(&graph, &host_of, 200, &settings);
        assert!((start.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        let off = |ranks: &[f64]| -> f64 {
            ranks.iter().zip(&truth.scores).map(|(a, b)| (a - b).abs()).sum()
        };
        let alike = vec![1.0 / 10_000.0; 10_000];
        assert!(off(&start) < off(&alike) / 5.0, "{} and {}", off(&start), off(&alike));
        let quicker = pagerank_from(&graph, JumpWeights::Anywhere, &settings, &start);
        assert!(quicker.rounds < truth.rounds && off(&quicker.scores) < 2e-6);
    }

    #[test]
    fn pages_without_a_host_begin_with_nothing() {
        let (graph, _) = web(2);
        let start = host_start(&graph, &[0, 0, 1, 7], 2, &RankSettings::default());
        assert!(start[..3].iter().all(|rank| *rank > 0.0));
        assert!(start[3..].iter().all(|rank| *rank == 0.0));
    }
}
