//! Which records were read lately? Comparing and replaying ask for the same few again and again.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::Arc;

use evercrawl_model::RecordAt;

use crate::error::ReadError;
use crate::files;
use crate::read::{Record, read_record};
use crate::segments::{SegmentId, SegmentStore};

/// Reads records of one archive by their coordinates, and keeps the latest within a memory limit.
pub struct RecordCache {
    segments: Arc<dyn SegmentStore>,
    /// Memory that the kept records may take.
    capacity: usize,
    /// Memory that they take.
    used: usize,
    /// Size to which a record may unpack.
    record_cap: usize,
    /// The WARC files that there were at the last look.
    warcs: HashMap<u32, SegmentId>,
    records: HashMap<RecordAt, (u64, Arc<Record>)>,
    /// The kept records by their last use; the first goes first.
    order: BTreeMap<u64, RecordAt>,
    clock: u64,
}

impl RecordCache {
    /// A cache of `capacity` bytes over an archive; a record may unpack to `record_cap` bytes.
    pub fn new(segments: Arc<dyn SegmentStore>, capacity: usize, record_cap: usize) -> Self {
        RecordCache {
            segments,
            capacity,
            used: 0,
            record_cap,
            warcs: HashMap::new(),
            records: HashMap::new(),
            order: BTreeMap::new(),
            clock: 0,
        }
    }

    /// The record at `at`, out of memory or out of its file.
    pub fn read(&mut self, at: RecordAt) -> Result<Arc<Record>, ReadError> {
        self.clock += 1;
        if let Some((used_at, record)) = self.records.get_mut(&at) {
            self.order.remove(used_at);
            self.order.insert(self.clock, at);
            *used_at = self.clock;
            return Ok(Arc::clone(record));
        }
        let record = Arc::new(self.load(at)?);
        self.keep(at, &record);
        Ok(record)
    }

    /// Reads from the WARC file, which may have come or been sealed since the last look.
    fn load(&mut self, at: RecordAt) -> Result<Record, ReadError> {
        match self.load_from(self.warcs.get(&at.file), at) {
            Err(ReadError::NoSuchFile { .. }) => {}
            Err(ReadError::Io(error)) if error.kind() == io::ErrorKind::NotFound => {}
            other => return other,
        }
        let warcs = files::list_warcs(&*self.segments)?;
        self.warcs = warcs.map(|(serial, _, segment)| (serial, segment)).collect();
        self.load_from(self.warcs.get(&at.file), at)
    }

    fn load_from(&self, warc: Option<&SegmentId>, at: RecordAt) -> Result<Record, ReadError> {
        let warc = warc.ok_or(ReadError::NoSuchFile { serial: at.file })?;
        read_record(&*self.segments, warc, at.offset, at.length, self.record_cap)
    }

    fn keep(&mut self, at: RecordAt, record: &Arc<Record>) {
        if record.size() > self.capacity {
            return;
        }
        self.used += record.size();
        self.records.insert(at, (self.clock, Arc::clone(record)));
        self.order.insert(self.clock, at);
        while self.used > self.capacity {
            let Some((_, oldest)) = self.order.pop_first() else { break };
            if let Some((_, record)) = self.records.remove(&oldest) {
                self.used -= record.size();
            }
        }
    }
}
