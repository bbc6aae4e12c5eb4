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

/// Shows what `args` asks for; with `--follow` until the reader or the crawl goes away.
pub(crate) fn run(args: &Changes) -> anyhow::Result<u8> {
    let now = evercrawl_engine::live::SystemClock.now();
    let request = Request::Changes(ChangesRequest {
        after: args.after,
        since: args.since.map(|since| At(since.at(now))),
        states: args.states,
        all: args.all,
        limit: args.limit,
        follow: args.follow,
    });
    let (mut out, mut last) = (print::data(), args.after);
    let shown = super::ask(&args.common, &request, &mut |answer| match answer {
        Answer::Changes(part) => {
            for change in &part.changes {
                write(change, args.json, &mut out)?;
                last = Some(change.number);
            }
            Ok(out.flush()?)
        }
        other => Err(unexpected(&other)),
    });
    out.flush()?;
    match shown {
        Err(error) if exit::code_of(&error) == exit::INTERRUPTED => Err(resume_with(last)),
        shown => shown.map(|()| exit::OK),
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
            (visit.time, visit.change.text(), percent(visit), url, visit_note(entry))
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
        None => substitute_note(&entry.visit),
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
