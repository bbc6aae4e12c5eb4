//! `evercrawl check`: are state and archive of a data directory sound?

use std::io::Write;
use std::sync::Arc;

use evercrawl_engine::check::repair::repair;
use evercrawl_engine::check::{
    CheckMessage, Fault, Report, check, check_deep, check_store, check_unknown_files,
};
use evercrawl_engine::live::SystemClock;
use evercrawl_engine::{DataDir, EngineError};
use evercrawl_state::DiskStore;
use serde_json::{Value, json};

use super::crawl::{open_walk, random};
use super::{Opened, take};
use crate::args::{Check, RunArgs};
use crate::units::show_counted;
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
    let lost = look_for_state(args)?;
    if lost > 0 {
        return Ok(Report { faults: lost, ..Report::default() });
    }
    let deep = args.deep || args.repair;
    let files = if deep { look_at_store(args)? } else { 0 };
    // What no commit knew is cut off first, as the next run would; what cannot be opened is a fault.
    let unknown = match look_at_unknown_files(args).and_then(|unknown| recover(args, unknown)) {
        Ok(unknown) => unknown,
        Err(error) if deep && is_damage(&error) => return unusable(args, &error, files),
        Err(error) => return Err(error),
    };
    let report = look_at_rows(args, deep)?;
    Ok(Report { faults: report.faults + files + unknown, ..report })
}

/// Whether there is a state where there is an archive; gives how many files no state knows.
fn look_for_state(args: &Check) -> anyhow::Result<u64> {
    let dir = take(&args.common.data, DataDir::open)?;
    if dir.has_state() {
        return Ok(0);
    }
    with_messages(args, |emit| check_unknown_files::<DiskStore>(None, dir.path(), emit))
}

/// Looks for files of the archive that the state does not know; gives how many are faults.
fn look_at_unknown_files(args: &Check) -> anyhow::Result<u64> {
    let opened = open_as_found(args)?;
    with_messages(args, |emit| check_unknown_files(Some(&opened.state), &opened.path, emit))
}

/// Opens the data directory, whatever there is beside what its state knows.
fn open_as_found(args: &Check) -> anyhow::Result<Opened> {
    let dir = take(&args.common.data, DataDir::open)?;
    let settings = Arc::new(crawl_config::settings(&args.common, None)?);
    let state = dir.view_as_found(crawl_config::store_limits(&settings)?)?;
    let regions = crate::regions::declared(&settings)?.into();
    Ok(Opened { path: dir.path().to_owned(), state, settings, regions, held: Some(dir) })
}

/// Looks at the store's files, before it is opened; gives how many are damaged.
fn look_at_store(args: &Check) -> anyhow::Result<u64> {
    let dir = take(&args.common.data, DataDir::open)?;
    with_messages(args, |emit| check_store(dir.path(), emit))
}

/// Looks at what state and archive say.
fn look_at_rows(args: &Check, deep: bool) -> anyhow::Result<Report> {
    let opened = open_as_found(args)?;
    with_messages(args, |emit| match deep {
        true => check_deep(&opened.state, &opened.path, emit),
        false => check(&opened.state, &*opened.segments(), emit),
    })
}

/// Shows what `look` tells, as it is message.
fn with_messages<T>(
    args: &Check,
    look: impl FnOnce(&mut dyn FnMut(CheckMessage)) -> Result<T, EngineError>,
) -> anyhow::Result<T> {
    let mut failed = Ok(());
    let mut emit = |message: CheckMessage| {
        failed = std::mem::replace(&mut failed, Ok(())).and_then(|()| show(args, &message));
    };
    let looked = look(&mut emit);
    failed?;
    Ok(looked?)
}

/// After an abrupt end, does what the next run would do first: cuts off what no commit knew. Beside
/// `unknown` files the next run would refuse, and a repair takes in what was not committed.
fn recover(args: &Check, unknown: u64) -> anyhow::Result<u64> {
    if unknown == 0 && !open_as_found(args)?.state.was_clean() {
        let settings = crawl_config::settings(&args.common, None)?;
        let config = Arc::new(crawl_config::crawl_config(&settings, &RunArgs::default())?);
        let dir = take(&args.common.data, DataDir::open)?;
        open_walk(&dir, &settings, &config)?.close()?;
    }
    Ok(unknown)
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
    let what = format!("cannot be opened: {error}");
    let fault = Fault { file: "state and archive".to_owned(), what, ..Fault::default() };
    show(args, &CheckMessage::Fault(fault))?;
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
    eprintln!(
        "the damaged parts were moved to {}; delete it when you no longer need it",
        aside?.display()
    );
    Ok(())
}

fn show(args: &Check, message: &CheckMessage) -> anyhow::Result<()> {
    match message {
        CheckMessage::At(file) if !args.json => eprintln!("checking {file}"),
        CheckMessage::At(_) => {}
        CheckMessage::Fault(fault) => show_finding(args, "fault", fault)?,
        CheckMessage::Note(note) => show_finding(args, "note", note)?,
    }
    Ok(())
}

fn show_finding(args: &Check, event: &str, found: &Fault) -> std::io::Result<()> {
    let mut out = print::data();
    match (args.json, event) {
        (true, _) => print::json_line(&mut out, &as_json(event, found)),
        (false, "note") => writeln!(out, "note: {}", print::plain(&found.to_string())),
        (false, _) => writeln!(out, "{}", print::plain(&found.to_string())),
    }
}

fn as_json(event: &str, fault: &Fault) -> Value {
    json!({
        "event": event,
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
    let [visits, records, files] = [(visits, "visit"), (records, "record"), (files, "file")]
        .map(|(n, noun)| show_counted(n, noun));
    writeln!(out, "state and archive {verdict}: {visits}, {records}, {files}")?;
    if !ok {
        let faults = show_counted(faults, "fault");
        eprintln!("{faults} found; `evercrawl check --repair` repairs what can be repaired");
    }
    Ok(())
}
