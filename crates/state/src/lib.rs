//! What does the crawler know, and what is due? The frontier's rows, the seen set and the visit
//! log, changed only by events, in atomic commits.
//!
//! [`State::apply`] is the one function through which anything changes. It writes to a layer in
//! memory; [`State::freeze`] hands that layer out to be committed (after the archive was synced),
//! while new changes gather in the next one. So nothing waits for a disk, everything applied is
//! visible at once, and a commit never speaks of a record that the archive could still lose.

mod apply;
mod batch;
mod blocks;
mod bulk;
mod check;
mod codec;
mod counters;
mod formats;
mod host_rows;
mod imported;
mod intact;
mod keys;
mod layers;
mod likeness;
mod link_evidence;
mod links;
mod machine;
mod meta;
mod overrides;
mod position;
mod reading;
mod rebuild;
mod replay;
mod retention;
mod rows;
mod salvage;
mod seen;
mod spending;
mod state;
mod store;
mod suspicion;
mod view;

pub use apply::Applied;
pub use batch::{BatchError, BatchHeader, decode_batch, encode_batch, read_batch_header};
pub use bulk::{Load, needs_preparation, prepare_store};
pub use check::Fault;
pub use counters::Counters;
pub use intact::{CheckDepth, DamagedFile, damaged_files, mend_store};
pub use keys::Lane;
pub use link_evidence::LinkEvidenceTotal;
pub use meta::{ArchiveFile, Settings};
pub use position::Position;
pub use reading::{CommittedReader, FirstSeen, Reading};
pub use rebuild::{FoundRecord, Rebuild};
pub use replay::{ReplayError, apply_batch, copy_crawl, crawl_rows, first_difference};
pub use rows::{HostRow, PageRow, PageStatus, Past, Place, Soft404Row};
pub use seen::{Seen, is_seen_file_sound};
pub use spending::Spending;
pub use state::State;
pub use store::{
    DiskStore, Loading, MemoryStore, Overlay, Row, Slice, Space, Store, StoreLimits, WrappedStore,
};
pub use view::{LogEntry, Queued, View};

/// What went wrong with the state.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// Another process holds the store.
    #[error("the data directory is in use by another process")]
    InUse,
    /// The crawl that had it open is over.
    #[error("the crawl has just ended; run the command again")]
    Ended,
    /// The disk failed or is full.
    #[error("cannot use the disk: {0}")]
    Disk(#[from] std::io::Error),
    /// The store's own trouble.
    #[error("the store failed: {0}")]
    Store(String),
    /// A row cannot be read.
    #[error("the state is damaged: {0}; `evercrawl check --repair` repairs what can be repaired")]
    Corrupt(String),
}

impl From<fjall::Error> for StateError {
    fn from(error: fjall::Error) -> Self {
        match error {
            fjall::Error::Io(error) => StateError::Disk(error),
            fjall::Error::Locked => StateError::InUse,
            other => StateError::Store(format!("{other:?}")),
        }
    }
}
