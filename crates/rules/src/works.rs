//! How much of a text is copied from the user's own?
//!
//! Eight words in a row are a shingle. Of every five shingles of an own text the one with the least hash is kept; so
//! twelve words that a page copies in a row are always found. From there the words are compared one by one.

use std::collections::HashMap;

use xxhash_rust::xxh3::xxh3_64;

use crate::folded::Folded;
use crate::passages::shortened;

/// Words of a shingle, shingles of which one is kept, and places that are remembered of one shingle.
const SHINGLE: usize = 8;
const WINDOW: usize = 5;
const MOST_PLACES: usize = 4;

/// Texts of the user's own.
#[derive(Clone, Debug, Default)]
pub struct Works {
    names: Vec<String>,
    /// The words of each as hashes.
    words: Vec<Vec<u32>>,
    /// Where shingles stand: the work, and the word.
    places: HashMap<u64, Vec<(u32, u32)>>,
}

/// What a page copies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Copied {
    /// Words, over all runs.
    pub(crate) words: u64,
    /// The work with the longest run.
    pub(crate) work: String,
    /// The longest run, as the page has it.
    pub(crate) passage: String,
}

impl Works {
    /// Adds a text of the user's own.
    pub fn add(&mut self, name: &str, text: &str) {
        let words = hashes(&Folded::of(text));
        let shingles = shingles(&words);
        let work = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        let mut last = None;
        for window in
            0..shingles.len().saturating_sub(WINDOW - 1).max(usize::from(!shingles.is_empty()))
        {
            let end = (window + WINDOW).min(shingles.len());
            let least = (window..end).min_by_key(|at| (shingles[*at], std::cmp::Reverse(*at)));
            if let Some(at) = least.filter(|at| last != Some(*at)) {
                last = Some(at);
                let places = self.places.entry(shingles[at]).or_default();
                if places.len() < MOST_PLACES {
                    places.push((work, u32::try_from(at).unwrap_or(u32::MAX)));
                }
            }
        }
        self.names.push(name.to_owned());
        self.words.push(words);
    }

    /// How many texts there are.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// What a text copies of them.
    pub(crate) fn copied_in(&self, text: &str) -> Option<Copied> {
        let folded = Folded::of(text);
        let words = hashes(&folded);
        let shingles = shingles(&words);
        let (mut at, mut total, mut longest) = (0, 0, None::<(usize, usize, u32)>);
        // Where words are still free: runs do not overlap.
        let mut free = 0;
        while at < shingles.len() {
            let places = self.places.get(&shingles[at]).map_or(&[][..], Vec::as_slice);
            let runs = places.iter().map(|(work, place)| self.run(&words, free, at, *work, *place));
            let Some((start, end, work)) = runs.max_by_key(|(start, end, _)| end - start) else {
                at += 1;
                continue;
            };
            total += end - start;
            if longest.is_none_or(|(from, to, _)| to - from < end - start) {
                longest = Some((start, end, work));
            }
            free = end;
            at = end.max(at + 1);
        }
        let (start, end, work) = longest?;
        Some(Copied {
            words: total as u64,
            work: self.names[work as usize].clone(),
            passage: shortened(
                &text[folded.range(start..end)].split_whitespace().collect::<Vec<_>>().join(" "),
            ),
        })
    }

    /// The words in a row that are the same around a place of the page and one of a work.
    fn run(
        &self,
        words: &[u32],
        free: usize,
        at: usize,
        work: u32,
        place: u32,
    ) -> (usize, usize, u32) {
        let (own, place) = (&self.words[work as usize], place as usize);
        let back = (0..(at - free).min(place))
            .take_while(|n| words[at - n - 1] == own[place - n - 1])
            .count();
        let (here, there) = (&words[at..], own.get(place..).unwrap_or_default());
        let forth = here.iter().zip(there).take_while(|(a, b)| a == b).count();
        (at - back, at + forth.max(1), work)
    }
}

fn hashes(folded: &Folded) -> Vec<u32> {
    #[allow(clippy::cast_possible_truncation, reason = "half a hash is enough to tell words apart")]
    let hash = |number| xxh3_64(folded.word(number).as_bytes()) as u32;
    (0..folded.words.len()).map(hash).collect()
}

fn shingles(words: &[u32]) -> Vec<u64> {
    let bytes =
        |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    words.windows(SHINGLE).map(|words| xxh3_64(&bytes(words))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentence(from: usize, to: usize) -> String {
        (from..to).map(|n| format!("w{}", n * 7919 % 1000)).collect::<Vec<_>>().join(" ")
    }

    fn works() -> Works {
        let mut works = Works::default();
        works.add("first.txt", &sentence(0, 200));
        works.add("second.txt", &sentence(500, 560));
        works
    }

    #[test]
    fn twelve_words_in_a_row_are_found_wherever_they_stand() {
        for start in 0..150 {
            let page = format!(
                "Something else before. {} And something after.",
                sentence(start, start + 12)
            );
            let copied = works().copied_in(&page).unwrap();
            assert_eq!((copied.words, copied.work.as_str()), (12, "first.txt"), "{start}");
            assert_eq!(copied.passage, sentence(start, start + 12));
        }
        assert_eq!(
            works().copied_in("nothing of it is taken from there at all, not one word of it"),
            None
        );
        assert_eq!(works().copied_in(""), None);
    }

    #[test]
    fn runs_add_up_and_the_longest_is_quoted() {
        let page =
            format!("{}. Own words. {}!", sentence(10, 30).to_uppercase(), sentence(505, 555));
        let copied = works().copied_in(&page).unwrap();
        assert_eq!((copied.words, copied.work.as_str()), (70, "second.txt"));
        assert!(copied.passage.starts_with(&sentence(505, 510)));
    }

    #[test]
    fn the_same_words_without_end_take_linear_time() {
        let mut works = Works::default();
        works.add("a", &"la ".repeat(20_000));
        assert_eq!(works.copied_in(&"la ".repeat(40_000)).unwrap().words, 40_000);
        assert!(works.len() == 1 && !works.is_empty());
    }
}
