//! How is the text of a link read? As browsers do, with corrections to what the `url` crate leaves open.

use std::borrow::Cow;
use std::net::Ipv6Addr;

use evercrawl_model::Refusal;
use url::{EncodingOverride, Url};

use crate::Canonical;

/// Parses `href` against `base`; another scheme than `http` and `https` is told from its first
/// letters, since `data:` links can be megabytes long.
pub(crate) fn read(
    base: Option<&Url>,
    href: &str,
    encoding: EncodingOverride<'_>,
) -> Result<Url, Refusal> {
    // The parser trims both ends; the look at the scheme needs the front only.
    let href = href.trim_start_matches(|c: char| c <= ' ');
    let has_scheme = scheme(href);
    if has_scheme == Some(false) {
        return Err(Refusal::Scheme);
    }
    if href.len() > Canonical::MAX_LEN {
        return Err(Refusal::TooLong);
    }
    let href = if has_scheme.is_some() { Cow::Borrowed(href) } else { collapse_slashes(href) };
    let parser = Url::options().base_url(base).encoding_override(encoding);
    let url = parser.parse(&href).map_err(|_| Refusal::BadUrl)?;
    if !is_web(url.scheme()) {
        return Err(Refusal::Scheme);
    }
    Ok(url)
}

/// `[::ffff:c000:201]` as `[::ffff:192.0.2.1]`; `None` for other addresses.
pub(crate) fn mapped_address(host: &str) -> Option<String> {
    let inner = host.strip_prefix('[')?.strip_suffix(']')?;
    let mapped = inner.parse::<Ipv6Addr>().ok()?.to_ipv4_mapped()?;
    Some(format!("[::ffff:{mapped}]"))
}

fn is_web(scheme: &str) -> bool {
    scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https")
}

/// Whether the text's scheme is one of the web's; `None` where it has no scheme.
fn scheme(href: &str) -> Option<bool> {
    let end = href.bytes().position(|b| matches!(b, b':' | b'/' | b'?' | b'#' | b'\\'))?;
    let (name, rest) = href.split_at(end);
    if !rest.starts_with(':') {
        return None;
    }
    if is_web(name) {
        return Some(true);
    }
    if name.bytes().any(is_stripped) {
        return scheme(&href.replace(['\t', '\n', '\r'], ""));
    }
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    let is_scheme = name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(fits);
    is_scheme.then_some(false)
}

/// Tabs and line breaks are taken out of a URL wherever they stand.
fn is_stripped(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | b'\r')
}

/// Three and more slashes before a host are two to browsers, but the root's path to `url`.
fn collapse_slashes(href: &str) -> Cow<'_, str> {
    let is_slash = |b: u8| b == b'/' || b == b'\\';
    if !href.starts_with(['/', '\\']) {
        return Cow::Borrowed(href);
    }
    let end = href.bytes().position(|b| !is_slash(b) && !is_stripped(b)).unwrap_or(href.len());
    if href[..end].bytes().filter(|b| is_slash(*b)).count() < 3 {
        return Cow::Borrowed(href);
    }
    Cow::Owned(format!("//{}", &href[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemes_are_told_as_browsers_do() {
        for (href, want) in [
            ("http://a", Some(true)),
            ("HtTpS:a", Some(true)),
            ("ht\ntp:a", Some(true)),
            ("java\tscript:a", Some(false)),
            ("tel:1", Some(false)),
            ("a/b:c", None),
            ("1a:b", None),
            (":a", None),
            ("?http:", None),
            ("page", None),
            ("", None),
        ] {
            assert_eq!(scheme(href), want, "{href:?}");
        }
    }

    #[test]
    fn slashes_collapse_to_two_before_a_host_only() {
        for (href, want) in [
            ("///a", "//a"),
            ("/\\\t/\\a/b", "//a/b"),
            ("//a", "//a"),
            ("/a///b", "/a///b"),
            ("a", "a"),
            ("////", "//"),
        ] {
            assert_eq!(collapse_slashes(href), want, "{href:?}");
        }
    }
}
