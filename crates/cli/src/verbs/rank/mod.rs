//! `evercrawl rank`: which pages, hosts or domains of a crawl matter, by the links that it has found?

mod anchors;
mod args;
mod export;
mod names;
mod scores;

use std::collections::HashMap;
use std::io::Write;

use evercrawl_engine::importance::{LinkGraph, PageGroups, RankSnapshot, RankSnapshots};
use evercrawl_engine::live::SystemClock;
use evercrawl_engine::suspicion::Suspects;
use evercrawl_rank::{Graph, Repeats, top_nodes};
use evercrawl_urls::Patterns;
use serde_json::{Value, json};

use super::lab::shown;
use super::{Entered, Opened, enter};
use crate::exit::Failure;
use crate::units::show_count;
use crate::{control, crawl_config, exit, print};
pub(crate) use args::{Method, RankArgs, Start};
use names::{name_of, page_urls, url_of};
use scores::{Scores, scores};

/// Runs the verb here, or in the crawl that has the data directory open.
pub(crate) fn run(args: &RankArgs) -> anyhow::Result<u8> {
    let here = std::env::current_dir()?;
    let from = ["--files-from", &here.to_string_lossy()];
    match enter(&args.common, || control::forward(&args.common.data, &from))? {
        Entered::Here(opened) => show(args, &opened, &mut print::data()),
        Entered::There(code) => Ok(code),
    }
}

/// Shows what `args` asks for.
pub(crate) fn show(args: &RankArgs, opened: &Opened, out: &mut dyn Write) -> anyhow::Result<u8> {
    if let Some(why) = args.unheeded() {
        return Err(Failure::usage(why));
    }
    let suspects = Suspects::read(&opened.state, &crawl_config::spam(&opened.settings)?)?;
    let links = part(args, LinkGraph::read(&opened.state)?, opened)?;
    if let Some(path) = &args.export {
        export::export(args, path, &links, opened, out)?;
        return Ok(exit::OK);
    }
    let links = links.without_links_from(&suspects);
    match args.method {
        Method::Host | Method::Domain => {
            let groups = PageGroups::read(&links, |host| name_of(args.method, host, opened))?;
            // Every link of a page counts, so that a host passes on most to whom most of its pages link.
            let web = groups.graph(&links, Repeats::Each);
            let scores = scores(args, opened, &links, &web)?;
            let word = if args.method == Method::Host { "host" } else { "domain" };
            let ranked = Ranked { graph: &web, scores: &scores, word, anchors: None };
            ranked.show(args, out, |node| Ok(groups.name(node).to_owned()))?;
        }
        _ => {
            let scores = scores(args, opened, &links, links.graph())?;
            let anchors = match args.anchors {
                0 => None,
                most => {
                    let nodes = top_nodes(&scores.scores, args.top);
                    Some(anchors::frequent(&nodes, most, &links, opened)?)
                }
            };
            let ranked = Ranked { graph: links.graph(), scores: &scores, word: "url", anchors };
            ranked.show(args, out, |node| url_of(node, &links, opened))?;
            if args.keep {
                keep(opened, &links, &scores)?;
            }
        }
    }
    if suspects.count() > 0 && !args.json {
        let hosts = show_count(suspects.count() as u64);
        writeln!(
            out,
            "links of {hosts} hosts count for nothing: `evercrawl urls --spam` lists them"
        )?;
    }
    out.flush()?;
    Ok(exit::OK)
}

/// The pages that are asked for.
fn part(args: &RankArgs, links: LinkGraph, opened: &Opened) -> anyhow::Result<LinkGraph> {
    let Some(pattern) = &args.only else { return Ok(links) };
    let only = Patterns::new("--only", std::slice::from_ref(pattern))
        .map_err(|error| Failure::usage(error.to_string()))?;
    let keep: Vec<bool> = page_urls(&links, opened)?.iter().map(|url| only.is_match(url)).collect();
    Ok(links.keep_pages(&keep))
}

/// Keeps a ranking, for later ones to be compared with.
fn keep(opened: &Opened, links: &LinkGraph, scores: &Scores) -> anyhow::Result<()> {
    let snapshot = RankSnapshot::new(links, &scores.scores, SystemClock.now());
    Ok(RankSnapshots::in_data_dir(&opened.path).keep(&snapshot)?)
}

/// What was ranked, and how.
struct Ranked<'a> {
    graph: &'a Graph,
    scores: &'a Scores,
    /// What a node is called.
    word: &'static str,
    /// The words by which others link to each node, where they are asked for.
    anchors: Option<HashMap<u32, Vec<String>>>,
}

impl Ranked<'_> {
    fn show(
        &self,
        args: &RankArgs,
        out: &mut dyn Write,
        name: impl Fn(u32) -> anyhow::Result<String>,
    ) -> anyhow::Result<()> {
        let nodes = top_nodes(&self.scores.scores, args.top);
        if args.json {
            for node in nodes {
                print::json_line(out, &self.describe(node, &name(node)?))?;
            }
            return Ok(());
        }
        let rows: anyhow::Result<Vec<_>> =
            nodes.into_iter().map(|node| Ok(self.row(node, &name(node)?))).collect();
        let score = if self.scores.hubs.is_some() { "authority" } else { "score" };
        let hub = self.scores.hubs.as_ref().map(|_| "hub");
        let head: Vec<&str> =
            [score].into_iter().chain(hub).chain(["linked by", "links to", self.word]).collect();
        let head: Vec<&str> =
            head.into_iter().chain(self.anchors.as_ref().map(|_| "linked as")).collect();
        let (nodes, links) = (self.graph.nodes().into(), self.graph.link_count() as u64);
        let rounds = self.scores.rounds.filter(|_| args.start == Start::Hosts);
        let rounds = rounds.map_or(String::new(), |rounds| format!(", ranked in {rounds} sweeps"));
        writeln!(out, "{} {}s, {} links{rounds}", show_count(nodes), self.word, show_count(links))?;
        Ok(print::table(out, &head, &rows?)?)
    }

    fn row(&self, node: u32, name: &str) -> Vec<String> {
        let hub = self.scores.hubs.as_ref().map(|hubs| shown(hubs[node as usize]));
        let score = shown(self.scores.scores[node as usize]);
        let degrees = [self.graph.in_degree(node) as u64, self.graph.out_degree(node).into()];
        let numbers = [score].into_iter().chain(hub).chain(degrees.map(show_count));
        let anchors = self.anchors_of(node).map(|words| print::plain(&words.join(" | ")));
        numbers.chain([print::plain(name)]).chain(anchors).collect()
    }

    fn anchors_of(&self, node: u32) -> Option<&[String]> {
        self.anchors.as_ref().map(|anchors| anchors.get(&node).map_or(&[][..], Vec::as_slice))
    }

    fn describe(&self, node: u32, name: &str) -> Value {
        let score = self.scores.scores[node as usize];
        let mut line = json!({ self.word: name });
        match &self.scores.hubs {
            Some(hubs) => {
                line["authority"] = score.into();
                line["hub"] = hubs[node as usize].into();
            }
            None => line["score"] = score.into(),
        }
        line["linked_by"] = self.graph.in_degree(node).into();
        line["links_to"] = self.graph.out_degree(node).into();
        if let Some(anchors) = self.anchors_of(node) {
            line["anchors"] = json!(anchors);
        }
        line
    }
}
