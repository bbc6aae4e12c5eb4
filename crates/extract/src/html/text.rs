//! What does a reader see? Text gathered with its white space collapsed, a line a block, up to a cap.

/// A growing text in which words are one space apart, and blocks one line.
pub(super) struct Text {
    bytes: Vec<u8>,
    cap: usize,
    /// Whether the text ends in white space, or is empty: the next space is not needed.
    spaced: bool,
    cut: bool,
}

impl Text {
    pub(super) fn new(cap: usize) -> Self {
        Self::reusing(String::new(), cap)
    }

    /// An empty text in the buffer of a former one.
    pub(super) fn reusing(former: String, cap: usize) -> Self {
        let mut bytes = former.into_bytes();
        bytes.clear();
        Text { bytes, cap, spaced: true, cut: false }
    }

    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Adds characters as the tokenizer hands them over, possibly split inside a character.
    #[inline]
    pub(super) fn push(&mut self, chunk: &[u8]) {
        let taken = &chunk[..chunk.len().min(self.cap - self.bytes.len())];
        self.cut |= taken.len() < chunk.len();
        self.bytes.reserve(taken.len() + BLOCK);
        let (blocks, rest) = taken.as_chunks::<BLOCK>();
        for block in blocks {
            if is_plain(block, self.spaced) {
                self.bytes.extend_from_slice(block);
                self.spaced = block[BLOCK - 1] == b' ';
            } else {
                self.collapse(block);
            }
        }
        self.push_part(rest);
    }

    /// Adds less than a block.
    fn push_part(&mut self, part: &[u8]) {
        let Some(&last) = part.last() else { return };
        if part.iter().all(u8::is_ascii_whitespace) {
            // Between tags mostly nothing else stands.
            if !self.spaced {
                self.bytes.push(b' ');
                self.spaced = true;
            }
            return;
        }
        let block = padded(part);
        if is_plain(&block, self.spaced) {
            // Copies of a fixed length take no call.
            let end = self.bytes.len() + part.len();
            self.bytes.extend_from_slice(&block);
            self.bytes.truncate(end);
            self.spaced = last == b' ';
        } else {
            self.collapse(part);
        }
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
    pub(super) fn finish(mut self) -> String {
        self.bytes.truncate(self.bytes.trim_ascii_end().len());
        String::from_utf8(self.bytes)
            .unwrap_or_else(|error| valid_prefix(error.as_bytes()).trim_ascii_end().to_owned())
    }
}

/// Bytes that are looked at together: most of a text needs no change at all.
const BLOCK: usize = 16;

/// Less than a block, filled up with letters. Halves that overlap have fixed lengths, so that no copy takes a
/// call.
fn padded(part: &[u8]) -> [u8; BLOCK] {
    let (mut block, length) = ([b'a'; BLOCK], part.len());
    if let (Some(first), Some(last)) = (part.first_chunk::<8>(), part.last_chunk::<8>()) {
        block[..8].copy_from_slice(first);
        block[length - 8..length].copy_from_slice(last);
    } else if let (Some(first), Some(last)) = (part.first_chunk::<4>(), part.last_chunk::<4>()) {
        block[..4].copy_from_slice(first);
        block[length - 4..length].copy_from_slice(last);
    } else {
        block.iter_mut().zip(part).for_each(|(to, &byte)| *to = byte);
    }
    block
}

/// True when nothing in a block collapses, given that the text before it ends in a space or not.
fn is_plain(block: &[u8; BLOCK], spaced: bool) -> bool {
    let control = block.iter().fold(false, |any, &byte| any | (byte < b' '));
    let pairs = block.iter().zip(&block[1..]);
    let double = pairs.fold(false, |any, (&a, &b)| any | ((a == b' ') & (b == b' ')));
    !(control | double | (spaced & (block[0] == b' ')))
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
        let mut text = Text::new(cap);
        for chunk in chunks {
            if *chunk == "|" { text.end_line() } else { text.push(chunk.as_bytes()) }
        }
        let cut = text.is_cut();
        (text.finish(), cut)
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
        let mut text = Text::new(10);
        text.push(&[0xc3]);
        text.push(&[0xa9]);
        assert_eq!(text.since(0, 10), "é");
        assert_eq!(text.finish(), "é");
    }
}
