//! Which hosts does a rule mean?

use std::net::IpAddr;
use std::str::FromStr;

use evercrawl_cookies::is_public_suffix;
use thiserror::Error;
use url::{Host, Url};

use crate::addr::{Network, literal_address};

/// Hosts: `example.org` alone, `*.example.org` below it, `.example.org` both, `10.0.0.0/8` literal addresses in a
/// network, `*` all; each with `:PORT` where only that port is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostPattern {
    hosts: Hosts,
    port: Option<u16>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Hosts {
    All,
    One(String),
    Below(String),
    OneAndBelow(String),
    Network(Network),
}

impl HostPattern {
    /// All hosts.
    pub const ALL: HostPattern = HostPattern { hosts: Hosts::All, port: None };

    /// Whether the host and port of `url` are meant.
    pub fn matches(&self, url: &Url) -> bool {
        let host = url.host_str().unwrap_or_default();
        self.port.is_none_or(|port| url.port_or_known_default() == Some(port))
            && self.hosts.contain(host.strip_suffix('.').unwrap_or(host))
    }

    /// Whether `host` is meant on some port.
    pub(crate) fn matches_host(&self, host: &str) -> bool {
        self.hosts.contain(host.strip_suffix('.').unwrap_or(host))
    }

    /// Whether hosts of many owners are meant, who must not see what is meant for one.
    pub(crate) fn is_shared(&self) -> bool {
        match &self.hosts {
            Hosts::All => true,
            Hosts::Below(name) | Hosts::OneAndBelow(name) => is_public_suffix(name),
            Hosts::One(_) | Hosts::Network(_) => false,
        }
    }
}

impl Hosts {
    fn contain(&self, host: &str) -> bool {
        let is_below = |name: &str| host.strip_suffix(name).is_some_and(|rest| rest.ends_with('.'));
        match self {
            Hosts::All => true,
            Hosts::One(name) => host == name,
            Hosts::Below(name) => is_below(name),
            Hosts::OneAndBelow(name) => host == name || is_below(name),
            Hosts::Network(network) => {
                literal_address(host).is_some_and(|address| network.contains(address))
            }
        }
    }
}

impl FromStr for HostPattern {
    type Err = BadHostPattern;

    fn from_str(text: &str) -> Result<Self, BadHostPattern> {
        let bad = || BadHostPattern(text.to_owned());
        let (hosts, port) = split_port(text.trim()).ok_or_else(bad)?;
        let name = |name: &str| match Host::parse(name) {
            Ok(Host::Domain(name)) => Ok(name.trim_end_matches('.').to_owned()),
            _ => Err(bad()),
        };
        let hosts = if hosts == "*" {
            Hosts::All
        } else if let Some(rest) = hosts.strip_prefix("*.") {
            Hosts::Below(name(rest)?)
        } else if let Some(rest) = hosts.strip_prefix('.') {
            Hosts::OneAndBelow(name(rest)?)
        } else if hosts.contains('/') || hosts.parse::<IpAddr>().is_ok() {
            Hosts::Network(hosts.parse().map_err(|_| bad())?)
        } else {
            let is_plain = !hosts.is_empty() && !hosts.contains('*');
            let host = Host::parse(hosts).ok().filter(|_| is_plain).ok_or_else(bad)?;
            Hosts::One(host.to_string().trim_end_matches('.').to_owned())
        };
        Ok(HostPattern { hosts, port })
    }
}

/// Splits `HOST:PORT`; an IPv6 address with a port stands in brackets.
fn split_port(text: &str) -> Option<(&str, Option<u16>)> {
    if text.parse::<IpAddr>().is_ok() || text.parse::<Network>().is_ok() {
        return Some((text, None));
    }
    match text.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => Some((host, Some(port.parse().ok()?))),
        _ => Some((text, None)),
    }
}

/// The text does not say which hosts are meant.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "`{0}` is not a host pattern; use e.g. example.org, *.example.org (hosts below it), .example.org (both), 10.0.0.0/8 or *, optionally with :PORT"
)]
pub struct BadHostPattern(String);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_pattern_means_the_hosts_that_it_names() {
        for (pattern, url, meant) in [
            ("a.test", "http://a.test/", true),
            ("A.Test", "http://a.test./", true),
            ("a.test", "http://b.a.test/", false),
            ("*.a.test", "http://a.test/", false),
            ("*.a.test", "http://b.a.test/", true),
            ("*.a.test", "http://ba.test/", false),
            (".a.test", "http://a.test/", true),
            (".a.test", "http://c.b.a.test/", true),
            ("a.test:8080", "http://a.test:8080/", true),
            ("a.test:80", "http://a.test/", true),
            ("a.test:80", "https://a.test/", false),
            ("*", "http://[::1]/", true),
            ("*:443", "https://a.test/", true),
            ("10.0.0.0/8", "http://10.1.2.3/", true),
            ("10.0.0.0/8", "http://11.1.2.3/", false),
            ("10.0.0.0/8", "http://a.test/", false),
            ("127.0.0.1", "http://127.1/", true),
            ("127.0.0.1:81", "http://127.0.0.1:81/", true),
            ("::1", "http://[::1]/", true),
            ("[::1]:81", "http://[::1]:81/", true),
            ("[::1]:81", "http://[::1]/", false),
            ("bücher.test", "http://xn--bcher-kva.test/", true),
        ] {
            let parsed: HostPattern = pattern.parse().unwrap();
            assert_eq!(parsed.matches(&Url::parse(url).unwrap()), meant, "{pattern} {url}");
        }
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        for text in
            ["", "a.*.test", "*a.test", "a b", "http://a.test", "a.test:http", "*.", "10.0.0.0/99"]
        {
            assert!(text.parse::<HostPattern>().is_err(), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_pattern_or_refused(text in "[-a-z0-9.*:/\\[\\]é]{0,20}") {
            if let Ok(pattern) = text.parse::<HostPattern>() {
                let _ = pattern.matches(&Url::parse("http://a.test/").unwrap());
            }
        }
    }
}
