//! Under which names may the server be asked?
//!
//! A page on the web can have its own name lead to this machine ("DNS rebinding"), and its scripts then count as of the
//! same origin as we are. Its requests carry its name in `Host`, which is how they are told from others.

use std::net::IpAddr;

/// The names in `Host` that are accepted.
#[derive(Clone, Debug)]
pub enum Hosts {
    /// All: for a listener that has no pages, and asks every caller for a token or for no `Origin`.
    Any,
    /// `localhost` with the listener's own port, IP addresses, and these names.
    Listed {
        /// The listener's port.
        port: u16,
        /// Further names, each with or without a port.
        names: Vec<String>,
    },
}

impl Hosts {
    /// Whether a request for this host, as it stands in `Host` or in the target, is for us.
    pub fn accept(&self, host: &str) -> bool {
        let Hosts::Listed { port, names } = self else { return true };
        let (name, its_port) = split(host);
        let is_ours = |listed: &String| {
            let (listed, only) = split(listed);
            listed.eq_ignore_ascii_case(name) && (only.is_none() || only == its_port)
        };
        if is_address(name) || names.iter().any(is_ours) {
            return true;
        }
        let is_own_port = its_port.map_or(*port == 80, |text| text == port.to_string());
        name.eq_ignore_ascii_case("localhost") && is_own_port
    }
}

/// A name and its port.
fn split(host: &str) -> (&str, Option<&str>) {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => (name, Some(port)),
        _ => (host, None),
    }
}

/// No name leads to an address, so nobody can have one lead here.
fn is_address(name: &str) -> bool {
    let bare = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    bare.unwrap_or(name).parse::<IpAddr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_own_names_and_addresses_are_accepted() {
        let names = vec!["crawl.example.org".to_owned(), "pinned.test:8443".to_owned()];
        let hosts = Hosts::Listed { port: 7700, names };
        for good in [
            "localhost:7700",
            "LOCALHOST:7700",
            "127.0.0.1:7700",
            "127.0.0.1",
            "[::1]:7700",
            "[::1]",
            "192.0.2.7:1",
            "crawl.example.org",
            "Crawl.Example.org:443",
            "pinned.test:8443",
        ] {
            assert!(hosts.accept(good), "{good}");
        }
        for bad in [
            "",
            "localhost",
            "localhost:7701",
            "evil.test",
            "evil.test:7700",
            "127.0.0.1.evil.test",
            "localhost.evil.test:7700",
            "crawl.example.org.evil.test",
            "pinned.test:7700",
            "pinned.test",
            "127.0.0.1:7700@evil.test",
        ] {
            assert!(!hosts.accept(bad), "{bad}");
        }
        assert!(Hosts::Any.accept("x"));
    }
}
