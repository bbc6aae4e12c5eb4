//! What are the words of a text, as numbers?
//!
//! A word is a run of letters and digits in any case. Scripts written without spaces (Chinese,
//! Japanese, Thai and their like) have no such runs, so there each character is a word.
//!
//! The numbers are compared with those of earlier visits, so they must never change. The hash is
//! spelt out here; what is a letter comes from Unicode, which adds letters but keeps those it has.

use std::ops::Range;
use std::sync::LazyLock;

use wide::u8x16;

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
    window: Window,
    /// Where the last word began, or the characters beyond ASCII before it.
    start: usize,
    /// Where the first line end or full stop before it may stand; nowhere before it, where there is none.
    pause: usize,
    /// The same for the next word, as far as the text before the window tells.
    next_pause: usize,
    small_letters: &'static [u16; TABLE_LEN],
    /// The last character that was a word by itself.
    alone_before: u32,
}

impl<'a> Words<'a> {
    pub(crate) fn of_text(text: &'a str) -> Self {
        let (window, pause, next_pause) = (Window::default(), usize::MAX, usize::MAX);
        let small_letters = &SMALL_LETTERS;
        Self { text, at: 0, window, start: 0, pause, next_pause, small_letters, alone_before: 0 }
    }

    /// Where the last word began: nothing but the word and symbols beyond ASCII lies after it.
    #[inline]
    pub(crate) fn start(&self) -> usize {
        self.start
    }

    /// What lies between the last word, or the end of the text once there are no more, and the word before it,
    /// from the first line end or full stop on. Mostly nothing.
    #[inline]
    pub(crate) fn pause(&self) -> Range<usize> {
        self.pause..self.start
    }

    /// Advances to the next window, or reads a word that does not fit one.
    fn advance(&mut self) -> Advance {
        self.next_pause = self.next_pause.min(self.window.first_stop());
        self.at = self.window.next;
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        if self.window.is_enough && rest.len() >= Window::LEN && rest[0].is_ascii() {
            self.window = Window::at_offset(rest, self.at);
            return Advance::Window;
        }
        self.pause = self.next_pause.min(self.at);
        let word = self.next_by_chunks();
        self.window = Window { next: self.at, ..Window::default() };
        if word.is_none() {
            self.start = self.text.len();
        }
        self.next_pause = self.start;
        word.map_or(Advance::End, Advance::Word)
    }

    /// Reads the next word eight bytes at a time, whatever its characters.
    fn next_by_chunks(&mut self) -> Option<u64> {
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

    /// Takes the characters beyond ASCII that come next into the word; returns whether it ended.
    fn take_beyond_ascii(&mut self, word: &mut Option<u64>) -> bool {
        let rest = self.text.get(self.at..).unwrap_or_default();
        for character in rest.chars().take_while(|character| !character.is_ascii()) {
            if is_word_by_itself(character) {
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
            None if matches!(character, '\u{2000}'..='\u{206F}') => None, // dashes, quotes, dots
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

    /// Most words lie whole in a window, where it is known beforehand at which bytes words begin and end: none
    /// waits for the one before it. A call a word would cost as much again.
    #[inline(always)]
    fn next(&mut self) -> Option<u64> {
        loop {
            if let Some(word) = self.window.take() {
                self.start = word.start;
                self.pause = std::mem::replace(&mut self.next_pause, usize::MAX).min(word.pause);
                return Some(hash(self.text.as_bytes(), word.start, word.end));
            }
            match self.advance() {
                Advance::Window => {}
                Advance::Word(word) => return Some(word),
                Advance::End => return None,
            }
        }
    }
}

/// How reading goes on.
enum Advance {
    Window,
    Word(u64),
    End,
}

/// The hash of a word of ASCII letters and digits, which is not empty.
#[inline]
fn hash(text: &[u8], mut start: usize, end: usize) -> u64 {
    let mut word = SEED;
    while end - start > Chunk::LEN {
        word = mix(word ^ Chunk::load(text, start).lower_case(Chunk::LEN), FACTOR);
        start += Chunk::LEN;
    }
    mix(word ^ Chunk::load(text, start).lower_case(end - start), FACTOR)
}

/// A word of a window.
struct WordEnd {
    start: usize,
    end: usize,
    /// Where the first line end or full stop before it stands, if not before another word; else somewhere behind
    /// its start.
    pause: usize,
}

/// Which words lie whole in some bytes of a text, as far as these are ASCII?
#[derive(Clone, Copy)]
struct Window {
    at: usize,
    /// A bit for each byte at which a word begins, and for each behind its end, by turns.
    edges: u64,
    /// A bit for each line end and full stop.
    stops: u64,
    /// Where reading goes on once all of them are taken: at a word that goes on behind the window, or behind
    /// all of it.
    next: usize,
    /// False where that word is longer than a window, or one of its letters may be beyond ASCII.
    is_enough: bool,
}

impl Default for Window {
    /// Before the beginning of a text.
    fn default() -> Self {
        Self { at: 0, edges: 0, stops: 0, next: 0, is_enough: true }
    }
}

impl Window {
    const LEN: usize = 64;

    /// The window over the first bytes of `rest`, which stands at `at`.
    fn at_offset(rest: &[u8], at: usize) -> Self {
        let Some(bytes) = rest.first_chunk() else { return Self { next: at, ..Self::default() } };
        let ascii = bits(bytes, |bytes| bytes).trailing_zeros() as usize;
        let inside = u64::MAX >> (Self::LEN - ascii);
        let letters = bits(bytes, |bytes| {
            let small = bytes | u8x16::splat(0x20);
            between(small, b'a', b'z') | between(bytes, b'0', b'9')
        }) & inside;
        // A word that touches what is beyond ASCII, or the end, has no end yet.
        let edges = (letters ^ letters << 1) & inside;
        let is_open = letters >> (ascii - 1) & 1 == 1;
        let begun = Self::LEN - 1 - edges.leading_zeros() as usize % Self::LEN;
        let next = if is_open { begun } else { ascii };
        let is_enough = !is_open || (ascii == Self::LEN && begun > 0);
        let stops = bits(bytes, |bytes| {
            bytes.simd_eq(u8x16::splat(b'\n')) | bytes.simd_eq(u8x16::splat(b'.'))
        });
        // What stands behind is another window's.
        let stops = stops & u64::MAX >> (Self::LEN - next.max(1));
        Self { at, edges, stops, next: at + next, is_enough }
    }

    /// The first line end or full stop that is left; else behind the window.
    fn first_stop(&self) -> usize {
        if self.stops == 0 { usize::MAX } else { self.at + self.stops.trailing_zeros() as usize }
    }

    /// Removes and returns the next word.
    #[inline]
    fn take(&mut self) -> Option<WordEnd> {
        let after_first = self.edges & self.edges.wrapping_sub(1);
        if after_first == 0 {
            return None;
        }
        let start = self.edges.trailing_zeros();
        let end = after_first.trailing_zeros();
        self.edges = after_first & (after_first - 1);
        let stops = self.stops & ((1 << start) - 1);
        self.stops ^= stops;
        let [start, end, pause] =
            [start, end, stops.trailing_zeros()].map(|bit| self.at + bit as usize);
        Some(WordEnd { start, end, pause })
    }
}

/// A bit for each byte whose top bit is set in what `flags` makes of it.
#[inline]
fn bits(bytes: &[u8; Window::LEN], flags: impl Fn(u8x16) -> u8x16) -> u64 {
    let (sixteens, _) = bytes.as_chunks();
    let bits = |&sixteen: &[u8; 16]| u64::from(flags(u8x16::new(sixteen)).to_bitmask());
    sixteens.iter().zip(0..).fold(0, |all, (sixteen, place)| all | bits(sixteen) << (16 * place))
}

/// Sets all bits of each byte in a range.
#[inline]
fn between(bytes: u8x16, low: u8, high: u8) -> u8x16 {
    (bytes - u8x16::splat(low)).simd_le(u8x16::splat(high - low))
}

/// Multiplies to 128 bits and folds the halves: every bit of both sides moves every bit.
#[inline]
pub(crate) fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

/// Eight bytes of text, processed together.
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
fn is_word_by_itself(character: char) -> bool {
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
            if is_word_by_itself(character) {
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
        let hashes: Vec<u64> = Words::of_text(text).collect();
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
            assert_eq!(Words::of_text(text).count(), expected, "{text}");
        }
    }

    #[test]
    fn every_ascii_byte_is_a_letter_or_a_gap() {
        for byte in 0..128u8 {
            let text = format!("x{}y", char::from(byte));
            let expected = if byte.is_ascii_alphanumeric() { 1 } else { 2 };
            assert_eq!(Words::of_text(&text).count(), expected, "{byte:#x}");
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

        #[test]
        fn agrees_with_the_definition_wherever_a_window_ends(
            text in "([a-zA-Z0-9]{1,70}[ ,.\n]{1,70}|[a-z]{1,9}[é狐…]?[ .]|[é狐…]){0,20}",
        ) {
            check(&text)?;
        }

        #[test]
        fn what_was_read_by_windows_is_what_chunks_would_give(
            text in "([a-zA-Z0-9]{1,20}[ ,.\n]{1,5}|[é狐…]|[a-z]{60,70}){0,30}",
        ) {
            let (mut words, mut chunks) = (Words::of_text(&text), Words::of_text(&text));
            loop {
                let word = words.next();
                prop_assert_eq!(word, chunks.next_by_chunks());
                if word.is_none() {
                    break;
                }
                prop_assert_eq!(words.start(), chunks.start());
            }
        }
    }
}
