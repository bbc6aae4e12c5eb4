//! How does an export go on where it ended, also after a crash? Beside the file lies a note, `FILE.export`: what is
//! exported, up to which number of the log, and how long the file was then. What is longer is cut off.

use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::ExportError;

/// Bytes that may be written before the note is.
const UNNOTED: u64 = 8 << 20;

/// What stands in the note.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Note {
    /// What is exported: the same words for the same rows.
    what: String,
    /// The number of the last row that is in the file.
    after: Option<u64>,
    /// Bytes of the file.
    bytes: u64,
}

/// A file that an export adds to.
#[derive(Debug)]
pub struct GrowingFile {
    path: PathBuf,
    file: BufWriter<File>,
    written: u64,
    note: Note,
}

impl GrowingFile {
    /// Goes on with the file at `path`, or begins it. `what` tells what is exported.
    pub fn open(path: &Path, what: &str, overwrite: bool) -> Result<Self, ExportError> {
        let note = if overwrite { None } else { Self::noted(path, what)? };
        let note = note.unwrap_or(Note { what: what.to_owned(), after: None, bytes: 0 });
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        let io = ExportError::io("write", path);
        let open = || -> std::io::Result<File> {
            let mut file = options.open(path)?;
            file.set_len(note.bytes)?;
            file.seek(SeekFrom::End(0))?;
            Ok(file)
        };
        let file = BufWriter::with_capacity(1 << 18, open().map_err(io)?);
        Ok(GrowingFile { path: path.to_owned(), file, written: note.bytes, note })
    }

    /// The note of an earlier export of the same rows to the same file.
    fn noted(path: &Path, what: &str) -> Result<Option<Note>, ExportError> {
        let length = match fs::metadata(path) {
            Ok(found) => found.len(),
            Err(_) => return Ok(None),
        };
        let shown = path.display();
        let refused = |why: &str| {
            ExportError::InTheWay(format!(
                "{shown} is there already{why}; use another name or --overwrite"
            ))
        };
        let text = fs::read(note_path(path)).map_err(|_| refused(""))?;
        let note: Note =
            serde_json::from_slice(&text).map_err(|_| refused(" and its note is damaged"))?;
        if note.what != what {
            return Err(refused(&format!(" with another selection ({})", note.what)));
        }
        if note.bytes > length {
            return Err(refused(" and has become shorter"));
        }
        Ok(Some(note))
    }

    /// The number of the last row that is in the file.
    pub fn after(&self) -> Option<u64> {
        self.note.after
    }

    /// How long the file is.
    pub fn len(&self) -> u64 {
        self.written
    }

    /// Whether nothing is in it yet.
    pub fn is_empty(&self) -> bool {
        self.written == 0
    }

    /// Adds bytes at its end.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), ExportError> {
        self.file.write_all(bytes).map_err(ExportError::io("write", &self.path))?;
        self.written += bytes.len() as u64;
        Ok(())
    }

    /// All rows up to number `after` are in the file. Now and then this is made to last.
    pub fn reached(&mut self, after: Option<u64>) -> Result<(), ExportError> {
        if self.written - self.note.bytes < UNNOTED {
            return Ok(());
        }
        self.save(after)
    }

    /// Makes what was written last, and notes how far the export has come.
    pub fn save(&mut self, after: Option<u64>) -> Result<(), ExportError> {
        let sync = |file: &mut BufWriter<File>| -> std::io::Result<()> {
            file.flush()?;
            file.get_ref().sync_data()
        };
        sync(&mut self.file).map_err(ExportError::io("write", &self.path))?;
        self.note.after = after.or(self.note.after);
        self.note.bytes = self.written;
        let path = note_path(&self.path);
        write_whole(&path, serde_json::to_string(&self.note).unwrap_or_default().as_bytes())
    }
}

fn note_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".export");
    PathBuf::from(name)
}

/// Writes a file so that it is there whole or as it was before.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), ExportError> {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    let new = PathBuf::from(name);
    let write = || -> std::io::Result<()> {
        let mut file = File::create(&new)?;
        file.write_all(bytes)?;
        file.sync_data()?;
        fs::rename(&new, path)
    };
    write().map_err(ExportError::io("write", path))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failing test panics")]
mod tests {
    use super::*;

    #[test]
    fn an_export_goes_on_where_it_was_noted() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("out");
        let mut file = GrowingFile::open(&path, "all", false).unwrap();
        assert_eq!((file.after(), file.is_empty()), (None, true));
        file.write(b"one").unwrap();
        file.save(Some(7)).unwrap();
        file.write(b"two, and then a crash").unwrap();
        drop(file);
        let mut file = GrowingFile::open(&path, "all", false).unwrap();
        assert_eq!((file.after(), file.len()), (Some(7), 3));
        file.write(b" more").unwrap();
        file.save(None).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"one more");
        assert_eq!(GrowingFile::open(&path, "all", false).unwrap().after(), Some(7));
    }

    #[test]
    fn nothing_else_is_written_over() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("out");
        fs::write(&path, "mine").unwrap();
        let refused = |what: &str| GrowingFile::open(&path, what, false).unwrap_err().to_string();
        assert!(refused("all").contains("is there already; use another name or --overwrite"));
        GrowingFile::open(&path, "all", true).unwrap().save(Some(1)).unwrap();
        assert!(refused("host a").contains("with another selection (all)"));
        assert!(GrowingFile::open(&path, "all", false).is_ok());
        fs::write(note_path(&path), r#"{"what":"all","after":3,"bytes":9}"#).unwrap();
        assert!(refused("all").contains("has become shorter"));
        fs::write(note_path(&path), "{").unwrap();
        assert!(refused("all").contains("its note is damaged"));
    }
}
