//! How is a policy's evidence encoded, and read again after a restart?
//!
//! Plain little-endian numbers in a row. The caller makes sure that the bytes are intact; evidence that cannot be
//! read is dropped, since a policy can learn it again.

use std::hash::{BuildHasher, Hash};

use evercrawl_estimate::signal::{SignalSources, SourceTrust};
use evercrawl_estimate::{Gamma, GroupRates};

/// A value that can be encoded and read again.
pub(crate) trait Persist: Sized {
    fn write(&self, out: &mut Vec<u8>);

    /// `None` where it cannot be read.
    fn read(from: &mut &[u8]) -> Option<Self>;
}

/// Numbers of fixed size.
macro_rules! number {
    ($($kind:ty),*) => {$(
        impl Persist for $kind {
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

impl Persist for bool {
    fn write(&self, out: &mut Vec<u8>) {
        u8::from(*self).write(out);
    }

    fn read(from: &mut &[u8]) -> Option<Self> {
        Some(u8::read(from)? != 0)
    }
}

/// Implements the trait for a struct, field by field.
macro_rules! persist_fields {
    ($kind:ident { $($field:ident),* $(,)? }) => {
        impl $crate::persist::Persist for $kind {
            fn write(&self, out: &mut Vec<u8>) {
                $(self.$field.write(out);)*
            }

            fn read(from: &mut &[u8]) -> Option<Self> {
                Some($kind { $($field: $crate::persist::Persist::read(from)?),* })
            }
        }
    };
}

pub(crate) use persist_fields;

persist_fields!(SourceTrust {
    signals,
    true_signals,
    false_signals,
    unsignalled_changes,
    expected_changes,
    quiet
});
persist_fields!(GroupRates { pages, sum });

impl Persist for SignalSources {
    fn write(&self, out: &mut Vec<u8>) {
        self.0.write(out);
    }

    fn read(from: &mut &[u8]) -> Option<Self> {
        Some(SignalSources(Persist::read(from)?))
    }
}

impl Persist for Gamma {
    fn write(&self, out: &mut Vec<u8>) {
        self.shape().write(out);
        self.rate().write(out);
    }

    fn read(from: &mut &[u8]) -> Option<Self> {
        let (shape, rate) = (f64::read(from)?, f64::read(from)?);
        (shape > 0.0 && rate > 0.0).then(|| Gamma::new(shape, rate))
    }
}

/// Most elements are 0: only the others are written, each after its index.
impl<T: Persist + Default + Copy + PartialEq, const N: usize> Persist for [T; N] {
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

impl<K: Persist + Eq + Hash, T: Persist, S: BuildHasher + Default> Persist
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

    fn again<T: Persist>(value: &T) -> Option<T> {
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
        let trust = SourceTrust { signals: 3.0, quiet: 0.5, ..SourceTrust::default() };
        let signal_sources = SignalSources([SourceTrust::default(), trust, SourceTrust::default()]);
        assert_eq!(again(&signal_sources), Some(signal_sources));
    }
}
