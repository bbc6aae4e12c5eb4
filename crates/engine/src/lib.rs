//! The walk itself: due, fetch, extract, compare, archive, commit, next due.
//!
//! What a crawl is:
//!
//! - [`walk`]: the loop's one owner, without a clock or a thread
//! - [`live`]: the walk with real sockets, threads and time
//! - [`rehearsal`]: the walk under a clock of its own, against a computed web
//! - [`shared_rehearsal`]: several of them, with one budget
//! - `process`: what does an answer mean? (on worker threads)
//! - [`links`]: where does a page lead, and may we go there?
//! - `nature`: is this the page that was asked for?
//! - `recent`: was this content seen a moment ago?
//! - `robots`: what does a stored robots.txt say?
//! - [`waiting`]: what waits, and for what?
//! - [`today`]: what was found today?
//!
//! What keeps its data, each used through a few functions:
//!
//! - [`data_dir`]: whose directory is this, and who else is in it?
//! - [`cookie_file`]: how do the cookies of a crawl outlive it?
//! - [`retention`]: what need not be kept any longer?
//! - [`check`]: can what lies in a data directory be trusted, and what can be saved of it?
//!
//! The frontier, the planner and what is learned beside the walk are crates of their own; their modules are
//! re-exported here for those who configure a crawl.

mod budget;
mod budget_office;
pub mod check;
pub mod config;
pub mod cookie_file;
pub mod data_dir;
mod guesses;
pub mod links;
pub mod live;
mod nature;
mod novelty;
mod process;
mod recent;
pub mod regions;
pub mod rehearsal;
pub mod retention;
mod robots;
pub mod shared_rehearsal;
pub mod today;
pub mod unmasked;
pub mod waiting;
pub mod walk;

use std::path::PathBuf;

pub use config::CrawlConfig;
pub use data_dir::DataDir;
pub use evercrawl_frontier as frontier;
pub use evercrawl_insight::{importance, mirrors, suspicion};
pub use evercrawl_planner::{self as planner, freshness, overrides, schedule};
pub use frontier::{FrontierConfig, Pace};
pub use planner::{Planner, PlannerConfig};
pub use process::{Job, Processed, RenderedPage, header_links, outcome_of_answer};
pub use retention::RetentionConfig;
pub use schedule::Schedule;

/// What stops a crawl, by what the user can do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// Another process works in the data directory.
    #[error(
        "{dir} is in use by another process ({holder}); stop it, or use another --data directory"
    )]
    InUse {
        /// The directory.
        dir: PathBuf,
        /// What is known of the other process.
        holder: String,
    },
    /// The directory holds something else.
    #[error(
        "{dir} is not an Evercrawl data directory: {why}; use a new or empty directory with --data"
    )]
    NotOurs {
        /// The directory.
        dir: PathBuf,
        /// What was found.
        why: String,
    },
    /// The directory does not exist.
    #[error("{dir} does not exist; create it with `evercrawl crawl URL --data {dir}`", dir = dir.display())]
    Missing {
        /// The directory.
        dir: PathBuf,
    },
    /// The directory was written by a later version.
    #[error(
        "{dir} was written by a newer Evercrawl (data format {found}, this one reads up to {known}); \
         upgrade Evercrawl to use it"
    )]
    Newer {
        /// The directory.
        dir: PathBuf,
        /// Its format.
        found: u32,
        /// The last format that this version knows.
        known: u32,
    },
    /// The directory was written by an earlier version.
    #[error(
        "{dir} was written by an earlier Evercrawl (data format {found}; this one reads {known} and later); \
         its WARC files remain readable; use a new --data directory"
    )]
    Older {
        /// The directory.
        dir: PathBuf,
        /// Its format.
        found: u32,
        /// The first format that this version knows.
        known: u32,
    },
    /// There are WARC files, but no state.
    #[error(
        "{dir} has {files} WARC file(s) in its archive (e.g. {first}), but no state that knows them; \
         restore {dir}/state from a copy, or run `evercrawl check --repair --data {dir}` to rebuild \
         it from the archive", dir = dir.display()
    )]
    StateLost {
        /// The directory.
        dir: PathBuf,
        /// How many WARC files there are.
        files: usize,
        /// The first of them.
        first: String,
    },
    /// The state does not know all WARC files.
    #[error(
        "the archive of {dir} has {files} files that the state does not know (e.g. {first}); \
         `evercrawl check --data {dir}` lists them, and with --repair takes them in or moves them out",
        dir = dir.display()
    )]
    UnknownFiles {
        /// The directory.
        dir: PathBuf,
        /// How many there are.
        files: usize,
        /// The first of them.
        first: String,
    },
    /// The configuration cannot be used.
    #[error("{0}")]
    Config(String),
    /// The state could not be read or written.
    #[error(transparent)]
    State(#[from] evercrawl_state::StateError),
    /// The archive could not be written.
    #[error(transparent)]
    Archive(#[from] evercrawl_archive::WriteError),
    /// A file could not be read or written.
    #[error("cannot {doing} {path}: {source}")]
    Io {
        /// What was tried.
        doing: &'static str,
        /// With which file.
        path: PathBuf,
        /// What the operating system says.
        source: std::io::Error,
    },
    /// The archive cannot be read where it must be.
    #[error("cannot read the archive: {0}")]
    Damaged(String),
    /// A part of the engine ended before its time.
    #[error("{0} stopped unexpectedly; all committed data is safe; run the crawl again to resume")]
    Broken(&'static str),
}

impl EngineError {
    /// True when there is no space left on the disk.
    pub fn is_disk_full(&self) -> bool {
        let full = |kind| kind == std::io::ErrorKind::StorageFull;
        match self {
            EngineError::Archive(evercrawl_archive::WriteError::DiskFull { .. }) => true,
            EngineError::State(evercrawl_state::StateError::Disk(error)) => full(error.kind()),
            EngineError::Io { source, .. } => full(source.kind()),
            _ => false,
        }
    }
}

impl From<planner::PlannerError> for EngineError {
    fn from(error: planner::PlannerError) -> Self {
        match error {
            planner::PlannerError::State(error) => error.into(),
            unfit => EngineError::Config(unfit.to_string()),
        }
    }
}

impl From<evercrawl_urls::RuleError> for EngineError {
    fn from(error: evercrawl_urls::RuleError) -> Self {
        EngineError::Config(error.to_string())
    }
}
