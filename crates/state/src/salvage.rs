//! What can still be read of a space that has damaged places?
//!
//! A scan ends at the first place that cannot be read. Where it can go on is found by halving the
//! keys that come after, so that only what lies in the damaged place itself is passed over.

use crate::StateError;
use crate::layers::Layers;
use crate::store::{Slice, Space, Store};

/// Bytes of a key that are told apart when the end of a damaged place is looked for.
const WIDTH: usize = 32;
type Key = [u8; WIDTH];

/// Every readable row with `from <= key < to`, in order; `damaged` hears of each place that is not.
pub(crate) fn for_each<S: Store>(
    layers: &Layers<S>,
    space: Space,
    (from, to): (&[u8], &[u8]),
    mut row: impl FnMut(&Slice, &Slice) -> Result<(), StateError>,
    mut damaged: impl FnMut(&StateError),
) -> Result<(), StateError> {
    let mut from = from.to_vec();
    loop {
        let Some(error) = until_damage(layers, space, &mut from, to, &mut row)? else {
            return Ok(());
        };
        damaged(&error);
        match behind_damage(layers, space, &from, to) {
            Some(next) if next > from => from = next,
            _ => return Ok(()),
        }
    }
}

/// Gives rows from `from` on, which moves along; the error where they cannot be read.
fn until_damage<S: Store>(
    layers: &Layers<S>,
    space: Space,
    from: &mut Vec<u8>,
    to: &[u8],
    row: &mut impl FnMut(&Slice, &Slice) -> Result<(), StateError>,
) -> Result<Option<StateError>, StateError> {
    for read in layers.scan(space, &from.clone(), to) {
        match read {
            Ok((key, value)) => {
                row(&key, &value)?;
                *from = crate::keys::after(&key);
            }
            Err(error) => return Ok(Some(error)),
        }
    }
    Ok(None)
}

/// The first key from which reading continues; `None` when there is none.
fn behind_damage<S: Store>(
    layers: &Layers<S>,
    space: Space,
    from: &[u8],
    to: &[u8],
) -> Option<Vec<u8>> {
    let reads = |key: &Key| layers.scan(space, key, to).next().is_none_or(|row| row.is_ok());
    let start = widened(from);
    let mut bad = start;
    // By steps that double: another damaged place further on must not hide what lies before it.
    let mut good = widened(to);
    for ahead in (0..WIDTH * 8).map_while(|bit| plus(&start, bit)).filter(|key| *key < good) {
        if reads(&ahead) {
            good = ahead;
            break;
        }
        bad = ahead;
    }
    while let Some(middle) = between(&bad, &good) {
        if reads(&middle) {
            good = middle;
        } else {
            bad = middle;
        }
    }
    (good.as_slice() < to).then(|| good.to_vec())
}

/// A key cut or filled up to the width.
fn widened(key: &[u8]) -> Key {
    let mut wide = [0; WIDTH];
    let len = key.len().min(WIDTH);
    wide[..len].copy_from_slice(&key[..len]);
    wide
}

/// The key that is larger by the value of a bit, counted from the end; `None` when there is none.
fn plus(key: &Key, bit: usize) -> Option<Key> {
    let mut sum = *key;
    let last = WIDTH - 1 - bit / 8;
    let (first, over) = sum[last].overflowing_add(1 << (bit % 8));
    sum[last] = first;
    let mut carry = over;
    for byte in sum[..last].iter_mut().rev() {
        (*byte, carry) = byte.overflowing_add(u8::from(carry));
    }
    (!carry).then_some(sum)
}

/// The key halfway between two; `None` when none lies between.
fn between(low: &Key, high: &Key) -> Option<Key> {
    let mut sum = [0u8; WIDTH];
    let mut carry = 0u16;
    for n in (0..WIDTH).rev() {
        let total = u16::from(low[n]) + u16::from(high[n]) + carry;
        sum[n] = total.to_le_bytes()[0];
        carry = total >> 8;
    }
    for byte in &mut sum {
        let whole = carry << 8 | u16::from(*byte);
        *byte = (whole >> 1).to_le_bytes()[0];
        carry = whole & 1;
    }
    (sum > *low && sum < *high).then_some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{MemoryStore, Overlay, Row, WrappedStore};
    use std::sync::Arc;

    /// A store with places that cannot be read, as blocks of a file are.
    struct Damaged {
        sound: MemoryStore,
        places: Vec<(u8, u8)>,
    }

    impl WrappedStore for Damaged {
        type Inner = MemoryStore;

        fn inner(&self) -> &MemoryStore {
            &self.sound
        }

        fn scan<'a>(
            &'a self,
            space: Space,
            from: &[u8],
            to: &[u8],
        ) -> Box<dyn Iterator<Item = Row> + 'a> {
            let bad = |key: u8| self.places.iter().any(|(a, b)| (*a..=*b).contains(&key));
            Box::new(self.sound.scan(space, from, to).map(move |row| {
                let (key, value) = row?;
                if bad(key[0]) {
                    Err(StateError::Store("checksum".into()))
                } else {
                    Ok((key, value))
                }
            }))
        }
    }

    #[test]
    fn everything_but_the_damaged_places_is_read() {
        let mut rows = Overlay::default();
        (1..=200u8).for_each(|n| rows.put(Space::Pages, &[n, 7, n], &[n]));
        for places in [vec![], vec![(1, 1)], vec![(9, 30)], vec![(3, 4), (60, 100), (142, 200)]] {
            let store = Damaged { sound: MemoryStore::default(), places: places.clone() };
            store.sound.commit(&rows).unwrap();
            let layers = Layers::new(Arc::new(store));
            let (mut read, mut told) = (Vec::new(), 0);
            let row = |key: &Slice, _: &Slice| {
                read.push(key[0]);
                Ok(())
            };
            for_each(&layers, Space::Pages, (&[], &[0xff; 4]), row, |_| told += 1).unwrap();
            let bad = |n: &u8| places.iter().any(|(a, b)| (*a..=*b).contains(n));
            let sound: Vec<u8> = (1..=200).filter(|n| !bad(n)).collect();
            assert_eq!((read, told), (sound, places.len()), "{places:?}");
        }
    }

    #[test]
    fn halves_lie_between() {
        let (low, high) = (widened(b"a"), widened(b"b"));
        let middle = between(&low, &high).unwrap();
        assert!(low < middle && middle < high);
        assert_eq!(between(&low, &low), None);
        assert!(between(&[0xfe; WIDTH], &[0xff; WIDTH]).is_some());
        assert_eq!(plus(&[0xff; WIDTH], 0), None);
        assert_eq!(plus(&low, WIDTH * 8 - 8), Some(high));
    }
}
