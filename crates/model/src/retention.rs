//! What was deleted by a retention rule, and what follows?

use crate::{PageKey, RecordAt, Time};

/// An entry in the record of deletions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// When the rule was applied.
    pub at: Time,
    /// The rule, as the user wrote it.
    pub rule: String,
    /// Where records were deleted: a WARC file, or the visit log.
    pub from: String,
    /// How many records or visits.
    pub count: u64,
    /// How many bytes they took in the file; none in the log.
    pub bytes: u64,
}

/// A WARC file was rewritten without some of its records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewritten {
    /// What was deleted.
    pub dropped: Dropped,
    /// Visits whose records remain, and where these are now.
    pub moved: Vec<(u64, RecordAt)>,
    /// Visits whose records were deleted.
    pub emptied: Vec<u64>,
    /// Payload digests without any record left.
    pub contents: Vec<[u8; 20]>,
}

/// Visits that are deleted from the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VisitsDropped {
    /// What was deleted.
    pub dropped: Dropped,
    /// Their numbers in ascending order, by page.
    pub visits: Vec<(PageKey, Vec<u64>)>,
    /// Numbers of log entries that are no visits.
    pub notices: Vec<u64>,
}
