//! Which rows of the log came in by imports?
//!
//! An import has the data directory for itself, so its rows follow each other in the log. One row of the meta space
//! says where they begin and end. They are in order of time among themselves, and not with what stands before and
//! after them.

use std::ops::Range;

use crate::StateError;
use crate::apply::Applied;
use crate::codec::{Reader, Writer};
use crate::keys;
use crate::state::State;
use crate::store::{Space, Store};
use crate::view::{View, number_of};

pub(crate) const FORMAT: u8 = 1;
/// What the keys of these rows begin with.
const IMPORTED: u8 = b'i';

impl<S: Store> View<S> {
    /// The numbers of imported rows of the log: one range for each import, in ascending order.
    pub fn imported(&self) -> Result<Vec<Range<u64>>, StateError> {
        let rows = self.layers.scan(Space::Meta, &[IMPORTED], &[IMPORTED + 1]);
        rows.map(|row| {
            let (key, end) = row?;
            Ok(number_of(&key)?..Reader::new(&end, FORMAT)?.number()?)
        })
        .collect()
    }
}

impl<S: Store> State<S> {
    pub(crate) fn imported(&mut self, first: u64, end: u64) -> Applied {
        let mut row = Writer::new(FORMAT);
        row.number(end);
        self.view.layers.put(Space::Meta, &keys::numbered(IMPORTED, first), &row.finish());
        Applied::default()
    }
}
