//! How are rows kept on disk? In an LSM tree for each space, with one journal for all.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use fjall::config::{BlockSizePolicy, CompressionPolicy, PartitioningPolicy};
use fjall::{Database, Keyspace, KeyspaceCreateOptions, OwnedWriteBatch, PersistMode};

use super::resting::Resting;
use super::{Loading, Overlay, Row, Slice, Space, Store};
use crate::{StateError, intact};

/// How much memory and disk cache the store may take.
#[derive(Clone, Copy, Debug)]
pub struct StoreLimits {
    /// Bytes of blocks kept in memory for reading.
    pub cache: u64,
    /// Bytes of writes that each space gathers in memory before they become a sorted file.
    pub memtable: u64,
}

impl Default for StoreLimits {
    fn default() -> Self {
        StoreLimits { cache: 96 << 20, memtable: 8 << 20 }
    }
}

/// The store on disk: LSM trees with a journal.
pub struct DiskStore(Opened);

enum Opened {
    Whole(Whole),
    ToRead(Resting),
}

/// A store that is open to be written to.
struct Whole {
    db: Database,
    spaces: [Keyspace; Space::COUNT],
    /// Bytes of writes that may wait in memory, over all spaces.
    buffer: u64,
    /// The last field, and so the last that is dropped: the database is closed by then.
    journal: Journal,
}

/// How often it is looked, two milliseconds apart, whether all was written when a store is to be closed: a disk
/// that takes nothing must not keep a crawl from its end.
const MOST_POLLS: u32 = 10_000;

/// What the database would replay when it is opened again. Once all that was written is in tables it
/// repeats them; up to 64 MB of it would cost the next verb a second all the same.
struct Journal {
    dir: PathBuf,
    /// Commits so far, and how many of them are known to be in tables.
    commits: AtomicU64,
    settled: AtomicU64,
}

impl Drop for Journal {
    fn drop(&mut self) {
        if *self.settled.get_mut() != *self.commits.get_mut() {
            return;
        }
        // An empty one must stay: where there is none the database does not look where its count of
        // writes stood, and old rows would win over new ones. What cannot be emptied is replayed.
        for journal in intact::journals(&self.dir).unwrap_or_default() {
            let _ = std::fs::File::create(journal);
        }
    }
}

impl DiskStore {
    /// Opens the store in `dir`, or creates it there.
    pub fn open(dir: &Path, limits: StoreLimits) -> Result<Self, StateError> {
        Ok(DiskStore(Opened::Whole(Whole::open(dir, limits)?)))
    }

    /// Opens the store in `dir` to be read and no more, which is soon done; `None` where there is none that was
    /// closed in order, since what is in its journal alone has to be written before it can be read.
    pub fn open_to_read(dir: &Path, limits: StoreLimits) -> Result<Option<Self>, StateError> {
        let resting = Resting::open(dir, limits)?;
        Ok(resting.map(|resting| DiskStore(Opened::ToRead(resting))))
    }

    fn whole(&self) -> Result<&Whole, StateError> {
        match &self.0 {
            Opened::Whole(whole) => Ok(whole),
            Opened::ToRead(_) => Err(StateError::Store("it was opened to be read alone".into())),
        }
    }
}

impl Whole {
    fn open(dir: &Path, limits: StoreLimits) -> Result<Self, StateError> {
        intact::assure(dir)?;
        let db = Database::builder(dir)
            .cache_size(limits.cache)
            .max_journaling_size(96 << 20)
            // With more, one of them spins for as long as another merges files.
            .worker_threads(1)
            .open()?;
        let open = |space: Space| {
            db.keyspace(space.name(), || {
                KeyspaceCreateOptions::default()
                    .max_memtable_size(limits.memtable)
                    .data_block_size_policy(BlockSizePolicy::all(4 << 10))
                    .data_block_compression_policy(CompressionPolicy::all(space.compression()))
                    // To read one row must not take reading a table's whole index.
                    .index_block_partitioning_policy(PartitioningPolicy::new([false, true]))
                    .filter_block_partitioning_policy(PartitioningPolicy::new([false, true]))
                    .expect_point_read_hits(space.is_asked_for_what_it_has())
            })
        };
        let [a, b, c, d, e, f, g, h] = Space::CRAWL;
        let crawl =
            [open(a)?, open(b)?, open(c)?, open(d)?, open(e)?, open(f)?, open(g)?, open(h)?];
        let [a, b, c, d, e, f, g, h] = crawl;
        let spaces = [a, b, c, d, e, f, g, h, open(Space::Machine)?];
        let (commits, settled) = (AtomicU64::new(0), AtomicU64::new(u64::MAX));
        let journal = Journal { dir: dir.to_owned(), commits, settled };
        let buffer = limits.memtable * Space::COUNT as u64;
        Ok(Whole { db, spaces, buffer, journal })
    }

    fn space(&self, space: Space) -> &Keyspace {
        &self.spaces[space as usize]
    }

    fn commit(&self, changes: &Overlay) -> Result<(), StateError> {
        self.journal.commits.fetch_add(1, Ordering::SeqCst);
        let batch = OwnedWriteBatch::with_capacity(self.db.clone(), changes.len());
        let mut batch = batch.durability(Some(PersistMode::SyncData));
        for space in Space::ALL {
            for (key, value) in &changes.spaces[space as usize] {
                match value {
                    Some(value) => batch.insert(self.space(space), key.clone(), value.clone()),
                    None => batch.remove(self.space(space), key.clone()),
                }
            }
        }
        batch.commit()?;
        Self::wait_while(|| self.db.write_buffer_size() > self.buffer);
        Ok(())
    }

    fn settle(&self) -> Result<(), StateError> {
        let commits = self.journal.commits.load(Ordering::SeqCst);
        // All of them before any is waited for, as the database would do for ten milliseconds a space.
        for space in &self.spaces {
            space.rotate_memtable()?;
        }
        let is_waiting = |space: &Keyspace| space.sealed_memtable_count() > 0;
        let polls_left = Cell::new(MOST_POLLS);
        Self::wait_while(|| {
            polls_left.set(polls_left.get().saturating_sub(1));
            let busy = self.db.outstanding_flushes() > 0 || self.spaces.iter().any(is_waiting);
            busy && polls_left.get() > 0
        });
        if polls_left.get() > 0 {
            self.journal.settled.store(commits, Ordering::SeqCst);
        }
        Ok(())
    }

    /// Lets the store's own thread catch up: what it has yet to write is held in memory.
    #[allow(clippy::disallowed_methods)] // It does not signal when it is done.
    fn wait_while(busy: impl Fn() -> bool) {
        while busy() {
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

impl Store for DiskStore {
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Slice>, StateError> {
        match &self.0 {
            Opened::Whole(whole) => Ok(whole.space(space).get(key)?),
            Opened::ToRead(resting) => resting.get(space, key),
        }
    }

    fn scan<'a>(
        &'a self,
        space: Space,
        from: &[u8],
        to: &[u8],
    ) -> Box<dyn Iterator<Item = Row> + 'a> {
        if to <= from {
            return Box::new(std::iter::empty());
        }
        match &self.0 {
            Opened::Whole(whole) => {
                let rows = whole.space(space).range::<&[u8], _>(from..to);
                Box::new(rows.map(|row| Ok(row.into_inner()?)))
            }
            Opened::ToRead(resting) => resting.scan(space, from, to),
        }
    }

    fn commit(&self, changes: &Overlay) -> Result<(), StateError> {
        self.whole()?.commit(changes)
    }

    fn settle(&self) -> Result<(), StateError> {
        self.whole()?.settle()
    }

    fn merge(&self) -> Result<(), StateError> {
        self.settle()?;
        for space in &self.whole()?.spaces {
            space.major_compact()?;
        }
        Ok(())
    }

    fn loading(&self, space: Space) -> Result<Box<dyn Loading + '_>, StateError> {
        let mut rows = Some(self.whole()?.space(space).start_ingestion()?);
        Ok(Box::new(DiskLoading(move |row: Option<(&[u8], &[u8])>| {
            match (row, &mut rows) {
                (Some((key, value)), Some(rows)) => rows.write(key, value)?,
                (None, rows) => rows.take().map_or(Ok(()), |rows| rows.finish())?,
                (Some(_), None) => {}
            }
            Ok(())
        })))
    }

    fn disk_bytes(&self) -> u64 {
        let dir = match &self.0 {
            Opened::Whole(whole) => &whole.journal.dir,
            Opened::ToRead(resting) => resting.dir(),
        };
        intact::bytes_in(dir).unwrap_or_default()
    }
}

/// Takes rows, and at last `None`: what the database loads with has a type that cannot be named.
struct DiskLoading<F>(F);

impl<F: FnMut(Option<(&[u8], &[u8])>) -> Result<(), StateError>> Loading for DiskLoading<F> {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), StateError> {
        self.0(Some((key, value)))
    }

    fn finish(mut self: Box<Self>) -> Result<(), StateError> {
        self.0(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(dir: &Path) -> DiskStore {
        DiskStore::open(dir, StoreLimits::default()).unwrap()
    }

    /// Commits rows, all with the same value.
    fn write(store: &DiskStore, rows: std::ops::Range<u32>, value: &str) {
        let mut changes = Overlay::default();
        for row in rows {
            let key = row.to_be_bytes().to_vec();
            changes.spaces[Space::Pages as usize].insert(key.into(), Some(value.into()));
        }
        store.commit(&changes).unwrap();
    }

    fn read(store: &DiskStore) -> Vec<String> {
        let rows = store.scan(Space::Pages, &[], &[0xff; 5]);
        rows.map(|row| String::from_utf8(row.unwrap().1.to_vec()).unwrap()).collect()
    }

    fn journal_bytes(dir: &Path) -> u64 {
        let journals = intact::journals(dir).unwrap();
        journals.iter().map(|file| file.metadata().unwrap().len()).sum()
    }

    #[test]
    fn a_journal_that_repeats_the_tables_is_left_behind_and_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let store = open(dir.path());
        write(&store, 0..3, "first");
        store.settle().unwrap();
        drop(store);
        assert_eq!(journal_bytes(dir.path()), 0);

        let store = open(dir.path());
        assert_eq!(read(&store), ["first"; 3]);
        write(&store, 0..2, "second");
        store.settle().unwrap();
        write(&store, 2..4, "third");
        drop(store);
        assert!(journal_bytes(dir.path()) > 0, "it has what no table has");

        let store = open(dir.path());
        assert_eq!(read(&store), ["second", "second", "third", "third"]);
        store.settle().unwrap();
        drop(store);
        let store = open(dir.path());
        write(&store, 0..1, "fourth");
        let rows = ["fourth", "second", "third", "third"];
        assert_eq!(read(&store), rows);
        drop(store);
        assert_eq!(read(&open(dir.path())), rows);
    }
}
