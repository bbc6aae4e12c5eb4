//! What does a store do that stands before another one?

use super::{Loading, Overlay, Row, Slice, Space, Store};
use crate::StateError;

/// A store that hands everything on to another one, but for what it says itself: to count, to fail, to keep a record.
pub trait WrappedStore: Send + Sync {
    /// The store that it stands before.
    type Inner: Store;

    /// The store that it stands before.
    fn inner(&self) -> &Self::Inner;

    /// [`Store::get`].
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Slice>, StateError> {
        self.inner().get(space, key)
    }

    /// [`Store::scan`].
    fn scan<'a>(
        &'a self,
        space: Space,
        from: &[u8],
        to: &[u8],
    ) -> Box<dyn Iterator<Item = Row> + 'a> {
        self.inner().scan(space, from, to)
    }

    /// [`Store::commit`].
    fn commit(&self, changes: &Overlay) -> Result<(), StateError> {
        self.inner().commit(changes)
    }

    /// [`Store::loading`].
    fn loading(&self, space: Space) -> Result<Box<dyn Loading + '_>, StateError> {
        self.inner().loading(space)
    }
}

impl<W: WrappedStore> Store for W {
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Slice>, StateError> {
        WrappedStore::get(self, space, key)
    }

    fn scan<'a>(
        &'a self,
        space: Space,
        from: &[u8],
        to: &[u8],
    ) -> Box<dyn Iterator<Item = Row> + 'a> {
        WrappedStore::scan(self, space, from, to)
    }

    fn commit(&self, changes: &Overlay) -> Result<(), StateError> {
        WrappedStore::commit(self, changes)
    }

    fn settle(&self) -> Result<(), StateError> {
        self.inner().settle()
    }

    fn merge(&self) -> Result<(), StateError> {
        self.inner().merge()
    }

    fn loading(&self, space: Space) -> Result<Box<dyn Loading + '_>, StateError> {
        WrappedStore::loading(self, space)
    }

    fn disk_bytes(&self) -> u64 {
        self.inner().disk_bytes()
    }
}
