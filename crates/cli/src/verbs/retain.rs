//! `evercrawl retain`: drop what need not be kept, say what would be dropped, list what was.

use std::io::Write;
use std::sync::Arc;

use evercrawl_engine::DataDir;
use evercrawl_engine::live::SystemClock;
use evercrawl_engine::retention::{self, Foreseen, Piece};
use evercrawl_model::Time;
use evercrawl_query::{Answer, DroppedView, Request, RetentionPreview};

use super::crawl::open_walk;
use super::{Entered, Opened, enter, take};
use crate::args::{Retain, RunArgs};
use crate::control::unexpected;
use crate::exit::Failure;
use crate::units::{show_count, show_counted, show_size};
use crate::{control, crawl_config, exit, print};

/// Runs the verb here; what only reads also in the crawl that has the data directory open.
pub(crate) fn run(args: &Retain) -> anyhow::Result<u8> {
    if args.list || args.dry_run {
        return show(args);
    }
    let data = &args.common.data;
    // Said before anything is looked at: a running crawl does so by itself.
    let running = || Ok(control::answers(data).then_some(()));
    let opened = match enter(&args.common, running)? {
        Entered::Here(opened) => opened,
        Entered::There(()) => {
            return Err(Failure::config(
                "a crawl is running here: it drops what its settings say every `retention.every`; \
                 stop it to do so now",
            ));
        }
    };
    if crawl_config::retention(&opened.settings)?.is_all() {
        eprintln!("everything is kept: retention.archive and retention.visits say `all`");
        return Ok(exit::OK);
    }
    drop(opened);
    apply(args)
}

/// Shows what was dropped, or what would be.
fn show(args: &Retain) -> anyhow::Result<u8> {
    let request = if args.list { Request::Dropped } else { Request::RetentionPreview };
    let mut out = print::data();
    super::ask(&args.common, &request, &mut |answer| match answer {
        Answer::Dropped(all) => {
            all.iter().try_for_each(|dropped| write_dropped(dropped, args.json, &mut out))
        }
        Answer::RetentionPreview(preview) => write_preview(preview, args.json, &mut out),
        other => Err(unexpected(&other)),
    })?;
    out.flush()?;
    Ok(exit::OK)
}

/// What the settings would have dropped at `now`.
pub(crate) fn preview(opened: &Opened, now: Time) -> anyhow::Result<RetentionPreview> {
    let config = crawl_config::retention(&opened.settings)?;
    let Foreseen { files, records, bytes, visits } =
        retention::foresee(&opened.state, &config, now)?;
    Ok(RetentionPreview { files, captures: records, bytes, visits })
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
        write_dropped(&dropped.into(), args.json, &mut out)?;
    }
    walk.close()?;
    for problem in &retention.problems {
        eprintln!("{}", print::plain(problem));
    }
    Ok(if retention.problems.is_empty() { exit::OK } else { exit::UNEXPECTED })
}

fn write_dropped(dropped: &DroppedView, as_json: bool, out: &mut dyn Write) -> anyhow::Result<()> {
    if as_json {
        return Ok(print::json_line(out, dropped)?);
    }
    let DroppedView { time, kept, from, dropped, bytes } = dropped;
    let (count, size) = (show_count(*dropped), show_size(*bytes));
    let (rule, from) = (print::plain(kept), print::plain(from));
    Ok(writeln!(out, "{time}  {count:>9} dropped, {size:>7}, from {from}; kept: {rule}")?)
}

fn write_preview(
    preview: RetentionPreview,
    as_json: bool,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    if as_json {
        return Ok(print::json_line(out, &preview)?);
    }
    let RetentionPreview { files, captures, bytes, visits } = preview;
    Ok(writeln!(
        out,
        "would drop {} ({}) from {}, and {} from the log",
        show_counted(captures, "capture"),
        show_size(bytes),
        show_counted(files, "WARC file"),
        show_counted(visits, "visit"),
    )?)
}
