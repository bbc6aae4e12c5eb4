//! Where do the headers of a response lead? `Link`, and headers that name one address.

use crate::html::{LinkKind, LinkPlace, LinkSink, Links, kind_of_link};

/// The most links that headers may have.
const MOST: usize = 256;

/// The links that the headers of one response name.
#[derive(Clone, Debug, Default)]
pub struct HeaderLinks {
    links: Links,
    cut: bool,
}

impl HeaderLinks {
    /// The links so far.
    pub fn links(&self) -> &Links {
        &self.links
    }

    /// Adds the address that a header consists of, such as `Content-Location`.
    pub fn add(&mut self, address: &str, kind: LinkKind) {
        self.sink().add(address, kind, LinkPlace::Header);
    }

    /// Adds the links in the value of a `Link` header (RFC 8288).
    pub fn add_link_header(&mut self, value: &str) {
        let mut rest = value;
        while let Some((_, after)) = rest.split_once('<') {
            let Some((address, parameters)) = after.split_once('>') else { return };
            let (parameters, next) = parameters.split_at(end_of_parameters(parameters));
            rest = next;
            // A link with an anchor speaks of another document.
            if parameter(parameters, "anchor").is_some() {
                continue;
            }
            let rel = parameter(parameters, "rel").unwrap_or_default();
            let media_type = parameter(parameters, "type").unwrap_or_default();
            if let Some(kind) = kind_of_link(&rel, &media_type) {
                self.add(address, kind);
            }
        }
    }

    fn sink(&mut self) -> LinkSink<'_> {
        LinkSink { links: &mut self.links, max: MOST, cut: &mut self.cut }
    }
}

/// Where the next link begins: at a comma outside of quotation marks.
fn end_of_parameters(text: &str) -> usize {
    let (mut quoted, mut escaped) = (false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b',' if !quoted => return at,
            _ => {}
        }
    }
    text.len()
}

/// The value of the first parameter of that name.
fn parameter(parameters: &str, name: &str) -> Option<String> {
    let mut rest = parameters;
    loop {
        rest = rest.trim_start_matches(|c: char| c == ';' || c.is_ascii_whitespace());
        if rest.is_empty() {
            return None;
        }
        let end = rest.find(['=', ';']).unwrap_or(rest.len());
        let (found, after) = rest.split_at(end);
        let after = after.strip_prefix('=').unwrap_or(after).trim_ascii_start();
        let (value, next) = parameter_value(after);
        if found.trim_ascii().eq_ignore_ascii_case(name) {
            return Some(value);
        }
        rest = next;
    }
}

/// A value, with its quotation marks and escapes undone, and what comes after it.
fn parameter_value(text: &str) -> (String, &str) {
    let Some(inside) = text.strip_prefix('"') else {
        let (value, rest) = text.split_at(text.find(';').unwrap_or(text.len()));
        return (value.trim_ascii_end().to_owned(), rest);
    };
    let (mut value, mut escaped) = (String::new(), false);
    for (at, character) in inside.char_indices() {
        match character {
            _ if escaped => {
                value.push(character);
                escaped = false;
            }
            '\\' => escaped = true,
            '"' => return (value, &inside[at + 1..]),
            _ => value.push(character),
        }
    }
    (value, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn link_headers_are_read_as_the_standard_says() {
        for (value, want) in [
            ("</a>; rel=preload", &[("/a", LinkKind::Embed)][..]),
            (
                "</a>;rel=\"next\",<b>; title=\"x, <c>; \\\" y\"; rel=prev",
                &[("/a", LinkKind::Next), ("b", LinkKind::Previous)],
            ),
            ("</a>; rel=alternate; type=\"application/rss+xml\"", &[("/a", LinkKind::Feed)]),
            ("</a>; REL=Canonical , <> ; rel=next", &[("/a", LinkKind::Canonical)]),
            ("</a>; rel=preconnect, </b>", &[]),
            ("</a>; rel=next; anchor=\"/other\"", &[]),
            ("</a", &[]),
            ("</a>; rel=\"ne", &[("/a", LinkKind::Related)]),
            ("garbage", &[]),
        ] {
            let mut found = HeaderLinks::default();
            found.add_link_header(value);
            let all: Vec<_> = found.links().iter().map(|link| (link.href, link.kind)).collect();
            assert_eq!(all, want, "{value}");
        }
    }
}
