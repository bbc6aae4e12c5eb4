//! What stops an import? Only what keeps all of it from being read; everything else is listed as not taken.

use std::io;
use std::path::{Path, PathBuf};

use evercrawl_engine::EngineError;

/// What stops an import.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// A file cannot be read or written.
    #[error("cannot {doing} {path}: {source}", path = path.display())]
    Io {
        /// What was tried.
        doing: &'static str,
        /// With which file.
        path: PathBuf,
        /// What the operating system says.
        source: io::Error,
    },
    /// A file is of no known kind.
    #[error(
        "{path} is nothing that can be imported; known are lists of URLs, CSV, sitemaps, OPML, bookmarks, WARC, WACZ, \
         CDXJ, crawl.log, Nutch dumps, changedetection.io backups and urlwatch's urls.yaml", path = path.display()
    )]
    Unknown {
        /// The file.
        path: PathBuf,
    },
    /// The data directory could not be read or written.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

impl ImportError {
    /// An error of the operating system with a file.
    pub(crate) fn io<'a>(
        doing: &'static str,
        path: &'a Path,
    ) -> impl FnOnce(io::Error) -> ImportError + 'a {
        move |source| ImportError::Io { doing, path: path.to_owned(), source }
    }
}
