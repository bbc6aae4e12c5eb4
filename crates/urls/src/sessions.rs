//! Which parts of a URL only identify a visitor's session?
//!
//! Names that servers' frameworks reserve go whatever they hold. Names that also mean other things
//! (`sid` may be a story) go only where the value looks drawn at random.

use std::borrow::Cow;

use memchr::memchr2;

/// Reserved by PHP, Java, ColdFusion, osCommerce and Zen Cart.
pub(crate) const RESERVED: [&str; 7] =
    ["phpsessid", "jsessionid", "jsessionidsso", "cftoken", "oscsid", "oscadminid", "zenid"];

/// Session ids in some places, something else in others.
pub(crate) const AMBIGUOUS: [&str; 7] =
    ["sid", "sess", "sessid", "session", "sessionid", "session_id", "session-id"];

/// ColdFusion's number, which alone could be any `cfid`, and what ASP's names begin with.
pub(crate) const SPECIAL: [&str; 2] = ["cfid", "aspsessionid"];

/// Tells which parameters of one list are session ids.
#[derive(Clone, Copy)]
pub(crate) struct SessionParameters {
    coldfusion: bool,
}

impl SessionParameters {
    /// For the parameters in `list`, between which `separator` stands.
    pub(crate) fn among(list: &str, separator: char) -> Self {
        SessionParameters {
            coldfusion: list.split(separator).any(|one| starts_with(one, "cftoken=")),
        }
    }

    /// Whether `name=value` is a session id.
    pub(crate) fn has(self, parameter: &str) -> bool {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        let [cfid, aspsessionid] = SPECIAL;
        let is = |known: &&str| known.eq_ignore_ascii_case(name);
        RESERVED.iter().any(is)
            || starts_with(name, aspsessionid)
            || AMBIGUOUS.iter().any(is) && looks_random(value)
            || self.coldfusion && is(&cfid)
    }
}

/// Takes session ids out of a path: `;name=value` parameters of its segments, and ASP.NET's
/// segments such as `(S(4jhnkk45ebq3yi45z0cjyq55))`.
pub(crate) fn strip_path(path: &str) -> Cow<'_, str> {
    if memchr2(b';', b'(', path.as_bytes()).is_none() {
        return Cow::Borrowed(path);
    }
    let mut out = String::with_capacity(path.len());
    for segment in path.strip_prefix('/').unwrap_or(path).split('/') {
        let segment = strip_segment(segment);
        if !is_aspnet(&segment) {
            out.push('/');
            out.push_str(&segment);
        }
    }
    if out.is_empty() {
        out.push('/');
    }
    if out == path { Cow::Borrowed(path) } else { Cow::Owned(out) }
}

fn strip_segment(segment: &str) -> Cow<'_, str> {
    let Some((name, parameters)) = segment.split_once(';') else {
        return Cow::Borrowed(segment);
    };
    let sessions = SessionParameters::among(parameters, ';');
    if !parameters.split(';').any(|parameter| sessions.has(parameter)) {
        return Cow::Borrowed(segment);
    }
    let mut kept = name.to_owned();
    for parameter in parameters.split(';').filter(|parameter| !sessions.has(parameter)) {
        kept.push(';');
        kept.push_str(parameter);
    }
    // `..;jsessionid=1` without its parameter would climb when it is next read.
    if is_dots(&kept) { Cow::Borrowed(segment) } else { Cow::Owned(kept) }
}

fn is_dots(segment: &str) -> bool {
    matches!(segment.to_ascii_lowercase().replace("%2e", ".").as_str(), "." | "..")
}

/// `(S(...))`, also with `A(...)` or `F(...)` beside it: ids of sessions without cookies.
fn is_aspnet(segment: &str) -> bool {
    let inner = segment.strip_prefix('(').and_then(|rest| rest.strip_suffix("))"));
    inner.is_some_and(|inner| {
        inner.split(')').all(|part| {
            let id = part.strip_prefix(['S', 'A', 'F']).and_then(|part| part.strip_prefix('('));
            id.is_some_and(|id| id.len() >= 20 && id.bytes().all(is_id_byte))
        })
    })
}

fn is_id_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'
}

/// Hexadecimal of 16 digits and more, or 20 letters and digits and more, both kinds among them.
fn looks_random(value: &str) -> bool {
    let all = |test: fn(&u8) -> bool| value.as_bytes().iter().all(test);
    let has = |test: fn(&u8) -> bool| value.as_bytes().iter().any(test);
    let mixed = has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic);
    mixed
        && (value.len() >= 16 && all(u8::is_ascii_hexdigit)
            || value.len() >= 20 && all(u8::is_ascii_alphanumeric))
}

fn starts_with(text: &str, prefix: &str) -> bool {
    text.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters() {
        for (parameter, want) in [
            ("PHPSESSID=2Aa3ASdfasfdadf", true),
            ("phpsessid", true),
            ("JSESSIONID=1", true),
            ("ASPSESSIONIDCSBQRSCT=ADGIJBMCLEKKBGBGNHPMDJKA", true),
            ("sid=9f86d081884c7d65", true),
            ("sessionid=1x2y3z4a5b6c7d8e9f0g", true),
            ("sid=12345", false),
            ("sid=20240501120000000", false),
            ("sid=the-story-of-2024-and-2025", false),
            ("session=spring2024", false),
            ("s=9f86d081884c7d65", false),
            ("cfid=12", false),
            ("CFTOKEN=34", true),
            ("id=9f86d081884c7d65", false),
        ] {
            assert_eq!(
                SessionParameters::among(parameter, '&').has(parameter),
                want,
                "{parameter}"
            );
        }
        assert!(SessionParameters::among("a=1&CFID=12&CFTOKEN=34", '&').has("CFID=12"));
    }

    #[test]
    fn paths() {
        for (path, want) in [
            ("/a;jsessionid=1/b", "/a/b"),
            ("/a;x=1;JSESSIONID=1;y=2", "/a;x=1;y=2"),
            ("/a;jsessionid=1;jsessionid=2", "/a"),
            ("/a;v=1.2", "/a;v=1.2"),
            ("/a/..;jsessionid=1", "/a/..;jsessionid=1"),
            ("/a/%2E.;jsessionid=1", "/a/%2E.;jsessionid=1"),
            ("/;jsessionid=1", "/"),
            ("/(S(4jhnkk45ebq3yi45z0cjyq55))/a.aspx", "/a.aspx"),
            ("/x/(S(4jhnkk45ebq3yi45z0cjyq55)A(4jhnkk45ebq3yi45z0cj))/a", "/x/a"),
            ("/(S(4jhnkk45ebq3yi45z0cjyq55))", "/"),
            ("/(S(4jhnkk45ebq3yi45z0cjyq55));jsessionid=1/a", "/a"),
            ("/Function_(mathematics)", "/Function_(mathematics)"),
            ("/(S(short))/a", "/(S(short))/a"),
            ("/a", "/a"),
        ] {
            assert_eq!(strip_path(path), want, "{path}");
        }
    }
}
