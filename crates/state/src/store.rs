//! Where do rows live? An ordered key-value space with one atomic commit, on disk or in memory.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

pub use fjall::Slice;
use fjall::config::{BlockSizePolicy, CompressionPolicy, PartitioningPolicy};
use fjall::{CompressionType, Database, Keyspace, KeyspaceCreateOptions, PersistMode};

use crate::{StateError, intact};

/// The spaces that rows are kept in. Few, because each idle one holds on to journal files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// Page rows, by page key.
    Pages,
    /// Which URL each page key stands for, as a hash: small, so that a link can be known without
    /// its row being read.
    Known,
    /// Back queues: what each host has to fetch, in order.
    Queues,
    /// Host rows, front queues, robots.txt copies, counts of URL shapes.
    Hosts,
    /// Which pages each page links to, by page key.
    Links,
    /// The visit log, by sequence number.
    Visits,
    /// Digests and fingerprints of content seen.
    Content,
    /// Counters, archive files, tags, settings fixed at creation.
    Meta,
}

impl Space {
    const COUNT: usize = 8;
    const ALL: [Space; Self::COUNT] = [
        Space::Pages,
        Space::Known,
        Space::Queues,
        Space::Hosts,
        Space::Links,
        Space::Visits,
        Space::Content,
        Space::Meta,
    ];

    /// Its name on disk.
    pub fn name(self) -> &'static str {
        match self {
            Space::Pages => "pages",
            Space::Known => "known",
            Space::Queues => "queues",
            Space::Hosts => "hosts",
            Space::Links => "links",
            Space::Visits => "visits",
            Space::Content => "content",
            Space::Meta => "meta",
        }
    }

    /// Hashes do not compress, unless the same ones stand on page after page, as those of menus do.
    fn compression(self) -> CompressionType {
        if self == Space::Known { CompressionType::None } else { CompressionType::Lz4 }
    }
}

/// A row, or an error of the disk under it.
pub type Row = Result<(Slice, Slice), StateError>;

/// An ordered key-value space with atomic commits.
pub trait Store: Send + Sync {
    /// The value at `key`.
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Slice>, StateError>;

    /// Rows with `from <= key < to`, in order.
    fn scan<'a>(
        &'a self,
        space: Space,
        from: &[u8],
        to: &[u8],
    ) -> Box<dyn Iterator<Item = Row> + 'a>;

    /// Writes all of `changes` or nothing; returns when it will survive a power cut.
    fn commit(&self, changes: &Overlay) -> Result<(), StateError>;

    /// Brings what was committed into its final form, so that the next open has nothing to redo.
    fn settle(&self) -> Result<(), StateError>;

    /// Merges everything into one sorted run: after much was added at once, so that the next run
    /// does not pay for it.
    fn merge(&self) -> Result<(), StateError>;

    /// Begins to write many rows of `space` at once, past the journal.
    fn loading(&self, space: Space) -> Result<Box<dyn Loading + '_>, StateError>;

    /// Bytes on disk, as far as that can be told.
    fn disk_bytes(&self) -> u64;
}

/// Rows on their way into a store. What is dropped unfinished leaves nothing behind.
pub trait Loading {
    /// Takes the next row. Keys must rise.
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), StateError>;

    /// Lets all rows be seen at once; returns when they will survive a power cut.
    fn finish(self: Box<Self>) -> Result<(), StateError>;
}

/// Changes on top of a store: not yet committed, but visible to whoever looks through them.
#[derive(Debug, Default)]
pub struct Overlay {
    spaces: [BTreeMap<Slice, Option<Slice>>; Space::COUNT],
}

impl Overlay {
    /// Sets `key` to `value`.
    pub fn put(&mut self, space: Space, key: &[u8], value: &[u8]) {
        self.spaces[space as usize].insert(Slice::from(key), Some(Slice::from(value)));
    }

    /// Removes `key`.
    pub fn remove(&mut self, space: Space, key: &[u8]) {
        self.spaces[space as usize].insert(Slice::from(key), None);
    }

    /// What this says of `key`: `None` nothing, `Some(None)` that it was removed.
    pub fn get(&self, space: Space, key: &[u8]) -> Option<&Option<Slice>> {
        self.spaces[space as usize].get(key)
    }

    /// Number of changed keys.
    pub fn len(&self) -> usize {
        self.spaces.iter().map(BTreeMap::len).sum()
    }

    /// True when nothing changed.
    pub fn is_empty(&self) -> bool {
        self.spaces.iter().all(BTreeMap::is_empty)
    }

    pub(crate) fn range<'a>(
        &'a self,
        space: Space,
        from: &[u8],
        to: &[u8],
    ) -> impl Iterator<Item = (&'a Slice, &'a Option<Slice>)> + use<'a> {
        // An empty range is asked for as from > to, which BTreeMap refuses.
        let to = if to < from { from } else { to };
        self.spaces[space as usize].range::<[u8], _>((Bound::Included(from), Bound::Excluded(to)))
    }
}

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

/// The store on disk: an LSM tree with a journal.
pub struct DiskStore {
    db: Database,
    spaces: [Keyspace; Space::COUNT],
    /// Bytes of writes that may wait in memory, over all spaces.
    buffer: u64,
    /// The last field, and so the last that is dropped: the database is closed by then.
    journal: Journal,
}

/// How often it is looked, two milliseconds apart, whether all was written when a store is to be closed: a disk
/// that takes nothing must not keep a crawl from its end.
const PATIENCE: u32 = 2_500;

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
                    // Whoever opens a store to ask for one row should not read a table's whole index.
                    .index_block_partitioning_policy(PartitioningPolicy::new([false, true]))
                    .filter_block_partitioning_policy(PartitioningPolicy::new([false, true]))
                    .expect_point_read_hits(false)
            })
        };
        let [a, b, c, d, e, f, g, h] = Space::ALL;
        let spaces =
            [open(a)?, open(b)?, open(c)?, open(d)?, open(e)?, open(f)?, open(g)?, open(h)?];
        let (commits, settled) = (AtomicU64::new(0), AtomicU64::new(u64::MAX));
        let journal = Journal { dir: dir.to_owned(), commits, settled };
        let buffer = limits.memtable * Space::COUNT as u64;
        Ok(DiskStore { db, spaces, buffer, journal })
    }

    fn space(&self, space: Space) -> &Keyspace {
        &self.spaces[space as usize]
    }

    /// Lets the store's own thread catch up: what it has yet to write is held in memory.
    #[allow(clippy::disallowed_methods)] // It tells nobody when it is done.
    fn wait_while(busy: impl Fn() -> bool) {
        while busy() {
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

impl Store for DiskStore {
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Slice>, StateError> {
        Ok(self.space(space).get(key)?)
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
        let rows = self.space(space).range::<&[u8], _>(from..to);
        Box::new(rows.map(|row| Ok(row.into_inner()?)))
    }

    fn commit(&self, changes: &Overlay) -> Result<(), StateError> {
        self.journal.commits.fetch_add(1, Ordering::SeqCst);
        let mut batch = self.db.batch().durability(Some(PersistMode::SyncData));
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
        for space in &self.spaces {
            space.rotate_memtable_and_wait()?;
        }
        // What was on its way before is not waited for by that.
        let is_waiting = |space: &Keyspace| space.sealed_memtable_count() > 0;
        let patience = Cell::new(PATIENCE);
        Self::wait_while(|| {
            patience.set(patience.get().saturating_sub(1));
            let busy = self.db.outstanding_flushes() > 0 || self.spaces.iter().any(is_waiting);
            busy && patience.get() > 0
        });
        if patience.get() > 0 {
            self.journal.settled.store(commits, Ordering::SeqCst);
        }
        Ok(())
    }

    fn merge(&self) -> Result<(), StateError> {
        self.settle()?;
        for space in &self.spaces {
            space.major_compact()?;
        }
        Ok(())
    }

    fn loading(&self, space: Space) -> Result<Box<dyn Loading + '_>, StateError> {
        let mut rows = Some(self.space(space).start_ingestion()?);
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
        self.db.disk_space().unwrap_or_default()
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

/// The store in memory: for tests, simulations and dry runs.
#[derive(Clone, Default)]
pub struct MemoryStore {
    rows: Arc<RwLock<[BTreeMap<Slice, Slice>; Space::COUNT]>>,
}

impl Store for MemoryStore {
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Slice>, StateError> {
        let rows = self.rows.read().unwrap_or_else(PoisonError::into_inner);
        Ok(rows[space as usize].get(key).cloned())
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
        let (mut from, to) = (Bound::Included(from.to_vec()), to.to_vec());
        let mut chunk = Vec::new().into_iter();
        // A few at a time: most who ask want no more than the first.
        let mut size = 4;
        Box::new(std::iter::from_fn(move || {
            if chunk.len() == 0 {
                let rows = self.rows.read().unwrap_or_else(PoisonError::into_inner);
                let range = (from.as_ref().map(Vec::as_slice), Bound::Excluded(to.as_slice()));
                let found = rows[space as usize].range::<[u8], _>(range).take(size);
                let found: Vec<(Slice, Slice)> =
                    found.map(|(k, v)| (k.clone(), v.clone())).collect();
                size *= 2;
                chunk = found.into_iter();
            }
            let (key, value) = chunk.next()?;
            from = Bound::Excluded(key.to_vec());
            Some(Ok((key, value)))
        }))
    }

    fn commit(&self, changes: &Overlay) -> Result<(), StateError> {
        let mut rows = self.rows.write().unwrap_or_else(PoisonError::into_inner);
        for (space, changed) in rows.iter_mut().zip(&changes.spaces) {
            for (key, value) in changed {
                match value {
                    Some(value) => space.insert(key.clone(), value.clone()),
                    None => space.remove(key),
                };
            }
        }
        Ok(())
    }

    fn settle(&self) -> Result<(), StateError> {
        Ok(())
    }

    fn merge(&self) -> Result<(), StateError> {
        Ok(())
    }

    fn loading(&self, space: Space) -> Result<Box<dyn Loading + '_>, StateError> {
        Ok(Box::new(MemoryLoading { store: self, space, rows: Overlay::default() }))
    }

    fn disk_bytes(&self) -> u64 {
        0
    }
}

struct MemoryLoading<'a> {
    store: &'a MemoryStore,
    space: Space,
    rows: Overlay,
}

impl Loading for MemoryLoading<'_> {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), StateError> {
        self.rows.put(self.space, key, value);
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<(), StateError> {
        self.store.commit(&self.rows)
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
