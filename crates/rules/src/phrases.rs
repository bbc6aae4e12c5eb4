//! Which of the user's phrases does a text use?

use aho_corasick::{AhoCorasick, MatchKind};

use crate::folded::Folded;
use crate::passages::around;

/// Phrases to be looked for: names, trademarks.
#[derive(Clone, Debug)]
pub struct Phrases {
    finder: AhoCorasick,
    phrases: Vec<String>,
}

/// A phrase in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PhraseUse {
    /// As the user wrote it.
    pub(crate) phrase: String,
    /// The text around it.
    pub(crate) passage: String,
}

impl Phrases {
    /// Reads phrases, one a line; what follows `#` at the beginning of a line is a comment. `Err` says what is wrong.
    pub fn read(text: &str) -> Result<Self, String> {
        let lines = text.trim_start_matches('\u{feff}').lines().map(str::trim);
        let phrases: Vec<String> = lines
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
            .map(str::to_owned)
            .collect();
        let folded: Vec<String> = phrases.iter().map(|phrase| Folded::of(phrase).text).collect();
        if let Some(wrong) = folded.iter().position(String::is_empty) {
            return Err(format!("`{}` has no letter to look for", phrases[wrong]));
        }
        if phrases.is_empty() {
            return Err("there is no phrase in it; write one a line".to_owned());
        }
        let finder = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(folded);
        let finder = finder.map_err(|error| format!("too many phrases: {error}"))?;
        Ok(Phrases { finder, phrases })
    }

    /// The first use of a phrase in a text that `known` does not hold, by its passage.
    pub(crate) fn first_use(&self, text: &str, known: &dyn Fn(&str) -> bool) -> Option<PhraseUse> {
        let folded = Folded::of(text);
        // A space that ends one phrase may begin the next: so each search goes on a byte before the end.
        let mut from = 0;
        while let Some(found) = self.finder.find(folded.text.get(from..).unwrap_or_default()) {
            let (start, end) = (from + found.start() + 1, from + found.end() - 1);
            let words = folded.word_at(start)..folded.word_at(end - 1) + 1;
            let passage = around(text, folded.range(words));
            if !known(&passage) {
                return Some(PhraseUse {
                    phrase: self.phrases[found.pattern().as_usize()].clone(),
                    passage,
                });
            }
            from = end;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_are_found_as_words() {
        let phrases = Phrases::read("# marks\nAcme Cola\nZÜRI-Soft\n\n").unwrap();
        for (text, want) in [
            ("Drink ACME-COLA now", Some("Acme Cola")),
            ("acme\ncola®", Some("Acme Cola")),
            ("Acme's Cola", None),
            ("Acme Colas", None),
            ("the new züri soft.", Some("ZÜRI-Soft")),
            ("macme cola", None),
            ("", None),
        ] {
            let found = phrases.first_use(text, &|_| false).map(|found| found.phrase);
            assert_eq!(found.as_deref(), want, "{text}");
        }
        let second = phrases
            .first_use("acme cola acme cola\nzüri soft", &|passage| passage.starts_with("acme"));
        assert_eq!(second.unwrap().passage, "züri soft");
    }

    #[test]
    fn what_is_no_phrase_is_told() {
        assert!(Phrases::read("ok\n®").unwrap_err().contains("`®`"));
        assert!(Phrases::read("# none").unwrap_err().contains("no phrase"));
    }
}
