//! `evercrawl changes`: what was found to be new, changed or gone, in the order of its commits.
//!
//! Every line carries its number in the log. Whoever keeps the number of the last line it has dealt
//! with, and comes back with `--after`, sees every later line once and none twice, over restarts
//! of either side.

use std::collections::HashMap;
use std::io::Write;
use std::time::Duration;

use evercrawl_engine::live::SystemClock;
use evercrawl_model::{Change, Time, Visit};
use evercrawl_state::{DiskStore, View};

use super::Opened;
use super::history::{describe, percent};
use crate::args::Changes;
use crate::{exit, print};

/// How often a running crawl's log is looked at for more.
const POLL: Duration = Duration::from_millis(500);
/// A visit is committed at most this long after it began.
const LONGEST_VISIT: Duration = Duration::from_secs(600);

/// Shows what `args` asks for; with `--follow`, until the reader or the crawl goes away.
pub(crate) fn show(args: &Changes, opened: &Opened, out: &mut dyn Write) -> anyhow::Result<u8> {
    let since = args.since.map_or(Time::EPOCH, |since| since.at(SystemClock.now()));
    let mut next = match args.after {
        Some(after) => after.saturating_add(1),
        None => first_since(&opened.state, since)?,
    };
    let mut left = args.limit.unwrap_or(u64::MAX);
    loop {
        next = show_from(next, since, &mut left, args, opened, out)?;
        out.flush()?;
        if left == 0 || !args.follow || opened.held.is_some() {
            return Ok(exit::OK);
        }
        wait();
    }
}

/// Shows what is committed from number `next` on, and returns the number after it.
fn show_from(
    mut next: u64,
    since: Time,
    left: &mut u64,
    args: &Changes,
    opened: &Opened,
    out: &mut dyn Write,
) -> anyhow::Result<u64> {
    let files = opened.file_names()?;
    for visit in opened.state.visits(next) {
        let (number, visit) = visit?;
        if *left == 0 {
            break;
        }
        next = number + 1;
        if visit.at >= since && (args.all || is_news(visit.change)) {
            *left -= 1;
            write(number, &visit, args.json, opened, &files, out)?;
        }
    }
    Ok(next)
}

fn is_news(change: Change) -> bool {
    matches!(change, Change::New | Change::Changed | Change::Near | Change::Gone)
}

fn write(
    number: u64,
    visit: &Visit,
    as_json: bool,
    opened: &Opened,
    files: &HashMap<u32, String>,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let url = |page| opened.state.reading().url(page);
    let address = url(visit.page)?.unwrap_or_default();
    if as_json {
        let near = visit.near.map(url).transpose()?.flatten();
        let mut line = describe(visit, near, files);
        line.insert("number".to_owned(), number.into());
        line.insert("url".to_owned(), address.into());
        return Ok(print::json_line(out, &line.into())?);
    }
    let (at, change) = (visit.at.rfc3339(), visit.change.code());
    let (percent, address) = (percent(visit), print::plain(&address));
    let note = note(visit);
    Ok(writeln!(out, "{number:>8} {at}  {change:<8} {percent:>5} {address}{note}")?)
}

/// Why a page is gone, where that is not what its server says.
fn note(visit: &Visit) -> String {
    match visit.outcome {
        outcome if outcome.is_substitute() => format!("  ({})", outcome.code()),
        _ if visit.is_move() => "  (moved)".to_owned(),
        _ => String::new(),
    }
}

/// The first number whose visit can have begun at `since` or later. Numbers follow the order of
/// commits, which is that of time but for visits that took long.
fn first_since(state: &View<DiskStore>, since: Time) -> anyhow::Result<u64> {
    let surely_before = since.before(LONGEST_VISIT);
    let (mut low, mut high) = (0, state.counters().visits);
    while low < high {
        let middle = low + (high - low) / 2;
        let visit = state.visits(middle).next().transpose()?;
        match visit {
            Some((_, visit)) if visit.at < surely_before => low = middle + 1,
            _ => high = middle,
        }
    }
    Ok(low)
}

#[allow(clippy::disallowed_methods)] // a thread that serves this verb alone
fn wait() {
    std::thread::sleep(POLL);
}
