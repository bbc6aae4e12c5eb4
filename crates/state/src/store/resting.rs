//! How is a store read that is not written to?
//!
//! One that was closed in order has all its rows in tables. So each of its spaces can be opened by itself, once it is
//! asked; there is no journal to go through, and nothing is written or synced. That is what lets a verb answer from
//! ten million pages in the time that the disk takes for a few dozen small reads.

use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::thread;

use lsm_tree::config::PinningPolicy;
use lsm_tree::{AbstractTree, AnyTree, Cache, Config, DescriptorTable, Guard, SeqNo};

use super::{Row, Slice, Space, StoreLimits};
use crate::{StateError, intact};

/// The tree that says what the others are called.
const NAMES: u64 = 0;
/// Spaces that nearly all who ask want to read: opened at the same time, so that the disk is asked for several
/// of their many small parts at once.
const WANTED: [Space; 5] = [Space::Pages, Space::Known, Space::Hosts, Space::Meta, Space::Machine];
/// Files that are kept open.
const OPEN_FILES: usize = 200;

/// A store that was closed in order, and is read alone.
pub(super) struct Resting {
    dir: PathBuf,
    cache: Arc<Cache>,
    files: Arc<DescriptorTable>,
    trees: [OnceLock<AnyTree>; Space::COUNT],
}

impl Resting {
    /// Opens what there is to read in `dir`; `None` where it has to be opened to write first.
    pub(super) fn open(dir: &Path, limits: StoreLimits) -> Result<Option<Self>, StateError> {
        if !intact::rests(dir)? {
            return Ok(None);
        }
        let resting = Resting {
            dir: dir.to_owned(),
            cache: Arc::new(Cache::with_capacity_bytes(limits.cache)),
            files: Arc::new(DescriptorTable::new(OPEN_FILES)),
            trees: Default::default(),
        };
        let (names, wanted) = resting.open_wanted();
        // Where a space has another number, what was opened in its place says nothing.
        if !resting.is_named_by(&names?)? {
            return Ok(None);
        }
        wanted.map(|()| Some(resting))
    }

    /// Opens the tree of names, and the spaces that will be asked.
    fn open_wanted(&self) -> (Result<AnyTree, StateError>, Result<(), StateError>) {
        thread::scope(|scope| {
            let wanted = WANTED.map(|space| scope.spawn(move || self.tree(space).map(drop)));
            let names = self.open_tree(NAMES);
            let wanted =
                wanted.map(|opened| opened.join().unwrap_or_else(|panic| resume_unwind(panic)));
            (names, wanted.into_iter().collect())
        })
    }

    /// Whether every space lies where one lies that was made at once with all others.
    fn is_named_by(&self, names: &AnyTree) -> Result<bool, StateError> {
        for space in Space::ALL {
            let key = [&b"n"[..], &number(space).to_be_bytes()].concat();
            let name = names.get(key, SeqNo::MAX).map_err(fjall::Error::from)?;
            if name.as_deref() != Some(space.name().as_bytes()) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn tree(&self, space: Space) -> Result<&AnyTree, StateError> {
        let kept = &self.trees[space as usize];
        match kept.get() {
            Some(tree) => Ok(tree),
            None => {
                let tree = self.open_tree(number(space))?;
                Ok(kept.get_or_init(|| tree))
            }
        }
    }

    fn open_tree(&self, number: u64) -> Result<AnyTree, StateError> {
        let dir = intact::space_dir(&self.dir, number);
        intact::assure_space(&dir)?;
        let config = Config::new(dir, Default::default(), Default::default())
            .use_cache(self.cache.clone())
            .use_descriptor_table(Some(self.files.clone()))
            .index_block_pinning_policy(PinningPolicy::all(false))
            .filter_block_pinning_policy(PinningPolicy::all(false));
        Ok(config.open().map_err(fjall::Error::from)?)
    }

    pub(super) fn get(&self, space: Space, key: &[u8]) -> Result<Option<Slice>, StateError> {
        Ok(self.tree(space)?.get(key, SeqNo::MAX).map_err(fjall::Error::from)?)
    }

    /// Rows with `from <= key < to`, which must not be turned about.
    pub(super) fn scan(
        &self,
        space: Space,
        from: &[u8],
        to: &[u8],
    ) -> Box<dyn Iterator<Item = Row>> {
        let tree = match self.tree(space) {
            Ok(tree) => tree,
            Err(error) => return Box::new(std::iter::once(Err(error))),
        };
        let rows = tree.range::<&[u8], _>(from..to, SeqNo::MAX, None);
        Box::new(rows.map(|row| Ok(row.into_inner().map_err(fjall::Error::from)?)))
    }

    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }
}

/// Spaces are made in their order, after the one of names.
fn number(space: Space) -> u64 {
    space as u64 + NAMES + 1
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::prelude::*;
    use tempfile::TempDir;

    use super::*;
    use crate::store::{DiskStore, Overlay, Store};

    const LIMITS: StoreLimits = StoreLimits { cache: 1 << 20, memtable: 1 << 20 };

    fn whole(dir: &Path) -> DiskStore {
        DiskStore::open(dir, LIMITS).unwrap()
    }

    fn to_read(dir: &Path) -> Option<DiskStore> {
        DiskStore::open_to_read(dir, LIMITS).unwrap()
    }

    fn rows(store: &DiskStore, space: Space) -> Vec<(Slice, Slice)> {
        store.scan(space, &[], &[0xff; 4]).map(Result::unwrap).collect()
    }

    /// A store with a row in each space that was closed in order, or as a process that is killed leaves it.
    fn made(in_order: bool) -> TempDir {
        let dir = tempfile::tempdir().unwrap();
        let (store, mut changes) = (whole(dir.path()), Overlay::default());
        Space::ALL
            .into_iter()
            .for_each(|space| changes.put(space, b"key", space.name().as_bytes()));
        store.commit(&changes).unwrap();
        if in_order {
            store.settle().unwrap();
        }
        drop(store);
        dir
    }

    /// All files of a store with what is in them.
    fn files(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
        let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
        let all = entries.flat_map(|path| {
            if path.is_dir() { files(&path) } else { vec![(path.clone(), fs::read(path).unwrap())] }
        });
        let mut all: Vec<_> = all.collect();
        all.sort();
        all
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]

        /// Whatever was put and removed, in however many tables it lies: both ways to open a store read the same.
        #[test]
        fn who_reads_alone_reads_what_all_read(
            turns in proptest::collection::vec(proptest::collection::vec((0usize..9, 0u8..20, any::<Option<u8>>()), 0..40), 1..6),
        ) {
            let dir = tempfile::tempdir().unwrap();
            let store = whole(dir.path());
            for turn in turns {
                let mut changes = Overlay::default();
                for (space, key, value) in turn {
                    match value {
                        Some(value) => changes.put(Space::ALL[space], &[key], &[value]),
                        None => changes.remove(Space::ALL[space], &[key]),
                    }
                }
                store.commit(&changes).unwrap();
                store.settle().unwrap();
            }
            let expected = Space::ALL.map(|space| rows(&store, space));
            drop(store);
            let store = to_read(dir.path()).unwrap();
            prop_assert_eq!(&Space::ALL.map(|space| rows(&store, space)), &expected);
            for (space, expected) in Space::ALL.into_iter().zip(expected) {
                for key in 0..20 {
                    let row = expected.iter().find(|row| *row.0 == [key]).map(|row| row.1.clone());
                    prop_assert_eq!(store.get(space, &[key]).unwrap(), row);
                }
            }
        }
    }

    #[test]
    fn a_store_that_was_not_closed_in_order_is_not_read_without_its_journal() {
        let dir = made(false);
        assert!(to_read(dir.path()).is_none());
        let nothing = tempfile::tempdir().unwrap();
        assert!(to_read(nothing.path()).is_none());
        assert_eq!(files(nothing.path()), []);
    }

    #[test]
    fn nothing_is_written_by_who_reads() {
        let dir = made(true);
        // Lists that no longer hold are removed when a space is first opened.
        let store = to_read(dir.path()).unwrap();
        assert!(Space::ALL.into_iter().all(|space| rows(&store, space).len() == 1));
        drop(store);
        let before = files(dir.path());
        let store = to_read(dir.path()).unwrap();
        for space in Space::ALL {
            assert_eq!(store.get(space, b"key").unwrap().as_deref(), Some(space.name().as_bytes()));
        }
        assert!(store.commit(&Overlay::default()).is_err());
        assert!(store.loading(Space::Pages).is_err());
        drop(store);
        assert!(files(dir.path()) == before);
        assert_eq!(rows(&whole(dir.path()), Space::Visits).len(), 1);
    }

    #[test]
    fn both_ways_tell_the_size_of_the_files() {
        let dir = made(true);
        let bytes = || files(dir.path()).iter().map(|file| file.1.len() as u64).sum::<u64>();
        let store = to_read(dir.path()).unwrap();
        assert_eq!(store.disk_bytes(), bytes());
        drop(store);
        let store = whole(dir.path());
        assert_eq!(store.disk_bytes(), bytes());
    }

    #[test]
    fn a_damaged_space_is_refused_when_it_is_asked() {
        for space in [Space::Known, Space::Visits] {
            let dir = made(true);
            let list = intact::space_dir(dir.path(), number(space)).join("current");
            fs::write(&list, b"no list").unwrap();
            let opened = DiskStore::open_to_read(dir.path(), LIMITS);
            let read = opened.and_then(|store| store.unwrap().get(space, b"key"));
            let words = read.unwrap_err().to_string();
            assert!(words.contains("current"), "{words}");
            // Nor is an empty space made where there was one.
            fs::remove_dir_all(list.parent().unwrap()).unwrap();
            let opened = DiskStore::open_to_read(dir.path(), LIMITS);
            assert!(opened.and_then(|store| store.unwrap().get(space, b"key")).is_err());
            assert!(!list.exists());
        }
    }

    #[test]
    fn spaces_that_were_made_in_another_order_are_not_taken_for_each_other() {
        let dir = tempfile::tempdir().unwrap();
        let db = fjall::Database::builder(dir.path()).open().unwrap();
        for space in Space::ALL.into_iter().rev() {
            db.keyspace(space.name(), Default::default).unwrap();
        }
        drop(db);
        // Nor is a number missed that belongs to none: a disk may fail while a space is made.
        fs::remove_dir_all(intact::space_dir(dir.path(), number(Space::Meta))).unwrap();
        for journal in intact::journals(dir.path()).unwrap() {
            fs::File::create(journal).unwrap();
        }
        assert!(intact::rests(dir.path()).unwrap());
        assert!(to_read(dir.path()).is_none());
    }
}
