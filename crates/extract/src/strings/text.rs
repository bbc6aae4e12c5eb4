//! Which addresses stand in running text, as a reader would copy them into the address bar?

use super::judge::{Context, is_address};

/// Hands every address in a text to `found`. Besides whole addresses these are paths that begin with `./` or `../`, and
/// paths from the root whose ending tells a document; `absolute_only` leaves those out.
pub(crate) fn read_text(text: &str, absolute_only: bool, found: &mut dyn FnMut(&str)) {
    for word in
        text.split(|c: char| c.is_whitespace() || matches!(c, '<' | '>' | '"' | '`' | '|' | '\\'))
    {
        if let Some(address) = absolute(word) {
            // Patterns are full of parentheses, titles of articles end with them.
            if is_address(&address.replace(['(', ')'], ""), Context::Bare) {
                found(address);
            }
        } else if !absolute_only && word.contains('/') {
            let word = without_marks(word.trim_start_matches(['(', '[', '\'', '*']));
            if is_path(word) {
                found(word);
            }
        }
    }
}

/// The whole address in a word, from its scheme on.
fn absolute(word: &str) -> Option<&str> {
    let start = word.find("://")?.checked_sub(4)?;
    let http = [start.checked_sub(1), Some(start)].into_iter().flatten().find(|&at| {
        let is = |scheme: &str| {
            word.get(at..at + scheme.len()).is_some_and(|s| s.eq_ignore_ascii_case(scheme))
        };
        is("https://") || is("http://")
    })?;
    Some(without_marks(&word[http..]))
}

/// A word without the punctuation behind it; a parenthesis stays where it was opened within the word.
fn without_marks(mut word: &str) -> &str {
    loop {
        let shorter = word.trim_end_matches(['.', ',', ';', ':', '!', '?', '\'', ']', '}', '*']);
        let shorter = match shorter.strip_suffix(')') {
            Some(inside) if !is_balanced(shorter) => inside,
            _ => shorter,
        };
        if shorter.len() == word.len() {
            return word;
        }
        word = shorter;
    }
}

fn is_balanced(word: &str) -> bool {
    word.matches('(').count() == word.matches(')').count()
}

fn is_path(word: &str) -> bool {
    let inside = word.trim_start_matches("../").trim_start_matches("./");
    let dotted = inside.len() < word.len();
    let (path, _) = word.split_at(word.find(['?', '#']).unwrap_or(word.len()));
    let last = path.rsplit('/').next().unwrap_or_default();
    let has_ending = last.rsplit_once('.').is_some_and(|(name, ending)| {
        !name.is_empty() && ending.len() >= 2 && ending.bytes().all(|b| b.is_ascii_alphabetic())
    });
    let context = if dotted { Context::Named } else { Context::Bare };
    has_ending
        && (dotted || word.starts_with('/') && is_document(last))
        && is_address(word, context)
}

/// Whether a name's ending is one that is_address knows: then a single segment is an address too.
fn is_document(name: &str) -> bool {
    is_address(&format!("/{name}"), Context::Bare)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, absolute_only: bool) -> Vec<String> {
        let mut all = Vec::new();
        read_text(text, absolute_only, &mut |address| all.push(address.to_owned()));
        all
    }

    #[test]
    fn addresses_in_sentences_lose_the_marks_around_them() {
        for (text, want) in [
            ("See http://a.test/x.", &["http://a.test/x"][..]),
            (
                "(https://a.test/x_(y)), or <http://b.test>!",
                &["https://a.test/x_(y)", "http://b.test"],
            ),
            ("at:http://a.test/?a=b&c=d;", &["http://a.test/?a=b&c=d"]),
            ("string - ../a/b/c.found and ./d.found", &["../a/b/c.found", "./d.found"]),
            ("string - /known.pdf, /unknown.xyzzy /etc/hosts.conf and/or", &["/known.pdf"]),
            ("/usr/lib/python3.11 1/2 ../ ./ ./configure 'https://'", &[]),
            ("http://http://a.test/", &[]),
        ] {
            assert_eq!(found(text, false), want, "{text}");
        }
        assert_eq!(found("./a.html http://a.test/é", true), ["http://a.test/é"]);
        assert!(found("://x s://y é://z", false).is_empty());
    }
}
