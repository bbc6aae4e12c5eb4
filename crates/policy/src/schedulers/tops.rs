//! `A`, `B`, `C`, `C1`, `C-then-B`: top pages decide whether to visit the rest of their site.

use evercrawl_sites::{Partition, PartitionMethod, Server};

use crate::page::{Days, NEVER, Page, VisitEvidence};
use crate::policy::{Policy, Round};
use crate::schedulers::walk::{SiteWalk, Way};
use crate::schedulers::worklist::Worklist;

/// Which sites' tops are visited in a walk over a server (S0, sections 5.2 to 5.4 and 6.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TopChecks {
    /// All of them (methods A and B).
    All,
    /// Those below a site that changed, from the roots on (method C).
    Chain,
    /// All that have a site below them; the lowest only if one directly above has changed. Looser than
    /// the chain, which one unchanged page breaks (C1).
    OneStep,
    /// First the chain, then the tops that it left out: S0's own suggestion for spare budget.
    ChainThenAll,
}

/// Fetches the tops of sites, and the members of those whose top had changed.
///
/// One walk over all sites a round at most; where the budget does not last, the walk continues in the
/// next round. What is left when a walk is done stays unspent: the method wants nothing more. Pages
/// that were found later than the links belong to no site and are looked at first.
#[derive(Debug)]
pub struct Tops {
    walk: SiteWalk,
    way: Way,
    strays: Vec<u32>,
    stray_list: Worklist,
}

impl Tops {
    /// Cuts `server` by `method` and looks at its tops as `looks` says.
    pub fn new(server: &Server, method: PartitionMethod, looks: TopChecks) -> Self {
        let walk = SiteWalk::new(Partition::new(server, method), server.pages());
        let way = check_order(server, &walk, looks);
        Tops { walk, way, strays: Vec::new(), stray_list: Worklist::default() }
    }
}

impl Policy for Tops {
    fn record_discovery(&mut self, page: &mut Page, _now: Days) {
        page.due = NEVER;
        if self.walk.partition().sites_of(page.id).is_empty() {
            self.strays.push(page.id);
        }
    }

    fn record_visit(&mut self, page: &mut Page, seen: &VisitEvidence) {
        self.walk.visited(page.id, seen.is_news());
    }

    fn plan_round(&mut self, _round: &Round, _pages: &mut [Page]) -> bool {
        if self.walk.is_done() && self.stray_list.is_done() {
            self.walk.begin(self.way.clone());
            self.stray_list.set(self.strays.clone());
        } else {
            self.walk.resume();
        }
        false
    }

    fn choose_pages(&mut self, _now: Days, room: usize, pages: &[Page], out: &mut Vec<u32>) {
        self.stray_list.take_pages(room, pages, out);
        if out.is_empty() {
            self.walk.choose(room, pages, out);
        }
    }
}

/// The way that `looks` takes over the sites of `walk`, from the root outwards.
pub(crate) fn check_order(server: &Server, walk: &SiteWalk, looks: TopChecks) -> Way {
    let partition = walk.partition();
    let depth = |&site: &u32| partition.tops(site).iter().map(|&top| server.depth(top)).min();
    let mut all: Vec<u32> = partition.sites().collect();
    all.sort_by_key(depth);
    let is_start = starts(walk, &all);
    let is_root = |site: &u32| is_start[*site as usize];
    let leads_on = |site: &u32| {
        let mut pages = partition.tops(*site).iter().chain(partition.members(*site));
        pages.any(|&page| !walk.below(page).is_empty())
    };
    let roots = || all.iter().copied().filter(is_root).collect();
    match looks {
        TopChecks::All => Way { first: all.into(), ..Way::default() },
        TopChecks::Chain => Way { first: roots(), follow: true, ..Way::default() },
        TopChecks::ChainThenAll => Way { first: roots(), follow: true, then: all.into() },
        TopChecks::OneStep => {
            let upper = all.iter().copied().filter(|site| is_root(site) || leads_on(site));
            Way { first: upper.collect(), follow: true, ..Way::default() }
        }
    }
}

/// The sites at which a chain begins: those with no site above, and among sites that only wait for each other the
/// first in the order of `all`, so that none waits forever.
fn starts(walk: &SiteWalk, all: &[u32]) -> Vec<bool> {
    let partition = walk.partition();
    let mut is_start = vec![false; partition.len()];
    let mut reached = is_start.clone();
    let is_topmost = |site: &&u32| partition.parents(**site).is_empty();
    for &start in all.iter().filter(is_topmost).chain(all) {
        let mut open = if reached[start as usize] { Vec::new() } else { vec![start] };
        is_start[start as usize] |= !open.is_empty();
        while let Some(site) = open.pop() {
            if !std::mem::replace(&mut reached[site as usize], true) {
                let pages = partition.tops(site).iter().chain(partition.members(site));
                open.extend(pages.flat_map(|&page| walk.below(page)));
            }
        }
    }
    is_start
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::World;

    const NAMES: [&str; 9] = ["R", "A", "B", "C", "D", "E", "F", "G", "H"];

    /// S0's worked example: R links to A and D, A to B and C, D to E, E to F, C to G, G to H.
    fn example() -> Server {
        let directories = ["/", "/x/", "/x/", "/x/", "/x/", "/x/", "/y/", "/y/", "/y/"];
        let links = [(0, 1), (0, 4), (1, 2), (1, 3), (4, 5), (5, 6), (3, 7), (7, 8)];
        Server::new(&directories, &links, &[0])
    }

    /// The pages fetched in a second round, after `changed` changed.
    fn fetched(method: PartitionMethod, looks: TopChecks, changed: &str, budget: usize) -> String {
        let pages = NAMES.iter().enumerate().filter(|(_, name)| changed.contains(*name));
        let mut world = World::with_changes(9, pages.map(|(page, _)| (page as u32, 0.5)));
        world.fetch_all(0.0);
        let mut policy = Tops::new(&example(), method, looks);
        let mut names: Vec<&str> = Vec::new();
        world.round(&mut policy, 1.0, budget, |page| names.push(NAMES[page as usize]));
        names.sort_unstable();
        names.concat()
    }

    #[test]
    fn methods_a_and_b_fetch_members_of_changed_tops_only() {
        let all = TopChecks::All;
        assert_eq!(fetched(PartitionMethod::A, all, "", 99), "ADFGR");
        assert_eq!(
            fetched(PartitionMethod::A, all, "D", 99),
            "ABCDEFGR",
            "one of two tops is enough"
        );
        assert_eq!(fetched(PartitionMethod::B, all, "", 99), "ADEGR");
        assert_eq!(fetched(PartitionMethod::B, all, "AE", 99), "ABCDEFGR");
        assert_eq!(
            fetched(PartitionMethod::B, all, "H", 99),
            "ADEGR",
            "a silent top hides its members"
        );
    }

    #[test]
    fn method_c_follows_the_chain_as_in_the_reference() {
        let chain = TopChecks::Chain;
        for method in [PartitionMethod::C, PartitionMethod::Open] {
            assert_eq!(
                fetched(method, chain, "RDEG", 99),
                "ADEFR",
                "A unchanged: G is not looked at"
            );
            assert_eq!(fetched(method, chain, "RADEG", 99), "ABCDEFGHR");
            assert_eq!(fetched(method, chain, "RAEG", 99), "ABCDGHR", "D unchanged: E is not");
            assert_eq!(
                fetched(method, chain, "ADEG", 99),
                "R",
                "nothing at the root, nothing below"
            );
        }
    }

    #[test]
    fn c1_needs_only_the_site_directly_above() {
        assert_eq!(fetched(PartitionMethod::C, TopChecks::OneStep, "AG", 99), "ABCDGHR");
        assert_eq!(fetched(PartitionMethod::C, TopChecks::OneStep, "G", 99), "ADR");
    }

    #[test]
    fn c_then_b_spends_what_is_left_on_the_other_tops() {
        assert_eq!(fetched(PartitionMethod::C, TopChecks::ChainThenAll, "G", 99), "ADEGHR");
        assert_eq!(fetched(PartitionMethod::C, TopChecks::ChainThenAll, "G", 1), "R");
    }

    #[test]
    fn sites_that_wait_for_each_other_are_looked_at_all_the_same() {
        // 2 and 4 are entered from each other's member 3 and 5, which they link back to.
        let links = [(0, 1), (1, 3), (1, 5), (3, 4), (5, 2), (2, 3), (4, 5)];
        let server = Server::new(&[0, 0, 1, 1, 2, 2], &links, &[0]);
        let walk = SiteWalk::new(Partition::new(&server, PartitionMethod::C), server.pages());
        let mut way = check_order(&server, &walk, TopChecks::Chain);
        let mut seen = vec![false; 6];
        while let Some(site) = way.first.pop_front() {
            let pages = [walk.partition().tops(site), walk.partition().members(site)].concat();
            for page in pages {
                if !std::mem::replace(&mut seen[page as usize], true) {
                    way.first.extend(walk.below(page));
                }
            }
        }
        assert_eq!(seen, [true; 6], "when everything changes, everything is looked at");
    }

    #[test]
    fn a_walk_that_a_round_cannot_finish_goes_on_in_the_next() {
        let mut world = World::with_changes(9, (1..9).map(|page| (page, 0.5)));
        world.fetch_all(0.0);
        let mut policy = Tops::new(&example(), PartitionMethod::B, TopChecks::All);
        let mut counts = [0; 9];
        for day in 1..=9 {
            world.round(&mut policy, f64::from(day), 1, |page| counts[page as usize] += 1);
        }
        assert_eq!(counts, [1; 9]);
    }
}
