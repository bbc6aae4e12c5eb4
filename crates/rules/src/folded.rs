//! Which words has a text, told apart as people do: without case, with hyphens and spaces alike?

use std::ops::Range;

/// The words of a text, folded, a space around each, and where each stands in the text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Folded {
    /// ` like this `; empty without words.
    pub(crate) text: String,
    /// Where each word begins in `text`, and its range in the text that was folded.
    pub(crate) words: Vec<(usize, Range<usize>)>,
}

impl Folded {
    pub(crate) fn of(text: &str) -> Self {
        let mut folded = Folded::default();
        let mut word: Option<usize> = None;
        for (at, c) in text.char_indices() {
            if is_silent(c) {
                continue;
            }
            if c.is_alphanumeric() {
                if word.is_none() {
                    folded.text.push(' ');
                    word = Some(at);
                    folded.words.push((folded.text.len(), at..at));
                }
                push_folded(&mut folded.text, c);
                if let Some((_, range)) = folded.words.last_mut() {
                    range.end = at + c.len_utf8();
                }
            } else {
                word = None;
            }
        }
        if !folded.words.is_empty() {
            folded.text.push(' ');
        }
        folded
    }

    /// The word that holds a place of the folded text.
    pub(crate) fn word_at(&self, place: usize) -> usize {
        self.words.partition_point(|(start, _)| *start <= place).saturating_sub(1)
    }

    /// A word, folded.
    pub(crate) fn word(&self, number: usize) -> &str {
        let Some((start, _)) = self.words.get(number) else { return "" };
        let end = self.words.get(number + 1).map_or(self.text.len(), |(next, _)| *next);
        self.text.get(*start..end - 1).unwrap_or_default()
    }

    /// Where some words stand in the text that was folded.
    pub(crate) fn range(&self, words: Range<usize>) -> Range<usize> {
        let start = self.words.get(words.start).map_or(0, |(_, range)| range.start);
        let last = words.end.saturating_sub(1);
        let end = self.words.get(last).map_or(start, |(_, range)| range.end);
        start..end.max(start)
    }
}

/// Soft hyphens, marks of width zero and accents that stand by themselves.
fn is_silent(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}' | '\u{300}'..='\u{36f}')
}

fn push_folded(text: &mut String, c: char) {
    match c {
        'ß' | 'ẞ' => text.push_str("ss"),
        'ς' => text.push('σ'),
        // Letters of full width, as in Japanese texts.
        '\u{ff21}'..='\u{ff3a}' | '\u{ff41}'..='\u{ff5a}' | '\u{ff10}'..='\u{ff19}' => {
            let plain = char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c);
            text.extend(plain.to_lowercase());
        }
        _ => text.extend(c.to_lowercase().filter(|c| !is_silent(*c))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_told_apart_as_people_do() {
        for (text, want) in [
            ("Acme-Cola®, the BEST!", " acme cola the best "),
            ("STRASSE Straße", " strasse strasse "),
            ("soft\u{ad}ly  e\u{301}", " softly e "),
            ("Ｆｕｌｌ１", " full1 "),
            ("ΟΔΟΣ οδος", " οδοσ οδοσ "),
            (" -- ", ""),
        ] {
            assert_eq!(Folded::of(text).text, want, "{text}");
        }
        let folded = Folded::of("One, two-three");
        assert_eq!((folded.word(2), folded.range(1..3)), ("three", 5..14));
        assert_eq!(folded.word_at(6), 1);
    }
}
