//! `evercrawl retain`: deletes what the retention rules no longer keep, or lists it.

use std::io::Write;
use std::sync::Arc;

use evercrawl_engine::DataDir;
use evercrawl_engine::live::SystemClock;
use evercrawl_engine::retention::{self, Foreseen, Piece};
use evercrawl_model::Dropped;
use serde_json::{Value, json};

use super::crawl::open_walk;
use super::{Entered, Opened, enter, take};
use crate::args::{Retain, RunArgs};
use crate::exit::Failure;
use crate::units::{counted, show_count, show_size};
use crate::{control, crawl_config, exit, print};

/// Runs the verb here; what only reads also in the crawl that has the data directory open.
pub(crate) fn run(args: &Retain) -> anyhow::Result<u8> {
    let opened = match enter(&args.common, || control::forward(&args.common.data, &[]))? {
        Entered::Here(opened) => opened,
        Entered::There(code) => return Ok(code),
    };
    if args.list || args.dry_run {
        return show(args, &opened, &mut print::data());
    }
    if crawl_config::retention(&opened.settings)?.is_all() {
        eprintln!("nothing to delete: retention.archive and retention.visits are `all`");
        return Ok(exit::OK);
    }
    drop(opened);
    apply(args)
}

/// Shows what was dropped, or what would be.
pub(crate) fn show(args: &Retain, opened: &Opened, out: &mut dyn Write) -> anyhow::Result<u8> {
    if args.list {
        for dropped in opened.state.dropped() {
            write_dropped(&dropped?, args.json, out)?;
        }
    } else if args.dry_run {
        let config = crawl_config::retention(&opened.settings)?;
        let foreseen = retention::foresee(&opened.state, &config, SystemClock.now())?;
        write_foreseen(foreseen, args.json, out)?;
    } else {
        return Err(Failure::config(
            "a crawl is running here, and applies the rules every `retention.every`; \
             stop it to apply them now",
        ));
    }
    out.flush()?;
    Ok(exit::OK)
}

/// Drops, piece by piece; each is on disk before the next begins.
fn apply(args: &Retain) -> anyhow::Result<u8> {
    let settings = crawl_config::settings(&args.common, None)?;
    let config = Arc::new(crawl_config::crawl_config(&settings, &RunArgs::default())?);
    let dir = take(&args.common.data, DataDir::open)?;
    let mut walk = open_walk(&dir, &settings, &config)?;
    let now = SystemClock.now();
    // What the last run left to be finished is finished, and so can be looked at.
    walk.commit_now()?;
    let mut retention = walk.retention(0.0, now, Arc::default());
    let mut out = print::data();
    while let Some(piece) = retention.next_piece()? {
        walk.retain(&piece, now)?;
        walk.commit_now()?;
        let dropped = match &piece {
            Piece::File(rewrite) => &rewrite.event.dropped,
            Piece::Visits(visits) => &visits.dropped,
        };
        write_dropped(dropped, args.json, &mut out)?;
    }
    walk.close()?;
    for problem in &retention.problems {
        eprintln!("{}", print::plain(problem));
    }
    Ok(if retention.problems.is_empty() { exit::OK } else { exit::UNEXPECTED })
}

fn write_dropped(dropped: &Dropped, as_json: bool, out: &mut dyn Write) -> anyhow::Result<()> {
    if as_json {
        return Ok(print::json_line(out, &describe(dropped))?);
    }
    let Dropped { at, rule, from, count, bytes } = dropped;
    let (at, count, size) = (at.rfc3339(), show_count(*count), show_size(*bytes));
    let (rule, from) = (print::plain(rule), print::plain(from));
    Ok(writeln!(out, "{at}  {count:>9} deleted, {size:>7}, from {from}; rule: {rule}")?)
}

fn describe(dropped: &Dropped) -> Value {
    json!({
        "time": dropped.at.rfc3339(),
        "kept": dropped.rule,
        "from": dropped.from,
        "dropped": dropped.count,
        "bytes": dropped.bytes,
    })
}

fn write_foreseen(foreseen: Foreseen, as_json: bool, out: &mut dyn Write) -> anyhow::Result<()> {
    let Foreseen { files, records, bytes, visits } = foreseen;
    if as_json {
        let line = json!({"files": files, "captures": records, "bytes": bytes, "visits": visits});
        return Ok(print::json_line(out, &line)?);
    }
    Ok(writeln!(
        out,
        "would delete {} ({}) from {}, and {} from the log",
        counted(records, "capture"),
        show_size(bytes),
        counted(files, "WARC file"),
        counted(visits, "visit"),
    )?)
}
