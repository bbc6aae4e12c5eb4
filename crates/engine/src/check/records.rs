//! Which visits have their records in which file?
//!
//! The log may be larger than memory, so it is read once for every group of files that have
//! records enough between them.

use std::collections::BTreeMap;

use evercrawl_model::PageKey;
use evercrawl_state::{Store, View};

use super::Fault;
use crate::EngineError;

/// Records that are held in memory at a time, at some eighty bytes each.
const AT_ONCE: u64 = 1_000_000;

/// What the log says of one record.
pub(crate) struct Expected {
    pub(crate) offset: u64,
    pub(crate) length: u32,
    pub(crate) number: u64,
    pub(crate) page: PageKey,
    pub(crate) digest: Option<[u8; 20]>,
}

/// The records of a file, by where they begin.
pub(crate) type ByOffset = BTreeMap<u64, Expected>;

/// A file of the archive, by what the state knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileOf {
    pub(crate) serial: u32,
    pub(crate) name: String,
    records: u64,
}

/// How many records lie in which file.
pub(crate) struct Counts {
    /// Visits in the log.
    pub(crate) visits: u64,
    files: BTreeMap<u32, FileOf>,
}

/// Counts records, over all files that are known or spoken of.
pub(crate) fn count<S: Store>(state: &View<S>) -> Result<Counts, EngineError> {
    let known = state.archive()?.into_iter().filter(|file| file.warc_len > 0);
    let known = known.map(|file| FileOf { serial: file.serial, name: file.name, records: 0 });
    let mut counts = Counts { visits: 0, files: known.map(|file| (file.serial, file)).collect() };
    state.for_each_visit(|_, visit| {
        counts.visits += 1;
        if let Some(at) = visit.record {
            let name = || format!("unknown WARC file {}", at.file);
            let fresh = || FileOf { serial: at.file, name: name(), records: 0 };
            counts.files.entry(at.file).or_insert_with(fresh).records += 1;
        }
    })?;
    Ok(counts)
}

impl Counts {
    /// The files in the order of their numbers, so many at a time as memory allows.
    pub(crate) fn groups(self) -> Vec<Vec<FileOf>> {
        let mut groups: Vec<Vec<FileOf>> = Vec::new();
        let mut held = AT_ONCE;
        for file in self.files.into_values() {
            if held + file.records > AT_ONCE {
                groups.push(Vec::new());
                held = 0;
            }
            held += file.records;
            groups.last_mut().into_iter().for_each(|group| group.push(file.clone()));
        }
        groups
    }
}

/// What the log says of the records in a group of files.
pub(crate) fn expected<S: Store>(
    state: &View<S>,
    group: &[FileOf],
    hear: &mut dyn FnMut(Fault),
) -> Result<BTreeMap<u32, ByOffset>, EngineError> {
    let mut files: BTreeMap<u32, ByOffset> =
        group.iter().map(|file| (file.serial, ByOffset::new())).collect();
    state.for_each_visit(|number, visit| {
        let Some(at) = visit.record else { return };
        let Some(file) = files.get_mut(&at.file) else { return };
        let (page, digest) = (visit.page, visit.digest);
        let one = Expected { offset: at.offset, length: at.length, number, page, digest };
        if let Some(other) = file.insert(at.offset, one) {
            let what = format!("visit {} has the same record", other.number);
            let (file, offset) = (format!("WARC file {}", at.file), Some(at.offset));
            hear(Fault { file, offset, url: None, visit: Some(number), what });
        }
    })?;
    Ok(files)
}
