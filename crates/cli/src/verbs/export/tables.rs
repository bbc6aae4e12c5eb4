//! How does a crawl become tables? What follows the log resumes where it ended; the others show the present.

use std::sync::Arc;
use std::time::Duration;

use evercrawl_archive::SegmentStore;
use evercrawl_engine::DataDir;
use evercrawl_engine::live::SystemClock;
use evercrawl_export::{
    CaptureTables, CapturesWritten, Contents, ExportError, HostTable, LinkTable, PageTable,
    VISIT_FIELDS, VisitTables,
};
use evercrawl_model::Time;
use evercrawl_query::{Answer, HostsRequest, LinksRequest, LogView, Request};
use serde::Serialize;

use super::args::{ParquetArgs, Table};
use super::log_rows::{LogRows, stopped};
use super::{page_rows, say};
use crate::control::{self, unexpected};
use crate::exit::{self, Failure};
use crate::print;
use crate::units::show_counted;

/// While a crawl is followed, tables of the present are written again when a WARC file is finished, but not more often.
const LEAST_PAUSE: Duration = Duration::from_secs(600);

/// What was written.
#[derive(Debug, Default, Serialize)]
struct Written {
    path: String,
    captures: Option<u64>,
    warc_files: Option<u64>,
    visits: Option<u64>,
    pages: Option<u64>,
    hosts: Option<u64>,
    links: Option<u64>,
}

/// Writes the tables that `args` asks for.
pub(super) fn run(args: &ParquetArgs) -> anyhow::Result<u8> {
    let mut export = Export { args, written: Written::default(), present_at: None };
    export.written.path = args.out.display().to_string();
    if args.overwrite {
        export.remove_old()?;
    }
    let followed = export.follow_log();
    let ended = match &followed {
        Err(error) => exit::code_of(error) == exit::INTERRUPTED,
        Ok(()) => true,
    };
    if ended {
        match (export.present(), &followed) {
            // A crawl that stops keeps its directory for a while; the next command writes these.
            (Err(error), Err(_)) if exit::code_of(&error) == exit::STORAGE => {}
            (written, _) => written?,
        }
        export.written.tell(args.json)?;
    }
    followed.map(|()| exit::OK)
}

struct Export<'a> {
    args: &'a ParquetArgs,
    written: Written,
    /// When the tables of the present were written.
    present_at: Option<Time>,
}

/// The tables that follow the log.
struct LogTables {
    captures: Option<CaptureTables>,
    visits: Option<VisitTables>,
}

impl Export<'_> {
    fn wants(&self, table: Table) -> bool {
        self.args.tables.contains(&table)
    }

    /// Only what such an export writes is removed.
    fn remove_old(&self) -> anyhow::Result<()> {
        for (table, dir) in [(Table::Captures, "captures"), (Table::Visits, "visits")] {
            let dir = self.args.out.join(dir);
            if self.wants(table) && dir.exists() {
                std::fs::remove_dir_all(&dir).map_err(|error| {
                    let message = format!("cannot remove {}: {error}", dir.display());
                    Failure { code: exit::UNEXPECTED, message }
                })?;
            }
        }
        Ok(())
    }

    fn open(&self) -> Result<LogTables, ExportError> {
        let (args, what) = (self.args, self.args.selection.words("parquet"));
        let open = || {
            let segments: Arc<dyn SegmentStore> = DataDir::segments_in(&args.common.data);
            CaptureTables::open(&args.out, &self.name(), &what, segments, args.content)
        };
        let captures = self.wants(Table::Captures).then(open).transpose()?;
        let visits = self.wants(Table::Visits).then(|| VisitTables::open(&args.out, &what));
        Ok(LogTables { captures, visits: visits.transpose()? })
    }

    fn name(&self) -> String {
        let of_dir = || {
            let dir = self.args.common.data.canonicalize().ok()?;
            Some(dir.file_name()?.to_string_lossy().into_owned())
        };
        self.args.name.clone().or_else(of_dir).unwrap_or_else(|| "crawl".to_owned())
    }

    /// Captures and visits, which one reading of the log gives.
    fn follow_log(&mut self) -> anyhow::Result<()> {
        let args = self.args;
        if !self.wants(Table::Captures) && !self.wants(Table::Visits) {
            return Ok(());
        }
        // Whether there is a data directory is said by the first question to it.
        if !args.common.data.is_dir() {
            super::super::open(&args.common)?;
        }
        let filter = args.selection.filter(VISIT_FIELDS)?;
        let mut rows = LogRows::new(&args.common, &args.selection, filter);
        let mut tables = self.open()?;
        let after = tables.after();
        let read = rows.read(after, args.follow, &mut |part, rows, contents| {
            tables.add(part, rows, contents)?;
            let finished = part.complete && tables.end_finished()?;
            if finished && args.follow { self.renew_present() } else { Ok(()) }
        });
        match read {
            // What was not written yet comes when the export is resumed.
            Err(error) if exit::code_of(&error) != exit::INTERRUPTED => Err(error),
            read => {
                if let Some(captures) = tables.captures {
                    let CapturesWritten { rows, files } = captures.finish()?;
                    (self.written.captures, self.written.warc_files) = (Some(rows), Some(files));
                }
                self.written.visits = tables.visits.map(VisitTables::finish).transpose()?;
                read.map_err(|_| stopped())
            }
        }
    }

    /// Writes the tables of the present again, if they are old and a crawl can be asked for them.
    fn renew_present(&mut self) -> anyhow::Result<()> {
        let now = SystemClock.now();
        let is_old = self.present_at.is_none_or(|at| now.since(at) >= LEAST_PAUSE);
        match is_old && control::answers(&self.args.common.data) {
            true => self.present(),
            false => Ok(()),
        }
    }

    fn present(&mut self) -> anyhow::Result<()> {
        self.present_at = Some(SystemClock.now());
        if self.wants(Table::Pages) {
            self.written.pages = Some(self.pages()?);
        }
        if self.wants(Table::Hosts) {
            self.written.hosts = Some(self.hosts()?);
        }
        if self.wants(Table::Links) {
            self.written.links = Some(self.links()?);
        }
        Ok(())
    }

    fn pages(&self) -> anyhow::Result<u64> {
        let (args, mut table) = (self.args, None);
        page_rows::each_page(&args.common, &args.selection, None, &mut |page| {
            Ok(created(&mut table, || PageTable::create(&args.out))?.add(page)?)
        })?;
        created(&mut table, || PageTable::create(&args.out))?;
        Ok(table.map_or(Ok(0), PageTable::finish)?)
    }

    fn hosts(&self) -> anyhow::Result<u64> {
        let (args, mut table) = (self.args, None);
        let only = args.selection.host.as_deref();
        let request = Request::Hosts(HostsRequest::default());
        super::super::ask_and_close(&args.common, &request, &mut |answer| match answer {
            Answer::Hosts(part) => {
                let table = created(&mut table, || HostTable::create(&args.out))?;
                let mut wanted =
                    part.hosts.iter().filter(|host| only.is_none_or(|only| only == host.host));
                Ok(wanted.try_for_each(|host| table.add(host))?)
            }
            other => Err(unexpected(&other)),
        })?;
        created(&mut table, || HostTable::create(&args.out))?;
        Ok(table.map_or(Ok(0), HostTable::finish)?)
    }

    fn links(&self) -> anyhow::Result<u64> {
        let (args, mut table) = (self.args, None);
        let (tag, host) = (args.selection.tag.clone(), args.selection.host.clone());
        let request = Request::Links(LinksRequest { tag, host, after: None });
        super::super::ask_and_close(&args.common, &request, &mut |answer| match answer {
            Answer::Links(part) => {
                let table = created(&mut table, || LinkTable::create(&args.out))?;
                Ok(part.links.iter().try_for_each(|link| table.add(link))?)
            }
            other => Err(unexpected(&other)),
        })?;
        created(&mut table, || LinkTable::create(&args.out))?;
        Ok(table.map_or(Ok(0), LinkTable::finish)?)
    }
}

impl LogTables {
    /// The number after which rows are wanted by one or the other.
    fn after(&self) -> Option<u64> {
        let captures = self.captures.as_ref().map(CaptureTables::after);
        let visits = self.visits.as_ref().map(VisitTables::after);
        captures.into_iter().chain(visits).min().flatten()
    }

    fn add(
        &mut self,
        part: &LogView,
        rows: &LogRows<'_>,
        contents: &mut Contents,
    ) -> anyhow::Result<()> {
        for row in &part.rows {
            if rows.is_wanted(row, contents)? {
                self.captures.as_mut().map_or(Ok(()), |captures| captures.add(row, contents))?;
                self.visits.as_mut().map_or(Ok(()), |visits| visits.add(row))?;
            }
        }
        Ok(())
    }

    /// There are no more rows for now: ends what is finished, and says whether captures were.
    fn end_finished(&mut self) -> Result<bool, ExportError> {
        let finished = self.captures.as_mut().map_or(Ok(false), CaptureTables::end_finished)?;
        self.visits.as_mut().map_or(Ok(()), |visits| visits.end_part(finished))?;
        Ok(finished)
    }
}

impl Written {
    /// Tells the user, in words on standard error or as JSON.
    fn tell(&self, as_json: bool) -> anyhow::Result<()> {
        if as_json {
            return Ok(print::json_line(&mut print::data(), self)?);
        }
        let mut parts = Vec::new();
        if let (Some(rows), Some(files)) = (self.captures, self.warc_files) {
            let (rows, files) = (show_counted(rows, "capture"), show_counted(files, "WARC file"));
            parts.push(format!("{rows} of {files}"));
        }
        let tables = [
            (self.visits, "visit"),
            (self.pages, "page"),
            (self.hosts, "host"),
            (self.links, "link"),
        ];
        parts.extend(tables.iter().filter_map(|(rows, what)| Some(show_counted((*rows)?, what))));
        say(format_args!("{} written to {}", parts.join(", "), self.path));
        Ok(())
    }
}

/// The table, created when its first rows come: not before it is known that there is a crawl.
fn created<T, E>(
    table: &mut Option<T>,
    create: impl FnOnce() -> Result<T, E>,
) -> Result<&mut T, E> {
    match table {
        Some(table) => Ok(table),
        none => Ok(none.insert(create()?)),
    }
}
