//! Where in the sequence of its batches is a state?
//!
//! Every commit is a batch with a number. It also has a *generation*, which is raised whenever rows change in a way that
//! no batch says: a list of seeds was loaded, or the state was made anew from what a repair could read. So a program
//! that replays batches onto a copy sees that the copy is of another generation, and that a new snapshot is due.

use crate::StateError;
use crate::codec::{Reader, Writer};
use crate::store::{Overlay, Space, Store};

pub(crate) const FORMAT: u8 = 1;
pub(crate) const POSITION: &[u8] = b"g";

/// The batch that a state reflects last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// Raised whenever rows changed in a way that no batch says.
    pub generation: u64,
    /// How many batches there were; the first is number 1.
    pub number: u64,
}

impl std::fmt::Display for Position {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "batch {} of generation {}", self.number, self.generation)
    }
}

impl Position {
    /// The position of `store`; `None` where nothing was committed, or by an earlier version alone.
    pub(crate) fn of_store<S: Store>(store: &S) -> Result<Option<Self>, StateError> {
        store.get(Space::Meta, POSITION)?.map(|row| Self::decode(&row)).transpose()
    }

    /// The position that a batch brings a state to.
    pub fn of_batch(batch: &Overlay) -> Result<Option<Self>, StateError> {
        let row = batch.get(Space::Meta, POSITION).and_then(Option::as_ref);
        row.map(|row| Self::decode(row)).transpose()
    }

    pub(crate) fn encode(self) -> Vec<u8> {
        let mut out = Writer::new(FORMAT);
        out.number(self.generation);
        out.number(self.number);
        out.finish()
    }

    pub(crate) fn decode(row: &[u8]) -> Result<Self, StateError> {
        let mut row = Reader::new(row, FORMAT)?;
        Ok(Position { generation: row.number()?, number: row.number()? })
    }
}
