//! What is left of a file without some of its records?
//!
//! A new file with a serial number of its own. Records are copied as they are, byte for byte; only
//! the `warcinfo` is written again, because it names the file. Until the state has committed the
//! new file it counts as growing, so a crash leaves nothing but the old one.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use evercrawl_model::{RecordAt, Time};
use tracing::debug;

use crate::cdx;
use crate::disk::{Disk, RealDisk};
use crate::encode::{DEFAULT_LEVEL, Encoder};
use crate::error::{ReadError, RewriteError, WriteError};
use crate::files::{self, FilePosition};
use crate::read::{Record, Scan, Scanned};
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

/// Writes the finished file `name` of `dir` anew as number `serial`, with only those responses and
/// revisits that begin at an offset in `keep`, and what belongs to them. A record may unpack to
/// `cap` bytes; `stop` ends it at the next one.
pub fn rewrite(
    dir: &Path,
    name: &str,
    serial: u32,
    keep: &BTreeSet<u64>,
    cap: usize,
    stop: &AtomicBool,
) -> Result<Kept, RewriteError> {
    let source = dir.join(files::warc_name(name));
    let mut copy = Copying::begin(dir, name, serial, &source)?;
    let copied = copy.all(Scan::open(&source, cap)?, keep, stop);
    copy.end_or_discard(dir, copied)
}

/// A file that is being written from another.
pub(crate) struct Copying {
    name: String,
    serial: u32,
    source: File,
    warc: BufWriter<File>,
    pub(crate) length: u64,
    index: Vec<u8>,
    /// Whether what comes belongs to a record that is kept.
    pub(crate) keeping: bool,
    pub(crate) kept: Kept,
}

impl Copying {
    pub(crate) fn begin(
        dir: &Path,
        name: &str,
        serial: u32,
        source: &Path,
    ) -> Result<Self, RewriteError> {
        let name = files::renumbered(name, serial);
        let path = files::open_warc(dir, &name);
        let warc = File::create(&path).map_err(WriteError::io("create", &path))?;
        Ok(Copying {
            name,
            serial,
            source: File::open(source).map_err(ReadError::from)?,
            warc: BufWriter::with_capacity(1 << 20, warc),
            length: 0,
            index: Vec::new(),
            keeping: false,
            kept: Kept::default(),
        })
    }

    fn all(
        &mut self,
        records: Scan,
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
        let name = files::warc_name(&self.name);
        let info = Encoder::new(DEFAULT_LEVEL).warcinfo_again(info, &name)?;
        self.write_info(&info)
    }

    /// Begins with a `warcinfo` of its own, where the other file has none.
    pub(crate) fn new_info(&mut self, now: Time) -> Result<(), RewriteError> {
        let file = FileId { serial: self.serial, warcinfo: Uuid::named(&self.name) };
        let (name, fields) = (files::warc_name(&self.name), [("format", "WARC File Format 1.1")]);
        let info = Encoder::new(DEFAULT_LEVEL).warcinfo(&name, &now.rfc3339(), file, fields)?;
        self.write_info(&info)
    }

    fn write_info(&mut self, info: &[u8]) -> Result<(), RewriteError> {
        self.length = info.len() as u64;
        Ok(self.warc.write_all(info).map_err(|error| self.failed(error))?)
    }

    /// Copies a record as it is.
    pub(crate) fn take(&mut self, scanned: &Scanned) -> Result<(), RewriteError> {
        let Scanned { offset, length, record } = scanned;
        let place = self.source.seek(SeekFrom::Start(*offset));
        let copied =
            place.and_then(|_| io::copy(&mut (&self.source).take(*length), &mut self.warc));
        let copied = copied.map_err(|error| self.failed(error))?;
        if copied != *length {
            return Err(ReadError::Broken("the file became shorter while it was read").into());
        }
        let (at, file) = (self.length, files::warc_name(&self.name));
        if matches!(record.header("WARC-Type"), Some("response" | "revisit")) {
            let length = u32::try_from(*length)
                .map_err(|_| ReadError::Broken("it is longer than a record can be"))?;
            let moved = RecordAt { file: self.serial, offset: at, length };
            self.kept.moved.push((*offset, moved));
        }
        self.index.extend(cdx::line_of(record, at, *length, &file).unwrap_or_default());
        self.length += length;
        Ok(())
    }

    /// Makes both files last, or leaves nothing of them.
    pub(crate) fn end_or_discard(
        mut self,
        dir: &Path,
        copied: Result<(), RewriteError>,
    ) -> Result<Kept, RewriteError> {
        let ended = copied.and_then(|()| Ok(self.end(dir)?));
        if ended.is_err() || self.kept.moved.is_empty() {
            self.position().discard(dir)?;
        }
        let Kept { moved, dropped, bytes, .. } = &self.kept;
        debug!(from = %self.name, kept = moved.len(), dropped, bytes, "archive file rewritten");
        ended.map(|()| self.kept)
    }

    /// Makes both files last, by their growing names.
    fn end(&mut self, dir: &Path) -> Result<(), WriteError> {
        let synced = self.warc.flush().and_then(|()| RealDisk.sync(self.warc.get_ref()));
        synced.map_err(|error| self.failed(error))?;
        files::write_durably(&files::open_index(dir, &self.name), &[&self.index], &RealDisk)?;
        files::sync_dir(dir, &RealDisk)?;
        self.kept.file = (!self.kept.moved.is_empty()).then(|| self.position());
        Ok(())
    }

    fn position(&self) -> FilePosition {
        FilePosition {
            serial: self.serial,
            name: self.name.clone(),
            warc_len: self.length,
            cdxj_len: self.index.len() as u64,
            open: false,
        }
    }

    fn failed(&self, error: io::Error) -> WriteError {
        WriteError::io("write", Path::new(&files::warc_name(&self.name)))(error)
    }
}
