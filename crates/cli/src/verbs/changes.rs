//! `evercrawl changes`: what was found to be new, changed or gone, in the order of its commits.
//!
//! Every line carries its number in the log. A reader that stores the number of the last line it dealt
//! with, and comes back with `--after`, sees every later line once and none twice, over restarts
//! of either side.

use std::io::Write;

use evercrawl_query::{
    Answer, At, ChangeView, ChangesRequest, LifeChangeView, Request, VisitEntry, VisitView,
    WhatChanged,
};

use super::history::percent;
use crate::args::Changes;
use crate::control::unexpected;
use crate::exit::{self, Failure};
use crate::print;
use crate::units::show_counted;

/// Shows what `args` asks for; with `--follow` until the reader or the crawl goes away.
pub(crate) fn run(args: &Changes) -> anyhow::Result<u8> {
    let now = evercrawl_engine::live::SystemClock.now();
    let request = Request::Changes(ChangesRequest {
        after: args.after,
        since: args.since.map(|since| At(since.at(now))),
        states: args.states,
        noise: args.noise,
        all: args.all,
        imported: args.imported,
        limit: args.limit,
        follow: args.follow,
    });
    let (mut out, mut last, mut masked) = (print::data(), args.after, 0);
    let shown = super::ask(&args.common, &request, &mut |answer| match answer {
        Answer::Changes(part) => {
            masked += part.masked;
            for change in &part.changes {
                write(change, args.json, &mut out)?;
                last = Some(change.number);
            }
            Ok(out.flush()?)
        }
        other => Err(unexpected(&other)),
    });
    out.flush()?;
    note_masked(masked, args.json);
    match shown {
        Err(error) if exit::code_of(&error) == exit::INTERRUPTED => Err(resume_with(last)),
        shown => shown.map(|()| exit::OK),
    }
}

/// Tells on standard error what the list leaves out: a reader of the list is not to think that nothing differed.
fn note_masked(visits: u64, as_json: bool) {
    let hint = "use --noise to list them";
    if visits > 0 && as_json {
        let note = serde_json::json!({"note": {"masked_visits": visits, "hint": hint}});
        let _ = print::json_line(&mut std::io::stderr().lock(), &note);
    } else if visits > 0 {
        let what = show_counted(visits, "visit");
        eprintln!("{what} found nothing but noise; {hint}");
    }
}

/// The crawl stopped while more could have come.
fn resume_with(last: Option<u64>) -> anyhow::Error {
    let resume = last.map_or("ask again".to_owned(), |last| format!("resume with --after {last}"));
    let message = format!("the crawl stopped; {resume}");
    Failure { code: exit::INTERRUPTED, message }.into()
}

fn write(change: &ChangeView, as_json: bool, out: &mut dyn Write) -> anyhow::Result<()> {
    if as_json {
        return Ok(print::json_line(out, change)?);
    }
    let (at, code, percent, subject, note) = match &change.what {
        WhatChanged::Visit(entry) => {
            let visit = &entry.visit;
            let url = visit.url.as_deref().unwrap_or_default();
            let code = if entry.noise_only { "noise" } else { visit.change.text() };
            (visit.time, code, percent(visit), url, visit_note(entry))
        }
        WhatChanged::Page(entry) => {
            let note = life_note(&entry.life, &entry.life.reason);
            (entry.time, entry.change.code(), String::new(), &*entry.url, note)
        }
        WhatChanged::Site(entry) => {
            (entry.time, "site", String::new(), &*entry.host, site_note(entry.passages))
        }
    };
    let (at, subject) = (at.to_string(), print::plain(subject));
    Ok(writeln!(out, "{:>8} {at}  {code:<8} {percent:>5} {subject}{note}", change.number)?)
}

fn visit_note(entry: &VisitEntry) -> String {
    match &entry.life {
        Some(life) => {
            let status = entry.visit.status.unwrap_or(0);
            life_note(life, &format!("{} {status}", life.reason))
        }
        None => match &entry.target {
            Some(target) => {
                format!("  ({} to {})", redirect_word(visit_status(entry)), print::plain(target))
            }
            None => other_note(entry),
        },
    }
}

fn visit_status(entry: &VisitEntry) -> u16 {
    entry.visit.status.unwrap_or(0)
}

fn redirect_word(status: u16) -> &'static str {
    if matches!(status, 301 | 308) { "moved" } else { "redirects" }
}

/// What a page is, where it is no page like others.
fn other_note(entry: &VisitEntry) -> String {
    let substitute = substitute_note(&entry.visit);
    let kind = entry.kind.map(|kind| kind.text()).filter(|kind| *kind != "page");
    match (substitute.is_empty(), kind) {
        (true, Some(kind)) => format!("  ({kind})"),
        _ => substitute,
    }
}

fn life_note(life: &LifeChangeView, reason: &str) -> String {
    format!("  ({} to {}: {reason})", life.from, life.to)
}

fn site_note(passages: Option<u32>) -> String {
    let what = match passages {
        Some(1) => "one passage".to_owned(),
        Some(count) => format!("{count} passages"),
        None => "another template".to_owned(),
    };
    format!("  (on all its pages: {what})")
}

/// Why a page is gone, where that is not what its server says.
fn substitute_note(visit: &VisitView) -> String {
    match visit.outcome.0 {
        outcome if outcome.is_substitute() => format!("  ({})", outcome.code()),
        evercrawl_model::Outcome::Redirect if matches!(visit.status, Some(301 | 308)) => {
            "  (moved)".to_owned()
        }
        _ => String::new(),
    }
}
