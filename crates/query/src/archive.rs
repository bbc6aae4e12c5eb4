//! What is in the archive?

use evercrawl_state::Store;
use serde::{Deserialize, Serialize};

use crate::source::{QueryError, Source};

/// The archive as last committed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArchiveView {
    /// Its WARC files, by number.
    pub files: Vec<ArchiveFileView>,
    /// Bytes of all WARC files.
    pub bytes: u64,
}

/// A WARC file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArchiveFileView {
    /// Its number.
    pub number: u32,
    /// Its name once it is finished.
    pub warc: String,
    /// Bytes of it that are committed.
    pub bytes: u64,
    /// Bytes of its index that are committed.
    pub index_bytes: u64,
    /// Whether records are still appended.
    pub open: bool,
    /// Whether it has its final name and its index is sorted.
    pub finished: bool,
}

/// What is in the archive.
pub fn archive<S: Store>(source: &Source<'_, S>) -> Result<ArchiveView, QueryError> {
    let mut files = source.state.archive()?;
    files.sort_by_key(|file| file.serial);
    let views = files.into_iter().map(|file| ArchiveFileView {
        number: file.serial,
        warc: format!("{}.warc.gz", file.name),
        bytes: file.warc_len,
        index_bytes: file.cdxj_len,
        open: file.open,
        finished: file.finished,
    });
    let files: Vec<ArchiveFileView> = views.collect();
    Ok(ArchiveView { bytes: files.iter().map(|file| file.bytes).sum(), files })
}
