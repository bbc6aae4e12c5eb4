//! Which pages would a perfect crawler end up with? Computed from the links themselves, not by fetching.

use super::links::{LinkTarget, PageLink};
use super::{Fate, HostFault, PageId, World};
use std::collections::{HashSet, VecDeque};

/// How far a crawl may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReachScope {
    /// The hosts of the seeds.
    Host,
    /// Anywhere.
    Any,
}

impl World {
    /// Walks the URLs that answer 200 to a crawler which starts from the seeds at a moment, obeys robots.txt and
    /// nofollow,
    /// follows redirects, tries again what fails at times, stays out of traps and, if told so, reads sitemaps. Feeds
    /// name no
    /// page that links do not.
    pub fn reachable<'s>(
        &self,
        seeds: impl IntoIterator<Item = &'s str>,
        scope: ReachScope,
        sitemaps: bool,
        at_ms: u64,
    ) -> impl Iterator<Item = String> {
        self.reachable_pages(seeds, scope, sitemaps, at_ms).map(|page| self.url(page))
    }

    /// Walks the same pages as [`World::reachable`], as pages.
    pub(crate) fn reachable_pages<'s>(
        &self,
        seeds: impl IntoIterator<Item = &'s str>,
        scope: ReachScope,
        sitemaps: bool,
        at_ms: u64,
    ) -> impl Iterator<Item = PageId> {
        let seeds: Vec<PageId> = seeds.into_iter().filter_map(|seed| self.find(seed)).collect();
        let inside =
            (scope == ReachScope::Host).then(|| seeds.iter().map(|page| page.host).collect());
        let mut walk = ReachIterator::new(self, inside, sitemaps, at_ms);
        seeds.into_iter().for_each(|page| walk.discover(page));
        walk
    }

    /// Whether a crawler that may and does ask for a page gets it whole.
    fn delivers(&self, page: PageId, at_ms: u64) -> bool {
        let host = self.host(page.host);
        host.fault != Some(HostFault::Silent)
            && host.allows(&self.path(page))
            && self.life(page).covers(at_ms)
            && self.fate(&host, page.slot) != Fate::Failing
            && !self.is_cut(&host, page.slot)
    }
}

struct ReachIterator<'w> {
    world: &'w World,
    /// The hosts that the walk must not leave.
    inside: Option<HashSet<u32>>,
    sitemaps: bool,
    at_ms: u64,
    seen: HashSet<PageId>,
    hosts: HashSet<u32>,
    queue: VecDeque<PageId>,
    links: Vec<PageLink>,
}

impl<'w> ReachIterator<'w> {
    fn new(world: &'w World, inside: Option<HashSet<u32>>, sitemaps: bool, at_ms: u64) -> Self {
        ReachIterator {
            world,
            inside,
            sitemaps,
            at_ms,
            seen: HashSet::new(),
            hosts: HashSet::new(),
            queue: VecDeque::new(),
            links: Vec::new(),
        }
    }

    fn discover(&mut self, page: PageId) {
        if self.inside.as_ref().is_some_and(|hosts| !hosts.contains(&page.host)) {
            return;
        }
        if self.seen.insert(page) {
            self.queue.push_back(page);
        }
        if self.sitemaps && self.hosts.insert(page.host) {
            let listed = self.world.sitemap_pages(self.world.host(page.host), self.at_ms);
            self.queue.extend(listed.filter(|&page| self.seen.insert(page)));
        }
    }

    fn follow_links_of(&mut self, page: PageId) {
        let source = self.world.source(page).page;
        if self.world.says_nofollow(source) {
            return;
        }
        let mut links = std::mem::take(&mut self.links);
        self.world.links(&self.world.host(source.host), source, self.at_ms, &mut links);
        for link in links.iter().filter(|link| !link.nofollow) {
            if let LinkTarget::Page(to) | LinkTarget::Former(to, _) = link.target {
                self.discover(to);
            }
        }
        self.links = links;
    }
}

impl Iterator for ReachIterator<'_> {
    type Item = PageId;

    fn next(&mut self) -> Option<PageId> {
        while let Some(page) = self.queue.pop_front() {
            if !self.world.delivers(page, self.at_ms) {
                continue;
            }
            if let Some(leading) = self.world.leading(&self.world.host(page.host), page) {
                self.discover(leading.to);
                continue;
            }
            self.follow_links_of(page);
            return Some(page);
        }
        None
    }
}
