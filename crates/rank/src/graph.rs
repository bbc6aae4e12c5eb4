//! Which pages or hosts link to which?

/// What a link that is given twice counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeats {
    /// As one: a page links to another, or it does not.
    Once,
    /// Every link counts: a page that links three times passes on three shares.
    Each,
}

/// Nodes numbered from 0, each with the nodes that link to it, in compressed sparse form.
///
/// A node costs 12 bytes and a link 4. Links are kept by their target, since a node's rank is what
/// it receives: its thread writes to one place only, and threads need no locks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    /// Where each node's sources begin in `sources`; one more at the end.
    starts: Vec<usize>,
    sources: Vec<u32>,
    out_degrees: Vec<u32>,
}

impl Graph {
    /// A graph of `nodes` nodes and of links from source to target, in any order.
    ///
    /// The links are gone through twice, so that they need not lie in memory. One that names a node
    /// that does not exist is left out; one from a node to itself is a link like any other.
    pub fn new(
        nodes: u32,
        links: impl Iterator<Item = (u32, u32)> + Clone,
        repeats: Repeats,
    ) -> Self {
        let links = links.filter(|&(from, to)| from < nodes && to < nodes);
        let mut starts = vec![0usize; nodes as usize + 1];
        for (_, to) in links.clone() {
            starts[to as usize] += 1;
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        // Each start lies at its row's end, and moves to the front as the row fills from behind.
        let mut sources = vec![0u32; sum];
        for (from, to) in links {
            let place = &mut starts[to as usize];
            // A source of links that gives others the second time spoils the graph, nothing more.
            *place = place.saturating_sub(1);
            if let Some(source) = sources.get_mut(*place) {
                *source = from;
            }
        }
        let mut graph = Graph { starts, sources, out_degrees: Vec::new() };
        graph.sort_rows(repeats);
        graph.out_degrees = graph.counted();
        graph
    }

    /// How many nodes there are.
    pub fn nodes(&self) -> u32 {
        self.out_degrees.len() as u32
    }

    /// How many links there are, as they are counted.
    pub fn link_count(&self) -> usize {
        self.sources.len()
    }

    /// The nodes that link to `node`, in ascending order.
    pub fn sources(&self, node: u32) -> &[u32] {
        let (node, starts) = (node as usize, &self.starts);
        if node + 1 < starts.len() { &self.sources[starts[node]..starts[node + 1]] } else { &[] }
    }

    /// The sources of every node from `first` on.
    pub(crate) fn rows(&self, first: usize) -> impl Iterator<Item = &[u32]> {
        let starts = self.starts.get(first..).unwrap_or_default();
        starts.windows(2).map(|ends| &self.sources[ends[0]..ends[1]])
    }

    /// How many links lead to `node`.
    pub fn in_degree(&self, node: u32) -> usize {
        self.sources(node).len()
    }

    /// How many links lead from `node`.
    pub fn out_degree(&self, node: u32) -> u32 {
        self.out_degrees.get(node as usize).copied().unwrap_or(0)
    }

    /// The same of every node.
    pub(crate) fn out_degrees(&self) -> &[u32] {
        &self.out_degrees
    }

    /// All links from source to target, by target.
    pub fn links(&self) -> impl Iterator<Item = (u32, u32)> + Clone {
        (0..self.nodes()).flat_map(|to| self.sources(to).iter().map(move |&from| (from, to)))
    }

    /// The same graph with every link reversed.
    pub fn reversed(&self) -> Self {
        Self::new(self.nodes(), self.links().map(|(from, to)| (to, from)), Repeats::Each)
    }

    /// The graph of groups: one links to another where a member of it does.
    ///
    /// `group_of` names the group of each node: its host, or its registered domain. What a group says
    /// of itself counts for nothing, so links within groups are left out.
    pub fn grouped(&self, group_of: &[u32], groups: u32, repeats: Repeats) -> Self {
        let group = |node: u32| group_of.get(node as usize).copied().unwrap_or(u32::MAX);
        let links = self.links().map(|(from, to)| (group(from), group(to)));
        Self::new(groups, links.filter(|(from, to)| from != to), repeats)
    }

    /// The graph without the links that lead from nodes marked in `spam`: what they say counts for nothing.
    pub fn without(&self, spam: &[bool]) -> Self {
        let is_spam = |node: u32| spam.get(node as usize).copied().unwrap_or(false);
        Self::new(self.nodes(), self.links().filter(|&(from, _)| !is_spam(from)), Repeats::Each)
    }

    /// Sorts each row; where repeats count once, closes up the rows without them.
    fn sort_rows(&mut self, repeats: Repeats) {
        let (mut start, mut kept) = (0, 0);
        self.starts[0] = 0;
        for row in 1..self.starts.len() {
            let end = self.starts[row].clamp(start, self.sources.len());
            self.sources[start..end].sort_unstable();
            let mut last = None;
            for place in start..end {
                let source = self.sources[place];
                if repeats == Repeats::Each || last != Some(source) {
                    self.sources[kept] = source;
                    kept += 1;
                }
                last = Some(source);
            }
            start = end;
            self.starts[row] = kept;
        }
        self.sources.truncate(kept);
        self.sources.shrink_to_fit();
    }

    fn counted(&self) -> Vec<u32> {
        let mut counts = vec![0u32; self.starts.len() - 1];
        for &source in &self.sources {
            counts[source as usize] += 1;
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn graph(nodes: u32, links: &[(u32, u32)], repeats: Repeats) -> Graph {
        Graph::new(nodes, links.iter().copied(), repeats)
    }

    #[test]
    fn repeats_count_as_asked_and_strangers_not_at_all() {
        let links = [(0, 1), (2, 1), (0, 1), (1, 1), (7, 1), (1, 7)];
        let once = graph(3, &links, Repeats::Once);
        assert_eq!((once.sources(1), once.out_degree(0)), (&[0u32, 1, 2][..], 1));
        let each = graph(3, &links, Repeats::Each);
        assert_eq!((each.sources(1), each.out_degree(0)), (&[0u32, 0, 1, 2][..], 2));
        assert_eq!((each.link_count(), each.in_degree(9), each.out_degree(9)), (4, 0, 0));
    }

    #[test]
    fn nothing_is_a_graph_too() {
        let nothing = graph(0, &[(0, 0)], Repeats::Once);
        assert_eq!((nothing.nodes(), nothing.link_count(), nothing.reversed()), (0, 0, nothing));
    }

    #[test]
    fn groups_link_where_members_do_and_never_to_themselves() {
        let pages = graph(5, &[(0, 1), (0, 2), (1, 3), (3, 0), (4, 0)], Repeats::Once);
        // Page 4 is on no host.
        let hosts = pages.grouped(&[0, 0, 1, 1], 2, Repeats::Each);
        assert_eq!(hosts.links().collect::<Vec<_>>(), [(1, 0), (0, 1), (0, 1)]);
        assert_eq!(pages.grouped(&[0, 0, 1, 1], 2, Repeats::Once).link_count(), 2);
    }

    #[test]
    fn what_spam_says_can_be_left_out() {
        let web = graph(3, &[(0, 1), (1, 2), (2, 1), (2, 2)], Repeats::Once);
        let links: Vec<(u32, u32)> = web.without(&[false, false, true]).links().collect();
        assert_eq!((links, web.without(&[])), (vec![(0, 1), (1, 2)], web));
    }

    proptest! {
        #[test]
        fn a_graph_holds_the_links_it_was_given(
            links in proptest::collection::vec((0u32..20, 0u32..20), 0..200),
        ) {
            let once = graph(20, &links, Repeats::Once);
            let distinct: BTreeSet<(u32, u32)> = links.iter().copied().collect();
            prop_assert_eq!(once.links().collect::<BTreeSet<_>>(), distinct.clone());
            prop_assert_eq!(once.link_count(), distinct.len());
            let each = graph(20, &links, Repeats::Each);
            let (mut all, mut given): (Vec<_>, _) = (each.links().collect(), links);
            all.sort_unstable();
            given.sort_unstable();
            prop_assert_eq!(all, given);
            prop_assert_eq!(each.reversed().reversed(), each);
        }
    }
}
