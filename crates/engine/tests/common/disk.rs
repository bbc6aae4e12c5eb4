//! A disk of which a power cut leaves what was synced, and any part of the rest. It fails when told to.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::sync::{Arc, Mutex};

use evercrawl_archive::Disk;
use evercrawl_policy::SplitMix64;
use evercrawl_state::{Loading, MemoryStore, Overlay, Row, Slice, Space, StateError, Store};

/// What is known of the disk that an archive and its state are on.
#[derive(Clone, Debug, Default)]
pub(crate) struct SimDisk(Arc<Mutex<Inner>>);

#[derive(Debug, Default)]
struct Inner {
    /// Bytes of each file that last, by its number.
    synced: HashMap<u64, u64>,
    /// How many syncs go well before one fails.
    good: Option<usize>,
    /// A sync has failed since the last start.
    failed: bool,
}

impl SimDisk {
    /// Lets so many syncs go well, and the next one fail.
    pub(crate) fn fail_after(&self, good: usize) {
        self.0.lock().unwrap().good = Some(good);
    }

    /// Another process finds the disk as it is; it works for as long as it is not told to fail.
    pub(crate) fn restart(&self) {
        let mut inner = self.0.lock().unwrap();
        (inner.good, inner.failed) = (None, false);
    }

    /// The power goes: each file in `dir` keeps what was synced and some of what was not, and what
    /// grows has behind it whatever the disk held before.
    pub(crate) fn lose_power(&self, dir: &Path, dice: &mut SplitMix64) {
        let mut inner = self.0.lock().unwrap();
        let mut left = HashMap::new();
        let mut paths: Vec<_> = fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).collect();
        paths.sort();
        for path in paths {
            let mut file = OpenOptions::new().append(true).open(&path).unwrap();
            let (number, length) = numbers(&file);
            let synced = inner.synced.get(&number).map_or(0, |synced| length.min(*synced));
            file.set_len(synced + dice.next_u64() % (length - synced + 1)).unwrap();
            if path.extension().is_some_and(|end| end == "open") {
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
}

impl Disk for SimDisk {
    fn sync(&self, file: &File) -> io::Result<()> {
        let mut inner = self.0.lock().unwrap();
        let (number, length) = numbers(file);
        if inner.fails() {
            // What was to be written is dropped, and every later sync goes well without it.
            let synced = inner.synced.get(&number).copied().unwrap_or(0);
            if file.metadata()?.is_file() && synced < length {
                let lost = vec![0; usize::try_from(length - synced).unwrap()];
                file.write_all_at(&lost, synced)?;
            }
            return Err(io::Error::other("input/output error"));
        }
        inner.synced.insert(number, length);
        Ok(())
    }
}

/// The number of a file, and its length.
fn numbers(file: &File) -> (u64, u64) {
    let about = file.metadata().unwrap();
    (about.ino(), about.len())
}

/// Rows in memory, whose commits are syncs of a disk.
#[derive(Clone)]
pub(crate) struct SimStore {
    rows: MemoryStore,
    disk: SimDisk,
}

impl SimStore {
    pub(crate) fn on(disk: &SimDisk) -> Self {
        SimStore { rows: MemoryStore::default(), disk: disk.clone() }
    }
}

impl Store for SimStore {
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Slice>, StateError> {
        self.rows.get(space, key)
    }

    fn scan<'a>(
        &'a self,
        space: Space,
        from: &[u8],
        to: &[u8],
    ) -> Box<dyn Iterator<Item = Row> + 'a> {
        self.rows.scan(space, from, to)
    }

    fn commit(&self, changes: &Overlay) -> Result<(), StateError> {
        let mut inner = self.disk.0.lock().unwrap();
        assert!(!inner.failed, "a commit on top of a sync that failed");
        if inner.fails() {
            // All of it may be on disk, or nothing.
            if changes.len().is_multiple_of(2) {
                self.rows.commit(changes)?;
            }
            return Err(io::Error::other("input/output error").into());
        }
        self.rows.commit(changes)
    }

    fn settle(&self) -> Result<(), StateError> {
        Ok(())
    }

    fn merge(&self) -> Result<(), StateError> {
        Ok(())
    }

    fn loading(&self, space: Space) -> Result<Box<dyn Loading + '_>, StateError> {
        self.rows.loading(space)
    }

    fn disk_bytes(&self) -> u64 {
        0
    }
}
