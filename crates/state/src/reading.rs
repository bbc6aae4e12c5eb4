//! What was committed? A view of the store for readers on other threads.

use std::sync::{Arc, Weak};

use evercrawl_model::{PageKey, Time};

use tracing::debug_span;

use crate::StateError;
use crate::blocks::Blocks;
use crate::codec::{Reader, Writer};
use crate::keys;
use crate::rows::PageRow;
use crate::store::{Overlay, Space, Store};
use crate::view::View;

/// Where content was first seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstSeen {
    /// The page that had it.
    pub page: PageKey,
    /// When it was fetched.
    pub at: Time,
    /// The number of that visit; older rows do not have it.
    pub visit: Option<u64>,
}

/// The committed state, for readers on other threads.
pub struct Reading<S> {
    pub(crate) store: Arc<S>,
    /// Which content can be there, as far as that is known.
    pub(crate) blocks: Option<Blocks>,
}

impl<S> Clone for Reading<S> {
    fn clone(&self) -> Self {
        Reading { store: self.store.clone(), blocks: self.blocks.clone() }
    }
}

/// The same for those who answer others for as long as the process lives: it does not keep a store open that
/// the crawl is done with, since only a store that is closed has nothing to redo when it is opened again.
pub struct CommittedReader<S>(Weak<S>);

impl<S: Store> CommittedReader<S> {
    /// Everything that was committed, while the crawl runs.
    pub fn view(&self) -> Result<View<S>, StateError> {
        View::open(self.0.upgrade().ok_or(StateError::Ended)?)
    }
}

impl<S: Store> Reading<S> {
    /// For those who may outlive the crawl.
    pub fn committed_reader(&self) -> CommittedReader<S> {
        CommittedReader(Arc::downgrade(&self.store))
    }

    /// How many candidates of one table of the near-duplicate index are looked at.
    const CANDIDATES: usize = 256;

    /// Everything that was committed.
    pub fn view(&self) -> Result<View<S>, StateError> {
        View::open(self.store.clone())
    }

    /// Where content with this digest was first seen.
    pub fn first_seen(&self, digest: &[u8; 20]) -> Result<Option<FirstSeen>, StateError> {
        if self.blocks.as_ref().is_some_and(|blocks| !blocks.may_have_digest(digest)) {
            return Ok(None);
        }
        let row = self.store.get(Space::Content, &keys::digest(digest))?;
        row.map(|row| decode_first_seen(&row)).transpose()
    }

    /// A page whose text is within `distance` bits of this fingerprint.
    pub fn near(&self, simhash: u64, distance: u32) -> Result<Option<PageKey>, StateError> {
        let tables: Vec<u8> = match &self.blocks {
            Some(blocks) => blocks.near(&*self.store, simhash).collect(),
            None => (0..4).collect(),
        };
        for table in tables {
            let from = keys::fingerprint(table, simhash);
            let (low, high) = block_bounds(from);
            for row in self.store.scan(Space::Content, &low, &high).take(Self::CANDIDATES) {
                let (key, page) = row?;
                let found =
                    keys::parse_fingerprint(&key).ok_or_else(|| keys::bad("fingerprint"))?;
                if (found ^ simhash).count_ones() <= distance {
                    return Ok(PageKey::from_bytes(&page));
                }
            }
        }
        Ok(None)
    }

    /// The URL of the page at `key`.
    pub fn url(&self, key: PageKey) -> Result<Option<String>, StateError> {
        let row = self.store.get(Space::Pages, &key.to_bytes())?;
        row.map(|row| PageRow::url_of(&row).map(str::to_owned)).transpose()
    }

    /// Commits a frozen part.
    pub fn commit(&self, frozen: &Overlay) -> Result<(), StateError> {
        let _span = debug_span!("commit rows", rows = frozen.len()).entered();
        self.store.commit(frozen)
    }
}

/// All keys that share the table and its sixteen bits.
fn block_bounds(key: [u8; 10]) -> ([u8; 10], [u8; 11]) {
    let (mut low, mut high) = ([0; 10], [0xff; 11]);
    low[..4].copy_from_slice(&key[..4]);
    high[..4].copy_from_slice(&key[..4]);
    (low, high)
}

/// Rows of this format have the number of the visit.
pub(crate) const FIRST_SEEN: u8 = 2;

pub(crate) fn encode_first_seen(page: PageKey, at: Time, visit: u64) -> Vec<u8> {
    let mut out = Writer::new(FIRST_SEEN);
    out.page(page);
    out.time(at);
    out.number(visit);
    out.finish()
}

pub(crate) fn decode_first_seen(row: &[u8]) -> Result<FirstSeen, StateError> {
    let numbered = row.first() == Some(&FIRST_SEEN);
    let mut row = Reader::new(row, if numbered { FIRST_SEEN } else { 1 })?;
    let (page, at) = (row.page()?, row.time()?);
    let visit = if numbered { Some(row.number()?) } else { None };
    Ok(FirstSeen { page, at, visit })
}
