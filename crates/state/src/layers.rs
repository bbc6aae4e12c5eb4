//! What does the state look like right now? The store, with the changes that are on their way
//! into it laid on top.
//!
//! Rows of hosts that change are kept decoded (`host_rows`) until the next freeze. They lie above all else, so that
//! every reader sees them, whenever the last commit was.

use std::iter::Peekable;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use evercrawl_model::HostKey;

use crate::StateError;
use crate::host_rows::HostRows;
use crate::keys;
use crate::position::{POSITION, Position};
use crate::rows::HostRow;
use crate::store::{Overlay, Row, Slice, Space, Store};

/// A store under two layers of changes: those being written out, and those since.
pub(crate) struct Layers<S> {
    store: Arc<S>,
    flushing: Option<Arc<Overlay>>,
    pending: Overlay,
    hosts: HostRows,
    /// The last batch that was handed out.
    position: Position,
    /// Of no use to who only reads: the store may change under them.
    recently_read: Option<Mutex<RecentlyRead>>,
}

/// Rows of pages as the store had them when they were read recently: a page that is handed out is read
/// again when its visit is applied. A row that changes is left out from then on.
#[derive(Default)]
struct RecentlyRead(Vec<Option<(Slice, Slice)>>);

impl RecentlyRead {
    /// More than are handed out at once, as a rule.
    const ROWS: usize = 1024;

    fn slot(&mut self, key: &[u8]) -> Option<&mut Option<(Slice, Slice)>> {
        self.0.resize(Self::ROWS, None);
        // What a key ends with is a hash.
        let end = key.last_chunk::<2>().map_or(0, |end| usize::from(u16::from_be_bytes(*end)));
        self.0.get_mut(end % Self::ROWS)
    }

    fn get(&mut self, key: &[u8]) -> Option<Slice> {
        let (kept, row) = self.slot(key)?.as_ref()?;
        (**kept == *key).then(|| row.clone())
    }

    fn keep(&mut self, key: &[u8], row: &Slice) {
        if let Some(slot) = self.slot(key) {
            *slot = Some((Slice::from(key), row.clone()));
        }
    }

    fn forget(&mut self, key: &[u8]) {
        if let Some(slot) = self.slot(key) {
            slot.take_if(|(kept, _)| **kept == *key);
        }
    }
}

impl<S: Store> Layers<S> {
    pub(crate) fn new(store: Arc<S>) -> Self {
        let (pending, hosts) = (Overlay::default(), HostRows::default());
        Layers {
            store,
            flushing: None,
            pending,
            hosts,
            position: Position::default(),
            recently_read: None,
        }
    }

    /// The same for the only one who changes rows.
    pub(crate) fn of_writer(store: Arc<S>) -> Self {
        Layers { recently_read: Some(Mutex::default()), ..Layers::new(store) }
    }

    /// Begins to number batches where the store's last one ended.
    pub(crate) fn read_position(&mut self) -> Result<(), StateError> {
        self.position = Position::of_store(self.store.as_ref())?.unwrap_or_default();
        Ok(())
    }

    pub(crate) fn position(&self) -> Position {
        self.position
    }

    /// Rows changed, or are about to, in a way that no batch says.
    pub(crate) fn raise_generation(&mut self) {
        self.position.generation += 1;
    }

    /// The rows go on from those of a state at another position.
    pub(crate) fn continue_from(&mut self, position: Position) {
        self.position = position;
    }

    pub(crate) fn store(&self) -> &Arc<S> {
        &self.store
    }

    pub(crate) fn pending(&self) -> &Overlay {
        &self.pending
    }

    pub(crate) fn put(&mut self, space: Space, key: &[u8], value: &[u8]) {
        self.drop_cached(space, key);
        self.pending.put(space, key, value);
    }

    pub(crate) fn remove(&mut self, space: Space, key: &[u8]) {
        self.drop_cached(space, key);
        self.pending.remove(space, key);
    }

    fn drop_cached(&mut self, space: Space, key: &[u8]) {
        if space == Space::Hosts {
            self.hosts.forget(key);
        }
        if let Some(mut recently_read) = self.recently_read(space) {
            recently_read.forget(key);
        }
    }

    fn recently_read(&self, space: Space) -> Option<MutexGuard<'_, RecentlyRead>> {
        let recently_read = self.recently_read.as_ref().filter(|_| space == Space::Pages)?;
        Some(recently_read.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The row of a host.
    pub(crate) fn host(&self, host: HostKey) -> Result<Option<HostRow>, StateError> {
        if let Some(row) = self.hosts.get(host) {
            return Ok(Some(row.clone()));
        }
        let row = self.get(Space::Hosts, &keys::host(host))?;
        row.map(|row| HostRow::decode(&row)).transpose()
    }

    /// The row of a host, to be changed.
    pub(crate) fn host_mut(&mut self, host: HostKey) -> Result<Option<&mut HostRow>, StateError> {
        Ok(if self.has_host(host)? { self.hosts.get_mut(host) } else { None })
    }

    /// Whether a host has a row; it is in memory from then on.
    pub(crate) fn has_host(&mut self, host: HostKey) -> Result<bool, StateError> {
        if self.hosts.get(host).is_some() {
            return Ok(true);
        }
        let Some(row) = self.host(host)? else { return Ok(false) };
        self.hosts.keep(host, row);
        Ok(true)
    }

    /// Gives a host that has no row its first.
    pub(crate) fn insert_host(&mut self, host: HostKey, row: HostRow) {
        self.hosts.insert(host, row);
    }

    pub(crate) fn get(&self, space: Space, key: &[u8]) -> Result<Option<Slice>, StateError> {
        if space == Space::Hosts
            && let Some(row) = self.hosts.changed(key)
        {
            return Ok(Some(Slice::from(row.encode())));
        }
        if let Some(known) = self.pending.get(space, key) {
            return Ok(known.clone());
        }
        if let Some(known) = self.flushing.as_ref().and_then(|layer| layer.get(space, key)) {
            return Ok(known.clone());
        }
        let mut recently_read = self.recently_read(space);
        if let Some(row) = recently_read.as_mut().and_then(|recently_read| recently_read.get(key)) {
            return Ok(Some(row));
        }
        let row = self.store.get(space, key)?;
        if let (Some(recently_read), Some(row)) = (&mut recently_read, &row) {
            recently_read.keep(key, row);
        }
        Ok(row)
    }

    pub(crate) fn scan<'a>(
        &'a self,
        space: Space,
        from: &[u8],
        to: &[u8],
    ) -> impl Iterator<Item = Row> + use<'a, S> {
        let base = Some(self.store.scan(space, from, to).map(|row| row.map(|(k, v)| (k, Some(v)))));
        let middle = self.flushing.as_ref().map(|layer| owned(layer.range(space, from, to)));
        let below = Over { above: middle.into_iter().flatten().peekable(), below: flat(base) };
        let hosts = match space {
            Space::Hosts => self.hosts.changed_between(from, to),
            _ => Vec::new(),
        };
        let hosts = hosts.into_iter().map(|(host, row)| {
            Ok((Slice::from(keys::host(host)), Some(Slice::from(row.encode()))))
        });
        let pending = owned(self.pending.range(space, from, to)).peekable();
        let above = Over { above: hosts.peekable(), below: pending }.peekable();
        let all = Over { above, below: flat(Some(below)) };
        all.filter_map(|entry| match entry {
            Ok((key, Some(value))) => Some(Ok((key, value))),
            Ok((_, None)) => None,
            Err(error) => Some(Err(error)),
        })
    }

    /// Takes what changed since the last time, to be written out; it stays visible until
    /// [`flushed`](Self::flushed). `None` while an earlier part is still on its way.
    pub(crate) fn freeze(&mut self) -> Option<Arc<Overlay>> {
        if self.flushing.is_some() {
            return None;
        }
        let pending = &mut self.pending;
        self.hosts.write_changed(|host, row| {
            pending.put(Space::Hosts, &keys::host(host), &row.encode());
        });
        if self.pending.is_empty() {
            return None;
        }
        self.position.number += 1;
        self.pending.put(Space::Meta, POSITION, &self.position.encode());
        let frozen = Arc::new(std::mem::take(&mut self.pending));
        self.flushing = Some(frozen.clone());
        Some(frozen)
    }

    pub(crate) fn is_flushing(&self) -> bool {
        self.flushing.is_some()
    }

    pub(crate) fn flushed(&mut self) {
        self.flushing = None;
    }
}

type Change = Result<(Slice, Option<Slice>), StateError>;

fn owned<'a>(
    range: impl Iterator<Item = (&'a Slice, &'a Option<Slice>)> + 'a,
) -> impl Iterator<Item = Change> + 'a {
    range.map(|(key, value)| Ok((key.clone(), value.clone())))
}

fn flat<I: Iterator>(source: Option<I>) -> Peekable<std::iter::Flatten<std::option::IntoIter<I>>> {
    source.into_iter().flatten().peekable()
}

/// Two ordered sources as one; where both have a key, `above` is right.
struct Over<A: Iterator<Item = Change>, B: Iterator<Item = Change>> {
    above: Peekable<A>,
    below: Peekable<B>,
}

impl<A: Iterator<Item = Change>, B: Iterator<Item = Change>> Iterator for Over<A, B> {
    type Item = Change;

    fn next(&mut self) -> Option<Change> {
        let order = match (self.above.peek(), self.below.peek()) {
            (Some(Ok((a, _))), Some(Ok((b, _)))) => a.cmp(b),
            (None, _) | (_, Some(Err(_))) => std::cmp::Ordering::Greater,
            (_, None) | (Some(Err(_)), _) => std::cmp::Ordering::Less,
        };
        if order.is_eq() {
            self.below.next();
        }
        if order.is_gt() { self.below.next() } else { self.above.next() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::MemoryStore;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn rows(layers: &Layers<MemoryStore>) -> Vec<(Vec<u8>, Vec<u8>)> {
        let found = layers.scan(Space::Pages, &[0], &[255]);
        found.map(|row| row.unwrap()).map(|(k, v)| (k.to_vec(), v.to_vec())).collect()
    }

    proptest! {
        /// Whatever is put, removed, frozen and flushed in any order: the layers answer as one map.
        #[test]
        fn layers_are_one_map(ops in proptest::collection::vec((0u8..4, 1u8..40, any::<u8>()), 0..200)) {
            let mut layers = Layers::of_writer(Arc::new(MemoryStore::default()));
            let mut model = BTreeMap::new();
            let mut flushing = None;
            for (op, key, value) in ops {
                match op {
                    0 => { layers.put(Space::Pages, &[key], &[value]); model.insert(vec![key], vec![value]); }
                    1 => { layers.remove(Space::Pages, &[key]); model.remove(&vec![key]); }
                    2 => flushing = layers.freeze().or(flushing),
                    _ => if let Some(frozen) = flushing.take() {
                        layers.store().commit(&frozen).unwrap();
                        layers.flushed();
                    },
                }
                prop_assert_eq!(layers.get(Space::Pages, &[key]).unwrap().map(|v| v.to_vec()), model.get(&vec![key]).cloned());
            }
            prop_assert_eq!(rows(&layers), model.into_iter().collect::<Vec<_>>());
        }
    }
}
