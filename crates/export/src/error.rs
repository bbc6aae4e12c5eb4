//! What keeps an export from going on?

use std::io;
use std::path::{Path, PathBuf};

use evercrawl_archive::{ReadError, WriteError};

/// Why an export cannot go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// A file could not be used.
    #[error("cannot {doing} {}: {source}", path.display())]
    Io {
        /// What was tried.
        doing: &'static str,
        /// With which file.
        path: PathBuf,
        /// What the operating system says.
        source: io::Error,
    },
    /// What is in the way was not written by the same export.
    #[error("{0}")]
    InTheWay(String),
    /// The archive could not be read.
    #[error("cannot read the archive: {0}")]
    Archive(#[from] io::Error),
    /// A record of the archive could not be read.
    #[error(
        "cannot read the record at {offset} of {warc}: {source}; `evercrawl check` finds what is damaged"
    )]
    Record {
        /// The WARC file.
        warc: String,
        /// Where the record begins.
        offset: u64,
        /// What is wrong.
        source: ReadError,
    },
    /// A record could not be made.
    #[error(transparent)]
    Write(#[from] WriteError),
}

impl ExportError {
    /// Says with which file something went wrong.
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| ExportError::Io { doing, path: path.to_owned(), source }
    }

    /// True when the disk is full.
    pub fn is_disk_full(&self) -> bool {
        let full = |error: &io::Error| {
            matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
        };
        matches!(self, ExportError::Io { source, .. } if full(source))
    }
}
