//! What does a `Set-Cookie` value ask for, and may it?

use thiserror::Error;
use url::{Host, Url};

use crate::cookie::Cookie;
use crate::date;
use crate::matching::{default_path, domain_matches, is_public_suffix};

/// The most bytes of a name and a value together.
pub(crate) const MOST_BYTES: usize = 4096;
/// The most bytes of an attribute's value; a longer one is ignored.
const MOST_ATTRIBUTE: usize = 1024;
/// The longest that a cookie may last, whatever it asks for.
const LONGEST: i64 = 400 * 86_400;

/// Why a cookie is not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RejectedCookie {
    /// It has no name and no value, or a character that no cookie may have.
    #[error("it is malformed")]
    Malformed,
    /// Name and value are too long.
    #[error("it is longer than 4096 bytes")]
    TooLong,
    /// It is for another domain, or for one that many owners share.
    #[error("its domain is not the server's own")]
    Domain,
    /// It is for TLS, but came without, or would replace one that is.
    #[error("only a secure connection may set it")]
    Insecure,
    /// Its name begins with `__Secure-` or `__Host-`, and it does not keep what that promises.
    #[error("it breaks the promise of its name's prefix")]
    Prefix,
}

/// The attributes of a cookie, as far as they count.
#[derive(Default)]
struct Attributes<'a> {
    domain: Option<&'a [u8]>,
    path: Option<&'a str>,
    expires: Option<i64>,
    max_age: Option<i64>,
    secure: bool,
    http_only: bool,
}

/// Reads what a server at `url` sets.
pub(crate) fn read(url: &Url, text: &[u8], now: i64) -> Result<Cookie, RejectedCookie> {
    // Tabs would be allowed, but separate the fields of the file.
    if text.iter().any(|&byte| byte < 0x20 || byte == 0x7f) {
        return Err(RejectedCookie::Malformed);
    }
    let mut parts = text.split(|&byte| byte == b';');
    let (name, value) = name_and_value(parts.next().unwrap_or_default())?;
    let attributes = Attributes::read(parts);
    let host = url.host_str().ok_or(RejectedCookie::Domain)?;
    let is_secure = url.scheme() == "https";
    let (domain, host_only) = attributes.domain_for(host)?;
    if attributes.secure && !is_secure {
        return Err(RejectedCookie::Insecure);
    }
    let is_for_root = attributes.path == Some("/");
    check_prefix(name, value, &attributes, host_only && is_for_root)?;
    let path = attributes.path.unwrap_or_else(|| default_path(url.path()));
    Ok(Cookie {
        name: name.into(),
        value: value.into(),
        domain: domain.into(),
        host_only,
        path: path.into(),
        secure: attributes.secure,
        http_only: attributes.http_only,
        expires: attributes.end(now),
        imported: false,
        sequence: 0,
        used: now,
    })
}

fn name_and_value(pair: &[u8]) -> Result<(&[u8], &[u8]), RejectedCookie> {
    let (name, value) = match pair.iter().position(|&byte| byte == b'=') {
        Some(at) => (pair[..at].trim_ascii(), pair[at + 1..].trim_ascii()),
        None => (&pair[..0], pair.trim_ascii()),
    };
    if name.is_empty() && value.is_empty() {
        Err(RejectedCookie::Malformed)
    } else if name.len() + value.len() > MOST_BYTES {
        Err(RejectedCookie::TooLong)
    } else {
        Ok((name, value))
    }
}

/// A name that begins so promises that the cookie is from this very host, or came over TLS.
fn check_prefix(
    name: &[u8],
    value: &[u8],
    attributes: &Attributes<'_>,
    is_of_host: bool,
) -> Result<(), RejectedCookie> {
    // Without a name the value would stand in its place.
    let shown = if name.is_empty() { value } else { name };
    let begins = |prefix: &[u8]| {
        shown.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
    };
    let (of_host, of_tls) = (begins(b"__Host-"), begins(b"__Secure-"));
    let kept = !name.is_empty() && attributes.secure && (is_of_host || !of_host);
    if (of_host || of_tls) && !kept { Err(RejectedCookie::Prefix) } else { Ok(()) }
}

impl<'a> Attributes<'a> {
    /// Reads the attributes; of each, the last one counts.
    fn read(parts: impl Iterator<Item = &'a [u8]>) -> Self {
        let mut attributes = Attributes::default();
        for part in parts {
            let at = part.iter().position(|&byte| byte == b'=').unwrap_or(part.len());
            let name = part[..at].trim_ascii();
            let value = part.get(at + 1..).unwrap_or_default().trim_ascii();
            if value.len() <= MOST_ATTRIBUTE {
                attributes.take(&name.to_ascii_lowercase(), value);
            }
        }
        attributes
    }

    fn take(&mut self, name: &[u8], value: &'a [u8]) {
        match name {
            b"domain" => self.domain = Some(value),
            b"path" => {
                let path = std::str::from_utf8(value).ok();
                self.path = path.filter(|path| path.starts_with('/'));
            }
            b"expires" => self.expires = date::parse(value).or(self.expires),
            b"max-age" => self.max_age = max_age(value).or(self.max_age),
            b"secure" => self.secure = true,
            b"httponly" => self.http_only = true,
            _ => {}
        }
    }

    /// The domain that the cookie is for, and whether for that host alone.
    fn domain_for(&self, host: &'a str) -> Result<(String, bool), RejectedCookie> {
        let named = self.domain.map(|domain| domain.strip_prefix(b".").unwrap_or(domain));
        let Some(named) = named.filter(|named| !named.is_empty()) else {
            return Ok((host.to_owned(), true));
        };
        let named = std::str::from_utf8(named).map_err(|_| RejectedCookie::Domain)?;
        let named = Host::parse(named).map_err(|_| RejectedCookie::Domain)?.to_string();
        if is_public_suffix(&named) {
            let own = named == host;
            return if own { Ok((named, true)) } else { Err(RejectedCookie::Domain) };
        }
        if domain_matches(host, &named) { Ok((named, false)) } else { Err(RejectedCookie::Domain) }
    }

    /// When it ends. `Max-Age` wins over `Expires`.
    fn end(&self, now: i64) -> Option<i64> {
        let asked = self.max_age.map(|age| now.saturating_add(age)).or(self.expires)?;
        Some(asked.min(now.saturating_add(LONGEST)))
    }
}

/// Seconds; what is not a number is ignored, and a negative one ends the cookie.
fn max_age(value: &[u8]) -> Option<i64> {
    let digits = value.strip_prefix(b"-").unwrap_or(value);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let long = if digits.len() < value.len() { i64::MIN } else { LONGEST };
    Some(std::str::from_utf8(value).ok()?.parse().unwrap_or(long))
}
