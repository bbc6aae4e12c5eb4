//! How does a crawl become tables? Captures file by file, the others as they are now.

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
    let wants = |table: Table| args.tables.contains(&table);
    let mut requests = Vec::new();
    if wants(Table::Captures) || wants(Table::Visits) {
        requests.push(Request::Log(LogRequest::default()));
    }
    if wants(Table::Pages) {
        requests.push(Request::Pages(PagesRequest::default()));
    }
    if wants(Table::Hosts) {
        requests.push(Request::Hosts(HostsRequest::default()));
    }
    let mut tables = None;
    super::super::ask_all(&args.common, &requests, &mut |answer| {
        // Not before it is known that there is a crawl.
        let tables = match &mut tables {
            Some(tables) => tables,
            none => none.insert(Tables::create(args)?),
        };
        tables.add(&answer)
    })?;
    let tables = tables.map_or_else(|| Tables::create(args), Ok)?;
    tell(&tables.finish(args)?, args.json)
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

/// The tables that are written.
struct Tables {
    contents: Contents,
    captures: Option<CaptureTables>,
    visits: Option<VisitTable>,
    pages: Option<PageTable>,
    hosts: Option<HostTable>,
}

impl Tables {
    fn create(args: &ParquetArgs) -> anyhow::Result<Self> {
        let segments = DataDir::segments_in(&args.common.data);
        let wants = |table: Table| args.tables.contains(&table);
        let captures = wants(Table::Captures)
            .then(|| CaptureTables::new(&args.out, &name(args), segments.clone(), args.content));
        if let Some(captures) = &captures {
            captures.forget_growing(&|warc| !is_finished(&*segments, warc))?;
        }
        Ok(Tables {
            captures,
            visits: wants(Table::Visits).then(|| VisitTable::create(&args.out)).transpose()?,
            pages: wants(Table::Pages).then(|| PageTable::create(&args.out)).transpose()?,
            hosts: wants(Table::Hosts).then(|| HostTable::create(&args.out)).transpose()?,
            contents: Contents::open(segments)?,
        })
    }

    /// Adds a part of an answer.
    fn add(&mut self, answer: &Answer) -> anyhow::Result<()> {
        match answer {
            Answer::Log(part) => {
                for row in &part.rows {
                    if let Some(captures) = &mut self.captures {
                        captures.add(row, &mut self.contents)?;
                    }
                    self.visits.as_mut().map_or(Ok(()), |visits| visits.add(row))?;
                }
            }
            Answer::Pages(part) => {
                let Some(table) = &mut self.pages else { return Ok(()) };
                part.pages.iter().try_for_each(|page| table.add(page))?;
            }
            Answer::Hosts(part) => {
                let Some(table) = &mut self.hosts else { return Ok(()) };
                part.hosts.iter().try_for_each(|host| table.add(host))?;
            }
            other => return Err(unexpected(other)),
        }
        Ok(())
    }

    fn finish(mut self, args: &ParquetArgs) -> anyhow::Result<Written> {
        let mut written = Written { path: args.out.display().to_string(), ..Written::default() };
        if let Some(captures) = self.captures {
            let CapturesWritten { rows, files, kept } = captures.finish(&mut self.contents)?;
            written.captures = Some(rows);
            (written.capture_files, written.capture_files_kept) = (Some(files), Some(kept));
        }
        written.visits = self.visits.map(VisitTable::finish).transpose()?;
        written.pages = self.pages.map(PageTable::finish).transpose()?;
        written.hosts = self.hosts.map(HostTable::finish).transpose()?;
        Ok(written)
    }
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
