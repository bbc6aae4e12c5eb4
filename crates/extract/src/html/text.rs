//! What does a reader see? Text gathered with its white space collapsed, up to a cap.

/// A growing text in which words are one space apart.
pub(super) struct Text {
    bytes: Vec<u8>,
    cap: usize,
    /// Whether the text ends in a space, or is empty: the next space is not needed.
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
        let mut rest = chunk;
        while !rest.is_empty() {
            let (tidy, untidy) = rest.split_at(tidy_prefix(rest, self.spaced));
            self.append(tidy);
            rest = untidy.trim_ascii_start();
            if rest.len() < untidy.len() {
                self.space();
            }
        }
    }

    fn append(&mut self, tidy: &[u8]) {
        let taken = &tidy[..tidy.len().min(self.cap - self.bytes.len())];
        self.bytes.extend_from_slice(taken);
        self.cut |= taken.len() < tidy.len();
        if let Some(last) = tidy.last() {
            self.spaced = *last == b' ';
        }
    }

    /// Ends a word, as the edge of a block does.
    #[inline]
    pub(super) fn space(&mut self) {
        if !self.spaced && self.bytes.len() < self.cap {
            self.bytes.push(b' ');
            self.spaced = true;
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
        self.bytes.truncate(valid_prefix(&self.bytes).trim_ascii_end().len());
        String::from_utf8(self.bytes).unwrap_or_default()
    }
}

/// How much of `chunk` can be taken as it is: no white space but single spaces between words.
///
/// Every byte of text passes here, so eight are looked at together: fine if none is a control
/// character and no space follows a space.
#[inline]
fn tidy_prefix(chunk: &[u8], mut spaced: bool) -> usize {
    const ONES: u64 = u64::MAX / 255;
    const LOW: u64 = ONES * 0x7f;
    const HIGH: u64 = ONES * 0x80;
    let mut length = 0;
    for group in chunk.chunks_exact(8) {
        let word = group.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
        let controls = word.wrapping_sub(ONES * 0x20) & !word & HIGH;
        let other = word ^ (ONES * 0x20);
        let spaces = !(((other & LOW) + LOW) | other | LOW);
        let doubled = spaces & (spaces << 8 | u64::from(spaced) << 7);
        if controls | doubled != 0 {
            break;
        }
        spaced = spaces >> 63 == 1;
        length += 8;
    }
    for &byte in &chunk[length..] {
        let is_space = byte.is_ascii_whitespace();
        if is_space && (spaced || byte != b' ') {
            break;
        }
        spaced = is_space;
        length += 1;
    }
    length
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
            if *chunk == "|" { text.space() } else { text.push(chunk.as_bytes()) }
        }
        let cut = text.is_cut();
        (text.finish(), cut)
    }

    #[test]
    fn white_space_becomes_one_space_across_chunks() {
        for (chunks, want) in [
            (&[" a ", " b\n", "\tc "][..], "a b c"),
            (&["a", "b"], "ab"),
            (&["a", "|", "b", "|", "|", " c"], "a b c"),
            (&["|", " \r\n\x0c"], ""),
            (&["a\u{a0} b"], "a\u{a0} b"),
        ] {
            assert_eq!(gather(100, chunks), (want.to_owned(), false), "{chunks:?}");
        }
    }

    #[test]
    fn a_cap_never_splits_a_character() {
        assert_eq!(gather(4, &["abé", "c"]), ("abé".to_owned(), true));
        assert_eq!(gather(3, &["abé"]), ("ab".to_owned(), true));
        assert_eq!(gather(0, &["a", "|"]), (String::new(), true));
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
