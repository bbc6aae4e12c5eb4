//! How far has an index come? `consumers/NAME.json` in the data directory knows, by the number in the log.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::exit::Failure;

/// Where an index stands; nobody else may move it meanwhile.
pub(super) struct Cursor {
    path: PathBuf,
    note: Note,
    /// Keeps others out as long as it is open.
    _lock: File,
}

#[derive(Serialize, Deserialize)]
struct Note {
    /// The index.
    to: String,
    /// The number of the last row that it has.
    after: Option<u64>,
}

impl Cursor {
    /// Takes the cursor of the consumer `name`, which feeds the index at `to`.
    pub(super) fn open(data: &Path, name: &str, to: &str) -> anyhow::Result<Self> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        if name.is_empty() || name.len() > 100 || !name.chars().all(is_plain) {
            return Err(Failure::usage(format!(
                "`{name}` is not a name for a consumer; use letters, digits, `-` and `_`"
            )));
        }
        let dir = data.join("consumers");
        fs::create_dir_all(&dir)?;
        let lock = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(dir.join(format!("{name}.lock")))?;
        if lock.try_lock().is_err() {
            return Err(Failure::usage(format!(
                "another process feeds the consumer `{name}`; stop it, or use another --consumer"
            )));
        }
        let path = dir.join(format!("{name}.json"));
        let note = read(&path)?.unwrap_or(Note { to: to.to_owned(), after: None });
        if note.to != to {
            return Err(Failure::usage(format!(
                "the consumer `{name}` feeds {}; use another --consumer for {to}, or remove {}",
                note.to,
                path.display()
            )));
        }
        Ok(Cursor { path, note, _lock: lock })
    }

    /// The number of the last row that the index has.
    pub(super) fn after(&self) -> Option<u64> {
        self.note.after
    }

    /// The index has all rows up to number `after`.
    pub(super) fn reach(&mut self, after: Option<u64>) -> anyhow::Result<()> {
        self.note.after = after.or(self.note.after);
        let new = self.path.with_extension("json.new");
        let mut file = File::create(&new)?;
        file.write_all(&serde_json::to_vec(&self.note)?)?;
        file.sync_data()?;
        Ok(fs::rename(&new, &self.path)?)
    }
}

fn read(path: &Path) -> anyhow::Result<Option<Note>> {
    let Ok(text) = fs::read(path) else { return Ok(None) };
    let damaged = |_| {
        let path = path.display();
        Failure::usage(format!("{path} is damaged; remove it, and all documents are sent again"))
    };
    serde_json::from_slice(&text).map(Some).map_err(damaged)
}
