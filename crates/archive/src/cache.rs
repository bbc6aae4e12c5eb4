//! Which records were read lately? Comparing and replaying ask for the same few again and again.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use evercrawl_model::RecordAt;

use crate::error::ReadError;
use crate::files;
use crate::read::{Record, read_record};

/// Reads records of one archive by their coordinates, and keeps the latest within a memory limit.
pub struct RecordCache {
    dir: PathBuf,
    /// Memory that the kept records may take.
    capacity: usize,
    /// Memory that they take.
    used: usize,
    /// Size to which a record may unpack.
    record_cap: usize,
    paths: HashMap<u32, PathBuf>,
    records: HashMap<RecordAt, (u64, Arc<Record>)>,
    /// The kept records by their last use; the first goes first.
    order: BTreeMap<u64, RecordAt>,
    clock: u64,
}

impl RecordCache {
    /// A cache of `capacity` bytes over the archive in `dir`; a record may unpack to `record_cap`
    /// bytes.
    pub fn new(dir: impl Into<PathBuf>, capacity: usize, record_cap: usize) -> Self {
        RecordCache {
            dir: dir.into(),
            capacity,
            used: 0,
            record_cap,
            paths: HashMap::new(),
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

    /// Reads from the file, which changes its name once, when it is finished.
    fn load(&mut self, at: RecordAt) -> Result<Record, ReadError> {
        if let Some(path) = self.paths.get(&at.file) {
            match read_record(path, at.offset, at.length, self.record_cap) {
                Err(ReadError::Io(error)) if error.kind() == io::ErrorKind::NotFound => {}
                other => return other,
            }
        }
        let path = files::find_warc(&self.dir, at.file)?;
        let path = path.ok_or(ReadError::NoSuchFile { serial: at.file })?;
        let record = read_record(&path, at.offset, at.length, self.record_cap);
        self.paths.insert(at.file, path);
        record
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
