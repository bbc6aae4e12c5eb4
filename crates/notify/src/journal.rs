//! How are lines kept so that a crash loses none that was written? A file of JSON lines that only grows, each synced
//! before anything is done because of it.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::NotifyError;

/// A file of JSON lines.
#[derive(Debug)]
pub(crate) struct Journal {
    path: PathBuf,
    file: File,
}

impl Journal {
    /// Opens the file, and reads its lines. A line that a crash cut off is removed; one that cannot be read is passed
    /// over.
    pub(crate) fn open<T: DeserializeOwned>(path: &Path) -> Result<(Self, Vec<T>), NotifyError> {
        let failed = |error| NotifyError::File(path.to_owned(), error);
        let mut file =
            OpenOptions::new().read(true).append(true).create(true).open(path).map_err(failed)?;
        let mut text = Vec::new();
        file.read_to_end(&mut text).map_err(failed)?;
        let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        if whole < text.len() {
            file.set_len(whole as u64).map_err(failed)?;
        }
        let lines = text[..whole].split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let read = lines.filter_map(|line| serde_json::from_slice(line).ok()).collect();
        Ok((Journal { path: path.to_owned(), file }, read))
    }

    /// Adds lines, which outlast a crash from then on.
    pub(crate) fn add<T: Serialize>(&mut self, lines: &[T]) -> Result<(), NotifyError> {
        if lines.is_empty() {
            return Ok(());
        }
        let failed = |error| NotifyError::File(self.path.clone(), error);
        let mut text = Vec::new();
        for line in lines {
            serde_json::to_writer(&mut text, line).map_err(|error| failed(error.into()))?;
            text.push(b'\n');
        }
        let length = self.file.metadata().map_err(failed)?.len();
        let written = self.file.write_all(&text).and_then(|()| self.file.sync_data());
        written.map_err(|error| {
            // A full disk may have taken half a line, to which nothing must be added.
            let _ = self.file.set_len(length);
            failed(error)
        })
    }
}

/// Replaces a file by another text, as a whole and for good.
pub(crate) fn replace(path: &Path, text: &[u8]) -> Result<(), NotifyError> {
    let failed = |error| NotifyError::File(path.to_owned(), error);
    let new = path.with_extension("new");
    let mut file = File::create(&new).map_err(failed)?;
    file.write_all(text).and_then(|()| file.sync_data()).map_err(failed)?;
    std::fs::rename(&new, path).map_err(failed)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failing test panics")]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_was_cut_off_harms_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lines");
        std::fs::write(&path, "1\nnot json\n2\n{\"a").unwrap();
        let (mut journal, lines) = Journal::open::<u32>(&path).unwrap();
        assert_eq!(lines, [1, 2]);
        journal.add(&[3, 4]).unwrap();
        assert_eq!(Journal::open::<u32>(&path).unwrap().1, [1, 2, 3, 4]);
    }
}
