//! Methods B and C: tops are entered from another directory, members hang on them.
//!
//! The text of S0 (section 5.3) stops at direct links, says nothing of pages with several parents
//! and lets two tops of a directory own each other. [`as_printed`] takes it at its word;
//! [`closed`] closes the gaps.

use std::collections::VecDeque;

use crate::partition::Partition;
use crate::server::Server;

/// Method B as printed.
///
/// 1. A candidate is a page linked from another directory, or a root.
/// 2. Its members are the pages of its directory that it links to.
/// 3. A candidate without members is no top: each page of another directory that links to it
///    becomes a top that has it as a member.
pub(crate) fn as_printed(server: &Server) -> Partition {
    let mut owned = Vec::new();
    for top in server.numbers().filter(|&page| is_candidate(server, page)) {
        let before = owned.len();
        let children = server.links(top).iter().filter(|&&page| server.same_directory(top, page));
        owned.extend(children.map(|&page| (top, page)));
        if owned.len() == before {
            let above = server.linked_from(top).iter();
            let parents = above.filter(|&&page| !server.same_directory(top, page));
            owned.extend(parents.map(|&parent| (parent, top)));
        }
    }
    with_orphans(server, owned)
}

/// Method B with its gaps closed.
///
/// A child is a page of the same directory that lies deeper. From the deepest candidate upwards, one
/// is a top if it has a child that is none. Then every page goes to the top from which the fewest
/// links of its directory lead to it; a candidate that is no top and that no top of its directory
/// leads to becomes a member of its shallowest parent.
pub(crate) fn closed(server: &Server) -> Partition {
    let is_top = tops_with_children(server);
    let owner = nearest_tops(server, &is_top);
    let mut owned = Vec::new();
    for page in server.numbers().filter(|&page| !is_top[page as usize]) {
        let above = owner[page as usize].or_else(|| shallowest_parent(server, page));
        owned.extend(above.map(|top| (top, page)));
    }
    with_orphans(server, owned)
}

/// A page that readers enter from elsewhere. Roots count: they are linked from other servers.
fn is_candidate(server: &Server, page: u32) -> bool {
    server.depth(page) == 1
        || server.linked_from(page).iter().any(|&from| !server.same_directory(from, page))
}

fn tops_with_children(server: &Server) -> Vec<bool> {
    let mut is_top = vec![false; server.pages()];
    for &page in server.by_depth().iter().rev().filter(|&&page| is_candidate(server, page)) {
        is_top[page as usize] = server.links(page).iter().any(|&child| {
            server.same_directory(page, child)
                && server.depth(child) > server.depth(page)
                && !is_top[child as usize]
        });
    }
    is_top
}

/// Walks from all tops at once, inside their directories and never into another top.
fn nearest_tops(server: &Server, is_top: &[bool]) -> Vec<Option<u32>> {
    let mut owner = vec![None; server.pages()];
    let tops = server.by_depth().into_iter().filter(|&page| is_top[page as usize]);
    let mut queue: VecDeque<(u32, u32)> = tops.map(|top| (top, top)).collect();
    while let Some((page, top)) = queue.pop_front() {
        for &next in server.links(page) {
            let free = !is_top[next as usize] && owner[next as usize].is_none();
            if free && server.same_directory(page, next) {
                owner[next as usize] = Some(top);
                queue.push_back((next, top));
            }
        }
    }
    owner
}

fn shallowest_parent(server: &Server, page: u32) -> Option<u32> {
    let parents = server.linked_from(page).iter().copied();
    parents
        .filter(|&parent| server.depth(parent) < server.depth(page))
        .min_by_key(|&parent| (server.depth(parent), parent))
}

/// Numbers the sites by their top and adds a site for every page that `(top, member)` leaves out.
fn with_orphans(server: &Server, owned: Vec<(u32, u32)>) -> Partition {
    let mut placed = vec![false; server.pages()];
    let mut is_top = vec![false; server.pages()];
    for &(top, member) in &owned {
        is_top[top as usize] = true;
        placed[member as usize] = true;
    }
    let mut site_of = vec![0; server.pages()];
    let mut tops = Vec::new();
    for page in server.numbers().filter(|&p| is_top[p as usize] || !placed[p as usize]) {
        let site = u32::try_from(tops.len()).unwrap_or(u32::MAX);
        site_of[page as usize] = site;
        tops.push((site, page));
    }
    let mut members: Vec<(u32, u32)> =
        owned.into_iter().map(|(top, member)| (site_of[top as usize], member)).collect();
    members.sort_unstable();
    members.dedup();
    Partition::build(server, tops.len(), &tops, &members)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::partition::PartitionMethod;

    fn sites(server: &Server, method: PartitionMethod) -> Vec<(u32, Vec<u32>)> {
        let partition = Partition::new(server, method);
        partition.sites().map(|s| (partition.tops(s)[0], partition.members(s).to_vec())).collect()
    }

    #[test]
    fn the_open_reading_keeps_pages_two_links_away() {
        // 0 is the root; 1 -> 2 -> 3 share a directory.
        let server = Server::new(&["/", "/x/", "/x/", "/x/"], &[(0, 1), (1, 2), (2, 3)], &[0]);
        assert_eq!(sites(&server, PartitionMethod::B), [(0, vec![]), (1, vec![2]), (3, vec![])]);
        assert_eq!(sites(&server, PartitionMethod::Open), [(0, vec![]), (1, vec![2, 3])]);
    }

    #[test]
    fn pages_that_all_link_to_each_other_still_have_one_top() {
        // An index and two articles, all entered from outside, all linked with each other.
        let links =
            [(0, 1), (1, 2), (1, 3), (2, 1), (2, 3), (3, 1), (3, 2), (4, 2), (4, 3), (0, 4)];
        let server = Server::new(&["/", "/x/", "/x/", "/x/", "/y/"], &links, &[0]);
        assert_eq!(sites(&server, PartitionMethod::Open), [(0, vec![4]), (1, vec![2, 3])]);
        let printed = sites(&server, PartitionMethod::B);
        assert!(printed.contains(&(2, vec![1, 3])) && printed.contains(&(3, vec![1, 2])));
    }

    #[test]
    fn a_chain_of_single_pages_is_a_chain_of_pairs() {
        let server = Server::new(&[0, 1, 2, 3], &[(0, 1), (1, 2), (2, 3)], &[0]);
        let chain = [(0, vec![1]), (1, vec![2]), (2, vec![3])];
        assert_eq!(sites(&server, PartitionMethod::B), chain);
        assert_eq!(sites(&server, PartitionMethod::Open), chain);
    }

    #[test]
    fn several_parents_all_own_the_child_as_printed_and_the_shallowest_when_closed() {
        let links = [(0, 1), (1, 2), (2, 3), (1, 3)];
        let server = Server::new(&[0, 1, 1, 2], &links, &[0]);
        assert_eq!(
            sites(&server, PartitionMethod::B),
            [(0, vec![]), (1, vec![2, 3]), (2, vec![3])]
        );
        assert_eq!(sites(&server, PartitionMethod::Open), [(0, vec![]), (1, vec![2, 3])]);
    }

    #[test]
    fn what_no_root_leads_to_stands_alone() {
        let server = Server::new(&[0, 0, 0], &[(1, 2), (2, 1)], &[0]);
        assert_eq!(sites(&server, PartitionMethod::Open), [(0, vec![]), (1, vec![]), (2, vec![])]);
        let partition = Partition::new(&server, PartitionMethod::Open);
        assert!(partition.sites().all(|site| partition.upper(site).is_empty()));
    }
}
