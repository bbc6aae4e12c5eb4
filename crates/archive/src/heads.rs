//! What did a server say in the head of an answer, without reading its body?

use std::collections::HashMap;
use std::io::Read;
use std::sync::Arc;

use evercrawl_model::RecordAt;
use flate2::bufread::GzDecoder;

use crate::error::ReadError;
use crate::files;
use crate::head;
use crate::segments::{SegmentId, SegmentReader, SegmentStore};

/// Bytes of a record that are unpacked: its own header and the HTTP head. A longer head is cut off.
const MOST: u64 = 96 * 1024;

/// Reads HTTP heads of archived answers.
pub struct HeadReader {
    segments: Arc<dyn SegmentStore>,
    /// The WARC files by their numbers, as they were when last listed.
    files: HashMap<u32, SegmentId>,
}

/// The head of an archived answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpHead(Vec<(String, String)>);

impl HttpHead {
    /// The value of a field; the first where there are several.
    pub fn field(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(found, _)| found.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }
}

impl HeadReader {
    /// A reader of heads in `segments`.
    pub fn new(segments: Arc<dyn SegmentStore>) -> Self {
        HeadReader { segments, files: HashMap::new() }
    }

    /// The head of the answer in the record at `at`; `None` where its file is gone.
    pub fn head(&mut self, at: RecordAt) -> Result<Option<HttpHead>, ReadError> {
        let Some(warc) = self.file(at.file)? else { return Ok(None) };
        let member = SegmentReader::range(&*self.segments, warc, at.offset, at.length.into());
        let mut bytes = Vec::new();
        GzDecoder::new(member).take(MOST).read_to_end(&mut bytes)?;
        if !bytes.starts_with(b"WARC/1.") {
            return Err(ReadError::Broken("it does not begin with WARC/1"));
        }
        let (_, block) = head::split(&bytes);
        let fields = String::from_utf8_lossy(head::split(block).0).into_owned();
        let fields = fields.lines().skip(1).filter_map(|line| line.split_once(':'));
        let owned = |(name, value): (&str, &str)| (name.trim().to_owned(), value.trim().to_owned());
        Ok(Some(HttpHead(fields.map(owned).collect())))
    }

    fn file(&mut self, serial: u32) -> Result<Option<SegmentId>, ReadError> {
        if !self.files.contains_key(&serial) {
            let warcs = files::list_warcs(&*self.segments)?;
            self.files = warcs.map(|(serial, _, segment)| (serial, segment)).collect();
        }
        Ok(self.files.get(&serial).cloned())
    }
}
