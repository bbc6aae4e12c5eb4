//! What was fetched by a visit? Its record; where that only refers to an earlier one, the payload of that.

use std::io;
use std::sync::Arc;

use evercrawl_archive::{
    Capture, CaptureIndex, ReadError, Record, RecordCache, SegmentStore, serial_of,
};
use evercrawl_extract::decode::{DecodeLimits, decode};
use evercrawl_model::{RecordAt, Time};
use evercrawl_query::VisitView;

use crate::error::ExportError;

/// Memory for records that were read lately, and the size that one may unpack to.
const CACHE: usize = 32 << 20;
const RECORD_CAP: usize = 1 << 28;
/// How many records may refer to one another.
const LONGEST_CHAIN: usize = 8;

/// Reads what visits brought out of the archive.
pub struct Contents {
    pub(crate) segments: Arc<dyn SegmentStore>,
    index: CaptureIndex,
    cache: RecordCache,
}

/// What a visit brought.
#[derive(Clone, Debug)]
pub struct Content {
    /// The record of the visit itself.
    pub own: Arc<Record>,
    /// The record with the payload; the same one, unless that refers to another.
    pub whole: Arc<Record>,
    /// Where the record with the payload is.
    pub place: RecordAt,
}

impl Contents {
    /// Reads from the archive in `segments`.
    pub fn open(segments: Arc<dyn SegmentStore>) -> Result<Self, ExportError> {
        let index = CaptureIndex::open(Arc::clone(&segments))?;
        let cache = RecordCache::new(Arc::clone(&segments), CACHE, RECORD_CAP);
        Ok(Contents { segments, index, cache })
    }

    /// What a visit brought; `None` where it has no record, or none with its payload is kept.
    pub fn read(&mut self, visit: &VisitView) -> Result<Option<Content>, ExportError> {
        let Some(at) = place_of(visit) else { return Ok(None) };
        self.read_at(at, visit.warc.as_deref().unwrap_or_default())
    }

    fn read_at(&mut self, at: RecordAt, warc: &str) -> Result<Option<Content>, ExportError> {
        let Some(own) = self.record(at, warc)? else { return Ok(None) };
        let (mut whole, mut place) = (Arc::clone(&own), at);
        for _ in 0..LONGEST_CHAIN {
            if whole.header("WARC-Type") == Some("response") {
                return Ok(Some(Content { own, whole, place }));
            }
            let Some(next) = self.referred_to(&whole)? else { return Ok(None) };
            let Some(record) = self.record(next, warc)? else { return Ok(None) };
            (whole, place) = (record, next);
        }
        Ok(None)
    }

    /// What a capture brought; `None` where no record with its payload is kept.
    pub fn read_capture(&mut self, capture: &Capture) -> Result<Option<Content>, ExportError> {
        let Some(file) = serial_of(&capture.warc) else { return Ok(None) };
        let at = RecordAt { file, offset: capture.offset, length: capture.length };
        self.read_at(at, &capture.warc)
    }

    /// A record; `None` where its file has been dropped or rewritten meanwhile.
    fn record(&mut self, at: RecordAt, warc: &str) -> Result<Option<Arc<Record>>, ExportError> {
        match self.cache.read(at) {
            Ok(record) => Ok(Some(record)),
            Err(ReadError::NoSuchFile { .. }) => Ok(None),
            Err(source) => {
                Err(ExportError::Record { warc: warc.to_owned(), offset: at.offset, source })
            }
        }
    }

    /// Where the record is that another refers to.
    fn referred_to(&mut self, record: &Record) -> io::Result<Option<RecordAt>> {
        let uri = record.header("WARC-Refers-To-Target-URI").or(record.header("WARC-Target-URI"));
        let date = record.header("WARC-Refers-To-Date").and_then(|date| Time::parse_iso(date).ok());
        let (Some(uri), Some(date)) = (uri, date) else { return Ok(None) };
        let digest = record.header("WARC-Payload-Digest").and_then(|digest| digest.split_once(':'));
        let is_confirmed = record.http_head().starts_with(b"HTTP/1.1 304");
        let mut found = self.index.at(uri, date)?;
        found.retain(|capture| {
            is_confirmed || digest.is_none_or(|(_, digest)| capture.digest == digest)
        });
        // Of several in one second, one with a payload is best.
        found.sort_by_key(Capture::is_revisit);
        let place = found.first().and_then(|capture| {
            let file = serial_of(&capture.warc)?;
            Some(RecordAt { file, offset: capture.offset, length: capture.length })
        });
        Ok(place)
    }
}

/// Where the record of a visit is.
pub(crate) fn place_of(visit: &VisitView) -> Option<RecordAt> {
    let file = serial_of(visit.warc.as_deref()?)?;
    Some(RecordAt { file, offset: visit.offset?, length: visit.length? })
}

impl Content {
    /// What a record with a payload holds.
    pub(crate) fn of_record(record: Record) -> Self {
        let whole = Arc::new(record);
        let place = RecordAt { file: 0, offset: 0, length: 0 };
        Content { own: Arc::clone(&whole), whole, place }
    }

    /// The body with its content codings undone, within the limits of a crawl.
    pub fn body(&self) -> Vec<u8> {
        let coding = self.header("content-encoding").unwrap_or_default();
        decode(&coding, self.whole.payload(), DecodeLimits::default()).bytes.into_owned()
    }

    /// The values of all header fields of a name.
    pub fn headers(&self, name: &str) -> Vec<String> {
        http_headers(&self.whole, name)
    }

    /// The value of a header field of the response.
    pub fn header(&self, name: &str) -> Option<String> {
        self.headers(name).into_iter().next()
    }

    /// The media type that the server gave, without parameters, in small letters.
    pub fn media_type(&self) -> Option<String> {
        let full = self.header("content-type")?;
        let media_type = full.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        (!media_type.is_empty()).then_some(media_type)
    }
}

/// The values of header fields of the HTTP head of a record.
fn http_headers(record: &Record, name: &str) -> Vec<String> {
    let head = String::from_utf8_lossy(record.http_head());
    let fields = head.lines().skip(1).filter_map(|line| line.split_once(':'));
    let found = fields.filter(|(field, _)| field.trim().eq_ignore_ascii_case(name));
    found.map(|(_, value)| value.trim().to_owned()).collect()
}
