//! Which rows speak of this machine, and not of the crawl?
//!
//! | row | says |
//! |---|---|
//! | `x` | the last run ended cleanly |
//! | `l` | a list of seeds is being loaded; all pages found later do not count yet |
//! | `y` | the sum of the file of URLs seen that is to be believed |
//! | `n`, batch number | URLs that were seen since that file was saved |
//!
//! They lie in a space of their own, [`Space::Machine`]. So every other space holds rows of the crawl alone: these can
//! be copied to another machine, compared and replayed, and no batch names a row of this one.
//!
//! Earlier versions kept them among the rows of [`Space::Meta`], under the same keys.

use crate::StateError;
use crate::keys;
use crate::layers::Layers;
use crate::store::{Overlay, Row, Slice, Space, Store};

/// First byte of the keys of the log of URLs seen.
const SEEN_LOG: u8 = b'n';
const SEEN_SUM: &[u8] = b"y";

/// A row that speaks of this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MachineRow {
    /// The last run ended cleanly.
    CleanMark,
    /// A list of seeds is being loaded.
    LoadMark,
    /// The sum of the file of URLs seen that is to be believed.
    SeenSum,
    /// URLs that came with a batch, and are perhaps not in that file.
    SeenLog(u64),
}

impl MachineRow {
    fn key(self) -> Vec<u8> {
        match self {
            MachineRow::CleanMark => b"x".to_vec(),
            MachineRow::LoadMark => b"l".to_vec(),
            MachineRow::SeenSum => SEEN_SUM.to_vec(),
            MachineRow::SeenLog(batch) => keys::numbered(SEEN_LOG, batch).to_vec(),
        }
    }
}

impl<S: Store> Layers<S> {
    pub(crate) fn machine_row(&self, row: MachineRow) -> Result<Option<Slice>, StateError> {
        self.get(Space::Machine, &row.key())
    }

    pub(crate) fn put_machine_row(&mut self, row: MachineRow, value: &[u8]) {
        self.put(Space::Machine, &row.key(), value);
    }

    pub(crate) fn remove_machine_row(&mut self, row: MachineRow) {
        self.remove(Space::Machine, &row.key());
    }

    /// The log of URLs seen from a batch on.
    pub(crate) fn seen_log(&self, from: u64) -> impl Iterator<Item = Row> + '_ {
        self.scan(Space::Machine, &MachineRow::SeenLog(from).key(), &[SEEN_LOG + 1])
    }
}

/// What marks a load that did not end: the turn after which pages do not count.
pub(crate) fn load_mark<S: Store>(store: &S) -> Result<Option<Slice>, StateError> {
    store.get(Space::Machine, &MachineRow::LoadMark.key())
}

/// Whether an earlier version left rows of this machine among those of the crawl.
pub(crate) fn has_rows_to_move<S: Store>(store: &S) -> Result<bool, StateError> {
    Ok(!rows_to_move(store)?.is_empty())
}

/// Moves the rows of this machine out of the space where earlier versions kept them: all at once, so that a crash
/// leaves them here or there. True when there were any.
pub(crate) fn move_rows<S: Store>(store: &S) -> Result<bool, StateError> {
    let moved = rows_to_move(store)?;
    if !moved.is_empty() {
        store.commit(&moved)?;
    }
    Ok(!moved.is_empty())
}

fn rows_to_move<S: Store>(store: &S) -> Result<Overlay, StateError> {
    let mut moved = Overlay::default();
    for row in [MachineRow::CleanMark, MachineRow::LoadMark, MachineRow::SeenSum] {
        let key = row.key();
        if let Some(value) = store.get(Space::Meta, &key)? {
            moved.put(Space::Machine, &key, &value);
            moved.remove(Space::Meta, &key);
        }
    }
    for row in store.scan(Space::Meta, &[SEEN_LOG], &[SEEN_LOG + 1]) {
        let Ok((key, value)) = row else {
            // Without all of the log the file says too little: what is known is read from the store.
            moved.remove(Space::Machine, SEEN_SUM);
            break;
        };
        moved.put(Space::Machine, &key, &value);
        moved.remove(Space::Meta, &key);
    }
    Ok(moved)
}

/// Whether a key of [`Space::Meta`] is one under which earlier versions kept a row of this machine.
pub(crate) fn is_of_earlier_version(key: &[u8]) -> bool {
    matches!(key, b"x" | b"l" | SEEN_SUM | [SEEN_LOG, ..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::MemoryStore;

    /// What an earlier version wrote: rows of this machine under the same keys, among those of the crawl.
    fn in_the_old_layout() -> MemoryStore {
        let (store, mut rows) = (MemoryStore::default(), Overlay::default());
        rows.put(Space::Meta, b"x", b"");
        rows.put(Space::Meta, b"y", b"sum");
        rows.put(Space::Meta, b"l", &7u64.to_be_bytes());
        (1..4).for_each(|batch| rows.put(Space::Meta, &MachineRow::SeenLog(batch).key(), b"urls"));
        rows.put(Space::Meta, b"wpx", b"an override, whose key begins with another letter");
        store.commit(&rows).unwrap();
        store
    }

    #[test]
    fn rows_of_the_old_layout_are_moved_once() {
        let store = in_the_old_layout();
        assert!(has_rows_to_move(&store).unwrap());
        assert!(move_rows(&store).unwrap());
        let keys = |space| -> Vec<Vec<u8>> {
            store.scan(space, &[], &[0xff; 9]).map(|row| row.unwrap().0.to_vec()).collect()
        };
        assert_eq!(keys(Space::Meta), [b"wpx".to_vec()]);
        let log = (1..4).map(|batch| MachineRow::SeenLog(batch).key());
        let expected = [vec![b"l".to_vec()], log.collect(), vec![b"x".to_vec(), b"y".to_vec()]];
        assert_eq!(keys(Space::Machine), expected.concat());
        assert_eq!(load_mark(&store).unwrap().as_deref(), Some(&7u64.to_be_bytes()[..]));
        assert!(!has_rows_to_move(&store).unwrap());
    }

    #[test]
    fn every_key_is_one_that_earlier_versions_used() {
        use MachineRow::{CleanMark, LoadMark, SeenLog, SeenSum};
        for row in [CleanMark, LoadMark, SeenSum, SeenLog(0), SeenLog(u64::MAX)] {
            assert!(is_of_earlier_version(&row.key()), "{row:?}");
        }
    }
}
