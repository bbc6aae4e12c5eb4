//! What are the sites of a server, their tops, their members and the sites above them?

use crate::directories;
use crate::links;
use crate::lists::Lists;
use crate::server::{Server, UNREACHED};

/// How a server is cut into sites (S0, sections 5.2 to 5.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartitionMethod {
    /// A directory is a site; its shallowest pages are its tops.
    A,
    /// Pages linked from another directory are tops; the pages of the same directory that a top
    /// links to are its members. As printed: what is two links away belongs to no site.
    B,
    /// The sites of [`B`](Self::B); a site is looked at only when a site above it changed.
    C,
    /// As [`B`](Self::B) and [`C`](Self::C) with the gaps of the text closed: members of members
    /// belong to the site, each page to the nearest top, and a childless top to one parent. The
    /// recommended reading.
    Open,
}

impl PartitionMethod {
    /// Reads `A`, `B`, `C` or `open`, in either case.
    pub fn parse(name: &str) -> Option<Self> {
        let known = [
            ("a", PartitionMethod::A),
            ("b", PartitionMethod::B),
            ("c", PartitionMethod::C),
            ("open", PartitionMethod::Open),
        ];
        known.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, m)| m)
    }
}

/// The sites of a server: every page is a top or a member of at least one of them.
///
/// Orphans, pages that the method puts nowhere, are sites of their own with nothing above them, so
/// that they are always looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Partition {
    tops: Lists,
    members: Lists,
    parents: Lists,
    owners: Lists,
}

impl Partition {
    /// Cuts `server` by `method`, in time linear in pages plus links.
    pub fn new(server: &Server, method: PartitionMethod) -> Self {
        match method {
            PartitionMethod::A => directories::partition(server),
            PartitionMethod::B | PartitionMethod::C => links::as_printed(server),
            PartitionMethod::Open => links::closed(server),
        }
    }

    /// A partition of `sites` sites, whose tops and members are given as `(site, page)` pairs.
    pub(crate) fn build(
        server: &Server,
        sites: usize,
        tops: &[(u32, u32)],
        members: &[(u32, u32)],
    ) -> Self {
        let pages = server.pages();
        let owned = tops.iter().chain(members).map(|&(site, page)| (page, site));
        let tops = Lists::new(sites, tops.iter().copied());
        let members = Lists::new(sites, members.iter().copied());
        let parents = parents(server, &tops);
        Partition { owners: Lists::new(pages, owned), tops, members, parents }
    }

    /// How many sites there are.
    pub fn len(&self) -> usize {
        self.tops.len()
    }

    /// Whether there is no site, because there is no page.
    pub fn is_empty(&self) -> bool {
        self.tops.is_empty()
    }

    /// All sites' numbers.
    pub fn sites(&self) -> std::ops::Range<u32> {
        0..u32::try_from(self.len()).unwrap_or(u32::MAX)
    }

    /// The top pages of `site`.
    pub fn tops(&self, site: u32) -> &[u32] {
        self.tops.row(site)
    }

    /// The other pages of `site`, ascending.
    pub fn members(&self, site: u32) -> &[u32] {
        self.members.row(site)
    }

    /// The sites in which `page` is a top or a member.
    pub fn sites_of(&self, page: u32) -> &[u32] {
        self.owners.row(page)
    }

    /// The pages that link to a top of `site` and lie nearer the root than its tops do.
    ///
    /// Only those: tops that link to each other must not wait for each other. Members do not count, as
    /// a top of method B may own the page above it, which it links back to.
    pub fn parents(&self, site: u32) -> &[u32] {
        self.parents.row(site)
    }

    /// The upper sites of `site`: those that own one of its [`parents`](Self::parents), ascending.
    pub fn upper(&self, site: u32) -> Vec<u32> {
        let above = self.parents(site).iter().flat_map(|&page| self.sites_of(page));
        let mut upper: Vec<u32> = above.copied().filter(|&other| other != site).collect();
        upper.sort_unstable();
        upper.dedup();
        upper
    }
}

fn parents(server: &Server, tops: &Lists) -> Lists {
    let mut shallowest = vec![UNREACHED; tops.len()];
    for (site, top) in tops.pairs() {
        let least = &mut shallowest[site as usize];
        *least = (*least).min(server.depth(top));
    }
    let above = tops.pairs().flat_map(|(site, top)| {
        let least = shallowest[site as usize];
        let nearer = move |&&page: &&u32| server.depth(page) < least;
        server.linked_from(top).iter().filter(nearer).map(move |&page| (site, page))
    });
    Lists::new(tops.len(), above)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const METHODS: [PartitionMethod; 4] =
        [PartitionMethod::A, PartitionMethod::B, PartitionMethod::C, PartitionMethod::Open];

    fn any_server() -> impl Strategy<Value = Server> {
        (1u32..40).prop_flat_map(|pages| {
            let directories = proptest::collection::vec(0u8..6, pages as usize);
            let links = proptest::collection::vec((0..pages + 2, 0..pages + 2), 0..120);
            let roots = proptest::collection::vec(0..pages, 0..3);
            (directories, links, roots).prop_map(|(d, l, r)| Server::new(&d, &l, &r))
        })
    }

    proptest! {
        #[test]
        fn every_page_has_a_site_and_every_site_a_top(server in any_server()) {
            for method in METHODS {
                let partition = Partition::new(&server, method);
                for page in server.numbers() {
                    prop_assert!(!partition.sites_of(page).is_empty(), "{method:?} {page}");
                }
                for site in partition.sites() {
                    prop_assert!(!partition.tops(site).is_empty());
                    prop_assert!(partition.members(site).is_sorted());
                    prop_assert!(partition.members(site).iter().all(|m| !partition.tops(site).contains(m)));
                }
            }
        }

        #[test]
        fn parents_lie_above_tops_and_every_reached_top_but_the_roots_has_one(server in any_server()) {
            for method in METHODS {
                let partition = Partition::new(&server, method);
                for site in partition.sites() {
                    let depth = partition.tops(site).iter().map(|&top| server.depth(top)).min();
                    let above = partition.parents(site);
                    prop_assert!(above.iter().all(|&page| Some(server.depth(page)) < depth), "{method:?}");
                    let is_end = depth == Some(1) || depth == Some(UNREACHED);
                    prop_assert!(is_end || !above.is_empty(), "{method:?} {site}");
                }
            }
        }

        #[test]
        fn the_open_reading_gives_each_page_one_site_as_a_member(server in any_server()) {
            let partition = Partition::new(&server, PartitionMethod::Open);
            for page in server.numbers() {
                let as_member = |site: &&u32| partition.members(**site).contains(&page);
                prop_assert!(partition.sites_of(page).iter().filter(as_member).count() <= 1);
            }
        }
    }

    #[test]
    fn names_parse_in_either_case() {
        for (name, method) in [
            ("A", Some(PartitionMethod::A)),
            ("b", Some(PartitionMethod::B)),
            ("Open", Some(PartitionMethod::Open)),
            ("d", None),
        ] {
            assert_eq!(PartitionMethod::parse(name), method);
        }
    }

    #[test]
    fn no_pages_no_sites() {
        for method in METHODS {
            assert!(Partition::new(&Server::default(), method).is_empty());
        }
    }
}
