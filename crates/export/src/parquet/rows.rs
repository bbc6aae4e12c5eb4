//! Which columns have pages, hosts and links? They show the present: each file is replaced when the new one is whole.

use std::path::Path;

use evercrawl_query::{HostView, LinkView, PageView};

use super::capture_columns::tags;
use super::table::ColumnKind::{Double, Flag, Int, Label, Long, Short, Text, Time};
use super::table::{Columns, TableWriter};
use crate::error::ExportError;

const PAGES: Columns = &[
    ("url", Text),
    ("url_host_name", Label),
    ("state", Label),
    ("reason", Label),
    ("status", Short),
    ("kind", Label),
    ("depth", Int),
    ("via", Text),
    ("seed", Flag),
    ("tags", Label),
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

const LINKS: Columns = &[
    ("from_url", Text),
    ("from_host", Label),
    ("to_url", Text),
    ("to_host", Label),
    ("to_state", Label),
    ("to_status", Short),
    ("anchor", Text),
];

/// The table of pages.
pub struct PageTable(TableWriter);

impl PageTable {
    /// Writes `pages.parquet` in `dir`.
    pub fn create(dir: &Path) -> Result<Self, ExportError> {
        Ok(PageTable(TableWriter::create(&dir.join("pages.parquet"), PAGES)?))
    }

    /// Adds a page.
    pub fn add(&mut self, page: &PageView) -> Result<(), ExportError> {
        let mut row = self.0.row();
        row.text(Some(&page.url)).text(Some(host_of(&page.url)));
        row.text(Some(page.state.code())).text(page.reason.as_deref());
        row.int(page.status.and_then(|status| i16::try_from(status).ok()));
        row.text(Some(page.kind.text())).int(Some(page.depth)).text(page.via.as_deref());
        row.flag(page.seed).text(tags(&page.tags).as_deref()).time(Some(page.found.0));
        row.long(Some(page.visits.into())).long(Some(page.changes.into()));
        row.time(page.last_visit.map(|at| at.0)).time(page.last_change.map(|at| at.0));
        row.time(page.next_due.map(|at| at.0));
        row.text(page.digest.as_deref().map(|digest| digest.trim_start_matches("sha1:")));
        self.0.end_row()
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
        let mut row = self.0.row();
        row.text(Some(&host.host)).flag(host.seed).long(Some(host.pages));
        row.long(Some(host.new_pages)).long(Some(host.failures.into()));
        row.long(Some(host.answer_ms)).text(host.address.as_deref());
        row.int(robots.and_then(|status| i16::try_from(status).ok())).flag(host.paused);
        row.text(host.mirror_of.as_deref()).double(host.spam_probability);
        self.0.end_row()
    }

    /// Ends the file; says how many rows it has.
    pub fn finish(self) -> Result<u64, ExportError> {
        self.0.finish()
    }
}

/// The table of links.
pub struct LinkTable(TableWriter);

impl LinkTable {
    /// Writes `links.parquet` in `dir`.
    pub fn create(dir: &Path) -> Result<Self, ExportError> {
        Ok(LinkTable(TableWriter::create(&dir.join("links.parquet"), LINKS)?))
    }

    /// Adds a link.
    pub fn add(&mut self, link: &LinkView) -> Result<(), ExportError> {
        let mut row = self.0.row();
        row.text(Some(&link.from)).text(Some(host_of(&link.from)));
        row.text(Some(&link.to)).text(Some(host_of(&link.to))).text(Some(link.to_state.code()));
        row.int(link.to_status.and_then(|status| i16::try_from(status).ok()));
        row.text(link.anchor.as_deref());
        self.0.end_row()
    }

    /// Ends the file; says how many rows it has.
    pub fn finish(self) -> Result<u64, ExportError> {
        self.0.finish()
    }
}

/// The host of a URL without its port.
fn host_of(url: &str) -> &str {
    host_name(url.split('/').nth(2).unwrap_or_default())
}

/// A host without its port.
pub(super) fn host_name(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}
