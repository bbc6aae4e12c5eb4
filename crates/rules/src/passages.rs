//! Which passage shows it?

use std::collections::HashMap;
use std::ops::Range;

use crate::folded::Folded;

/// Characters of a passage, and of what stands around a phrase.
const LONGEST: usize = 400;
const AROUND: usize = 80;

/// Words that came and went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WordChanges {
    /// Words that came.
    pub added: u64,
    /// Words that went.
    pub removed: u64,
    /// Words of the longer version.
    pub words: u64,
    /// What came.
    pub added_text: String,
    /// What went.
    pub removed_text: String,
}

impl WordChanges {
    /// The share of the words that came or went, whichever is more.
    #[allow(clippy::cast_precision_loss, reason = "a share of some words")]
    pub fn score(&self) -> f64 {
        self.added.max(self.removed) as f64 / self.words.max(1) as f64
    }
}

/// The text around a range: the line, or what is near of a long one.
pub(crate) fn around(text: &str, range: Range<usize>) -> String {
    let line_start = text[..range.start].rfind('\n').map_or(0, |at| at + 1);
    let line_end = text[range.end..].find('\n').map_or(text.len(), |at| range.end + at);
    let start = boundary(text, line_start.max(range.start.saturating_sub(AROUND)));
    let end = boundary(text, line_end.min(range.end + AROUND).max(range.end));
    let (before, after) = (start > line_start, end < line_end);
    let words = text[start..end].split_whitespace().collect::<Vec<_>>().join(" ");
    format!("{}{words}{}", if before { "… " } else { "" }, if after { " …" } else { "" })
}

fn boundary(text: &str, at: usize) -> usize {
    (at..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
}

/// A text, cut where it is too long for a message.
pub(crate) fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((cut, _)) => format!("{} …", text[..cut].trim_end()),
        None => text.to_owned(),
    }
}

/// Which words came and went between two texts. What only moved is no news; the passages are the lines that are new,
/// or are no more. It takes time linear in the texts.
pub fn word_changes(before: &str, now: &str) -> WordChanges {
    let (old, new) = (Folded::of(before), Folded::of(now));
    let mut counts: HashMap<&str, i64> = HashMap::new();
    (0..old.words.len()).for_each(|number| *counts.entry(old.word(number)).or_default() -= 1);
    (0..new.words.len()).for_each(|number| *counts.entry(new.word(number)).or_default() += 1);
    let sum = |sign: i64| counts.values().map(|count| (count * sign).max(0).unsigned_abs()).sum();
    let (added, removed) = (sum(1), sum(-1));
    WordChanges {
        added,
        removed,
        words: (old.words.len() as u64).max(new.words.len() as u64),
        added_text: lines_only_in(now, before),
        removed_text: lines_only_in(before, now),
    }
}

fn lines_only_in(text: &str, other: &str) -> String {
    let others: std::collections::HashSet<&str> = other.lines().map(str::trim).collect();
    let own = text.lines().map(str::trim).filter(|line| !line.is_empty() && !others.contains(line));
    own.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_counted_by_words() {
        let changes = word_changes("One two\nthree three", "three four\nOne TWO");
        assert_eq!((changes.added, changes.removed, changes.words), (1, 1, 4));
        assert_eq!(
            (changes.added_text.as_str(), changes.removed_text.as_str()),
            ("three four\nOne TWO", "One two\nthree three")
        );
        let none = word_changes("a\nb", "b\na");
        assert_eq!((none.added, none.removed, none.added_text.as_str()), (0, 0, ""));
    }

    #[test]
    fn passages_are_short() {
        let long = format!("{} é mark é {}\nnext", "word ".repeat(100), "word ".repeat(100));
        let at = long.find("mark").unwrap();
        let passage = around(&long, at..at + 4);
        assert!(
            passage.starts_with("… ") && passage.ends_with(" …") && passage.contains("é mark é"),
            "{passage}"
        );
        assert_eq!(around("a\nb c\nd", 2..3), "b c");
        assert!(shortened(&"é".repeat(1000)).chars().count() <= 402);
    }
}
