//! Where did a page go that moved for good, and where was it before? The archive has the answer that
//! said so.

use evercrawl_archive::{find_warc, read_record};
use evercrawl_model::PageKey;
use evercrawl_state::PageRow;
use evercrawl_urls::{Base, Canonical};

use super::Opened;
use crate::crawl_config;

/// Bytes that the record of a redirect may unpack to.
const RECORD_CAP: usize = 1 << 24;

/// Where a page that moved for good is now, as far as the archive says.
pub(crate) fn target(opened: &Opened, row: &PageRow) -> anyhow::Result<Option<Canonical>> {
    let latest = opened.state.history(row).next().transpose()?;
    let Some(at) = latest.filter(|(_, visit)| visit.is_move()).and_then(|(_, visit)| visit.record)
    else {
        return Ok(None);
    };
    let segments = opened.segments();
    let Some(warc) = find_warc(&*segments, at.file)? else { return Ok(None) };
    let record = read_record(&*segments, &warc, at.offset, at.length, RECORD_CAP)?;
    let head = String::from_utf8_lossy(record.http_head());
    let fields = head.lines().filter_map(|line| line.split_once(':'));
    let location = fields.into_iter().find(|(name, _)| name.eq_ignore_ascii_case("location"));
    let base = Base::new(&row.url, crawl_config::steps(&opened.settings)?).ok();
    Ok(base.zip(location).and_then(|(base, (_, to))| base.join(to.trim()).ok()))
}

/// Former addresses that are followed, so that pages which moved in a circle come to an end.
const MOST: usize = 32;

/// The pages that this one was before it moved here, the latest first.
pub(crate) fn formers(
    opened: &Opened,
    key: PageKey,
    row: &PageRow,
) -> anyhow::Result<Vec<(PageKey, PageRow)>> {
    let mut all: Vec<(PageKey, PageRow)> = Vec::new();
    let mut next = Some((key, row.clone()));
    let mut looked = 0;
    while let Some((key, row)) = next {
        let known = |(former, _): &(PageKey, PageRow)| all.iter().any(|(other, _)| other == former);
        let mut found = before(opened, key, &row)?;
        found.retain(|former| former.0 != key && !known(former));
        all.extend(found);
        next = all.get(looked).filter(|_| looked < MOST).cloned();
        looked += 1;
    }
    all.retain(|(former, _)| *former != key);
    Ok(all)
}

/// The pages that moved to this very one.
fn before(opened: &Opened, key: PageKey, row: &PageRow) -> anyhow::Result<Vec<(PageKey, PageRow)>> {
    let mut found = opened.state.formers(key)?;
    // Where links are not kept, the page that it was found by may be one.
    if let (Some(via), true) = (row.via, found.is_empty())
        && let Some(former) = opened.state.page(via)?.filter(PageRow::is_moved)
        && target(opened, &former)?.is_some_and(|target| target.as_str() == row.url)
    {
        found.push((via, former));
    }
    Ok(found)
}
