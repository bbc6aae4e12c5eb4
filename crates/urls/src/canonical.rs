//! What are the parts of a canonical URL? One string and three offsets; nothing is parsed twice.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use evercrawl_model::Refusal;
use memchr::{memchr, memrchr};
use url::Url;

use crate::CanonicalSteps;

/// An `http` or `https` URL in the one form under which the crawler knows it.
///
/// It has no user name, password or fragment, its host is in ASCII lower case, its port is absent
/// where it is the scheme's own, and its path is never empty. Longer than 65,535 bytes it cannot
/// be. [`CanonicalSteps::canonicalize`] makes it from a link.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Canonical {
    text: String,
    host_end: u16,
    path_start: u16,
    path_end: u16,
}

impl Canonical {
    /// The longest canonical URL, in bytes.
    pub const MAX_LEN: usize = u16::MAX as usize;

    /// Reads an absolute URL by the default steps.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        CanonicalSteps::default().canonicalize(text)
    }

    /// Finds the parts of a string that [`as_str`](Self::as_str) gave earlier, without parsing it.
    ///
    /// The store keeps such strings only. `None` when it cannot be one, as after damage.
    pub fn from_trusted(text: String) -> Option<Self> {
        let host_start = if text.starts_with("https://") { 8 } else { 7 };
        if !text.starts_with("http") || text.get(host_start - 3..host_start)? != "://" {
            return None;
        }
        let rest = text.get(host_start..)?.as_bytes();
        let path_start = host_start + memchr(b'/', rest)?;
        let authority = &text.as_bytes()[host_start..path_start];
        if authority.is_empty() {
            return None;
        }
        let name_end = if authority.first() == Some(&b'[') { memchr(b']', authority)? } else { 0 };
        let name_end =
            memchr(b':', &authority[name_end..]).map_or(authority.len(), |i| name_end + i);
        let path = &text.as_bytes()[path_start..];
        let path_end = path_start + memchr(b'?', path).unwrap_or(path.len());
        Self::from_parts(text, [host_start + name_end, path_start, path_end])
    }

    /// Puts a text and the ends of its host, authority and path together; `None` when too long.
    pub(crate) fn from_parts(text: String, offsets: [usize; 3]) -> Option<Self> {
        u16::try_from(text.len()).ok()?;
        let [host_end, path_start, path_end] = offsets.map(u16::try_from);
        let (host_end, path_start, path_end) = (host_end.ok()?, path_start.ok()?, path_end.ok()?);
        Some(Canonical { text, host_end, path_start, path_end })
    }

    /// This URL up to byte `keep`, which lies in its path, then the rest of a path, then a query
    /// with its question mark or nothing; `None` when too long.
    pub(crate) fn with_tail(&self, keep: usize, path: &str, query: &str) -> Option<Self> {
        let text = [&self.text[..keep], path, query].concat();
        let path_end = u16::try_from(keep + path.len()).ok()?;
        u16::try_from(text.len()).ok()?;
        Some(Canonical { text, path_end, ..*self })
    }

    /// The URL itself.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The URL itself, given up by its owner.
    pub fn into_string(self) -> String {
        self.text
    }

    /// The URL as the `url` crate knows it.
    pub fn to_url(&self) -> Option<Url> {
        Url::parse(&self.text).ok()
    }

    /// Whether the scheme is `https`; otherwise it is `http`.
    pub fn is_https(&self) -> bool {
        self.text.as_bytes().get(4) == Some(&b's')
    }

    /// The host's name or literal address, an IPv6 address in its brackets.
    pub fn host(&self) -> &str {
        &self.text[self.host_start()..usize::from(self.host_end)]
    }

    /// The host's address where it is a literal one.
    pub fn ip(&self) -> Option<IpAddr> {
        let host = self.host();
        match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
            Some(inner) => inner.parse::<Ipv6Addr>().ok().map(IpAddr::V6),
            None if host.ends_with(|last: char| last.is_ascii_digit()) => {
                host.parse::<Ipv4Addr>().ok().map(IpAddr::V4)
            }
            None => None,
        }
    }

    /// The port to connect to, given or the scheme's own.
    pub fn port(&self) -> u16 {
        let own = if self.is_https() { 443 } else { 80 };
        let given = self.text[usize::from(self.host_end)..usize::from(self.path_start)].get(1..);
        given.and_then(|digits| digits.parse().ok()).unwrap_or(own)
    }

    /// `name`, or `name:port` where the port is not the scheme's own.
    ///
    /// So `http` and `https` of one name share it, and with it their queue and pace.
    pub fn authority(&self) -> &str {
        &self.text[self.host_start()..usize::from(self.path_start)]
    }

    /// Scheme and authority, without a slash at the end: what robots.txt files apply to.
    pub fn origin(&self) -> &str {
        &self.text[..usize::from(self.path_start)]
    }

    /// The registered domain: the public suffix and one label before it.
    ///
    /// Suffixes under which a company lets others register count as public too (`github.io`,
    /// `blogspot.com`): each of their users is a domain, hence a site, of its own. A literal
    /// address, a single label and a bare suffix are their own domain. The list is compiled in, so
    /// what is keyed by domain holds for one release of it.
    pub fn domain(&self) -> &str {
        let host = self.host();
        if self.ip().is_some() {
            return host;
        }
        psl::domain_str(host).unwrap_or(host)
    }

    /// The path, beginning with a slash.
    pub fn path(&self) -> &str {
        &self.text[usize::from(self.path_start)..usize::from(self.path_end)]
    }

    /// The query without its question mark; `None` where there is no question mark.
    pub fn query(&self) -> Option<&str> {
        self.text.get(usize::from(self.path_end) + 1..)
    }

    /// Path and query: what the request line asks for, and what robots.txt rules match.
    pub fn path_and_query(&self) -> &str {
        &self.text[usize::from(self.path_start)..]
    }

    /// The URL up to and with the last slash of its path: the folder it lies in.
    pub fn directory(&self) -> &str {
        let last = memrchr(b'/', self.path().as_bytes()).unwrap_or(0);
        &self.text[..usize::from(self.path_start) + last + 1]
    }

    /// The parts of the path between slashes; the last one is empty where the path ends in a slash.
    pub fn segments(&self) -> std::str::Split<'_, char> {
        self.text[usize::from(self.path_start) + 1..usize::from(self.path_end)].split('/')
    }

    fn host_start(&self) -> usize {
        if self.is_https() { "https://".len() } else { "http://".len() }
    }
}

impl AsRef<str> for Canonical {
    fn as_ref(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Canonical {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Canonical {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts() {
        let url = Canonical::parse("https://www.a.co.uk:8443/x/y.html?q=1").unwrap();
        assert!(url.is_https());
        assert_eq!(url.host(), "www.a.co.uk");
        assert_eq!(url.port(), 8443);
        assert_eq!(url.authority(), "www.a.co.uk:8443");
        assert_eq!(url.origin(), "https://www.a.co.uk:8443");
        assert_eq!(url.domain(), "a.co.uk");
        assert_eq!(url.path(), "/x/y.html");
        assert_eq!(url.query(), Some("q=1"));
        assert_eq!(url.path_and_query(), "/x/y.html?q=1");
        assert_eq!(url.directory(), "https://www.a.co.uk:8443/x/");
        assert_eq!(url.segments().collect::<Vec<_>>(), ["x", "y.html"]);
        assert_eq!(url.to_url().unwrap().as_str(), url.as_str());
    }

    #[test]
    fn both_schemes_share_an_authority() {
        let [a, b, c] = ["http://a.org:80/", "https://a.org:443/x", "http://a.org:443/"]
            .map(|text| Canonical::parse(text).unwrap());
        assert_eq!((a.authority(), a.port(), a.query()), ("a.org", 80, None));
        assert_eq!((b.authority(), b.port(), b.path()), ("a.org", 443, "/x"));
        assert_eq!((c.authority(), c.port()), ("a.org:443", 443));
    }

    #[test]
    fn domains() {
        for (host, domain) in [
            ("example.org", "example.org"),
            ("a.b.example.org", "example.org"),
            ("a.b.example.co.jp", "example.co.jp"),
            ("user.github.io", "user.github.io"),
            ("deep.user.github.io", "user.github.io"),
            ("github.io", "github.io"),
            ("co.uk", "co.uk"),
            ("localhost", "localhost"),
            ("a.unlisted", "a.unlisted"),
            ("b.a.unlisted", "a.unlisted"),
            ("www.食狮.公司.cn", "xn--85x722f.xn--55qx5d.cn"),
            ("192.0.2.7", "192.0.2.7"),
            ("[2001:db8::1]", "[2001:db8::1]"),
            ("a_b.example.org", "example.org"),
            (".example.org", "example.org"),
        ] {
            let url = Canonical::parse(&format!("http://{host}/")).unwrap();
            assert_eq!(url.domain(), domain, "{host}");
        }
    }

    #[test]
    fn addresses() {
        for (text, ip) in [
            ("http://192.0.2.7:81/", Some("192.0.2.7")),
            ("http://0x7f.1/", Some("127.0.0.1")),
            ("http://[2001:DB8::1]:81/", Some("2001:db8::1")),
            ("http://[::ffff:192.0.2.7]/", Some("::ffff:192.0.2.7")),
            ("http://a1/", None),
            ("http://a.org/", None),
        ] {
            let url = Canonical::parse(text).unwrap();
            assert_eq!(url.ip(), ip.map(|ip| ip.parse().unwrap()), "{text}");
        }
        assert_eq!(Canonical::parse("http://[::1]:81/").unwrap().port(), 81);
    }

    #[test]
    fn damage_is_not_trusted() {
        for text in ["", "http", "http://", "http://a", "https:///", "ftp://a/", "httpx://a/", "é"]
        {
            assert_eq!(Canonical::from_trusted(text.to_owned()), None, "{text}");
        }
        let long = format!("http://a/{}", "x".repeat(Canonical::MAX_LEN));
        assert_eq!(Canonical::from_trusted(long), None);
    }
}
