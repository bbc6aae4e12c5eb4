//! How do the requests of one crawl go out: by which proxy, with which headers and cookies?
//!
//! A client may serve several crawls, so none of this is part of the client: a request brings its crawl's [`Access`], or
//! takes the one that the client was made with. Connections of a crawl with rules of its own serve no other crawl.

mod cookies;
mod request_rule;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use tracing::debug;
use url::Url;

pub use self::cookies::Cookies;
pub use self::request_rule::{BadHeader, RequestRule};
use crate::host_pattern::HostPattern;
use crate::proxy::Proxy;

/// The rules of one crawl; without any, requests go out directly and say only what every request says.
#[derive(Debug, Default)]
pub struct AccessRules {
    /// Which proxy a host is asked through; the first rule that matches counts.
    pub proxies: Vec<ProxyRule>,
    /// Headers and credentials by host; all rules that match count, the last one for a header.
    pub requests: Vec<RequestRule>,
    /// Hosts whose invalid certificates are accepted.
    pub invalid_certificates: Vec<HostPattern>,
    /// The cookies of this crawl.
    pub cookies: Option<Arc<Cookies>>,
}

/// Which hosts are asked through a proxy.
#[derive(Clone, Debug)]
pub struct ProxyRule {
    /// The hosts.
    pub hosts: HostPattern,
    /// Only URLs of this scheme, where it is given.
    pub scheme: Option<&'static str>,
    /// The proxy; `None`: they are asked directly.
    pub proxy: Option<Arc<Proxy>>,
}

/// The rules of one crawl, shared by its requests.
#[derive(Debug)]
pub struct Access {
    /// Tells connections of one crawl from those of another; 0 where there are no rules.
    id: u64,
    rules: AccessRules,
}

/// What the rules add to one request.
#[derive(Default)]
pub(crate) struct RequestExtras {
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    /// What an archive has in the place of a header's value.
    pub(crate) hidden: Vec<(HeaderName, Bytes)>,
}

impl Access {
    /// The access by these rules.
    pub fn new(rules: AccessRules) -> Arc<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let is_plain = rules.proxies.is_empty()
            && rules.requests.is_empty()
            && rules.invalid_certificates.is_empty()
            && rules.cookies.is_none();
        let id = if is_plain { 0 } else { NEXT.fetch_add(1, Ordering::Relaxed) };
        Arc::new(Access { id, rules })
    }

    /// Direct requests without additions.
    pub fn plain() -> Arc<Self> {
        Access::new(AccessRules::default())
    }

    /// The proxy that `url` is asked through.
    pub fn proxy_for(&self, url: &Url) -> Option<&Arc<Proxy>> {
        let rule = self.rules.proxies.iter().find(|rule| {
            rule.scheme.is_none_or(|scheme| scheme == url.scheme()) && rule.hosts.matches(url)
        });
        rule?.proxy.as_ref()
    }

    /// The cookies of this crawl.
    pub fn cookies(&self) -> Option<&Arc<Cookies>> {
        self.rules.cookies.as_ref()
    }

    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    /// Whether a certificate of `url`'s host may be invalid.
    pub(crate) fn accepts_invalid(&self, url: &Url) -> bool {
        self.rules.invalid_certificates.iter().any(|hosts| hosts.matches(url))
    }

    /// What a request for `url` carries besides.
    pub(crate) fn extras(&self, url: &Url) -> RequestExtras {
        let mut extras = RequestExtras::default();
        if self.id == 0 {
            return extras;
        }
        for rule in self.rules.requests.iter().filter(|rule| rule.applies_to(url)) {
            rule.headers().for_each(|(name, value)| extras.set(name.clone(), value.clone()));
        }
        if let Some(cookies) = self.rules.cookies.as_ref().and_then(|jar| jar.header(url)) {
            extras.set_cookies(cookies.value, cookies.redacted);
        }
        extras
    }

    /// Keeps the cookies that a response from `url` sets.
    pub(crate) fn take_cookies(&self, url: &Url, headers: &HeaderMap) {
        let Some(cookies) = &self.rules.cookies else { return };
        for value in headers.get_all(header::SET_COOKIE) {
            if let Err(reason) = cookies.store(url, value.as_bytes()) {
                debug!(%url, %reason, "cookie not kept");
            }
        }
    }
}

impl Default for Access {
    fn default() -> Self {
        Access { id: 0, rules: AccessRules::default() }
    }
}

impl RequestExtras {
    /// Adds the credentials for a proxy that reads the request itself.
    pub(crate) fn authorize_proxy(&mut self, proxy: &Proxy) {
        if let Some(value) = proxy.authorization() {
            self.set(header::PROXY_AUTHORIZATION, value.clone());
        }
    }

    fn set(&mut self, name: HeaderName, value: HeaderValue) {
        self.headers.retain(|(held, _)| *held != name);
        self.hidden.retain(|(held, _)| *held != name);
        if value.is_sensitive() {
            self.hidden.push((name.clone(), Bytes::from_static(b"***")));
        }
        self.headers.push((name, value));
    }

    fn set_cookies(&mut self, value: Vec<u8>, redacted: Vec<u8>) {
        let is_secret = value != redacted;
        let Ok(mut value) = HeaderValue::from_bytes(&value) else { return };
        value.set_sensitive(true);
        self.headers.push((header::COOKIE, value));
        if is_secret {
            self.hidden.push((header::COOKIE, redacted.into()));
        }
    }

    /// A request head as an archive may have it: without secrets.
    pub(crate) fn redact(&self, head: Bytes) -> Bytes {
        if self.hidden.is_empty() {
            return head;
        }
        let mut out = Vec::with_capacity(head.len());
        for line in head.split_inclusive(|&byte| byte == b'\n') {
            let name = &line[..line.iter().position(|&byte| byte == b':').unwrap_or(0)];
            let is_of = |hidden: &HeaderName| name.eq_ignore_ascii_case(hidden.as_str().as_bytes());
            match self.hidden.iter().find(|(hidden, _)| is_of(hidden)) {
                Some((_, shown)) => {
                    for part in [name, b": ", shown, b"\r\n"] {
                        out.extend_from_slice(part);
                    }
                }
                None => out.extend_from_slice(line),
            }
        }
        out.into()
    }
}

impl fmt::Debug for RequestExtras {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.headers.iter().map(|(name, _)| name)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_hidden_in_a_recorded_head_and_nothing_else_is() {
        let hosts: HostPattern = "a.test".parse().unwrap();
        let rule = RequestRule::new(hosts, false).unwrap();
        let rule = rule.with_header("X-Plain", "seen", false).unwrap();
        let rule = rule.with_header("X-Key", "secret", true).unwrap().with_bearer("token").unwrap();
        let access = Access::new(AccessRules { requests: vec![rule], ..AccessRules::default() });
        let extras = access.extras(&Url::parse("https://a.test/").unwrap());
        assert_eq!(extras.headers.len(), 3);
        let head = "GET / HTTP/1.1\r\nHost: a.test\r\nX-Plain: seen\r\nX-Key: secret\r\n\
                    Authorization: Bearer token\r\n\r\n";
        let shown = extras.redact(Bytes::from(head));
        let want = "GET / HTTP/1.1\r\nHost: a.test\r\nX-Plain: seen\r\nx-key: ***\r\n\
                    authorization: ***\r\n\r\n";
        assert!(shown.eq_ignore_ascii_case(want.as_bytes()), "{shown:?}");
        for other in ["http://a.test/", "https://b.test/", "https://b.a.test/"] {
            let extras = access.extras(&Url::parse(other).unwrap());
            assert!(extras.headers.iter().all(|(_, value)| !value.is_sensitive()), "{other}");
        }
    }

    #[test]
    fn the_first_rule_that_matches_names_the_proxy() {
        let proxy: Arc<Proxy> = Arc::new("socks5://127.0.0.1:9050".parse().unwrap());
        let rule = |hosts: &str, scheme, proxy: Option<&Arc<Proxy>>| ProxyRule {
            hosts: hosts.parse().unwrap(),
            scheme,
            proxy: proxy.cloned(),
        };
        let proxies = vec![
            rule("b.a.test", None, None),
            rule(".a.test", None, Some(&proxy)),
            rule("*", Some("https"), Some(&proxy)),
        ];
        let access = Access::new(AccessRules { proxies, ..AccessRules::default() });
        for (url, proxied) in [
            ("http://a.test/", true),
            ("http://c.a.test/", true),
            ("http://b.a.test/", false),
            ("http://c.test/", false),
            ("https://c.test/", true),
        ] {
            let found = access.proxy_for(&Url::parse(url).unwrap());
            assert_eq!(found.is_some(), proxied, "{url}");
        }
    }
}
