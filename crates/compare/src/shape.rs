//! What is left of a passage without its times, numbers and codes?
//!
//! `Page made at 12:30:05 in 0.2 s` and `Page made at 9:14:55 in 1.3 s` are two passages of one shape.
//! What counts as passing is generous: a shape only says where noise may be, and a page must show that
//! it is noise before anything is overlooked.

use crate::outline::{Passage, START, id_of, next_hash};
use crate::words::Words;

/// What is left of a passage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PassageShape {
    /// What it is known by; for a passage without passing words, what the passage is known by.
    pub(crate) id: u32,
    /// Whether the passage has words that may be passing.
    pub(crate) passing: bool,
}

impl PassageShape {
    /// The shape of a passage that stands after another.
    ///
    /// A number alone does not say what it counts; the passage before it may.
    pub(crate) fn of_passage(text: &str, passage: &Passage, before: Option<&Passage>) -> Self {
        let words = |passage: &Passage| text.get(passage.range.clone()).unwrap_or_default();
        let own = LastingWords::of(words(passage), START);
        if !own.passing {
            return PassageShape { id: passage.id, passing: false };
        }
        let hash = match before {
            Some(before) if own.words == 0 => LastingWords::of(words(before), own.hash).hash,
            _ => own.hash,
        };
        PassageShape { id: id_of(hash), passing: true }
    }
}

/// The words of a passage that last.
struct LastingWords {
    hash: u64,
    words: u32,
    passing: bool,
}

impl LastingWords {
    fn of(text: &str, start: u64) -> Self {
        let mut lasting = LastingWords { hash: start, words: 0, passing: false };
        let mut passing_before = false;
        for (token, passing) in told_apart(text) {
            if !passing {
                Words::of_text(token).for_each(|word| lasting.add(word));
            } else if !passing_before {
                // Several in a row are one: `1 hour 5 minutes` may be `59 minutes` before.
                lasting.hash = next_hash(lasting.hash, PASSING);
            }
            lasting.passing |= passing;
            passing_before = passing;
        }
        lasting
    }

    fn add(&mut self, word: u64) {
        self.hash = next_hash(self.hash, word);
        self.words += 1;
    }
}

/// Stands for words that are passing.
const PASSING: u64 = 0x1656_67B1_9E37_79F9;

/// The words of a text, and whether each is passing: numbers and codes are, and the words of times and
/// dates beside them. By itself such a word is one like others: what may happen one day.
fn told_apart(text: &str) -> Vec<(&str, bool)> {
    let mut words: Vec<(&str, bool)> =
        tokens(text).map(|token| (token, is_transient(token))).collect();
    for at in 1..words.len() {
        words[at].1 |= words[at - 1].1 && is_time_word(words[at].0);
    }
    for at in (1..words.len()).rev() {
        words[at - 1].1 |= words[at].1 && is_time_word(words[at - 1].0);
    }
    words
}

/// The words of a text with what is glued to them (`12:30`, `a-b_c`), ASCII apart from the rest, so
/// that a number in Chinese text is not taken for all of the sentence.
fn tokens(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace()
        .flat_map(|token| {
            let mut rest = token;
            std::iter::from_fn(move || {
                let ascii = rest.chars().next()?.is_ascii();
                let end = rest.find(|c: char| c.is_ascii() != ascii).unwrap_or(rest.len());
                let (run, after) = rest.split_at(end);
                rest = after;
                Some(run)
            })
        })
        .filter(|token| token.chars().any(char::is_alphanumeric))
}

fn is_transient(token: &str) -> bool {
    token.bytes().any(|byte| byte.is_ascii_digit()) || is_code(token)
}

/// Whether a word looks random: long, with capitals inside.
fn is_code(word: &str) -> bool {
    let rises = word
        .as_bytes()
        .windows(2)
        .filter(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
    word.len() >= SHORTEST_CODE && rises.count() >= 2
}

const SHORTEST_CODE: usize = 12;

fn is_time_word(token: &str) -> bool {
    let word = token.trim_matches(|c: char| !c.is_ascii_alphabetic());
    let word = word.strip_suffix('s').unwrap_or(word);
    (2..=LONGEST_TIME).contains(&word.len())
        && TIMES.iter().any(|time| time.eq_ignore_ascii_case(word))
}

const LONGEST_TIME: usize = 9;

/// Words found beside numbers in times and dates, without a plural's `s`.
const TIMES: [&str; 52] = [
    "am",
    "pm",
    "ago",
    "now",
    "today",
    "yesterday",
    "second",
    "sec",
    "minute",
    "min",
    "hour",
    "day",
    "week",
    "month",
    "year",
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
    "jan",
    "feb",
    "mar",
    "apr",
    "jun",
    "jul",
    "aug",
    "sep",
    "sept",
    "oct",
    "nov",
    "dec",
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "mon",
    "tue",
    "wed",
    "thu",
    "fri",
    "sat",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Outline;

    /// The shape of the last passage of a text.
    fn shape(text: &str) -> PassageShape {
        let outline = Outline::of_text(text);
        let (last, before) = outline.passages().split_last().unwrap();
        PassageShape::of_passage(text, last, before.last())
    }

    #[test]
    fn what_passes_leaves_the_shape() {
        for (one, other) in [
            ("Made at 12:30:05", "Made at 9:14:55"),
            ("Monday, 16 November 2026, 9 am", "Tuesday, 1 December 2026, 12 pm"),
            ("3 minutes ago", "1 hour 5 minutes ago"),
            ("1,234 readers", "99 readers"),
            ("Session f81d4fae-7dec-11d0-a765", "Session 00a0c91e-6bf6-ffff-0000"),
            ("Token aGhUx_Qqw-ErTyUiOp", "Token zzYxWvUtSrQpOnMl"),
            ("Price\n12.50", "Price\n13.00"),
            ("今天12点", "今天13点"),
        ] {
            assert_eq!(shape(one), shape(other), "{one}");
            assert!(shape(one).passing);
        }
    }

    #[test]
    fn what_lasts_makes_the_shape() {
        for (one, other) in [
            ("Made at 12:30:05", "Sent at 12:30:05"),
            ("1,234 readers", "1,234 writers"),
            ("Price\n12.50", "Weight\n12.50"),
            ("今天12点", "明天12点"),
        ] {
            assert_ne!(shape(one), shape(other), "{one}");
        }
        for lasting in ["JavaScript and YouTube", "What may happen one day", "Überraschung", "a"] {
            let id = Outline::of_text(lasting).ids()[0];
            assert_eq!(shape(lasting), PassageShape { id, passing: false }, "{lasting}");
        }
    }
}
