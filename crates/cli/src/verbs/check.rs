//! `evercrawl check`: can what lies in the data directory be trusted?

use std::io::Write;
use std::sync::Arc;

use evercrawl_engine::check::repair::repair;
use evercrawl_engine::check::{Fault, Report, Told, check, check_deep, check_store};
use evercrawl_engine::live::SystemClock;
use evercrawl_engine::{DataDir, EngineError};
use serde_json::{Value, json};

use super::crawl::{open_walk, random};
use super::{open, take};
use crate::args::{Check, RunArgs};
use crate::units::show_count;
use crate::{crawl_config, exit, print};

pub(crate) fn run(args: &Check) -> anyhow::Result<u8> {
    let mut looked = look(args);
    if args.repair && !is_sound(&looked) {
        mend(args)?;
        looked = look(args);
    }
    let report = looked?;
    verdict(args, report)?;
    Ok(if report.faults == 0 { exit::OK } else { exit::UNEXPECTED })
}

fn is_sound(looked: &anyhow::Result<Report>) -> bool {
    looked.as_ref().is_ok_and(|report| report.faults == 0)
}

/// Looks at everything, and says what is wrong as it is found.
fn look(args: &Check) -> anyhow::Result<Report> {
    let deep = args.deep || args.repair;
    let files = if deep { look_at_store(args)? } else { 0 };
    // What no commit knew is cut off first, as the next run would; what cannot be opened is a fault.
    if let Err(error) = recover(args) {
        return if deep && is_damage(&error) { unusable(args, &error, files) } else { Err(error) };
    }
    let report = look_at_rows(args, deep)?;
    Ok(Report { faults: report.faults + files, ..report })
}

/// Looks at the store's files, before it is opened; gives how many are damaged.
fn look_at_store(args: &Check) -> anyhow::Result<u64> {
    let dir = take(&args.common.data, DataDir::open)?;
    telling(args, |tell| check_store(dir.path(), tell))
}

/// Looks at what state and archive say.
fn look_at_rows(args: &Check, deep: bool) -> anyhow::Result<Report> {
    let opened = open(&args.common)?;
    telling(args, |tell| match deep {
        true => check_deep(&opened.state, &opened.path, tell),
        false => check(&opened.state, &*opened.segments(), tell),
    })
}

/// Shows what `look` tells, as it is told.
fn telling<T>(
    args: &Check,
    look: impl FnOnce(&mut dyn FnMut(Told)) -> Result<T, EngineError>,
) -> anyhow::Result<T> {
    let mut failed = Ok(());
    let mut tell = |told: Told| {
        failed = std::mem::replace(&mut failed, Ok(())).and_then(|()| show(args, &told));
    };
    let looked = look(&mut tell);
    failed?;
    Ok(looked?)
}

/// After an abrupt end, does what the next run would do first: cuts off what no commit knew.
fn recover(args: &Check) -> anyhow::Result<()> {
    let clean = open(&args.common)?.state.was_clean();
    if !clean {
        let settings = crawl_config::settings(&args.common, None)?;
        let config = Arc::new(crawl_config::crawl_config(&settings, &RunArgs::default())?);
        let dir = take(&args.common.data, DataDir::open)?;
        open_walk(&dir, &settings, &config)?.close()?;
    }
    Ok(())
}

/// Whether it is the data that is wrong, not how or where we were called.
fn is_damage(error: &anyhow::Error) -> bool {
    match error.downcast_ref::<EngineError>() {
        Some(EngineError::State(state)) => !matches!(state, evercrawl_state::StateError::InUse),
        Some(EngineError::Archive(_) | EngineError::Damaged(_)) => true,
        Some(_) => false,
        None => error.downcast_ref::<evercrawl_state::StateError>().is_some(),
    }
}

fn unusable(args: &Check, error: &anyhow::Error, others: u64) -> anyhow::Result<Report> {
    let what = format!("it cannot be opened: {error}");
    let fault = Fault { file: "state and archive".to_owned(), what, ..Fault::default() };
    show(args, &Told::Fault(fault))?;
    Ok(Report { faults: others + 1, ..Report::default() })
}

fn mend(args: &Check) -> anyhow::Result<()> {
    let settings = crawl_config::settings(&args.common, None)?;
    let limits = crawl_config::store_limits(&settings)?;
    let dir = take(&args.common.data, DataDir::open)?;
    let mut said = Vec::new();
    let mut hear = |what: String| said.push(what);
    let aside = repair(&dir, limits, random(), SystemClock.now(), &mut hear);
    let mut out = print::data();
    for what in said {
        match args.json {
            true => print::json_line(&mut out, &json!({"event": "repair", "what": what}))?,
            false => writeln!(out, "{}", print::plain(&what))?,
        }
    }
    eprintln!("the damaged parts are in {}; remove it once you need it no more", aside?.display());
    Ok(())
}

fn show(args: &Check, told: &Told) -> anyhow::Result<()> {
    match told {
        Told::At(file) if !args.json => eprintln!("checking {file}"),
        Told::At(_) => {}
        Told::Fault(fault) if args.json => print::json_line(&mut print::data(), &as_json(fault))?,
        Told::Fault(fault) => writeln!(print::data(), "{}", print::plain(&fault.to_string()))?,
    }
    Ok(())
}

fn as_json(fault: &Fault) -> Value {
    json!({
        "event": "fault",
        "file": fault.file,
        "offset": fault.offset,
        "url": fault.url,
        "visit": fault.visit,
        "what": fault.what,
    })
}

fn verdict(args: &Check, report: Report) -> anyhow::Result<()> {
    let mut out = print::data();
    let Report { visits, records, files, faults } = report;
    let ok = faults == 0;
    if args.json {
        let line = json!({
            "event": "report",
            "ok": ok,
            "visits": visits,
            "records": records,
            "files": files,
            "faults": faults,
        });
        return Ok(print::json_line(&mut out, &line)?);
    }
    let verdict = if ok { "agree" } else { "DISAGREE" };
    let (visits, records) = (show_count(visits), show_count(records));
    writeln!(
        out,
        "state and archive {verdict}: {visits} visits, {records} records, {files} files"
    )?;
    if !ok {
        eprintln!("{faults} faults; `evercrawl check --repair` mends what can be mended");
    }
    Ok(())
}
