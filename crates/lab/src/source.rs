//! Where does a world come from: what was recorded, measured or logged, or a description of what to
//! make?

use std::path::{Path, PathBuf};

use evercrawl_policy::Days;
use thiserror::Error;

use crate::malformed::Malformed;
use crate::microsoft::{self, DataSetError, Entry};
use crate::recorded;
use crate::synthetic::{Shipped, Spec};
use crate::table::TableError;
use crate::visit_log::VisitLog;
use crate::world::World;

/// Where a world comes from.
#[derive(Clone, Debug)]
pub enum Source {
    /// Folders of recorded changes, taken as one world.
    Recorded {
        /// The folders.
        folders: Vec<PathBuf>,
        /// Whether changes that touched a whole site at once count.
        sitewide: bool,
    },
    /// Made to order, anew for every seed.
    Made {
        /// What it is called.
        name: String,
        /// What it is like.
        spec: Box<Spec>,
    },
    /// Change rates and importance that somebody measured; changes are drawn anew for every seed.
    Measured {
        /// What it is called.
        name: String,
        /// The pages.
        entries: Vec<Entry>,
    },
    /// The visit log of a crawl; what it leaves open is drawn anew for every seed.
    Logged {
        /// What it is called.
        name: String,
        /// The log.
        log: Box<VisitLog>,
    },
}

/// Why there is no such world.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WorldError {
    /// A file of recorded changes is wrong.
    #[error(transparent)]
    Table(#[from] TableError),
    /// A description is wrong.
    #[error(transparent)]
    Spec(#[from] Malformed),
    /// A data set is wrong or cannot be read.
    #[error(transparent)]
    DataSet(#[from] DataSetError),
    /// A description cannot be read.
    #[error("cannot read {file}: {error}")]
    Unreadable {
        /// The file.
        file: String,
        /// Why.
        error: std::io::Error,
    },
}

impl Source {
    /// The source that `path` names: a folder of recorded changes, a data set, a description, or a
    /// world that comes with the program.
    pub fn open(path: &Path, sitewide: bool) -> Result<Self, WorldError> {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if microsoft::is_data_set(path) {
            return Ok(Source::Measured { name, entries: microsoft::read(path)? });
        }
        // A folder that only happens to be called like a world does not hide it.
        let taken = path.is_file() || recorded::is_recorded(path);
        let shipped = path.to_str().filter(|_| !taken).and_then(Shipped::find);
        let spec = match shipped {
            Some(shipped) => shipped.spec()?,
            None if path.is_dir() => {
                return Ok(Source::Recorded { folders: vec![path.to_owned()], sitewide });
            }
            None => described(path)?,
        };
        Ok(Source::Made { name, spec: Box::new(spec) })
    }

    /// The same with pages that all matter alike, as they do to a crawl that nobody told.
    pub fn unweighted(mut self) -> Self {
        match &mut self {
            Source::Made { spec, .. } => spec.weigh_alike(),
            Source::Measured { entries, .. } => {
                entries.iter_mut().for_each(|entry| entry.importance = 1.0);
            }
            Source::Recorded { .. } | Source::Logged { .. } => {}
        }
        self
    }

    /// Whether every seed gives another world.
    pub fn is_made(&self) -> bool {
        !matches!(self, Source::Recorded { .. })
    }

    /// The world, with changes known from `history` before it begins.
    pub fn world(&self, seed: u64, history: Days) -> Result<World, WorldError> {
        match self {
            Source::Recorded { folders, sitewide } => Ok(recorded::read(folders, *sitewide)?),
            Source::Made { name, spec } => Ok(spec.world(name, seed, history)),
            Source::Measured { name, entries } => {
                Ok(microsoft::world(name, entries, seed, history))
            }
            Source::Logged { name, log } => Ok(log.world(name, seed, history)),
        }
    }
}

fn described(path: &Path) -> Result<Spec, WorldError> {
    let file = path.display().to_string();
    let text = std::fs::read_to_string(path)
        .map_err(|error| WorldError::Unreadable { file: file.clone(), error })?;
    Ok(Spec::parse(&file, &text)?)
}
