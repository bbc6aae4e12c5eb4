//! Which known pages link to which? The stored links as a compact graph in memory.

use std::ops::Range;

use evercrawl_model::{HostKey, PageKey, PageKind};
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

/// The most memory per page and per link while a graph is read and ranked, in bytes: growing lists, the graph, a copy
/// without spam links, ranks and earlier ranks.
const BYTES_A_PAGE: u64 = 64;
const BYTES_A_LINK: u64 = 12;

/// As much of the graph as fits in memory.
#[derive(Debug)]
pub enum ReadWithin {
    /// The whole graph.
    Whole(LinkGraph),
    /// Its pages without their links.
    Pages(LinkGraph),
    /// Nothing: there are too many pages.
    Nothing,
}

impl LinkGraph {
    /// Reads the graph from the committed state. While reading, a link takes eight bytes.
    pub fn read<S: Store>(state: &View<S>) -> Result<Self, StateError> {
        match Self::read_within(state, u64::MAX)? {
            ReadWithin::Whole(links) | ReadWithin::Pages(links) => Ok(links),
            ReadWithin::Nothing => Ok(Self::default()),
        }
    }

    /// Reads as much as can be ranked in `memory` bytes.
    pub(crate) fn read_within<S: Store>(
        state: &View<S>,
        memory: u64,
    ) -> Result<ReadWithin, StateError> {
        let mut read = Self::default();
        for page in state.pages() {
            let (key, row) = page?;
            if is_node(&row) {
                read.add(key);
            }
            if read.bytes(0) > memory {
                return Ok(ReadWithin::Nothing);
            }
        }
        let Some(links) = read.targets(state, memory)? else { return Ok(ReadWithin::Pages(read)) };
        read.graph = Graph::new(read.nodes(), links.iter(), Repeats::Once);
        Ok(ReadWithin::Whole(read))
    }

    /// The most memory that ranking takes with this many links, in bytes.
    fn bytes(&self, links: usize) -> u64 {
        BYTES_A_PAGE * self.urls.len() as u64 + BYTES_A_LINK * links as u64
    }

    /// Counts how many pages link to each page, link by link, so that the links need not be in memory. Links of
    /// suspect hosts do not count.
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

    /// The graph without links from suspect hosts.
    pub fn without_links_from(mut self, suspects: &Suspects) -> Self {
        if suspects.count() > 0 {
            let marks = (0..self.nodes()).map(|node| {
                let page = self.page(node);
                page.is_some_and(|page| suspects.contains(page.host))
            });
            self.graph = self.graph.without(&marks.collect::<Vec<_>>());
        }
        self
    }

    /// The subgraph of the marked pages.
    pub fn keep_pages(&self, keep: &[bool]) -> Self {
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

    /// The links between its pages, by page number.
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

    /// Every host, ordered by number.
    pub fn hosts(&self) -> impl Iterator<Item = HostKey> + '_ {
        self.hosts.iter().map(|(host, _)| *host)
    }

    /// The number of a page's host.
    pub fn host_of(&self, node: u32) -> u32 {
        let after = self.hosts.partition_point(|(_, first)| *first <= node);
        after.saturating_sub(1) as u32
    }

    fn nodes(&self) -> u32 {
        self.urls.len() as u32
    }

    /// Adds the next page in key order, unless numbers run out.
    fn add(&mut self, page: PageKey) {
        let Ok(number) = u32::try_from(self.urls.len() + 1) else { return };
        if self.hosts.last().is_none_or(|(host, _)| *host != page.host) {
            self.hosts.push((page.host, number - 1));
        }
        self.urls.push(page.url);
    }

    /// The page numbers of each host.
    pub(super) fn hosts_with_pages(&self) -> impl Iterator<Item = (HostKey, Range<usize>)> + '_ {
        self.hosts().enumerate().map(|(number, host)| (host, self.pages_of(number)))
    }

    fn pages_of(&self, host: usize) -> Range<usize> {
        let first = |host: usize| self.hosts.get(host).map(|(_, first)| *first as usize);
        first(host).unwrap_or(self.urls.len())..first(host + 1).unwrap_or(self.urls.len())
    }

    /// The links between its pages; `None` when they do not fit in memory.
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
    row.kind == PageKind::Page && matches!(row.status, PageStatus::New | PageStatus::Live)
}
