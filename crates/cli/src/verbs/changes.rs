//! `evercrawl changes`: what was found to be new, changed or gone, in the order of its commits.
//!
//! Every line carries its number in the log. Whoever keeps the number of the last line it has dealt
//! with, and comes back with `--after`, sees every later line once and none twice, over restarts
//! of either side.

use std::collections::HashMap;
use std::io::Write;
use std::time::Duration;

use evercrawl_engine::live::SystemClock;
use evercrawl_model::{Change, LifeChange, LifeState, LogNotice, PageKey, Time, Visit};
use evercrawl_state::{DiskStore, LogEntry, StateError, View};
use serde_json::{Map, Value, json};

use super::Opened;
use super::history::{describe, percent};
use crate::args::Changes;
use crate::{exit, print};

/// How often a running crawl's log is looked at for more.
const POLL: Duration = Duration::from_millis(500);
/// A visit is committed at most this long after it began.
const LONGEST_VISIT: Duration = Duration::from_secs(600);

/// Shows what `args` asks for of a crawl that does not run: more never comes.
pub(crate) fn show(args: &Changes, opened: &Opened, out: &mut dyn Write) -> anyhow::Result<u8> {
    let mut left = Left::new(args, opened)?;
    left.show(args, opened, out)?;
    Ok(exit::OK)
}

/// The same of a running crawl; with `--follow`, until the reader or the crawl goes away. What is committed is opened
/// anew each time: who waits must not keep open what the crawl wants to close.
pub(crate) fn running(
    args: &Changes,
    open: impl Fn() -> anyhow::Result<Opened>,
    out: &mut dyn Write,
) -> anyhow::Result<u8> {
    let mut left = Left::new(args, &open()?)?;
    loop {
        match open() {
            Ok(opened) => left.show(args, &opened, out)?,
            Err(error) if has_ended(&error) => return Ok(exit::INTERRUPTED),
            Err(error) => return Err(error),
        }
        if left.lines == 0 || !args.follow {
            return Ok(exit::OK);
        }
        wait();
    }
}

fn has_ended(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(StateError::Ended))
}

/// What is still to be shown.
struct Left {
    /// From this number on.
    next: u64,
    since: Time,
    lines: u64,
}

impl Left {
    fn new(args: &Changes, opened: &Opened) -> anyhow::Result<Self> {
        let since = args.since.map_or(Time::EPOCH, |since| since.at(SystemClock.now()));
        let next = match args.after {
            Some(after) => after.saturating_add(1),
            None => first_since(&opened.state, since)?,
        };
        Ok(Left { next, since, lines: args.limit.unwrap_or(u64::MAX) })
    }

    /// Shows what is committed by now.
    fn show(&mut self, args: &Changes, opened: &Opened, out: &mut dyn Write) -> anyhow::Result<()> {
        let files = opened.file_names()?;
        for entry in opened.state.log(self.next) {
            let (number, entry) = entry?;
            if self.lines == 0 {
                break;
            }
            self.next = number + 1;
            if entry.at() >= self.since && is_wanted(&entry, args) {
                self.lines -= 1;
                line_of(&entry, args, opened, &files)?.write(number, args.json, out)?;
            }
        }
        Ok(out.flush()?)
    }
}

fn line_of(
    entry: &LogEntry,
    args: &Changes,
    opened: &Opened,
    files: &HashMap<u32, String>,
) -> anyhow::Result<Line> {
    match entry {
        LogEntry::Visit(visit, turn) => {
            visit_line(visit, turn.filter(|_| args.states || args.all), opened, files)
        }
        LogEntry::Notice(notice) => notice_line(notice, opened),
    }
}

/// Whether it was asked for.
fn is_wanted(entry: &LogEntry, args: &Changes) -> bool {
    args.all
        || match entry {
            LogEntry::Visit(visit, turn) => is_news(visit.change) || args.states && turn.is_some(),
            LogEntry::Notice(LogNotice::SiteChanged { .. }) => true,
            LogEntry::Notice(LogNotice::LifeChanged { .. }) => args.states,
        }
}

fn is_news(change: Change) -> bool {
    matches!(change, Change::New | Change::Changed | Change::Near | Change::Gone)
}

/// A line of the log, for people and for programs.
struct Line {
    at: Time,
    change: &'static str,
    percent: String,
    /// A URL, or a host.
    subject: String,
    note: String,
    fields: Map<String, Value>,
}

impl Line {
    fn write(mut self, number: u64, as_json: bool, out: &mut dyn Write) -> anyhow::Result<()> {
        if as_json {
            self.fields.insert("number".to_owned(), number.into());
            return Ok(print::json_line(out, &self.fields.into())?);
        }
        let Line { at, change, percent, subject, note, .. } = self;
        let (at, subject) = (at.rfc3339(), print::plain(&subject));
        Ok(writeln!(out, "{number:>8} {at}  {change:<8} {percent:>5} {subject}{note}")?)
    }
}

fn visit_line(
    visit: &Visit,
    turn: Option<LifeChange>,
    opened: &Opened,
    files: &HashMap<u32, String>,
) -> anyhow::Result<Line> {
    let subject = url(opened, visit.page)?;
    let near = visit.near.map(|page| url(opened, page)).transpose()?;
    let mut fields = describe(visit, near, files);
    fields.insert("url".to_owned(), subject.clone().into());
    let note = match turn {
        Some(turn) => {
            fields.extend(turn_fields(turn, visit.outcome.code()));
            turn_note(turn, &format!("{} {}", visit.outcome.code(), visit.status))
        }
        None => note(visit),
    };
    let (change, percent) = (visit.change.code(), percent(visit));
    Ok(Line { at: visit.at, change, percent, subject, note, fields })
}

fn notice_line(notice: &LogNotice, opened: &Opened) -> anyhow::Result<Line> {
    let (change, subject, note, mut fields) = match *notice {
        LogNotice::LifeChanged { page, change: turn, reason, .. } => {
            let change = if turn.to == LifeState::Refused { "refused" } else { "restored" };
            let subject = url(opened, page)?;
            let mut fields = turn_fields(turn, reason.code());
            fields.insert("url".to_owned(), subject.clone().into());
            (change, subject, turn_note(turn, reason.code()), fields)
        }
        LogNotice::SiteChanged { host, passages, .. } => {
            let host = opened.state.host(host)?.map_or_else(String::new, |row| row.authority);
            let many = Some(passages).filter(|passages| *passages > 0);
            let parts = [("host", json!(host)), ("passages", json!(many))];
            let fields = parts.map(|(name, value)| (name.to_owned(), value)).into_iter().collect();
            ("site", host, site_note(many), fields)
        }
    };
    fields.insert("time".to_owned(), notice.at().rfc3339().into());
    fields.insert("change".to_owned(), change.into());
    Ok(Line { at: notice.at(), change, percent: String::new(), subject, note, fields })
}

fn url(opened: &Opened, page: PageKey) -> anyhow::Result<String> {
    Ok(opened.state.reading().url(page)?.unwrap_or_default())
}

fn turn_fields(turn: LifeChange, reason: &str) -> Map<String, Value> {
    let parts = [("from", turn.from.code()), ("to", turn.to.code()), ("reason", reason)];
    parts.map(|(name, word)| (name.to_owned(), json!(word))).into_iter().collect()
}

fn turn_note(turn: LifeChange, reason: &str) -> String {
    format!("  ({} to {}: {reason})", turn.from.code(), turn.to.code())
}

fn site_note(passages: Option<u32>) -> String {
    let what = match passages {
        Some(1) => "a passage".to_owned(),
        Some(count) => format!("{count} passages"),
        None => "another template".to_owned(),
    };
    format!("  (on all its pages: {what})")
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
    let (mut low, mut high) = (0, state.counters().logged);
    while low < high {
        let middle = low + (high - low) / 2;
        let entry = state.log(middle).next().transpose()?;
        match entry {
            Some((_, entry)) if entry.at() < surely_before => low = middle + 1,
            _ => high = middle,
        }
    }
    Ok(low)
}

#[allow(clippy::disallowed_methods)] // a thread that serves this verb alone
fn wait() {
    std::thread::sleep(POLL);
}
