//! Which files hold the captures? Two for each finished WARC file, written once: rows come in the order of the log,
//! in which the records of a WARC file follow each other.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use evercrawl_archive::{SegmentStore, capture_media_types, surt};
use evercrawl_query::{LogRow, VisitView};

use super::table::ColumnKind::{self, Double, Int, Long, Short, Text, Time as TimeColumn};
use super::table::{Cell, GROUP, TableWriter};
use super::url_columns::{OF_COMMON_CRAWL, URL_COLUMNS, url_cells};
use crate::contents::{Content, Contents};
use crate::error::ExportError;
use crate::page_text::page_text;

/// What follows the columns of a URL: Common Crawl's, then ours.
const REST: [(&str, ColumnKind); 24] = [
    ("fetch_time", TimeColumn),
    ("fetch_status", Short),
    ("fetch_redirect", Text),
    ("content_digest", Text),
    ("content_mime_type", Text),
    ("content_mime_detected", Text),
    ("content_charset", Text),
    ("content_languages", Text),
    ("content_truncated", Text),
    ("warc_filename", Text),
    ("warc_record_offset", Int),
    ("warc_record_length", Int),
    ("warc_segment", Text),
    ("visit_id", Long),
    ("change", Text),
    ("change_score", Double),
    ("interval_seconds", Double),
    ("lambda_hat", Double),
    ("http_etag", Text),
    ("http_last_modified", Text),
    ("depth", Int),
    ("via", Text),
    ("tags", Text),
    ("duration_ms", Long),
];

const COUNT: usize = 2 + OF_COMMON_CRAWL + REST.len();

/// All columns.
const COLUMNS: [(&str, ColumnKind); COUNT] = {
    let mut all = [("url_surtkey", Text); COUNT];
    all[1] = ("url", Text);
    let mut n = 0;
    while n < OF_COMMON_CRAWL {
        all[2 + n] = URL_COLUMNS[n];
        n += 1;
    }
    n = 0;
    while n < REST.len() {
        all[2 + OF_COMMON_CRAWL + n] = REST[n];
        n += 1;
    }
    all
};

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CapturesWritten {
    /// Captures in new files.
    pub rows: u64,
    /// WARC files whose captures were written.
    pub files: u64,
    /// WARC files whose captures were there already.
    pub kept: u64,
}

/// Writes captures to files.
pub struct CaptureTables {
    dir: PathBuf,
    segments: Arc<dyn SegmentStore>,
    /// Whether records are read, for what only they say.
    with_content: bool,
    /// The WARC file whose captures come, unless its table is there already.
    current: Option<Current>,
    /// WARC files that came, and in how many runs of rows.
    seen: HashMap<String, u32>,
    /// What was written so far.
    pub written: CapturesWritten,
}

struct Current {
    warc: String,
    media_types: HashMap<u64, String>,
    /// By the sort key; as many as a row group has.
    rows: Vec<(String, LogRow)>,
    tables: HashMap<&'static str, TableWriter>,
    is_kept: bool,
}

/// Subsets of Common Crawl.
const ANSWERS: &str = "warc";
const OTHERS: &str = "crawldiagnostics";

impl CaptureTables {
    /// Writes below `dir` what is captured in `segments`; `crawl` names the crawl.
    pub fn new(
        dir: &Path,
        crawl: &str,
        segments: Arc<dyn SegmentStore>,
        with_content: bool,
    ) -> Self {
        let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
        let name: String = crawl.chars().map(plain).collect();
        CaptureTables {
            dir: dir.join("captures").join(format!("crawl={name}")),
            segments,
            with_content,
            current: None,
            seen: HashMap::new(),
            written: CapturesWritten::default(),
        }
    }

    /// Adds a row of the log.
    pub fn add(&mut self, row: &LogRow, contents: &mut Contents) -> Result<(), ExportError> {
        let Some(warc) = row.visit.as_ref().and_then(|visit| visit.warc.as_deref()) else {
            return Ok(());
        };
        if self.current.as_ref().is_none_or(|current| current.warc != warc) {
            self.end_file(contents)?;
            self.begin_file(warc)?;
        }
        let is_full = match &mut self.current {
            Some(current) if !current.is_kept => {
                let offset = row.visit.as_ref().and_then(|visit| visit.offset).unwrap_or(0);
                // A 304 has no line in the index, and is no capture of its own.
                if current.media_types.contains_key(&offset) {
                    current.rows.push((surt(&row.page.url), row.clone()));
                }
                current.rows.len() >= GROUP
            }
            _ => false,
        };
        if is_full { self.write_rows(contents) } else { Ok(()) }
    }

    fn begin_file(&mut self, warc: &str) -> Result<(), ExportError> {
        let run = self.seen.entry(warc.to_owned()).or_default();
        *run += 1;
        let run = *run;
        let is_kept = self.path(ANSWERS, warc, run).exists();
        let media_types = match is_kept {
            true => HashMap::new(),
            false => capture_media_types(&*self.segments, warc)?,
        };
        let mut current = Current {
            warc: warc.to_owned(),
            media_types,
            rows: Vec::new(),
            tables: HashMap::new(),
            is_kept,
        };
        let first = u64::from(run == 1);
        if is_kept {
            self.written.kept += first;
        } else {
            self.written.files += first;
            for subset in [OTHERS, ANSWERS] {
                let table = TableWriter::create(&self.path(subset, warc, run), &COLUMNS)?;
                current.tables.insert(subset, table);
            }
        }
        self.current = Some(current);
        Ok(())
    }

    /// The file for a run of rows of a WARC file; there is hardly ever more than one.
    fn path(&self, subset: &str, warc: &str, run: u32) -> PathBuf {
        let name = warc.trim_end_matches(".gz").trim_end_matches(".warc");
        let number = if run > 1 { format!(".{run}") } else { String::new() };
        self.dir.join(format!("subset={subset}")).join(format!("{name}{number}.parquet"))
    }

    fn write_rows(&mut self, contents: &mut Contents) -> Result<(), ExportError> {
        let Some(current) = &mut self.current else { return Ok(()) };
        current
            .rows
            .sort_by(|(one, row), (next, later)| (one, row.number).cmp(&(next, later.number)));
        for (key, row) in std::mem::take(&mut current.rows) {
            let Some(visit) = &row.visit else { continue };
            let subset = if visit.status == Some(200) { ANSWERS } else { OTHERS };
            let media_type = visit.offset.and_then(|offset| current.media_types.get(&offset));
            let content = if self.with_content { contents.read(visit)? } else { None };
            let cells = cells(key, &row, visit, media_type.map(String::as_str), content.as_ref());
            if let Some(table) = current.tables.get_mut(subset) {
                table.push(cells)?;
                self.written.rows += 1;
            }
        }
        current.tables.values_mut().try_for_each(TableWriter::write_group)
    }

    fn end_file(&mut self, contents: &mut Contents) -> Result<(), ExportError> {
        self.write_rows(contents)?;
        let Some(mut current) = self.current.take() else { return Ok(()) };
        // The one that is looked for comes last.
        for subset in [OTHERS, ANSWERS] {
            current.tables.remove(subset).map_or(Ok(0), TableWriter::finish)?;
        }
        Ok(())
    }

    /// Ends the last file, and removes tables of WARC files that are not there any more.
    pub fn finish(mut self, contents: &mut Contents) -> Result<CapturesWritten, ExportError> {
        self.end_file(contents)?;
        for subset in [ANSWERS, OTHERS] {
            let runs = |(warc, count): (&String, &u32)| -> Vec<PathBuf> {
                (1..=*count).map(|run| self.path(subset, warc, run)).collect()
            };
            let kept: HashSet<PathBuf> = self.seen.iter().flat_map(runs).collect();
            let dir = self.dir.join(format!("subset={subset}"));
            let Ok(entries) = fs::read_dir(&dir) else { continue };
            for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
                if !kept.contains(&path) {
                    fs::remove_file(&path).map_err(ExportError::io("remove", &path))?;
                }
            }
        }
        Ok(self.written)
    }

    /// Removes the tables of a WARC file that still grows, so that they are written again.
    pub fn forget_growing(&self, is_growing: &dyn Fn(&str) -> bool) -> io::Result<()> {
        for subset in [ANSWERS, OTHERS] {
            let dir = self.dir.join(format!("subset={subset}"));
            let Ok(entries) = fs::read_dir(&dir) else { continue };
            for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
                let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                if is_growing(&format!("{name}.warc.gz")) {
                    fs::remove_file(&path)?;
                }
            }
        }
        Ok(())
    }
}

/// The cells of a capture.
fn cells(
    key: String,
    row: &LogRow,
    visit: &VisitView,
    media_type: Option<&str>,
    content: Option<&Content>,
) -> Vec<Cell> {
    let page = &row.page;
    let mut cells = vec![Cell::Text(key), Cell::Text(page.url.clone())];
    cells.extend(url_cells(&page.url));
    cells.extend([
        Cell::time(Some(visit.time.0)),
        Cell::int(visit.status.and_then(|status| i16::try_from(status).ok())),
        Cell::text(content.and_then(|content| content.header("location"))),
        Cell::text(visit.digest.as_deref().map(|digest| digest.trim_start_matches("sha1:"))),
        Cell::text(media_type),
    ]);
    cells.extend(content_cells(&page.url, content));
    let rate = (page.watched_seconds > 0.0).then(|| f64::from(page.changes) / page.watched_seconds);
    cells.extend([
        Cell::text(visit.warc.clone()),
        Cell::fitting(visit.offset),
        Cell::fitting(visit.length.map(u64::from)),
        Cell::Missing,
        Cell::long(Some(row.number)),
        Cell::text(Some(visit.change.text())),
        Cell::double(Some(visit.score)),
        Cell::double(page.interval_seconds),
        Cell::double(rate),
        Cell::text(page.etag.clone()),
        Cell::text(page.last_modified.clone()),
        Cell::int(Some(page.depth)),
        Cell::text(page.via.clone()),
        Cell::text((!page.tags.is_empty()).then(|| page.tags.join(" "))),
        Cell::long(Some(visit.ms.into())),
    ]);
    cells
}

/// What only the record says: detected media type, charset, languages, and whether it was cut short.
fn content_cells(url: &str, content: Option<&Content>) -> [Cell; 4] {
    let Some(content) = content else { return [const { Cell::Missing }; 4] };
    let body = content.body();
    let declared = content.header("content-type");
    let kind = evercrawl_extract::sniff::sniff(&body, declared.as_deref(), url);
    let header = declared.as_deref().and_then(evercrawl_extract::charset::header_charset);
    let is_text = !matches!(kind, evercrawl_extract::ContentKind::Other(_));
    let charset = is_text.then(|| {
        evercrawl_extract::charset::decode_text(&body, header, None).map(|text| text.charset)
    });
    let language = page_text(content, url, &|_| false).and_then(|page| page.main.language);
    [
        Cell::text(Some(kind.mime())),
        Cell::text(charset.flatten()),
        Cell::text(language),
        Cell::text(content.own.header("WARC-Truncated").map(str::to_owned)),
    ]
}
