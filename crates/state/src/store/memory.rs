//! How are rows kept where nothing needs to last? In maps.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Arc, PoisonError, RwLock};

use super::{Loading, Overlay, Row, Slice, Space, Store};
use crate::StateError;

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
