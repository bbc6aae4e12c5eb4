//! How far have tables come that follow the log? A note beside them knows: what they hold, and up to which number.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::ExportError;
use crate::growing_file::write_whole;

/// What stands in the note.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Progress {
    /// What is exported: the same words for the same rows.
    pub(super) what: String,
    /// All rows up to this number are in files that are whole.
    pub(super) settled: Option<u64>,
    /// By the serial number of a WARC file, the number of its last visit that is in a file that is whole.
    pub(super) warcs: BTreeMap<u32, u64>,
    /// Files that are to be written again: their WARC files were growing then, or it was not noted that they are
    /// whole.
    pub(super) unfinished: BTreeSet<String>,
}

/// Readers of tables pass over files that begin so.
const NAME: &str = "_progress.json";

impl Progress {
    /// The note in `dir`; a new one where there is none.
    pub(super) fn read(dir: &Path, what: &str) -> Result<Self, ExportError> {
        let path = dir.join(NAME);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Progress { what: what.to_owned(), ..Progress::default() });
            }
            Err(error) => return Err(ExportError::io("read", &path)(error)),
        };
        let shown = path.display();
        let refused = |why: String| {
            ExportError::InTheWay(format!("{shown} {why}; use another directory or --overwrite"))
        };
        let note: Progress =
            serde_json::from_slice(&text).map_err(|_| refused("is damaged".to_owned()))?;
        match note.what == what {
            true => Ok(note),
            false => Err(refused(format!("is of another selection ({})", note.what))),
        }
    }

    /// Writes the note.
    pub(super) fn save(&self, dir: &Path) -> Result<(), ExportError> {
        fs::create_dir_all(dir).map_err(ExportError::io("create", dir))?;
        write_whole(&dir.join(NAME), &serde_json::to_vec(self).unwrap_or_default())
    }
}

/// The files of a table in a directory, by their names; none where there is no directory.
pub(super) fn files_in(dir: &Path) -> Result<Vec<PathBuf>, ExportError> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(ExportError::io("read", dir)(error)),
    };
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry.map_err(ExportError::io("read", dir))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with("part-") && (name.ends_with(".parquet") || name.ends_with(".new")) {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// Removes a file that may not be there.
pub(super) fn remove(path: &Path) -> Result<(), ExportError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(ExportError::io("remove", path)(error))
        }
        _ => Ok(()),
    }
}
