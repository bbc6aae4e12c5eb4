//! Which rewriting steps make two spellings of a URL one, and which of them are enabled?

use std::borrow::Cow;

use evercrawl_model::Refusal;
use url::{Position, Url};

use crate::sessions::{self, SessionParameters};
use crate::{Canonical, escapes, parameters, read};

/// A rewriting that can be switched on or off by itself.
///
/// Reading a URL as browsers do (WHATWG) comes first and cannot be switched: outer white space,
/// scheme and host in lower case, international names in ASCII, the scheme's own port, dot
/// segments, an empty path, characters that must be escaped. Fragment, user name and password
/// always go: the first never reaches a server, the others are nobody's to crawl with. `www.`, a
/// slash at the end, `index.html`, the case of the path, and `b` beside `b=` are always kept:
/// they can be different pages.
///
/// Where normalisers differ, this is what the default steps decide:
///
/// | kind | decided | why |
/// |---|---|---|
/// | international host | ASCII (`xn--`), as WHATWG | it is what DNS and the `Host` header carry |
/// | `straße.de` | `xn--strae-oqa.de`, not `strasse.de` | they are two registrations since IDNA 2008 |
/// | ``[ ] { } \| ^ ` `` unescaped in path or query | escaped | RFC 3986 has no place for them, and sites link to both spellings |
/// | a `%` that escapes nothing | `%25` | it is what the author meant, and no later reading can take it for an escape |
/// | empty query, `?&a=1`, `a=1&` | `?` and `&` of nothing dropped | no parameter is lost |
/// | `b=` and `b`, `=1` | kept as they are | form decoders tell some of them apart |
/// | order of parameters | kept ([`SortedParameters`](CanonicalStep::SortedParameters) is off) | order can carry meaning, and query keys without names do |
/// | `+`, `%20`, `%28` in a query | kept as they are | `+` is a plus in some queries, a blank in others; reserved characters stay |
/// | query in the page's legacy encoding | through [`Base::join_encoded`](crate::Base::join_encoded) alone | it needs the page |
/// | `//` within a path | kept ([`SingleSlashes`](CanonicalStep::SingleSlashes) is off) | RFC 3986 says they differ, and some paths hold URLs |
/// | `example.org.` | `example.org` | one host, and the crawl would see it twice |
/// | user name and password | dropped | see above |
/// | `PHPSESSID=...` and its like | dropped | every visit would find a new page |
/// | `ftp:`, `file:`, no authority | refused | not the web; a base or a seed line supplies what is missing |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum CanonicalStep {
    /// A host's dot at the end goes: `example.org.` is `example.org`.
    TrailingDot,
    /// An IPv4 address within IPv6 is written with dots (RFC 5952): `[::ffff:192.0.2.1]`.
    MappedAddress,
    /// Escapes are in upper case, unreserved characters unescaped, all others outside RFC 3986's
    /// grammar escaped: `%7e%c3{` is `~%C3%7B`.
    Escapes,
    /// Queries and parameters without content go: `/a?` is `/a`, `?&b=1&` is `?b=1`.
    EmptyQuery,
    /// Session ids go from path and query: `;jsessionid=1A2B`, `PHPSESSID=...`, `/(S(...))/`.
    SessionIds,
    /// Parameters by which senders track clicks go: `utm_source`, `gclid`, `fbclid`. On by
    /// default: pages do not depend on them, and every campaign would add a copy of a site.
    Tracking,
    /// Runs of slashes within the path become one. Off by default.
    SingleSlashes,
    /// Parameters stand in the order of their names, equal names in the order given. Off by
    /// default.
    SortedParameters,
}

impl CanonicalStep {
    /// Every step, in the order in which they apply.
    pub const ALL: [CanonicalStep; 8] = [
        CanonicalStep::TrailingDot,
        CanonicalStep::MappedAddress,
        CanonicalStep::Escapes,
        CanonicalStep::EmptyQuery,
        CanonicalStep::SessionIds,
        CanonicalStep::Tracking,
        CanonicalStep::SingleSlashes,
        CanonicalStep::SortedParameters,
    ];

    /// The step's name in configuration.
    pub const fn name(self) -> &'static str {
        match self {
            CanonicalStep::TrailingDot => "trailing_dot",
            CanonicalStep::MappedAddress => "mapped_address",
            CanonicalStep::Escapes => "escapes",
            CanonicalStep::EmptyQuery => "empty_query",
            CanonicalStep::SessionIds => "session_ids",
            CanonicalStep::Tracking => "tracking",
            CanonicalStep::SingleSlashes => "single_slashes",
            CanonicalStep::SortedParameters => "sorted_parameters",
        }
    }

    /// The step of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|step| step.name() == name)
    }
}

/// The steps in force.
///
/// Canonical URLs are keys: changing the steps of a crawl makes new pages of old ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CanonicalSteps(u8);

impl Default for CanonicalSteps {
    /// Every step that does not risk making one page of two.
    fn default() -> Self {
        CanonicalSteps(u8::MAX)
            .without(CanonicalStep::SingleSlashes)
            .without(CanonicalStep::SortedParameters)
    }
}

impl CanonicalSteps {
    /// Reading alone, as browsers do.
    pub const NONE: CanonicalSteps = CanonicalSteps(0);

    /// These steps and `step`.
    #[must_use]
    pub const fn with(self, step: CanonicalStep) -> Self {
        CanonicalSteps(self.0 | 1 << step as u8)
    }

    /// These steps but `step`.
    #[must_use]
    pub const fn without(self, step: CanonicalStep) -> Self {
        CanonicalSteps(self.0 & !(1 << step as u8))
    }

    /// Whether `step` is in force.
    pub const fn has(self, step: CanonicalStep) -> bool {
        self.0 & 1 << step as u8 != 0
    }

    /// Reads an absolute URL; links are read by a [`Base`](crate::Base).
    ///
    /// Refuses what is not a URL, has another scheme than `http` and `https`, or is longer than
    /// [`Canonical::MAX_LEN`].
    pub fn canonicalize(self, text: &str) -> Result<Canonical, Refusal> {
        self.rewrite(read::read(None, text, None)?)
    }

    /// Takes over the text of `url`, and writes a new one only where a step changes something.
    pub(crate) fn rewrite(self, url: Url) -> Result<Canonical, Refusal> {
        let read = without_extras(url)?;
        let host = self.rewrite_host(read.host())?;
        let path = self.rewrite_path(read.path());
        let query = read.query().map(|query| self.rewrite_query(query));
        let same_query = matches!(query, None | Some(Some(Cow::Borrowed(_))));
        if let (Cow::Borrowed(_), Cow::Borrowed(_), true) = (&host, &path, same_query) {
            return Ok(read);
        }
        let scheme = if read.is_https() { "https://" } else { "http://" };
        let port = &read.authority()[read.host().len()..];
        let (mark, query) = query.flatten().map_or(("", Cow::Borrowed("")), |query| ("?", query));
        let text = [scheme, &host, port, &path, mark, &query].concat();
        Canonical::from_trusted(text).ok_or(Refusal::TooLong)
    }

    fn rewrite_host(self, host: &str) -> Result<Cow<'_, str>, Refusal> {
        if self.has(CanonicalStep::MappedAddress) && host.starts_with("[::ffff:") {
            return Ok(read::mapped_address(host).map_or(Cow::Borrowed(host), Cow::Owned));
        }
        match host.strip_suffix('.') {
            Some(name) if self.has(CanonicalStep::TrailingDot) => {
                // Whatever still ends in a dot has an empty label and resolves nowhere.
                let usable = !name.is_empty() && !name.ends_with('.');
                usable.then(|| Cow::Owned(name.to_owned())).ok_or(Refusal::BadUrl)
            }
            _ => Ok(Cow::Borrowed(host)),
        }
    }

    fn rewrite_path(self, path: &str) -> Cow<'_, str> {
        let mut path = Cow::Borrowed(path);
        if self.has(CanonicalStep::Escapes) {
            path = chain(path, escapes::in_path);
        }
        if self.has(CanonicalStep::SessionIds) {
            path = chain(path, sessions::strip_path);
        }
        if self.has(CanonicalStep::SingleSlashes) {
            path = chain(path, single_slashes);
        }
        path
    }

    /// The query as it is to be, or `None` when nothing is left of it.
    fn rewrite_query(self, query: &str) -> Option<Cow<'_, str>> {
        let mut query = Cow::Borrowed(query);
        if self.has(CanonicalStep::Escapes) {
            query = chain(query, escapes::in_query);
        }
        if parameters::may_have_tracking(&query) {
            let wanted = self.wanted(&query);
            if wanted.is_empty() {
                return None;
            }
            let kept = wanted.iter().map(|parameter| parameter.len() + 1).sum::<usize>() - 1;
            if kept < query.len() {
                query = Cow::Owned(wanted.join("&"));
            }
        }
        if self.has(CanonicalStep::SortedParameters) {
            query = chain(query, parameters::sorted);
        }
        Some(query)
    }

    /// The parameters that no step drops.
    fn wanted(self, query: &str) -> Vec<&str> {
        let sessions = SessionParameters::among(query, '&');
        let is_wanted = |parameter: &&str| {
            if parameter.is_empty() {
                return !self.has(CanonicalStep::EmptyQuery);
            }
            let tracks = self.has(CanonicalStep::Tracking) && parameters::is_tracking(parameter);
            let session = self.has(CanonicalStep::SessionIds) && sessions.has(parameter);
            !tracks && !session
        };
        query.split('&').filter(is_wanted).collect()
    }
}

/// The URL as it was read, without fragment, user name and password.
fn without_extras(mut url: Url) -> Result<Canonical, Refusal> {
    if !url.username().is_empty() || url.password().is_some() {
        let dropped = url.set_username("").and_then(|()| url.set_password(None));
        dropped.map_err(|()| Refusal::BadUrl)?;
    }
    let end_of = |position: Position| url[..position].len();
    let host_end = end_of(Position::AfterHost);
    let path_start = end_of(Position::BeforePath);
    let path_end = end_of(Position::AfterPath);
    let query_end = end_of(Position::AfterQuery);
    let mut text = String::from(url);
    text.truncate(query_end);
    Canonical::from_parts(text, [host_end, path_start, path_end]).ok_or(Refusal::TooLong)
}

/// Applies `rewrite`, which borrows from its argument where there is nothing to do.
fn chain(text: Cow<'_, str>, rewrite: impl Fn(&str) -> Cow<'_, str>) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => rewrite(text),
        Cow::Owned(text) => match rewrite(&text) {
            Cow::Owned(new) => Cow::Owned(new),
            Cow::Borrowed(_) => Cow::Owned(text),
        },
    }
}

fn single_slashes(path: &str) -> Cow<'_, str> {
    if !path.contains("//") {
        return Cow::Borrowed(path);
    }
    let mut out = String::with_capacity(path.len());
    for c in path.chars() {
        if c != '/' || !out.ends_with('/') {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canon(text: &str) -> String {
        Canonical::parse(text).map_or_else(|why| why.code().to_owned(), Canonical::into_string)
    }

    #[test]
    fn default_steps() {
        for (text, want) in [
            ("HTTP://User:Pw@EXAMPLE.org.:80/a/./b/../c#d", "http://example.org/a/c"),
            ("https://example.org:443?", "https://example.org/"),
            ("https://example.org:80/", "https://example.org:80/"),
            ("http://[::ffff:c000:201]:8080/", "http://[::ffff:192.0.2.1]:8080/"),
            (
                "http://a.org/%7e%c3{[%zz?x[y]=%7E|'",
                "http://a.org/~%C3%7B%5B%25zz?x%5By%5D=~%7C%27",
            ),
            ("http://a.org/?&b=1&&c&", "http://a.org/?b=1&c"),
            ("http://a.org/x;JSessionID=1F;v=2?PHPSESSID=9", "http://a.org/x;v=2"),
            ("http://a.org/?utm_source=x&id=7&fbclid=y", "http://a.org/?id=7"),
            ("http://a.org//b//c/", "http://a.org//b//c/"),
            ("http://a.org/?b=1&a=2", "http://a.org/?b=1&a=2"),
            ("http://user@a.org/?utm_medium=x", "http://a.org/"),
            ("http://a.org../", "bad_url"),
            ("http://./", "bad_url"),
            ("mailto:me@a.org", "scheme"),
            ("ftp://a.org/", "scheme"),
            ("/relative", "bad_url"),
            ("", "bad_url"),
        ] {
            assert_eq!(canon(text), want, "{text}");
        }
    }

    #[test]
    fn each_step_does_its_part_alone() {
        for (step, text, want) in [
            (CanonicalStep::TrailingDot, "http://a.org./", "http://a.org/"),
            (CanonicalStep::MappedAddress, "http://[::ffff:1.2.3.4]/", "http://[::ffff:1.2.3.4]/"),
            (CanonicalStep::Escapes, "http://a.org/%7e", "http://a.org/~"),
            (CanonicalStep::EmptyQuery, "http://a.org/?", "http://a.org/"),
            (CanonicalStep::SessionIds, "http://a.org/?phpsessid=1", "http://a.org/"),
            (CanonicalStep::Tracking, "http://a.org/?gclid=1", "http://a.org/"),
            (CanonicalStep::SingleSlashes, "http://a.org///b//", "http://a.org/b/"),
            (CanonicalStep::SortedParameters, "http://a.org/?b=2&a&b=1", "http://a.org/?a&b=2&b=1"),
        ] {
            let only = CanonicalSteps::NONE.with(step);
            assert_eq!(only.canonicalize(text).unwrap().as_str(), want);
            let bare = CanonicalSteps::NONE.canonicalize(text).unwrap();
            assert_ne!(bare.as_str(), want, "{step:?} changes nothing");
            assert!(only.has(step) && !only.without(step).has(step));
            assert_eq!(CanonicalStep::from_name(step.name()), Some(step));
        }
        assert_eq!(CanonicalStep::from_name("no_such_step"), None);
    }

    #[test]
    fn too_long_is_refused_whole() {
        let long = format!("http://a.org/{}", "x".repeat(Canonical::MAX_LEN));
        assert_eq!(canon(&long), "too_long");
        let grows = format!("http://a.org/{}", "{".repeat(30_000));
        assert_eq!(canon(&grows), "too_long");
        let inline = format!("data:image/png;base64,{}", "x".repeat(100_000));
        assert_eq!(canon(&inline), "scheme");
    }
}
