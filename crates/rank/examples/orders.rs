//! Discovers a made web with hosts of all sizes and few that most links lead to, in every order, and
//! says what share of its PageRank each has found by when:
//! `cargo run --release -p evercrawl-rank --example orders [pages] [large-are-famous] [pause=N]`, where each host is
//! asked once in N fetches at most.
#![allow(clippy::print_stdout, reason = "a benchmark tells what it measured")]

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};

use evercrawl_policy::SplitMix64;
use evercrawl_rank::{
    DiscoveryOrder, DiscoverySimulation, Graph, JumpWeights, RankSettings, Repeats, pagerank,
};

/// Links of a page.
const LINKS: u32 = 10;
/// Hosts that a crawl begins with.
const SEEDS: usize = 10;

/// Hosts one after the other, pages one after the other within them, the front first.
struct Web {
    /// The first page of each host; one more at the end.
    fronts: Vec<u32>,
    host_of: Vec<u32>,
    links: Vec<Vec<u32>>,
}

impl Web {
    fn new(pages: u32, seed: u64, large_are_famous: bool) -> Self {
        let mut dice = SplitMix64::new(seed);
        let (mut fronts, mut host_of) = (vec![0], Vec::new());
        while (host_of.len() as u32) < pages {
            // Pareto: most hosts are small, a few hold thousands of pages.
            let size = (4.0 * dice.uniform().powf(-0.9)).min(f64::from(pages) / 20.0) as usize;
            host_of.resize(host_of.len() + size, fronts.len() as u32 - 1);
            fronts.push(host_of.len() as u32);
        }
        let mut web = Web { fronts, host_of, links: Vec::new() };
        let mut fame = web.fame(&mut dice);
        if large_are_famous {
            fame.sort_by_key(|&host| Reverse(web.size(host)));
        }
        web.links =
            (0..web.host_of.len() as u32).map(|page| web.draw(page, &fame, &mut dice)).collect();
        web
    }

    fn size(&self, host: u32) -> u32 {
        self.fronts[host as usize + 1] - self.fronts[host as usize]
    }

    /// Hosts by fame, which has nothing to do with their size.
    fn fame(&self, dice: &mut SplitMix64) -> Vec<u32> {
        let mut hosts: Vec<u32> = (0..self.fronts.len() as u32 - 1).collect();
        let count = hosts.len();
        dice.shuffle_front(&mut hosts, count);
        hosts
    }

    /// Three links of four stay on the host and tend to its front; the others go to hosts by fame, half of
    /// them to the front. The next page is always linked, so that all can be reached.
    fn draw(&self, page: u32, fame: &[u32], dice: &mut SplitMix64) -> Vec<u32> {
        let host = self.host_of[page as usize];
        let end = self.fronts[host as usize + 1];
        let mut links: Vec<u32> = (page + 1 < end).then_some(page + 1).into_iter().collect();
        for _ in 0..LINKS {
            let near = dice.uniform() < 0.75;
            let famous = fame[(fame.len() as f64 * dice.uniform().powi(3)) as usize];
            let host = if near { host } else { famous };
            let size = f64::from(self.size(host));
            let deep = near || dice.uniform() < 0.5;
            let place = if deep { (size * dice.uniform().powi(2)) as u32 } else { 0 };
            links.push(self.fronts[host as usize] + place);
        }
        links
    }
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let pages = args.first().and_then(|arg| arg.parse().ok()).unwrap_or(1_000_000);
    let web = Web::new(pages, 1, args.iter().any(|arg| arg == "large-are-famous"));
    let pause = args.iter().find_map(|arg| arg.strip_prefix("pause=")?.parse().ok()).unwrap_or(0);
    let edges =
        (0u32..).zip(&web.links).flat_map(|(from, links)| links.iter().map(move |&to| (from, to)));
    let graph = Graph::new(web.links.len() as u32, edges, Repeats::Once);
    let ranks = pagerank(&graph, JumpWeights::Anywhere, &RankSettings::default()).scores;
    println!(
        "{} pages on {} hosts, {} links",
        graph.nodes(),
        web.fronts.len() - 1,
        graph.link_count()
    );
    println!(
        "{:<14} {:>7} {:>7} {:>7} {:>7} {:>7} {:>7}   hosts at 5 %  ten most  moments a page",
        "rank found at", "1 %", "2 %", "5 %", "10 %", "20 %", "50 %"
    );
    for (name, order) in [
        ("bfs", DiscoveryOrder::BreadthFirst),
        ("indegree", DiscoveryOrder::InDegree),
        ("pagerank", DiscoveryOrder::PageRank),
        ("opic", DiscoveryOrder::Opic),
        ("larger-sites", DiscoveryOrder::LargerSites),
    ] {
        let (fetched, moments) = discover(&web, order, pause);
        let took = moments as f64 / fetched.len() as f64;
        println!(
            "{name:<14} {}   {} {took:>15.1}",
            shares(&fetched, &ranks),
            breadth(&web, &fetched)
        );
    }
}

/// The share of rank found by when, in fetches as a share of all pages.
fn shares(fetched: &[u32], ranks: &[f64]) -> String {
    let found: Vec<f64> = fetched
        .iter()
        .scan(0.0, |sum, &page| {
            *sum += ranks[page as usize];
            Some(*sum)
        })
        .collect();
    let at = |share: f64| found[((share * found.len() as f64) as usize).min(found.len() - 1)];
    [0.01, 0.02, 0.05, 0.1, 0.2, 0.5].map(|share| format!("{:>5.1} %", 100.0 * at(share))).join(" ")
}

/// Over how many hosts the first twentieth of all fetches is spread, and the share of the ten hosts asked most.
fn breadth(web: &Web, fetched: &[u32]) -> String {
    let first = &fetched[..fetched.len() / 20];
    let mut asked: HashMap<u32, usize> = HashMap::new();
    first.iter().for_each(|&page| *asked.entry(web.host_of[page as usize]).or_default() += 1);
    let mut counts: Vec<usize> = asked.into_values().collect();
    counts.sort_unstable_by_key(|&count| Reverse(count));
    let most: usize = counts.iter().take(10).sum();
    format!("{:>12}  {:>6.1} %", counts.len(), 100.0 * most as f64 / first.len().max(1) as f64)
}

/// Pages in the order in which they are fetched, one a moment and no two of a host within `pause` moments; and how many
/// moments that took, those included in which no host could be asked.
fn discover(web: &Web, order: DiscoveryOrder, pause: usize) -> (Vec<u32>, usize) {
    let mut discovery = DiscoverySimulation::new(order, &web.host_of);
    let hosts = web.fronts.len() - 1;
    (0..SEEDS).for_each(|seed| discovery.seed(web.fronts[seed * hosts / SEEDS]));
    let mut pace = Pace {
        pause,
        now: 0,
        rested: HashMap::new(),
        held: BinaryHeap::new(),
        pages: HashMap::new(),
    };
    let mut fetched = Vec::new();
    while let Some(page) = pace.next(web, &mut discovery) {
        discovery.record_fetch(page, &web.links[page as usize]);
        fetched.push(page);
    }
    (fetched, pace.now)
}

/// Which hosts must not be asked yet?
struct Pace {
    pause: usize,
    now: usize,
    /// From when on each host that was asked may be asked again.
    rested: HashMap<u32, usize>,
    /// Pages whose turn came while their host rested: first its end, then they.
    held: BinaryHeap<Reverse<(usize, u32)>>,
    pages: HashMap<u32, VecDeque<u32>>,
}

impl Pace {
    fn next(&mut self, web: &Web, discovery: &mut DiscoverySimulation) -> Option<u32> {
        self.now += 1;
        let page = loop {
            if let Some(page) = self.rested_page() {
                break page;
            }
            let Some(page) = discovery.next_page() else {
                // Nothing else is left: time passes until a host has rested.
                let Reverse((at, _)) = *self.held.peek()?;
                self.now = at;
                continue;
            };
            let host = web.host_of[page as usize];
            let at = self.rested.get(&host).copied().unwrap_or(0);
            if at <= self.now && !self.pages.contains_key(&host) {
                break page;
            }
            let line = self.pages.entry(host).or_default();
            if line.is_empty() {
                self.held.push(Reverse((at, host)));
            }
            line.push_back(page);
        };
        self.rested.insert(web.host_of[page as usize], self.now + self.pause);
        Some(page)
    }

    /// A page that was held, of a host that has rested.
    fn rested_page(&mut self) -> Option<u32> {
        let &Reverse((_, host)) = self.held.peek().filter(|Reverse((at, _))| *at <= self.now)?;
        self.held.pop();
        let line = self.pages.get_mut(&host)?;
        let page = line.pop_front();
        if line.is_empty() {
            self.pages.remove(&host);
        } else {
            self.held.push(Reverse((self.now + self.pause, host)));
        }
        page
    }
}
