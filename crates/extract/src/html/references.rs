//! Which characters do references such as `&amp;` stand for?
//!
//! The few that pages are full of are known here; for all others html5gum is asked.

use std::convert::Infallible;

use html5gum::{Emitter, Error, State, Tokenizer};

/// The references that make up most of what pages hold.
const USUAL: [(&[u8], &str); 8] = [
    (b"&amp;", "&"),
    (b"&lt;", "<"),
    (b"&gt;", ">"),
    (b"&quot;", "\""),
    (b"&nbsp;", "\u{a0}"),
    (b"&#39;", "'"),
    (b"&#160;", "\u{a0}"),
    (b"&#xa0;", "\u{a0}"),
];

/// Writes a text to `out`, over what was there, with the characters that its references stand for.
pub(super) fn in_text(text: &[u8], out: &mut Vec<u8>) {
    out.clear();
    if !resolve_usual(text, out) {
        out.clear();
        resolve(text, State::RcData, out);
    }
}

/// Writes the value of an attribute to `out`, over what was there, likewise, and with its line ends
/// as HTML has them.
pub(super) fn in_value(value: &[u8], quote: Option<u8>, out: &mut Vec<u8>) {
    out.clear();
    if value.contains(&b'\r') || !resolve_usual(value, out) {
        out.clear();
        let quote = quote.as_slice();
        let tag = [b"<a b=", quote, value, quote, b">"].concat();
        resolve(&tag, State::Data, out);
    }
}

/// Resolves references as long as they are usual ones; false where one is not.
fn resolve_usual(text: &[u8], out: &mut Vec<u8>) -> bool {
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'&', rest) {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at..];
        let usual = USUAL.iter().find(|(reference, _)| rest.starts_with(reference));
        let (length, meaning) = match usual {
            Some((reference, meaning)) => (reference.len(), *meaning),
            None if is_bare(rest) => (1, "&"),
            None => return false,
        };
        out.extend_from_slice(meaning.as_bytes());
        rest = &rest[length..];
    }
    out.extend_from_slice(rest);
    true
}

/// True of a `&` that begins no reference.
fn is_bare(rest: &[u8]) -> bool {
    !rest.get(1).is_some_and(|next| next.is_ascii_alphanumeric() || *next == b'#')
}

fn resolve(text: &[u8], state: State, out: &mut Vec<u8>) {
    let mut tokenizer = Tokenizer::new_with_emitter(text, Gathering(out));
    tokenizer.set_state(state);
    // A slice in memory gives no read errors, and the emitter gives no tokens.
    let Ok(()) = tokenizer.finish();
}

/// Gathers text and values only.
struct Gathering<'a>(&'a mut Vec<u8>);

impl Emitter for Gathering<'_> {
    type Token = Infallible;

    fn emit_string(&mut self, text: &[u8]) {
        self.0.extend_from_slice(text);
    }

    fn push_attribute_value(&mut self, piece: &[u8]) {
        self.0.extend_from_slice(piece);
    }

    fn pop_token(&mut self) -> Option<Infallible> {
        None
    }

    fn should_emit_errors(&mut self) -> bool {
        false
    }

    fn current_is_appropriate_end_tag_token(&mut self) -> bool {
        false
    }

    fn emit_current_tag(&mut self) -> Option<State> {
        None
    }

    fn set_last_start_tag(&mut self, _: Option<&[u8]>) {}
    fn emit_eof(&mut self) {}
    fn emit_error(&mut self, _: Error) {}
    fn init_start_tag(&mut self) {}
    fn init_end_tag(&mut self) {}
    fn init_comment(&mut self) {}
    fn emit_current_comment(&mut self) {}
    fn emit_current_doctype(&mut self) {}
    fn set_self_closing(&mut self) {}
    fn set_force_quirks(&mut self) {}
    fn push_tag_name(&mut self, _: &[u8]) {}
    fn push_comment(&mut self, _: &[u8]) {}
    fn push_doctype_name(&mut self, _: &[u8]) {}
    fn init_doctype(&mut self) {}
    fn init_attribute(&mut self) {}
    fn push_attribute_name(&mut self, _: &[u8]) {}
    fn set_doctype_public_identifier(&mut self, _: &[u8]) {}
    fn set_doctype_system_identifier(&mut self, _: &[u8]) {}
    fn push_doctype_public_identifier(&mut self, _: &[u8]) {}
    fn push_doctype_system_identifier(&mut self, _: &[u8]) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_resolved_as_the_standard_says() {
        for (text, in_a_text, in_a_value) in [
            ("", "", ""),
            ("a &amp; b &lt;&gt;&quot;&nbsp;", "a & b <>\"\u{a0}", "a & b <>\"\u{a0}"),
            ("a & b &", "a & b &", "a & b &"),
            ("&copy;&#233;&#xe9", "©éé", "©éé"),
            ("?a=1&copy=2&lt=3", "?a=1©=2<=3", "?a=1&copy=2&lt=3"),
            ("&ampx;&notit;", "&x;¬it;", "&ampx;&notit;"),
            ("&unknown;&#0;", "&unknown;\u{fffd}", "&unknown;\u{fffd}"),
            ("&amp;amp;", "&amp;", "&amp;"),
        ] {
            let mut out = b"before".to_vec();
            in_text(text.as_bytes(), &mut out);
            assert_eq!(String::from_utf8_lossy(&out), in_a_text, "{text}");
            in_value(text.as_bytes(), Some(b'\''), &mut out);
            assert_eq!(String::from_utf8_lossy(&out), in_a_value, "{text}");
        }
    }

    #[test]
    fn line_ends_in_values_are_those_of_html() {
        let mut out = Vec::new();
        in_value(b"a\r\nb\rc&amp;", Some(b'"'), &mut out);
        assert_eq!(out, b"a\nb\nc&");
        in_value(b"a'\"&#33;", None, &mut out);
        assert_eq!(out, b"a'\"!");
    }
}
