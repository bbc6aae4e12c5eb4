//! What is a search index to hold? One document a page, told as operations by number: put this, delete that.
//!
//! A page is put when a visit found it new or changed, or when it is live again, and deleted when it is gone, moved,
//! refused or hidden behind something else. Redirects, feeds, sitemaps and errors are no documents. An operation has
//! the number of its row in the log, so an index that keeps the highest number of each document may be told anything
//! twice.

mod forms;

use std::collections::HashMap;

use evercrawl_maintext::{Link, SitePassages};
use evercrawl_model::{Change, LifeState, Outcome, PageKind};
use evercrawl_query::{LogRow, VisitView};
use evercrawl_robots::Directives;
use evercrawl_urls::Canonical;
use serde::Serialize;
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use crate::contents::Contents;
use crate::error::ExportError;
use crate::page_text::{PageText, page_text};

pub use forms::{Batch, DocumentForm, Refused};

/// What to do with one document.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum Operation {
    /// Hold it as it is here.
    Put(Box<Document>),
    /// Do not hold it any more.
    Delete {
        /// The number of the row in the log.
        seq: u64,
        /// The document.
        id: String,
        /// Its URL.
        url: String,
        /// Why: the state that the page came to.
        reason: String,
    },
}

impl Operation {
    /// The number of the row in the log.
    pub fn seq(&self) -> u64 {
        match self {
            Operation::Put(document) => document.seq,
            Operation::Delete { seq, .. } => *seq,
        }
    }
}

/// A page, as a search index takes it.
#[derive(Clone, Debug, Serialize)]
pub struct Document {
    /// The number of the row in the log.
    pub seq: u64,
    /// What the URL is known by: 32 hexadecimal digits.
    pub id: String,
    /// The canonical URL.
    pub url: String,
    /// The address that the page says is its true one.
    pub canonical: Option<String>,
    /// Its title.
    pub title: Option<String>,
    /// Its main text.
    pub text: String,
    /// The same as Markdown, where that is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub markdown: Option<String>,
    /// Its language in two letters.
    pub lang: Option<String>,
    /// Its headings.
    pub headings: Vec<String>,
    /// The links in its main text.
    pub links: Vec<DocumentLink>,
    /// Its host.
    pub host: String,
    /// The registered domain of the host.
    pub domain: String,
    /// Its tags.
    pub tags: Vec<String>,
    /// When this content was fetched.
    pub fetched: String,
    /// When the page was published, as it says.
    pub published: Option<String>,
    /// Who wrote it, as it says.
    pub byline: Option<String>,
    /// What the visit found: `new`, `changed`, `near`; or `same` for a page that is live again.
    pub change: String,
    /// How much of its text is new, from 0 to 1.
    pub score: f64,
    /// Links from a seed.
    pub depth: u16,
    /// Whether it asks not to be indexed.
    pub noindex: bool,
    /// Whether it reserves its use for text and data mining.
    pub tdm_reserved: bool,
    /// SHA-1 of its content.
    pub digest: Option<String>,
    /// Where its record is.
    pub warc: Option<RecordPlace>,
}

/// A link in a document.
#[derive(Clone, Debug, Serialize)]
pub struct DocumentLink {
    /// Where it leads.
    pub url: String,
    /// Its words.
    pub text: String,
}

/// Where a record is.
#[derive(Clone, Debug, Serialize)]
pub struct RecordPlace {
    /// The WARC file.
    pub file: String,
    /// Where in it.
    pub offset: u64,
    /// How long it is.
    pub length: u32,
}

/// Links and headings of a document.
const MOST_LINKS: usize = 1000;
/// Hosts whose common passages are remembered.
const MOST_HOSTS: usize = 1000;

/// Makes documents of rows of the log.
#[derive(Default)]
pub struct Documents {
    /// Whether documents have their text as Markdown, too.
    pub with_markdown: bool,
    /// Whether pages are put that ask not to be indexed, or reserve their use.
    pub with_reserved: bool,
    sites: HashMap<String, SitePassages>,
    /// Pages that were left out because they ask for it.
    pub reserved: u64,
    /// Pages without a record that could be read, as where retention dropped it.
    pub without_record: u64,
}

impl Documents {
    /// The operations of some rows, in their order. Passages that several pages of a host among them show, or of
    /// those before, are left out of the texts.
    pub fn operations(
        &mut self,
        rows: &[&LogRow],
        contents: &mut Contents,
    ) -> Result<Vec<Operation>, ExportError> {
        for row in rows {
            if let Some(visit) = visit_to_put(row) {
                self.learn(row, visit, contents)?;
            }
        }
        let mut operations = Vec::new();
        for row in rows {
            operations.extend(match visit_to_put(row) {
                Some(visit) => self.put(row, visit, contents)?,
                None => delete(row),
            });
        }
        Ok(operations)
    }

    /// Whether a row puts or deletes a document.
    pub fn concerns(row: &LogRow) -> bool {
        visit_to_put(row).is_some() || delete(row).is_some()
    }

    fn learn(
        &mut self,
        row: &LogRow,
        visit: &VisitView,
        contents: &mut Contents,
    ) -> Result<(), ExportError> {
        let Some(content) = contents.read(visit)? else { return Ok(()) };
        let Some(page) = page_text(&content, &row.page.url, &|_| false) else { return Ok(()) };
        if self.sites.len() >= MOST_HOSTS && !self.sites.contains_key(&row.page.host) {
            self.sites.clear();
        }
        let site = self.sites.entry(row.page.host.clone()).or_default();
        site.add(xxh3_64(row.page.url.as_bytes()), &page.main.blocks);
        Ok(())
    }

    fn put(
        &mut self,
        row: &LogRow,
        visit: &VisitView,
        contents: &mut Contents,
    ) -> Result<Option<Operation>, ExportError> {
        let Some(content) = contents.read(visit)? else {
            self.without_record += 1;
            return Ok(None);
        };
        let site = self.sites.get(&row.page.host);
        let is_common = |id| site.is_some_and(|site| site.is_common(id));
        let Some(page) = page_text(&content, &row.page.url, &is_common) else { return Ok(None) };
        let noindex = asks_not_to_be_indexed(&page, &content.headers("x-robots-tag"));
        let tdm_reserved =
            content.header("tdm-reservation").is_some_and(|value| value.trim() == "1");
        if (noindex || tdm_reserved) && !self.with_reserved {
            self.reserved += 1;
            // It may have been put before it asked.
            return Ok(Some(deletion(row, "noindex")));
        }
        let document = self.document(row, visit, page);
        Ok(Some(Operation::Put(Box::new(Document { noindex, tdm_reserved, ..document }))))
    }

    fn document(&self, row: &LogRow, visit: &VisitView, page: PageText) -> Document {
        let (of, main) = (&row.page, &page.main);
        let link = |link: &Link| DocumentLink { url: link.url.clone(), text: link.text.clone() };
        let place = || {
            let (file, offset) = (visit.warc.clone()?, visit.offset?);
            Some(RecordPlace { file, offset, length: visit.length? })
        };
        Document {
            seq: row.number,
            id: document_id(&of.url),
            url: of.url.clone(),
            canonical: page.canonical,
            title: main.title.clone(),
            text: main.text(),
            markdown: self.with_markdown.then(|| main.markdown()),
            lang: main.language.clone(),
            headings: main.headings().map(|(_, text)| text.to_owned()).take(MOST_LINKS).collect(),
            links: main.links().map(link).take(MOST_LINKS).collect(),
            host: of.host.clone(),
            domain: domain_of(&of.url),
            tags: of.tags.clone(),
            fetched: visit.time.to_string(),
            published: main.published.clone(),
            byline: main.byline.clone(),
            change: visit.change.text().to_owned(),
            score: visit.score,
            depth: of.depth,
            noindex: false,
            tdm_reserved: false,
            digest: visit.digest.clone(),
            warc: place(),
        }
    }
}

/// The visit whose content is put because of a row.
fn visit_to_put(row: &LogRow) -> Option<&VisitView> {
    if row.page.kind.is_some_and(|kind| kind.0 != PageKind::Page) || removes(row).is_some() {
        return None;
    }
    let is_news = |visit: &&VisitView| {
        let news = matches!(visit.change.0, Change::New | Change::Changed | Change::Near);
        news && visit.outcome.0 == Outcome::Ok
    };
    row.visit.as_ref().filter(is_news).or(row.held.as_ref())
}

/// Why a row removes its page; `None` where it does not.
fn removes(row: &LogRow) -> Option<&'static str> {
    match row.life.as_ref().map(|life| (life.from.0, life.to.0)) {
        Some((_, LifeState::New | LifeState::Live | LifeState::Failing)) | None => {}
        // It was never put.
        Some((LifeState::New, _)) => return None,
        Some((_, state)) => return Some(state.code()),
    }
    let is_gone = row.visit.as_ref().is_some_and(|visit| visit.change.0 == Change::Gone);
    is_gone.then(|| Change::Gone.code())
}

fn delete(row: &LogRow) -> Option<Operation> {
    let is_page = row.page.kind.is_none_or(|kind| kind.0 == PageKind::Page);
    removes(row).filter(|_| is_page).map(|reason| deletion(row, reason))
}

fn deletion(row: &LogRow, reason: &str) -> Operation {
    let (id, url) = (document_id(&row.page.url), row.page.url.clone());
    Operation::Delete { seq: row.number, id, url, reason: reason.to_owned() }
}

/// What a URL is known by: 32 hexadecimal digits, which every index takes as a key.
pub(crate) fn document_id(url: &str) -> String {
    format!("{:032x}", xxh3_128(url.as_bytes()))
}

fn domain_of(url: &str) -> String {
    let url = Canonical::from_trusted(url.to_owned());
    url.map_or_else(String::new, |url| url.domain().to_owned())
}

fn asks_not_to_be_indexed(page: &PageText, headers: &[String]) -> bool {
    let by_meta =
        |(name, content): &(String, String)| Directives::from_meta(name, content, ROBOT).noindex;
    let by_header = |value: &String| Directives::from_header(value, ROBOT).noindex;
    page.robots.iter().any(by_meta) || headers.iter().any(by_header)
}

/// By which name pages address us.
const ROBOT: &str = "evercrawl";

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failing test panics")]
mod tests;
