//! How repetitive is a text?

use std::collections::HashMap;

use libdeflater::{CompressionLvl, Compressor};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The most words that are read.
const MOST_WORDS: usize = 20_000;
/// How long the phrases are that are counted.
const PHRASE: usize = 3;
/// A line with this many words is running text.
const LONG_LINE: usize = 40;
/// How many of the most frequent phrases count together.
const FAVOURITES: usize = 10;

/// A phrase that occurs fewer times is not repetitive, however short the text.
const OVER_AND_OVER: usize = 5;
/// Characters of paths, code and names for machines, rare in words.
const NO_WORD: [char; 16] =
    ['/', '\\', '_', '.', ':', '=', '<', '>', '@', '(', '[', '{', '"', '*', '$', '#'];

/// What was counted in a text.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PhraseCounts {
    /// How many words there are.
    pub(crate) words: usize,
    /// The share of the words, in the text counted, that belong to one of its ten most frequent phrases.
    pub(crate) covered: f64,
    /// The most frequent of them, and how often it occurs.
    pub(crate) top: (String, usize),
    /// How many times smaller the text counted becomes when it is compressed.
    pub(crate) compression: f64,
}

impl PhraseCounts {
    /// Counts in the running text of a page: lists and tables repeat themselves by nature.
    pub(crate) fn of_long_lines(text: &str) -> Self {
        Self::of_lines(text, LONG_LINE)
    }

    /// Counts in all text of a page.
    pub(crate) fn of_all(text: &str) -> Self {
        Self::of_lines(text, 1)
    }

    /// Whether its most frequent phrase is said over and over, and is one of words: in scripts that do not part them
    /// three characters say little.
    pub(crate) fn is_repetitive(&self) -> bool {
        let (phrase, count) = &self.top;
        *count >= OVER_AND_OVER && phrase.split(' ').any(|word| word.chars().count() >= 3)
    }

    fn of_lines(text: &str, least: usize) -> Self {
        let lower = text.to_lowercase();
        let lines: Vec<Vec<&str>> = lower.lines().map(|line| plain_words(line).collect()).collect();
        let all = lines.iter().map(Vec::len).sum::<usize>();
        let running: Vec<&str> = lines
            .into_iter()
            .filter(|line| line.iter().filter(|word| is_word(word)).count() >= least)
            .flatten()
            .take(MOST_WORDS)
            .collect();
        let favourites = frequent_phrases(&running);
        let top = favourites.first().map(|&(phrase, count)| (phrase.join(" "), count));
        PhraseCounts {
            words: all,
            covered: words_covered(&running, &favourites) as f64 / all.clamp(1, MOST_WORDS) as f64,
            top: top.unwrap_or_default(),
            compression: compression(running.join(" ").as_bytes()),
        }
    }
}

/// The most frequent phrases that are repeated at all, with their counts.
fn frequent_phrases<'a>(words: &'a [&'a str]) -> Vec<(&'a [&'a str], usize)> {
    let mut places: HashMap<&[&str], (usize, usize)> = HashMap::new();
    for (place, phrase) in words.windows(PHRASE).enumerate() {
        if !phrase.iter().all(|word| is_word(word)) {
            continue;
        }
        places.entry(phrase).or_insert((0, place)).0 += 1;
    }
    let mut counts: Vec<(usize, usize)> =
        places.into_values().filter(|(count, _)| *count > 1).collect();
    // By place where as many: an order that no hash decides.
    counts.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    let phrase = |&(count, place): &(usize, usize)| (&words[place..place + PHRASE], count);
    counts.iter().take(FAVOURITES).map(phrase).collect()
}

/// How many words stand in one of these phrases.
fn words_covered(words: &[&str], favourites: &[(&[&str], usize)]) -> usize {
    let mut end = 0;
    let mut count = 0;
    for (place, phrase) in words.windows(PHRASE).enumerate() {
        if favourites.iter().any(|(favourite, _)| *favourite == phrase) {
            count += place + PHRASE - end.max(place);
            end = place + PHRASE;
        }
    }
    count
}

/// The words of a text. In scripts that do not part them, every character is one.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let is_letter = |c: char| c.is_alphanumeric() || c == '\'';
        rest = &rest[rest.find(is_letter)?..];
        let first = rest.chars().next()?;
        let end = if is_word_by_itself(first) {
            first.len_utf8()
        } else {
            rest.find(|c: char| !is_letter(c) || is_word_by_itself(c)).unwrap_or(rest.len())
        };
        let (word, after) = rest.split_at(end);
        rest = after;
        Some(word)
    })
}

/// The words of a text; file paths, identifiers and the like count as one word each, which no phrase crosses. Text
/// repeated beside each of a thousand names is no spam: the names are the content.
pub(crate) fn plain_words(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace().flat_map(|token| {
        let inner = token.trim_matches(|c: char| !c.is_alphanumeric() && c != '_' && c != '<');
        let name = Some(token).filter(|_| !is_word(inner));
        name.into_iter().chain(words(if name.is_some() { "" } else { inner }))
    })
}

/// Whether what [`plain_words`] gives is a word, and no name.
pub(crate) fn is_word(token: &str) -> bool {
    !token.contains(NO_WORD)
}

/// Hashes of all runs of four words, for comparing texts: of the running text, since menus are the same on every
/// page, or of all.
pub(crate) fn shingles(text: &str, only_running: bool) -> Vec<u64> {
    let lower = text.to_lowercase();
    let least = if only_running { LONG_LINE } else { 1 };
    let lines = lower.lines().filter(|line| words(line).nth(least - 1).is_some());
    let words: Vec<u64> = lines
        .flat_map(words)
        .take(MOST_WORDS)
        .map(|word| xxh3_64_with_seed(word.as_bytes(), 1))
        .collect();
    let mixed = |run: &[u64]| {
        run.iter().fold(0u64, |hash, word| {
            (hash ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (hash >> 29)
        })
    };
    words.windows(4).map(mixed).collect()
}

/// Characters of scripts without spaces.
fn is_word_by_itself(c: char) -> bool {
    matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

fn compression(text: &[u8]) -> f64 {
    const MOST: usize = 64 << 10;
    let text = &text[..text.len().min(MOST)];
    let mut compressor = Compressor::new(CompressionLvl::default());
    let mut out = vec![0; compressor.deflate_compress_bound(text.len())];
    match compressor.deflate_compress(text, &mut out) {
        Ok(size) if size > 0 => text.len() as f64 / size as f64,
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_runs_of_letters_and_single_characters_elsewhere() {
        let all: Vec<&str> = words("It's 3-fold: caf\u{e9}, \u{4e2d}\u{6587}web ").collect();
        assert_eq!(all, ["It's", "3", "fold", "caf\u{e9}", "\u{4e2d}", "\u{6587}", "web"]);
        assert_eq!(words("... ").count(), 0);
    }

    #[test]
    fn repetition_is_seen_and_prose_is_not_taken_for_it() {
        let stuffed = PhraseCounts::of_long_lines(&"Cheap pills online! Buy pills. ".repeat(50));
        assert!(stuffed.covered > 0.9 && stuffed.compression > 10.0, "{stuffed:?}");
        assert_eq!((stuffed.words, stuffed.top.1), (250, 50));
        let list = PhraseCounts::of_long_lines(&"Cheap pills online!\nBuy pills.\n".repeat(50));
        assert_eq!((list.words, list.covered), (250, 0.0));
        let row = |n: u32| format!("file net_{n}.h code\n");
        let names = PhraseCounts::of_all(&(0..200).map(row).collect::<String>());
        assert_eq!((names.words, names.covered), (600, 0.0), "{names:?}");
        let prose = PhraseCounts::of_long_lines(
            "A page matters when pages that matter link to it. The graph holds who links to whom in \
             a little over four bytes a link; every method here is a few sweeps over it.",
        );
        assert!(prose.covered < 0.1 && prose.compression < 2.0, "{prose:?}");
        assert_eq!(PhraseCounts::of_long_lines("").words, 0);
    }
}
