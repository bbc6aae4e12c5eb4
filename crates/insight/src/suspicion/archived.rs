//! What did a page last say, by the archive?

use std::sync::Arc;

use evercrawl_archive::{Record, RecordCache, SegmentStore};
use evercrawl_extract::decode;
use evercrawl_model::{Outcome, RecordAt};
use evercrawl_state::{PageRow, StateError, Store, View};

/// Memory for records that were read, and the size that one may unpack to.
const CACHE: usize = 1 << 20;
const RECORD_CAP: usize = 1 << 26;

/// The archive of a crawl, to look up what pages said.
pub struct Archived {
    records: RecordCache,
}

impl Archived {
    /// The archive whose segments these are.
    pub fn new(segments: Arc<dyn SegmentStore>) -> Self {
        Archived { records: RecordCache::new(segments, CACHE, RECORD_CAP) }
    }

    /// The HTML that a page was last seen with, unpacked; `None` where there is none, or none any more.
    pub fn html<S: Store>(
        &mut self,
        state: &View<S>,
        row: &PageRow,
    ) -> Result<Option<String>, StateError> {
        let Some(digest) = row.past.as_ref().and_then(|past| past.digest) else { return Ok(None) };
        if let Some(html) = self.first_whole(state, row, digest)? {
            return Ok(Some(html));
        }
        // Another page had the same first, and its record holds it.
        let Some(first) = state.first_seen(&digest)? else { return Ok(None) };
        match state.page(first.page)? {
            Some(row) => self.first_whole(state, &row, digest),
            None => Ok(None),
        }
    }

    /// The HTML of the first of a page's visits whose record holds the content itself.
    fn first_whole<S: Store>(
        &mut self,
        state: &View<S>,
        row: &PageRow,
        digest: [u8; 20],
    ) -> Result<Option<String>, StateError> {
        for visit in state.history(row) {
            let (_, visit) = visit?;
            // Whatever the visit was taken for: a page may have been suspect first, and itself on a second look.
            let at = visit.record.filter(|_| visit.digest == Some(digest));
            if let Some(html) = at.and_then(|at| self.read(at)) {
                return Ok(Some(html));
            }
        }
        Ok(None)
    }

    /// Where a page's last answer led, as it said so itself; `None` where it led nowhere, or is there no more.
    pub fn location<S: Store>(
        &mut self,
        state: &View<S>,
        row: &PageRow,
    ) -> Result<Option<String>, StateError> {
        let latest = state.history(row).next().transpose()?;
        let redirect = latest.filter(|(_, visit)| visit.outcome == Outcome::Redirect);
        let Some(at) = redirect.and_then(|(_, visit)| visit.record) else { return Ok(None) };
        // A record that refers to another for the same body has the head of its own answer.
        let Ok(record) = self.records.read(at) else { return Ok(None) };
        let head = String::from_utf8_lossy(record.http_head());
        Ok(header(&head, "location").map(str::to_owned))
    }

    /// What cannot be read says nothing: `evercrawl check` tells of it.
    fn read(&mut self, at: RecordAt) -> Option<String> {
        let record = self.records.read(at).ok()?;
        let whole = record.header("WARC-Type") == Some("response");
        whole.then(|| html_of(&record)).flatten()
    }
}

fn html_of(record: &Record) -> Option<String> {
    let head = String::from_utf8_lossy(record.http_head());
    header(&head, "content-type").filter(|kind| kind.contains("html"))?;
    let coding = header(&head, "content-encoding").unwrap_or_default();
    let body = decode::decode(coding, record.payload(), decode::Caps::default());
    Some(String::from_utf8_lossy(&body.bytes).into_owned())
}

fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let mut fields = head.lines().skip(1).filter_map(|line| line.split_once(':'));
    fields.find(|(field, _)| field.trim().eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
}
