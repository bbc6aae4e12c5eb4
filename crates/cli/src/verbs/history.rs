//! `evercrawl history`: a page's visits, one a line, the first first.

use std::collections::HashMap;
use std::io::Write;

use evercrawl_model::Visit;
use serde_json::{Value, json};

use super::urls::digest;
use crate::args::History;
use crate::exit::Failure;
use crate::units::show_size;
use crate::{exit, print};

pub(crate) fn run(args: &History) -> anyhow::Result<u8> {
    let opened = super::open(&args.common)?;
    let url = super::canonical(&opened.settings, &args.url)?;
    let found = opened.state.find(super::host_of(&opened.state, &url), url.as_str())?;
    let Some((_, row)) = found else {
        let shown = print::plain(url.as_str());
        return Err(
            Failure { code: exit::UNEXPECTED, message: format!("{shown} is not known") }.into()
        );
    };
    let visits: Result<Vec<_>, _> = opened.state.history(&row).collect();
    let mut visits = visits?;
    visits.reverse();
    let files: HashMap<u32, String> =
        opened.state.archive()?.into_iter().map(|file| (file.serial, file.name)).collect();
    let mut out = print::data();
    for (_, visit) in &visits {
        let near = match visit.near {
            Some(key) => opened.state.reading().url(key)?,
            None => None,
        };
        if args.json {
            print::json_line(&mut out, &describe(visit, near, &files))?;
        } else {
            writeln!(
                out,
                "{}  {:<8} {:<3} {:<12} {:>8} {:>6} ms  {}",
                visit.at.rfc3339(),
                visit.change.code(),
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

fn place(visit: &Visit, files: &HashMap<u32, String>) -> String {
    visit.record.map_or_else(
        || "no record".to_owned(),
        |at| format!("{} at {}", warc(at.file, files), at.offset),
    )
}

fn warc(serial: u32, files: &HashMap<u32, String>) -> String {
    files.get(&serial).map_or_else(|| format!("file {serial}"), |name| format!("{name}.warc.gz"))
}

fn describe(visit: &Visit, near: Option<String>, files: &HashMap<u32, String>) -> Value {
    json!({
        "time": visit.at.rfc3339(),
        "outcome": visit.outcome.code(),
        "status": Some(visit.status).filter(|status| *status > 0),
        "change": visit.change.code(),
        "digest": visit.digest.map(digest),
        "bytes": visit.bytes,
        "ms": visit.ms,
        "near": near,
        "warc": visit.record.map(|at| warc(at.file, files)),
        "offset": visit.record.map(|at| at.offset),
        "length": visit.record.map(|at| at.length),
    })
}
