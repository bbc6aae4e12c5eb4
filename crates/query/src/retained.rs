//! What was dropped by the rules of retention, and what would be?

use evercrawl_model::Dropped;
use evercrawl_state::Store;
use serde::{Deserialize, Serialize};

use crate::code::At;
use crate::source::{QueryError, Source};

/// What a rule dropped from a file or from the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DroppedView {
    /// When.
    pub time: At,
    /// The rule that says what is kept.
    pub kept: String,
    /// The WARC file, or the visit log.
    pub from: String,
    /// Records or visits.
    pub dropped: u64,
    /// Bytes that they took.
    pub bytes: u64,
}

impl From<&Dropped> for DroppedView {
    fn from(of: &Dropped) -> Self {
        DroppedView {
            time: At(of.at),
            kept: of.rule.clone(),
            from: of.from.clone(),
            dropped: of.count,
            bytes: of.bytes,
        }
    }
}

/// What the rules of retention would drop now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RetentionPreview {
    /// WARC files that would be rewritten.
    pub files: u64,
    /// Records.
    pub captures: u64,
    /// Bytes of these.
    pub bytes: u64,
    /// Visits.
    pub visits: u64,
}

/// Everything that was dropped so far.
pub fn dropped<S: Store>(source: &Source<'_, S>) -> Result<Vec<DroppedView>, QueryError> {
    source.state.dropped().map(|dropped| Ok((&dropped?).into())).collect()
}
