//! Can content like this be in the store? Bits for what fingerprints and digests there have, in memory.
//!
//! Texts that are near differ in three bits of their fingerprints at most, and the same content has the same digest.
//! To look for these takes five searches of the store, nearly all of which find nothing. So it is noted of every
//! text which of the four quarters of its fingerprint it has, as the store's tables are sorted; and, since of many
//! texts some have any quarter, which pairs of fifths: whatever three bits differ, two fifths are the same whole.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::StateError;
use crate::keys;
use crate::store::{Space, Store};

/// Texts, and digests, up to which it is read from the store what they have: a tenth of a second's work.
const MOST_READ: usize = 200_000;

/// The tables of fingerprints, each sorted by a quarter of their bits.
const TABLES: u8 = 4;
/// How many quarters there can be, and how many digests are told apart.
const QUARTERS: usize = 1 << 16;
const DIGESTS: usize = 1 << 22;
/// How many pairs of fifths are told apart while there are few texts, and when there are more: memory that is touched
/// here and there costs a young crawl more than all else that is done for a text.
const PAIRS_OF_FEW: usize = 1 << 23;
const PAIRS_OF_MANY: usize = 1 << 26;
const FEW: usize = 1 << 13;

/// What content in the store may have, shared by all who look for such. It is read when something is first looked for,
/// or comes: a crawl that finds all pages as they were does without.
#[derive(Clone, Default)]
pub(crate) struct Blocks(Arc<OnceLock<Bits>>);

/// A bit for everything that there may be; without bits, anything may.
struct Bits(Option<PolicyNotes>);

/// What is noted of texts and contents.
struct PolicyNotes {
    quarters: BitSet,
    digests: BitSet,
    /// Pairs of fifths while there are few texts, and the texts that they are of.
    few: BitSet,
    texts: Mutex<Vec<u64>>,
    /// Those of all texts once there are many.
    many: OnceLock<BitSet>,
}

/// A set of small numbers.
struct BitSet(Box<[AtomicU64]>);

impl Blocks {
    /// A text with this fingerprint is on its way into `store`.
    pub(crate) fn add_print<S: Store>(&self, store: &S, simhash: u64) {
        self.of(store).note(|noted| noted.add_print(simhash));
    }

    /// Content with this digest is.
    pub(crate) fn add_digest<S: Store>(&self, store: &S, digest: &[u8; 20]) {
        self.of(store).note(|noted| noted.digests.add(digest_block(digest)));
    }

    /// The tables of `store` in which a text may be that is near one with this fingerprint.
    pub(crate) fn near<S: Store>(&self, store: &S, simhash: u64) -> impl Iterator<Item = u8> {
        let bits = self.of(store);
        let has_quarter =
            move |table: &u8| bits.allow(|noted| noted.quarters.has(quarter(*table, simhash)));
        // Quarters first: they are fewer, and of a young crawl tell as much.
        let may_be = (0..TABLES).any(|table| has_quarter(&table))
            && bits.allow(|noted| noted.has_pair(simhash));
        (0..TABLES).filter(move |table| may_be && has_quarter(table))
    }

    /// Whether content in the store may have this digest. Where the rest was not read, it is not read for this.
    pub(crate) fn may_have_digest(&self, digest: &[u8; 20]) -> bool {
        let allows = |bits: &Bits| bits.allow(|noted| noted.digests.has(digest_block(digest)));
        self.0.get().is_none_or(allows)
    }

    /// Whatever came since the store was opened was added here, so what is committed is the rest.
    fn of<S: Store>(&self, store: &S) -> &Bits {
        self.0.get_or_init(|| Bits::read(store).unwrap_or(Bits(None)))
    }
}

impl Bits {
    /// Those of the content in the store; none, where that is much.
    fn read<S: Store>(store: &S) -> Result<Self, StateError> {
        let noted = PolicyNotes::nothing();
        // Every text is in every table.
        let (prints, end) = (keys::fingerprint(0, 0), keys::fingerprint(1, 0));
        let prints = read_keys(store, (&prints, &end), |key| {
            noted.add_print(keys::parse_fingerprint(key).ok_or_else(|| keys::bad("print"))?);
            Ok(())
        })?;
        let (digests, end) = (keys::digest(&[0; 20]), [keys::digest(&[0xff; 20])[0] + 1]);
        let digests = read_keys(store, (&digests, &end), |key| {
            let digest = keys::parse_digest(key).ok_or_else(|| keys::bad("digest"))?;
            noted.digests.add(digest_block(digest));
            Ok(())
        })?;
        Ok(Bits((prints.max(digests) <= MOST_READ).then_some(noted)))
    }

    fn note(&self, note: impl FnOnce(&PolicyNotes)) {
        if let Some(noted) = &self.0 {
            note(noted);
        }
    }

    /// Whether there may be what is asked for.
    fn allow(&self, has: impl FnOnce(&PolicyNotes) -> bool) -> bool {
        self.0.as_ref().is_none_or(has)
    }
}

impl PolicyNotes {
    fn nothing() -> Self {
        PolicyNotes {
            quarters: BitSet::below(TABLES as usize * QUARTERS),
            digests: BitSet::below(DIGESTS),
            few: BitSet::below(PAIRS_OF_FEW),
            texts: Mutex::default(),
            many: OnceLock::new(),
        }
    }

    fn add_print(&self, simhash: u64) {
        (0..TABLES).for_each(|table| self.quarters.add(quarter(table, simhash)));
        if let Some(many) = self.many.get() {
            return many.add_pairs(simhash);
        }
        let mut texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        texts.push(simhash);
        if texts.len() <= FEW {
            return self.few.add_pairs(simhash);
        }
        // Whoever looks must not find it before all texts are in it.
        self.many.get_or_init(|| {
            let many = BitSet::below(PAIRS_OF_MANY);
            texts.drain(..).for_each(|simhash| many.add_pairs(simhash));
            many
        });
    }

    /// Whether any text has two fifths of this fingerprint.
    fn has_pair(&self, simhash: u64) -> bool {
        self.many.get().unwrap_or(&self.few).has_pair(simhash)
    }
}

impl BitSet {
    /// Room for numbers below `end`.
    fn below(end: usize) -> Self {
        BitSet(bytemuck::zeroed_slice_box(end / 64))
    }

    fn add(&self, number: usize) {
        self.0[number / 64].fetch_or(1 << (number % 64), Ordering::Relaxed);
    }

    fn has(&self, number: usize) -> bool {
        self.0[number / 64].load(Ordering::Relaxed) >> (number % 64) & 1 == 1
    }

    fn add_pairs(&self, simhash: u64) {
        pairs(simhash, self.room()).for_each(|pair| self.add(pair));
    }

    fn has_pair(&self, simhash: u64) -> bool {
        pairs(simhash, self.room()).any(|pair| self.has(pair))
    }

    /// How many numbers there is room for.
    fn room(&self) -> usize {
        64 * self.0.len()
    }
}

/// Hears some keys of the content, one more than [`MOST_READ`] at most, and says how many there were.
fn read_keys<S: Store>(
    store: &S,
    (from, to): (&[u8], &[u8]),
    mut hear: impl FnMut(&[u8]) -> Result<(), StateError>,
) -> Result<usize, StateError> {
    let mut read = 0;
    for row in store.scan(Space::Content, from, to).take(MOST_READ + 1) {
        hear(&row?.0)?;
        read += 1;
    }
    Ok(read)
}

fn quarter(table: u8, simhash: u64) -> usize {
    let block = simhash.rotate_left(16 * u32::from(table)) >> 48;
    usize::from(table) * QUARTERS + block as usize
}

/// The pairs of fifths that a fingerprint has, each as a number below `end`, a power of two.
fn pairs(simhash: u64, end: usize) -> impl Iterator<Item = usize> {
    /// The first bit of each fifth, and the end.
    const CUTS: [u32; 6] = [0, 13, 26, 39, 52, 64];
    let mask = |fifth: usize| ((1u64 << (CUTS[fifth + 1] - CUTS[fifth])) - 1) << CUTS[fifth];
    let pairs = (0..5).flat_map(|first| (first + 1..5).map(move |second| (first, second)));
    pairs.map(move |(first, second)| {
        let both = simhash & (mask(first) | mask(second));
        // The fifths that are left out are told apart by another factor for each pair.
        let factor = 0x9e37_79b9_7f4a_7c15 ^ (((first * 5 + second) as u64) << 32);
        (both.wrapping_mul(factor) >> (64 - end.ilog2())) as usize
    })
}

fn digest_block(&[a, b, c, ..]: &[u8; 20]) -> usize {
    u32::from_le_bytes([a, b, c, 0]) as usize % DIGESTS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{MemoryStore, Overlay};
    use proptest::prelude::*;

    /// A store with nothing but these keys of content.
    fn store<K: AsRef<[u8]>>(keys: impl IntoIterator<Item = K>) -> MemoryStore {
        let (store, mut rows) = (MemoryStore::default(), Overlay::default());
        keys.into_iter().for_each(|key| rows.put(Space::Content, key.as_ref(), b""));
        store.commit(&rows).unwrap();
        store
    }

    fn empty() -> MemoryStore {
        store::<&[u8]>([])
    }

    proptest! {
        #[test]
        fn what_is_there_is_never_hidden(
            simhash: u64, flips in prop::collection::vec(0..64u32, 0..4), digest: [u8; 20],
        ) {
            let near = flips.iter().fold(simhash, |bits, flip| bits ^ 1 << flip);
            let (nothing, added) = (empty(), Blocks::default());
            prop_assert!(added.may_have_digest(&digest), "nothing was read yet");
            prop_assert!(added.near(&nothing, near).next().is_none());
            prop_assert!(!added.may_have_digest(&digest));
            added.add_print(&nothing, simhash);
            added.add_digest(&nothing, &digest);
            let prints = (0..TABLES).map(|table| keys::fingerprint(table, simhash).to_vec());
            let full = store(prints.chain([keys::digest(&digest).to_vec()]));
            for (blocks, store) in [(added, nothing), (Blocks::default(), full)] {
                let found: Vec<u8> = blocks.near(&store, near).collect();
                let same = |table: &u8| quarter(*table, near) == quarter(*table, simhash);
                prop_assert_eq!(&found, &(0..TABLES).filter(same).collect::<Vec<_>>());
                prop_assert!(!found.is_empty() && blocks.may_have_digest(&digest));
            }
        }
    }

    fn scattered(n: u64) -> u64 {
        n.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31).wrapping_mul(0xd134_2543_de82_ef95)
    }

    #[test]
    fn few_of_many_texts_are_looked_for() {
        let (store, blocks) = (empty(), Blocks::default());
        let looked_for = |n: &u64| blocks.near(&store, scattered(*n)).next().is_some();
        let share = || (50_000..60_000).filter(looked_for).count() as f64 / 1e4;
        (0..FEW as u64).for_each(|n| blocks.add_print(&store, scattered(n)));
        // Each of ten pairs is there by chance with one in 103: 9 %, and one of the quarters with 41 %.
        assert!((0.02..0.06).contains(&share()), "{}", share());
        (FEW as u64..50_000).for_each(|n| blocks.add_print(&store, scattered(n)));
        // Now with one in 134: 7 %. By quarters alone it were 95 %.
        assert!((0.04..0.1).contains(&share()), "{}", share());
        assert!((0..50_000).all(|n| blocks.near(&store, scattered(n) ^ 7).count() >= 3));
    }

    #[test]
    fn where_there_is_much_anything_may_be() {
        let store = store((0..=MOST_READ as u64).map(|n| keys::fingerprint(0, scattered(n))));
        let blocks = Blocks::default();
        assert!((0..1 << 16).all(|n| blocks.near(&store, scattered(!n)).count() == 4));
        assert!(blocks.may_have_digest(&[7; 20]));
    }
}
