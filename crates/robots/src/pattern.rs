//! Does the path of a rule cover the path of a URL?
//!
//! Both sides are brought into one form first (RFC 9309, 2.2.2): what is not allowed raw in a URL
//! is percent-encoded, what is needlessly encoded is decoded, hex digits are upper case. Reserved
//! characters keep their spelling, since `%2F` and `/` name different resources; only `*` and `$`
//! are always encoded as data, so that raw they mean "anything" and "end" and nothing else.

use std::borrow::Cow;

use memchr::{memchr, memchr2, memmem, memrchr};

/// Writes a rule's path in comparable form, `*` and a final `$` kept as operators.
pub(crate) fn push_rule_path(out: &mut String, raw: &[u8]) {
    let (body, anchor) = match raw.strip_suffix(b"$") {
        Some(body) => (body, "$"),
        None => (raw, ""),
    };
    for (index, literal) in body.split(|&byte| byte == b'*').enumerate() {
        if index > 0 {
            out.push('*');
        }
        push_literal(out, literal);
    }
    out.push_str(anchor);
}

/// Tells whether a rule's path is in comparable form as written, which most are.
pub(crate) fn is_comparable(raw: &[u8]) -> bool {
    raw.strip_suffix(b"$").unwrap_or(raw).iter().all(|&byte| byte == b'*' || is_plain(byte))
}

/// Brings a URL's path and query into comparable form, with the leading slash it may lack.
pub(crate) fn comparable(path: &str) -> Cow<'_, str> {
    if path.starts_with('/') && path.bytes().all(is_plain) {
        return Cow::Borrowed(path);
    }
    let mut out = String::with_capacity(path.len() + 8);
    if !path.starts_with('/') {
        out.push('/');
    }
    push_literal(&mut out, path.as_bytes());
    Cow::Owned(out)
}

/// Returns how many leading bytes of a pattern every path it covers must begin with.
pub(crate) fn literal_prefix(pattern: &[u8]) -> usize {
    memchr2(b'*', b'$', pattern).unwrap_or(pattern.len())
}

/// Tells whether a pattern covers a path, both in comparable form.
///
/// Taking the first place where each piece between stars fits is enough, as `*` takes anything:
/// a later place never leaves more room. So nothing is tried twice and the time is linear.
pub(crate) fn covers(pattern: &[u8], path: &[u8]) -> bool {
    let (pattern, anchored) = match pattern.strip_suffix(b"$") {
        Some(body) => (body, true),
        None => (pattern, false),
    };
    let Some(first_star) = memchr(b'*', pattern) else {
        return if anchored { path == pattern } else { path.starts_with(pattern) };
    };
    let Some(mut rest) = path.strip_prefix(&pattern[..first_star]) else { return false };
    let mut pieces = &pattern[first_star..];
    if anchored {
        // The last piece is bound to the end; what remains floats before it.
        let last_star = memrchr(b'*', pieces).unwrap_or(0);
        let Some(before) = rest.strip_suffix(&pieces[last_star + 1..]) else { return false };
        rest = before;
        pieces = &pieces[..last_star];
    }
    pieces
        .split(|&byte| byte == b'*')
        .filter(|piece| !piece.is_empty())
        .all(|piece| memmem::find(rest, piece).map(|at| rest = &rest[at + piece.len()..]).is_some())
}

fn push_literal(out: &mut String, raw: &[u8]) {
    let mut rest = raw;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match encoded_byte(byte, after) {
            Some(decoded) => {
                rest = &after[2..];
                if is_unreserved(decoded) {
                    out.push(decoded.into())
                } else {
                    push_encoded(out, decoded)
                }
            }
            None if is_plain(byte) => out.push(byte.into()),
            None => push_encoded(out, byte),
        }
    }
}

/// Reads the byte that `%` and the two hex digits after it stand for. A bare `%` means itself.
fn encoded_byte(byte: u8, after: &[u8]) -> Option<u8> {
    let hex = |digit: u8| char::from(digit).to_digit(16);
    match (byte, after) {
        (b'%', [high, low, ..]) => u8::try_from(hex(*high)? * 16 + hex(*low)?).ok(),
        _ => None,
    }
}

fn push_encoded(out: &mut String, byte: u8) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    out.push('%');
    out.push(HEX[usize::from(byte >> 4)].into());
    out.push(HEX[usize::from(byte & 15)].into());
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

/// Tells whether a byte of data is compared as it stands: unreserved, or reserved and no operator.
fn is_plain(byte: u8) -> bool {
    is_unreserved(byte)
        || matches!(byte, b'/' | b'?' | b'=' | b'&' | b':' | b'#' | b'[' | b']' | b'@')
        || matches!(byte, b'!' | b'\'' | b'(' | b')' | b'+' | b',' | b';')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rule(raw: &str) -> String {
        let mut out = String::new();
        push_rule_path(&mut out, raw.as_bytes());
        out
    }

    fn rule_covers(raw: &str, path: &str) -> bool {
        covers(rule(raw).as_bytes(), comparable(path).as_bytes())
    }

    /// Says what a pattern means by trying everything; exponential, so for small inputs only.
    fn covers_by_definition(pattern: &[u8], path: &[u8]) -> bool {
        match (pattern, path) {
            ([], _) => true,
            ([b'$'], _) => path.is_empty(),
            ([b'*', more @ ..], _) => {
                (0..=path.len()).any(|skip| covers_by_definition(more, &path[skip..]))
            }
            ([wanted, more @ ..], [found, after @ ..]) => {
                wanted == found && covers_by_definition(more, after)
            }
            _ => false,
        }
    }

    #[test]
    fn operators_cover_what_they_should() {
        let table = [
            ("/", "/", true),
            ("/fish", "/fishheads", true),
            ("/fish", "/Fish", false),
            ("/fish$", "/fish", true),
            ("/fish$", "/fish/", false),
            ("/*.php", "/a/b.php?x", true),
            ("/*.php$", "/a.php.php", true),
            ("/*.php$", "/a.php5", false),
            ("/a*b*c$", "/abbc", true),
            ("/ab*b$", "/ab", false),
            ("/*", "/", true),
            ("*", "/x", true),
            ("*$", "/x", true),
            ("/**$", "/x", true),
            ("/$", "/", true),
            ("/$", "/x", false),
            ("/a$b", "/a$b", true),
            ("/a$$", "/a$", true),
            ("a", "/a", false),
            ("", "/a", true),
        ];
        for (raw, path, expected) in table {
            assert_eq!(rule_covers(raw, path), expected, "{raw} on {path}");
        }
    }

    #[test]
    fn spellings_of_one_path_compare_equal() {
        let table = [
            ("/ツ", "/%e3%83%84", true),
            ("/%E3%83%84", "/ツ", true),
            ("/%62%61%7a", "/baz", true),
            ("/baz", "/%62%61%7A", true),
            ("/a%3cb", "/a<b", true),
            ("/a b", "/a%20b", true),
            ("/100%", "/100%25", true),
            ("/%zz", "/%25zz", true),
            ("/%4", "/%254", true),
            ("/a%2fb", "/a%2Fb", true),
            ("/a%2Fb", "/a/b", false),
            ("/a%3Fb", "/a?b", false),
            ("/%2A", "/*", true),
            ("/%2A", "/x", false),
            ("/x%24", "/x$", true),
            ("/x%24", "/x", false),
            ("/~joe", "/%7Ejoe", true),
            ("/?q", "?q", true),
            ("/", "", true),
        ];
        for (raw, path, expected) in table {
            assert_eq!(rule_covers(raw, path), expected, "{raw} on {path}");
        }
    }

    #[test]
    fn hostile_patterns_take_linear_time() {
        // A backtracking matcher would not come back from these.
        let stars = format!("/{}b", "*a".repeat(8_000));
        let path = format!("/{}", "a".repeat(20_000));
        assert!(!rule_covers(&stars, &path));
        assert!(!rule_covers(&format!("{stars}$"), &path));
        assert!(rule_covers(&stars[..stars.len() - 1], &path));
        assert!(!rule_covers(&format!("/*{}b", "a".repeat(8_000)), &path));
    }

    proptest! {
        #[test]
        fn agrees_with_the_definition(pattern in "[/*ab]{0,10}\\$?", path in "/[/ab]{0,10}") {
            prop_assert_eq!(
                covers(pattern.as_bytes(), path.as_bytes()),
                covers_by_definition(pattern.as_bytes(), path.as_bytes())
            );
        }

        #[test]
        fn comparable_form_is_stable(path in "\\PC{0,40}") {
            let once = comparable(&path).into_owned();
            prop_assert_eq!(comparable(&once).into_owned(), once.clone());
            prop_assert!(once.is_ascii() && !once.contains(['*', '$']));
        }

        #[test]
        fn rules_in_comparable_form_are_kept(raw in "[/a%$*é <~:]{0,12}") {
            if is_comparable(raw.as_bytes()) {
                prop_assert_eq!(rule(&raw), raw);
            }
        }

        #[test]
        fn a_path_covers_itself_and_what_follows(path in "\\PC{0,30}", more in "\\PC{0,10}") {
            let mut pattern = String::new();
            push_rule_path(&mut pattern, comparable(&path).as_bytes());
            let longer = comparable(&path).into_owned() + &comparable(&more);
            prop_assert!(covers(pattern.as_bytes(), longer.as_bytes()));
        }
    }
}
