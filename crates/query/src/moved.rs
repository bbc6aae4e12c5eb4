//! Where did a page move, and from where did it come? The archived redirect says so.

use evercrawl_archive::{ReadError, find_warc, read_record};
use evercrawl_engine::EngineError;
use evercrawl_model::PageKey;
use evercrawl_state::{PageRow, Store};
use evercrawl_urls::{Base, Canonical, CanonicalSteps};

use crate::source::{QueryError, Source};

/// Bytes that the record of a redirect may unpack to.
const RECORD_CAP: usize = 1 << 24;
/// Former addresses that are followed, so that pages which moved in a circle come to an end.
const MOST_FORMERS: usize = 32;

/// Where a page that moved permanently is now, as far as the archive says.
pub(crate) fn target<S: Store>(
    source: &Source<'_, S>,
    steps: CanonicalSteps,
    row: &PageRow,
) -> Result<Option<Canonical>, QueryError> {
    let latest = source.state.history(row).next().transpose()?;
    let Some(at) = latest.filter(|(_, visit)| visit.is_move()).and_then(|(_, visit)| visit.record)
    else {
        return Ok(None);
    };
    let segments = source.segments();
    let found = find_warc(&*segments, at.file);
    let Some(warc) = found.map_err(|error| unreadable(&error))? else { return Ok(None) };
    let record = read_record(&*segments, &warc, at.offset, at.length, RECORD_CAP);
    let record = record.map_err(|error: ReadError| unreadable(&error))?;
    let location = record.http_headers("location").next();
    let base = Base::new(&row.url, steps).ok();
    Ok(base.zip(location).and_then(|(base, to)| base.join(&to).ok()))
}

fn unreadable(error: &dyn std::error::Error) -> QueryError {
    EngineError::Damaged(error.to_string()).into()
}

/// The pages that this one was before it moved here, the latest first.
pub(crate) fn formers<S: Store>(
    source: &Source<'_, S>,
    steps: CanonicalSteps,
    key: PageKey,
    row: &PageRow,
) -> Result<Vec<(PageKey, PageRow)>, QueryError> {
    let mut all: Vec<(PageKey, PageRow)> = Vec::new();
    let mut next = Some((key, row.clone()));
    let mut followed = 0;
    while let Some((key, row)) = next {
        let known = |(former, _): &(PageKey, PageRow)| all.iter().any(|(other, _)| other == former);
        let mut found = direct_formers(source, steps, key, &row)?;
        found.retain(|former| former.0 != key && !known(former));
        all.extend(found);
        next = all.get(followed).filter(|_| followed < MOST_FORMERS).cloned();
        followed += 1;
    }
    all.retain(|(former, _)| *former != key);
    Ok(all)
}

/// The pages that moved to this very one.
fn direct_formers<S: Store>(
    source: &Source<'_, S>,
    steps: CanonicalSteps,
    key: PageKey,
    row: &PageRow,
) -> Result<Vec<(PageKey, PageRow)>, QueryError> {
    let mut found = source.state.formers(key)?;
    // Where links are not kept, the page that it was found on may be one.
    if let (Some(via), true) = (row.via, found.is_empty())
        && let Some(former) = source.state.page(via)?.filter(PageRow::is_moved)
        && target(source, steps, &former)?.is_some_and(|target| target.as_str() == row.url)
    {
        found.push((via, former));
    }
    Ok(found)
}
