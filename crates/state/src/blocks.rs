//! Can content like this be in the store? Bits for what fingerprints and digests there have, in memory.
//!
//! Texts that are near differ in three bits of their fingerprints at most, and the same content has the same digest.
//! To look for these takes five searches of the store, nearly all of which find nothing. So it is noted of every
//! text which of the four quarters of its fingerprint it has, as the store's tables are sorted; and, since of many
//! texts some have any quarter, which pairs of fifths: whatever three bits differ, two fifths are the same whole.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::StateError;
use crate::keys;
use crate::layers::Layers;
use crate::store::{Space, Store};

/// Texts, and digests, up to which it is read from the store what they have: a tenth of a second's work.
const MOST_READ: usize = 200_000;

/// The tables of fingerprints, each sorted by a quarter of their bits.
const TABLES: u8 = 4;
/// How many quarters there can be, and how many pairs of fifths and digests are told apart.
const QUARTERS: usize = 1 << 16;
const PAIRS: usize = 1 << 26;
const DIGESTS: usize = 1 << 22;

/// What content in the store may have, shared by all who look for such; without bits, anything.
#[derive(Clone)]
pub(crate) struct Blocks(Option<Arc<Box<[AtomicU64]>>>);

impl Blocks {
    /// Those of the content in the store; any, where that is much.
    pub(crate) fn read<S: Store>(layers: &Layers<S>) -> Result<Self, StateError> {
        let words = (TABLES as usize * QUARTERS + PAIRS + DIGESTS) / 64;
        let blocks = Blocks(Some(Arc::new(bytemuck::zeroed_slice_box(words))));
        // Every text is in every table.
        let (prints, end) = (keys::fingerprint(0, 0), keys::fingerprint(1, 0));
        let prints = read_keys(layers, (&prints, &end), |key| {
            blocks.add_print(keys::parse_fingerprint(key).ok_or_else(|| keys::bad("print"))?);
            Ok(())
        })?;
        let (digests, end) = (keys::digest(&[0; 20]), [keys::digest(&[0xff; 20])[0] + 1]);
        let digests = read_keys(layers, (&digests, &end), |key| {
            blocks.add_digest(keys::parse_digest(key).ok_or_else(|| keys::bad("digest"))?);
            Ok(())
        })?;
        Ok(if prints.max(digests) > MOST_READ { Blocks(None) } else { blocks })
    }

    /// A text with this fingerprint is on its way into the store.
    pub(crate) fn add_print(&self, simhash: u64) {
        (0..TABLES).for_each(|table| self.add(quarter(table, simhash)));
        pairs(simhash).for_each(|pair| self.add(pair));
    }

    /// Content with this digest is.
    pub(crate) fn add_digest(&self, digest: &[u8; 20]) {
        self.add(digest_block(digest));
    }

    /// The tables in which a text may be that is near one with this fingerprint.
    pub(crate) fn near(&self, simhash: u64) -> impl Iterator<Item = u8> {
        let has_quarter = move |table: &u8| self.has(quarter(*table, simhash));
        // Quarters first: they are fewer, and of a young crawl tell as much.
        let may_be = (0..TABLES).any(|table| has_quarter(&table))
            && pairs(simhash).any(|pair| self.has(pair));
        (0..TABLES).filter(move |table| may_be && has_quarter(table))
    }

    /// Whether content in the store may have this digest.
    pub(crate) fn may_have_digest(&self, digest: &[u8; 20]) -> bool {
        self.has(digest_block(digest))
    }

    fn add(&self, block: usize) {
        if let Some(words) = &self.0 {
            words[block / 64].fetch_or(1 << (block % 64), Ordering::Relaxed);
        }
    }

    fn has(&self, block: usize) -> bool {
        let is_set = |word: &AtomicU64| word.load(Ordering::Relaxed) >> (block % 64) & 1 == 1;
        self.0.as_ref().is_none_or(|words| is_set(&words[block / 64]))
    }
}

/// Hears some keys of the content, one more than [`MOST_READ`] at most, and says how many there were.
fn read_keys<S: Store>(
    layers: &Layers<S>,
    (from, to): (&[u8], &[u8]),
    mut hear: impl FnMut(&[u8]) -> Result<(), StateError>,
) -> Result<usize, StateError> {
    let mut read = 0;
    for row in layers.scan(Space::Content, from, to).take(MOST_READ + 1) {
        hear(&row?.0)?;
        read += 1;
    }
    Ok(read)
}

fn quarter(table: u8, simhash: u64) -> usize {
    let block = simhash.rotate_left(16 * u32::from(table)) >> 48;
    usize::from(table) * QUARTERS + block as usize
}

/// Where the pairs of fifths are noted that a fingerprint has.
fn pairs(simhash: u64) -> impl Iterator<Item = usize> {
    /// The first bit of each fifth, and the end.
    const CUTS: [u32; 6] = [0, 13, 26, 39, 52, 64];
    let mask = |fifth: usize| ((1u64 << (CUTS[fifth + 1] - CUTS[fifth])) - 1) << CUTS[fifth];
    let pairs = (0..5).flat_map(|first| (first + 1..5).map(move |second| (first, second)));
    pairs.map(move |(first, second)| {
        let both = simhash & (mask(first) | mask(second));
        // The fifths that are left out are told apart by another factor for each pair.
        let factor = 0x9e37_79b9_7f4a_7c15 ^ (((first * 5 + second) as u64) << 32);
        TABLES as usize * QUARTERS + (both.wrapping_mul(factor) >> (64 - PAIRS.ilog2())) as usize
    })
}

fn digest_block(&[a, b, c, ..]: &[u8; 20]) -> usize {
    TABLES as usize * QUARTERS + PAIRS + u32::from_le_bytes([a, b, c, 0]) as usize % DIGESTS
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
            let nothing = added.near(near).next().is_none();
            prop_assert!(nothing && !added.may_have_digest(&digest));
            added.add_print(simhash);
            added.add_digest(&digest);
            put(&mut layers, simhash);
            layers.put(Space::Content, &keys::digest(&digest), b"");
            for blocks in [added, read(&layers)] {
                let mut same = (0..TABLES).filter(|&table| quarter(table, near) == quarter(table, simhash));
                prop_assert!(same.all(|table| blocks.near(near).any(|found| found == table)));
                prop_assert!(blocks.near(near).next().is_some());
                prop_assert!(blocks.may_have_digest(&digest));
            }
        }
    }

    fn scattered(n: u64) -> u64 {
        n.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31).wrapping_mul(0xd134_2543_de82_ef95)
    }

    #[test]
    fn few_of_many_texts_are_looked_for() {
        let blocks = read(&Layers::new(Arc::new(MemoryStore::default())));
        (0..50_000).for_each(|n| blocks.add_print(scattered(n)));
        let looked_for = (50_000..60_000).filter(|&n| blocks.near(scattered(n)).next().is_some());
        let share = looked_for.count() as f64 / 1e4;
        // Each of ten pairs is there by chance with one in 134: 7 %. By quarters alone it were 91 %.
        assert!((0.04..0.1).contains(&share), "{share}");
    }

    #[test]
    fn where_there_is_much_anything_may_be() {
        let mut layers = Layers::new(Arc::new(MemoryStore::default()));
        (0..=MOST_READ as u64).for_each(|n| {
            layers.put(Space::Content, &keys::fingerprint(0, scattered(n)), b"");
        });
        let blocks = read(&layers);
        assert!((0..1 << 16).all(|n| blocks.near(scattered(!n)).count() == 4));
        assert!(blocks.may_have_digest(&[7; 20]));
    }
}
