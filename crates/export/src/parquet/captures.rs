//! Which files hold the captures? One for each finished WARC file, written once, and one for what a growing WARC file
//! has so far, which is written again.
//!
//! Rows come in the order of the log. There the visits of a WARC file follow each other, except where history was
//! imported: so some files are open at once, and a WARC file whose visits come back later gets one more.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use evercrawl_archive::{IndexNotes, SegmentStore, find_warc, serial_of};
use evercrawl_query::{LogRow, VisitView};

use super::capture_columns::{COLUMNS, Capture};
use super::progress::{Progress, files_in, remove};
use super::table::TableWriter;
use super::url_columns::UrlColumns;
use crate::contents::Contents;
use crate::error::ExportError;

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CapturesWritten {
    /// Captures in new files.
    pub rows: u64,
    /// WARC files whose captures were written.
    pub files: u64,
}

/// Writes captures to files.
pub struct CaptureTables {
    dir: PathBuf,
    segments: Arc<dyn SegmentStore>,
    /// Whether records are read, for what only they say.
    with_content: bool,
    progress: Progress,
    open: BTreeMap<u32, OpenPart>,
    urls: UrlColumns,
    /// The last row that came.
    last: Option<u64>,
    /// What was written so far.
    pub written: CapturesWritten,
}

/// The captures of a WARC file that are being written.
struct OpenPart {
    warc: String,
    notes: IndexNotes,
    /// By subset.
    tables: BTreeMap<&'static str, TableWriter>,
    first: u64,
    last: u64,
}

/// Subsets of Common Crawl.
const ANSWERS: &str = "warc";
const OTHERS: &str = "crawldiagnostics";
const SUBSETS: [&str; 2] = [OTHERS, ANSWERS];
/// WARC files whose captures are written at once.
const MOST_OPEN: usize = 3;

impl CaptureTables {
    /// Writes below `dir` what is captured in `segments`; `crawl` names the crawl, `what` the captures that come.
    pub fn open(
        dir: &Path,
        crawl: &str,
        what: &str,
        segments: Arc<dyn SegmentStore>,
        with_content: bool,
    ) -> Result<Self, ExportError> {
        let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
        let name: String = crawl.chars().map(plain).collect();
        let dir = dir.join("captures").join(format!("crawl={name}"));
        let what = if with_content { format!("{what}, with content") } else { what.to_owned() };
        let progress = Progress::read(&dir, &what)?;
        let mut tables = CaptureTables {
            dir,
            segments,
            with_content,
            progress,
            open: BTreeMap::new(),
            urls: UrlColumns::default(),
            last: None,
            written: CapturesWritten::default(),
        };
        tables.forget_removed_warcs()?;
        Ok(tables)
    }

    /// The number of the row after which rows are wanted.
    pub fn after(&self) -> Option<u64> {
        self.progress.settled
    }

    /// Retention writes WARC files anew, under other numbers: what was in the old ones is read again.
    fn forget_removed_warcs(&mut self) -> Result<(), ExportError> {
        let mut gone = Vec::new();
        for serial in self.progress.warcs.keys() {
            if find_warc(&*self.segments, *serial)?.is_none() {
                gone.push(*serial);
            }
        }
        for subset in SUBSETS {
            for path in files_in(&self.subset_dir(subset))? {
                let is_gone = part_serial(&path).is_none_or(|serial| gone.contains(&serial));
                if is_gone || path.extension().is_some_and(|end| end == "new") {
                    remove(&path)?;
                }
            }
        }
        if !gone.is_empty() {
            self.progress.settled = None;
            self.progress.warcs.retain(|serial, _| !gone.contains(serial));
            self.progress.save(&self.dir)?;
        }
        Ok(())
    }

    /// Adds a row of the log.
    pub fn add(&mut self, row: &LogRow, contents: &mut Contents) -> Result<(), ExportError> {
        self.last = Some(row.number);
        let Some(visit) = row.visit.as_ref().filter(|visit| is_capture(visit)) else {
            return Ok(());
        };
        let Some((warc, serial)) =
            visit.warc.as_deref().and_then(|warc| Some((warc, serial_of(warc)?)))
        else {
            return Ok(());
        };
        if self.progress.warcs.get(&serial).is_some_and(|last| row.number <= *last) {
            return Ok(());
        }
        let content = if self.with_content { contents.read(visit)? } else { None };
        self.make_room_for(serial)?;
        let part = self.open.entry(serial).or_insert_with(|| OpenPart {
            warc: warc.to_owned(),
            notes: IndexNotes::of(warc),
            tables: BTreeMap::new(),
            first: row.number,
            last: row.number,
        });
        part.last = row.number;
        let subset = if visit.status == Some(200) { ANSWERS } else { OTHERS };
        let table = match part.tables.get_mut(subset) {
            Some(table) => table,
            None => {
                let path = free_path(&self.dir, subset, serial, &self.progress);
                part.tables.entry(subset).or_insert(TableWriter::sorted(&path, &COLUMNS)?)
            }
        };
        let note = part.notes.at(&*self.segments, visit.offset.unwrap_or(0))?;
        Capture { row, visit, note, content: content.as_ref() }.add_to(table, &mut self.urls);
        self.written.rows += 1;
        table.end_row()
    }

    /// Ends the file whose visits came longest ago, where too many are open.
    fn make_room_for(&mut self, serial: u32) -> Result<(), ExportError> {
        if self.open.len() < MOST_OPEN || self.open.contains_key(&serial) {
            return Ok(());
        }
        let oldest = self.open.iter().min_by_key(|(_, part)| part.last).map(|(serial, _)| *serial);
        oldest.map_or(Ok(()), |serial| self.end_part(serial, true))
    }

    /// Ends the files of WARC files that do not grow any more; says whether there were any. To be called where the
    /// log has no more rows for now.
    pub fn end_finished(&mut self) -> Result<bool, ExportError> {
        let finished: Vec<u32> = self
            .open
            .iter()
            .filter(|(_, part)| evercrawl_archive::is_sealed_warc(&*self.segments, &part.warc))
            .map(|(serial, _)| *serial)
            .collect();
        for serial in &finished {
            self.end_part(*serial, true)?;
        }
        Ok(!finished.is_empty())
    }

    /// Ends a file. First it is noted that it may be unfinished; so a crash in between counts no row twice.
    fn end_part(&mut self, serial: u32, is_finished: bool) -> Result<(), ExportError> {
        let Some(part) = self.open.remove(&serial) else { return Ok(()) };
        let names: Vec<String> =
            part.tables.iter().map(|(subset, table)| name_in(subset, table.path())).collect();
        self.progress.unfinished.extend(names.iter().cloned());
        self.progress.save(&self.dir)?;
        for table in part.tables.into_values() {
            table.finish()?;
        }
        self.written.files += 1;
        if is_finished {
            self.progress.unfinished.retain(|name| !names.contains(name));
            self.progress.warcs.insert(serial, part.last);
            let before_open = self.open.values().map(|part| part.first.saturating_sub(1)).min();
            self.progress.settled = before_open.or(self.last).max(self.progress.settled);
            self.progress.save(&self.dir)?;
        }
        Ok(())
    }

    /// Ends all files; what is of WARC files that may still grow will be written again.
    pub fn finish(mut self) -> Result<CapturesWritten, ExportError> {
        self.end_finished()?;
        let stale = self.progress.unfinished.clone();
        let growing: Vec<u32> = self.open.keys().copied().collect();
        let mut again = Vec::new();
        for serial in growing {
            let tables = self.open.get(&serial).map(|part| &part.tables).into_iter().flatten();
            again.extend(tables.map(|(subset, table)| name_in(subset, table.path())));
            self.end_part(serial, false)?;
        }
        for name in stale.iter().filter(|name| !again.contains(name)) {
            remove(&self.dir.join(name))?;
            self.progress.unfinished.remove(name);
        }
        self.progress.save(&self.dir)?;
        Ok(self.written)
    }

    fn subset_dir(&self, subset: &str) -> PathBuf {
        self.dir.join(format!("subset={subset}"))
    }
}

/// Whether a visit brought an answer of its own: a 304 only confirms an earlier one.
fn is_capture(visit: &VisitView) -> bool {
    visit.warc.is_some() && visit.status.is_some_and(|status| status != 304)
}

/// `subset=warc/part-00001.parquet`.
fn name_in(subset: &str, path: &Path) -> String {
    format!("subset={subset}/{}", path.file_name().unwrap_or_default().to_string_lossy())
}

/// A path for captures of the WARC file `serial`: one that is not taken, or is to be written again.
fn free_path(dir: &Path, subset: &str, serial: u32, progress: &Progress) -> PathBuf {
    let name = |n: u32| match n {
        1 => format!("part-{serial:05}.parquet"),
        n => format!("part-{serial:05}-{n}.parquet"),
    };
    let dir = dir.join(format!("subset={subset}"));
    let path = |n: u32| dir.join(name(n));
    let is_free = |n: &u32| {
        let path = path(*n);
        !path.exists() || progress.unfinished.contains(&name_in(subset, &path))
    };
    path((1..).find(is_free).unwrap_or(1))
}

/// The serial number in `part-00001-2.parquet`.
fn part_serial(path: &Path) -> Option<u32> {
    let name = path.file_name()?.to_str()?.strip_prefix("part-")?;
    name.split(['-', '.']).next()?.parse().ok()
}
