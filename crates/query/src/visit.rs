//! What visits were there to a page?

use evercrawl_model::{Cause, Change, Outcome, PageKey, Visit};
use evercrawl_state::{PageRow, Store};
use evercrawl_urls::{Canonical, CanonicalSteps};
use serde::{Deserialize, Serialize};

use crate::code::{At, Code, digest_text};
use crate::moved;
use crate::source::{FileNames, QueryError, Source};

/// A visit to a page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VisitView {
    /// When the request was sent.
    pub time: At,
    /// How it ended.
    pub outcome: Code<Outcome>,
    /// What exactly went wrong, if anything did.
    #[serde(default)]
    pub cause: Option<Code<Cause>>,
    /// The HTTP status, where there was an answer.
    pub status: Option<u16>,
    /// What it found.
    pub change: Code<Change>,
    /// How much of the text is new, from 0 to 1.
    pub score: f64,
    /// True when something differs, and a second look decides whether that is news: nothing is told yet.
    #[serde(default)]
    pub in_doubt: bool,
    /// SHA-1 of the content.
    pub digest: Option<String>,
    /// Bytes of the content as received.
    pub bytes: u64,
    /// Duration in milliseconds.
    pub ms: u32,
    /// The page whose text this one nearly repeats.
    pub near: Option<String>,
    /// The WARC file with its record.
    pub warc: Option<String>,
    /// Where the record begins.
    pub offset: Option<u64>,
    /// How long it is.
    pub length: Option<u32>,
    /// The page, where it is not the one that was asked about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

/// The visits to a page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HistoryView {
    /// Its canonical URL.
    pub url: String,
    /// The visits, the earliest first; those of pages that moved here among them.
    pub visits: Vec<VisitView>,
}

/// The visits to the page at `url`, and to the pages that moved there.
pub fn history<S: Store>(
    source: &Source<'_, S>,
    steps: CanonicalSteps,
    url: &Canonical,
) -> Result<HistoryView, QueryError> {
    let (key, row) = source.known_page(url)?;
    let mut visits = visits_of(source, &row)?;
    // What a page was before it moved here is part of its history.
    for (_, former) in moved::formers(source, steps, key, &row)? {
        visits.extend(visits_of(source, &former)?);
    }
    visits.sort_by_key(|(number, _)| *number);
    let files = source.file_names()?;
    let views = visits.iter().map(|(_, visit)| {
        let elsewhere = Some(visit.page).filter(|page| *page != key);
        view_of_visit(source, visit, elsewhere, &files)
    });
    Ok(HistoryView { url: row.url, visits: views.collect::<Result<_, _>>()? })
}

fn visits_of<S: Store>(
    source: &Source<'_, S>,
    row: &PageRow,
) -> Result<Vec<(u64, Visit)>, QueryError> {
    Ok(source.state.history(row).collect::<Result<_, _>>()?)
}

/// A visit as users see it, with the URL of `page` where that is to be named.
pub(crate) fn view_of_visit<S: Store>(
    source: &Source<'_, S>,
    visit: &Visit,
    page: Option<PageKey>,
    files: &FileNames,
) -> Result<VisitView, QueryError> {
    let url = |page: Option<PageKey>| page.map_or(Ok(None), |page| source.url(page));
    Ok(VisitView {
        time: At(visit.at),
        outcome: Code(visit.outcome),
        cause: visit.cause.map(Code),
        status: Some(visit.status).filter(|status| *status > 0),
        change: Code(visit.change),
        score: (visit.score.share() * 1e4).round() / 1e4,
        in_doubt: visit.noise.in_doubt,
        digest: visit.digest.map(digest_text),
        bytes: visit.bytes,
        ms: visit.ms,
        near: url(visit.near)?,
        warc: visit.record.map(|at| files.warc(at.file)),
        offset: visit.record.map(|at| at.offset),
        length: visit.record.map(|at| at.length),
        url: url(page)?,
    })
}
