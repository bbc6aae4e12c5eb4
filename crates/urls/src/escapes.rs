//! Is every character of a path or query written in the one way that RFC 3986 prefers?

use std::borrow::Cow;

const UNRESERVED: u8 = 1;
const PATH: u8 = 2;
const QUERY: u8 = 4;

/// What RFC 3986 lets each byte be; `%` is none of these and looked at by itself.
const CLASS: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 128 {
        table[byte] = match byte as u8 {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                UNRESERVED | PATH | QUERY
            }
            b'!' | b'$' | b'&' | b'\'' | b'(' | b')' | b'*' | b'+' | b',' | b';' | b'=' => {
                PATH | QUERY
            }
            b':' | b'@' | b'/' => PATH | QUERY,
            b'?' => QUERY,
            _ => 0,
        };
        byte += 1;
    }
    table
}

/// Writes the escapes of a path in their one form.
pub(crate) fn in_path(path: &str) -> Cow<'_, str> {
    normalize(path, PATH)
}

/// Writes the escapes of a query in their one form.
pub(crate) fn in_query(query: &str) -> Cow<'_, str> {
    normalize(query, QUERY)
}

fn normalize(text: &str, allowed: u8) -> Cow<'_, str> {
    match first_deviation(text.as_bytes(), allowed) {
        Some(at) => Cow::Owned(rewrite(text, at, allowed)),
        None => Cow::Borrowed(text),
    }
}

fn first_deviation(bytes: &[u8], allowed: u8) -> Option<usize> {
    let mut at = 0;
    while let Some(skip) = bytes[at..].iter().position(|b| CLASS[usize::from(*b)] & allowed == 0) {
        at += skip;
        let settled = escaped(&bytes[at..]).is_some_and(|value| {
            let upper = !bytes[at..at + 3].iter().any(u8::is_ascii_lowercase);
            upper && !is_unreserved(value)
        });
        if !settled {
            return Some(at);
        }
        at += 3;
    }
    None
}

fn rewrite(text: &str, from: usize, allowed: u8) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    out.push_str(&text[..from]);
    let mut rest = &text.as_bytes()[from..];
    while let Some(&byte) = rest.first() {
        let value = escaped(rest);
        match value {
            Some(value) if is_unreserved(value) => out.push(char::from(value)),
            Some(value) => push_escape(&mut out, value),
            None if CLASS[usize::from(byte)] & allowed != 0 => out.push(char::from(byte)),
            None => push_escape(&mut out, byte),
        }
        rest = &rest[if value.is_some() { 3 } else { 1 }..];
    }
    out
}

/// The byte that the escape at the front stands for; `None` where there is no escape.
fn escaped(bytes: &[u8]) -> Option<u8> {
    let [b'%', high, low, ..] = bytes else { return None };
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    Some(digit(*high)? << 4 | digit(*low)?)
}

fn is_unreserved(byte: u8) -> bool {
    CLASS[usize::from(byte)] & UNRESERVED != 0
}

fn push_escape(out: &mut String, byte: u8) {
    const HEX: [char; 16] =
        ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'A', 'B', 'C', 'D', 'E', 'F'];
    out.extend(['%', HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_spelling_each() {
        for (text, path, query) in [
            ("/a-b_c.d~e", "/a-b_c.d~e", "/a-b_c.d~e"),
            ("/%41%2d%7e", "/A-~", "/A-~"),
            ("/%c3%A9%2f", "/%C3%A9%2F", "/%C3%A9%2F"),
            ("/[x]{y}|^`\\", "/%5Bx%5D%7By%7D%7C%5E%60%5C", "/%5Bx%5D%7By%7D%7C%5E%60%5C"),
            ("/a?b", "/a%3Fb", "/a?b"),
            ("100%", "100%25", "100%25"),
            ("%%36%36", "%2566", "%2566"),
            ("%2", "%252", "%252"),
            ("%zz%4", "%25zz%254", "%25zz%254"),
            ("!$&'()*+,;=:@", "!$&'()*+,;=:@", "!$&'()*+,;=:@"),
        ] {
            assert_eq!(in_path(text), path);
            assert_eq!(in_query(text), query);
        }
    }

    #[test]
    fn nothing_is_copied_where_nothing_changes() {
        assert!(matches!(in_path("/%C3%A9/%25/a"), Cow::Borrowed(_)));
        assert!(matches!(in_path("/%c3"), Cow::Owned(_)));
    }
}
