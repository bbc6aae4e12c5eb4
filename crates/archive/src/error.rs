//! What went wrong, and what should the caller do?

use std::io;
use std::path::{Path, PathBuf};

/// Why something could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The records name a file that has been rolled since: encode again for the current one.
    #[error("encoded for an earlier WARC file; encode again for the current one")]
    Stale,
    /// One record exceeds what an index can address: store the page truncated, or not at all.
    #[error("the record takes {bytes} bytes, more than a WARC record here may have")]
    TooLarge {
        /// Its compressed size.
        bytes: usize,
    },
    /// No space is left: nothing is lost; free some space and try again.
    #[error("no space left to write {path}: free some space, then go on")]
    DiskFull {
        /// The file that could not grow.
        path: PathBuf,
    },
    /// Less is on disk than was committed: stop, this is not something to write over.
    #[error(
        "{path} holds {found} bytes, but {committed} were committed: archived data was lost; \
         restore the file from a copy, or start with a new data directory"
    )]
    Lost {
        /// The file that is too short or missing.
        path: PathBuf,
        /// Bytes found.
        found: u64,
        /// Bytes that the last commit counted on.
        committed: u64,
    },
    /// The operating system refused.
    #[error("cannot {doing} {path}: {source}")]
    Io {
        /// What was tried.
        doing: &'static str,
        /// With which file.
        path: PathBuf,
        /// What the operating system says.
        source: io::Error,
    },
}

impl WriteError {
    /// Makes the fitting error out of what the operating system said.
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> WriteError {
        move |source| match source.kind() {
            io::ErrorKind::StorageFull
            | io::ErrorKind::QuotaExceeded
            | io::ErrorKind::FileTooLarge => WriteError::DiskFull { path: path.to_owned() },
            _ => WriteError::Io { doing, path: path.to_owned(), source },
        }
    }
}

/// Why something could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// No file with this serial number is in the archive.
    #[error("WARC file number {serial} is not in the archive")]
    NoSuchFile {
        /// The serial number looked for.
        serial: u32,
    },
    /// The record unpacks to more than the caller allows.
    #[error("the record unpacks to more than {cap} bytes")]
    TooLarge {
        /// The caller's limit.
        cap: usize,
    },
    /// The bytes are no WARC record.
    #[error("not a readable WARC record: {0}")]
    Broken(&'static str),
    /// The operating system refused, or the compressed data is damaged.
    #[error("cannot read: {0}")]
    Io(#[from] io::Error),
}

/// A place in a file where no record can be read.
#[derive(Debug, thiserror::Error)]
#[error("at {offset}: {error}")]
pub struct Damaged {
    /// Where a record should begin.
    pub offset: u64,
    /// Why none could be read.
    pub error: ReadError,
}

/// Why a file could not be written anew; it is as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RewriteError {
    /// The file is damaged: leave it as it is, and see what `check` says of it.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The same, with the place.
    #[error(transparent)]
    Damaged(#[from] Damaged),
    /// The new file could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// Somebody asked to stop.
    #[error("stopped")]
    Stopped,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_told_from_other_failures() {
        let path = Path::new("a.warc.gz.open");
        let error = |kind: io::ErrorKind| WriteError::io("write", path)(kind.into());
        assert!(matches!(error(io::ErrorKind::StorageFull), WriteError::DiskFull { .. }));
        assert!(matches!(error(io::ErrorKind::QuotaExceeded), WriteError::DiskFull { .. }));
        assert!(matches!(error(io::ErrorKind::PermissionDenied), WriteError::Io { .. }));
    }
}
