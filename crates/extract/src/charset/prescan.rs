//! Does the document say what its encoding is? The HTML standard's look at the first kilobyte.

use encoding_rs::{Encoding, UTF_16BE, UTF_16LE};

use super::as_declared;

/// How far the standard looks.
const WINDOW: usize = 1024;

/// The encoding that a `<meta>` element or an XML declaration names.
pub(super) fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    let window = bytes.get(..WINDOW).unwrap_or(bytes);
    from_xml_declaration(window).or_else(|| Prescan { window, at: 0 }.run())
}

/// Reads `<?xml ... encoding="..."`, also when its very bytes show UTF-16 without a mark.
fn from_xml_declaration(window: &[u8]) -> Option<&'static Encoding> {
    match window {
        [b'<', 0, b'?', 0, b'x', 0, ..] => return Some(UTF_16LE),
        [0, b'<', 0, b'?', 0, b'x', ..] => return Some(UTF_16BE),
        _ => {}
    }
    let inside = window.strip_prefix(b"<?xml")?;
    let inside = &inside[..memchr::memchr(b'>', inside)?];
    let after = &inside[memchr::memmem::find(inside, b"encoding")? + b"encoding".len()..];
    let after = after.trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let (quote, value) = after.split_first()?;
    if !matches!(quote, b'"' | b'\'') {
        return None;
    }
    as_declared(&value[..memchr::memchr(*quote, value)?])
}

struct Prescan<'a> {
    window: &'a [u8],
    at: usize,
}

/// One attribute as it stands there.
struct Attribute<'a> {
    name: &'a [u8],
    value: &'a [u8],
}

impl<'a> Prescan<'a> {
    fn run(mut self) -> Option<&'static Encoding> {
        while let Some(offset) = memchr::memchr(b'<', self.rest()) {
            self.at += offset;
            if self.rest().starts_with(b"<!--") {
                self.skip_past(2, b"-->");
            } else if self.at_meta() {
                self.at += b"<meta".len();
                if let Some(encoding) = self.meta() {
                    return Some(encoding);
                }
            } else {
                self.skip_tag();
            }
        }
        None
    }

    fn rest(&self) -> &[u8] {
        self.window.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.window.get(self.at).copied()
    }

    fn at_meta(&self) -> bool {
        let rest = self.rest();
        rest.get(1..5).is_some_and(|name| name.eq_ignore_ascii_case(b"meta"))
            && rest.get(5).is_some_and(|byte| is_space(*byte) || *byte == b'/')
    }

    fn skip_past(&mut self, from: usize, end: &[u8]) {
        let start = (self.at + from).min(self.window.len());
        self.at = match memchr::memmem::find(&self.window[start..], end) {
            Some(offset) => start + offset + end.len(),
            None => self.window.len(),
        };
    }

    fn skip_tag(&mut self) {
        match self.rest() {
            [_, b'/', letter, ..] | [_, letter, ..] if letter.is_ascii_alphabetic() => {
                while self.peek().is_some_and(|byte| !is_space(byte) && byte != b'>') {
                    self.at += 1;
                }
                while self.attribute().is_some() {}
            }
            [_, b'!' | b'/' | b'?', ..] => self.skip_past(1, b">"),
            _ => self.at += 1,
        }
    }

    /// Reads a `<meta>`'s attributes; the first of each name counts.
    fn meta(&mut self) -> Option<&'static Encoding> {
        let (mut charset, mut content, mut is_pragma) = (None, None, false);
        while let Some(Attribute { name, value }) = self.attribute() {
            let named = |wanted: &[u8]| name.eq_ignore_ascii_case(wanted);
            if named(b"charset") {
                charset = charset.or(Some(value));
            } else if named(b"content") {
                content = content.or(Some(value));
            } else if named(b"http-equiv") {
                is_pragma |= value.eq_ignore_ascii_case(b"content-type");
            }
        }
        let content = content.filter(|_| is_pragma).map(<[u8]>::to_ascii_lowercase);
        let named = content.as_deref().and_then(charset_in_content);
        as_declared(charset.or(named)?.trim_ascii())
    }

    fn attribute(&mut self) -> Option<Attribute<'a>> {
        self.skip_while(|byte| is_space(byte) || byte == b'/');
        if matches!(self.peek(), None | Some(b'>')) {
            return None;
        }
        let name = self.take_while(|byte| !is_space(byte) && !matches!(byte, b'=' | b'/' | b'>'));
        self.skip_while(is_space);
        if self.peek() != Some(b'=') {
            return Some(Attribute { name, value: &[] });
        }
        self.at += 1;
        self.skip_while(is_space);
        let value = match self.peek() {
            Some(quote @ (b'"' | b'\'')) => {
                self.at += 1;
                let value = self.take_while(|byte| byte != quote);
                self.at += 1;
                value
            }
            _ => self.take_while(|byte| !is_space(byte) && byte != b'>'),
        };
        Some(Attribute { name, value })
    }

    fn skip_while(&mut self, wanted: impl Fn(u8) -> bool) {
        while self.peek().is_some_and(&wanted) {
            self.at += 1;
        }
    }

    /// Takes bytes. An `=` that opens an attribute belongs to its name.
    fn take_while(&mut self, wanted: impl Fn(u8) -> bool) -> &'a [u8] {
        let start = self.at;
        if self.peek() == Some(b'=') {
            self.at += 1;
        }
        self.skip_while(wanted);
        &self.window[start..self.at]
    }
}

/// The charset in `text/html; charset=...`, wherever in the value it stands.
fn charset_in_content(content: &[u8]) -> Option<&[u8]> {
    let mut rest = content;
    loop {
        rest = &rest[memchr::memmem::find(rest, b"charset")? + b"charset".len()..];
        let Some(value) = rest.trim_ascii_start().strip_prefix(b"=") else { continue };
        let value = value.trim_ascii_start();
        return match value.split_first()? {
            (quote @ (b'"' | b'\''), inside) => Some(&inside[..memchr::memchr(*quote, inside)?]),
            _ => value.split(|byte| is_space(*byte) || *byte == b';').next(),
        };
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | 0x0c | b'\r' | b' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_declarations_where_the_standard_does() {
        for (html, want) in [
            ("<meta charset=koi8-r>", Some("KOI8-R")),
            ("<META CHARSET='koi8-r'>", Some("KOI8-R")),
            ("<meta/charset=\"koi8-r\"/>", Some("KOI8-R")),
            ("<meta charset = koi8-r ><meta charset=utf-8>", Some("KOI8-R")),
            ("<meta http-equiv=content-type content='text/html; charset=koi8-r'>", Some("KOI8-R")),
            ("<meta content='charset=koi8-r' http-equiv=Content-Type>", Some("KOI8-R")),
            ("<meta content='charset charset=\"koi8-r\"' http-equiv=Content-Type>", Some("KOI8-R")),
            ("<meta content='text/html; charset=koi8-r'>", None),
            ("<meta http-equiv=refresh content='charset=koi8-r'>", None),
            ("<!-- <meta charset=utf-8> --><meta charset=koi8-r>", Some("KOI8-R")),
            ("<!--><meta charset=koi8-r>", Some("KOI8-R")),
            ("<a title='<meta charset=utf-8>'><meta charset=koi8-r>", Some("KOI8-R")),
            ("<?php <meta charset=utf-8><meta charset=koi8-r>", Some("KOI8-R")),
            ("<metacharset=koi8-r>", None),
            ("<meta charset=x-user-defined>", Some("windows-1252")),
            ("<meta charset=utf-16be>", Some("UTF-8")),
            ("<meta charset=>", None),
            ("<meta charset='koi8-r", Some("KOI8-R")),
            ("<meta charset=unknown-9><meta charset=koi8-r>", Some("KOI8-R")),
            ("<?xml version=\"1.0\" encoding = 'koi8-r' ?>", Some("KOI8-R")),
            ("<?xml version=\"1.0\" encoding=koi8-r?>", None),
            ("< <", None),
            ("", None),
        ] {
            assert_eq!(declared(html.as_bytes()).map(Encoding::name), want, "{html}");
        }
    }

    #[test]
    fn looks_no_further_than_the_first_kilobyte() {
        let late = format!("{}<meta charset=koi8-r>", " ".repeat(WINDOW));
        assert_eq!(declared(late.as_bytes()), None);
        assert_eq!(declared(b"<\0?\0x\0m\0l\0"), Some(UTF_16LE));
    }
}
