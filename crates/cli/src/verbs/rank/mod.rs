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
use evercrawl_query::{
    Answer, RankMethod, RankRequest, RankRow, RankStart, RankUnit, RankView, Request,
};
use evercrawl_rank::{Graph, Repeats, top_nodes};
use evercrawl_urls::Patterns;

use super::Opened;
use super::lab::shown;
use crate::control::unexpected;
use crate::exit::Failure;
use crate::units::{show_count, show_counted};
use crate::{crawl_config, exit, print};
pub(crate) use args::RankArgs;
use names::{name_of, page_urls, url_of};
use scores::{Scores, scores};

/// Ranks here, or has the crawl do so that has the data directory open.
pub(crate) fn run(args: &RankArgs) -> anyhow::Result<u8> {
    if let Some(why) = args.unheeded() {
        return Err(Failure::usage(why));
    }
    let request = Request::Rank(Box::new(args.request(std::env::current_dir()?)));
    let mut out = print::data();
    super::ask(&args.common, &request, &mut |answer| match answer {
        Answer::Rank(ranking) => write(args, &ranking, &mut out),
        Answer::Exported(done) => {
            let name = args.export.as_deref().unwrap_or(&done.file).display();
            Ok(writeln!(out, "{} written to {name}", show_counted(done.links, "link"))?)
        }
        other => Err(unexpected(&other)),
    })?;
    out.flush()?;
    Ok(exit::OK)
}

/// Ranks by what is known, or writes the links to a file.
pub(crate) fn answer(asked: &RankRequest, opened: &Opened) -> anyhow::Result<Answer> {
    let suspects = Suspects::read(&opened.state, &crawl_config::spam(&opened.settings)?)?;
    let links = part(asked, LinkGraph::read(&opened.state)?, opened)?;
    if let Some(path) = &asked.export {
        return Ok(Answer::Exported(export::export(asked, path, &links, opened)?));
    }
    let links = links.without_links_from(&suspects);
    let ranking = match asked.method {
        RankMethod::Host | RankMethod::Domain => rank_groups(asked, &links, opened)?,
        _ => rank_pages(asked, &links, opened)?,
    };
    Ok(Answer::Rank(RankView { suspect_hosts: suspects.count() as u64, ..ranking }))
}

fn rank_groups(
    asked: &RankRequest,
    links: &LinkGraph,
    opened: &Opened,
) -> anyhow::Result<RankView> {
    let groups = PageGroups::read(links, |host| name_of(asked.method, host, opened))?;
    // Every link of a page counts, so that a host passes on most to whom most of its pages link.
    let web = groups.graph(links, Repeats::Each);
    let scores = scores(asked, opened, links, &web)?;
    let host = asked.method == RankMethod::Host;
    let unit = if host { RankUnit::Host } else { RankUnit::Domain };
    let ranked = Ranked { graph: &web, scores: &scores, unit, anchors: None };
    ranked.view(asked, |node| Ok(groups.name(node).to_owned()))
}

fn rank_pages(asked: &RankRequest, links: &LinkGraph, opened: &Opened) -> anyhow::Result<RankView> {
    let scores = scores(asked, opened, links, links.graph())?;
    let anchors = match asked.anchors {
        0 => None,
        most => {
            let nodes = top_nodes(&scores.scores, asked.top);
            Some(anchors::frequent(&nodes, most, links, opened)?)
        }
    };
    let ranked = Ranked { graph: links.graph(), scores: &scores, unit: RankUnit::Url, anchors };
    let view = ranked.view(asked, |node| url_of(node, links, opened))?;
    if asked.keep {
        keep(opened, links, &scores)?;
    }
    Ok(view)
}

/// The pages that are asked for.
fn part(args: &RankRequest, links: LinkGraph, opened: &Opened) -> anyhow::Result<LinkGraph> {
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
    unit: RankUnit,
    /// The words by which others link to each node, where they are asked for.
    anchors: Option<HashMap<u32, Vec<String>>>,
}

impl Ranked<'_> {
    fn view(
        &self,
        asked: &RankRequest,
        name: impl Fn(u32) -> anyhow::Result<String>,
    ) -> anyhow::Result<RankView> {
        let nodes = top_nodes(&self.scores.scores, asked.top).into_iter();
        let rows = nodes.map(|node| Ok(self.row(node, name(node)?)));
        let sweeps = self.scores.rounds.filter(|_| asked.start == RankStart::Hosts);
        Ok(RankView {
            unit: self.unit,
            nodes: self.graph.nodes().into(),
            links: self.graph.link_count() as u64,
            sweeps: sweeps.map(|sweeps| sweeps as u64),
            suspect_hosts: 0,
            rows: rows.collect::<anyhow::Result<_>>()?,
        })
    }

    fn row(&self, node: u32, name: String) -> RankRow {
        let score = Some(self.scores.scores[node as usize]);
        let hub = self.scores.hubs.as_ref().map(|hubs| hubs[node as usize]);
        let (score, authority) = if hub.is_some() { (None, score) } else { (score, None) };
        let anchors = self.anchors.as_ref();
        let mut row = RankRow {
            score,
            authority,
            hub,
            linked_by: self.graph.in_degree(node) as u64,
            links_to: self.graph.out_degree(node).into(),
            anchors: anchors.map(|of| of.get(&node).cloned().unwrap_or_default()),
            ..RankRow::default()
        };
        *match self.unit {
            RankUnit::Url => &mut row.url,
            RankUnit::Host => &mut row.host,
            RankUnit::Domain => &mut row.domain,
        } = Some(name);
        row
    }
}

fn write(args: &RankArgs, ranking: &RankView, out: &mut dyn Write) -> anyhow::Result<()> {
    if args.json {
        return Ok(ranking.rows.iter().try_for_each(|row| print::json_line(out, row))?);
    }
    let unit = ranking.unit.name();
    let has_hubs = ranking.rows.iter().any(|row| row.hub.is_some()) || args.is_by_hubs();
    let score = if has_hubs { "authority" } else { "score" };
    let hub = has_hubs.then_some("hub");
    let head = [score].into_iter().chain(hub).chain(["linked by", "links to", unit]);
    let head: Vec<&str> = head.chain((args.anchors > 0).then_some("linked as")).collect();
    let rows: Vec<Vec<String>> = ranking.rows.iter().map(cells).collect();
    let sweeps =
        ranking.sweeps.map(|sweeps| format!(", ranked in {}", show_counted(sweeps, "sweep")));
    let (nodes, links) = (show_counted(ranking.nodes, unit), show_counted(ranking.links, "link"));
    writeln!(out, "{nodes}, {links}{}", sweeps.unwrap_or_default())?;
    print::table(out, &head, &rows)?;
    if ranking.suspect_hosts > 0 {
        let hosts = show_counted(ranking.suspect_hosts, "host");
        writeln!(out, "links of {hosts} count for nothing: `evercrawl urls --spam` lists them")?;
    }
    Ok(())
}

fn cells(row: &RankRow) -> Vec<String> {
    let scores = [row.score, row.authority, row.hub].into_iter().flatten().map(shown);
    let degrees = [row.linked_by, row.links_to].map(show_count);
    let anchors = row.anchors.as_ref().map(|words| print::plain(&words.join(" | ")));
    scores.chain(degrees).chain([print::plain(row.name())]).chain(anchors).collect()
}
