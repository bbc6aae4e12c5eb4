//! Who links to whom, among the pages that are known? The kept links as a compact graph in memory.

use std::ops::Range;

use evercrawl_model::{HostKey, Kind, PageKey};
use evercrawl_rank::{Graph, Repeats};
use evercrawl_state::{PageRow, PageStatus, StateError, Store, View};

use crate::suspicion::Suspects;

/// The pages of a crawl as the nodes of a graph, and the links between them.
///
/// A node is a page that was or will be fetched. Pages that are gone, refused or out of scope are left
/// out, with the links to them; a page whose links were not read yet has none. Nodes are numbered in the
/// order of their keys, so that a page is found by its host and then among the host's hashes: eight
/// bytes a page, and four a link.
#[derive(Debug)]
pub struct LinkGraph {
    /// Every host, and the number of its first page.
    hosts: Vec<(HostKey, u32)>,
    urls: Vec<u64>,
    graph: Graph,
}

/// What a page and a link take at most while a graph is read and ranked, in bytes: lists that grow, the graph, the graph
/// without what spam says, ranks and earlier ranks.
const BYTES_A_PAGE: u64 = 64;
const BYTES_A_LINK: u64 = 12;

/// As much of a graph as there is memory for.
#[derive(Debug)]
pub enum Fitting {
    /// All of it.
    Whole(LinkGraph),
    /// Its pages, without links.
    Pages(LinkGraph),
    /// There are too many pages.
    Nothing,
}

impl LinkGraph {
    /// Reads the graph from what a crawl has kept. While it is read, a link takes eight bytes.
    pub fn read<S: Store>(state: &View<S>) -> Result<Self, StateError> {
        match Self::read_within(state, u64::MAX)? {
            Fitting::Whole(links) | Fitting::Pages(links) => Ok(links),
            Fitting::Nothing => Ok(Self::default()),
        }
    }

    /// Reads what can be ranked in so many bytes of memory.
    pub fn read_within<S: Store>(state: &View<S>, memory: u64) -> Result<Fitting, StateError> {
        let mut read = Self::default();
        for page in state.pages() {
            let (key, row) = page?;
            if is_node(&row) {
                read.add(key);
            }
            if read.bytes(0) > memory {
                return Ok(Fitting::Nothing);
            }
        }
        let Some(links) = read.targets(state, memory)? else { return Ok(Fitting::Pages(read)) };
        read.graph = Graph::new(read.nodes(), links.iter(), Repeats::Once);
        Ok(Fitting::Whole(read))
    }

    /// What this takes at most while it is ranked, with so many links, in bytes.
    fn bytes(&self, links: usize) -> u64 {
        BYTES_A_PAGE * self.urls.len() as u64 + BYTES_A_LINK * links as u64
    }

    /// How many pages link to each, counted link by link, so that none need be in memory; those of suspect hosts count
    /// for nothing.
    pub fn count<S: Store>(
        &self,
        state: &View<S>,
        suspects: &Suspects,
    ) -> Result<Vec<u32>, StateError> {
        let mut counts = vec![0u32; self.urls.len()];
        for row in state.all_links() {
            let (page, links) = row?;
            if self.node(page).is_none() || suspects.contains(page.host) {
                continue;
            }
            for to in links.into_iter().filter_map(|to| self.node(to)) {
                counts[to as usize] = counts[to as usize].saturating_add(1);
            }
        }
        Ok(counts)
    }

    /// The same without the links of hosts that only pretend to be of use.
    pub fn deaf_to(mut self, suspects: &Suspects) -> Self {
        if suspects.count() > 0 {
            let marks = (0..self.nodes()).map(|node| {
                let page = self.page(node);
                page.is_some_and(|page| suspects.contains(page.host))
            });
            self.graph = self.graph.without(&marks.collect::<Vec<_>>());
        }
        self
    }

    /// The part of it whose pages are marked, with the links between these.
    pub fn only(&self, keep: &[bool]) -> Self {
        let mut part = Self::default();
        let mut numbers = vec![u32::MAX; keep.len()];
        for (node, _) in (0..).zip(keep).filter(|(_, keep)| **keep) {
            if let (Some(page), Some(number)) = (self.page(node), numbers.get_mut(node as usize)) {
                *number = part.nodes();
                part.add(page);
            }
        }
        let number = |node: u32| numbers.get(node as usize).copied().unwrap_or(u32::MAX);
        let links = self.graph.links().map(|(from, to)| (number(from), number(to)));
        part.graph = Graph::new(part.nodes(), links, Repeats::Each);
        part
    }

    /// The links between its pages, by the pages' numbers.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The page of a number.
    pub fn page(&self, node: u32) -> Option<PageKey> {
        let url = *self.urls.get(node as usize)?;
        let (host, _) = *self.hosts.get(self.host_of(node) as usize)?;
        Some(PageKey { host, url })
    }

    /// The number of a page.
    pub fn node(&self, page: PageKey) -> Option<u32> {
        let host = self.hosts.binary_search_by_key(&page.host, |(host, _)| *host).ok()?;
        let pages = self.pages_of(host);
        let place = self.urls[pages.clone()].binary_search(&page.url).ok()?;
        u32::try_from(pages.start + place).ok()
    }

    /// Every host, in the order of its number.
    pub fn hosts(&self) -> impl Iterator<Item = HostKey> + '_ {
        self.hosts.iter().map(|(host, _)| *host)
    }

    /// The number of the host that a page is on.
    pub fn host_of(&self, node: u32) -> u32 {
        let after = self.hosts.partition_point(|(_, first)| *first <= node);
        after.saturating_sub(1) as u32
    }

    fn nodes(&self) -> u32 {
        self.urls.len() as u32
    }

    /// Adds a page that comes after all others, as far as numbers reach.
    fn add(&mut self, page: PageKey) {
        let Ok(number) = u32::try_from(self.urls.len() + 1) else { return };
        if self.hosts.last().is_none_or(|(host, _)| *host != page.host) {
            self.hosts.push((page.host, number - 1));
        }
        self.urls.push(page.url);
    }

    /// The numbers of each host's pages.
    pub(super) fn hosts_with_pages(&self) -> impl Iterator<Item = (HostKey, Range<usize>)> + '_ {
        self.hosts().enumerate().map(|(number, host)| (host, self.pages_of(number)))
    }

    fn pages_of(&self, host: usize) -> Range<usize> {
        let first = |host: usize| self.hosts.get(host).map(|(_, first)| *first as usize);
        first(host).unwrap_or(self.urls.len())..first(host + 1).unwrap_or(self.urls.len())
    }

    /// The links between its pages; `None` where there is too little memory for them.
    fn targets<S: Store>(
        &self,
        state: &View<S>,
        memory: u64,
    ) -> Result<Option<Targets>, StateError> {
        let mut targets = Targets::default();
        for row in state.all_links() {
            let (page, links) = row?;
            if let Some(from) = self.node(page) {
                targets.to.extend(links.into_iter().filter_map(|to| self.node(to)));
                targets.ends.push((from, targets.to.len()));
            }
            if self.bytes(targets.to.len()) > memory {
                return Ok(None);
            }
        }
        Ok(Some(targets))
    }
}

/// Links by their sources, while they are read.
#[derive(Default)]
struct Targets {
    /// Every source, and where its targets end.
    ends: Vec<(u32, usize)>,
    to: Vec<u32>,
}

impl Targets {
    fn iter(&self) -> impl Iterator<Item = (u32, u32)> + Clone {
        let begins = std::iter::once(0).chain(self.ends.iter().map(|(_, end)| *end));
        let sources = begins.zip(&self.ends);
        sources
            .flat_map(|(begin, &(from, end))| self.to[begin..end].iter().map(move |&to| (from, to)))
    }
}

impl Default for LinkGraph {
    fn default() -> Self {
        let graph = Graph::new(0, std::iter::empty(), Repeats::Once);
        LinkGraph { hosts: Vec::new(), urls: Vec::new(), graph }
    }
}

fn is_node(row: &PageRow) -> bool {
    row.kind == Kind::Page && matches!(row.status, PageStatus::New | PageStatus::Live)
}
