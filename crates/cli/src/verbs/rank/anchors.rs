//! By which words do others link to a page?

use std::collections::HashMap;

use evercrawl_engine::importance::LinkGraph;

use crate::verbs::Opened;

/// The pages of the graph that a page links to, each with the words of the link as far as they are kept.
pub(super) fn anchors_of(
    from: u32,
    links: &LinkGraph,
    opened: &Opened,
) -> anyhow::Result<Vec<(u32, String)>> {
    let Some(page) = links.page(from) else { return Ok(Vec::new()) };
    let targets = opened.state.links(page)?.unwrap_or_default();
    let mut words = opened.state.anchors(page)?;
    words.resize(targets.len(), String::new());
    let known = targets.into_iter().map(|to| links.node(to)).zip(words);
    Ok(known.filter_map(|(to, words)| Some((to?, words))).collect())
}

/// The words by which most pages link to each of some nodes, the most frequent first.
pub(super) fn frequent(
    nodes: &[u32],
    most: usize,
    links: &LinkGraph,
    opened: &Opened,
) -> anyhow::Result<HashMap<u32, Vec<String>>> {
    let mut counts: HashMap<u32, HashMap<String, usize>> =
        nodes.iter().map(|&node| (node, HashMap::new())).collect();
    let mut sources: Vec<u32> =
        nodes.iter().flat_map(|&node| links.graph().sources(node).iter().copied()).collect();
    sources.sort_unstable();
    sources.dedup();
    for from in sources {
        for (to, words) in anchors_of(from, links, opened)? {
            if let Some(counts) = counts.get_mut(&to).filter(|_| !words.is_empty()) {
                *counts.entry(words).or_default() += 1;
            }
        }
    }
    let first = |counts: HashMap<String, usize>| {
        let mut words: Vec<(String, usize)> = counts.into_iter().collect();
        words.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        words.into_iter().take(most).map(|(words, _)| words).collect()
    };
    Ok(counts.into_iter().map(|(node, counts)| (node, first(counts))).collect())
}
