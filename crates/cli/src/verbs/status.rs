//! `evercrawl status`: how a crawl is doing.

use std::io::Write;

use evercrawl_engine::live::SystemClock;
use evercrawl_engine::{DataDir, freshness};
use serde_json::{Value, json};

use crate::args::Status;
use crate::units::{show_count, show_size};
use crate::{exit, print, report};

pub(crate) fn run(args: &Status) -> anyhow::Result<u8> {
    match super::open(&args.common) {
        Ok(opened) => stopped(args, &opened),
        Err(error) if super::is_in_use(&error) => running(args, error),
        Err(error) => Err(error),
    }
}

/// Nobody crawls: everything can be read.
fn stopped(args: &Status, opened: &super::Opened) -> anyhow::Result<u8> {
    let now = SystemClock.now();
    let counters = opened.state.counters();
    let fresh = freshness::of(&super::planner(opened)?, &opened.state, now)?;
    let archived: u64 = opened.state.archive()?.iter().map(|file| file.warc_len).sum();
    let mut out = print::data();
    if args.json {
        let line = json!({
            "running": false,
            "at": now.rfc3339(),
            "total": report::counters_json(counters),
            "freshness": report::freshness_json(&fresh),
            "bytes_archived": archived,
            "bytes_state": opened.state.disk_bytes(),
        });
        print::json_line(&mut out, &line)?;
        return Ok(exit::OK);
    }
    writeln!(out, "{}: not running", opened.path.display())?;
    report::write_counters(&mut out, counters)?;
    writeln!(out, "  freshness  {}", report::freshness_line(&fresh))?;
    let state = opened.state.disk_bytes();
    let each = state / counters.pages.max(1);
    writeln!(
        out,
        "  disk       {} archived, {} state ({each} bytes a known page)",
        show_size(archived),
        show_size(state)
    )?;
    Ok(exit::OK)
}

/// A crawl is running: it says how it is doing once a second.
fn running(args: &Status, in_use: anyhow::Error) -> anyhow::Result<u8> {
    let text = std::fs::read_to_string(DataDir::status_file(&args.common.data));
    let run: Value = match text.ok().and_then(|text| serde_json::from_str(&text).ok()) {
        Some(run) => run,
        None => return Err(in_use),
    };
    let mut out = print::data();
    if args.json {
        print::json_line(&mut out, &json!({"running": true, "run": run}))?;
        return Ok(exit::OK);
    }
    let number = |path: &str| show_count(run.pointer(path).and_then(Value::as_u64).unwrap_or(0));
    let rate = run.pointer("/pages_a_second").and_then(Value::as_f64).unwrap_or(0.0);
    let at = run.pointer("/at").and_then(Value::as_str).unwrap_or("?");
    writeln!(out, "{}: running, as of {at}", args.common.data.display())?;
    writeln!(out, "  this run   {} pages at {rate:.1}/s", number("/pages"))?;
    writeln!(
        out,
        "  hosts      {} active, {} requests out",
        number("/active_hosts"),
        number("/in_flight")
    )?;
    for line in plan_lines(&run) {
        writeln!(out, "{line}")?;
    }
    let (pages, new) = (number("/total/pages"), number("/total/pages_by_state/new"));
    writeln!(out, "  known      {pages} pages, {new} never visited")?;
    Ok(exit::OK)
}

/// What the budget is, what becomes of it, and how fresh that keeps the pages.
fn plan_lines(run: &Value) -> Vec<String> {
    let float = |path: &str| run.pointer(path).and_then(Value::as_f64);
    let count = |path: &str| show_count(run.pointer(path).and_then(Value::as_u64).unwrap_or(0));
    let mut lines = Vec::new();
    if let (Some(fresh), Some(error)) =
        (float("/freshness/fresh_estimated"), float("/freshness/fresh_error"))
    {
        lines.push(format!(
            "  freshness  {:.1} % \u{b1} {:.1} of {} pages, {} audits",
            100.0 * fresh,
            100.0 * error,
            count("/freshness/pages_held"),
            count("/freshness/audits"),
        ));
    }
    let policy = run.pointer("/plan/policy").and_then(Value::as_str).unwrap_or("?");
    lines.push(match (float("/plan/budget_a_second"), float("/plan/budget_used")) {
        (Some(rate), Some(used)) => {
            let used = 100.0 * used;
            format!("  budget     {rate}/s, {used:.0} % of it used in this run, by policy {policy}")
        }
        _ => "  budget     none: every page waits as long as every other".to_owned(),
    });
    lines.push(format!(
        "  found      {} new pages and {} changes in this run",
        count("/first_visits"),
        count("/changes_found"),
    ));
    lines
}
