//! Where does a world come from: a folder of what was recorded, or a description of what to make?

use std::path::{Path, PathBuf};

use evercrawl_policy::Days;
use thiserror::Error;

use crate::malformed::Malformed;
use crate::recorded;
use crate::synthetic::Spec;
use crate::table::TableError;
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
    /// The source that `path` names: a folder of recorded changes or a description.
    pub fn open(path: &Path, sitewide: bool) -> Result<Self, WorldError> {
        if path.is_dir() {
            return Ok(Source::Recorded { folders: vec![path.to_owned()], sitewide });
        }
        let file = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|error| WorldError::Unreadable { file: file.clone(), error })?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Source::Made { name, spec: Box::new(Spec::parse(&file, &text)?) })
    }

    /// Whether every seed gives another world.
    pub fn is_made(&self) -> bool {
        matches!(self, Source::Made { .. })
    }

    /// The world, with changes known from `history` before it begins.
    pub fn world(&self, seed: u64, history: Days) -> Result<World, WorldError> {
        match self {
            Source::Recorded { folders, sitewide } => Ok(recorded::read(folders, *sitewide)?),
            Source::Made { name, spec } => Ok(spec.world(name, seed, history)),
        }
    }
}
