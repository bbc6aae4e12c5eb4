//! Which passages does a text have, and what is its fingerprint? One pass over the words computes both.
//!
//! A passage is what stands between the ends of lines and sentences. A page is held to be the set of
//! its passages: one that moved, or stands there twice, is no other page.

use std::ops::Range;

use crate::fingerprint::{Fingerprint, FingerprintBuilder};
use crate::words::{Words, mix};

/// Bytes of text to a passage, of which many texts have more: room is made for all at once.
const USUAL_PASSAGE: usize = 24;

/// The passages of a text, and its fingerprint.
#[derive(Clone, Debug)]
pub struct Outline {
    fingerprint: Option<Fingerprint>,
    passages: Vec<Passage>,
    ids: Vec<u32>,
    words: u32,
}

/// A line or sentence of a text.
#[derive(Clone, Debug)]
pub(crate) struct Passage {
    /// What its words are known by: 24 bits of their hash.
    pub(crate) id: u32,
    pub(crate) words: u32,
    /// Where it stands.
    pub(crate) range: Range<usize>,
}

impl Outline {
    /// Reads a text.
    pub fn of_text(text: &str) -> Self {
        let mut taking = FingerprintBuilder::default();
        let passages = Vec::with_capacity(text.len() / USUAL_PASSAGE);
        let mut outline = Outline { fingerprint: None, passages, ids: Vec::new(), words: 0 };
        let mut words = Words::of_text(text);
        let mut open = Open::at(0);
        while let Some(word) = words.next() {
            taking.add(word);
            if let Some(edge) = trimmed_edge(text, words.pause()) {
                outline.close_passage(&open, edge);
                open = Open::at(words.start());
            }
            open.add(word);
        }
        outline.close_passage(&open, trimmed_edge(text, words.pause()).unwrap_or(text.len()));
        outline.fingerprint = taking.finish();
        outline.ids.extend(outline.passages.iter().map(|passage| passage.id));
        outline.ids.sort_unstable();
        outline.ids.dedup();
        outline
    }

    /// The fingerprint of the text; none if it has no words.
    pub fn fingerprint(&self) -> Option<Fingerprint> {
        self.fingerprint
    }

    /// How many words the text has.
    pub fn words(&self) -> u32 {
        self.words
    }

    /// Where the passages stand that have one of these ids.
    pub fn ranges_of(&self, ids: &[u32]) -> Vec<Range<usize>> {
        let among = self.passages.iter().filter(|passage| ids.contains(&passage.id));
        among.map(|passage| passage.range.clone()).collect()
    }

    /// The passages in the order of the text.
    pub(crate) fn passages(&self) -> &[Passage] {
        &self.passages
    }

    /// What the passages are known by, each once, in order of their numbers.
    pub(crate) fn ids(&self) -> &[u32] {
        &self.ids
    }

    pub(crate) fn contains(&self, id: u32) -> bool {
        self.ids.binary_search(&id).is_ok()
    }

    fn close_passage(&mut self, open: &Open, end: usize) {
        if open.words > 0 {
            self.words = self.words.saturating_add(open.words);
            let id = id_of(open.hash);
            self.passages.push(Passage { id, words: open.words, range: open.start..end });
        }
    }
}

/// The passage that is being read.
struct Open {
    start: usize,
    hash: u64,
    words: u32,
}

impl Open {
    fn at(start: usize) -> Self {
        Open { start, hash: START, words: 0 }
    }

    #[inline]
    fn add(&mut self, word: u64) {
        self.hash = next_hash(self.hash, word);
        self.words += 1;
    }
}

/// The hash of no words.
pub(crate) const START: u64 = 0x8EBC_6AF0_9C88_C6E3;

/// The hash of some words and one more.
#[inline]
pub(crate) fn next_hash(hash: u64, word: u64) -> u64 {
    // Turned, since the words before must count differently from the last.
    mix(hash.rotate_left(23) ^ word, 0x5899_65CC_7537_4CC3)
}

/// The bits of a hash that are kept.
pub(crate) fn id_of(hash: u64) -> u32 {
    (hash >> 40) as u32
}

/// Where a passage ends between two words, if it does: at a line end, or a full stop before a space.
#[inline]
fn trimmed_edge(text: &str, mut between: Range<usize>) -> Option<usize> {
    let bytes = text.as_bytes();
    between.find(|&at| match bytes[at] {
        b'\n' => true,
        b'.' => bytes.get(at + 1).is_some_and(u8::is_ascii_whitespace),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn passages(text: &str) -> Vec<&str> {
        let outline = Outline::of_text(text);
        outline.passages().iter().map(|passage| &text[passage.range.clone()]).collect()
    }

    #[test]
    fn passages_end_with_lines_and_sentences() {
        let table: [(&str, &[&str]); 8] = [
            ("", &[]),
            (" \n . ", &[]),
            ("One", &["One"]),
            ("One line\nanother", &["One line", "another"]),
            ("One. Two 3.5 and a.b. Three.", &["One", "Two 3.5 and a.b", "Three."]),
            (
                "A very long first line indeed\n\n\n  \nsecond",
                &["A very long first line indeed", "second"],
            ),
            ("über.\nnaïve… Ende. 狐狸", &["über", "naïve… Ende", "狐狸"]),
            ("exactly8\nexactly8.\nexactly8", &["exactly8", "exactly8", "exactly8"]),
        ];
        for (text, expected) in table {
            assert_eq!(passages(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_passage_is_known_by_its_words_in_their_order() {
        let id = |text: &str| Outline::of_text(text).ids()[0];
        assert_eq!(id("One, two"), id("one two"));
        assert_ne!(id("one two"), id("two one"));
        assert_ne!(id("one two"), id("one two two"));
        let twice = Outline::of_text("same words\nother words\nSame words!");
        assert_eq!((twice.passages().len(), twice.ids().len(), twice.words()), (3, 2, 6));
        assert!(twice.contains(id("same words")) && !twice.contains(id("no words")));
    }

    proptest! {
        #[test]
        fn any_text_is_outlined(text in "[ -~\n狐é…]{0,120}") {
            let outline = Outline::of_text(&text);
            prop_assert_eq!(outline.fingerprint(), Fingerprint::of_text(&text));
            prop_assert_eq!(outline.words() as usize, Words::of_text(&text).count());
            for passage in outline.passages() {
                prop_assert!(text.get(passage.range.clone()).is_some());
                prop_assert!(passage.id < 1 << 24 && outline.contains(passage.id));
            }
        }

        #[test]
        fn passages_lie_between_line_ends_and_full_stops(
            text in "([a-z]{1,12}[ .,\n]{1,3}|[é…狐]|[-.\n ]{1,40}){0,40}",
        ) {
            let ends = |at: &usize| match text.as_bytes()[*at] {
                b'\n' => true,
                b'.' => text.as_bytes().get(at + 1).is_some_and(u8::is_ascii_whitespace),
                _ => false,
            };
            let ends: Vec<usize> = (0..text.len()).filter(ends).chain([text.len()]).collect();
            let starts = std::iter::once(0).chain(ends.iter().map(|end| end + 1));
            let parts = starts.zip(&ends).map(|(start, &end)| &text[start.min(end)..end]);
            // A passage begins with its first word, but where it is the first of all.
            let begun = |part: &str| part.trim_start_matches([' ', ',', '-', '.', '…']).to_owned();
            let parts: Vec<String> =
                parts.filter(|part| Words::of_text(part).next().is_some()).map(begun).collect();
            let found: Vec<String> = passages(&text).into_iter().map(begun).collect();
            prop_assert_eq!(found, parts);
        }

        #[test]
        fn a_passage_is_the_same_wherever_it_stands(a in "[a-z é]{1,30}", b in "[a-z é]{1,30}") {
            let together = Outline::of_text(&format!("{a}\n{b}"));
            for part in [a, b] {
                prop_assert!(Outline::of_text(&part).ids().iter().all(|&id| together.contains(id)));
            }
        }
    }
}
