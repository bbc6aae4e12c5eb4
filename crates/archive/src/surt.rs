//! Under which key is a URL found in an index?
//!
//! Replay tools look a page up by the sort-friendly form of its URL that the Wayback Machine
//! uses: `http://www.Example.com/A/?b&a` is found under `com,example)/a?a&b`. A key that differs
//! in one byte is a page that cannot be replayed, so this follows their rules, odd ones included:
//! case is lost, `www` and its digits go, escapes are undone and redone, queries are sorted,
//! session identifiers are cut out. Hosts are expected as the URL standard writes them.

use std::borrow::Cow;

/// The sort key of `url` in CDX indexes: printable ASCII without spaces, on any input.
pub fn surt(url: &str) -> String {
    let url = without_breaks(url.trim().as_bytes());
    let url = url.split(|&b| b == b'#').next().unwrap_or_default();
    let key = match split(url) {
        Some(parts) => http_key(&parts),
        None => escape(&unescape(url)),
    };
    // Only what is printable is in it.
    String::from_utf8(key).unwrap_or_default()
}

/// The bytes but for line breaks and tabs, which hardly any URL has.
fn without_breaks(url: &[u8]) -> Cow<'_, [u8]> {
    let is_break = |b: &u8| matches!(b, b'\n' | b'\r' | b'\t');
    if !url.iter().any(is_break) {
        return url.into();
    }
    url.iter().copied().filter(|b| !is_break(b)).collect()
}

/// A colon, five digits and the bracket behind them.
const LONGEST_PORT: usize = 7;

struct Parts<'a> {
    host: &'a [u8],
    port: Option<&'a [u8]>,
    path: &'a [u8],
    query: Option<&'a [u8]>,
}

fn split(url: &[u8]) -> Option<Parts<'_>> {
    let colon = url.iter().position(|&b| b == b':')?;
    let (scheme, rest) = (&url[..colon], url[colon + 1..].strip_prefix(b"//")?);
    let default_port: &[u8] = match scheme.to_ascii_lowercase().as_slice() {
        b"http" => b"80",
        b"https" => b"443",
        _ => return None,
    };
    let (rest, query) = cut(rest, b'?');
    let end = rest.iter().position(|&b| b == b'/').unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let authority = authority.rsplit(|&b| b == b'@').next().unwrap_or_default();
    let (host, port) = split_port(authority);
    let port = port.filter(|&port| !port.is_empty() && port != default_port);
    Some(Parts { host, port, path, query })
}

/// Divides `host:port` or `[address]:port`; the brackets go.
fn split_port(authority: &[u8]) -> (&[u8], Option<&[u8]>) {
    match authority.strip_prefix(b"[").map(|inner| cut(inner, b']')) {
        Some((host, rest)) => (host, rest.and_then(|rest| rest.strip_prefix(b":"))),
        None => cut(authority, b':'),
    }
}

fn cut(text: &[u8], at: u8) -> (&[u8], Option<&[u8]>) {
    match text.iter().position(|&b| b == at) {
        Some(i) => (&text[..i], Some(&text[i + 1..])),
        None => (text, None),
    }
}

fn http_key(parts: &Parts) -> Vec<u8> {
    let length = parts.host.len() + parts.path.len() + parts.query.map_or(0, <[u8]>::len);
    let mut key = Vec::with_capacity(length + LONGEST_PORT);
    push_host_key(parts.host, &mut key);
    if let Some(port) = parts.port {
        key.push(b':');
        key.extend(escape(port));
    }
    key.push(b')');
    push_path_key(parts.path, &mut key);
    let query = parts.query.map(query_key).unwrap_or_default();
    if !query.is_empty() {
        key.push(b'?');
        key.extend(query);
    }
    key
}

/// The labels of a host from the last to the first, without `www`.
fn push_host_key(host: &[u8], key: &mut Vec<u8>) {
    let host = match host.iter().all(|&b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-')) {
        true => host.to_ascii_lowercase(),
        false => escape(&unescape(host)).to_ascii_lowercase(),
    };
    let labels = || host.split(|&b| b == b'.').filter(|label| !label.is_empty());
    let is_www = |label: &[u8]| {
        label.strip_prefix(b"www").is_some_and(|rest| rest.iter().all(u8::is_ascii_digit))
    };
    let left_out = usize::from(labels().next().is_some_and(is_www) && labels().nth(1).is_some());
    let kept = labels().count() - left_out;
    for (i, label) in labels().rev().take(kept).enumerate() {
        if i > 0 {
            key.push(b',');
        }
        key.extend_from_slice(label);
    }
}

fn push_path_key(path: &[u8], key: &mut Vec<u8>) {
    let start = key.len();
    if is_plain(path) {
        key.extend(path.iter().map(u8::to_ascii_lowercase));
    } else {
        key.extend(normal_path(path));
    }
    if key.len() > start + 1 && key.ends_with(b"/") {
        key.pop();
    }
}

/// Nothing of it need be undone, left out or cut: most paths are like that.
fn is_plain(path: &[u8]) -> bool {
    let is_usual = |&b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'/' | b'.' | b'-' | b'_');
    let is_odd = |pair: &[u8]| matches!(pair, b"//" | b"/.");
    path.starts_with(b"/") && path.iter().all(is_usual) && !path.windows(2).any(is_odd)
}

/// The path without escapes, dots, empty segments and sessions, in lower case.
fn normal_path(path: &[u8]) -> Vec<u8> {
    let mut kept: Vec<&[u8]> = Vec::new();
    let path = unescape(path);
    for segment in path.split(|&b| b == b'/').skip(1) {
        match segment {
            b"." => {}
            b".." if !kept.is_empty() => drop(kept.pop()),
            _ => kept.push(segment),
        }
    }
    let last = kept.pop().unwrap_or_default();
    kept.retain(|segment| !segment.is_empty());
    kept.push(last);
    let mut joined = vec![b'/'];
    joined.extend(kept.join(&b'/'));
    without_path_session(escape(&joined).to_ascii_lowercase())
}

/// Cuts ASP.NET's session segments out of the path of an `.aspx` page: `/(s(24 characters))/`
/// and `/(24 characters)/`, of each form the last.
fn without_path_session(path: Vec<u8>) -> Vec<u8> {
    let path = without_segment(path, is_wrapped_session);
    without_segment(path, |segment| token_in_brackets(segment, 24).is_some_and(<[u8]>::is_empty))
}

fn without_segment(path: Vec<u8>, is_session: impl Fn(&[u8]) -> bool) -> Vec<u8> {
    let (mut end, mut page_follows) = (path.len(), false);
    while let Some(slash) = path[..end].iter().rposition(|&b| b == b'/') {
        let segment = &path[slash + 1..end];
        if page_follows && is_session(segment) {
            return [&path[..=slash], &path[end + 1..]].concat();
        }
        let (before_query, query) = cut(segment, b'?');
        let is_page = before_query.windows(5).any(|w| w == b".aspx");
        page_follows = is_page || page_follows && query.is_none();
        end = slash;
    }
    path
}

/// `(s(24 characters)f(24 characters))`: one letter and a bracketed token, once or more.
fn is_wrapped_session(segment: &[u8]) -> bool {
    let inner = segment.strip_prefix(b"(").and_then(|rest| rest.strip_suffix(b")"));
    let Some(mut rest) = inner.filter(|inner| !inner.is_empty()) else { return false };
    while let [letter, bracketed @ ..] = rest {
        match token_in_brackets(bracketed, 24) {
            Some(after) if letter.is_ascii_alphabetic() => rest = after,
            _ => return false,
        }
    }
    true
}

/// What follows `(token)` of exactly `length` letters and digits.
fn token_in_brackets(text: &[u8], length: usize) -> Option<&[u8]> {
    let (token, after) = text.strip_prefix(b"(")?.split_at_checked(length)?;
    token.iter().all(u8::is_ascii_alphanumeric).then_some(after)?.strip_prefix(b")")
}

fn query_key(query: &[u8]) -> Vec<u8> {
    let query = escape(&unescape(query)).to_ascii_lowercase();
    let query = without_query_sessions(query);
    let mut pairs: Vec<_> = query.split(|&b| b == b'&').map(|pair| cut(pair, b'=')).collect();
    pairs.sort();
    let mut key = Vec::with_capacity(query.len());
    for (i, (name, value)) in pairs.into_iter().enumerate() {
        if i > 0 {
            key.push(b'&');
        }
        key.extend_from_slice(name);
        if let Some(value) = value {
            key.push(b'=');
            key.extend_from_slice(value);
        }
    }
    key
}

/// Cuts out the session identifiers that the Wayback rules know, each kind once, the last first.
fn without_query_sessions(mut query: Vec<u8>) -> Vec<u8> {
    for name in ["jsessionid=", "phpsessid=", "sid="] {
        query = without_tail(query, |pair| {
            let (name_part, token) = pair.split_at_checked(pair.len().checked_sub(32)?)?;
            let is_token = token.iter().all(u8::is_ascii_alphanumeric);
            (is_token && name_part.ends_with(name.as_bytes())).then_some(name.len() + 32)
        });
    }
    query = without_tail(query, asp_session_length);
    without_cold_fusion_session(query)
}

/// Cuts off the end of the last parameter where `length` finds a session there, and the `&` after.
fn without_tail(query: Vec<u8>, length: impl Fn(&[u8]) -> Option<usize>) -> Vec<u8> {
    let mut end = query.len();
    loop {
        let start = query[..end].iter().rposition(|&b| b == b'&').map_or(0, |i| i + 1);
        if let Some(length) = length(&query[start..end]) {
            let after = query.get(end + 1..).unwrap_or_default();
            return [&query[..end - length], after].concat();
        }
        if start == 0 {
            return query;
        }
        end = start - 1;
    }
}

/// `aspsessionid` + 8 letters + `=` + 24 letters.
fn asp_session_length(pair: &[u8]) -> Option<usize> {
    const LENGTH: usize = 12 + 8 + 1 + 24;
    let tail = &pair[pair.len().checked_sub(LENGTH)?..];
    let (name, token) = tail.strip_prefix(b"aspsessionid")?.split_at(8);
    let token = token.strip_prefix(b"=")?;
    name.iter().chain(token).all(u8::is_ascii_alphabetic).then_some(LENGTH)
}

/// Cuts out the last `cfid=...&cftoken=...`.
fn without_cold_fusion_session(query: Vec<u8>) -> Vec<u8> {
    let pairs: Vec<&[u8]> = query.split(|&b| b == b'&').collect();
    for i in (0..pairs.len().saturating_sub(1)).rev() {
        let has_token = pairs[i + 1].strip_prefix(b"cftoken=").is_some_and(|rest| !rest.is_empty());
        let before_last = &pairs[i][..pairs[i].len().saturating_sub(1)];
        let id = before_last.windows(5).rposition(|w| w == b"cfid=");
        if let (true, Some(id)) = (has_token, id) {
            let before = [&pairs[..i], &[&pairs[i][..id]]].concat().join(&b'&');
            return [before, pairs[i + 2..].join(&b'&')].concat();
        }
    }
    query
}

/// Undoes percent-encoding until none is left, in one pass: an escape can only arise at the end
/// of what is already undone, so a URL of nested escapes costs no more than another.
fn unescape(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for &byte in text {
        out.push(byte);
        while let [.., b'%', high, low] = out[..] {
            let (Some(high), Some(low)) = (hex(high), hex(low)) else { break };
            out.truncate(out.len() - 3);
            out.push(high << 4 | low);
        }
    }
    out
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|d| u8::try_from(d).ok())
}

/// Percent-encodes what is not printable, `#` and `%`.
fn escape(text: &[u8]) -> Vec<u8> {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    let mut out = Vec::with_capacity(text.len());
    for &byte in text {
        if byte.is_ascii_graphic() && !matches!(byte, b'#' | b'%') {
            out.push(byte);
        } else {
            let digit = |d: u8| DIGITS[usize::from(d & 15)];
            out.extend_from_slice(&[b'%', digit(byte >> 4), digit(byte)]);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Keys computed by the `surt` package (0.3.1) that pywb uses.
    const TABLE: &[(&str, &str)] = &[
        ("http://example.com", "com,example)/"),
        ("http://www.Example.com/A/?b&a", "com,example)/a?a&b"),
        ("https://www2.example.co.uk:443/path/", "uk,co,example)/path"),
        ("http://example.com:8080/x", "com,example:8080)/x"),
        ("https://example.com:80/", "com,example:80)/"),
        ("http://www.com/", "com)/"),
        ("http://user:pw@example.com/x", "com,example)/x"),
        ("http://example.com/a//b/./c/../d/", "com,example)/a/b/d"),
        ("http://example.com/../../x", "com,example)/x"),
        ("http://example.com/%7Efoo/%41%2F%2f", "com,example)/~foo/a"),
        ("http://example.com/%2525252541", "com,example)/a"),
        ("http://example.com/a%20b?c%20d=%23%25", "com,example)/a%20b?c%20d=%23%25"),
        ("http://example.com/?", "com,example)/"),
        ("http://example.com/?b=2&a=1&a&a=", "com,example)/?a&a=&a=1&b=2"),
        ("http://example.com/#frag", "com,example)/"),
        ("http://example.com/x?q=a#b", "com,example)/x?q=a"),
        ("http://127.0.0.1:8000/index.html", "1,0,0,127:8000)/index.html"),
        ("http://[2001:db8::1]/x", "2001:db8::1)/x"),
        ("http://[2001:db8::1]:8080/x", "2001:db8::1:8080)/x"),
        ("http://xn--bcher-kva.example/%C3%BC", "example,xn--bcher-kva)/%c3%bc"),
        (
            "http://example.com/?a=b&JSESSIONID=0123456789abcdef0123456789abcdef&c=d",
            "com,example)/?a=b&c=d",
        ),
        ("http://example.com/?PHPSESSID=0123456789abcdef0123456789abcdef", "com,example)/"),
        ("http://example.com/?z=1&sid=0123456789abcdef0123456789abcdef", "com,example)/?&z=1"),
        (
            "http://example.com/?sid=0123456789abcdef0123456789abcde",
            "com,example)/?sid=0123456789abcdef0123456789abcde",
        ),
        (
            "http://example.com/?x=1&ASPSESSIONIDABCDEFGH=abcdefghijklmnopqrstuvwx&y=2",
            "com,example)/?x=1&y=2",
        ),
        ("http://example.com/?cfid=1234&cftoken=abcd&y=2", "com,example)/?y=2"),
        ("http://example.com/?x=1&cfid=1234&cftoken=abcd", "com,example)/?&x=1"),
        ("http://example.com/?cfid=&cftoken=abcd", "com,example)/?cfid=&cftoken=abcd"),
        ("http://example.com/(S(0123456789abcdefghijklmn))/Page.aspx", "com,example)/page.aspx"),
        (
            "http://example.com/x/(0123456789abcdefghijklmn)/page.aspx?q",
            "com,example)/x/page.aspx?q",
        ),
        (
            "http://example.com/x/(0123456789abcdefghijklmn)/page.html",
            "com,example)/x/(0123456789abcdefghijklmn)/page.html",
        ),
        ("http://example.com/a%3Fb?c", "com,example)/a?b?c"),
        (
            "http://example.com/x;jsessionid=0123456789abcdef0123456789abcdef",
            "com,example)/x;jsessionid=0123456789abcdef0123456789abcdef",
        ),
        ("http://example.com/?&&b&a&", "com,example)/?&&&a&b"),
        ("http://www123.sub.example.org/INDEX.HTML", "org,example,sub)/index.html"),
        (
            r#"http://a.b.c.d.e.example.org/?a=1,2;3+4"'<>[]{}|^`"#,
            r#"org,example,e,d,c,b,a)/?a=1,2;3+4"'<>[]{}|^`"#,
        ),
        ("http://example.com/100%", "com,example)/100%25"),
        ("http://example.com/%zz%4", "com,example)/%25zz%254"),
        ("http://example.com/a/..", "com,example)/"),
        ("http://example.com/a/.", "com,example)/a"),
        ("http://example.com/?q=http://other.com/?x", "com,example)/?q=http://other.com/?x"),
    ];
    #[test]
    fn keys_are_those_that_replay_tools_compute() {
        for (url, want) in TABLE {
            assert_eq!(surt(url), *want, "{url}");
        }
    }

    #[test]
    fn nested_escapes_cost_no_more_than_others() {
        let nested = format!("http://a/%{}41", "25".repeat(200_000));
        assert_eq!(surt(&nested), "a)/a");
    }

    proptest! {
        #[test]
        fn any_input_gives_one_printable_word(url in any::<String>(), rest in any::<String>()) {
            for url in [url.clone(), format!("http://{url}"), format!("https://h/{rest}?{url}")] {
                prop_assert!(surt(&url).bytes().all(|b| b.is_ascii_graphic()), "{url}");
            }
        }

        #[test]
        fn a_plain_path_is_normal(path in "/([A-Za-z0-9_-]{1,3}|[/.]|\\.\\.|\\.aspx){0,9}") {
            if is_plain(path.as_bytes()) {
                let lower = path.to_ascii_lowercase().into_bytes();
                prop_assert_eq!(normal_path(path.as_bytes()), lower);
            }
        }

        #[test]
        fn the_key_of_a_key_is_itself(path in "[a-z/.]{0,20}", query in "[a-z=&]{0,20}") {
            let key = surt(&format!("http://example.com/{path}?{query}"));
            let again = key.replacen("com,example)", "http://example.com", 1);
            prop_assert_eq!(surt(&again), key);
        }
    }
}
