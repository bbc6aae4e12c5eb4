//! How soon does each order of discovery come to what matters?
//!
//! A crawl of a world's links begins with its roots and fetches every page once. What it has collected
//! after so many pages, as a share of what there is, is its curve.

use evercrawl_rank::{
    DiscoveryOrder, DiscoverySimulation, Graph, JumpWeights, RankSettings, Repeats, Topic,
    pagerank, reach,
};
use evercrawl_sites::{Server, roots_of};
use serde::Serialize;

use crate::LabWorld;

/// Shares of all pages at which curves are read.
const MARKS: [f64; 9] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0];
/// The share of pages, those of highest rank, that count as top.
const TOP: f64 = 0.1;
/// The most places that a crawl begins with.
const MOST_ROOTS: usize = 50;
/// How many pages are tried, where one is looked for that leads to most others.
const CANDIDATES: usize = 30;

/// What one order collected of a world.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CollectedGraph {
    /// The world.
    pub world: String,
    /// The order's name.
    pub ordering: &'static str,
    /// Pages that live when the world is scored first.
    pub pages: usize,
    /// Those among them that links lead to.
    pub reached: usize,
    /// What was collected by when.
    pub curve: Vec<CoveragePoint>,
    /// The mean of the curve's rank over all fetches: 1 if all rank came with the first.
    pub mean_rank: f64,
    /// The same of good pages.
    pub mean_good: f64,
}

/// A point of a curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CoveragePoint {
    /// Fetches so far, as a share of all pages.
    pub fetched: f64,
    /// The share of all PageRank on the pages fetched.
    pub rank: f64,
    /// The share of the pages fetched among the tenth of highest PageRank.
    pub top: f64,
    /// The share of all value on the pages fetched, if the world has values.
    pub worth: f64,
    /// The share of the pages fetched that the user would call good: those that were named, else the tenth
    /// of highest PageRank.
    pub good: f64,
}

/// A web to discover: the links of a world as they are when it is scored first.
pub struct Territory {
    name: String,
    links: Vec<Vec<u32>>,
    roots: Vec<u32>,
    sites: Vec<u32>,
    urls: Vec<String>,
    /// How much each page is about the topic, by its address.
    likeness: Vec<f64>,
    /// Rank, whether it is a top page, value, and whether it is good; each column sums to 1.
    shares: Vec<[f64; 4]>,
}

impl Territory {
    /// The territory of a world; `None` where it has no links.
    ///
    /// Sites are hosts; those of a world that is one host are its directories.
    pub fn new(world: &LabWorld) -> Option<Self> {
        let server = world.server.as_ref().filter(|server| server.total_links() > 0)?;
        let lives = |page: &u32| world.pages[*page as usize].lives(world.span.from);
        let living: Vec<u32> = (0..world.pages.len() as u32).filter(lives).collect();
        let mut places = vec![u32::MAX; world.pages.len()];
        (0..).zip(&living).for_each(|(place, &page)| places[page as usize] = place);
        let links: Vec<Vec<u32>> = living
            .iter()
            .map(|&page| {
                let places = server.links(page).iter().map(|&to| places[to as usize]);
                places.filter(|place| *place != u32::MAX).collect()
            })
            .collect();
        let site = |&page: &u32| match world.hosts.len() {
            0 | 1 => server.directory(page),
            _ => world.pages[page as usize].host,
        };
        let worth: Vec<f64> =
            living.iter().map(|&page| f64::from(world.pages[page as usize].weight)).collect();
        Some(Territory {
            name: world.name.clone(),
            roots: roots(fronts(world, server, &living), &links),
            sites: living.iter().map(site).collect(),
            urls: living
                .iter()
                .filter_map(|&page| world.urls.get(page as usize).cloned())
                .collect(),
            likeness: vec![0.0; living.len()],
            shares: shares(&links, &worth),
            links,
        })
    }

    /// Names the pages that the user would call good, by their addresses; false where none is, or where
    /// pages have none.
    pub fn call_good(&mut self, is_good: impl Fn(&str) -> bool) -> bool {
        let good: Vec<bool> = self.urls.iter().map(|url| is_good(url)).collect();
        let count = good.iter().filter(|good| **good).count();
        if good.len() != self.shares.len() || count == 0 {
            return false;
        }
        for (share, good) in self.shares.iter_mut().zip(good) {
            share[3] = f64::from(u8::from(good)) / count as f64;
        }
        true
    }

    /// Sets the topic; false when no address matches it.
    pub fn set_topic(&mut self, topic: &Topic) -> bool {
        let likeness: Vec<f64> = self.urls.iter().map(|url| topic.match_text(url)).collect();
        let speaks = likeness.iter().any(|likeness| *likeness > 0.0);
        if speaks && likeness.len() == self.shares.len() {
            self.likeness = likeness;
        }
        speaks
    }

    /// Crawls it in an order.
    pub fn collect(&self, ordering: &'static str, order: DiscoveryOrder) -> CollectedGraph {
        let mut discovery = match order {
            DiscoveryOrder::Topic => DiscoverySimulation::about(self.likeness.clone()),
            _ => DiscoverySimulation::new(order, &self.sites),
        };
        self.roots.iter().for_each(|&root| discovery.seed(root));
        let pages = self.links.len();
        let mut sums = vec![[0.0; 4]];
        let mut total = [0.0; 4];
        while let Some(page) = discovery.next_page() {
            discovery.record_fetch(page, &self.links[page as usize]);
            let gained = self.shares[page as usize];
            (0..4).for_each(|kind| total[kind] += gained[kind]);
            sums.push(total);
        }
        let reached = sums.len() - 1;
        let point = |&mark: &f64| {
            let fetches = ((mark * pages as f64).round() as usize).min(reached);
            let [rank, top, worth, good] = sums[fetches];
            CoveragePoint { fetched: fetches as f64 / pages as f64, rank, top, worth, good }
        };
        let mean = |kind: usize| {
            sums[1..].iter().map(|sum| sum[kind]).sum::<f64>() / reached.max(1) as f64
        };
        let (mean_rank, mean_good) = (mean(0), mean(3));
        let curve = MARKS.iter().map(point).collect();
        CollectedGraph {
            world: self.name.clone(),
            ordering,
            pages,
            reached,
            curve,
            mean_rank,
            mean_good,
        }
    }
}

/// The front page of every host, by its place among the living.
fn fronts(world: &LabWorld, server: &Server, living: &[u32]) -> Vec<u32> {
    let urls: Vec<&str> =
        living.iter().filter_map(|&page| Some(world.urls.get(page as usize)?.as_str())).collect();
    if urls.len() == living.len() {
        return roots_of(&urls);
    }
    let is_front = |&(_, page): &(u32, &u32)| server.depth(*page) == 0;
    (0..).zip(living).filter(is_front).map(|(place, _)| place).collect()
}

/// Where a reader enters: the fronts of all hosts.
///
/// Some recorded fronts lead nowhere, their links being made by what is not recorded. So as long as
/// less than half of the pages can be reached, a page is added that leads to most of the others.
fn roots(fronts: Vec<u32>, links: &[Vec<u32>]) -> Vec<u32> {
    let mut roots = fronts;
    let reach = reach(&graph(links), &RankSettings::default()).scores;
    let mut found = vec![false; links.len()];
    let mut count = roots.iter().map(|&root| mark(root, links, &mut found)).sum::<usize>();
    while 2 * count < links.len() && roots.len() < MOST_ROOTS {
        let mut unreached: Vec<u32> =
            (0..links.len() as u32).filter(|&page| !found[page as usize]).collect();
        unreached.sort_by(|a, b| reach[*b as usize].total_cmp(&reach[*a as usize]));
        unreached.truncate(CANDIDATES);
        // The first of those that lead to most.
        let best =
            unreached.into_iter().rev().max_by_key(|&page| mark(page, links, &mut found.clone()));
        let Some(best) = best else { break };
        count += mark(best, links, &mut found);
        roots.push(best);
    }
    roots
}

/// Marks all unmarked pages reachable from a page; returns how many.
fn mark(from: u32, links: &[Vec<u32>], found: &mut [bool]) -> usize {
    let mut waiting = vec![from];
    let mut count = 0;
    while let Some(page) = waiting.pop() {
        if !std::mem::replace(&mut found[page as usize], true) {
            count += 1;
            waiting.extend(&links[page as usize]);
        }
    }
    count
}

fn graph(links: &[Vec<u32>]) -> Graph {
    let edges = (0u32..).zip(links).flat_map(|(from, to)| to.iter().map(move |&to| (from, to)));
    Graph::new(links.len() as u32, edges, Repeats::Once)
}

fn shares(links: &[Vec<u32>], worth: &[f64]) -> Vec<[f64; 4]> {
    let ranks = pagerank(&graph(links), JumpWeights::Anywhere, &RankSettings::default()).scores;
    let mut sorted = ranks.clone();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let count = ((TOP * ranks.len() as f64).ceil() as usize).max(1);
    let least = sorted.get(count - 1).copied().unwrap_or(0.0);
    let tops = ranks.iter().filter(|rank| **rank >= least).count() as f64;
    let total: f64 = worth.iter().sum();
    let share = |(rank, worth): (f64, &f64)| {
        let top = if rank >= least { tops.recip() } else { 0.0 };
        [rank, top, worth / total, top]
    };
    ranks.into_iter().zip(worth).map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WorldSource;
    use crate::synthetic::WorldSpec;

    fn territory() -> Territory {
        let text = "pages = 2000\nhosts = 4\nhost_skew = 1\ndirectories = 10\nlinks = 3\n\
                    [[class]]\nshare = 1\nrate = 1\n";
        let spec = Box::new(WorldSpec::parse("t.toml", text).unwrap());
        let world = WorldSource::Made { name: "t".to_owned(), spec }.world(1, 0.0).unwrap();
        Territory::new(&world).unwrap()
    }

    #[test]
    fn curves_rise_to_all_that_can_be_reached() {
        let territory = territory();
        for order in [DiscoveryOrder::BreadthFirst, DiscoveryOrder::PageRank, DiscoveryOrder::Opic]
        {
            let collected = territory.collect("x", order);
            let whole = collected.curve.last().unwrap();
            assert!(2 * collected.reached >= collected.pages, "{collected:?}");
            assert!(whole.rank > 0.5 && whole.rank <= 1.0 + 1e-9, "{whole:?}");
            assert!(collected.curve.windows(2).all(|pair| pair[0].rank <= pair[1].rank));
            assert!(collected.mean_rank > 0.5 * whole.rank, "{}", collected.mean_rank);
        }
    }

    #[test]
    fn knowing_the_graph_beats_the_order_found() {
        let territory = territory();
        let mean = |order| territory.collect("x", order).mean_rank;
        assert!(mean(DiscoveryOrder::PageRank) > mean(DiscoveryOrder::BreadthFirst));
    }
}
