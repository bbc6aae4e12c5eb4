//! What is left of a file without some of its records?
//!
//! A new file with a serial number of its own. Records are copied as they are, byte for byte; only
//! the `warcinfo` is written again, because it names the file. Until the state has committed the
//! new file it counts as growing, so a crash leaves nothing but the old one.

use std::collections::BTreeSet;
use std::io::BufRead;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use evercrawl_model::{RecordAt, Time};
use tracing::debug;

use crate::cdx;
use crate::encode::{DEFAULT_LEVEL, Encoder};
use crate::error::{ReadError, RewriteError, WriteError};
use crate::files::{self, FilePosition};
use crate::read::{Record, Scan, Scanned};
use crate::segments::{GrowingSegment, SegmentId, SegmentReader, SegmentStore};
use crate::warc::{FileId, Uuid};

/// What is left of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// The new file, on disk; `None` when nothing is left.
    pub file: Option<FilePosition>,
    /// Where each record that was kept lay, and lies now.
    pub moved: Vec<(u64, RecordAt)>,
    /// Records that were dropped, requests and metadata included.
    pub dropped: u64,
    /// Bytes that they took.
    pub bytes: u64,
}

/// Writes the sealed file `name` anew as number `serial`, with only those responses and
/// revisits that begin at an offset in `keep`, and what belongs to them. A record may unpack to
/// `cap` bytes; `stop` ends it at the next one.
pub fn rewrite(
    segments: &Arc<dyn SegmentStore>,
    name: &str,
    serial: u32,
    keep: &BTreeSet<u64>,
    cap: usize,
    stop: &AtomicBool,
) -> Result<Kept, RewriteError> {
    let source = SegmentId::sealed(files::warc_name(name));
    let records = Scan::open(&**segments, &source, cap)?;
    let mut copy = Copying::begin(segments, name, serial, source)?;
    let copied = copy.all(records, keep, stop);
    copy.end_or_discard(copied)
}

/// A file that is being written from another.
pub(crate) struct Copying<'a> {
    segments: &'a Arc<dyn SegmentStore>,
    name: String,
    serial: u32,
    source: SegmentReader<'a>,
    warc: GrowingSegment,
    index: GrowingSegment,
    /// Whether what comes belongs to a record that is kept.
    pub(crate) keeping: bool,
    pub(crate) kept: Kept,
}

impl<'a> Copying<'a> {
    pub(crate) fn begin(
        segments: &'a Arc<dyn SegmentStore>,
        name: &str,
        serial: u32,
        source: SegmentId,
    ) -> Result<Self, RewriteError> {
        let name = files::renumbered(name, serial);
        let create = |name| GrowingSegment::create(Arc::clone(segments), name);
        Ok(Copying {
            segments,
            serial,
            source: SegmentReader::new(&**segments, source),
            warc: create(files::warc_name(&name))?,
            index: create(files::index_name(&name))?,
            name,
            keeping: false,
            kept: Kept::default(),
        })
    }

    fn all(
        &mut self,
        records: Scan<'_>,
        keep: &BTreeSet<u64>,
        stop: &AtomicBool,
    ) -> Result<(), RewriteError> {
        for scanned in records {
            let scanned = scanned?;
            if stop.load(Ordering::Relaxed) {
                return Err(RewriteError::Stopped);
            }
            match scanned.record.header("WARC-Type") {
                Some("warcinfo") => {
                    self.info(&scanned.record)?;
                    continue;
                }
                Some("response" | "revisit") => self.keeping = keep.contains(&scanned.offset),
                _ => {}
            }
            if self.keeping {
                self.take(&scanned)?;
            } else {
                self.kept.dropped += 1;
                self.kept.bytes += scanned.length;
            }
        }
        Ok(())
    }

    /// Begins with the `warcinfo` of the other file.
    pub(crate) fn info(&mut self, info: &Record) -> Result<(), RewriteError> {
        let info = Encoder::new(DEFAULT_LEVEL).warcinfo_again(info, self.warc.name())?;
        Ok(self.warc.write(&info)?)
    }

    /// Begins with a `warcinfo` of its own, where the other file has none.
    pub(crate) fn new_info(&mut self, now: Time) -> Result<(), RewriteError> {
        let file = FileId { serial: self.serial, warcinfo: Uuid::named(&self.name) };
        let (name, fields) = (self.warc.name(), [("format", "WARC File Format 1.1")]);
        let info = Encoder::new(DEFAULT_LEVEL).warcinfo(name, &now.rfc3339(), file, fields)?;
        Ok(self.warc.write(&info)?)
    }

    /// True when nothing was written yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.warc.len() == 0
    }

    /// Copies a record as it is.
    pub(crate) fn take(&mut self, scanned: &Scanned) -> Result<(), RewriteError> {
        let Scanned { offset, length, record } = scanned;
        let at = self.warc.len();
        self.copy(*offset, *length)?;
        if matches!(record.header("WARC-Type"), Some("response" | "revisit")) {
            let length = u32::try_from(*length)
                .map_err(|_| ReadError::Broken("it is longer than a record can be"))?;
            let moved = RecordAt { file: self.serial, offset: at, length };
            self.kept.moved.push((*offset, moved));
        }
        let line = cdx::line_of(record, at, *length, self.warc.name());
        Ok(line.map_or(Ok(()), |line| self.index.write(&line))?)
    }

    fn copy(&mut self, offset: u64, mut length: u64) -> Result<(), RewriteError> {
        self.source.go_to(offset);
        while length > 0 {
            let bytes = self.source.fill_buf().map_err(ReadError::from)?;
            let most = usize::try_from(length).unwrap_or(usize::MAX).min(bytes.len());
            if most == 0 {
                return Err(ReadError::Broken("the file became shorter while it was read").into());
            }
            self.warc.write(&bytes[..most])?;
            self.source.consume(most);
            length -= most as u64;
        }
        Ok(())
    }

    /// Makes both files last, or leaves nothing of them.
    pub(crate) fn end_or_discard(
        mut self,
        copied: Result<(), RewriteError>,
    ) -> Result<Kept, RewriteError> {
        let ended = copied.and_then(|()| Ok(self.end()?));
        if ended.is_err() || self.kept.moved.is_empty() {
            self.position().discard(&**self.segments)?;
        }
        let Kept { moved, dropped, bytes, .. } = &self.kept;
        debug!(from = %self.name, kept = moved.len(), dropped, bytes, "archive file written anew");
        ended.map(|()| self.kept)
    }

    /// Makes both files last, growing as they are.
    fn end(&mut self) -> Result<(), WriteError> {
        for file in [&mut self.warc, &mut self.index] {
            file.flush()?;
            self.segments.sync(file.name())?;
        }
        self.kept.file = (!self.kept.moved.is_empty()).then(|| self.position());
        Ok(())
    }

    fn position(&self) -> FilePosition {
        FilePosition {
            serial: self.serial,
            name: self.name.clone(),
            warc_len: self.warc.len(),
            cdxj_len: self.index.len(),
            open: false,
        }
    }
}
