//! Discovers a made web with hosts of all sizes and few that most links lead to, in every order, and
//! says what share of its PageRank each has found by when:
//! `cargo run --release -p evercrawl-rank --example orders [pages] [large-are-famous]`.
#![allow(clippy::print_stdout, reason = "a benchmark tells what it measured")]

use evercrawl_policy::SplitMix64;
use evercrawl_rank::{Discovery, Graph, Jump, Order, Repeats, Settings, pagerank};

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
            fame.sort_by_key(|&host| std::cmp::Reverse(web.size(host)));
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
    let pages = std::env::args().nth(1).and_then(|arg| arg.parse().ok()).unwrap_or(1_000_000);
    let web =
        Web::new(pages, 1, std::env::args().nth(2).is_some_and(|arg| arg == "large-are-famous"));
    let edges =
        (0u32..).zip(&web.links).flat_map(|(from, links)| links.iter().map(move |&to| (from, to)));
    let graph = Graph::new(web.links.len() as u32, edges, Repeats::Once);
    let ranks = pagerank(&graph, Jump::Anywhere, &Settings::default()).scores;
    println!(
        "{} pages on {} hosts, {} links",
        graph.nodes(),
        web.fronts.len() - 1,
        graph.link_count()
    );
    println!(
        "{:<14} {:>7} {:>7} {:>7} {:>7} {:>7} {:>7}",
        "rank found at", "1 %", "2 %", "5 %", "10 %", "20 %", "50 %"
    );
    for (name, order) in [
        ("bfs", Order::BreadthFirst),
        ("indegree", Order::InDegree),
        ("pagerank", Order::PageRank),
        ("opic", Order::Opic),
        ("larger-sites", Order::LargerSites),
    ] {
        let found = discover(&web, order, &ranks);
        let at = |share: f64| {
            100.0 * found[((share * found.len() as f64) as usize).min(found.len() - 1)]
        };
        let shares: Vec<String> =
            [0.01, 0.02, 0.05, 0.1, 0.2, 0.5].map(|share| format!("{:>5.1} %", at(share))).to_vec();
        println!("{name:<14} {}", shares.join(" "));
    }
}

/// The rank found after each fetch.
fn discover(web: &Web, order: Order, ranks: &[f64]) -> Vec<f64> {
    let mut discovery = Discovery::new(order, &web.host_of);
    let hosts = web.fronts.len() - 1;
    (0..SEEDS).for_each(|seed| discovery.seed(web.fronts[seed * hosts / SEEDS]));
    let (mut found, mut sum) = (Vec::new(), 0.0);
    while let Some(page) = discovery.next_page() {
        discovery.fetched(page, &web.links[page as usize]);
        sum += ranks[page as usize];
        found.push(sum);
    }
    found
}
