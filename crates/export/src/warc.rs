//! How do visits become a WARC file of their own? Their records are copied as they are, each with its request. A
//! record that refers to an earlier one brings that along, so the file can be replayed by itself.

use std::collections::HashSet;
use std::io;

use evercrawl_archive::{SegmentId, StoredRecord, find_warc, warcinfo};
use evercrawl_model::{RecordAt, Time};
use evercrawl_query::VisitView;

use crate::contents::{Contents, place_of};
use crate::error::ExportError;

/// The size that a record may unpack to.
const RECORD_CAP: usize = 1 << 28;
/// Places of records that are remembered, so that none is copied twice. Beyond that, originals may be repeated.
const MOST_REMEMBERED: usize = 4_000_000;

/// Copies the records of visits.
#[derive(Default)]
pub struct WarcCopier {
    copied: HashSet<(u32, u64)>,
    /// Whether requests are left out.
    without_requests: bool,
}

/// Records for another file.
#[derive(Debug, Default)]
pub(crate) struct Copied {
    pub(crate) records: Vec<StoredRecord>,
}

impl WarcCopier {
    /// Copies records with their requests, or without.
    pub fn new(with_requests: bool) -> Self {
        WarcCopier { without_requests: !with_requests, ..WarcCopier::default() }
    }

    /// The `warcinfo` record that the file called `name` begins with.
    pub fn warcinfo(name: &str, software: &str, now: Time) -> Result<Vec<u8>, ExportError> {
        let fields = [("software", software), ("format", "WARC File Format 1.1")];
        Ok(warcinfo(name, now, fields)?)
    }

    /// The records of a visit, as bytes to append; nothing where it has none, or they were copied before.
    pub fn copy(
        &mut self,
        contents: &mut Contents,
        visit: &VisitView,
    ) -> Result<Vec<u8>, ExportError> {
        let copied = self.copy_records(contents, visit)?;
        Ok(copied.records.into_iter().flat_map(|stored| stored.member).collect())
    }

    /// The records of a visit; those that others refer to come first.
    pub(crate) fn copy_records(
        &mut self,
        contents: &mut Contents,
        visit: &VisitView,
    ) -> Result<Copied, ExportError> {
        match (place_of(visit), visit.warc.as_deref()) {
            (Some(own), Some(warc)) => self.copy_place(contents, own, warc),
            _ => Ok(Copied::default()),
        }
    }

    /// The records of what was captured at a place of the file `warc`.
    pub(crate) fn copy_place(
        &mut self,
        contents: &mut Contents,
        own: RecordAt,
        warc: &str,
    ) -> Result<Copied, ExportError> {
        let mut copied = Copied::default();
        let read = contents.read_at(own, warc)?;
        if let Some(content) = read.filter(|content| content.place != own) {
            self.take(contents, content.place, &mut copied)?;
        }
        self.take(contents, own, &mut copied)?;
        Ok(copied)
    }

    fn take(
        &mut self,
        contents: &Contents,
        at: RecordAt,
        copied: &mut Copied,
    ) -> Result<(), ExportError> {
        if self.copied.contains(&(at.file, at.offset)) {
            return Ok(());
        }
        if self.copied.len() < MOST_REMEMBERED {
            self.copied.insert((at.file, at.offset));
        }
        let (segments, warc) = (&*contents.segments, warc_of(contents, at)?);
        let failed =
            |source| ExportError::Record { warc: warc.name.clone(), offset: at.offset, source };
        let stored = StoredRecord::read(segments, &warc, at.offset, at.length, RECORD_CAP);
        copied.records.push(stored.map_err(failed)?);
        if !self.without_requests {
            let end = at.offset + u64::from(at.length);
            copied.records.extend(StoredRecord::request_at(segments, &warc, end).map_err(failed)?);
        }
        Ok(())
    }
}

fn warc_of(contents: &Contents, at: RecordAt) -> Result<SegmentId, ExportError> {
    let found = find_warc(&*contents.segments, at.file)?;
    let missing =
        || io::Error::new(io::ErrorKind::NotFound, format!("WARC file {} is missing", at.file));
    Ok(found.ok_or_else(missing)?)
}
