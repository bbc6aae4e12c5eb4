//! Is this nearly the same text?
//!
//! A simhash: every pair of neighbouring words votes on 64 bits, and the majority is the
//! fingerprint. Texts that share most pairs differ in few bits, and from their number the share
//! can be estimated.
//!
//! Why pairs: of 300-word texts from the Rust documentation with one word replaced, 76 % stay
//! within three bits when triples vote, 90 % with pairs, 99 % with single words; unrelated texts of
//! that one subject are 32.0, 31.4 and 23 bits apart. Pairs find the most without confusing texts
//! that merely share a language. `cargo run --release -p evercrawl-compare --example measure --
//! FILE...` tells the figures for any texts, and the speed.

use std::f64::consts::PI;
use std::fmt;

use crate::tally::BitTally;
use crate::words::{Words, mix};

/// Fingerprints that differ in at most this many bits belong to nearly the same text.
pub const NEAR: u32 = 3;

/// The fingerprint of a text, blind to case, spaces and punctuation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(u64);

impl Fingerprint {
    /// How many keys a fingerprint has in an index of near texts.
    pub const INDEX_KEYS: usize = NEAR as usize + 1;

    /// Bytes at the beginning of a key by which near fingerprints are looked up.
    pub const INDEX_PREFIX: usize = 3;

    /// Takes the fingerprint of a text; none if it has no words.
    pub fn of_text(text: &str) -> Option<Self> {
        let mut taking = FingerprintBuilder::default();
        Words::of_text(text).for_each(|word| taking.add(word));
        taking.finish()
    }

    /// Takes a fingerprint as it is stored.
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// Returns the fingerprint as it is stored.
    pub const fn to_bits(self) -> u64 {
        self.0
    }

    /// Counts the bits in which two fingerprints differ: 0 for the same pairs, about 32 for texts
    /// that have none in common.
    pub const fn distance(self, other: Self) -> u32 {
        (self.0 ^ other.0).count_ones()
    }

    /// Tells whether two fingerprints belong to nearly the same text.
    pub const fn is_near(self, other: Self) -> bool {
        self.distance(other) <= NEAR
    }

    /// Estimates which share of the text is other, from 0 to 1.
    ///
    /// Each bit tells on which side of a random plane the text lies, so the share of differing
    /// bits is the angle between the texts, and its cosine what they have in common.
    pub fn changed_share(self, other: Self) -> f64 {
        let angle = PI * f64::from(self.distance(other)) / f64::from(u64::BITS);
        (1.0 - angle.cos()).min(1.0)
    }

    /// Returns the keys under which an index finds this fingerprint.
    ///
    /// Of four blocks of 16 bits, three differing bits leave one untouched. So each key begins
    /// with its number and one block, and looking up the first [`INDEX_PREFIX`](Self::INDEX_PREFIX)
    /// bytes of all four meets every near fingerprint. The rest of a key is the rest of the
    /// fingerprint, which [`from_index_key`](Self::from_index_key) puts together for
    /// [`is_near`](Self::is_near) to check.
    pub fn index_keys(self) -> [[u8; 9]; Self::INDEX_KEYS] {
        [0, 1, 2, 3].map(|table: u8| {
            let mut key = [table; 9];
            let rotated = self.0.rotate_left(16 * u32::from(table));
            key[1..].copy_from_slice(&rotated.to_be_bytes());
            key
        })
    }

    /// Reads a fingerprint from one of its keys; none if it is not one.
    pub fn from_index_key(key: &[u8]) -> Option<Self> {
        let (&table, rotated) = key.split_first()?;
        let rotated = u64::from_be_bytes(rotated.try_into().ok()?);
        (usize::from(table) < Self::INDEX_KEYS)
            .then(|| Self(rotated.rotate_right(16 * u32::from(table))))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// A fingerprint being taken, word by word.
pub(crate) struct FingerprintBuilder {
    tally: BitTally,
    last: u64,
}

impl Default for FingerprintBuilder {
    fn default() -> Self {
        Self { tally: BitTally::new(), last: START }
    }
}

impl FingerprintBuilder {
    #[inline]
    pub(crate) fn add(&mut self, word: u64) {
        self.tally.add(pair(self.last, word));
        self.last = word;
    }

    /// The fingerprint; none if there were no words.
    pub(crate) fn finish(&self) -> Option<Fingerprint> {
        (!self.tally.is_empty()).then(|| Fingerprint(self.tally.majority()))
    }
}

/// Stands for the word before the first.
const START: u64 = 0xE703_7ED1_A0B4_28DB;

#[inline]
fn pair(first: u64, second: u64) -> u64 {
    // Without the constant, a pair and its mirror image would be the same product.
    mix(first, second ^ 0xA076_1D64_78BD_642F)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bits(text: &str) -> Option<u64> {
        Fingerprint::of_text(text).map(Fingerprint::to_bits)
    }

    /// Draws numbers for the tests; the same ones each time.
    struct Draw(u64);

    impl Draw {
        fn below(&mut self, end: usize) -> usize {
            self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
            (mix(self.0, self.0 ^ 0xD1B5_4A32_D192_ED03) % end as u64) as usize
        }

        /// Draws a word as languages use them: the hundredth most frequent a hundredth as often.
        fn word(&mut self) -> String {
            let rank = 20_000f64.powf(self.below(1 << 20) as f64 / f64::from(1 << 20));
            format!("w{}", rank as u32)
        }

        fn text(&mut self, words: usize) -> Vec<String> {
            (0..words).map(|_| self.word()).collect()
        }
    }

    fn of_words(words: &[String]) -> Fingerprint {
        Fingerprint::of_text(&words.join(" ")).expect("has words")
    }

    #[test]
    fn fingerprints_stay_what_they_are() {
        // These are stored for years: a change here makes every page of every archive look new.
        let table = [
            ("a", 0xFBCD_49B0_927B_A73E),
            ("Evercrawl", 0x2304_9045_7810_DC3F),
            ("The quick brown fox jumps over the lazy dog", 0x4D2D_9411_CC62_3AAF),
            ("Überraschung: 42 naïve Ströme", 0xC800_8A52_131A_5A3C),
            ("敏捷的棕色狐狸跳过懒狗", 0x8C95_4B14_6265_3616),
            ("いろはにほへと ちりぬるを", 0x208D_54B4_D980_5A16),
            ("Съешь ещё этих мягких французских булок", 0x5E88_D1A1_9244_E409),
        ];
        for (text, expected) in table {
            assert_eq!(bits(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn case_spaces_and_punctuation_do_not_count() {
        let text = "Straße nach Zürich 12 über Łódź extraordinarily long-winded";
        for other in [
            "straße nach zürich 12 über łódź EXTRAORDINARILY long winded",
            "  Straße\tnach\r\n\r\nZürich, 12 -- über: ŁÓDŹ… extraordinarily “long” winded!",
        ] {
            assert_eq!(bits(other), bits(text), "{other}");
        }
        assert_eq!(bits("敏捷的 棕色，狐狸"), bits("敏捷的棕色狐狸"));
        assert_ne!(bits("one two"), bits("two one"));
        assert_ne!(bits("one two"), bits("onetwo"));
    }

    #[test]
    fn texts_without_words_have_no_fingerprint() {
        for text in ["", " \n\t", "--- ... !?", "\0\0", "…—“”", "\u{3000}。"] {
            assert_eq!(bits(text), None, "{text:?}");
        }
        assert!(bits("x").is_some() && bits("x y").is_some() && bits("狐").is_some());
    }

    #[test]
    fn one_word_in_300_moves_few_bits() {
        let mut draw = Draw(1);
        let edits = 400;
        let near = (0..edits).filter(|_| {
            let mut text = draw.text(300);
            let before = of_words(&text);
            text[draw.below(300)] = draw.word();
            of_words(&text).is_near(before)
        });
        // 345 of 400 when this was written.
        assert!(near.count() >= 330);
    }

    #[test]
    fn unrelated_texts_differ_in_half_the_bits() {
        let mut draw = Draw(2);
        let distance = |_| of_words(&draw.text(300)).distance(of_words(&draw.text(300)));
        let distances: Vec<u32> = (0..200).map(distance).collect();
        let mean = f64::from(distances.iter().sum::<u32>()) / 200.0;
        assert!((30.0..34.0).contains(&mean), "{mean}");
        assert!(distances.iter().all(|&distance| distance > 15));
    }

    #[test]
    fn the_share_that_changed_is_estimated() {
        let mut draw = Draw(3);
        for share in [0.05, 0.2, 0.5, 1.0] {
            let estimate = |_| {
                let mut text = draw.text(1000);
                let before = of_words(&text);
                let other = draw.text((1000.0 * share) as usize);
                text[..other.len()].clone_from_slice(&other);
                of_words(&text).changed_share(before)
            };
            let mean = (0..40).map(estimate).sum::<f64>() / 40.0;
            assert!((0.6 * share..1.2 * share).contains(&mean), "{share}: {mean}");
        }
    }

    #[test]
    fn bits_measure_the_share() {
        let far = |bits: u64| Fingerprint(0).changed_share(Fingerprint(bits));
        assert_eq!(far(0), 0.0);
        assert!((far(u64::from(u32::MAX)) - 1.0).abs() < 1e-9);
        assert_eq!(far(u64::MAX), 1.0);
        assert!(far(0b111) < 0.011);
    }

    #[test]
    fn keys_are_read_or_refused() {
        for key in [&[][..], &[4; 9], &[0; 8], &[0; 10]] {
            assert_eq!(Fingerprint::from_index_key(key), None);
        }
    }

    proptest! {
        #[test]
        fn near_fingerprints_meet_in_the_index(bits: u64, flips in prop::collection::vec(0..64u32, 0..4)) {
            let one = Fingerprint(bits);
            let other = Fingerprint(flips.iter().fold(bits, |bits, flip| bits ^ 1 << flip));
            prop_assert!(one.is_near(other));
            let prefix = Fingerprint::INDEX_PREFIX;
            let meets = |(a, b): (&[u8; 9], &[u8; 9])| a[..prefix] == b[..prefix];
            prop_assert!(one.index_keys().iter().zip(&other.index_keys()).any(meets));
            for key in one.index_keys() {
                prop_assert_eq!(Fingerprint::from_index_key(&key), Some(one));
            }
        }

        #[test]
        fn any_text_is_read_in_any_case_and_spacing(text in "\\PC{0,60}") {
            prop_assert_eq!(bits(&text.replace(' ', "\n - ")), bits(&text));
            prop_assert_eq!(bits(&text.to_ascii_uppercase()), bits(&text.to_ascii_lowercase()));
        }

        #[test]
        fn words_are_the_same_wherever_they_stand(words in prop::collection::vec("[a-zé狐]{1,20}", 1..6), gap in "[ .,]{1,9}") {
            prop_assert_eq!(bits(&words.join(&gap)), bits(&words.join(" ")));
        }
    }
}
