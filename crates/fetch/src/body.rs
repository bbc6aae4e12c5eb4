//! How is a body held? In the pieces in which it came: who reads it as a whole puts them together in memory that
//! serves for one
//! page after another, where each body as a whole would be memory of its own.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};

use crate::body_memory::MemoryShare;

/// A piece of fewer bytes is put to the next ones: it would keep all of the buffer that it came in.
const LEAST_HELD: usize = 16 * 1024;

/// A body. Copies share it.
#[derive(Clone, Debug, Default)]
pub struct Body(Arc<Pieces>);

/// A body as it comes in.
#[derive(Debug, Default)]
pub(crate) struct Pieces {
    held: Vec<Bytes>,
    /// Small pieces, put together, that came after those.
    small: BytesMut,
    length: usize,
    /// Its share of the memory for large bodies, until the last holder drops it.
    share: MemoryShare,
}

impl Body {
    /// How many bytes it has.
    pub fn len(&self) -> usize {
        self.0.length
    }

    /// True when it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What it is made of, in order.
    pub fn pieces(&self) -> impl Iterator<Item = &[u8]> + Clone {
        self.0.held.iter().map(AsRef::as_ref).chain([self.0.small.as_ref()])
    }

    /// All of it in one piece: a copy, unless it came in one.
    pub fn whole(&self) -> Cow<'_, [u8]> {
        match &self.0.held[..] {
            [one] if self.0.small.is_empty() => one.as_ref().into(),
            [] => self.0.small.as_ref().into(),
            _ => self.pieces().collect::<Vec<_>>().concat().into(),
        }
    }
}

impl Pieces {
    /// How many bytes came so far.
    pub(crate) fn len(&self) -> usize {
        self.length
    }

    /// Its part of the room for large bodies.
    pub(crate) fn share(&mut self) -> &mut MemoryShare {
        &mut self.share
    }

    /// Adds a piece. The first one is stored however small, since it usually is the whole body.
    pub(crate) fn add(&mut self, piece: Bytes) {
        self.length += piece.len();
        if piece.len() >= LEAST_HELD || self.length == piece.len() {
            self.hold_small();
            self.held.push(piece);
        } else {
            self.small.extend_from_slice(&piece);
        }
    }

    fn hold_small(&mut self) {
        if !self.small.is_empty() {
            self.held.push(self.small.split().freeze());
        }
    }

    /// All pieces received.
    pub(crate) fn into_body(self) -> Body {
        Body(self.into())
    }
}

impl<T: Into<Bytes>> From<T> for Body {
    fn from(bytes: T) -> Self {
        let mut pieces = Pieces::default();
        pieces.add(bytes.into());
        pieces.into_body()
    }
}

impl<T: AsRef<[u8]> + ?Sized> PartialEq<T> for Body {
    fn eq(&self, other: &T) -> bool {
        *self.whole() == *other.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn body(lengths: &[usize]) -> (Body, Vec<u8>) {
        let piece = |(n, length): (usize, &usize)| vec![n as u8; *length];
        let pieces: Vec<Vec<u8>> = lengths.iter().enumerate().map(piece).collect();
        let mut body = Pieces::default();
        pieces.iter().for_each(|piece| body.add(Bytes::from(piece.clone())));
        (body.into_body(), pieces.concat())
    }

    proptest! {
        #[test]
        fn pieces_make_the_whole_in_their_order(
            lengths in prop::collection::vec(prop_oneof![0..9usize, 16_380..16_390usize], 0..9),
        ) {
            let (body, whole) = body(&lengths);
            prop_assert_eq!(body.pieces().collect::<Vec<_>>().concat(), whole.clone());
            prop_assert_eq!((body.len(), body.is_empty()), (whole.len(), whole.is_empty()));
            prop_assert!(body == whole);
        }
    }

    #[test]
    fn large_pieces_are_held_as_they_came_and_small_ones_put_together() {
        let held = |lengths: &[usize]| body(lengths).0.0.held.len();
        assert_eq!(held(&[10]), 1, "all that came");
        assert_eq!(held(&[10, 10, 10, 10]), 1);
        assert_eq!(held(&[LEAST_HELD; 3]), 3);
        assert_eq!(held(&[10, 10, LEAST_HELD, 10]), 3);
        let piece = Bytes::from(vec![b'x'; 100]);
        assert_eq!(Body::from(piece.clone()).whole().as_ptr(), piece.as_ptr());
    }
}
