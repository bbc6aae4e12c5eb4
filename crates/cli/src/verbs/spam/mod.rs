//! `evercrawl spam`: which hosts and pages of a crawl only pretend to be of use, and by what can one tell?
//!
//! Nothing is done about it here: that is a setting of the crawl, or the user's wish.

use std::io::Write;

use clap::Args;
use evercrawl_engine::suspicion::{ArchivedPages, HostSurvey, find_copies, survey_hosts};
use evercrawl_query::{Answer, Request, SpamFinding, SpamRequest, SpamSign, SpamView};
use evercrawl_spam::{Mirror, SpamVerdict};

use super::Opened;
use crate::args::Common;
use crate::control::unexpected;
use crate::units::{self, show_counted};
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

/// Shows what was found, hosts before pages before mirrors, the surest first.
pub(crate) fn run(args: &SpamArgs) -> anyhow::Result<u8> {
    let request = Request::Spam(SpamRequest { threshold: args.threshold, pages: args.pages });
    let mut out = print::data();
    super::ask(&args.common, &request, &mut |answer| match answer {
        Answer::Spam(view) if args.json => {
            Ok(view.findings.iter().try_for_each(|of| print::json_line(&mut out, of))?)
        }
        Answer::Spam(view) => write_all(&view, &mut out),
        other => Err(unexpected(&other)),
    })?;
    out.flush()?;
    Ok(exit::OK)
}

/// Looks at some pages of every host.
pub(crate) fn answer(asked: &SpamRequest, opened: &Opened) -> anyhow::Result<SpamView> {
    let hosts = look(opened, asked.pages)?;
    Ok(SpamView {
        hosts: hosts.len() as u64,
        pages: hosts.iter().map(|seen| seen.looked as u64).sum(),
        findings: findings(&hosts, asked.threshold),
    })
}

/// Looks at some pages of every host, in the order in which hosts were found.
fn look(opened: &Opened, pages: usize) -> anyhow::Result<Vec<HostSurvey>> {
    let (mut hosts, mut archived) = (Vec::new(), ArchivedPages::new(opened.segments()));
    survey_hosts(&opened.state, &mut archived, pages, u64::MAX, |seen| hosts.push(seen))?;
    hosts.sort_by(|a, b| a.found.cmp(&b.found).then_with(|| a.name.cmp(&b.name)));
    Ok(hosts)
}

/// Hosts before pages before mirrors, the surest first.
fn findings(hosts: &[HostSurvey], threshold: f64) -> Vec<SpamFinding> {
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
    let of_hosts = of_hosts.iter().map(|(seen, verdict)| SpamFinding::Host {
        host: seen.name.clone(),
        probability: verdict.probability,
        signs: signs(verdict),
    });
    let of_pages = of_pages.iter().map(|(url, verdict)| SpamFinding::Page {
        url: (*url).to_owned(),
        probability: verdict.probability,
        signs: signs(verdict),
    });
    let mirrors = find_copies(hosts).into_iter().map(|copy| mirror(hosts, copy));
    of_hosts.chain(of_pages).chain(mirrors).collect()
}

fn mirror(hosts: &[HostSurvey], copy: Mirror) -> SpamFinding {
    SpamFinding::Mirror {
        host: hosts[copy.host].name.clone(),
        mirror_of: hosts[copy.of].name.clone(),
        same: copy.same as u64,
        evidence: copy.evidence,
    }
}

fn signs(verdict: &SpamVerdict) -> Vec<SpamSign> {
    let signs = verdict.signs.iter().map(|sign| SpamSign {
        kind: sign.kind.name().to_owned(),
        score: sign.score,
        evidence: sign.evidence.clone(),
    });
    signs.collect()
}

fn write_all(view: &SpamView, out: &mut dyn Write) -> anyhow::Result<()> {
    for finding in &view.findings {
        write(finding, out)?;
    }
    let (pages, hosts) = (show_counted(view.pages, "page"), show_counted(view.hosts, "host"));
    writeln!(out, "looked at {pages} of {hosts}; nothing was done about any of them")?;
    if !view.findings.is_empty() {
        writeln!(
            out,
            "`evercrawl exclude PATTERN` leaves pages out, `evercrawl boost PATTERN x0.25` lets them count less,"
        )?;
        writeln!(out, "`evercrawl resume PATTERN` undoes either")?;
    }
    Ok(())
}

fn write(finding: &SpamFinding, out: &mut dyn Write) -> anyhow::Result<()> {
    let (what, name, probability, signs) = match finding {
        SpamFinding::Host { host, probability, signs } => ("host", host, probability, signs),
        SpamFinding::Page { url, probability, signs } => ("page", url, probability, signs),
        SpamFinding::Mirror { host, mirror_of, evidence, .. } => {
            let (name, of) = (print::plain(host), print::plain(mirror_of));
            return Ok(writeln!(out, "mirror {name} of {of}\n    {}", print::plain(evidence))?);
        }
    };
    writeln!(out, "{what} {}, {:.0} % likely", print::plain(name), 100.0 * probability)?;
    for sign in signs.iter().filter(|sign| sign.score >= 0.1) {
        writeln!(out, "    {}: {}", sign.kind, print::plain(&sign.evidence))?;
    }
    Ok(())
}
