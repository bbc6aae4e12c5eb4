//! `evercrawl spam`: which hosts and pages of a crawl only pretend to be of use, and by what can one tell?
//!
//! Nothing is done about it here: that is a setting of the crawl, or the user's wish.

use std::io::Write;

use clap::Args;
use evercrawl_engine::suspicion::{ArchivedPages, HostSurvey, find_copies, survey_hosts};
use evercrawl_spam::{Mirror, SpamVerdict};
use serde_json::{Value, json};

use super::Opened;
use crate::args::Common;
use crate::units::{self, show_count};
use crate::{exit, print};

#[derive(Debug, Args)]
pub(crate) struct SpamArgs {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Show what is spam with at least this probability
    #[arg(long, value_name = "SHARE", default_value = "90%", value_parser = units::share)]
    pub(crate) threshold: f64,
    /// How many pages of each host to look at
    #[arg(long, value_name = "N", default_value_t = 6)]
    pub(crate) pages: usize,
    /// JSON Lines instead of words
    #[arg(long)]
    pub(crate) json: bool,
}

/// Something that speaks for itself or against it.
enum Finding<'a> {
    Host(&'a HostSurvey, SpamVerdict),
    Page(&'a str, &'a SpamVerdict),
    Mirror(&'a HostSurvey, &'a HostSurvey, Mirror),
}

/// Shows what was found, hosts before pages before mirrors, the surest first.
pub(crate) fn show(args: &SpamArgs, opened: &Opened, out: &mut dyn Write) -> anyhow::Result<u8> {
    let hosts = look(opened, args.pages)?;
    let findings = findings(&hosts, args.threshold);
    for finding in &findings {
        if args.json {
            print::json_line(out, &describe(finding))?;
        } else {
            write(finding, out)?;
        }
    }
    if !args.json {
        let pages: usize = hosts.iter().map(|seen| seen.looked).sum();
        let [pages, hosts] = [pages, hosts.len()].map(|count| show_count(count as u64));
        writeln!(
            out,
            "looked at {pages} pages of {hosts} hosts; nothing was done about any of them"
        )?;
    }
    if !args.json && !findings.is_empty() {
        writeln!(
            out,
            "`evercrawl exclude PATTERN` leaves pages out, `evercrawl boost PATTERN x0.25` lets them count less,"
        )?;
        writeln!(out, "`evercrawl resume PATTERN` undoes either")?;
    }
    out.flush()?;
    Ok(exit::OK)
}

/// Looks at some pages of every host, in the order in which hosts were found.
fn look(opened: &Opened, pages: usize) -> anyhow::Result<Vec<HostSurvey>> {
    let (mut hosts, mut archived) = (Vec::new(), ArchivedPages::new(opened.segments()));
    survey_hosts(&opened.state, &mut archived, pages, u64::MAX, |seen| hosts.push(seen))?;
    hosts.sort_by(|a, b| a.found.cmp(&b.found).then_with(|| a.name.cmp(&b.name)));
    Ok(hosts)
}

fn findings(hosts: &[HostSurvey], threshold: f64) -> Vec<Finding<'_>> {
    let (mut of_hosts, mut of_pages) = (Vec::new(), Vec::new());
    for seen in hosts {
        let verdict = seen.verdict();
        if verdict.probability >= threshold {
            of_hosts.push((seen, verdict));
        } else {
            let sure = seen.pages.iter().filter(|(_, page)| page.probability >= threshold);
            of_pages.extend(sure.map(|(url, page)| (url.as_str(), page)));
        }
    }
    of_hosts.sort_by(|a, b| b.1.probability.total_cmp(&a.1.probability));
    of_pages.sort_by(|a, b| b.1.probability.total_cmp(&a.1.probability));
    let of_hosts = of_hosts.into_iter().map(|(seen, verdict)| Finding::Host(seen, verdict));
    let of_pages = of_pages.into_iter().map(|(url, verdict)| Finding::Page(url, verdict));
    let same = find_copies(hosts).into_iter();
    let same = same.map(|copy| Finding::Mirror(&hosts[copy.host], &hosts[copy.of], copy));
    of_hosts.chain(of_pages).chain(same).collect()
}

fn write(finding: &Finding<'_>, out: &mut dyn Write) -> anyhow::Result<()> {
    let (what, name, verdict) = match finding {
        Finding::Host(seen, verdict) => ("host", seen.name.as_str(), verdict),
        Finding::Page(url, verdict) => ("page", *url, *verdict),
        Finding::Mirror(seen, of, copy) => {
            let (name, of) = (print::plain(&seen.name), print::plain(&of.name));
            writeln!(out, "mirror {name} of {of}\n    {}", copy.evidence)?;
            return Ok(());
        }
    };
    writeln!(out, "{what} {}, {:.0} % likely", print::plain(name), 100.0 * verdict.probability)?;
    for sign in verdict.signs.iter().filter(|sign| sign.score >= 0.1) {
        writeln!(out, "    {}: {}", sign.kind.name(), print::plain(&sign.evidence))?;
    }
    Ok(())
}

fn describe(finding: &Finding<'_>) -> Value {
    match finding {
        Finding::Host(seen, verdict) => against("host", &seen.name, verdict),
        Finding::Page(url, verdict) => against("url", url, verdict),
        Finding::Mirror(seen, of, copy) => json!({
            "host": seen.name,
            "mirror_of": of.name,
            "same": copy.same,
            "evidence": copy.evidence,
        }),
    }
}

fn against(what: &str, name: &str, verdict: &SpamVerdict) -> Value {
    let signs = verdict.signs.iter().map(
        |sign| json!({ "kind": sign.kind.name(), "score": sign.score, "evidence": sign.evidence }),
    );
    let signs: Vec<Value> = signs.collect();
    json!({ what: name, "probability": verdict.probability, "signs": signs })
}
