//! How much does each node matter, by the method that was asked for?

use std::path::Path;

use anyhow::Context;
use evercrawl_engine::importance::{LinkGraph, RankSnapshots};
use evercrawl_engine::live::SystemClock;
use evercrawl_rank::{
    Graph, JumpWeights, OpicSimulation, RankSettings, Ranking, distrust, hits, host_start,
    pagerank, pagerank_from, reach, top_nodes, trust,
};
use evercrawl_urls::Canonical;

use crate::exit::Failure;
use crate::verbs::{Opened, canonical, host_of};
use crate::{crawl_config, print};
use evercrawl_query::{RankMethod as Method, RankRequest, RankStart as Start};

/// How often all cash changes hands: then OPIC orders pages as PageRank does (docs/what-matters.md).
const OPIC_ROUNDS: u32 = 15;

/// A score for every node.
pub(super) struct Scores {
    pub(super) scores: Vec<f64>,
    /// Where scores are authorities: how well each node points to others.
    pub(super) hubs: Option<Vec<f64>>,
    /// How many sweeps over the graph it took, where it took some.
    pub(super) rounds: Option<u32>,
}

impl Scores {
    fn plain(scores: Vec<f64>) -> Self {
        Scores { scores, hubs: None, rounds: None }
    }
}

impl From<Ranking> for Scores {
    fn from(ranking: Ranking) -> Self {
        Scores { scores: ranking.scores, hubs: None, rounds: Some(ranking.rounds) }
    }
}

/// Ranks the nodes of `web`, which are the pages of `links` where trust is asked for.
pub(super) fn scores(
    args: &RankRequest,
    opened: &Opened,
    links: &LinkGraph,
    web: &Graph,
) -> anyhow::Result<Scores> {
    // Beside a crawl that runs, one core is enough.
    let threads = match opened.held {
        Some(_) => std::thread::available_parallelism().map_or(1, usize::from),
        None => 1,
    };
    let settings = RankSettings { damping: args.damping, threads, ..RankSettings::default() };
    Ok(match args.method {
        Method::Hits => {
            let hits = hits(web, &settings);
            let (scores, hubs, rounds) = (hits.authorities, Some(hits.hubs), Some(hits.rounds));
            Scores { scores, hubs, rounds }
        }
        Method::Indegree => {
            Scores::plain((0..web.nodes()).map(|node| web.in_degree(node) as f64).collect())
        }
        Method::Opic => Scores::plain(opic(web, args.damping)),
        Method::Trustrank => {
            trust(web, &trusted(args, opened, links, &settings)?, &settings).into()
        }
        Method::Antitrust => distrust(web, &known_spam(args, opened, links)?, &settings).into(),
        Method::Quality => Scores::plain(quality(opened, links, &settings)?),
        Method::Host | Method::Domain => pagerank(web, JumpWeights::Anywhere, &settings).into(),
        Method::Pagerank => ranked(args, opened, links, &settings)?.into(),
    })
}

/// PageRank for everybody, or from the point of view of those who jump to some pages only.
fn ranked(
    args: &RankRequest,
    opened: &Opened,
    links: &LinkGraph,
    settings: &RankSettings,
) -> anyhow::Result<Ranking> {
    let web = links.graph();
    let start = match args.start {
        Start::Alike => Vec::new(),
        Start::Hosts => {
            let host_of: Vec<u32> = (0..web.nodes()).map(|node| links.host_of(node)).collect();
            host_start(web, &host_of, links.hosts().count() as u32, settings)
        }
    };
    let Some(path) = &args.jump else {
        return Ok(pagerank_from(web, JumpWeights::Anywhere, settings, &start));
    };
    let mut weights = vec![0.0; web.nodes() as usize];
    for (node, weight) in weighted(&args.file(path), opened, links)? {
        weights[node as usize] += weight;
    }
    // Where no jump leads and no link from there, a start would have to be forgotten first.
    Ok(pagerank(web, JumpWeights::To(&weights), settings))
}

/// How good pages are by how they rose since the oldest ranking that was kept.
fn quality(
    opened: &Opened,
    links: &LinkGraph,
    settings: &RankSettings,
) -> anyhow::Result<Vec<f64>> {
    let before = RankSnapshots::in_data_dir(&opened.path).oldest().ok_or_else(|| {
        Failure::usage(
            "quality is read from how ranks grow, and no ranking was kept: `evercrawl rank --keep` keeps one, \
             and so does a crawl with importance.method=pagerank, once a day",
        )
    })?;
    let scores = pagerank(links.graph(), JumpWeights::Anywhere, settings).scores;
    Ok(before.quality(links, &scores, SystemClock.now()))
}

/// The pages that distrust begins with: those of a list, or those of hosts that are taken for spam.
fn known_spam(args: &RankRequest, opened: &Opened, links: &LinkGraph) -> anyhow::Result<Vec<u32>> {
    if let Some(path) = &args.trust {
        return listed(&args.file(path), opened, links);
    }
    let threshold = crawl_config::spam(&opened.settings)?.threshold;
    let mut hosts = std::collections::HashSet::new();
    for row in opened.state.suspicions() {
        let (host, suspicion) = row?;
        if f64::from(suspicion.probability) >= threshold {
            hosts.insert(host);
        }
    }
    let is_spam = |node: &u32| links.page(*node).is_some_and(|page| hosts.contains(&page.host));
    let nodes: Vec<u32> = (0..links.graph().nodes()).filter(is_spam).collect();
    if nodes.is_empty() {
        return Err(Failure::usage(
            "antitrust begins with known spam, and no host was found to be: name a list by --trust",
        ));
    }
    Ok(nodes)
}

/// What passes through each node when all are visited again and again; all scores add up to 1.
fn opic(web: &Graph, damping: f64) -> Vec<f64> {
    let targets = web.reversed();
    let mut opic = OpicSimulation::new(damping, f64::INFINITY);
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
fn trusted(
    args: &RankRequest,
    opened: &Opened,
    links: &LinkGraph,
    settings: &RankSettings,
) -> anyhow::Result<Vec<u32>> {
    if let Some(path) = &args.trust {
        return listed(&args.file(path), opened, links);
    }
    if let Some(count) = args.trust_top {
        return Ok(top_nodes(&reach(links.graph(), settings).scores, count.max(1)));
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
    Ok(weighted(path, opened, links)?.into_iter().map(|(node, _)| node).collect())
}

/// The same with the number that may follow a page; 1 where none does.
fn weighted(path: &Path, opened: &Opened, links: &LinkGraph) -> anyhow::Result<Vec<(u32, f64)>> {
    let text =
        std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let lines = text.lines().map(str::trim).zip(1..);
    let mut nodes = Vec::new();
    for (line, number) in lines.filter(|(line, _)| !line.is_empty() && !line.starts_with('#')) {
        let wrong = |what: &str| {
            let (file, line) = (path.display(), print::plain(line));
            Failure::usage(format!("{file}, line {number}: `{line}` {what}"))
        };
        let (url, weight) = line.split_once(char::is_whitespace).unwrap_or((line, "1"));
        let weight = weight.trim().parse().ok().filter(|weight: &f64| *weight > 0.0);
        let weight = weight.ok_or_else(|| wrong("has a weight that is no number above 0"))?;
        let found = node(&canonical(&opened.settings, url)?, opened, links)?;
        nodes.push((found.ok_or_else(|| wrong("is no page of this crawl"))?, weight));
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
