//! How much does each node matter, by the method that was asked for?

use std::path::Path;

use anyhow::Context;
use evercrawl_engine::importance::LinkGraph;
use evercrawl_rank::{Graph, Jump, Opic, Settings, hits, pagerank, trust};
use evercrawl_urls::Canonical;

use super::{Method, RankArgs};
use crate::exit::Failure;
use crate::print;
use crate::verbs::{Opened, canonical, host_of};

/// How often all cash changes hands: then OPIC orders pages as PageRank does (docs/what-matters.md).
const OPIC_ROUNDS: u32 = 15;

/// A score for every node.
pub(super) struct Scores {
    pub(super) scores: Vec<f64>,
    /// Where scores are authorities: how well each node points to others.
    pub(super) hubs: Option<Vec<f64>>,
}

/// Ranks the nodes of `web`, which are the pages of `links` where trust is asked for.
pub(super) fn scores(
    args: &RankArgs,
    opened: &Opened,
    links: &LinkGraph,
    web: &Graph,
) -> anyhow::Result<Scores> {
    // Beside a crawl that runs, one core is enough.
    let threads = match opened.held {
        Some(_) => std::thread::available_parallelism().map_or(1, usize::from),
        None => 1,
    };
    let settings = Settings { damping: args.damping, threads, ..Settings::default() };
    let scores = match args.method {
        Method::Hits => {
            let hits = hits(web, &settings);
            return Ok(Scores { scores: hits.authorities, hubs: Some(hits.hubs) });
        }
        Method::Indegree => (0..web.nodes()).map(|node| web.in_degree(node) as f64).collect(),
        Method::Opic => opic(web, args.damping),
        Method::Trustrank => trust(web, &trusted(args, opened, links)?, &settings).scores,
        Method::Pagerank | Method::Host | Method::Domain => {
            pagerank(web, Jump::Anywhere, &settings).scores
        }
    };
    Ok(Scores { scores, hubs: None })
}

/// What passes through each node when all are visited again and again; all scores add up to 1.
fn opic(web: &Graph, damping: f64) -> Vec<f64> {
    let targets = web.reversed();
    let mut opic = Opic::new(damping, f64::INFINITY);
    for _ in 0..web.nodes() {
        opic.add_seed();
    }
    for _ in 0..OPIC_ROUNDS {
        (0..web.nodes()).for_each(|node| opic.visit(node, targets.sources(node)));
    }
    let scores: Vec<f64> = (0..web.nodes()).map(|node| opic.importance(node)).collect();
    let sum: f64 = scores.iter().sum();
    scores.into_iter().map(|score| score / sum).collect()
}

/// The pages that trust begins with: those of a list, or the seeds.
fn trusted(args: &RankArgs, opened: &Opened, links: &LinkGraph) -> anyhow::Result<Vec<u32>> {
    if let Some(path) = &args.trust {
        return listed(&args.file(path), opened, links);
    }
    let mut nodes = Vec::new();
    for url in opened.state.seeds() {
        if let Some(url) = Canonical::from_trusted(url?) {
            nodes.extend(node(&url, opened, links)?);
        }
    }
    Ok(nodes)
}

/// The pages that a file lists; each must be one that the crawl knows.
fn listed(path: &Path, opened: &Opened, links: &LinkGraph) -> anyhow::Result<Vec<u32>> {
    let text =
        std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let lines = text.lines().map(str::trim).zip(1..);
    let mut nodes = Vec::new();
    for (line, number) in lines.filter(|(line, _)| !line.is_empty() && !line.starts_with('#')) {
        let found = node(&canonical(&opened.settings, line)?, opened, links)?;
        nodes.push(found.ok_or_else(|| {
            let (file, line) = (path.display(), print::plain(line));
            Failure::usage(format!("{file}, line {number}: `{line}` is no page of this crawl"))
        })?);
    }
    if nodes.is_empty() {
        return Err(Failure::usage(format!("{} lists no page", path.display())));
    }
    Ok(nodes)
}

fn node(url: &Canonical, opened: &Opened, links: &LinkGraph) -> anyhow::Result<Option<u32>> {
    let found = opened.state.find(host_of(&opened.state, url), url.as_str())?;
    Ok(found.and_then(|(page, _)| links.node(page)))
}
