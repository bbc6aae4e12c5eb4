//! `evercrawl rank`: which pages, hosts or domains of a crawl matter, by the links that it has found?

mod args;
mod names;
mod scores;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::Context;
use evercrawl_engine::importance::{Groups, LinkGraph};
use evercrawl_engine::suspicion::Suspects;
use evercrawl_rank::{Graph, Repeats, top};
use serde_json::{Value, json};

use super::lab::shown;
use super::{Entered, Opened, enter};
use crate::units::show_count;
use crate::{control, crawl_config, exit, print};
pub(crate) use args::{Method, RankArgs};
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
    let suspects = Suspects::read(&opened.state, &crawl_config::spam(&opened.settings)?)?;
    let links = LinkGraph::read(&opened.state)?;
    if let Some(path) = &args.export {
        export(&args.file(path), &links, opened, out)?;
        return Ok(exit::OK);
    }
    let links = links.deaf_to(&suspects);
    match args.method {
        Method::Host | Method::Domain => {
            let groups = Groups::read(&links, |host| name_of(args.method, host, opened))?;
            // Every link of a page counts, so that a host passes on most to whom most of its pages link.
            let web = groups.graph(&links, Repeats::Each);
            let scores = scores(args, opened, &links, &web)?;
            let word = if args.method == Method::Host { "host" } else { "domain" };
            let ranked = Ranked { graph: &web, scores: &scores, word };
            ranked.show(args, out, |node| Ok(groups.name(node).to_owned()))?;
        }
        _ => {
            let scores = scores(args, opened, &links, links.graph())?;
            let ranked = Ranked { graph: links.graph(), scores: &scores, word: "url" };
            ranked.show(args, out, |node| url_of(node, &links, opened))?;
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

/// What was ranked, and how.
struct Ranked<'a> {
    graph: &'a Graph,
    scores: &'a Scores,
    /// What a node is called.
    word: &'static str,
}

impl Ranked<'_> {
    fn show(
        &self,
        args: &RankArgs,
        out: &mut dyn Write,
        name: impl Fn(u32) -> anyhow::Result<String>,
    ) -> anyhow::Result<()> {
        let nodes = top(&self.scores.scores, args.top);
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
        let (nodes, links) = (self.graph.nodes().into(), self.graph.link_count() as u64);
        writeln!(out, "{} {}s, {} links", show_count(nodes), self.word, show_count(links))?;
        Ok(print::table(out, &head, &rows?)?)
    }

    fn row(&self, node: u32, name: &str) -> Vec<String> {
        let hub = self.scores.hubs.as_ref().map(|hubs| shown(hubs[node as usize]));
        let score = shown(self.scores.scores[node as usize]);
        let degrees = [self.graph.in_degree(node) as u64, self.graph.out_degree(node).into()];
        let numbers = [score].into_iter().chain(hub).chain(degrees.map(show_count));
        numbers.chain([print::plain(name)]).collect()
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
        line
    }
}

/// Writes every link as a line of CSV.
fn export(
    path: &Path,
    links: &LinkGraph,
    opened: &Opened,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let cannot = || format!("cannot write {}", path.display());
    let urls = page_urls(links, opened)?;
    let write = || -> std::io::Result<()> {
        let mut file = BufWriter::new(File::create(path)?);
        writeln!(file, "src,dst")?;
        for (from, to) in links.graph().links() {
            writeln!(file, "{},{}", urls[from as usize], urls[to as usize])?;
        }
        file.flush()
    };
    write().with_context(cannot)?;
    let count = show_count(links.graph().link_count() as u64);
    Ok(writeln!(out, "{count} links written to {}", path.display())?)
}
