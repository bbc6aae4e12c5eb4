//! How is a graph with named nodes encoded in few bytes?
//!
//! Nodes are numbered in the order of their names, so that those of a site are neighbours: most links lead
//! near, and names begin like the one before. Numbers are of variable length: seven bits a byte, the lowest
//! first, the eighth bit says that more follow.
//!
//! ```text
//! "EVERCSR1"  number of nodes  number of links
//! a node:     bytes in common with the name before, bytes that follow, these bytes
//! a node:     number of its targets; the first target; for each other how far it is after the one before
//! ```

use crate::{Graph, Repeats};

const MAGIC: &[u8] = b"EVERCSR1";

/// Writes a graph whose nodes are called `names`; a node without a name is called by nothing.
pub fn encode(graph: &Graph, names: &[String]) -> Vec<u8> {
    let name = |node: u32| names.get(node as usize).map_or("", String::as_str);
    let mut order: Vec<u32> = (0..graph.nodes()).collect();
    order.sort_by(|a, b| name(*a).cmp(name(*b)).then(a.cmp(b)));
    let mut places = vec![0u32; order.len()];
    (0..).zip(&order).for_each(|(place, &node)| places[node as usize] = place);
    let mut out = MAGIC.to_vec();
    put(&mut out, order.len() as u64);
    put(&mut out, graph.link_count() as u64);
    let mut before = "";
    for &node in &order {
        let name = name(node);
        let common = name.bytes().zip(before.bytes()).take_while(|(a, b)| a == b).count();
        put(&mut out, common as u64);
        put(&mut out, (name.len() - common) as u64);
        out.extend(&name.as_bytes()[common..]);
        before = name;
    }
    let targets = graph.reversed();
    for &node in &order {
        let mut to: Vec<u32> =
            targets.sources(node).iter().map(|&to| places[to as usize]).collect();
        to.sort_unstable();
        put(&mut out, to.len() as u64);
        let mut last = 0;
        for target in to {
            put(&mut out, u64::from(target - last));
            last = target;
        }
    }
    out
}

/// Reads what [`encode`] wrote; `None` where it is not that.
pub fn decode(bytes: &[u8]) -> Option<(Graph, Vec<String>)> {
    let rest = &mut bytes.strip_prefix(MAGIC)?;
    let (nodes, links) = (u32::try_from(take(rest)?).ok()?, take(rest)?);
    let (mut names, mut before) = (Vec::new(), Vec::new());
    for _ in 0..nodes {
        let (common, length) = (take(rest)? as usize, take(rest)? as usize);
        let (own, after) = rest.split_at_checked(length)?;
        before.truncate(common.min(before.len()));
        before.extend_from_slice(own);
        names.push(String::from_utf8(before.clone()).ok()?);
        *rest = after;
    }
    let mut edges = Vec::new();
    for from in 0..nodes {
        let mut last = 0u32;
        for _ in 0..take(rest)? {
            last = last.checked_add(u32::try_from(take(rest)?).ok()?)?;
            edges.push((from, last));
        }
    }
    let whole = rest.is_empty() && edges.len() as u64 == links;
    whole.then(|| (Graph::new(nodes, edges.iter().copied(), Repeats::Each), names))
}

fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn take(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, after) = rest.split_first()?;
        *rest = after;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn named(graph: &Graph, names: &[String]) -> BTreeSet<(String, String)> {
        let name = |node: u32| names[node as usize].clone();
        graph.links().map(|(from, to)| (name(from), name(to))).collect()
    }

    proptest! {
        #[test]
        fn graphs_round_trip_by_name(
            links in proptest::collection::vec((0u32..30, 0u32..30), 0..200),
            names in proptest::collection::btree_set("[a-zé/]{0,12}", 30),
        ) {
            let names: Vec<String> = names.into_iter().rev().collect();
            let graph = Graph::new(30, links.iter().copied(), Repeats::Once);
            let bytes = encode(&graph, &names);
            let (again, others) = decode(&bytes).unwrap();
            prop_assert_eq!(named(&again, &others), named(&graph, &names));
            prop_assert_eq!(decode(&bytes[..bytes.len() - 1]), None);
        }

        #[test]
        fn what_is_no_graph_is_none(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _ = decode(&[MAGIC, &bytes].concat());
            prop_assert_eq!(decode(&bytes), None);
        }
    }
}
