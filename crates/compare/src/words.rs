//! What are the words of a text, as numbers?
//!
//! A word is a run of letters and digits in any case. Scripts written without spaces (Chinese,
//! Japanese, Thai and their like) have no such runs, so there each character is a word.
//!
//! The numbers are compared with those of earlier visits, so they must never change. The hash is
//! spelt out here; what is a letter comes from Unicode, which adds letters but keeps those it has.

use std::sync::LazyLock;

const SEED: u64 = 0x9E37_79B9_7F4A_7C15;
const FACTOR: u64 = 0xD6E8_FEB8_6659_FD93;

/// Marks characters beyond ASCII, so that none is mistaken for a chunk of ASCII letters.
const BEYOND_ASCII: u64 = 1 << 63;

/// Where the scripts end in which letters are looked up; beyond are symbols, Han, kana and Hangul.
const TABLE_LEN: usize = 0x2000;

/// The small letter for each character that is a letter or digit, 0 for all others.
///
/// The standard library searches for these, which takes several times as long as all else done here.
static SMALL_LETTERS: LazyLock<[u16; TABLE_LEN]> = LazyLock::new(|| {
    std::array::from_fn(|code| {
        let small = char::from_u32(code as u32).and_then(small_letter);
        small.and_then(|letter| u16::try_from(u32::from(letter)).ok()).unwrap_or(0)
    })
});

/// The hashes of a text's words, in order.
pub(crate) struct Words<'a> {
    text: &'a str,
    at: usize,
    /// Where the last word began, or the characters beyond ASCII before it.
    start: usize,
    small_letters: &'static [u16; TABLE_LEN],
    /// The last character that was a word by itself.
    alone_before: u32,
}

impl<'a> Words<'a> {
    pub(crate) fn of(text: &'a str) -> Self {
        Self { text, at: 0, start: 0, small_letters: &SMALL_LETTERS, alone_before: 0 }
    }

    /// Where the last word began: nothing but the word and symbols beyond ASCII lies after it.
    #[inline]
    pub(crate) fn start(&self) -> usize {
        self.start
    }

    /// Takes the characters beyond ASCII that come next into the word; returns whether it ended.
    fn take_beyond_ascii(&mut self, word: &mut Option<u64>) -> bool {
        let rest = self.text.get(self.at..).unwrap_or_default();
        for character in rest.chars().take_while(|character| !character.is_ascii()) {
            if stands_alone(character) {
                if word.is_none() {
                    *word = Some(self.take_alone(character));
                }
                return true;
            }
            self.at += character.len_utf8();
            match self.small_letter(character) {
                Some(letter) => {
                    let hash = word.unwrap_or(SEED) ^ u64::from(letter) ^ BEYOND_ASCII;
                    *word = Some(mix(hash, FACTOR));
                }
                None if word.is_some() => return true,
                None => {}
            }
        }
        false
    }

    #[inline]
    fn small_letter(&self, character: char) -> Option<u32> {
        match self.small_letters.get(character as usize) {
            Some(&letter) => (letter != 0).then_some(letter.into()),
            None if matches!(character, '\u{AC00}'..='\u{D7A3}') => Some(character.into()),
            None => small_letter(character).map(u32::from),
        }
    }

    /// Takes a character that is a word by itself, together with the one before: a single character
    /// says much less than a word does.
    fn take_alone(&mut self, character: char) -> u64 {
        self.at += character.len_utf8();
        let pair = u64::from(self.alone_before) << 32 | u64::from(character);
        self.alone_before = character.into();
        mix(SEED ^ pair ^ BEYOND_ASCII, FACTOR)
    }
}

impl Iterator for Words<'_> {
    type Item = u64;

    /// Looks at eight bytes at a time, so that most words and the gap behind them take one look. A call
    /// a word would cost as much again.
    #[inline(always)]
    fn next(&mut self) -> Option<u64> {
        let mut word = None;
        while let Some(first) = self.text.as_bytes().get(self.at) {
            if word.is_none() {
                self.start = self.at;
            }
            if !first.is_ascii() {
                if self.take_beyond_ascii(&mut word) {
                    break;
                }
                continue;
            }
            let chunk = Chunk::load(self.text.as_bytes(), self.at);
            let letters = chunk.leading_letters();
            if letters > 0 {
                word = Some(mix(word.unwrap_or(SEED) ^ chunk.lower_case(letters), FACTOR));
            }
            let gap_end = chunk.gap_end();
            self.at += gap_end;
            if gap_end > letters && word.is_some() {
                break;
            }
        }
        word
    }
}

/// Multiplies to 128 bits and folds the halves: every bit of both sides moves every bit.
#[inline]
pub(crate) fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

/// Eight bytes of text, looked at together.
struct Chunk {
    bytes: u64,
    /// The top bit of each byte that is an ASCII letter or digit.
    letters: u64,
}

impl Chunk {
    const LEN: usize = 8;

    /// Loads the bytes from a position on, zeros after the end.
    #[inline]
    fn load(bytes: &[u8], at: usize) -> Self {
        let rest = bytes.get(at..).unwrap_or_default();
        let bytes = u64::from_le_bytes(rest.first_chunk().copied().unwrap_or_else(|| padded(rest)));
        let letters =
            bytes_between(bytes | every(0x20), b'a', b'z') | bytes_between(bytes, b'0', b'9');
        Self { bytes, letters }
    }

    /// Counts the letters and digits that the chunk begins with.
    #[inline]
    fn leading_letters(&self) -> usize {
        ((!self.letters & every(0x80)).trailing_zeros() / 8) as usize
    }

    /// Returns where the gap after the leading letters ends: at a letter, beyond ASCII, or with the
    /// chunk.
    #[inline]
    fn gap_end(&self) -> usize {
        let gaps = !self.letters & every(0x80);
        let from_first_gap = (gaps & gaps.wrapping_neg()).wrapping_neg();
        let stops = (self.letters | self.bytes) & every(0x80);
        ((stops & from_first_gap).trailing_zeros() / 8) as usize
    }

    /// Returns the first `length` bytes, known to be letters and digits, in lower case: capitals
    /// differ from small letters in one bit, which digits have set.
    #[inline]
    fn lower_case(&self, length: usize) -> u64 {
        (self.bytes | every(0x20)) & (u64::MAX >> (8 * (Self::LEN - length)))
    }
}

fn padded(rest: &[u8]) -> [u8; Chunk::LEN] {
    std::array::from_fn(|index| rest.get(index).copied().unwrap_or_default())
}

/// Sets the top bit of each ASCII byte in a range: adding carries into it from the range's start
/// on, and once more from its end on.
#[inline]
fn bytes_between(bytes: u64, low: u8, high: u8) -> u64 {
    let low_bits = bytes & every(0x7F);
    let from_low = low_bits + every(0x80 - low);
    let past_high = low_bits + every(0x7F - high);
    from_low & !past_high & !bytes & every(0x80)
}

#[inline]
const fn every(byte: u8) -> u64 {
    u64::from_le_bytes([byte; Chunk::LEN])
}

/// Returns a letter or digit in lower case. Only one letter has two characters for it (a dotted
/// capital I), of which the first will do.
fn small_letter(character: char) -> Option<char> {
    character.is_alphanumeric().then(|| character.to_lowercase().next()).flatten()
}

/// Tells whether a character belongs to a script that puts no spaces between words.
fn stands_alone(character: char) -> bool {
    matches!(character,
        '\u{0E01}'..='\u{0EFF}'      // Thai, Lao
        | '\u{1000}'..='\u{109F}'    // Burmese
        | '\u{1780}'..='\u{17FF}'    // Khmer
        | '\u{3005}'..='\u{3007}'    // marks of repetition
        | '\u{3041}'..='\u{30FF}'    // kana
        | '\u{31F0}'..='\u{31FF}'
        | '\u{3400}'..='\u{4DBF}'    // Han
        | '\u{4E00}'..='\u{9FFF}'
        | '\u{F900}'..='\u{FAFF}'
        | '\u{FF66}'..='\u{FF9F}'    // narrow kana
        | '\u{20000}'..='\u{3FFFF}') // rarer Han
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use proptest::prelude::*;

    use super::*;

    /// Says what a word is, character by character.
    fn words_by_definition(text: &str) -> Vec<String> {
        let mut lines = String::new();
        let mut alone_before = '\0';
        for character in text.chars() {
            if stands_alone(character) {
                lines.extend(['\n', alone_before, character, '\n']);
                alone_before = character;
            } else if character.is_alphanumeric() {
                lines.extend(character.to_lowercase().next());
            } else {
                lines.push('\n');
            }
        }
        lines.lines().filter(|word| !word.is_empty()).map(str::to_owned).collect()
    }

    /// Checks that equal words have equal hashes and others do not.
    fn check(text: &str) -> Result<(), TestCaseError> {
        let hashes: Vec<u64> = Words::of(text).collect();
        let words = words_by_definition(text);
        prop_assert_eq!(hashes.len(), words.len(), "{}", text);
        let mut hash_of = HashMap::new();
        for (word, hash) in words.iter().zip(&hashes) {
            prop_assert_eq!(*hash_of.entry(word).or_insert(hash), hash, "{}", word);
        }
        let distinct: HashSet<&u64> = hashes.iter().collect();
        prop_assert_eq!(distinct.len(), hash_of.len());
        Ok(())
    }

    #[test]
    fn words_end_where_they_should() {
        let table = [
            ("", 0),
            ("one", 1),
            ("one two", 2),
            ("  one,\n(two) ", 2),
            ("exactly8 exactly8exactly8", 2),
            ("isn't it", 3),
            ("über naïve", 2),
            ("a\u{a0}b…c", 3),
            ("狐狸 fox狐", 4),
            ("ไทย", 3),
            ("한국어 문장", 2),
            ("a\0b", 2),
            ("@[`{/:", 0),
        ];
        for (text, expected) in table {
            assert_eq!(Words::of(text).count(), expected, "{text}");
        }
    }

    #[test]
    fn every_ascii_byte_is_a_letter_or_a_gap() {
        for byte in 0..128u8 {
            let text = format!("x{}y", char::from(byte));
            let expected = if byte.is_ascii_alphanumeric() { 1 } else { 2 };
            assert_eq!(Words::of(&text).count(), expected, "{byte:#x}");
        }
    }

    proptest! {
        #[test]
        fn agrees_with_the_definition_on_any_text(text in "\\PC{0,80}") {
            // Capitals of another script than their small letters, which lie in ASCII.
            prop_assume!(!text.contains(['\u{130}', '\u{212A}']));
            check(&text)?;
        }

        #[test]
        fn agrees_with_the_definition_on_words(text in "([a-zA-Z0-9éß狐い]{1,18}[ ,.…\0\x1f@]{0,3}){0,12}") {
            check(&text)?;
        }
    }
}
