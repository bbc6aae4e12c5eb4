//! Where do rows live? An ordered key-value space with one atomic commit, on disk or in memory.
//!
//! - [`disk`]: the store that a crawl writes to.
//! - [`resting`]: how is one read that is not written to?
//! - [`memory`]: the store of tests, simulations and dry runs.
//! - [`wrapped`]: what does a store do that stands before another one?

mod disk;
mod memory;
mod resting;
mod wrapped;

use std::collections::BTreeMap;
use std::ops::Bound;

use fjall::CompressionType;
pub use fjall::Slice;

use crate::StateError;

pub use self::disk::{DiskStore, StoreLimits};
pub use self::memory::MemoryStore;
pub use self::wrapped::WrappedStore;

/// The spaces that rows are kept in. Few, because each idle one holds on to journal files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// Page rows, by page key.
    Pages,
    /// Which URL each page key stands for, as a hash: small, so that a link can be known without
    /// its row being read.
    Known,
    /// Back queues: what each host has to fetch, in order.
    Queues,
    /// Host rows, front queues, robots.txt copies, counts of URL shapes.
    Hosts,
    /// Which pages each page links to, by page key.
    Links,
    /// The visit log, by sequence number.
    Visits,
    /// Digests and fingerprints of content seen.
    Content,
    /// Counters, archive files, tags, settings fixed at creation.
    Meta,
    /// What speaks of this machine and not of the crawl; no batch names a row of it.
    Machine,
}

impl Space {
    const COUNT: usize = 9;

    /// The spaces whose rows speak of the crawl. Together they are what can be copied to another machine.
    pub const CRAWL: [Space; Self::COUNT - 1] = [
        Space::Pages,
        Space::Known,
        Space::Queues,
        Space::Hosts,
        Space::Links,
        Space::Visits,
        Space::Content,
        Space::Meta,
    ];

    const ALL: [Space; Self::COUNT] = {
        let [a, b, c, d, e, f, g, h] = Self::CRAWL;
        [a, b, c, d, e, f, g, h, Space::Machine]
    };

    /// Its name on disk.
    pub fn name(self) -> &'static str {
        match self {
            Space::Pages => "pages",
            Space::Known => "known",
            Space::Queues => "queues",
            Space::Hosts => "hosts",
            Space::Links => "links",
            Space::Visits => "visits",
            Space::Content => "content",
            Space::Meta => "meta",
            Space::Machine => "machine",
        }
    }

    /// Whether nearly all that is asked for is there: then a filter of what is not would be read for nothing.
    fn is_asked_for_what_it_has(self) -> bool {
        matches!(self, Space::Pages | Space::Known)
    }

    /// Hashes do not compress, unless the same ones stand on page after page, as those of menus do.
    fn compression(self) -> CompressionType {
        if self == Space::Known { CompressionType::None } else { CompressionType::Lz4 }
    }
}

/// A row, or an error of the disk under it.
pub type Row = Result<(Slice, Slice), StateError>;

/// An ordered key-value space with atomic commits.
pub trait Store: Send + Sync {
    /// The value at `key`.
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Slice>, StateError>;

    /// Rows with `from <= key < to`, in order.
    fn scan<'a>(
        &'a self,
        space: Space,
        from: &[u8],
        to: &[u8],
    ) -> Box<dyn Iterator<Item = Row> + 'a>;

    /// Writes all of `changes` or nothing; returns when it will survive a power cut.
    fn commit(&self, changes: &Overlay) -> Result<(), StateError>;

    /// Brings what was committed into its final form, so that the next open has nothing to redo.
    fn settle(&self) -> Result<(), StateError>;

    /// Merges everything into one sorted run: after much was added at once, so that the next run
    /// does not pay for it.
    fn merge(&self) -> Result<(), StateError>;

    /// Begins to write many rows of `space` at once, past the journal.
    fn loading(&self, space: Space) -> Result<Box<dyn Loading + '_>, StateError>;

    /// Bytes on disk, as far as they are known.
    fn disk_bytes(&self) -> u64;
}

/// Rows on their way into a store. What is dropped unfinished leaves nothing behind.
pub trait Loading {
    /// Takes the next row. Keys must rise.
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), StateError>;

    /// Lets all rows be seen at once; returns when they will survive a power cut.
    fn finish(self: Box<Self>) -> Result<(), StateError>;
}

/// Changes on top of a store: not yet committed, but visible to those who read through them.
#[derive(Debug, Default)]
pub struct Overlay {
    spaces: [BTreeMap<Slice, Option<Slice>>; Space::COUNT],
}

impl Overlay {
    /// Sets `key` to `value`.
    pub fn put(&mut self, space: Space, key: &[u8], value: &[u8]) {
        self.spaces[space as usize].insert(Slice::from(key), Some(Slice::from(value)));
    }

    /// Removes `key`.
    pub fn remove(&mut self, space: Space, key: &[u8]) {
        self.spaces[space as usize].insert(Slice::from(key), None);
    }

    /// What this says of `key`: `None` nothing, `Some(None)` that it was removed.
    pub fn get(&self, space: Space, key: &[u8]) -> Option<&Option<Slice>> {
        self.spaces[space as usize].get(key)
    }

    /// The changed keys of a space, in order.
    pub(crate) fn rows(&self, space: Space) -> &BTreeMap<Slice, Option<Slice>> {
        &self.spaces[space as usize]
    }

    /// Number of changed keys.
    pub fn len(&self) -> usize {
        self.spaces.iter().map(BTreeMap::len).sum()
    }

    /// True when nothing changed.
    pub fn is_empty(&self) -> bool {
        self.spaces.iter().all(BTreeMap::is_empty)
    }

    pub(crate) fn range<'a>(
        &'a self,
        space: Space,
        from: &[u8],
        to: &[u8],
    ) -> impl Iterator<Item = (&'a Slice, &'a Option<Slice>)> + use<'a> {
        // An empty range is asked for as from > to, which BTreeMap refuses.
        let to = if to < from { from } else { to };
        self.spaces[space as usize].range::<[u8], _>((Bound::Included(from), Bound::Excluded(to)))
    }
}
