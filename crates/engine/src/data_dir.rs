//! Whose directory is this, and who else is in it?
//!
//! ```text
//! DIR/evercrawl.data   what this is, and in which format
//! DIR/lock             held by the process that works here
//! DIR/state/           the store, and the URLs seen beside it
//! DIR/archive/         WARC files and their CDXJ indexes
//! DIR/learned          what the planner knows beyond single pages
//! DIR/control.sock     where a running crawl answers other verbs
//! ```

pub(crate) mod unknown_files;

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use evercrawl_archive as archive;
use evercrawl_model::Time;
use evercrawl_state::{
    DiskStore, Load, Settings, State, StoreLimits, View, needs_preparation, prepare_store,
};
use xxhash_rust::xxh3::xxh3_64;

use crate::EngineError;

/// The data format that this version writes, and the latest that it reads.
pub const FORMAT: u32 = 7;
/// The earliest that it reads.
const EARLIEST_FORMAT: u32 = 1;
const MARK: &str = "evercrawl.data";
const LEARNED: &str = "learned";
/// Where seeds are sorted that come in together, beside the store.
const LOADING: &str = "loading";
const ARCHIVE: &str = "archive";
pub(crate) const STATE: &str = "state";
pub(crate) const STORE: &str = "store";
/// What a file's name ends with while the file is being written.
const ASIDE: &str = ".new";
const MARK_ASIDE: &str = "evercrawl.data.new";
const MARK_TEXT: &str = "evercrawl data directory, format ";

/// What may lie in a directory that is to become a data directory.
const OURS_BEFORE_FIRST_USE: [&str; 2] = ["evercrawl.toml", MARK_ASIDE];

/// Parts that the URL space of a new data directory is divided into.
pub(crate) const SHARDS: u16 = 64;

/// A data directory that this process works in alone.
#[derive(Debug)]
pub struct DataDir {
    path: PathBuf,
    _lock: File,
}

impl DataDir {
    /// Opens an existing data directory.
    pub fn open(path: &Path) -> Result<Self, EngineError> {
        if !path.exists() {
            return Err(EngineError::Missing { dir: path.to_owned() });
        }
        let found = read_mark(path)?;
        let dir = Self::lock(path)?;
        if found < FORMAT {
            // Rows are read in every format and written in the latest, as they change. From the first
            // of them on an earlier version must not open this, so the mark comes before.
            write_mark(path)?;
        }
        Ok(dir)
    }

    /// Opens a data directory, or makes one where nothing is.
    pub fn open_or_create(path: &Path) -> Result<Self, EngineError> {
        fs::create_dir_all(path).map_err(io("create", path))?;
        let entries = fs::read_dir(path).map_err(io("list", path))?;
        let foreign = |entry: std::io::Result<fs::DirEntry>| {
            entry.is_ok_and(|entry| {
                !OURS_BEFORE_FIRST_USE.contains(&&*entry.file_name().to_string_lossy())
            })
        };
        if !entries.into_iter().any(foreign) {
            furnish(path)?;
        }
        Self::open(path)
    }

    fn lock(path: &Path) -> Result<Self, EngineError> {
        let file = path.join("lock");
        let mut options = File::options();
        let opened = options.read(true).write(true).create(true).truncate(false).open(&file);
        let mut lock = opened.map_err(io("open", &file))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                let _ = lock.read_to_string(&mut holder);
                let holder = holder.trim().to_owned();
                return Err(EngineError::InUse { dir: path.to_owned(), holder });
            }
            Err(TryLockError::Error(error)) => return Err(io("lock", &file)(error)),
        }
        sign(&mut lock).map_err(io("write", &file))?;
        Ok(DataDir { path: path.to_owned(), _lock: lock })
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The WARC files of the data directory at `path`, and their indexes.
    pub fn segments_in(path: &Path) -> Arc<dyn archive::SegmentStore> {
        Arc::new(archive::FileSegments::new(path.join(ARCHIVE)))
    }

    /// Where the URLs seen of the data directory at `path` is.
    pub(crate) fn seen_in(path: &Path) -> PathBuf {
        path.join(STATE).join("seen.filter")
    }

    /// Where the store of the data directory at `path` is.
    pub(crate) fn store_in(path: &Path) -> PathBuf {
        path.join(STATE).join(STORE)
    }

    /// Where what the planner learned is kept in the data directory at `path`.
    pub(crate) fn learned_in(path: &Path) -> PathBuf {
        path.join(LEARNED)
    }

    /// What the planner had learned when it was last kept; `None` where there is nothing, or not
    /// what was kept.
    pub fn learned(path: &Path) -> Option<Vec<u8>> {
        let mut bytes = fs::read(Self::learned_in(path)).ok()?;
        let sum = bytes.split_off(bytes.len().checked_sub(size_of::<u64>())?);
        (sum == xxh3_64(&bytes).to_le_bytes()).then_some(bytes)
    }

    /// Keeps what the planner has learned in the data directory at `path`.
    pub fn keep_learned(path: &Path, learned: &[u8]) -> Result<(), EngineError> {
        let summed = [learned, &xxh3_64(learned).to_le_bytes()].concat();
        replace_file(&Self::learned_in(path), &summed)
    }

    /// Opens the state; `seed` is the secret of a new one.
    pub fn state(&self, limits: StoreLimits, seed: u64) -> Result<State<DiskStore>, EngineError> {
        self.require_state()?;
        let seen = Self::seen_in(&self.path);
        let fresh = Settings { seed, shards: SHARDS };
        let store = self.store(limits)?;
        unknown_files::refuse(&View::open(Arc::clone(&store))?, &self.path)?;
        Ok(State::open(store, fresh, Some(&seen))?)
    }

    /// Opens the state for reading alone: at once, however much is known.
    pub fn view(&self, limits: StoreLimits) -> Result<View<DiskStore>, EngineError> {
        let view = self.view_as_found(limits)?;
        match view.counters().visits {
            0 => unknown_files::refuse_without_visits(&view, &self.path).map(|()| view),
            _ => Ok(view),
        }
    }

    /// The same, whatever files the archive has beside those that the state knows.
    pub fn view_as_found(&self, limits: StoreLimits) -> Result<View<DiskStore>, EngineError> {
        self.require_state()?;
        let resting = DiskStore::open_to_read(&Self::store_in(&self.path), limits)?;
        match resting.map(Arc::new) {
            Some(store) if !needs_preparation(store.as_ref())? => Ok(View::open(store)?),
            _ => Ok(View::open(self.store(limits)?)?),
        }
    }

    /// Whether there is a state. A new data directory has none before its first use.
    pub fn has_state(&self) -> bool {
        Self::store_in(&self.path).exists()
    }

    /// An archive without a state was one with a state: a new state would know nothing of it.
    fn require_state(&self) -> Result<(), EngineError> {
        match self.has_state() {
            true => Ok(()),
            false => unknown_files::refuse_without_state(&self.path),
        }
    }

    fn store(&self, limits: StoreLimits) -> Result<Arc<DiskStore>, EngineError> {
        let store = self.store_named(STORE, limits)?;
        prepare_store(&store)?;
        Ok(store)
    }

    /// Begins a list of seeds that are to come in together.
    pub fn load(&self) -> Result<Load, EngineError> {
        let dir = self.path.join(STATE).join(LOADING);
        Load::new(dir.clone()).map_err(io("create", &dir))
    }

    /// A store beside the one in use.
    pub(crate) fn store_named(
        &self,
        name: &str,
        limits: StoreLimits,
    ) -> Result<Arc<DiskStore>, EngineError> {
        let dir = self.path.join(STATE);
        fs::create_dir_all(&dir).map_err(io("create", &dir))?;
        Ok(Arc::new(DiskStore::open(&dir.join(name), limits)?))
    }

    /// Opens the archive, brought to what `state` last committed.
    pub fn archive<S: evercrawl_state::Store>(
        &self,
        state: &View<S>,
        mut settings: archive::Settings,
        now: Time,
    ) -> Result<(archive::Writer, archive::Recovery), EngineError> {
        let files = state.archive_files()?;
        settings.first_serial = files.iter().map(|file| file.serial + 1).max().unwrap_or(1);
        let (leaving, files): (Vec<_>, Vec<_>) = files.into_iter().partition(|file| file.leaving);
        let unfinished = files.into_iter().filter(|file| !file.finished);
        let committed: Vec<archive::FilePosition> = unfinished.map(file_position).collect();
        let segments = Self::segments_in(&self.path);
        let opened = archive::Writer::open(segments, &committed, settings, now);
        let (mut writer, recovery) = opened?;
        leaving.into_iter().map(file_position).for_each(|file| writer.leave(file));
        Ok((writer, recovery))
    }

    /// Bytes free on the disk that the directory is on.
    pub fn free_disk(&self) -> Option<u64> {
        let stat = rustix::fs::statvfs(&self.path).ok()?;
        Some(stat.f_bavail.saturating_mul(stat.f_frsize))
    }
}

/// Writes into the lock who holds it: as long as any other such line, since a file that is cut off makes a verb
/// wait for the disk.
fn sign(lock: &mut File) -> std::io::Result<()> {
    lock.seek(SeekFrom::Start(0))?;
    lock.write_all(format!("process {:<10}\n", std::process::id()).as_bytes())
}

/// Makes an empty directory a data directory. What is committed in it later must not lose its place
/// to a power cut, so all names are on disk before the first use.
fn furnish(path: &Path) -> Result<(), EngineError> {
    write_mark(path)?;
    for part in [STATE, ARCHIVE].map(|part| path.join(part)) {
        fs::create_dir_all(&part).map_err(io("create", &part))?;
    }
    sync_dir(path)?;
    sync_dir(above(path))
}

/// Says what the directory is.
fn write_mark(path: &Path) -> Result<(), EngineError> {
    replace_file(&path.join(MARK), format!("{MARK_TEXT}{FORMAT}\n").as_bytes())
}

/// Writes a small file in place of the one that is there. Whatever happens meanwhile, it is then the
/// old one or the new one: written aside, on disk before it is renamed, and its name too afterwards.
pub fn replace_file(path: &Path, bytes: &[u8]) -> Result<(), EngineError> {
    replace(path, bytes, File::options().write(true).create(true).truncate(true))
}

/// The same for a file that only its owner may read.
pub(crate) fn replace_secret_file(path: &Path, bytes: &[u8]) -> Result<(), EngineError> {
    let mut options = File::options();
    replace(path, bytes, options.write(true).create_new(true).mode(0o600))
}

fn replace(path: &Path, bytes: &[u8], options: &OpenOptions) -> Result<(), EngineError> {
    let mut aside = path.as_os_str().to_owned();
    aside.push(ASIDE);
    let aside = PathBuf::from(aside);
    // What a crash left there may have been made with other permissions.
    let _ = fs::remove_file(&aside);
    let write = || {
        let mut file = options.open(&aside)?;
        file.write_all(bytes)?;
        file.sync_all()
    };
    write().map_err(io("write", &aside))?;
    fs::rename(&aside, path).map_err(io("rename", &aside))?;
    sync_dir(above(path))
}

/// The directory that a path is in.
fn above(path: &Path) -> &Path {
    path.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Makes what happened to names in a directory survive a power cut.
pub(crate) fn sync_dir(path: &Path) -> Result<(), EngineError> {
    File::open(path).and_then(|dir| dir.sync_all()).map_err(io("sync", path))
}

/// The format of the data in a directory, where it is one that this version reads.
fn read_mark(path: &Path) -> Result<u32, EngineError> {
    let not_ours = |why: &str| EngineError::NotOurs { dir: path.to_owned(), why: why.to_owned() };
    if !path.is_dir() {
        return Err(not_ours("it is a file"));
    }
    let text =
        fs::read_to_string(path.join(MARK)).map_err(|_| not_ours(&format!("it has no {MARK}")))?;
    let format = text.strip_prefix(MARK_TEXT).and_then(|rest| rest.trim().parse::<u32>().ok());
    match format {
        Some(found) if found > FORMAT => {
            Err(EngineError::Newer { dir: path.to_owned(), found, known: FORMAT })
        }
        Some(found) if found < EARLIEST_FORMAT => {
            Err(EngineError::Older { dir: path.to_owned(), found, known: EARLIEST_FORMAT })
        }
        Some(found) => Ok(found),
        None => Err(not_ours(&format!("its {MARK} is unreadable"))),
    }
}

pub(crate) fn file_position(file: evercrawl_state::ArchiveFile) -> archive::FilePosition {
    archive::FilePosition {
        serial: file.serial,
        name: file.name,
        warc_len: file.warc_len,
        cdxj_len: file.cdxj_len,
        open: file.open,
    }
}

pub(crate) fn io<'a>(
    doing: &'static str,
    path: &'a Path,
) -> impl FnOnce(std::io::Error) -> EngineError + 'a {
    move |source| EngineError::Io { doing, path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_directory_is_made_and_found_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("data");
        assert!(matches!(DataDir::open(&path), Err(EngineError::Missing { .. })));
        drop(DataDir::open_or_create(&path).unwrap());
        drop(DataDir::open(&path).unwrap());
    }

    #[test]
    fn two_do_not_work_in_one_directory() {
        let dir = tempfile::tempdir().unwrap();
        let _first = DataDir::open_or_create(dir.path()).unwrap();
        let error = DataDir::open(dir.path()).unwrap_err();
        let EngineError::InUse { holder, .. } = error else { panic!("{error}") };
        assert_eq!(holder, format!("process {}", std::process::id()));
    }

    #[test]
    fn an_earlier_format_is_taken_over_by_a_crawl() {
        let dir = tempfile::tempdir().unwrap();
        let mark = dir.path().join(MARK);
        fs::write(&mark, format!("{MARK_TEXT}1\n")).unwrap();
        let works_there = DataDir::open(dir.path()).unwrap();
        assert_eq!(fs::read_to_string(&mark).unwrap(), format!("{MARK_TEXT}{FORMAT}\n"));
        fs::write(&mark, format!("{MARK_TEXT}1\n")).unwrap();
        assert!(matches!(DataDir::open(dir.path()), Err(EngineError::InUse { .. })));
        assert_eq!(fs::read_to_string(&mark).unwrap(), format!("{MARK_TEXT}1\n"), "not ours yet");
        drop(works_there);
    }

    #[test]
    fn foreign_older_and_newer_directories_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("thesis.txt"), "mine").unwrap();
        let error = DataDir::open_or_create(dir.path()).unwrap_err();
        assert!(matches!(error, EngineError::NotOurs { .. }), "{error}");
        fs::write(dir.path().join(MARK), format!("{MARK_TEXT}99\n")).unwrap();
        let error = DataDir::open(dir.path()).unwrap_err();
        assert!(matches!(error, EngineError::Newer { found: 99, .. }), "{error}");
        fs::write(dir.path().join(MARK), format!("{MARK_TEXT}0\n")).unwrap();
        let error = DataDir::open(dir.path()).unwrap_err();
        assert!(matches!(error, EngineError::Older { found: 0, .. }), "{error}");
        let file = dir.path().join("thesis.txt");
        assert!(matches!(DataDir::open(&file), Err(EngineError::NotOurs { .. })));
    }
}
