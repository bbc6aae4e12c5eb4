//! What was dropped by a rule of retention, and what follows from it?

use crate::{PageKey, RecordAt, Time};

/// One entry of the record of what was dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// When the rule was applied.
    pub at: Time,
    /// The rule, as the user wrote it.
    pub rule: String,
    /// What it was dropped from: a WARC file, or the visit log.
    pub from: String,
    /// How many records or visits.
    pub count: u64,
    /// How many bytes they took in the file; none in the log.
    pub bytes: u64,
}

/// A WARC file was written anew without some of its records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewritten {
    /// What was dropped.
    pub dropped: Dropped,
    /// Visits whose records stay, and where these are now.
    pub moved: Vec<(u64, RecordAt)>,
    /// Visits whose records are no more.
    pub emptied: Vec<u64>,
    /// Contents that no record holds any more.
    pub contents: Vec<[u8; 20]>,
}

/// Visits that leave the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VisitsDropped {
    /// What was dropped.
    pub dropped: Dropped,
    /// Their numbers in ascending order, by page.
    pub visits: Vec<(PageKey, Vec<u64>)>,
    /// What the log says besides visits, by number.
    pub notices: Vec<u64>,
}
