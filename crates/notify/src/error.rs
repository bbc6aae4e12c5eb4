//! What can go wrong, other than that a message does not arrive?

use std::io;
use std::path::PathBuf;

/// Why hits cannot be found or kept.
#[derive(Debug, thiserror::Error)]
pub enum NotifyError {
    /// A file cannot be read or written.
    #[error("{path}: {1}", path = .0.display())]
    File(PathBuf, io::Error),
    /// A file that a rule names is no good.
    #[error("[watch.{watch}] {path}: {why}")]
    Material {
        /// The watch.
        watch: String,
        /// The file.
        path: String,
        /// What is wrong.
        why: String,
    },
    /// A channel cannot be used.
    #[error("[channel.{0}] {1}")]
    Channel(String, String),
    /// There is no such hit or delivery.
    #[error("{0}")]
    Unknown(String),
    /// The archive cannot be read.
    #[error(transparent)]
    Archive(#[from] evercrawl_export::ExportError),
    /// The crawl did not answer.
    #[error("{0}")]
    Question(String),
}
