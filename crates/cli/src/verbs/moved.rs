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
    let Some(path) = find_warc(&opened.archive_dir(), at.file)? else { return Ok(None) };
    let record = read_record(&path, at.offset, at.length, RECORD_CAP)?;
    let head = String::from_utf8_lossy(record.http_head());
    let fields = head.lines().filter_map(|line| line.split_once(':'));
    let location = fields.into_iter().find(|(name, _)| name.eq_ignore_ascii_case("location"));
    let base = Base::new(&row.url, crawl_config::steps(&opened.settings)?).ok();
    Ok(base.zip(location).and_then(|(base, (_, to))| base.join(to.trim()).ok()))
}

/// The page that this one was before it moved here.
pub(crate) fn former(opened: &Opened, row: &PageRow) -> anyhow::Result<Option<(PageKey, PageRow)>> {
    let Some(key) = row.via else { return Ok(None) };
    let Some(former) = opened.state.page(key)?.filter(PageRow::is_moved) else { return Ok(None) };
    let here = target(opened, &former)?.is_some_and(|target| target.as_str() == row.url);
    Ok(here.then_some((key, former)))
}
