//! How does a copy of a crawl's state follow the original? By a snapshot and the batches since.
//!
//! A batch is applied by putting and removing its rows, whatever was there. So batches may be applied twice, and from
//! earlier than the snapshot on, as long as they come in order and to the end: the last word on each row is right then.
//! Until the last batch that the snapshot reflects is applied again, the copy is of no single moment.
//!
//! A batch that does not follow, or that is of another generation, is refused: rows changed meanwhile of which no
//! batch says anything, and the copy needs a new snapshot.

use crate::StateError;
use crate::check::ALL;
use crate::machine;
use crate::position::Position;
use crate::store::{Overlay, Slice, Space, Store};

/// Rows that are copied in one commit.
const COPIED_TOGETHER: usize = 50_000;

/// Why a batch was not applied.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The store failed.
    #[error(transparent)]
    State(#[from] StateError),
    /// The batch does not say which it is.
    #[error("the batch has no number")]
    Unnumbered,
    /// Rows changed between the two that no batch names.
    #[error(
        "{found} does not follow {have}: rows changed that no batch names; take a new snapshot"
    )]
    SnapshotDue {
        /// Where the copy is.
        have: Position,
        /// Where the batch leads.
        found: Position,
    },
    /// A batch is missing.
    #[error("{found} does not follow {have}: batches between them are missing")]
    Gap {
        /// Where the copy is.
        have: Position,
        /// Where the batch leads.
        found: Position,
    },
}

/// Applies a batch to a copy of the state that it comes from.
pub fn apply_batch<S: Store>(copy: &S, batch: &Overlay) -> Result<(), ReplayError> {
    let have = Position::of_store(copy)?.unwrap_or_default();
    let found = Position::of_batch(batch)?.ok_or(ReplayError::Unnumbered)?;
    if found.generation != have.generation {
        return Err(ReplayError::SnapshotDue { have, found });
    }
    if found.number > have.number + 1 {
        return Err(ReplayError::Gap { have, found });
    }
    Ok(copy.commit(batch)?)
}

/// Every row that speaks of the crawl, space by space and in the order of keys.
pub fn crawl_rows<S: Store>(
    store: &S,
) -> impl Iterator<Item = Result<(Space, Slice, Slice), StateError>> + '_ {
    Space::CRAWL.into_iter().flat_map(move |space| {
        let rows = store.scan(space, ALL.0, ALL.1);
        rows.map(move |row| row.map(|(key, value)| (space, key, value)))
    })
}

/// Copies every row that speaks of the crawl into an empty store: a snapshot. Nothing may be committed to `from`
/// meanwhile, unless all batches from its position at the beginning on are replayed onto the copy.
pub fn copy_crawl<A: Store, B: Store>(from: &A, to: &B) -> Result<(), StateError> {
    if machine::load_mark(from)?.is_some() {
        let why = "a list of seeds is being loaded; take the snapshot when that is done";
        return Err(StateError::Store(why.to_owned()));
    }
    let mut rows = Overlay::default();
    for row in crawl_rows(from) {
        let (space, key, value) = row?;
        rows.put(space, &key, &value);
        if rows.len() >= COPIED_TOGETHER {
            to.commit(&std::mem::take(&mut rows))?;
        }
    }
    if rows.is_empty() { Ok(()) } else { to.commit(&rows) }
}

/// The first row of the crawl that is not the same in both; `None` where all are, byte for byte.
pub fn first_difference<A: Store, B: Store>(
    one: &A,
    other: &B,
) -> Result<Option<(Space, Slice)>, StateError> {
    let (mut one, mut other) = (crawl_rows(one), crawl_rows(other));
    loop {
        match (one.next().transpose()?, other.next().transpose()?) {
            (None, None) => return Ok(None),
            (Some(a), Some(b)) if a == b => {}
            (Some((space, key, _)), None) | (None, Some((space, key, _))) => {
                return Ok(Some((space, key)));
            }
            (Some(a), Some(b)) => {
                let (space, key, _) = if (a.0 as u8, &a.1) <= (b.0 as u8, &b.1) { a } else { b };
                return Ok(Some((space, key)));
            }
        }
    }
}
