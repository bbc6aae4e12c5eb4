//! How are changes shown? In colours on a terminal, else between marks.

use super::words::{Gap, Hunk, Mark, join};
use crate::print;

/// Shows what was deleted and inserted.
#[derive(Clone, Copy)]
pub(super) struct Paint {
    color: bool,
}

impl Paint {
    pub(super) fn new(color: bool) -> Self {
        Paint { color }
    }

    /// A line that belongs to one side.
    pub(super) fn line(self, mark: Mark, text: &str) -> String {
        let code = code(mark);
        let color = self.color && !code.is_empty();
        if color { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// A place that changed, with some of what stands around it.
    pub(super) fn hunk(self, hunk: &Hunk<'_>) -> String {
        let mut shown = String::new();
        if hunk.cut.0 {
            shown.push_str("\u{2026} ");
        }
        for (n, (mark, words)) in hunk.parts.iter().enumerate() {
            let gap = words.first().map_or(Gap::Space, |word| word.gap);
            match gap {
                _ if n == 0 => {}
                Gap::Line => shown.push('\n'),
                Gap::None if *mark == Mark::Same => {}
                Gap::None | Gap::Space => shown.push(' '),
            }
            let noise = *mark != Mark::Same && words.iter().all(|word| word.noise);
            shown.push_str(&self.part(*mark, noise, &join(words)));
        }
        if hunk.cut.1 {
            shown.push_str(" \u{2026}");
        }
        shown
    }

    /// Marks end with the line, so that every line can be read by itself.
    fn part(self, mark: Mark, noise: bool, text: &str) -> String {
        let lines = text.split('\n').map(|line| {
            // What a page says must not speak to the terminal.
            let line = print::plain(line);
            match mark {
                _ if self.color && noise => format!("\x1b[{GREY}m{line}\x1b[0m"),
                _ if self.color => self.line(mark, &line),
                Mark::Same => line,
                Mark::Deleted if noise => format!("(-{line}-)"),
                Mark::Inserted if noise => format!("(+{line}+)"),
                Mark::Deleted => format!("[-{line}-]"),
                Mark::Inserted => format!("{{+{line}+}}"),
            }
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}

/// The terminal's code for what is no news.
const GREY: &str = "90";

/// The terminal's code for red and struck out, and for green.
fn code(mark: Mark) -> &'static str {
    match mark {
        Mark::Same => "",
        Mark::Deleted => "31;9",
        Mark::Inserted => "32",
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::super::words::{Changes, split};
    use super::*;

    /// Where the time stands in the texts below.
    const CLOCK: Range<usize> = 3..8;

    fn shown(color: bool, old: &str, new: &str) -> String {
        let (old, new) = (split(old, &[]), split(new, &[]));
        let changes = Changes::between(&old, &new);
        let hunks: Vec<String> =
            changes.hunks.iter().map(|hunk| Paint::new(color).hunk(hunk)).collect();
        hunks.join(" | ")
    }

    #[test]
    fn marks_and_colours() {
        assert_eq!(shown(false, "the old fox", "the new fox"), "the [-old-] {+new+} fox");
        assert_eq!(
            shown(true, "the old fox", "the new fox"),
            "the \x1b[31;9mold\x1b[0m \x1b[32mnew\x1b[0m fox"
        );
        assert_eq!(shown(false, "a\nb c\nd", "a\nd"), "a\n[-b c-]\nd");
        assert_eq!(shown(false, "a", "a\nb\nc"), "a\n{+b+}\n{+c+}");
    }

    #[test]
    fn what_is_no_news_is_pale() {
        let (old, new) = (split("at 12:30 x", &[CLOCK]), split("at 12:31 y", &[CLOCK]));
        let changes = Changes::between(&old, &new);
        let shown = |color| Paint::new(color).hunk(&changes.hunks[0]);
        assert_eq!(shown(false), "at (-12:30-) [-x-] (+12:31+) {+y+}");
        assert!(shown(true).contains("\x1b[90m12:31\x1b[0m"));
    }

    #[test]
    fn a_page_cannot_speak_to_the_terminal() {
        let evil = shown(true, "calm", "calm \u{1b}[2J\u{7} \u{9b}31m");
        assert!(!evil.contains("\u{1b}[2J") && !evil.contains('\u{7}') && !evil.contains('\u{9b}'));
    }
}
