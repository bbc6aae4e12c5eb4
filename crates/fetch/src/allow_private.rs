//! Which addresses and names outside the public internet did the user open?

use std::net::IpAddr;

use crate::addr::{Network, is_private_name, is_public};
use crate::host_pattern::HostPattern;

/// Which addresses outside the public internet may be fetched from; none by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllowPrivate {
    networks: Vec<Network>,
    /// Private names that a proxy may look up.
    names: Vec<HostPattern>,
}

impl AllowPrivate {
    /// Only public addresses.
    pub const fn none() -> Self {
        AllowPrivate { networks: Vec::new(), names: Vec::new() }
    }

    /// Public addresses, and this machine's own.
    pub fn loopback() -> Self {
        AllowPrivate::networks(Network::LOOPBACK.to_vec())
    }

    /// Public addresses, and those within `networks`.
    pub fn networks(networks: Vec<Network>) -> Self {
        AllowPrivate { networks, names: Vec::new() }
    }

    /// The same, and these names where a proxy looks them up.
    #[must_use]
    pub fn with_names(self, names: Vec<HostPattern>) -> Self {
        AllowPrivate { names, ..self }
    }

    /// Whether a proxy may be asked for `url`, whose host's address is not known here.
    pub(crate) fn permits_name(&self, host: &str) -> bool {
        !is_private_name(host) || self.names.iter().any(|names| names.matches_host(host))
    }

    /// Whether `ip` may be connected to.
    pub fn permits(&self, ip: IpAddr) -> bool {
        is_public(ip) || self.networks.iter().any(|network| network.contains(ip))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allowed_networks_open_exactly_themselves() {
        let allow = AllowPrivate::networks(vec![
            "127.0.0.0/8".parse().unwrap(),
            "10.1.2.3".parse().unwrap(),
            "fd00::/8".parse().unwrap(),
        ]);
        for (ip, permitted) in [
            ("127.0.0.1", true),
            ("127.9.9.9", true),
            ("::ffff:127.0.0.1", true),
            ("10.1.2.3", true),
            ("10.1.2.4", false),
            ("fd12::1", true),
            ("fc12::1", false),
            ("::1", false),
            ("8.8.8.8", true),
        ] {
            assert_eq!(allow.permits(ip.parse().unwrap()), permitted, "{ip}");
        }
        let own = |ip: &str| AllowPrivate::loopback().permits(ip.parse().unwrap());
        assert!(own("127.0.0.1") && own("127.3.2.1") && own("::1"));
        assert!(!own("10.0.0.1") && !own("fe80::1") && !own("169.254.169.254") && !own("::2"));
    }

    #[test]
    fn private_names_are_opened_one_by_one() {
        let names = vec![".intranet".parse().unwrap(), "wiki.lan".parse().unwrap()];
        let allow = AllowPrivate::none().with_names(names);
        assert!(allow.permits_name("wiki.intranet") && allow.permits_name("wiki.lan"));
        assert!(!allow.permits_name("other.lan") && allow.permits_name("example.org"));
    }
}
