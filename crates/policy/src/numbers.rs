//! How is something found by its number, fast?

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};

/// A table by number: of a host, a directory, a group.
///
/// A policy looks into several at every fetch, and the standard hash took an eighth of its time.
pub(crate) type ByNumber<T, K = u32> = HashMap<K, T, Multiplier>;

/// Hashes numbers by one multiplication. The factor is drawn for each table, as a server chooses the
/// names of its directories and must not know which of them collide. Nothing else depends on it.
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

    /// The high half of a product is well mixed, and a table takes its place from the low end. Once more
    /// by a factor of many bits, since the one drawn may have few.
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
}
