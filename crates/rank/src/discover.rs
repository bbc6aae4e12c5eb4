//! In which order should linked pages be fetched, so that important ones come first?
//!
//! Cho, Garcia-Molina and Page (1998) compared the first three orders, Baeza-Yates, Castillo, Marin and
//! Rodriguez (2005) the first five. All of them know only the links of the pages fetched so far.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, HashMap, VecDeque};

use crate::{Graph, JumpWeights, OpicSimulation, RankSettings, Repeats, pagerank_from, topic};

/// Who comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiscoveryOrder {
    /// First discovered, first fetched.
    BreadthFirst,
    /// Most in-links from pages fetched so far.
    InDegree,
    /// Highest rank in the known graph, which is ranked again from time to time.
    PageRank,
    /// Most cash (see [`OpicSimulation`]).
    Opic,
    /// Any page of the site that most pages are waiting of: a large site takes longest, so it must not
    /// be what is left at the end.
    LargerSites,
    /// Whoever is likely to be about the topic, by its address and by the pages that link to it (see
    /// [`crate::topic`]).
    Topic,
}

/// Pages found and not fetched yet, in a [`DiscoveryOrder`].
#[derive(Clone, Debug)]
pub struct DiscoverySimulation {
    pages: Vec<DiscoveredPage>,
    found: u64,
    waiting: WaitingPages,
}

#[derive(Clone, Copy, Debug)]
struct DiscoveredPage {
    site: u32,
    /// When it was found, counted; 0 while it is not.
    found: u64,
    fetched: bool,
    value: f64,
}

/// What each order keeps.
#[derive(Clone, Debug)]
enum WaitingPages {
    Line(VecDeque<u32>),
    Sites(Sites),
    ByLinks(BinaryHeap<HeapEntry>),
    ByRank(Box<Ranked>),
    ByCash { heap: BinaryHeap<HeapEntry>, opic: Box<OpicSimulation>, accounts: Vec<u32> },
    ByTopic { heap: BinaryHeap<HeapEntry>, likeness: Vec<f64> },
}

impl DiscoverySimulation {
    /// Nothing found yet, of pages whose sites are `sites`.
    pub fn new(order: DiscoveryOrder, sites: &[u32]) -> Self {
        let page = |&site: &u32| DiscoveredPage { site, found: 0, fetched: false, value: 0.0 };
        let waiting = match order {
            DiscoveryOrder::BreadthFirst => WaitingPages::Line(VecDeque::new()),
            DiscoveryOrder::LargerSites => WaitingPages::Sites(Sites::default()),
            DiscoveryOrder::InDegree => WaitingPages::ByLinks(BinaryHeap::new()),
            DiscoveryOrder::PageRank => WaitingPages::ByRank(Box::default()),
            DiscoveryOrder::Opic => WaitingPages::ByCash {
                heap: BinaryHeap::new(),
                // For ever: while pages are being discovered, each is visited once.
                opic: Box::new(OpicSimulation::new(RankSettings::default().damping, f64::INFINITY)),
                accounts: vec![0; sites.len()],
            },
            DiscoveryOrder::Topic => Self::by_topic(vec![0.0; sites.len()]),
        };
        DiscoverySimulation { pages: sites.iter().map(page).collect(), found: 0, waiting }
    }

    /// Nothing found yet, of pages that are about a topic so much, from 0 to 1, which is told by their
    /// addresses before they are fetched.
    pub fn about(likeness: Vec<f64>) -> Self {
        let page = DiscoveredPage { site: 0, found: 0, fetched: false, value: 0.0 };
        let pages = vec![page; likeness.len()];
        DiscoverySimulation { pages, found: 0, waiting: Self::by_topic(likeness) }
    }

    fn by_topic(likeness: Vec<f64>) -> WaitingPages {
        WaitingPages::ByTopic { heap: BinaryHeap::new(), likeness }
    }

    /// Begins with a page that is known without a link.
    pub fn seed(&mut self, page: u32) {
        if self.is_new(page) {
            self.enter(page, true);
        }
    }

    /// The page to fetch next.
    pub fn next_page(&mut self) -> Option<u32> {
        let pages = &self.pages;
        let next = match &mut self.waiting {
            WaitingPages::Line(line) => line.pop_front(),
            WaitingPages::Sites(sites) => sites.next(),
            WaitingPages::ByLinks(heap)
            | WaitingPages::ByCash { heap, .. }
            | WaitingPages::ByTopic { heap, .. } => next_of(heap, pages),
            WaitingPages::ByRank(ranked) => next_of(&mut ranked.heap, pages),
        }?;
        self.pages[next as usize].fetched = true;
        Some(next)
    }

    /// Notes what a page that was fetched links to.
    pub fn record_fetch(&mut self, page: u32, links: &[u32]) {
        if page as usize >= self.pages.len() {
            return;
        }
        let known = self.pages.len();
        let links: Vec<u32> = links.iter().copied().filter(|&to| (to as usize) < known).collect();
        for &link in &links {
            if self.is_new(link) {
                self.enter(link, false);
            }
        }
        self.value_links(page, &links);
    }

    fn is_new(&self, page: u32) -> bool {
        self.pages.get(page as usize).is_some_and(|page| page.found == 0)
    }

    fn enter(&mut self, number: u32, is_seed: bool) {
        self.found += 1;
        let page = &mut self.pages[number as usize];
        page.found = self.found;
        match &mut self.waiting {
            WaitingPages::Line(line) => line.push_back(number),
            WaitingPages::Sites(sites) => sites.add(page.site, number),
            WaitingPages::ByLinks(heap) => heap.push(HeapEntry::new(number, page)),
            WaitingPages::ByTopic { heap, likeness } => {
                page.value = topic::combine_expectations(0.0, likeness[number as usize]);
                heap.push(HeapEntry::new(number, page));
            }
            WaitingPages::ByRank(ranked) => {
                page.value = ranked.least;
                ranked.heap.push(HeapEntry::new(number, page));
            }
            WaitingPages::ByCash { heap, opic, accounts } => {
                accounts[number as usize] = if is_seed { opic.add_seed() } else { opic.add_page() };
                page.value = opic.claim(accounts[number as usize]);
                heap.push(HeapEntry::new(number, page));
            }
        }
    }

    /// Lets links from a page raise the value of where they lead.
    fn value_links(&mut self, from: u32, links: &[u32]) {
        let pages = &mut self.pages;
        match &mut self.waiting {
            WaitingPages::Line(_) | WaitingPages::Sites(_) => {}
            WaitingPages::ByLinks(heap) => raise(heap, pages, links, |page, _| page.value + 1.0),
            WaitingPages::ByCash { heap, opic, accounts } => {
                let targets: Vec<u32> = links.iter().map(|&to| accounts[to as usize]).collect();
                opic.visit(accounts[from as usize], &targets);
                raise(heap, pages, links, |_, to| opic.claim(accounts[to as usize]));
            }
            WaitingPages::ByRank(ranked) => ranked.follow(pages, from, links),
            WaitingPages::ByTopic { heap, likeness } => {
                let page = &pages[from as usize];
                let inherited = topic::inherit_expectation(likeness[from as usize], page.value);
                raise(heap, pages, links, |page, to| {
                    page.value.max(topic::combine_expectations(inherited, likeness[to as usize]))
                });
            }
        }
    }
}

/// Gives pages that wait their new values.
fn raise(
    heap: &mut BinaryHeap<HeapEntry>,
    pages: &mut [DiscoveredPage],
    links: &[u32],
    value: impl Fn(&DiscoveredPage, u32) -> f64,
) {
    for &to in links {
        let page = &mut pages[to as usize];
        page.value = value(page, to);
        if !page.fetched {
            heap.push(HeapEntry::new(to, page));
        }
    }
}

/// The page with the highest value that waits. Entries whose page has been fetched since, or has
/// another value by now, are passed over.
fn next_of(heap: &mut BinaryHeap<HeapEntry>, pages: &[DiscoveredPage]) -> Option<u32> {
    loop {
        let entry = heap.pop()?;
        let page = &pages[entry.page as usize];
        if !page.fetched && page.value == entry.value {
            return Some(entry.page);
        }
    }
}

/// A page in a heap: highest value first, then the one discovered first.
#[derive(Clone, Copy, Debug, PartialEq)]
struct HeapEntry {
    value: f64,
    found: u64,
    page: u32,
}

impl HeapEntry {
    fn new(number: u32, page: &DiscoveredPage) -> Self {
        HeapEntry { value: page.value, found: page.found, page: number }
    }
}

impl Eq for HeapEntry {}

impl PartialOrd for HeapEntry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for HeapEntry {
    fn cmp(&self, other: &Self) -> Ordering {
        self.value.total_cmp(&other.value).then(other.found.cmp(&self.found))
    }
}

/// Pages in line by site.
#[derive(Clone, Debug, Default)]
struct Sites {
    lines: HashMap<u32, VecDeque<u32>>,
    /// The number of queued pages of each site; the lower site number comes first among equals.
    heap: BinaryHeap<(usize, Reverse<u32>)>,
}

impl Sites {
    fn add(&mut self, site: u32, page: u32) {
        let line = self.lines.entry(site).or_default();
        line.push_back(page);
        self.heap.push((line.len(), Reverse(site)));
    }

    fn next(&mut self) -> Option<u32> {
        loop {
            let (waited, Reverse(site)) = self.heap.pop()?;
            let Some(line) = self.lines.get_mut(&site) else { continue };
            if line.len() == waited {
                let page = line.pop_front();
                if !line.is_empty() {
                    self.heap.push((line.len(), Reverse(site)));
                }
                return page;
            }
        }
    }
}

/// Pages by rank in the known graph.
#[derive(Clone, Debug, Default)]
struct Ranked {
    heap: BinaryHeap<HeapEntry>,
    links: Vec<(u32, u32)>,
    fetched: usize,
    /// The rank of a page without known in-links.
    least: f64,
    /// How many pages must be fetched before the graph is ranked again.
    next_ranking: usize,
}

/// Enough to order by.
const ROUGHLY: RankSettings =
    RankSettings { damping: 0.85, tolerance: 1e-4, most_rounds: 100, threads: 1 };
/// The fewest pages between two rankings, and the fewest as a share of all pages and of those fetched.
const BATCH: usize = 50;
const SHARE_OF_ALL: usize = 1000;
const SHARE_OF_FETCHED: usize = 10;

impl Ranked {
    /// Between two rankings a page keeps its rank, plus what the links found since pass on to it.
    fn follow(&mut self, pages: &mut [DiscoveredPage], from: u32, links: &[u32]) {
        self.fetched += 1;
        self.links.extend(links.iter().map(|&to| (from, to)));
        if self.fetched >= self.next_ranking {
            self.rank(pages);
        } else {
            let share = ROUGHLY.damping * pages[from as usize].value / links.len().max(1) as f64;
            raise(&mut self.heap, pages, links, |page, _| page.value + share);
        }
    }

    fn rank(&mut self, pages: &mut [DiscoveredPage]) {
        let batch = BATCH.max(pages.len() / SHARE_OF_ALL).max(self.fetched / SHARE_OF_FETCHED);
        self.next_ranking = self.fetched + batch;
        let nodes = u32::try_from(pages.len()).unwrap_or(u32::MAX);
        let graph = Graph::new(nodes, self.links.iter().copied(), Repeats::Once);
        let before: Vec<f64> = pages.iter().map(|page| page.value).collect();
        let ranking = pagerank_from(&graph, JumpWeights::Anywhere, &ROUGHLY, &before);
        self.least = ranking.scores.iter().copied().fold(f64::INFINITY, f64::min);
        self.heap.clear();
        for ((number, page), rank) in (0..).zip(pages).zip(ranking.scores) {
            page.value = rank;
            if page.found > 0 && !page.fetched {
                self.heap.push(HeapEntry::new(number, page));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::random_graph;

    const ALL: [DiscoveryOrder; 6] = [
        DiscoveryOrder::BreadthFirst,
        DiscoveryOrder::InDegree,
        DiscoveryOrder::PageRank,
        DiscoveryOrder::Opic,
        DiscoveryOrder::LargerSites,
        DiscoveryOrder::Topic,
    ];

    fn walk(order: DiscoveryOrder, sites: &[u32], links: &[Vec<u32>]) -> Vec<u32> {
        let mut discovery = DiscoverySimulation::new(order, sites);
        discovery.seed(0);
        let mut fetched = Vec::new();
        while let Some(page) = discovery.next_page() {
            discovery.record_fetch(page, &links[page as usize]);
            fetched.push(page);
        }
        fetched
    }

    #[test]
    fn every_order_fetches_all_that_can_be_reached_and_nothing_twice() {
        let graph = random_graph(4, 600, 3000).reversed();
        let links: Vec<Vec<u32>> = (0..600).map(|page| graph.sources(page).to_vec()).collect();
        let sites: Vec<u32> = (0..600).map(|page| page / 50).collect();
        let mut reached = walk(DiscoveryOrder::BreadthFirst, &sites, &links);
        reached.sort_unstable();
        assert!(reached.len() > 300);
        for order in ALL {
            let mut fetched = walk(order, &sites, &links);
            assert_eq!(fetched, walk(order, &sites, &links), "{order:?}");
            fetched.sort_unstable();
            assert_eq!(fetched, reached, "{order:?}");
        }
    }

    /// 0 links to 1..=4; 4, 3 and 2 link to 6, 1 to 5. Pages 3, 4 and 6 are one site.
    fn example(order: DiscoveryOrder) -> Vec<u32> {
        let links = [vec![1, 2, 3, 4], vec![5], vec![6], vec![6], vec![6, 5], vec![], vec![]];
        walk(order, &[0, 1, 2, 3, 3, 4, 3], &links)
    }

    #[test]
    fn orders_are_those_of_their_names() {
        assert_eq!(example(DiscoveryOrder::BreadthFirst), [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(example(DiscoveryOrder::InDegree), [0, 1, 2, 3, 6, 4, 5]);
        // Site 3 has two pages waiting, then its last, then a new one.
        assert_eq!(example(DiscoveryOrder::LargerSites)[..2], [0, 3]);
        // Page 5 has all that page 1 had, and that is as much as 2, 3 and 4 have; less what jumps.
        assert_eq!(example(DiscoveryOrder::Opic)[..2], [0, 1]);
        let place = |page: u32| example(DiscoveryOrder::Opic).iter().position(|&p| p == page);
        assert!(place(6) < place(4));
    }

    #[test]
    fn what_leads_to_the_topic_comes_before_what_leads_elsewhere() {
        // 0 links to 1..=4; 4 is about the topic and leads by 5, which is not, to 6, which is.
        let links = [vec![1, 2, 3, 4], vec![], vec![], vec![], vec![5], vec![6], vec![]];
        let mut discovery = DiscoverySimulation::about(vec![0.0, 0.0, 0.0, 0.0, 0.5, 0.0, 0.5]);
        discovery.seed(0);
        let mut fetched = Vec::new();
        while let Some(page) = discovery.next_page() {
            discovery.record_fetch(page, &links[page as usize]);
            fetched.push(page);
        }
        assert_eq!(fetched, [0, 4, 5, 6, 1, 2, 3]);
    }

    #[test]
    fn strangers_do_no_harm() {
        for order in ALL {
            let mut discovery = DiscoverySimulation::new(order, &[0, 9]);
            discovery.seed(7);
            discovery.seed(0);
            discovery.seed(0);
            assert_eq!(discovery.next_page(), Some(0));
            discovery.record_fetch(0, &[0, 1, 1, 8]);
            discovery.record_fetch(8, &[1]);
            assert_eq!(
                (discovery.next_page(), discovery.next_page()),
                (Some(1), None),
                "{order:?}"
            );
        }
    }
}
