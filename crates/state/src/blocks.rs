//! Can content like this be in the store? A bit for each block of bits that some fingerprint or digest has.
//!
//! Texts that are near share one of the four blocks of their fingerprints, and the same content has the same
//! digest. To look for these takes five searches of the store, and while a crawl has met some ten thousand
//! texts, nearly all of them find nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::StateError;
use crate::keys;
use crate::layers::Layers;
use crate::store::{Space, Store};

/// Rows of fingerprints and of digests up to which it is read which blocks they have.
const MOST_READ: usize = 4 * 4096;

/// The tables of fingerprints, each sorted by a block of sixteen bits.
const TABLES: u8 = 4;
/// How many blocks a table has, and how many digests are told apart.
const PRINTS: usize = 1 << 16;
const DIGESTS: usize = 1 << 20;

/// Blocks that content in the store may have, shared by all who look for such.
#[derive(Clone)]
pub(crate) struct Blocks(Arc<[AtomicU64]>);

impl Blocks {
    /// Those of the content in the store; all, where that is much.
    pub(crate) fn read<S: Store>(layers: &Layers<S>) -> Result<Self, StateError> {
        let words = (TABLES as usize * PRINTS + DIGESTS) / 64;
        let blocks = Blocks((0..words).map(|_| AtomicU64::new(0)).collect());
        let (prints, end) = (keys::fingerprint(0, 0), keys::fingerprint(TABLES, 0));
        let mut read = 0;
        for row in layers.scan(Space::Content, &prints, &end).take(MOST_READ + 1) {
            blocks.add_print(keys::parse_fingerprint(&row?.0).ok_or_else(|| keys::bad("print"))?);
            read += 1;
        }
        let (digests, end) = (keys::digest(&[0; 20]), [keys::digest(&[0xff; 20])[0] + 1]);
        for row in layers.scan(Space::Content, &digests, &end).take(MOST_READ + 1 - read) {
            blocks.add_digest(keys::parse_digest(&row?.0).ok_or_else(|| keys::bad("digest"))?);
            read += 1;
        }
        if read > MOST_READ {
            blocks.0.iter().for_each(|word| word.store(u64::MAX, Ordering::Relaxed));
        }
        Ok(blocks)
    }

    /// A text with this fingerprint is on its way into the store.
    pub(crate) fn add_print(&self, simhash: u64) {
        (0..TABLES).for_each(|table| self.add(print_block(table, simhash)));
    }

    /// Content with this digest is.
    pub(crate) fn add_digest(&self, digest: &[u8; 20]) {
        self.add(digest_block(digest));
    }

    /// Whether a text in the store may have the block of this fingerprint that `table` is sorted by.
    pub(crate) fn may_have_print(&self, table: u8, simhash: u64) -> bool {
        self.has(print_block(table, simhash))
    }

    /// Whether content in the store may have this digest.
    pub(crate) fn may_have_digest(&self, digest: &[u8; 20]) -> bool {
        self.has(digest_block(digest))
    }

    fn add(&self, block: usize) {
        self.0[block / 64].fetch_or(1 << (block % 64), Ordering::Relaxed);
    }

    fn has(&self, block: usize) -> bool {
        self.0[block / 64].load(Ordering::Relaxed) >> (block % 64) & 1 == 1
    }
}

fn print_block(table: u8, simhash: u64) -> usize {
    let block = simhash.rotate_left(16 * u32::from(table)) >> 48;
    usize::from(table) * PRINTS + block as usize
}

fn digest_block(&[a, b, c, ..]: &[u8; 20]) -> usize {
    usize::from(TABLES) * PRINTS + u32::from_le_bytes([a, b, c, 0]) as usize % DIGESTS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::MemoryStore;
    use proptest::prelude::*;

    fn read(layers: &Layers<MemoryStore>) -> Blocks {
        Blocks::read(layers).unwrap()
    }

    fn put(layers: &mut Layers<MemoryStore>, simhash: u64) {
        for table in 0..TABLES {
            layers.put(Space::Content, &keys::fingerprint(table, simhash), b"");
        }
    }

    proptest! {
        #[test]
        fn what_is_there_is_never_hidden(
            simhash: u64, flips in prop::collection::vec(0..64u32, 0..4), digest: [u8; 20],
        ) {
            let near = flips.iter().fold(simhash, |bits, flip| bits ^ 1 << flip);
            let mut layers = Layers::new(Arc::new(MemoryStore::default()));
            let added = read(&layers);
            let nothing = (0..TABLES).all(|table| !added.may_have_print(table, near));
            prop_assert!(nothing && !added.may_have_digest(&digest));
            added.add_print(simhash);
            added.add_digest(&digest);
            put(&mut layers, simhash);
            layers.put(Space::Content, &keys::digest(&digest), b"");
            for blocks in [added, read(&layers)] {
                prop_assert!((0..TABLES).any(|table| blocks.may_have_print(table, near)));
                prop_assert!(blocks.may_have_digest(&digest));
            }
        }
    }

    #[test]
    fn where_there_is_much_anything_may_be() {
        let mut layers = Layers::new(Arc::new(MemoryStore::default()));
        let scattered = |n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (0..=MOST_READ as u64 / 4).for_each(|n| put(&mut layers, scattered(n)));
        let blocks = read(&layers);
        let anything = |n: u64| (0..TABLES).all(|table| blocks.may_have_print(table, scattered(n)));
        assert!((0..1 << 16).all(anything) && blocks.may_have_digest(&[7; 20]));
    }
}
