//! `evercrawl history`: a page's visits, one a line, the first first.

use std::collections::HashMap;
use std::io::Write;

use evercrawl_model::{Change, Visit};
use evercrawl_state::PageRow;
use serde_json::{Value, json};

use super::Opened;
use super::moved;
use super::urls::digest;
use crate::args::History;
use crate::exit::Failure;
use crate::units::show_size;
use crate::{exit, print};

/// Shows the visits of the page that `args` names.
pub(crate) fn show(args: &History, opened: &Opened, out: &mut dyn Write) -> anyhow::Result<u8> {
    let url = super::canonical(&opened.settings, &args.url)?;
    let found = opened.state.find(super::host_of(&opened.state, &url), url.as_str())?;
    let Some((key, row)) = found else {
        let shown = print::plain(url.as_str());
        return Err(
            Failure { code: exit::UNEXPECTED, message: format!("{shown} is not known") }.into()
        );
    };
    let mut visits = visits_of(opened, &row)?;
    // What a page was before it moved here is part of its history.
    for (_, former) in moved::formers(opened, key, &row)? {
        visits.extend(visits_of(opened, &former)?);
    }
    visits.sort_by_key(|(number, _)| *number);
    let files = opened.file_names()?;
    for (_, visit) in &visits {
        let near = match visit.near {
            Some(key) => opened.state.reading().url(key)?,
            None => None,
        };
        if args.json {
            let mut line = describe(visit, near, &files);
            if visit.page != key {
                line.insert("url".to_owned(), opened.state.reading().url(visit.page)?.into());
            }
            print::json_line(out, &line.into())?;
        } else {
            writeln!(
                out,
                "{}  {:<8} {:>5} {:<3} {:<12} {:>8} {:>6} ms  {}",
                visit.at.rfc3339(),
                visit.change.code(),
                percent(visit),
                visit.status,
                visit.outcome.code(),
                show_size(visit.bytes),
                visit.ms,
                place(visit, &files),
            )?;
        }
    }
    out.flush()?;
    Ok(exit::OK)
}

fn visits_of(opened: &Opened, row: &PageRow) -> anyhow::Result<Vec<(u64, Visit)>> {
    Ok(opened.state.history(row).collect::<Result<_, _>>()?)
}

/// How much of the text is news; nothing where that goes without saying.
pub(crate) fn percent(visit: &Visit) -> String {
    if !matches!(visit.change, Change::Changed | Change::Near) {
        return String::new();
    }
    let percent = 100.0 * visit.score.share();
    if percent < 1.0 { "<1 %".to_owned() } else { format!("{percent:.0} %") }
}

fn place(visit: &Visit, files: &HashMap<u32, String>) -> String {
    visit.record.map_or_else(
        || "no record".to_owned(),
        |at| format!("{} at {}", warc(at.file, files), at.offset),
    )
}

fn warc(serial: u32, files: &HashMap<u32, String>) -> String {
    files.get(&serial).map_or_else(|| format!("file {serial}"), |name| format!("{name}.warc.gz"))
}

/// A visit as JSON.
pub(crate) fn describe(
    visit: &Visit,
    near: Option<String>,
    files: &HashMap<u32, String>,
) -> serde_json::Map<String, Value> {
    let fields = [
        ("time", json!(visit.at.rfc3339())),
        ("outcome", json!(visit.outcome.code())),
        ("status", json!(Some(visit.status).filter(|status| *status > 0))),
        ("change", json!(visit.change.code())),
        ("score", json!((visit.score.share() * 1e4).round() / 1e4)),
        ("digest", json!(visit.digest.map(digest))),
        ("bytes", json!(visit.bytes)),
        ("ms", json!(visit.ms)),
        ("near", json!(near)),
        ("warc", json!(visit.record.map(|at| warc(at.file, files)))),
        ("offset", json!(visit.record.map(|at| at.offset))),
        ("length", json!(visit.record.map(|at| at.length))),
    ];
    fields.map(|(name, value)| (name.to_owned(), value)).into_iter().collect()
}
