//! How does a crawl become tables? Captures file by file, the others as they are now.

use std::path::Path;

use evercrawl_archive::{SegmentId, SegmentStore};
use evercrawl_engine::DataDir;
use evercrawl_export::{
    CaptureTables, CapturesWritten, Contents, HostTable, PageTable, VisitTable,
};
use evercrawl_query::{Answer, HostsRequest, LogRequest, PagesRequest, Request};
use serde::Serialize;

use super::args::{ParquetArgs, Table};
use super::say;
use crate::control::unexpected;
use crate::units::show_counted;
use crate::{exit, print};

/// What was written.
#[derive(Debug, Default, Serialize)]
struct Written {
    path: String,
    captures: Option<u64>,
    capture_files: Option<u64>,
    capture_files_kept: Option<u64>,
    visits: Option<u64>,
    pages: Option<u64>,
    hosts: Option<u64>,
}

/// Writes the tables that `args` asks for.
pub(super) fn run(args: &ParquetArgs) -> anyhow::Result<u8> {
    let mut written = Written { path: args.out.display().to_string(), ..Written::default() };
    let wants = |table: Table| args.tables.contains(&table);
    if wants(Table::Captures) || wants(Table::Visits) {
        log_tables(args, &mut written)?;
    }
    if wants(Table::Pages) {
        written.pages = Some(pages(args)?);
    }
    if wants(Table::Hosts) {
        written.hosts = Some(hosts(args)?);
    }
    tell(&written, args.json)
}

fn tell(written: &Written, as_json: bool) -> anyhow::Result<u8> {
    if as_json {
        print::json_line(&mut print::data(), written)?;
        return Ok(exit::OK);
    }
    let mut parts = Vec::new();
    if let (Some(rows), Some(files)) = (written.captures, written.capture_files) {
        let kept = written.capture_files_kept.unwrap_or(0);
        let (rows, files) = (show_counted(rows, "capture"), show_counted(files, "WARC file"));
        parts.push(format!("{rows} of {files} ({kept} written before)"));
    }
    let tables = [(written.visits, "visit"), (written.pages, "page"), (written.hosts, "host")];
    parts.extend(tables.iter().filter_map(|(rows, what)| Some(show_counted((*rows)?, what))));
    say(format_args!("{} in {}", parts.join(", "), written.path));
    Ok(exit::OK)
}

/// Captures and visits, which one reading of the log gives.
fn log_tables(args: &ParquetArgs, written: &mut Written) -> anyhow::Result<()> {
    let mut tables: Option<(Contents, Option<CaptureTables>, Option<VisitTable>)> = None;
    let wants = |table: Table| args.tables.contains(&table);
    let open = || -> anyhow::Result<_> {
        let segments = DataDir::segments_in(&args.common.data);
        let contents = Contents::open(segments.clone())?;
        let captures = wants(Table::Captures)
            .then(|| CaptureTables::new(&args.out, &name(args), segments.clone(), args.content));
        if let Some(captures) = &captures {
            captures.forget_growing(&|warc| !is_finished(&*segments, warc))?;
        }
        let visits = wants(Table::Visits).then(|| VisitTable::create(&args.out)).transpose()?;
        Ok((contents, captures, visits))
    };
    let request = Request::Log(LogRequest::default());
    super::super::ask(&args.common, &request, &mut |answer| match answer {
        Answer::Log(part) => {
            let (contents, captures, visits) = match &mut tables {
                Some(tables) => tables,
                None => tables.insert(open()?),
            };
            for row in &part.rows {
                captures.as_mut().map_or(Ok(()), |captures| captures.add(row, contents))?;
                visits.as_mut().map_or(Ok(()), |visits| visits.add(row))?;
            }
            Ok(())
        }
        other => Err(unexpected(&other)),
    })?;
    let (mut contents, captures, visits) = tables.map_or_else(open, Ok)?;
    if let Some(captures) = captures {
        let CapturesWritten { rows, files, kept } = captures.finish(&mut contents)?;
        written.captures = Some(rows);
        (written.capture_files, written.capture_files_kept) = (Some(files), Some(kept));
    }
    written.visits = visits.map(VisitTable::finish).transpose()?;
    Ok(())
}

fn name(args: &ParquetArgs) -> String {
    let of_dir = || {
        let dir = args.common.data.canonicalize().ok()?;
        Some(dir.file_name()?.to_string_lossy().into_owned())
    };
    args.name.clone().or_else(of_dir).unwrap_or_else(|| "crawl".to_owned())
}

fn is_finished(segments: &dyn SegmentStore, warc: &str) -> bool {
    segments.read(&SegmentId::sealed(warc), 0, &mut [0]).is_ok()
}

fn pages(args: &ParquetArgs) -> anyhow::Result<u64> {
    let mut table = None;
    let request = Request::Pages(PagesRequest::default());
    super::super::ask(&args.common, &request, &mut |answer| match answer {
        Answer::Pages(part) => {
            let table = created(&mut table, &args.out, PageTable::create)?;
            Ok(part.pages.iter().try_for_each(|page| table.add(page))?)
        }
        other => Err(unexpected(&other)),
    })?;
    created(&mut table, &args.out, PageTable::create)?;
    Ok(table.map_or(Ok(0), PageTable::finish)?)
}

fn hosts(args: &ParquetArgs) -> anyhow::Result<u64> {
    let mut table = None;
    let request = Request::Hosts(HostsRequest::default());
    super::super::ask(&args.common, &request, &mut |answer| match answer {
        Answer::Hosts(part) => {
            let table = created(&mut table, &args.out, HostTable::create)?;
            Ok(part.hosts.iter().try_for_each(|host| table.add(host))?)
        }
        other => Err(unexpected(&other)),
    })?;
    created(&mut table, &args.out, HostTable::create)?;
    Ok(table.map_or(Ok(0), HostTable::finish)?)
}

/// The table, created when its first rows come: not before it is known that there is a crawl.
fn created<'a, T, E>(
    table: &'a mut Option<T>,
    dir: &Path,
    create: fn(&Path) -> Result<T, E>,
) -> Result<&'a mut T, E> {
    match table {
        Some(table) => Ok(table),
        none => Ok(none.insert(create(dir)?)),
    }
}
