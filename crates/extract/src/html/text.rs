//! What does a reader see? Text gathered with its white space collapsed, a line a block, up to a cap.

use std::borrow::Cow;

use encoding_rs::UTF_8;
use wide::u8x16;

/// A growing text in which words are one space apart, and blocks one line.
pub(super) struct TextBuffer {
    bytes: Vec<u8>,
    cap: usize,
    /// Whether the text ends in white space, or is empty: the next space is not needed.
    spaced: bool,
    cut: bool,
}

impl TextBuffer {
    pub(super) fn new(cap: usize) -> Self {
        Self::reusing(Vec::new(), cap)
    }

    /// An empty text in the buffer of a former one.
    pub(super) fn reusing(mut bytes: Vec<u8>, cap: usize) -> Self {
        bytes.clear();
        TextBuffer { bytes, cap, spaced: true, cut: false }
    }

    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether the next word begins a line.
    pub(super) fn is_at_line_start(&self) -> bool {
        self.bytes.last().is_none_or(|last| *last == b'\n')
    }

    /// Adds characters as the tokenizer hands them over, possibly split inside a character.
    #[inline]
    pub(super) fn push(&mut self, chunk: &[u8]) {
        let taken = &chunk[..chunk.len().min(self.cap - self.bytes.len())];
        self.cut |= taken.len() < chunk.len();
        self.bytes.reserve(taken.len() + BLOCK);
        let (blocks, rest) = taken.as_chunks::<BLOCK>();
        for block in blocks {
            self.push_block(block, u8x16::new(*block));
        }
        if !rest.is_empty() {
            self.push_part(rest);
        }
    }

    /// Adds less than a block, and at least a byte.
    fn push_part(&mut self, part: &[u8]) {
        if part.iter().all(u8::is_ascii_whitespace) {
            // Between tags mostly nothing else stands.
            if !self.spaced {
                self.bytes.push(b' ');
                self.spaced = true;
            }
            return;
        }
        let end = self.bytes.len() + part.len();
        self.push_block(part, padded(part));
        self.bytes.truncate(end);
    }

    /// Adds a block, or less than that filled up with letters: as it is, but for line ends, where nothing in
    /// it collapses.
    #[inline]
    fn push_block(&mut self, bytes: &[u8], filled_up: u8x16) {
        let line_ends = filled_up.simd_eq(u8x16::splat(b'\n'));
        let block = filled_up ^ (line_ends & u8x16::splat(b'\n' ^ b' '));
        let spaces = block.simd_eq(u8x16::splat(b' ')).to_bitmask();
        let controls = block.simd_lt(u8x16::splat(b' ')).to_bitmask();
        let doubles = spaces & (spaces << 1 | u32::from(self.spaced));
        if doubles | controls != 0 {
            return self.collapse(bytes);
        }
        // A copy of a fixed length takes no call.
        self.bytes.extend_from_slice(&block.to_array());
        self.spaced = spaces >> (bytes.len() - 1) & 1 == 1;
    }

    /// Adds at most a block, its white space collapsed. There is no branch a byte: a space after a
    /// space is written like any other and then overwritten.
    fn collapse(&mut self, bytes: &[u8]) {
        let (mut collapsed, mut length) = ([0; BLOCK + 1], 0);
        for &byte in bytes {
            let is_space = byte.is_ascii_whitespace();
            collapsed[length.min(BLOCK)] = if is_space { b' ' } else { byte };
            length += usize::from(!(is_space & self.spaced));
            self.spaced = is_space;
        }
        self.bytes.extend_from_slice(&collapsed[..length.min(BLOCK)]);
    }

    /// Ends a line, as the edge of a block does.
    #[inline]
    pub(super) fn end_line(&mut self) {
        if !self.spaced && self.bytes.len() < self.cap {
            self.bytes.push(b'\n');
            self.spaced = true;
        } else if let (true, Some(last)) = (self.spaced, self.bytes.last_mut()) {
            *last = b'\n';
        }
    }

    /// What was added since `start`, trimmed and at most `most` bytes of it.
    pub(super) fn since(&self, start: usize, most: usize) -> &str {
        let added = self.bytes.get(start..).unwrap_or_default();
        valid_prefix(&added[..added.len().min(most)]).trim_ascii()
    }

    pub(super) fn is_cut(&self) -> bool {
        self.cut
    }

    /// The text, ending at a whole character.
    pub(super) fn finish(&self) -> &str {
        let text = self.bytes.trim_ascii_end();
        // Looks at as many bytes at a time as the processor can.
        match UTF_8.decode_without_bom_handling_and_without_replacement(text) {
            Some(Cow::Borrowed(text)) => text,
            _ => valid_prefix(text).trim_ascii_end(),
        }
    }

    /// The buffer, for another text.
    pub(super) fn into_buffer(self) -> Vec<u8> {
        self.bytes
    }
}

/// Bytes that are looked at together: most of a text needs no change at all.
const BLOCK: usize = 16;

/// Less than a block, and at least a byte, filled up with letters. Parts that overlap have fixed lengths, so that
/// no copy takes a call, and are put together without a detour through memory, which would have to be waited
/// for.
#[inline]
fn padded(part: &[u8]) -> u8x16 {
    const LETTERS: u64 = every(b'a');
    let length = part.len() as u32;
    if let (Some(&first), Some(&last)) = (part.first_chunk(), part.last_chunk()) {
        let more = 8 * (length - 8);
        let rest = u64::from_le_bytes(last) >> 8 >> (56 - more);
        return block([u64::from_le_bytes(first), rest | LETTERS << more]);
    }
    let bytes = if let (Some(&first), Some(&last)) = (part.first_chunk(), part.last_chunk()) {
        let [first, last] = [first, last].map(|bytes| u64::from(u32::from_le_bytes(bytes)));
        first | last << (8 * (length - 4))
    } else {
        part.iter().rev().fold(0, |bytes, &byte| bytes << 8 | u64::from(byte))
    };
    block([bytes | LETTERS << (8 * length), LETTERS])
}

#[inline]
fn block([low, high]: [u64; 2]) -> u8x16 {
    u8x16::new((u128::from(high) << 64 | u128::from(low)).to_le_bytes())
}

/// Eight times the same byte.
#[inline]
pub(super) const fn every(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// As much of `bytes` as is whole characters: a cap may have fallen inside one.
fn valid_prefix(bytes: &[u8]) -> &str {
    match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gather(cap: usize, chunks: &[&str]) -> (String, bool) {
        let mut text = TextBuffer::new(cap);
        for chunk in chunks {
            if *chunk == "|" { text.end_line() } else { text.push(chunk.as_bytes()) }
        }
        let cut = text.is_cut();
        (text.finish().to_owned(), cut)
    }

    #[test]
    fn white_space_becomes_one_space_across_chunks() {
        for (chunks, want) in [
            (&[" a ", " b\n", "\tc "][..], "a b c"),
            (&["a", "b"], "ab"),
            (&["a", "|", "b", "|", "|", " c"], "a\nb\nc"),
            (&["a ", "|", " b"], "a\nb"),
            (&["|", " \r\n\x0c"], ""),
            (&["a\u{a0} b"], "a\u{a0} b"),
            (
                &["a text of several words, and  more\tof it"],
                "a text of several words, and more of it",
            ),
            (&["sixteen bytes   ", " and then others "], "sixteen bytes and then others"),
            (
                &["ends in a space ", "0123456789abcdef", " fedcba9876543210"],
                "ends in a space 0123456789abcdef fedcba9876543210",
            ),
        ] {
            assert_eq!(gather(100, chunks), (want.to_owned(), false), "{chunks:?}");
        }
    }

    #[test]
    fn a_cap_never_splits_a_character() {
        assert_eq!(gather(4, &["abé", "c"]), ("abé".to_owned(), true));
        assert_eq!(gather(3, &["abé"]), ("ab".to_owned(), true));
        assert_eq!(gather(0, &["a", "|"]), (String::new(), true));
        assert_eq!(gather(2, &["ab", "|", "c"]), ("ab".to_owned(), true));
    }

    proptest::proptest! {
        #[test]
        fn any_text_comes_out_as_its_words_one_space_apart(
            chunks in proptest::collection::vec("[ a-c\t\n\r\x0c\x01\u{e9}\u{3000}]{0,40}", 0..6),
        ) {
            let chunks: Vec<&str> = chunks.iter().map(String::as_str).collect();
            let joined = chunks.concat();
            let words: Vec<&str> = joined.split_ascii_whitespace().collect();
            proptest::prop_assert_eq!(gather(1000, &chunks).0, words.join(" "));
        }
    }

    #[test]
    fn characters_split_between_chunks_are_joined() {
        let mut text = TextBuffer::new(10);
        text.push(&[0xc3]);
        text.push(&[0xa9]);
        assert_eq!(text.since(0, 10), "é");
        assert_eq!(text.finish(), "é");
    }
}
