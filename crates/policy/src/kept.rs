//! How is what a policy learned written down, and read again after a restart?
//!
//! Plain numbers one after the other, little end first. Whoever keeps the bytes sees to it that they
//! come back whole; what cannot be read is given up, since a policy can learn it again.

use std::hash::{BuildHasher, Hash};

use evercrawl_estimate::signal::{SignalSources, Trust};
use evercrawl_estimate::{Gamma, GroupRates};

/// Something that can be written down and read again.
pub(crate) trait Kept: Sized {
    fn write(&self, out: &mut Vec<u8>);

    /// `None` where it cannot be read.
    fn read(from: &mut &[u8]) -> Option<Self>;
}

/// A plain number of so many bytes.
macro_rules! number {
    ($($kind:ty),*) => {$(
        impl Kept for $kind {
            fn write(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }

            fn read(from: &mut &[u8]) -> Option<Self> {
                let (head, rest) = from.split_first_chunk()?;
                *from = rest;
                Some(<$kind>::from_le_bytes(*head))
            }
        }
    )*};
}

number!(u8, u32, u64, i64, f32, f64);

impl Kept for bool {
    fn write(&self, out: &mut Vec<u8>) {
        u8::from(*self).write(out);
    }

    fn read(from: &mut &[u8]) -> Option<Self> {
        Some(u8::read(from)? != 0)
    }
}

/// Lets a struct be kept, field by field.
macro_rules! kept {
    ($kind:ident { $($field:ident),* $(,)? }) => {
        impl $crate::kept::Kept for $kind {
            fn write(&self, out: &mut Vec<u8>) {
                $(self.$field.write(out);)*
            }

            fn read(from: &mut &[u8]) -> Option<Self> {
                Some($kind { $($field: $crate::kept::Kept::read(from)?),* })
            }
        }
    };
}

pub(crate) use kept;

kept!(Trust { words, true_words, false_words, silent_changes, expected_changes, quiet });
kept!(GroupRates { pages, sum });

impl Kept for SignalSources {
    fn write(&self, out: &mut Vec<u8>) {
        self.0.write(out);
    }

    fn read(from: &mut &[u8]) -> Option<Self> {
        Some(SignalSources(Kept::read(from)?))
    }
}

impl Kept for Gamma {
    fn write(&self, out: &mut Vec<u8>) {
        self.shape().write(out);
        self.rate().write(out);
    }

    fn read(from: &mut &[u8]) -> Option<Self> {
        let (shape, rate) = (f64::read(from)?, f64::read(from)?);
        (shape > 0.0 && rate > 0.0).then(|| Gamma::new(shape, rate))
    }
}

/// Most entries are 0: only the others are written, each after its place.
impl<T: Kept + Default + Copy + PartialEq, const N: usize> Kept for [T; N] {
    fn write(&self, out: &mut Vec<u8>) {
        let set = || (0u8..).zip(self).filter(|(_, value)| **value != T::default());
        (set().count() as u8).write(out);
        for (place, value) in set() {
            place.write(out);
            value.write(out);
        }
    }

    fn read(from: &mut &[u8]) -> Option<Self> {
        const { assert!(N < 256) }
        let mut list = [T::default(); N];
        for _ in 0..u8::read(from)? {
            let place = usize::from(u8::read(from)?);
            *list.get_mut(place)? = T::read(from)?;
        }
        Some(list)
    }
}

impl<K: Kept + Eq + Hash, T: Kept, S: BuildHasher + Default> Kept
    for std::collections::HashMap<K, T, S>
{
    fn write(&self, out: &mut Vec<u8>) {
        (self.len() as u64).write(out);
        for (key, value) in self {
            key.write(out);
            value.write(out);
        }
    }

    fn read(from: &mut &[u8]) -> Option<Self> {
        (0..u64::read(from)?).map(|_| Some((K::read(from)?, T::read(from)?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    fn again<T: Kept>(value: &T) -> Option<T> {
        let mut bytes = Vec::new();
        value.write(&mut bytes);
        for cut in 0..bytes.len() {
            assert!(T::read(&mut &bytes[..cut]).is_none(), "cut at {cut}");
        }
        T::read(&mut bytes.as_slice())
    }

    #[test]
    fn what_was_written_is_read_again_and_what_is_cut_is_not() {
        let page = crate::Page { last: 3.0, checks: 7, note: [0.5; 8], ..crate::Page::new(4) };
        assert_eq!(again(&page), Some(page));
        let table = HashMap::from([(7_u32, [0.0_f32, 1.5, 0.0, -2.0]), (9, [0.0; 4])]);
        assert_eq!(again(&table), Some(table));
        let belief = Gamma::new(0.5, 30.0);
        assert_eq!(again(&belief), Some(belief));
        let trust = Trust { words: 3.0, quiet: 0.5, ..Trust::default() };
        let signal_sources = SignalSources([Trust::default(), trust, Trust::default()]);
        assert_eq!(again(&signal_sources), Some(signal_sources));
    }
}
