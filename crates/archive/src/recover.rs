//! What remains after the last run, and what of it counts?

use std::fs;
use std::path::Path;

use tracing::{debug, info, warn};

use crate::disk::Disk;
use crate::error::WriteError;
use crate::files::{self, FilePosition};

/// What was found and done when an archive was opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovery {
    /// Bytes cut off because no commit had counted them; their pages are fetched again.
    pub cut_bytes: u64,
    /// Growing files removed because no commit knew them.
    pub removed: Vec<String>,
    /// Files that are not the archive's; they were left alone.
    pub unknown: Vec<String>,
}

/// Brings the files in `dir` to what was committed, finishes them, and gives the highest serial
/// number in use.
pub(crate) fn recover(
    dir: &Path,
    committed: &[FilePosition],
    disk: &dyn Disk,
) -> Result<(Recovery, u32), WriteError> {
    fs::create_dir_all(dir).map_err(WriteError::io("create", dir))?;
    let mut recovery = Recovery::default();
    for position in committed {
        recovery.cut_bytes += position.finish(dir, disk)?;
    }
    let mut highest = committed.iter().map(|position| position.serial).max().unwrap_or(0);
    for name in names(dir)? {
        let serial = files::serial_of(&name);
        highest = highest.max(serial.unwrap_or(0));
        if serial.is_some() && files::is_growing(&name) {
            let path = dir.join(&name);
            fs::remove_file(&path).map_err(WriteError::io("remove", &path))?;
            recovery.removed.push(name);
        } else if serial.is_none() || !files::is_finished(&name) {
            recovery.unknown.push(name);
        }
    }
    log(&recovery);
    Ok((recovery, highest))
}

fn log(recovery: &Recovery) {
    let Recovery { cut_bytes, removed, unknown } = recovery;
    if *cut_bytes > 0 || !removed.is_empty() {
        warn!(cut_bytes, removed = removed.len(), "uncommitted records dropped");
    } else {
        debug!("archive as committed");
    }
    unknown.iter().for_each(|file| info!(%file, "not an archive file; left alone"));
}

fn names(dir: &Path) -> Result<Vec<String>, WriteError> {
    let list = || -> std::io::Result<Vec<String>> {
        let names = fs::read_dir(dir)?;
        let mut names: Vec<String> = names
            .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
            .collect::<std::io::Result<_>>()?;
        names.sort();
        Ok(names)
    };
    list().map_err(WriteError::io("list", dir))
}
