//! Are the files by which the store finds its rows as it wrote them?
//!
//! Rows lie in blocks that the store sums and checks by itself. But it believes its lists of tables, the tables
//! of contents at the end of tables, and the beginnings of what it reads in its journals: a flipped bit there lets it
//! abort, delete tables that no list names, or pass over all that was committed after. So all of that is looked at
//! before the store is opened; it is little.
//!
//! - `contents`: where do the parts of a file of the store lie?
//! - `list`: which tables does a space have?
//! - `journal`: which commits are whole?
//! - [`mend`]: what of the store can be opened again?

mod contents;
mod journal;
mod list;
mod mend;

use std::fs::{self, File};
use std::io;
use std::num::NonZeroU64;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::thread;

use rustix::fs::Advice;
use xxhash_rust::xxh3::Xxh3Default;

use self::contents::Contents;
use self::list::{List, Listed};
use crate::StateError;

pub(crate) use self::journal::files as journals;
pub use self::mend::mend_store;

/// What the store's mark says, and what the end of each commit in a journal does.
const MAGIC: &[u8] = b"FJL\x03";
const MARK: &str = "version";
const SPACES: &str = "keyspaces";
const TABLES: &str = "tables";
/// Threads that look at the spaces; with more, starting them takes longer than the disk.
const READERS: usize = 3;
/// The parts of a table that the store reads when it opens.
const READ_AT_OPENING: [&[u8]; 3] = [b"meta", b"tli", b"filter_tli"];

/// A file of the store that is not as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DamagedFile {
    /// The file.
    pub path: PathBuf,
    /// The place in it, where that is known.
    pub offset: Option<u64>,
    /// What is wrong with it.
    pub what: &'static str,
}

impl DamagedFile {
    fn new(path: PathBuf, what: &'static str) -> Self {
        DamagedFile { path, offset: None, what }
    }
}

/// Refuses a store in `dir` that would be opened for what it is not.
pub(crate) fn assure(dir: &Path) -> Result<(), StateError> {
    clear_half_made(dir)?;
    damaged_files(dir, CheckDepth::Lists)?.first().map_or(Ok(()), refuse)
}

/// Refuses a space that would be opened for what it is not.
pub(crate) fn assure_space(space: &Path) -> Result<(), StateError> {
    match list::read(space)? {
        Ok(list) => damaged_tables(space, &list, CheckDepth::Lists)?.first().map_or(Ok(()), refuse),
        Err(Some(damage)) => refuse(&damage),
        Err(None) => refuse(&DamagedFile::new(space.to_owned(), "it has no list of tables")),
    }
}

fn refuse(DamagedFile { path, what, .. }: &DamagedFile) -> Result<(), StateError> {
    Err(StateError::Corrupt(format!("{}: {what}", path.display())))
}

/// Whether the store in `dir` was closed in order: nothing is in its journals that is not in tables.
pub(crate) fn rests(dir: &Path) -> io::Result<bool> {
    if !is_marked(dir) {
        return Ok(false);
    }
    let journals = journals(dir)?;
    for journal in &journals {
        if fs::metadata(journal)?.len() > 0 {
            return Ok(false);
        }
    }
    // Where there is none, nobody knows what was written to it.
    Ok(!journals.is_empty())
}

fn is_marked(dir: &Path) -> bool {
    fs::read(dir.join(MARK)).is_ok_and(|bytes| bytes == MAGIC)
}

/// Where the space with this number lies.
pub(crate) fn space_dir(dir: &Path, number: u64) -> PathBuf {
    dir.join(SPACES).join(number.to_string())
}

/// Bytes of all files in `dir`; what vanishes meanwhile does not count.
pub(crate) fn bytes_in(dir: &Path) -> io::Result<u64> {
    let mut bytes = 0;
    for entry in list_dir(dir)? {
        bytes += match fs::metadata(&entry) {
            Ok(about) if about.is_dir() => bytes_in(&entry)?,
            Ok(about) => about.len(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
            Err(error) => return Err(error),
        };
    }
    Ok(bytes)
}

/// How closely to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckDepth {
    /// At what the store believes without a sum of its own.
    Lists,
    /// At every byte.
    Everything,
}

/// The files of the store in `dir` that are not as they were written; none where there is no store.
pub fn damaged_files(dir: &Path, depth: CheckDepth) -> io::Result<Vec<DamagedFile>> {
    let mut found = Vec::new();
    if !is_there(dir)? {
        return Ok(found);
    }
    if !is_marked(dir) {
        found.push(DamagedFile::new(dir.join(MARK), "it is not the marker of a store"));
    }
    found.extend(damaged_spaces(&spaces(dir)?, depth)?);
    found.extend(journal::damaged(dir)?);
    Ok(found)
}

/// Looks at several spaces at the same time, so that the disk is asked for several of their many small parts at once.
fn damaged_spaces(spaces: &[PathBuf], depth: CheckDepth) -> io::Result<Vec<DamagedFile>> {
    let look = |from| -> io::Result<Vec<DamagedFile>> {
        let found =
            spaces.iter().skip(from).step_by(READERS).map(|space| damaged_space(space, depth));
        Ok(found.collect::<io::Result<Vec<_>>>()?.concat())
    };
    let found = thread::scope(|scope| {
        let looks: Vec<_> = (0..READERS).map(|from| scope.spawn(move || look(from))).collect();
        let looks =
            looks.into_iter().map(|look| look.join().unwrap_or_else(|panic| resume_unwind(panic)));
        looks.collect::<io::Result<Vec<_>>>()
    });
    let mut found = found?.concat();
    found.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(found)
}

fn damaged_space(space: &Path, depth: CheckDepth) -> io::Result<Vec<DamagedFile>> {
    match list::read(space)? {
        Ok(list) => damaged_tables(space, &list, depth),
        Err(damage) => Ok(damage.into_iter().collect()),
    }
}

/// Whether there is anything of a store's.
fn is_there(dir: &Path) -> io::Result<bool> {
    Ok(dir.join(MARK).exists() || !spaces(dir)?.is_empty() || !journal::is_empty(dir)?)
}

fn damaged_tables(space: &Path, list: &List, depth: CheckDepth) -> io::Result<Vec<DamagedFile>> {
    let mut found = Vec::new();
    for table in list.tables() {
        let path = space.join(TABLES).join(table.id.to_string());
        let what = table_damage(&path, table, depth)?;
        found.extend(what.map(|what| DamagedFile::new(path, what)));
    }
    Ok(found)
}

fn table_damage(
    path: &Path,
    table: &Listed,
    depth: CheckDepth,
) -> io::Result<Option<&'static str>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(Some("a table of the state is missing"));
        }
        Err(error) => return Err(error),
    };
    let Some(contents) = contents::of_file(&file)? else {
        return Ok(Some("the table of contents of this table is damaged"));
    };
    read_ahead(&file, &contents);
    let is_sound = depth == CheckDepth::Lists || sum(file)? == table.sum;
    Ok((!is_sound).then_some("a table of the state was altered after it was written"))
}

/// Has the system read ahead what the store reads of each table when it opens, so that it does not wait for one part after
/// the other. Where the system does not care to, nothing is lost.
fn read_ahead(file: &File, contents: &Contents) {
    for part in READ_AT_OPENING.iter().filter_map(|name| contents.part(name)) {
        let length = NonZeroU64::new(part.end - part.start);
        let _ = rustix::fs::fadvise(file, part.start, length, Advice::WillNeed);
    }
}

fn sum(mut file: impl io::Read) -> io::Result<u128> {
    let (mut hasher, mut piece) = (Xxh3Default::new(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(hasher.digest128()),
            length => hasher.update(&piece[..length]),
        }
    }
}

/// The directories of the store's spaces, its own for their names among them.
fn spaces(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in list_dir(&dir.join(SPACES))? {
        if entry.is_dir() {
            found.push(entry);
        }
    }
    Ok(found)
}

/// What lies in a directory, in order; nothing where there is none.
fn list_dir(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut found = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    found.sort();
    Ok(found)
}

/// Makes way where a store was being made when the process ended: its mark comes last, and no store opens without
/// it or is made over what there is. Nothing can have been written to it.
fn clear_half_made(dir: &Path) -> io::Result<()> {
    if !dir.exists() || dir.join(MARK).exists() || !journal::is_empty(dir)? {
        return Ok(());
    }
    for space in spaces(dir)? {
        if !list_dir(&space.join(TABLES))?.is_empty() {
            return Ok(());
        }
    }
    journal::files(dir)?.into_iter().try_for_each(fs::remove_file)?;
    spaces(dir)?.into_iter().try_for_each(fs::remove_dir_all)
}

#[cfg(test)]
mod tests;
