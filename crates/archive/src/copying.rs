//! How is a record taken out of the archive as it stands? Its gzip member is copied, byte for byte, and described
//! anew where another file holds it.

use std::io::Read;

use evercrawl_model::Time;

use crate::cdx;
use crate::encode::{DEFAULT_LEVEL, Encoder};
use crate::error::{ReadError, WriteError};
use crate::read::Record;
use crate::segments::{SegmentId, SegmentReader, SegmentStore};
use crate::warc::{FileId, Uuid};

/// A record with the gzip member that it is stored as.
#[derive(Clone, Debug)]
pub struct StoredRecord {
    /// What the member unpacks to.
    pub record: Record,
    /// The member.
    pub member: Vec<u8>,
}

impl StoredRecord {
    /// Reads the record that takes `length` bytes at `offset`; it may unpack to `cap` bytes.
    pub fn read(
        segments: &dyn SegmentStore,
        warc: &SegmentId,
        offset: u64,
        length: u32,
        cap: usize,
    ) -> Result<Self, ReadError> {
        let mut member = Vec::new();
        let mut reader = SegmentReader::range(segments, warc.clone(), offset, length.into());
        reader.read_to_end(&mut member)?;
        let (record, read) = Record::unpack(&member, cap)?;
        match read == member.len() && read == length as usize {
            true => Ok(StoredRecord { record, member }),
            false => Err(ReadError::Broken("it is shorter than its index entry says")),
        }
    }

    /// The request that was sent for the response or revisit that ends at `offset`, where it was kept.
    pub fn request_at(
        segments: &dyn SegmentStore,
        warc: &SegmentId,
        offset: u64,
    ) -> Result<Option<Self>, ReadError> {
        let mut member = Vec::new();
        let reader = SegmentReader::range(segments, warc.clone(), offset, LONGEST_REQUEST as u64);
        reader.take(LONGEST_REQUEST as u64).read_to_end(&mut member)?;
        // What is next may still be on its way to the file.
        let Ok((record, read)) = Record::unpack(&member, LONGEST_REQUEST) else { return Ok(None) };
        member.truncate(read);
        let is_request = record.header("WARC-Type") == Some("request");
        Ok(is_request.then_some(StoredRecord { record, member }))
    }

    /// The line of a record in the index of `warc`, where it takes `length` bytes at `offset`, newline included;
    /// `None` where it has none.
    pub fn line(record: &Record, offset: u64, length: u64, warc: &str) -> Option<Vec<u8>> {
        cdx::line_of(record, offset, length, warc)
    }
}

/// A request is a head of some kilobytes.
const LONGEST_REQUEST: usize = 1 << 16;

/// The record that a WARC file called `name` begins with: who wrote it, with `fields` such as `software`.
pub fn warcinfo<'a>(
    name: &str,
    now: Time,
    fields: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<Vec<u8>, WriteError> {
    let file = FileId { serial: 0, warcinfo: Uuid::named(name) };
    Encoder::new(DEFAULT_LEVEL).warcinfo(name, &now.rfc3339(), file, fields)
}
