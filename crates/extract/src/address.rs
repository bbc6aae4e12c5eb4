//! What is the address in this text? The parts of the URL standard that do not need a base.

use std::borrow::Cow;

/// An address as the URL standard reads it: without control characters and spaces around it, and
/// without tabs and line ends inside.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    let trimmed = text.trim_matches(|c: char| c <= ' ');
    if trimmed.bytes().any(|byte| matches!(byte, b'\t' | b'\n' | b'\r')) {
        return Cow::Owned(trimmed.chars().filter(|c| !matches!(c, '\t' | '\n' | '\r')).collect());
    }
    Cow::Borrowed(trimmed)
}

/// Whether an address begins with that scheme, colon included.
pub(crate) fn has_scheme(address: &str, scheme: &str) -> bool {
    address.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
}

/// Whether an address holds its own content or a program: nothing that could be fetched.
pub(crate) fn leads_nowhere(address: &str) -> bool {
    has_scheme(address, "javascript:") || has_scheme(address, "data:")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_lose_what_the_url_standard_removes() {
        for (text, want) in [
            (" /a ", "/a"),
            ("\x01/a\x1f", "/a"),
            ("/a\n/b\t?c", "/a/b?c"),
            ("/a b", "/a b"),
            ("\u{a0}/a", "\u{a0}/a"),
            ("  ", ""),
        ] {
            assert_eq!(clean(text), want);
        }
    }

    #[test]
    fn programs_and_inline_content_lead_nowhere() {
        assert!(leads_nowhere("JavaScript:void(0)") && leads_nowhere("data:,x"));
        assert!(!leads_nowhere("datap") && !leads_nowhere("mailto:a@b") && !leads_nowhere("é"));
    }
}
