//! Which columns have visits, pages and hosts?

use std::path::Path;

use evercrawl_query::{HostView, LogRow, PageView};

use super::table::ColumnKind::{Double, Flag, Int, Long, Short, Text, Time};
use super::table::{Cell, Columns, TableWriter};
use crate::error::ExportError;

const VISITS: Columns = &[
    ("visit_id", Long),
    ("url", Text),
    ("url_host_name", Text),
    ("fetch_time", Time),
    ("fetch_status", Short),
    ("outcome", Text),
    ("change", Text),
    ("change_score", Double),
    ("content_digest", Text),
    ("bytes", Long),
    ("duration_ms", Long),
    ("depth", Int),
    ("seed", Flag),
    ("tags", Text),
    ("state_before", Text),
    ("state_after", Text),
    ("warc_filename", Text),
    ("warc_record_offset", Int),
    ("warc_record_length", Int),
];

const PAGES: Columns = &[
    ("url", Text),
    ("url_host_name", Text),
    ("state", Text),
    ("reason", Text),
    ("status", Short),
    ("kind", Text),
    ("depth", Int),
    ("via", Text),
    ("seed", Flag),
    ("tags", Text),
    ("found", Time),
    ("visits", Long),
    ("changes", Long),
    ("last_visit", Time),
    ("last_change", Time),
    ("next_due", Time),
    ("content_digest", Text),
];

const HOSTS: Columns = &[
    ("host", Text),
    ("seed", Flag),
    ("pages", Long),
    ("new_pages", Long),
    ("failures", Long),
    ("answer_ms", Long),
    ("address", Text),
    ("robots_status", Short),
    ("paused", Flag),
    ("mirror_of", Text),
    ("spam_probability", Double),
];

/// The table of visits.
pub struct VisitTable(TableWriter);

impl VisitTable {
    /// Writes `visits.parquet` in `dir`.
    pub fn create(dir: &Path) -> Result<Self, ExportError> {
        Ok(VisitTable(TableWriter::create(&dir.join("visits.parquet"), VISITS)?))
    }

    /// Adds a row of the log, if it is a visit.
    pub fn add(&mut self, row: &LogRow) -> Result<(), ExportError> {
        let Some(visit) = &row.visit else { return Ok(()) };
        let (page, life) = (&row.page, row.life.as_ref());
        self.0.push(vec![
            Cell::long(Some(row.number)),
            Cell::Text(page.url.clone()),
            Cell::Text(host_name(&page.host).to_owned()),
            Cell::time(Some(visit.time.0)),
            Cell::int(visit.status.and_then(|status| i16::try_from(status).ok())),
            Cell::text(Some(visit.outcome.text())),
            Cell::text(Some(visit.change.text())),
            Cell::double(Some(visit.score)),
            Cell::text(visit.digest.as_deref().map(|digest| digest.trim_start_matches("sha1:"))),
            Cell::long(Some(visit.bytes)),
            Cell::long(Some(visit.ms.into())),
            Cell::int(Some(page.depth)),
            Cell::Flag(page.seed),
            tags(&page.tags),
            Cell::text(life.map(|life| life.from.text())),
            Cell::text(life.map(|life| life.to.text())),
            Cell::text(visit.warc.clone()),
            Cell::fitting(visit.offset),
            Cell::fitting(visit.length.map(u64::from)),
        ])
    }

    /// Ends the file; says how many rows it has.
    pub fn finish(self) -> Result<u64, ExportError> {
        self.0.finish()
    }
}

/// The table of pages.
pub struct PageTable(TableWriter);

impl PageTable {
    /// Writes `pages.parquet` in `dir`.
    pub fn create(dir: &Path) -> Result<Self, ExportError> {
        Ok(PageTable(TableWriter::create(&dir.join("pages.parquet"), PAGES)?))
    }

    /// Adds a page.
    pub fn add(&mut self, page: &PageView) -> Result<(), ExportError> {
        let host = page.url.split('/').nth(2).unwrap_or_default();
        self.0.push(vec![
            Cell::Text(page.url.clone()),
            Cell::Text(host_name(host).to_owned()),
            Cell::text(Some(page.state.code())),
            Cell::text(page.reason.clone()),
            Cell::int(page.status.and_then(|status| i16::try_from(status).ok())),
            Cell::text(Some(page.kind.text())),
            Cell::int(Some(page.depth)),
            Cell::text(page.via.clone()),
            Cell::Flag(page.seed),
            tags(&page.tags),
            Cell::time(Some(page.found.0)),
            Cell::long(Some(page.visits.into())),
            Cell::long(Some(page.changes.into())),
            Cell::time(page.last_visit.map(|at| at.0)),
            Cell::time(page.last_change.map(|at| at.0)),
            Cell::time(page.next_due.map(|at| at.0)),
            Cell::text(page.digest.as_deref().map(|digest| digest.trim_start_matches("sha1:"))),
        ])
    }

    /// Ends the file; says how many rows it has.
    pub fn finish(self) -> Result<u64, ExportError> {
        self.0.finish()
    }
}

/// The table of hosts.
pub struct HostTable(TableWriter);

impl HostTable {
    /// Writes `hosts.parquet` in `dir`.
    pub fn create(dir: &Path) -> Result<Self, ExportError> {
        Ok(HostTable(TableWriter::create(&dir.join("hosts.parquet"), HOSTS)?))
    }

    /// Adds a host.
    pub fn add(&mut self, host: &HostView) -> Result<(), ExportError> {
        let robots = host.robots.first().and_then(|robots| robots.status);
        self.0.push(vec![
            Cell::Text(host.host.clone()),
            Cell::Flag(host.seed),
            Cell::long(Some(host.pages)),
            Cell::long(Some(host.new_pages)),
            Cell::long(Some(host.failures.into())),
            Cell::long(Some(host.answer_ms)),
            Cell::text(host.address.clone()),
            Cell::int(robots.and_then(|status| i16::try_from(status).ok())),
            Cell::Flag(host.paused),
            Cell::text(host.mirror_of.clone()),
            Cell::double(host.spam_probability),
        ])
    }

    /// Ends the file; says how many rows it has.
    pub fn finish(self) -> Result<u64, ExportError> {
        self.0.finish()
    }
}

/// The host without its port.
fn host_name(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

fn tags(tags: &[String]) -> Cell {
    Cell::text((!tags.is_empty()).then(|| tags.join(" ")))
}
