//! How are changes shown? In colours on a terminal, else between marks.

use evercrawl_query::{Before, Part, PartWords};

use crate::print;

/// What became of words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// They stayed.
    Same,
    /// They are of the earlier version alone.
    Deleted,
    /// They are of the later version alone.
    Inserted,
}

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
    pub(super) fn line(self, side: Side, text: &str) -> String {
        let code = code(side);
        let color = self.color && !code.is_empty();
        if color { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// A place that changed, with some of the words around it.
    pub(super) fn change(self, parts: &[Part]) -> String {
        let mut shown = String::new();
        for (n, part) in parts.iter().enumerate() {
            let (side, text) = match &part.words {
                PartWords::Same(text) => (Side::Same, text),
                PartWords::Deleted(text) => (Side::Deleted, text),
                PartWords::Inserted(text) => (Side::Inserted, text),
            };
            match part.before {
                _ if part.cut_before => shown.push_str("\u{2026} "),
                _ if n == 0 => {}
                Before::Line => shown.push('\n'),
                Before::Nothing if side == Side::Same => {}
                Before::Nothing | Before::Space => shown.push(' '),
            }
            shown.push_str(&self.part(side, part.ignored, text));
            if part.cut_after {
                shown.push_str(" \u{2026}");
            }
        }
        shown
    }

    /// Marks end with the line, so that every line can be read by itself.
    fn part(self, side: Side, ignored: bool, text: &str) -> String {
        let lines = text.split('\n').map(|line| {
            // What a page says must not speak to the terminal.
            let line = print::plain(line);
            match side {
                _ if self.color && ignored => format!("\x1b[{GREY}m{line}\x1b[0m"),
                _ if self.color => self.line(side, &line),
                Side::Same => line,
                Side::Deleted if ignored => format!("(-{line}-)"),
                Side::Inserted if ignored => format!("(+{line}+)"),
                Side::Deleted => format!("[-{line}-]"),
                Side::Inserted => format!("{{+{line}+}}"),
            }
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}

/// The terminal's code for volatile words.
const GREY: &str = "90";

/// The terminal's code for red and struck out, and for green.
fn code(side: Side) -> &'static str {
    match side {
        Side::Same => "",
        Side::Deleted => "31;9",
        Side::Inserted => "32",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(words: PartWords) -> Part {
        let (cut_before, cut_after) = (false, false);
        Part { words, ignored: false, before: Before::Space, cut_before, cut_after }
    }

    fn same(text: &str) -> Part {
        part(PartWords::Same(text.to_owned()))
    }

    fn deleted(text: &str) -> Part {
        part(PartWords::Deleted(text.to_owned()))
    }

    fn inserted(text: &str) -> Part {
        part(PartWords::Inserted(text.to_owned()))
    }

    #[test]
    fn marks_and_colours() {
        let shown = |color, parts: &[Part]| Paint::new(color).change(parts);
        let foxes = [same("the"), deleted("old"), inserted("new"), same("fox")];
        assert_eq!(shown(false, &foxes), "the [-old-] {+new+} fox");
        let colours = "the \x1b[31;9mold\x1b[0m \x1b[32mnew\x1b[0m fox";
        assert_eq!(shown(true, &foxes), colours);
        let line = |part: Part| Part { before: Before::Line, ..part };
        let lines = [same("a"), line(deleted("b c")), line(same("d"))];
        assert_eq!(shown(false, &lines), "a\n[-b c-]\nd");
        assert_eq!(shown(false, &[same("a"), line(inserted("b\nc"))]), "a\n{+b+}\n{+c+}");
        let cut = Part { cut_before: true, cut_after: true, ..same("a") };
        assert_eq!(shown(false, &[cut]), "\u{2026} a \u{2026}");
        let next = Part { before: Before::Nothing, ..same("b") };
        assert_eq!(shown(false, &[deleted("a"), next]), "[-a-]b");
    }

    #[test]
    fn volatile_words_are_pale() {
        let pale = |part: Part| Part { ignored: true, ..part };
        let parts = [
            same("at"),
            pale(deleted("12:30")),
            deleted("x"),
            pale(inserted("12:31")),
            inserted("y"),
        ];
        let shown = |color| Paint::new(color).change(&parts);
        assert_eq!(shown(false), "at (-12:30-) [-x-] (+12:31+) {+y+}");
        assert!(shown(true).contains("\x1b[90m12:31\x1b[0m"));
    }

    #[test]
    fn a_page_cannot_speak_to_the_terminal() {
        let evil = [same("calm"), inserted("\u{1b}[2J\u{7} \u{9b}31m")];
        let evil = Paint::new(true).change(&evil);
        assert!(!evil.contains("\u{1b}[2J") && !evil.contains('\u{7}') && !evil.contains('\u{9b}'));
    }
}
