//! Which words of a text became which? Words are compared, not the white space between them.

use std::ops::Range;
use std::time::{Duration, Instant};

use similar::{Algorithm, DiffOp, capture_diff_slices_by_key_deadline};

/// Words shown around a change.
const CONTEXT: usize = 8;
/// So many times as many words must have changed before and after some that stayed, for those to be
/// shown as part of the change.
const DROWNED_BY: usize = 6;
/// How long the least difference is looked for; books without a common sentence show a larger one.
const PATIENCE: Duration = Duration::from_secs(1);

/// A word, with what stands before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word<'a> {
    pub(super) text: &'a str,
    pub(super) gap: Gap,
    /// Whether it stands where what differs is no news.
    pub(super) noise: bool,
}

/// What stands between a word and the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gap {
    /// Nothing: scripts without spaces.
    None,
    Space,
    Line,
}

/// Divides a text into words; where a script has no spaces, into characters. `noise` are the places
/// where what differs is no news.
pub(super) fn split<'a>(text: &'a str, noise: &[Range<usize>]) -> Vec<Word<'a>> {
    let mut words = Vec::new();
    for line in text.lines() {
        let mut gap = Gap::Line;
        for run in line.split_whitespace() {
            let at = run.as_ptr().addr() - text.as_ptr().addr();
            let noise = noise.iter().any(|place| place.contains(&at));
            split_run(run, Word { text: run, gap, noise }, &mut words);
            gap = Gap::Space;
        }
    }
    words
}

/// Adds what stands between two spaces: one word, or one for each character.
fn split_run<'a>(run: &'a str, mut word: Word<'a>, words: &mut Vec<Word<'a>>) {
    let mut start = 0;
    for (at, character) in run.char_indices().filter(|(_, character)| stands_alone(*character)) {
        let end = at + character.len_utf8();
        for text in [&run[start..at], &run[at..end]].into_iter().filter(|text| !text.is_empty()) {
            words.push(Word { text, ..word });
            word.gap = Gap::None;
        }
        start = end;
    }
    if start < run.len() {
        words.push(Word { text: &run[start..], ..word });
    }
}

/// Han, kana, Thai, Lao, Burmese and Khmer are written without spaces.
fn stands_alone(character: char) -> bool {
    matches!(character,
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}')
}

/// Words as they are read.
pub(super) fn join(words: &[Word<'_>]) -> String {
    let mut text = String::new();
    for word in words {
        match word.gap {
            _ if text.is_empty() => {}
            Gap::None => {}
            Gap::Space => text.push(' '),
            Gap::Line => text.push('\n'),
        }
        text.push_str(word.text);
    }
    text
}

/// Words that noise took the place of were noise, too: at the first visits nobody could know.
pub(super) fn mark_replaced_by_noise(old: &mut [Word<'_>], new: &[Word<'_>]) {
    if !new.iter().any(|word| word.noise) {
        return;
    }
    for run in runs(old, new).into_iter().filter(|run| !run.same && !run.new.is_empty()) {
        if new[run.new].iter().all(|word| word.noise) {
            old[run.old].iter_mut().for_each(|word| word.noise = true);
        }
    }
}

/// What became of some words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Same,
    Deleted,
    Inserted,
}

/// A place where words changed, with some of those around.
#[derive(Debug, Default)]
pub(super) struct Hunk<'a> {
    pub(super) parts: Vec<(Mark, &'a [Word<'a>])>,
    /// Whether words before and after it are left out.
    pub(super) cut: (bool, bool),
}

/// What changed between two texts.
#[derive(Debug, Default)]
pub(super) struct Changes<'a> {
    pub(super) hunks: Vec<Hunk<'a>>,
    pub(super) deleted: u64,
    pub(super) inserted: u64,
    /// Words deleted or inserted where that is no news, and so not counted among the others.
    pub(super) noise: u64,
    pub(super) old_words: u64,
}

impl<'a> Changes<'a> {
    pub(super) fn between(old: &'a [Word<'a>], new: &'a [Word<'a>]) -> Self {
        let mut changes = Changes { old_words: old.len() as u64, ..Changes::default() };
        let mut before: &[Word<'_>] = &[];
        let runs = runs(old, new);
        for run in runs.iter().filter(|run| !run.same) {
            changes.count(&old[run.old.clone()], &new[run.new.clone()]);
        }
        for run in without_islands(runs) {
            let (was, is) = (&old[run.old], &new[run.new]);
            if run.same {
                changes.goes_on(is);
                before = is;
            } else {
                changes.changed(before, was, is);
                before = &[];
            }
        }
        changes
    }

    fn count(&mut self, was: &[Word<'_>], is: &[Word<'_>]) {
        let noise = |words: &[Word<'_>]| words.iter().filter(|word| word.noise).count() as u64;
        self.noise += noise(was) + noise(is);
        self.deleted += was.len() as u64 - noise(was);
        self.inserted += is.len() as u64 - noise(is);
    }

    /// Whether no word changed but where it is no news.
    pub(super) fn is_empty(&self) -> bool {
        self.deleted + self.inserted == 0
    }

    /// The same words follow: all of them where the next change is near, else the first few.
    fn goes_on(&mut self, same: &'a [Word<'a>]) {
        if let Some(hunk) = self.hunks.last_mut() {
            let shown = &same[..same.len().min(CONTEXT)];
            hunk.parts.push((Mark::Same, shown));
            hunk.cut.1 = shown.len() < same.len();
        }
    }

    /// Words changed, after words that did not.
    fn changed(&mut self, before: &'a [Word<'a>], was: &'a [Word<'a>], is: &'a [Word<'a>]) {
        let near = before.len() <= 2 * CONTEXT && !self.hunks.is_empty();
        if near && !before.is_empty() {
            if let Some(hunk) = self.hunks.last_mut() {
                hunk.parts.pop();
                hunk.parts.push((Mark::Same, before));
            }
        } else if !near {
            let shown = &before[before.len().saturating_sub(CONTEXT)..];
            let cut = (shown.len() < before.len(), false);
            self.hunks.push(Hunk { parts: vec![(Mark::Same, shown)], cut });
        }
        let Some(hunk) = self.hunks.last_mut() else { return };
        hunk.cut.1 = false;
        for (mark, words) in [(Mark::Deleted, was), (Mark::Inserted, is)] {
            let alike = words.chunk_by(|one, next| one.noise == next.noise);
            hunk.parts.extend(alike.map(|words| (mark, words)));
        }
        hunk.parts.retain(|(_, words)| !words.is_empty());
    }
}

/// Words that stayed, or that became others.
#[derive(Clone, Debug)]
struct Run {
    same: bool,
    old: Range<usize>,
    new: Range<usize>,
}

impl Run {
    /// Words that it takes to show.
    fn len(&self) -> usize {
        if self.same { self.new.len() } else { self.old.len() + self.new.len() }
    }
}

#[allow(clippy::disallowed_methods, reason = "somebody waits for the answer")]
fn runs(old: &[Word<'_>], new: &[Word<'_>]) -> Vec<Run> {
    let deadline = Some(Instant::now() + PATIENCE);
    let ops =
        capture_diff_slices_by_key_deadline(Algorithm::Myers, old, new, |word| word.text, deadline);
    let run = |op: DiffOp| Run {
        same: matches!(op, DiffOp::Equal { .. }),
        old: op.old_range(),
        new: op.new_range(),
    };
    ops.into_iter().map(run).collect()
}

/// A text written anew has a word here and there in common with the old one, which says nothing:
/// such words count as part of the change around them.
fn without_islands(runs: Vec<Run>) -> Vec<Run> {
    let mut kept: Vec<Run> = Vec::with_capacity(runs.len());
    for (n, run) in runs.iter().enumerate() {
        let around = |at: Option<&Run>| at.map_or(0, |run| if run.same { 0 } else { run.len() });
        let next = around(runs.get(n + 1));
        match kept.last_mut() {
            Some(last) if !last.same && !run.same => {
                (last.old.end, last.new.end) = (run.old.end, run.new.end);
            }
            Some(last) if run.same && run.len() * DROWNED_BY <= around(Some(last)).min(next) => {
                (last.old.end, last.new.end) = (run.old.end, run.new.end);
            }
            _ => kept.push(run.clone()),
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where the time stands in the texts below.
    const CLOCK: Range<usize> = 3..8;

    /// Hunks with marks: `-a-` deleted, `+b+` inserted, `|` between hunks.
    fn marked(old: &str, new: &str) -> String {
        let (old, new) = (split(old, &[]), split(new, &[]));
        let changes = Changes::between(&old, &new);
        let hunk = |hunk: &Hunk<'_>| {
            let parts = hunk.parts.iter().map(|(mark, words)| match mark {
                Mark::Same => join(words),
                Mark::Deleted => format!("-{}-", join(words)),
                Mark::Inserted => format!("+{}+", join(words)),
            });
            let parts: Vec<String> = parts.collect();
            let (left, right) = hunk.cut;
            let dots = |cut| if cut { "..." } else { "" };
            format!("{}{}{}", dots(left), parts.join(" "), dots(right))
        };
        let hunks: Vec<String> = changes.hunks.iter().map(hunk).collect();
        hunks.join(" | ")
    }

    #[test]
    fn words_that_changed_are_told_from_those_around() {
        let far = "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20";
        for (old, new, want) in [
            ("", "", ""),
            ("same words", "same\nwords", ""),
            ("", "a b", "+a b+"),
            ("a b", "", "-a b-"),
            ("the old fox", "the new fox", "the -old- +new+ fox"),
            ("a b c", "a b c d", "a b c +d+"),
            ("a x b y c", "a b c", "a -x- b -y- c"),
            ("1 2 3 and 4 5 6", "a b c and d e f", "-1 2 3 and 4 5 6- +a b c and d e f+"),
            (
                &format!("x {far} y"),
                &format!("p {far} q"),
                "-x- +p+ 1 2 3 4 5 6 7 8... | ...13 14 15 16 17 18 19 20 -y- +q+",
            ),
            (&format!("{far} y"), &format!("{far} z"), "...13 14 15 16 17 18 19 20 -y- +z+"),
        ] {
            assert_eq!(marked(old, new), want, "{old:?} to {new:?}");
        }
    }

    #[test]
    fn scripts_without_spaces_change_by_the_character() {
        assert_eq!(marked("東京は晴れ", "東京は雨"), "東京は -晴れ- +雨+");
        assert_eq!(join(&split("東京 Tokyoは\nmixed字", &[])), "東京 Tokyoは\nmixed字");
    }

    #[test]
    fn counts_are_of_words() {
        let (old, new) = (split("a b c d", &[]), split("a x d e", &[]));
        let changes = Changes::between(&old, &new);
        assert_eq!((changes.deleted, changes.inserted, changes.old_words), (2, 2, 4));
    }

    #[test]
    fn what_is_no_news_counts_apart() {
        let (old, new) = (split("at 12:30 calm", &[CLOCK]), split("at 12:31 storm", &[CLOCK]));
        let changes = Changes::between(&old, &new);
        assert_eq!((changes.deleted, changes.inserted, changes.noise), (1, 1, 2));
        let parts: Vec<_> = changes.hunks[0].parts.iter().map(|(_, words)| join(words)).collect();
        assert_eq!(parts, ["at", "12:30", "calm", "12:31", "storm"]);
        let (old, new) = (split("at 12:30", &[CLOCK]), split("at 12:31", &[CLOCK]));
        assert!(Changes::between(&old, &new).is_empty());
    }

    #[test]
    fn two_long_texts_of_the_same_words_are_told_apart_in_time() {
        let text = |seed: u64| -> String {
            (0..60_000u64)
                .map(|n| format!("{} ", (n ^ seed).wrapping_mul(0x9e37_79b9) % 9973))
                .collect()
        };
        let (old, new) = (text(1), text(2));
        let (old, new) = (split(&old, &[]), split(&new, &[]));
        let changes = Changes::between(&old, &new);
        assert!(changes.deleted > 0 && changes.old_words == 60_000);
    }
}
