//! A disk of which a power cut leaves what was synced, and any part of the rest: bytes that were written,
//! files that were made, names that were changed. It fails, and is full, when told to.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirEntryExt, FileExt, MetadataExt};
use std::path::Path;
use std::sync::{Arc, Mutex};

use evercrawl_archive::Disk;
use evercrawl_policy::SplitMix64;
use evercrawl_state::{
    MemoryStore, Overlay, StateError, Store, WrappedStore, copy_crawl, encode_batch,
};
use tempfile::TempDir;

/// What is known of the disk that an archive and its state are on.
#[derive(Clone, Debug, Default)]
pub(crate) struct SimDisk(Arc<Mutex<Inner>>);

#[derive(Debug, Default)]
struct Inner {
    /// Bytes of each file that last, by its number.
    synced: HashMap<u64, u64>,
    /// The directory, with the names in it that last.
    names: Option<Names>,
    /// How many syncs go well before one fails.
    good: Option<usize>,
    /// Bytes that still fit.
    room: Option<u64>,
    /// A sync has failed since the last start.
    failed: bool,
}

impl SimDisk {
    /// The disk that `dir` is on, with nothing in it.
    pub(crate) fn with(dir: &Path) -> Self {
        let names = Some(Names::of(dir));
        SimDisk(Arc::new(Mutex::new(Inner { names, ..Inner::default() })))
    }

    /// Lets so many syncs go well, and the next one fail.
    pub(crate) fn fail_after(&self, good: usize) {
        self.0.lock().unwrap().good = Some(good);
    }

    /// Lets so many bytes fit, and no more.
    pub(crate) fn fill_up(&self, room: u64) {
        self.0.lock().unwrap().room = Some(room);
    }

    /// Somebody makes room.
    pub(crate) fn make_room(&self) {
        self.0.lock().unwrap().room = None;
    }

    /// Whether a sync has failed since the last start.
    pub(crate) fn has_failed(&self) -> bool {
        self.0.lock().unwrap().failed
    }

    /// Another process finds the disk as it is; it works for as long as it is not told otherwise.
    pub(crate) fn restart(&self) {
        let mut inner = self.0.lock().unwrap();
        (inner.good, inner.room, inner.failed) = (None, None, false);
    }

    /// The power goes: each name is what it was when its directory was synced, or what became of it since.
    /// Each file keeps what was synced and some of what was not, and what grows has behind it
    /// whatever the disk held before.
    pub(crate) fn lose_power(&self, dir: &Path, dice: &mut SplitMix64) {
        let mut inner = self.0.lock().unwrap();
        if let Some(names) = &mut inner.names {
            names.lose_some(dice);
        }
        let mut left = HashMap::new();
        for name in names_in(dir).into_keys() {
            let mut file = OpenOptions::new().append(true).open(dir.join(&name)).unwrap();
            let (number, length) = numbers(&file);
            let synced = inner.synced.get(&number).map_or(0, |synced| length.min(*synced));
            file.set_len(synced + dice.next_u64() % (length - synced + 1)).unwrap();
            if name.ends_with(".open") {
                let garbage: Vec<u8> = (0..dice.below(60)).map(|_| dice.next_u64() as u8).collect();
                file.write_all(&garbage).unwrap();
            }
            left.insert(number, synced);
        }
        inner.synced = left;
    }
}

impl Inner {
    /// Counts a sync; true when it is the one that fails.
    fn fails(&mut self) -> bool {
        let fails = self.good == Some(0);
        self.good = self.good.and_then(|good| good.checked_sub(1));
        self.failed |= fails;
        fails
    }

    /// Takes room for `bytes`; says how many of them there is room for.
    fn takes(&mut self, bytes: usize) -> usize {
        let fit = self.room.map_or(bytes, |room| bytes.min(usize::try_from(room).unwrap()));
        self.room = self.room.map(|room| room - fit as u64);
        fit
    }
}

impl Disk for SimDisk {
    fn write(&self, file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
        let fit = self.0.lock().unwrap().takes(bytes.len());
        file.write_all_at(&bytes[..fit], offset)?;
        if fit < bytes.len() { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        let mut inner = self.0.lock().unwrap();
        let (number, length) = numbers(file);
        let is_file = file.metadata()?.is_file();
        if inner.fails() {
            // What was to be written is dropped, and every later sync goes well without it.
            let synced = inner.synced.get(&number).copied().unwrap_or(0);
            if is_file && synced < length {
                let lost = vec![0; usize::try_from(length - synced).unwrap()];
                file.write_all_at(&lost, synced)?;
            }
            return Err(io::Error::other("input/output error"));
        }
        match &mut inner.names {
            Some(names) if !is_file => names.sync(),
            _ => drop(inner.synced.insert(number, length)),
        }
        Ok(())
    }
}

/// The number of a file, and its length.
fn numbers(file: &File) -> (u64, u64) {
    let about = file.metadata().unwrap();
    (about.ino(), about.len())
}

/// The files in a directory: name and number.
fn names_in(dir: &Path) -> BTreeMap<String, u64> {
    let entries = fs::read_dir(dir).unwrap().map(Result::unwrap);
    entries.map(|entry| (entry.file_name().into_string().unwrap(), entry.ino())).collect()
}

/// The names in a directory that last.
#[derive(Debug)]
struct Names {
    dir: std::path::PathBuf,
    /// Name and number when the directory was last synced.
    synced: BTreeMap<String, u64>,
    /// A second name for each of these files, so that one that is removed can come back.
    kept: TempDir,
}

impl Names {
    fn of(dir: &Path) -> Self {
        let kept = tempfile::tempdir_in(dir.parent().unwrap()).unwrap();
        Names { dir: dir.to_owned(), synced: BTreeMap::new(), kept }
    }

    fn sync(&mut self) {
        let now = names_in(&self.dir);
        let numbers: BTreeSet<u64> = now.values().copied().collect();
        for gone in self.synced.values().filter(|number| !numbers.contains(number)) {
            fs::remove_file(self.second(*gone)).unwrap();
        }
        let before: BTreeSet<u64> = self.synced.values().copied().collect();
        for (name, number) in now.iter().filter(|(_, number)| !before.contains(number)) {
            fs::hard_link(self.dir.join(name), self.second(*number)).unwrap();
        }
        self.synced = now;
    }

    fn second(&self, number: u64) -> std::path::PathBuf {
        self.kept.path().join(number.to_string())
    }

    /// Every file is where it was at the last sync, or where it was put since, one by one as chance has
    /// it. A name that one file took over from another has one of the two.
    fn lose_some(&mut self, dice: &mut SplitMix64) {
        let now = names_in(&self.dir);
        let by_number = |names: &BTreeMap<String, u64>| -> BTreeMap<u64, String> {
            names.iter().map(|(name, number)| (*number, name.clone())).collect()
        };
        let (was, is) = (by_number(&self.synced), by_number(&now));
        let mut left: BTreeMap<String, u64> = BTreeMap::new();
        let numbers: BTreeSet<u64> = was.keys().chain(is.keys()).copied().collect();
        // In the order of names: numbers differ from run to run.
        let mut files: Vec<_> = numbers.iter().map(|n| (was.get(n), is.get(n), *n)).collect();
        files.sort();
        for (was, is, number) in files {
            let place = if was == is || dice.below(2) == 0 { is } else { was };
            let Some(name) = place else { continue };
            left.insert(name.clone(), number);
        }
        for (name, number) in &self.synced {
            if now.contains_key(name) && !left.values().any(|kept| kept == number) {
                left.entry(name.clone()).or_insert(*number);
            }
        }
        self.make_so(&now, &left);
    }

    fn make_so(&mut self, now: &BTreeMap<String, u64>, left: &BTreeMap<String, u64>) {
        let aside = self.kept.path().join("aside");
        fs::create_dir(&aside).unwrap();
        for (name, number) in now {
            fs::rename(self.dir.join(name), aside.join(number.to_string())).unwrap();
        }
        for (name, number) in left {
            let (moved, second) = (aside.join(number.to_string()), self.second(*number));
            let from = if moved.exists() { moved } else { second };
            fs::hard_link(from, self.dir.join(name)).unwrap();
        }
        fs::remove_dir_all(&aside).unwrap();
        self.sync();
    }
}

/// Rows in memory, whose commits are syncs of a disk.
#[derive(Clone)]
pub(crate) struct SimStore {
    rows: MemoryStore,
    disk: SimDisk,
    record: Arc<Mutex<Option<Record>>>,
}

/// What a copy of a store is made from: every batch, and how the store was when some of them had been committed.
pub(crate) struct Record {
    /// How many batches before the snapshot is taken.
    pub(crate) snapshot_after: usize,
    pub(crate) snapshot: Option<MemoryStore>,
    pub(crate) batches: Vec<Vec<u8>>,
}

impl SimStore {
    pub(crate) fn on(disk: &SimDisk) -> Self {
        SimStore { rows: MemoryStore::default(), disk: disk.clone(), record: Arc::default() }
    }

    /// Keeps a record of what is committed from now on, with a snapshot after so many batches.
    pub(crate) fn record(&self, snapshot_after: usize) {
        let record = Record { snapshot_after, snapshot: None, batches: Vec::new() };
        *self.record.lock().unwrap() = Some(record);
    }

    /// Ends the record, and hands it out.
    pub(crate) fn recorded(&self) -> Record {
        self.record.lock().unwrap().take().unwrap()
    }

    fn commit_rows(&self, changes: &Overlay) -> Result<(), StateError> {
        if let Some(record) = &mut *self.record.lock().unwrap() {
            if record.batches.len() == record.snapshot_after {
                let snapshot = MemoryStore::default();
                copy_crawl(&self.rows, &snapshot)?;
                record.snapshot = Some(snapshot);
            }
            record.batches.push(encode_batch(changes));
        }
        self.rows.commit(changes)
    }
}

impl WrappedStore for SimStore {
    type Inner = MemoryStore;

    fn inner(&self) -> &MemoryStore {
        &self.rows
    }

    fn commit(&self, changes: &Overlay) -> Result<(), StateError> {
        let mut inner = self.disk.0.lock().unwrap();
        assert!(!inner.failed, "a commit on top of a sync that failed");
        // A row takes as much as a short URL and what is known of it.
        let size = changes.len() * 100;
        if inner.takes(size) < size {
            return Err(io::Error::from(io::ErrorKind::StorageFull).into());
        }
        if inner.fails() {
            // All of it may be on disk, or nothing.
            if changes.len().is_multiple_of(2) {
                self.commit_rows(changes)?;
            }
            return Err(io::Error::other("input/output error").into());
        }
        self.commit_rows(changes)
    }
}
