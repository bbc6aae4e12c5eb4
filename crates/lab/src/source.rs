//! Where does a world come from: what was recorded, measured or logged, or a description of what to
//! make?

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use evercrawl_policy::Days;
use thiserror::Error;

use crate::malformed::Malformed;
use crate::microsoft::{self, DataSetEntry, DataSetError};
use crate::recorded;
use crate::synthetic::{Shipped, WorldSpec};
use crate::table::TableError;
use crate::visit_log::VisitLog;
use crate::world::LabWorld;

/// Where a world comes from.
#[derive(Clone, Debug)]
pub enum WorldSource {
    /// Folders of recorded changes, taken as one world.
    Recorded {
        /// The folders.
        folders: Vec<PathBuf>,
        /// Whether changes that touched a whole site at once count.
        sitewide: bool,
    },
    /// Synthetic, generated anew for every seed.
    Made {
        /// What it is called.
        name: String,
        /// What it is like.
        spec: Box<WorldSpec>,
    },
    /// Measured change rates and importance; changes are sampled anew for every seed.
    Measured {
        /// What it is called.
        name: String,
        /// The pages.
        entries: Vec<DataSetEntry>,
    },
    /// The visit log of a crawl; what it leaves open is sampled anew for every seed.
    Logged {
        /// What it is called.
        name: String,
        /// The log.
        log: Box<VisitLog>,
    },
}

/// Why a world cannot be opened.
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
    /// No world, file or folder has that name.
    #[error(
        "there is no file or folder `{0}`, and no world of that name comes with the program: see `evercrawl \
         lab worlds`"
    )]
    Unknown(String),
    /// A folder holds no world.
    #[error(
        "{0} holds no world: recorded changes come with a trace.json, a data set with an \
         imps_and_chrates_incompl.txt or a urlid_imp.txt, a data directory with an evercrawl.data"
    )]
    Empty(String),
    /// A description cannot be read.
    #[error("cannot read {file}: {error}")]
    Unreadable {
        /// The file.
        file: String,
        /// Why.
        error: std::io::Error,
    },
}

impl WorldSource {
    /// The source that `path` names: a folder of recorded changes, a data set, a description, or a
    /// world that comes with the program.
    pub fn open(path: &Path, sitewide: bool) -> Result<Self, WorldError> {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if microsoft::is_data_set(path) {
            return Ok(WorldSource::Measured { name, entries: microsoft::read(path)? });
        }
        // A folder that only happens to be called like a world does not hide it.
        let taken = path.is_file() || recorded::is_recorded(path);
        let shipped = path.to_str().filter(|_| !taken).and_then(Shipped::find);
        let spec = match shipped {
            Some(shipped) => shipped.spec()?,
            None if path.is_dir() && !recorded::is_recorded(path) => {
                return Err(WorldError::Empty(path.display().to_string()));
            }
            None if path.is_dir() => {
                return Ok(WorldSource::Recorded { folders: vec![path.to_owned()], sitewide });
            }
            None => described(path)?,
        };
        Ok(WorldSource::Made { name, spec: Box::new(spec) })
    }

    /// The same with pages of equal value, as for a crawl without weights.
    pub fn unweighted(mut self) -> Self {
        match &mut self {
            WorldSource::Made { spec, .. } => spec.weigh_alike(),
            WorldSource::Measured { entries, .. } => {
                entries.iter_mut().for_each(|entry| entry.importance = 1.0);
            }
            WorldSource::Recorded { .. } | WorldSource::Logged { .. } => {}
        }
        self
    }

    /// Whether every seed gives another world.
    pub(crate) fn is_made(&self) -> bool {
        !matches!(self, WorldSource::Recorded { .. })
    }

    /// The world, with changes known from `history` before it begins.
    pub fn world(&self, seed: u64, history: Days) -> Result<LabWorld, WorldError> {
        match self {
            WorldSource::Recorded { folders, sitewide } => Ok(recorded::read(folders, *sitewide)?),
            WorldSource::Made { name, spec } => Ok(spec.world(name, seed, history)),
            WorldSource::Measured { name, entries } => {
                Ok(microsoft::world(name, entries, seed, history))
            }
            WorldSource::Logged { name, log } => Ok(log.world(name, seed, history)),
        }
    }
}

fn described(path: &Path) -> Result<WorldSpec, WorldError> {
    let file = path.display().to_string();
    let bytes = match std::fs::read(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(WorldError::Unknown(file)),
        read => read.map_err(|error| WorldError::Unreadable { file: file.clone(), error })?,
    };
    let text = String::from_utf8_lossy(&bytes);
    match std::str::from_utf8(&bytes) {
        Ok(text) => Ok(WorldSpec::parse(&file, text)?),
        Err(error) => {
            Err(Malformed::at(&file, &text, error.valid_up_to(), "this is no UTF-8").into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(path: &Path) -> String {
        WorldSource::open(path, false).unwrap_err().to_string()
    }

    #[test]
    fn what_is_no_world_is_refused_with_what_would_be_one() {
        assert!(refusal(Path::new("newz")).contains("`newz`, and no world of that name comes"));
        let dir = tempfile::tempdir().unwrap();
        assert!(
            refusal(dir.path()).contains("holds no world: recorded changes come with a trace.json")
        );
        let file = dir.path().join("odd.toml");
        std::fs::write(&file, b"pages = 1\n# \xff\n").unwrap();
        assert!(refusal(&file).ends_with("odd.toml, line 2, column 3: this is no UTF-8"));
    }
}
