//! Which headers and credentials do requests to some hosts carry?

use hyper::header::{self, HeaderName, HeaderValue};
use thiserror::Error;
use url::Url;

use crate::host_pattern::HostPattern;
use crate::login;

/// Headers and credentials for some hosts. Secrets go over TLS alone, unless the user says otherwise, and never to other
/// hosts.
#[derive(Clone, Debug)]
pub struct RequestRule {
    hosts: HostPattern,
    headers: Vec<(HeaderName, HeaderValue)>,
    plain_http: bool,
}

/// Headers that the crawler itself decides, and why none can be set.
const RESERVED: [(&str, &str); 23] = [
    ("host", "the URL decides it"),
    ("content-length", "requests have no body"),
    ("content-type", "requests have no body"),
    ("content-encoding", "requests have no body"),
    ("transfer-encoding", "requests have no body"),
    ("expect", "requests have no body"),
    ("connection", "connections are the crawler's"),
    ("keep-alive", "connections are the crawler's"),
    ("proxy-connection", "connections are the crawler's"),
    ("upgrade", "connections are the crawler's"),
    ("http2-settings", "connections are the crawler's"),
    ("te", "connections are the crawler's"),
    ("trailer", "requests have no body"),
    ("proxy-authorization", "use the credentials of the proxy"),
    ("accept-encoding", "the crawler must be able to unpack"),
    ("user-agent", "use identity.user_agent and identity.contact"),
    ("from", "use identity.contact"),
    ("cookie", "use fetch.cookies and fetch.cookies_file"),
    ("range", "pages are fetched whole"),
    ("if-range", "pages are fetched whole"),
    ("if-none-match", "the crawler sets it from the last visit"),
    ("if-modified-since", "the crawler sets it from the last visit"),
    ("if-match", "the crawler sets its conditions from the last visit"),
];

impl RequestRule {
    /// A rule for `hosts`, without headers yet; `plain_http` lets secrets go without TLS.
    pub fn new(hosts: HostPattern, plain_http: bool) -> Result<Self, BadHeader> {
        Ok(RequestRule { hosts, headers: Vec::new(), plain_http })
    }

    /// Adds a header; a secret value is never shown and never archived.
    pub fn with_header(self, name: &str, value: &str, secret: bool) -> Result<Self, BadHeader> {
        let parsed: HeaderName = name.parse().map_err(|_| BadHeader::Name(name.to_owned()))?;
        if let Some((_, why)) = RESERVED.iter().find(|(reserved, _)| parsed == *reserved) {
            return Err(BadHeader::Reserved { name: name.to_owned(), why });
        }
        if parsed == header::AUTHORIZATION && !secret {
            return Err(BadHeader::OpenSecret(name.to_owned()));
        }
        self.add(parsed, value, secret)
    }

    /// Adds a user name and password, as `user:password`.
    pub fn with_basic(self, login: &str) -> Result<Self, BadHeader> {
        if !login.contains(':') {
            return Err(BadHeader::Login);
        }
        self.add(header::AUTHORIZATION, &login::basic(login), true)
    }

    /// Adds a bearer token.
    pub fn with_bearer(self, token: &str) -> Result<Self, BadHeader> {
        self.add(header::AUTHORIZATION, &format!("Bearer {token}"), true)
    }

    pub(crate) fn applies_to(&self, url: &Url) -> bool {
        let is_safe = url.scheme() == "https" || self.plain_http || !self.has_secrets();
        self.hosts.matches(url) && is_safe
    }

    pub(crate) fn headers(&self) -> impl Iterator<Item = &(HeaderName, HeaderValue)> {
        self.headers.iter()
    }

    fn has_secrets(&self) -> bool {
        self.headers.iter().any(|(_, value)| value.is_sensitive())
    }

    fn add(mut self, name: HeaderName, value: &str, secret: bool) -> Result<Self, BadHeader> {
        if secret && self.hosts.is_shared() {
            return Err(BadHeader::SharedSecret);
        }
        let bad = |_| BadHeader::Value(name.to_string());
        let mut parsed = HeaderValue::from_str(value).map_err(bad)?;
        parsed.set_sensitive(secret);
        self.headers.push((name, parsed));
        Ok(self)
    }
}

/// A header cannot be set. No message shows a value.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BadHeader {
    /// The name is none.
    #[error("`{0}` is not a header name")]
    Name(String),
    /// The value has a character that headers must not have.
    #[error("the value of {0} has a character that no header may have, such as a line break")]
    Value(String),
    /// The crawler sets it itself.
    #[error("{name} cannot be set: {why}")]
    Reserved {
        /// The header.
        name: String,
        /// Why not.
        why: &'static str,
    },
    /// A secret stands in the open.
    #[error("{0} is a secret; use basic, bearer, or @env:NAME or @file:PATH as its value")]
    OpenSecret(String),
    /// A secret would go to hosts of many owners.
    #[error(
        "secrets must not go to hosts of many owners; name the host, e.g. host = \"example.org\""
    )]
    SharedSecret,
    /// Credentials are not a user name and a password.
    #[error("basic credentials are not of the form user:password")]
    Login,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(hosts: &str) -> RequestRule {
        RequestRule::new(hosts.parse().unwrap(), false).unwrap()
    }

    #[test]
    fn headers_that_the_crawler_decides_are_refused() {
        for (name, reason) in [
            ("Host", "the URL decides"),
            ("content-LENGTH", "no body"),
            ("Transfer-Encoding", "no body"),
            ("Connection", "the crawler's"),
            ("Cookie", "fetch.cookies"),
            ("User-Agent", "identity.user_agent"),
            ("If-None-Match", "last visit"),
            ("Authorization", "is a secret"),
            ("bad name", "not a header name"),
            ("", "not a header name"),
        ] {
            let error = rule("a.test").with_header(name, "v", false).unwrap_err().to_string();
            assert!(error.contains(reason), "{name}: {error}");
        }
        let error = rule("a.test").with_header("X", "a\r\nHost: b", false).unwrap_err().to_string();
        assert!(error.contains("line break") && !error.contains("Host"), "{error}");
    }

    #[test]
    fn secrets_go_to_named_owners_alone() {
        for hosts in ["*", "*.co.uk", ".com"] {
            assert_eq!(
                rule(hosts).with_bearer("t").unwrap_err(),
                BadHeader::SharedSecret,
                "{hosts}"
            );
            assert!(rule(hosts).with_header("Accept-Language", "de", false).is_ok());
        }
        let own = rule("*.a.test").with_basic("me:secret").unwrap();
        assert_eq!(own.headers[0].1, "Basic bWU6c2VjcmV0");
        assert!(!format!("{own:?}").contains("bWU6"), "{own:?}");
        assert_eq!(rule("a.test").with_basic("me").unwrap_err(), BadHeader::Login);
        let [tls, open] =
            ["https://b.a.test/", "http://b.a.test/"].map(|url| Url::parse(url).unwrap());
        assert!(own.applies_to(&tls) && !own.applies_to(&open));
        let lenient = RequestRule { plain_http: true, ..own };
        assert!(lenient.applies_to(&open));
    }
}
