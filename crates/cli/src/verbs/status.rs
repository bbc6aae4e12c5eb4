//! `evercrawl status`: how a crawl is doing.

use std::io::{IsTerminal, Write};
use std::sync::mpsc;
use std::time::Duration;

use evercrawl_engine::live::SystemClock;
use evercrawl_engine::mirrors::Mirrors;
use evercrawl_engine::today::Today;
use evercrawl_engine::waiting::Waiting;
use evercrawl_engine::{DataDir, freshness};
use serde_json::{Value, json};

use super::{Entered, Opened, enter};
use crate::args::Status;
use crate::units::{show_count, show_size};
use crate::{exit, knowledge, print, report, units};

/// Shows it once, or again and again.
pub(crate) fn run(args: &Status) -> anyhow::Result<u8> {
    let Some(seconds) = args.watch else {
        print::data().write_all(&shown(args)?)?;
        return Ok(exit::OK);
    };
    let redraw = std::io::stdout().is_terminal() && !args.json;
    if redraw {
        print::data().write_all(b"\x1b[2J")?;
    }
    // Ctrl-C ends the process; nobody ever sends.
    let (_sender, never) = mpsc::channel::<()>();
    loop {
        let block = shown(args)?;
        let mut out = print::data();
        out.write_all(&if redraw { over_the_last(&block) } else { block })?;
        out.flush()?;
        drop(out);
        let _ = never.recv_timeout(Duration::from_secs(seconds));
    }
}

/// A block that takes the place of what stands on the terminal. Nothing is wiped before it is written
/// over, so nothing flickers.
fn over_the_last(block: &[u8]) -> Vec<u8> {
    let mut out = b"\x1b[H".to_vec();
    for line in block.split_inclusive(|byte| *byte == b'\n') {
        let (text, end) = line.split_at(line.len() - usize::from(line.ends_with(b"\n")));
        out.extend_from_slice(text);
        out.extend_from_slice(b"\x1b[K");
        out.extend_from_slice(end);
    }
    out.extend_from_slice(b"\x1b[J");
    out
}

/// How the crawl is doing now, as it is to be shown.
fn shown(args: &Status) -> anyhow::Result<Vec<u8>> {
    match enter(&args.common, || running(args))? {
        Entered::Here(opened) => stopped(args, &opened),
        Entered::There(shown) => Ok(shown),
    }
}

/// Nobody crawls: everything can be read.
fn stopped(args: &Status, opened: &Opened) -> anyhow::Result<Vec<u8>> {
    let now = SystemClock.now();
    let (state, counters) = (&opened.state, opened.state.counters());
    let planner = super::planner(opened)?;
    let fresh = freshness::collection_freshness(&planner, state, now)?;
    let archived: u64 = state.archive()?.iter().map(|file| file.warc_len).sum();
    let bytes = state.disk_bytes();
    let waiting = Waiting::read(state, planner.overrides(), now)?;
    let today = Today::read(state, now)?;
    let mirrors = Mirrors::read(state)?.count();
    let budget = opened.settings.get("budget.rate", units::rate)?;
    let plan = report::plan_json(planner.plan(), budget);
    let mut out = Vec::new();
    if args.json {
        let mut line = json!({
            "running": false,
            "at": now.rfc3339(),
            "total": report::counters_json(counters),
            "freshness": report::freshness_json(&fresh),
            "today": report::today_json(&today, state),
            "plan": plan,
            "waiting": report::waiting_json(&waiting),
            "mirrors": mirrors,
            "bytes_archived": archived,
            "bytes_state": bytes,
            "bytes_last_day": opened.state.spending().received(now),
        });
        knowledge::add(&mut line, &planner);
        print::json_line(&mut out, &line)?;
        return Ok(out);
    }
    writeln!(out, "{}: not running", opened.path.display())?;
    report::write_counters(&mut out, counters)?;
    writeln!(out, "  freshness  {}", report::freshness_line(&fresh))?;
    if let Some(rate) = budget {
        let by = report::divided_by(&json!({ "plan": plan }));
        writeln!(out, "  budget     {rate}/s for the next run, {by}")?;
    }
    writeln!(out, "  today      {}", report::today_line(&report::today_json(&today, state)))?;
    writeln!(out, "  waiting    {}", report::waiting_line(&report::waiting_json(&waiting)))?;
    report::mirrors_line(mirrors as u64).iter().try_for_each(|line| writeln!(out, "{line}"))?;
    let mut known = json!({});
    knowledge::add(&mut known, &planner);
    knowledge::lines(&known).iter().try_for_each(|line| writeln!(out, "{line}"))?;
    let each = bytes / counters.pages.max(1);
    let (archived, bytes) = (show_size(archived), show_size(bytes));
    writeln!(out, "  disk       {archived} archived, {bytes} state ({each} bytes a known page)")?;
    Ok(out)
}

/// A crawl is running: it says how it is doing once a second.
fn running(args: &Status) -> anyhow::Result<Option<Vec<u8>>> {
    let text = std::fs::read_to_string(DataDir::status_file(&args.common.data));
    let run = text.ok().and_then(|text| serde_json::from_str(&text).ok());
    run.map(|run| show_run(args, &run)).transpose()
}

fn show_run(args: &Status, run: &Value) -> anyhow::Result<Vec<u8>> {
    let mut out = Vec::new();
    if args.json {
        print::json_line(&mut out, &json!({"running": true, "run": run}))?;
        return Ok(out);
    }
    let number = |path: &str| show_count(run.pointer(path).and_then(Value::as_u64).unwrap_or(0));
    let rate = run.pointer("/pages_a_second").and_then(Value::as_f64).unwrap_or(0.0);
    let at = run.pointer("/at").and_then(Value::as_str).unwrap_or("?");
    writeln!(out, "{}: running, as of {at}", args.common.data.display())?;
    writeln!(out, "  this run   {} pages at {rate:.1}/s", number("/pages"))?;
    let (active, requests) = (number("/active_hosts"), number("/in_flight"));
    writeln!(out, "  hosts      {active} active, {requests} requests out")?;
    writeln!(out, "  waiting    {}", report::waiting_line(&run["waiting"]))?;
    let mirrors = run["mirrors"].as_u64().unwrap_or(0);
    report::mirrors_line(mirrors).iter().try_for_each(|line| writeln!(out, "{line}"))?;
    report::plan_lines(run).iter().try_for_each(|line| writeln!(out, "{line}"))?;
    let ranked_by = run["ranked_by"].as_str().and_then(report::short_of_memory);
    ranked_by.iter().try_for_each(|why| writeln!(out, "  importance {why}"))?;
    writeln!(out, "{}", received_line(run))?;
    writeln!(out, "  today      {}", report::today_line(&run["today"]))?;
    knowledge::lines(run).iter().try_for_each(|line| writeln!(out, "{line}"))?;
    let (pages, states) = (number("/total/pages"), &run["total"]["pages_by_state"]);
    writeln!(out, "  known      {pages} pages: {}", report::states_line(states))?;
    Ok(out)
}

/// What was received in a day, and whether that is all that may be.
fn received_line(run: &Value) -> String {
    let bytes = run.pointer("/bytes_last_day").and_then(Value::as_u64).unwrap_or(0);
    let received = format!("  received   {} in the last 24 hours", show_size(bytes));
    match run.pointer("/bytes_used_up_until").and_then(Value::as_str) {
        Some(until) => format!("{received}, which is all of a day: it goes on at {until}"),
        None => received,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_written_over_the_last_one_without_wiping_it_first() {
        let text = String::from_utf8(over_the_last(b"one\ntwo\n")).unwrap();
        assert_eq!(text, "\x1b[Hone\x1b[K\ntwo\x1b[K\n\x1b[J");
    }
}
