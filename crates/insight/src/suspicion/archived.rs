//! What was a page's last archived content?

use std::sync::Arc;

use evercrawl_archive::{Record, RecordCache, SegmentStore};
use evercrawl_extract::decode;
use evercrawl_model::{Outcome, RecordAt};
use evercrawl_state::{PageRow, Past, StateError, Store, View};

/// The memory for records read, and the size that one may unpack to.
const CACHE: usize = 1 << 20;
const RECORD_CAP: usize = 1 << 26;

/// The archive of a crawl, to look up the content of pages.
pub struct ArchivedPages {
    records: RecordCache,
}

impl ArchivedPages {
    /// The archive whose segments these are.
    pub fn new(segments: Arc<dyn SegmentStore>) -> Self {
        ArchivedPages { records: RecordCache::new(segments, CACHE, RECORD_CAP) }
    }

    /// The last archived HTML of a page, decoded; `None` when there is none any more.
    pub fn html<S: Store>(
        &mut self,
        state: &View<S>,
        row: &PageRow,
    ) -> Result<Option<String>, StateError> {
        let Some(digest) = row.past.as_ref().and_then(Past::whole_digest) else { return Ok(None) };
        if let Some(html) = self.first_unrevisited(state, row, digest)? {
            return Ok(Some(html));
        }
        // Another page had the same content first, and its record holds it.
        let Some(first) = state.first_seen(&digest)? else { return Ok(None) };
        match state.page(first.page)? {
            Some(row) => self.first_unrevisited(state, &row, digest),
            None => Ok(None),
        }
    }

    /// The HTML of the first visit to a page whose record holds the content itself.
    fn first_unrevisited<S: Store>(
        &mut self,
        state: &View<S>,
        row: &PageRow,
        digest: [u8; 20],
    ) -> Result<Option<String>, StateError> {
        for visit in state.history(row) {
            let (_, visit) = visit?;
            // Whatever the outcome of the visit: a page may have been suspect at first, and cleared later.
            let at = visit.record.filter(|_| visit.digest == Some(digest));
            if let Some(html) = at.and_then(|at| self.read(at)) {
                return Ok(Some(html));
            }
        }
        Ok(None)
    }

    /// The redirect target of a page's last response; `None` when there was none, or its record was deleted.
    pub fn location<S: Store>(
        &mut self,
        state: &View<S>,
        row: &PageRow,
    ) -> Result<Option<String>, StateError> {
        let latest = state.history(row).next().transpose()?;
        let redirect = latest.filter(|(_, visit)| visit.outcome == Outcome::Redirect);
        let Some(at) = redirect.and_then(|(_, visit)| visit.record) else { return Ok(None) };
        // A revisit record has the headers of its own response.
        let Ok(record) = self.records.read(at) else { return Ok(None) };
        Ok(record.http_headers("location").next())
    }

    /// An unreadable record counts as none: `evercrawl check` reports it.
    fn read(&mut self, at: RecordAt) -> Option<String> {
        let record = self.records.read(at).ok()?;
        let whole = record.header("WARC-Type") == Some("response");
        whole.then(|| html_of(&record)).flatten()
    }
}

fn html_of(record: &Record) -> Option<String> {
    record.http_headers("content-type").next().filter(|kind| kind.contains("html"))?;
    let caps = decode::DecodeLimits::default();
    let body = decode::decode(&record.content_codings(), record.payload(), caps);
    Some(String::from_utf8_lossy(&body.bytes).into_owned())
}
