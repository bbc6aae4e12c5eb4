//! What stands in the log, with what is known of each page? The rows that exports and feeds are made of.
//!
//! As in [`changes`](crate::changes()), every row has its number, and a reader that stores the number of the last
//! row it dealt with gets every later row once.

use std::collections::HashMap;

use evercrawl_model::{HostKey, LifeState, LogNotice, Outcome, PageKey, PageKind, Time};
use evercrawl_state::{LogEntry, PageRow, StateError, Store};
use serde::{Deserialize, Serialize};

use crate::changes::{LifeChangeView, first_since, is_news};
use crate::code::{At, Code};
use crate::source::{FileNames, QueryError, Source};
use crate::visit::{VisitView, view_of_visit};

/// Which rows of the log are asked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogRequest {
    /// Only rows after this number.
    #[serde(default)]
    pub after: Option<u64>,
    /// Only rows from this time on.
    #[serde(default)]
    pub since: Option<At>,
    /// Only rows before this time.
    #[serde(default)]
    pub until: Option<At>,
    /// Only pages with this tag.
    #[serde(default)]
    pub tag: Option<String>,
    /// Only pages of this host.
    #[serde(default)]
    pub host: Option<String>,
    /// Only visits that found something new, and pages that came to another state.
    #[serde(default)]
    pub news: bool,
    /// Leave out visits that were imported.
    #[serde(default)]
    pub without_imported: bool,
    /// At most so many.
    #[serde(default)]
    pub limit: Option<u64>,
    /// Wait for more while the crawl runs.
    #[serde(default)]
    pub follow: bool,
}

/// A row of the log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LogRow {
    /// Its number.
    pub number: u64,
    /// When the visit began, or the page came to another state.
    pub time: At,
    /// The page.
    pub page: LogPage,
    /// The visit; `None` where the page came to another state without one.
    pub visit: Option<VisitView>,
    /// From which state to which, where it changed.
    pub life: Option<LifeChangeView>,
    /// The last visit with content, where the page is live again and this row has no content of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<VisitView>,
}

/// What is known of the page of a row.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LogPage {
    /// Its canonical URL.
    pub url: String,
    /// Its host, with the port where that is not the usual one.
    pub host: String,
    /// What it is for.
    pub kind: Option<Code<PageKind>>,
    /// Links from a seed.
    pub depth: u16,
    /// The page on which it was first found.
    pub via: Option<String>,
    /// Whether the user gave it.
    pub seed: bool,
    /// Its tags.
    pub tags: Vec<String>,
    /// How much it matters by links: one is the average page, where that is known.
    pub importance: Option<f64>,
    /// Checks that could have seen a change.
    pub checks: u32,
    /// Checks that saw one.
    pub changes: u32,
    /// Seconds that the checks span.
    pub watched_seconds: f64,
    /// Seconds from the last visit to the next one that is planned.
    pub interval_seconds: Option<f64>,
    /// The `ETag` that is held.
    pub etag: Option<String>,
    /// The `Last-Modified` that is held.
    pub last_modified: Option<String>,
}

/// Some of the rows that were asked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LogView {
    /// The rows, in the order of commits.
    pub rows: Vec<LogRow>,
    /// The number of the last row that was looked at: ask for what comes after it.
    pub last: Option<u64>,
    /// Whether there are no more for now.
    pub complete: bool,
}

/// Rows that are read for one answer, and rows that are in it, at most.
const MOST_READ: u64 = 20_000;
const MOST_SHOWN: usize = 500;
/// URLs of referring pages that are kept for the next rows.
const MOST_KEPT: usize = 4096;

/// Some of the rows that are asked for. A call reads a bounded number, so an answer may be empty and yet not
/// complete: ask again after `last`.
pub fn log<S: Store>(source: &Source<'_, S>, asked: &LogRequest) -> Result<LogView, QueryError> {
    let since = asked.since.map_or(Time::EPOCH, |since| since.0);
    let from = match asked.after {
        Some(after) => after.saturating_add(1),
        None => first_since(source, since)?,
    };
    let most = asked
        .limit
        .map_or(MOST_SHOWN, |limit| usize::try_from(limit).unwrap_or(MOST_SHOWN).min(MOST_SHOWN));
    let imported = if asked.without_imported { source.state.imported()? } else { Vec::new() };
    let mut rows = RowReader::new(source)?;
    let mut view = LogView { last: from.checked_sub(1), complete: true, ..Default::default() };
    for (read, entry) in (0..).zip(source.state.log(from)) {
        if read == MOST_READ || view.rows.len() >= most {
            view.complete = false;
            break;
        }
        let (number, entry) = entry?;
        view.last = Some(number);
        if imported.iter().any(|range| range.contains(&number)) {
            continue;
        }
        if is_in_time(&entry, asked) && is_wanted(&entry, asked) {
            view.rows.extend(rows.row(number, &entry, asked)?);
        }
    }
    Ok(view)
}

fn is_in_time(entry: &LogEntry, asked: &LogRequest) -> bool {
    asked.since.is_none_or(|since| entry.at() >= since.0)
        && asked.until.is_none_or(|until| entry.at() < until.0)
}

fn is_wanted(entry: &LogEntry, asked: &LogRequest) -> bool {
    !asked.news
        || match entry {
            LogEntry::Visit(visit, turn) => is_news(visit.change) || turn.is_some(),
            LogEntry::Notice(notice) => matches!(notice, LogNotice::LifeChanged { .. }),
        }
}

/// Puts entries of the log together with what is known of their pages.
struct RowReader<'a, S> {
    source: &'a Source<'a, S>,
    files: FileNames,
    tags: HashMap<u32, String>,
    hosts: HashMap<HostKey, String>,
    urls: HashMap<PageKey, Option<String>>,
}

impl<'a, S: Store> RowReader<'a, S> {
    fn new(source: &'a Source<'a, S>) -> Result<Self, StateError> {
        let (files, tags) = (source.file_names()?, source.state.tag_sets()?);
        Ok(RowReader { source, files, tags, hosts: HashMap::new(), urls: HashMap::new() })
    }

    /// The row of an entry; `None` where its page is not asked for, or it is about none.
    fn row(
        &mut self,
        number: u64,
        entry: &LogEntry,
        asked: &LogRequest,
    ) -> Result<Option<LogRow>, QueryError> {
        let (key, visit, life) = match entry {
            LogEntry::Visit(visit, turn) => {
                let life = turn.map(|turn| LifeChangeView::new(turn, visit.outcome.code()));
                (visit.page, Some(visit), life)
            }
            LogEntry::Notice(LogNotice::LifeChanged { page, change, reason, .. }) => {
                (*page, None, Some(LifeChangeView::new(*change, reason.code())))
            }
            LogEntry::Notice(LogNotice::SiteChanged { .. }) => return Ok(None),
        };
        let Some(row) = self.source.state.page(key)? else { return Ok(None) };
        if !self.is_of(&row, key.host, asked)? {
            return Ok(None);
        }
        let visit = visit.map(|visit| view_of_visit(self.source, visit, None, &self.files));
        let held = self.held(&row, life.as_ref())?;
        let (page, visit) = (self.page(key.host, row)?, visit.transpose()?);
        Ok(Some(LogRow { number, time: At(entry.at()), page, visit, life, held }))
    }

    /// The last visit that brought content, of a page that is live again.
    fn held(
        &self,
        row: &PageRow,
        life: Option<&LifeChangeView>,
    ) -> Result<Option<VisitView>, QueryError> {
        let is_first = |life: &LifeChangeView| life.from.0 == LifeState::New;
        if life.is_none_or(|life| life.to.0 != LifeState::Live || is_first(life)) {
            return Ok(None);
        }
        for visit in self.source.state.history(row) {
            let (_, visit) = visit?;
            if visit.outcome == Outcome::Ok && visit.record.is_some() {
                return Ok(Some(view_of_visit(self.source, &visit, None, &self.files)?));
            }
        }
        Ok(None)
    }

    /// Whether a page has the tag and the host that are asked for.
    fn is_of(
        &mut self,
        row: &PageRow,
        host: HostKey,
        asked: &LogRequest,
    ) -> Result<bool, QueryError> {
        let tag = asked.tag.as_deref().is_none_or(|tag| self.tags_of(row).any(|has| has == tag));
        Ok(tag
            && asked
                .host
                .as_deref()
                .map_or(Ok(true), |name| Ok::<_, QueryError>(self.host(host)? == name))?)
    }

    fn tags_of(&self, row: &PageRow) -> impl Iterator<Item = &str> {
        self.tags.get(&row.tags).map(|tags| tags.split(' ')).into_iter().flatten()
    }

    fn host(&mut self, key: HostKey) -> Result<String, StateError> {
        if let Some(name) = self.hosts.get(&key) {
            return Ok(name.clone());
        }
        let name = self.source.host_name(key)?;
        if self.hosts.len() >= MOST_KEPT {
            self.hosts.clear();
        }
        self.hosts.insert(key, name.clone());
        Ok(name)
    }

    fn url(&mut self, key: PageKey) -> Result<Option<String>, StateError> {
        if let Some(url) = self.urls.get(&key) {
            return Ok(url.clone());
        }
        let url = self.source.url(key)?;
        if self.urls.len() >= MOST_KEPT {
            self.urls.clear();
        }
        self.urls.insert(key, url.clone());
        Ok(url)
    }

    fn page(&mut self, host: HostKey, row: PageRow) -> Result<LogPage, StateError> {
        let past = row.past.as_ref();
        let due = match row.place {
            Some(evercrawl_state::Place::Due(at) | evercrawl_state::Place::Recheck(at)) => Some(at),
            _ => None,
        };
        let interval = due.zip(past).map(|(due, past)| due.since(past.last_visit).as_secs_f64());
        Ok(LogPage {
            host: self.host(host)?,
            kind: Some(Code(row.kind)),
            depth: row.depth,
            via: row.via.map_or(Ok(None), |via| self.url(via))?,
            seed: row.seed,
            tags: self.tags_of(&row).map(str::to_owned).collect(),
            importance: None,
            checks: past.map_or(0, |past| past.checks),
            changes: past.map_or(0, |past| past.changes),
            watched_seconds: past.map_or(0.0, |past| past.watched.into()),
            interval_seconds: interval,
            etag: past.and_then(|past| past.validators.etag.as_deref().map(str::to_owned)),
            last_modified: past
                .and_then(|past| past.validators.last_modified.as_deref().map(str::to_owned)),
            url: row.url,
        })
    }
}
