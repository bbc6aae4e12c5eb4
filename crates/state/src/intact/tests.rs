use std::collections::BTreeMap;

use tempfile::TempDir;

use super::*;
use crate::store::{DiskStore, Overlay, Space, Store, StoreLimits};

type Rows = BTreeMap<Vec<u8>, Vec<u8>>;

fn open(dir: &Path) -> Result<DiskStore, StateError> {
    DiskStore::open(dir, StoreLimits { cache: 1 << 20, memtable: 1 << 20 })
}

fn commit(store: &DiskStore, space: Space, rows: std::ops::Range<u32>, value: &str) {
    let mut changes = Overlay::default();
    rows.for_each(|n| changes.put(space, &n.to_be_bytes(), format!("{value}{n}").as_bytes()));
    store.commit(&changes).unwrap();
}

fn rows(store: &DiskStore, space: Space) -> Rows {
    let row = |(key, value): (crate::Slice, crate::Slice)| (key.to_vec(), value.to_vec());
    store.scan(space, &[], &[0xff; 8]).map(|read| row(read.unwrap())).collect()
}

/// A store of which two tables hold pages, the later one newer versions of some.
fn made() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).unwrap();
    for (range, value) in [(0..40, "first"), (20..60, "then")] {
        commit(&store, Space::Pages, range, value);
        commit(&store, Space::Visits, 0..3, value);
        store.settle().unwrap();
    }
    dir
}

/// A copy of a store, to be hurt.
fn copy(from: &Path) -> TempDir {
    fn copy_into(from: &Path, to: &Path) {
        for path in list_dir(from).unwrap() {
            let to = to.join(path.file_name().unwrap());
            if path.is_dir() {
                fs::create_dir(&to).unwrap();
                copy_into(&path, &to);
            } else {
                fs::copy(&path, &to).unwrap();
            }
        }
    }
    let dir = tempfile::tempdir().unwrap();
    copy_into(from, dir.path());
    dir
}

fn named(dir: &Path) -> Vec<PathBuf> {
    let damage = damaged_files(dir, CheckDepth::Lists).unwrap();
    damage.into_iter().map(|damage| damage.path).collect()
}

/// The space of the pages: the first that is made.
fn pages(dir: &Path) -> PathBuf {
    dir.join(SPACES).join("1")
}

fn list_file(space: &Path) -> PathBuf {
    let number = list::read(space).unwrap().unwrap().number;
    space.join(format!("v{number}"))
}

/// Calls `each` with the file hurt in every way: every bit from `from` on flipped, and cut at every length from there.
fn hurt(path: &Path, from: usize, mut each: impl FnMut(&str)) {
    let sound = fs::read(path).unwrap();
    for at in from..sound.len() {
        for bit in 0..8 {
            let mut bytes = sound.clone();
            bytes[at] ^= 1 << bit;
            fs::write(path, bytes).unwrap();
            each(&format!("bit {bit} of byte {at} of {}", path.display()));
        }
        fs::write(path, &sound[..at]).unwrap();
        each(&format!("{} cut to {at} bytes", path.display()));
    }
    fs::write(path, sound).unwrap();
}

#[test]
fn a_sound_store_has_no_damage_and_a_new_one_is_none() {
    let dir = made();
    assert_eq!(damaged_files(dir.path(), CheckDepth::Everything).unwrap(), []);
    assert_eq!(damaged_files(&dir.path().join("nothing"), CheckDepth::Everything).unwrap(), []);
}

#[test]
fn every_bit_of_every_list_counts() {
    let dir = made();
    let space = pages(dir.path());
    let (list, current) = (list_file(&space), space.join("current"));
    hurt(&list, 0, |how| assert_eq!(named(dir.path()), [&*list], "{how}"));
    hurt(&current, 0, |how| assert!(!named(dir.path()).is_empty(), "{how}"));
    hurt(&dir.path().join(MARK), 0, |how| assert_eq!(named(dir.path()).len(), 1, "{how}"));
    assert_eq!(named(dir.path()), [] as [PathBuf; 0]);
}

#[test]
fn every_bit_of_the_end_of_a_table_counts() {
    let dir = made();
    let table = list_dir(&pages(dir.path()).join(TABLES)).unwrap().remove(0);
    let length = fs::metadata(&table).unwrap().len();
    let metadata = contents::of_file(&File::open(&table).unwrap()).unwrap().unwrap();
    let end = metadata.part(b"meta").unwrap().end;
    assert!(length - end < 400);
    hurt(&table, end as usize, |how| assert_eq!(named(dir.path()), [&*table], "{how}"));
}

#[test]
fn every_byte_of_a_table_counts_when_looked_at_closely() {
    let dir = made();
    let table = list_dir(&pages(dir.path()).join(TABLES)).unwrap().remove(0);
    let sound = fs::read(&table).unwrap();
    for at in (0..sound.len()).step_by(7) {
        let mut bytes = sound.clone();
        bytes[at] ^= 0x10;
        fs::write(&table, bytes).unwrap();
        let found = damaged_files(dir.path(), CheckDepth::Everything).unwrap();
        assert!(found.iter().all(|damage| damage.path == table) && found.len() == 1, "byte {at}");
    }
}

#[test]
fn a_list_is_made_anew_from_tables() {
    let sound = made();
    let before = rows(&open(sound.path()).unwrap(), Space::Pages);
    assert_eq!(before.len(), 60);
    for name in ["current", "list"] {
        let (dir, aside) = (copy(sound.path()), tempfile::tempdir().unwrap());
        let space = pages(dir.path());
        let hurt = if name == "list" { list_file(&space) } else { space.join("current") };
        let mut bytes = fs::read(&hurt).unwrap();
        bytes[7] ^= 0x20;
        fs::write(&hurt, bytes).unwrap();
        let refused = open(dir.path()).err().unwrap().to_string();
        assert!(refused.contains(&*hurt.to_string_lossy()), "{refused}");
        let mut said = Vec::new();
        mend_store(dir.path(), aside.path(), &mut |what| said.push(what)).unwrap();
        assert_eq!(said.len(), 1, "{said:?}");
        assert_eq!(list_dir(aside.path()).unwrap().len(), 1);
        assert_eq!(rows(&open(dir.path()).unwrap(), Space::Pages), before);
    }
}

#[test]
fn a_table_that_cannot_be_opened_costs_its_rows_alone() {
    let sound = made();
    for part in [b"meta".as_slice(), b"tli", b"toc"] {
        let (dir, aside) = (copy(sound.path()), tempfile::tempdir().unwrap());
        let table = list_dir(&pages(dir.path()).join(TABLES)).unwrap().pop().unwrap();
        let parts = contents::of_file(&File::open(&table).unwrap()).unwrap().unwrap();
        let mut bytes = fs::read(&table).unwrap();
        let at = parts.part(part).map_or(bytes.len() - 60, |place| place.start as usize + 40);
        bytes[at] ^= 1;
        fs::write(&table, bytes).unwrap();
        mend_store(dir.path(), aside.path(), &mut |_| {}).unwrap();
        let store = open(dir.path()).unwrap();
        let left = rows(&store, Space::Pages);
        assert_eq!((left.len(), rows(&store, Space::Visits).len()), (40, 3));
        assert!(left.values().all(|value| value.starts_with(b"first")));
        assert_eq!(list_dir(aside.path()).unwrap().len(), 1);
    }
}

#[test]
fn a_store_that_would_forget_its_spaces_is_left_alone() {
    let (dir, aside) = (made(), tempfile::tempdir().unwrap());
    let names = list_dir(&dir.path().join(SPACES).join("0").join(TABLES)).unwrap();
    for (nth, table) in names.iter().enumerate() {
        let dir = copy(dir.path());
        let table = dir.path().join(SPACES).join("0").join(TABLES).join(table.file_name().unwrap());
        let length = fs::metadata(&table).unwrap().len();
        File::options().write(true).open(table).unwrap().set_len(length - 9).unwrap();
        assert!(!mend_store(dir.path(), aside.path(), &mut |_| {}).unwrap(), "table {nth}");
    }
    assert!(!names.is_empty() && list_dir(aside.path()).unwrap().is_empty());
    assert!(mend_store(dir.path(), aside.path(), &mut |_| {}).unwrap());
}

/// A store that was not closed: its rows are in the journal alone.
fn killed() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).unwrap();
    (0..4).for_each(|n| commit(&store, Space::Pages, n..n + 3, "row"));
    let left = copy(dir.path());
    drop(store);
    for journal in journal::files(left.path()).unwrap() {
        // All but some of the room that the store keeps behind its commits.
        let used = journal::commits(&fs::read(&journal).unwrap()).until as u64;
        File::options().write(true).open(journal).unwrap().set_len(used + 64).unwrap();
    }
    left
}

#[test]
fn damage_before_the_last_commit_of_a_journal_is_told_from_a_torn_end() {
    let sound = killed();
    let before = rows(&open(copy(sound.path()).path()).unwrap(), Space::Pages);
    let journal = journal::files(sound.path()).unwrap().remove(0);
    let bytes = fs::read(&journal).unwrap();
    let found = journal::commits(&bytes);
    assert!(found.later.is_empty() && found.until + 64 == bytes.len());
    assert_eq!(named(sound.path()), [] as [PathBuf; 0]);
    let one = found.until / 4;
    for at in 0..one * 3 {
        for bit in 0..8 {
            let mut hurt = bytes.clone();
            hurt[at] ^= 1 << bit;
            fs::write(&journal, hurt).unwrap();
            if named(sound.path()).is_empty() {
                let read = rows(&open(copy(sound.path()).path()).unwrap(), Space::Pages);
                assert_eq!(read, before, "bit {bit} of byte {at} of {one} a commit");
            }
        }
    }
    // A torn last commit is what a power cut leaves.
    fs::write(&journal, &bytes[..one * 4 - 5]).unwrap();
    assert_eq!(named(sound.path()), [] as [PathBuf; 0]);
}

#[test]
fn commits_behind_a_damaged_one_are_kept() {
    let (dir, aside) = (killed(), tempfile::tempdir().unwrap());
    let journal = journal::files(dir.path()).unwrap().remove(0);
    let mut bytes = fs::read(&journal).unwrap();
    let one = journal::commits(&bytes).until / 4;
    bytes[one + 40] ^= 4;
    fs::write(&journal, bytes).unwrap();
    assert!(open(dir.path()).is_err());
    mend_store(dir.path(), aside.path(), &mut |_| {}).unwrap();
    assert_eq!(named(dir.path()), [] as [PathBuf; 0]);
    assert_eq!(
        rows(&open(dir.path()).unwrap(), Space::Pages).len(),
        6,
        "each is in a commit beside"
    );
}

#[test]
fn a_store_that_was_being_made_is_made_anew() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join(SPACES).join("0").join(TABLES)).unwrap();
    fs::write(dir.path().join("0.jnl"), [0; 100]).unwrap();
    commit(&open(dir.path()).unwrap(), Space::Pages, 0..3, "row");
    assert_eq!(rows(&open(dir.path()).unwrap(), Space::Pages).len(), 3);
}
