//! `evercrawl queue`: what waits to be fetched, and the first hosts in each queue.

use std::io::Write;

use evercrawl_engine::live::SystemClock;
use evercrawl_query::{Answer, QueueRequest, QueueView, QueuedHost, Request};

use super::hosts::waits_text;
use crate::args::Listing;
use crate::control::unexpected;
use crate::units::show_count;
use crate::{exit, print, report};

/// Shows the queues.
pub(crate) fn run(args: &Listing) -> anyhow::Result<u8> {
    let request = Request::Queue(QueueRequest { limit: args.limit });
    let mut out = print::data();
    super::ask(&args.common, &request, &mut |answer| match answer {
        Answer::Queue(view) if args.json => Ok(print::json_line(&mut out, &view)?),
        Answer::Queue(view) => write(&view, &mut out),
        other => Err(unexpected(&other)),
    })?;
    out.flush()?;
    Ok(exit::OK)
}

fn write(view: &QueueView, out: &mut dyn Write) -> anyhow::Result<()> {
    report::write_line(out, "waiting", &report::waiting_text(&view.waiting))?;
    if view.hosts.is_empty() {
        return Ok(());
    }
    let now = SystemClock.now();
    let row = |host: &QueuedHost| {
        vec![
            host.band.to_string(),
            print::plain(&host.host),
            show_count(host.pages),
            show_count(host.new_pages),
            if host.due_from.0 <= now { "now".to_owned() } else { host.due_from.to_string() },
            waits_text(host.waits_for).to_owned(),
        ]
    };
    let rows: Vec<Vec<String>> = view.hosts.iter().map(row).collect();
    Ok(print::table(out, &["band", "host", "pages", "new", "due from", "waits for"], &rows)?)
}
