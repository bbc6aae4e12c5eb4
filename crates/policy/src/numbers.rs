//! How is a value found by its number, fast?

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};

use crate::persist::Persist;

/// A table by number: of a host, a directory, a group.
///
/// A policy reads several of them per fetch, and the standard hash took an eighth of its time.
pub(crate) type ByNumber<T, K = u32> = HashMap<K, T, Multiplier>;

/// A table by number for large or many entries: they are stored in a row, and only their indices are looked up. So
/// the part with random access stays small enough for the processor's cache.
#[derive(Clone, Debug)]
pub(crate) struct Dense<T> {
    places: Places,
    numbers: Vec<u32>,
    entries: Vec<T>,
}

/// The index of each number's entry.
///
/// Hosts and directories that are counted have low numbers; hashed names rarely do. The indices of low numbers are in
/// an array, the others are hashed.
#[derive(Clone, Debug, Default)]
struct Places {
    /// By number; [`NOWHERE`] where there is no entry.
    low: Vec<u32>,
    high: ByNumber<u32>,
}

/// Which numbers count as low. Few enough that the array is small even if a hash hits one by chance.
const LOW: u32 = 1 << 17;

const NOWHERE: u32 = u32::MAX;

impl Places {
    fn get(&self, number: u32) -> Option<usize> {
        let place =
            if number < LOW { self.low.get(number as usize) } else { self.high.get(&number) };
        place.filter(|&&place| place != NOWHERE).map(|&place| place as usize)
    }

    fn set(&mut self, number: u32, place: usize) {
        let row = number as usize + 1;
        if number >= LOW {
            self.high.insert(number, place as u32);
            return;
        }
        if self.low.len() < row {
            self.low.resize(row, NOWHERE);
        }
        self.low[row - 1] = place as u32;
    }

    fn clear(&mut self) {
        self.low.clear();
        self.high.clear();
    }
}

impl<T> Default for Dense<T> {
    fn default() -> Self {
        Dense { places: Places::default(), numbers: Vec::new(), entries: Vec::new() }
    }
}

impl<T> Dense<T> {
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn get(&self, number: u32) -> Option<&T> {
        self.places.get(number).map(|place| &self.entries[place])
    }

    /// The entry of `number`, created if there is none.
    pub(crate) fn get_or_insert(&mut self, number: u32, make: impl FnOnce() -> T) -> &mut T {
        let place = self.places.get(number).unwrap_or_else(|| {
            self.places.set(number, self.entries.len());
            self.numbers.push(number);
            self.entries.push(make());
            self.entries.len() - 1
        });
        &mut self.entries[place]
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.entries.iter_mut()
    }

    /// Removes the entries that `keep` rejects.
    pub(crate) fn retain(&mut self, keep: impl Fn(&T) -> bool) {
        let all =
            std::mem::take(&mut self.numbers).into_iter().zip(std::mem::take(&mut self.entries));
        self.places.clear();
        for (number, entry) in all.filter(|(_, entry)| keep(entry)) {
            self.get_or_insert(number, || entry);
        }
    }
}

impl<T: Persist> Persist for Dense<T> {
    fn write(&self, out: &mut Vec<u8>) {
        (self.entries.len() as u64).write(out);
        for (number, entry) in self.numbers.iter().zip(&self.entries) {
            number.write(out);
            entry.write(out);
        }
    }

    fn read(from: &mut &[u8]) -> Option<Self> {
        let mut table = Dense::default();
        for _ in 0..u64::read(from)? {
            let (number, entry) = (u32::read(from)?, T::read(from)?);
            table.get_or_insert(number, || entry);
        }
        Some(table)
    }
}

/// Hashes numbers by one multiplication. The factor is random for each table: a server chooses the names of its
/// directories and must not know which of them collide. Nothing else depends on it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Multiplier(u64);

impl Default for Multiplier {
    fn default() -> Self {
        Multiplier(RandomState::new().hash_one(0) | 1)
    }
}

impl BuildHasher for Multiplier {
    type Hasher = Product;

    fn build_hasher(&self) -> Product {
        Product { factor: self.0, value: 0 }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Product {
    factor: u64,
    value: u64,
}

impl Product {
    fn take(&mut self, number: u64) {
        self.value = (self.value.rotate_left(32) ^ number).wrapping_mul(self.factor);
    }
}

impl Hasher for Product {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u8(byte));
    }

    fn write_u8(&mut self, number: u8) {
        self.take(number.into());
    }

    fn write_u32(&mut self, number: u32) {
        self.take(number.into());
    }

    /// The high half of a product is well mixed, but a table uses the low end. So multiply once more, by a factor
    /// with many bits set, since the random one may have few.
    fn finish(&self) -> u64 {
        let mixed = (self.value ^ self.value >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ mixed >> 32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// In a row, and in steps as directories and sections have them, by any factor.
    #[test]
    fn numbers_spread_over_a_table() {
        for draw in 0..200 {
            let hash = Multiplier::default();
            for step in [1, 8, 1000, 1 << 12, 1 << 16] {
                let place = |number: u32| hash.hash_one(number.wrapping_mul(step)) % 4096;
                let places: HashSet<u64> = (0..4096).map(place).collect();
                assert!(places.len() > 1000, "{step} by {hash:?}, draw {draw}: {}", places.len());
            }
        }
    }

    #[test]
    fn a_table_finds_what_was_put_in() {
        let mut table: ByNumber<u32> = ByNumber::default();
        (0..10_000).for_each(|number| assert_eq!(table.insert(number * 4096, number), None));
        assert!((0..10_000).all(|number| table.get(&(number * 4096)) == Some(&number)));
    }

    #[test]
    fn what_is_left_out_of_a_dense_table_is_gone_and_the_rest_is_read_again() {
        let name = |number: u32| if number < 50 { number * 7 } else { number * 40_000_000 };
        let mut table: Dense<u32> = Dense::default();
        (0..100).for_each(|number| *table.get_or_insert(name(number), || 0) += number);
        table.retain(|entry| entry.is_multiple_of(2));
        let mut bytes = Vec::new();
        table.write(&mut bytes);
        let again = Dense::<u32>::read(&mut bytes.as_slice()).unwrap();
        for table in [table, again] {
            assert_eq!(table.len(), 50);
            let wanted = |number: u32| number.is_multiple_of(2).then_some(number);
            assert!((0..100).all(|number| table.get(name(number)).copied() == wanted(number)));
        }
        assert!(Dense::<u32>::read(&mut &bytes[..bytes.len() - 1]).is_none());
    }
}
