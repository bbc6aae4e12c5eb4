//! Which files hold the visits? Each the visits of some numbers of the log, which stand in its name: what comes after
//! the highest is still to be written.

use std::path::{Path, PathBuf};

use evercrawl_query::LogRow;

use super::capture_columns::tags;
use super::progress::{Progress, files_in, remove};
use super::rows::host_name;
use super::table::ColumnKind::{Double, Flag, Int, Label, Long, Short, Text, Time};
use super::table::{Columns, GROUP, TableWriter};
use crate::error::ExportError;

const COLUMNS: Columns = &[
    ("visit_id", Long),
    ("url", Text),
    ("url_host_name", Label),
    ("fetch_time", Time),
    ("fetch_status", Short),
    ("outcome", Label),
    ("cause", Label),
    ("change", Label),
    ("change_score", Double),
    ("content_digest", Text),
    ("bytes", Long),
    ("duration_ms", Long),
    ("depth", Int),
    ("seed", Flag),
    ("tags", Label),
    ("state_before", Label),
    ("state_after", Label),
    ("warc_filename", Label),
    ("warc_record_offset", Int),
    ("warc_record_length", Int),
];

/// Visits of a file, and visits that are worth a file while more are awaited.
const MOST: u64 = 5 * GROUP as u64;
const WORTH_A_FILE: u64 = 10_000;

/// Writes visits to files.
pub struct VisitTables {
    dir: PathBuf,
    current: Option<(u64, TableWriter)>,
    /// The last number that is in a file, or came.
    last: Option<u64>,
    /// Visits that were written.
    pub rows: u64,
}

impl VisitTables {
    /// Writes to `visits` in `dir`; `what` names the visits that come.
    pub fn open(dir: &Path, what: &str) -> Result<Self, ExportError> {
        let dir = dir.join("visits");
        let progress = Progress::read(&dir, what)?;
        let mut last = None;
        for path in files_in(&dir)? {
            match path.extension().is_some_and(|end| end == "new") {
                true => remove(&path)?,
                false => last = last.max(last_number(&path)),
            }
        }
        progress.save(&dir)?;
        Ok(VisitTables { dir, current: None, last, rows: 0 })
    }

    /// The number of the row after which rows are wanted.
    pub fn after(&self) -> Option<u64> {
        self.last
    }

    /// Adds a row of the log, if it is a visit that is not there.
    pub fn add(&mut self, row: &LogRow) -> Result<(), ExportError> {
        if self.last.is_some_and(|last| row.number <= last) {
            return Ok(());
        }
        self.last = Some(row.number);
        let Some(visit) = &row.visit else { return Ok(()) };
        let (page, life) = (&row.page, row.life.as_ref());
        let (_, table) = match &mut self.current {
            Some(current) => current,
            None => {
                let path = self.dir.join(format!("part-{:012}.parquet", row.number));
                self.current.insert((row.number, TableWriter::create(&path, COLUMNS)?))
            }
        };
        let mut cells = table.row();
        cells.long(Some(row.number)).text(Some(&page.url)).text(Some(host_name(&page.host)));
        cells.time(Some(visit.time.0));
        cells.int(visit.status.and_then(|status| i16::try_from(status).ok()));
        cells.text(Some(visit.outcome.text())).text(visit.cause.map(|cause| cause.text()));
        cells.text(Some(visit.change.text())).double(Some(visit.score));
        cells.text(visit.digest.as_deref().map(|digest| digest.trim_start_matches("sha1:")));
        cells.long(Some(visit.bytes)).long(Some(visit.ms.into()));
        cells.int(Some(page.depth)).flag(page.seed).text(tags(&page.tags).as_deref());
        cells.text(life.map(|life| life.from.text())).text(life.map(|life| life.to.text()));
        cells.text(visit.warc.as_deref());
        cells.fitting(visit.offset).fitting(visit.length.map(u64::from));
        self.rows += 1;
        table.end_row()?;
        if table.rows >= MOST { self.end_file() } else { Ok(()) }
    }

    /// Ends the file if it is worth one, or `anyway`. To be called where the log has no more rows for now.
    pub fn end_part(&mut self, anyway: bool) -> Result<(), ExportError> {
        let rows = self.current.as_ref().map_or(0, |(_, table)| table.rows);
        if anyway || rows >= WORTH_A_FILE { self.end_file() } else { Ok(()) }
    }

    fn end_file(&mut self) -> Result<(), ExportError> {
        let (Some((first, table)), Some(last)) = (self.current.take(), self.last) else {
            return Ok(());
        };
        let path = self.dir.join(format!("part-{first:012}-{last:012}.parquet"));
        table.finish_as(&path).map(drop)
    }

    /// Ends the last file; says how many visits were written.
    pub fn finish(mut self) -> Result<u64, ExportError> {
        self.end_file()?;
        Ok(self.rows)
    }
}

/// The last number in `part-FIRST-LAST.parquet`.
fn last_number(path: &Path) -> Option<u64> {
    let name = path.file_stem()?.to_str()?;
    name.rsplit('-').next()?.parse().ok()
}
