//! May we connect to this address?
//!
//! A crawler follows links that strangers write. Without this check a page could make it read the
//! operator's own network, or a cloud's metadata service. The check is on the address itself, after
//! DNS, so no spelling of it and no name that resolves to it gets past.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use thiserror::Error;
use url::Host;

/// Whether `ip` lies in the public internet: not private, loopback, link-local, shared, multicast,
/// reserved, for documentation or benchmarks, nor a cloud's metadata service, and, where an IPv6
/// address carries an IPv4 address inside, whether that one is public too.
pub fn is_public(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => is_public_v4(ip),
        IpAddr::V6(ip) => is_public_v6(ip),
    }
}

/// Whether `host` is a name that only a private network knows: a proxy would look it up there. Such are this machine's
/// own names, names without a dot, and those of domains that are set aside for private use.
pub fn is_private_name(host: &str) -> bool {
    const SET_ASIDE: [&str; 6] = ["localhost", "local", "internal", "intranet", "lan", "home.arpa"];
    let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
    let is_below = |domain: &&str| {
        host.strip_suffix(*domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    };
    literal_address(&host).is_none()
        && (!host.contains('.') || SET_ASIDE.iter().any(|it| is_below(&it)))
}

/// The IP address that a URL's or rule's host is, if it is one.
pub(crate) fn literal_address(host: &str) -> Option<IpAddr> {
    // Names do not begin with a digit or bracket often; this spares most hosts the parse.
    if !host.starts_with(|first: char| first.is_ascii_digit() || first == '[') {
        return None;
    }
    match Host::parse(host).ok()? {
        Host::Ipv4(ip) => Some(ip.into()),
        Host::Ipv6(ip) => Some(ip.into()),
        Host::Domain(_) => None,
    }
}

/// A network such as `127.0.0.0/8` or `fd00::/8`; an address alone is a network of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    ip: IpAddr,
    prefix: u8,
}

impl Network {
    /// The addresses by which a machine calls itself.
    pub const LOOPBACK: [Network; 2] = [
        Network { ip: IpAddr::V4(Ipv4Addr::LOCALHOST), prefix: 8 },
        Network { ip: IpAddr::V6(Ipv6Addr::LOCALHOST), prefix: 128 },
    ];

    /// Whether `ip` lies within. An IPv4 address mapped into IPv6 counts as the IPv4 address it is.
    pub fn contains(&self, ip: IpAddr) -> bool {
        match (self.ip, ip.to_canonical()) {
            (IpAddr::V4(net), IpAddr::V4(ip)) => {
                same_prefix(net.to_bits().into(), ip.to_bits().into(), 32 - self.prefix.min(32))
            }
            (IpAddr::V6(net), IpAddr::V6(ip)) => {
                same_prefix(net.to_bits(), ip.to_bits(), 128 - self.prefix.min(128))
            }
            _ => false,
        }
    }
}

impl FromStr for Network {
    type Err = BadNetwork;

    fn from_str(text: &str) -> Result<Self, BadNetwork> {
        let bad = || BadNetwork(text.to_owned());
        let (ip, prefix) = match text.split_once('/') {
            Some((ip, prefix)) => (ip, Some(prefix)),
            None => (text, None),
        };
        let ip: IpAddr = ip.trim().parse().map_err(|_| bad())?;
        let widest = if ip.is_ipv4() { 32 } else { 128 };
        let prefix = prefix.map_or(Ok(widest), |text| text.trim().parse().map_err(|_| bad()))?;
        if prefix > widest { Err(bad()) } else { Ok(Network { ip, prefix }) }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.ip, self.prefix)
    }
}

/// The text is not a valid network.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{0}` is not a network; use e.g. 127.0.0.0/8, fd00::/8 or a single address")]
pub struct BadNetwork(String);

fn same_prefix(a: u128, b: u128, ignored_bits: u8) -> bool {
    (a ^ b).checked_shr(ignored_bits.into()).unwrap_or(0) == 0
}

/// The networks of IANA's special-purpose registry that are not for everybody, and the one metadata
/// service that hides behind an ordinary address (Azure's).
const SPECIAL_V4: [([u8; 4], u8); 17] = [
    ([0, 0, 0, 0], 8),
    ([10, 0, 0, 0], 8),
    ([100, 64, 0, 0], 10),
    ([127, 0, 0, 0], 8),
    ([168, 63, 129, 16], 32),
    ([169, 254, 0, 0], 16),
    ([172, 16, 0, 0], 12),
    ([192, 0, 0, 0], 24),
    ([192, 0, 2, 0], 24),
    ([192, 88, 99, 0], 24),
    ([192, 168, 0, 0], 16),
    ([198, 18, 0, 0], 15),
    ([198, 51, 100, 0], 24),
    ([203, 0, 113, 0], 24),
    ([224, 0, 0, 0], 4),
    ([240, 0, 0, 0], 4),
    ([255, 255, 255, 255], 32),
];

fn is_public_v4(ip: Ipv4Addr) -> bool {
    let bits = ip.to_bits();
    !SPECIAL_V4
        .iter()
        .any(|&(net, prefix)| same_prefix(u32::from_be_bytes(net).into(), bits.into(), 32 - prefix))
}

fn is_public_v6(ip: Ipv6Addr) -> bool {
    let s = ip.segments();
    match s {
        // Mapped, compatible, translated (SIIT) and NAT64: the last 32 bits are the address meant.
        [0, 0, 0, 0, 0, 0xffff | 0, hi, lo]
        | [0, 0, 0, 0, 0xffff, 0, hi, lo]
        | [0x64, 0xff9b, 0, 0, 0, 0, hi, lo] => is_public_v4(v4(hi, lo)),
        // 6to4 names its gateway in the second and third group.
        [0x2002, hi, lo, ..] => is_public_v4(v4(hi, lo)),
        // Teredo names its server, and the client with every bit turned over.
        [0x2001, 0, hi, lo, _, _, not_hi, not_lo] => {
            is_public_v4(v4(hi, lo)) && is_public_v4(v4(!not_hi, !not_lo))
        }
        // Protocol assignments, benchmarks, ORCHID; documentation, twice.
        [0x2001, 0..0x200, ..] | [0x2001, 0xdb8, ..] | [0x3fff, 0..0x1000, ..] => false,
        // Of all the rest only this eighth is global unicast.
        [first, ..] => first >> 13 == 1,
    }
}

fn v4(hi: u16, lo: u16) -> Ipv4Addr {
    Ipv4Addr::from_bits(u32::from(hi) << 16 | u32::from(lo))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use url::Url;

    #[test]
    fn only_public_addresses_pass() {
        let public = [
            "1.1.1.1",
            "8.8.8.8",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "168.63.129.15",
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.0",
            "192.0.3.0",
            "192.167.0.0",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "203.0.112.0",
            "203.0.114.0",
            "223.255.255.255",
            "2606:4700::1111",
            "2a00::1",
            "2001:200::1",
            "2001:4860:4860::8888",
            "3ffe::1",
            "::ffff:8.8.8.8",
            "::8.8.8.8",
            "::ffff:0:8.8.8.8",
            "64:ff9b::8.8.8.8",
            "2002:808:808::1",
            "2001:0:808:808:0:0:f7f7:f7f7",
        ];
        for ip in public {
            assert!(is_public(ip.parse().unwrap()), "{ip} is public");
        }
        let special = [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "10.255.255.255",
            "100.64.0.1",
            "100.100.100.200",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.255.254",
            "168.63.129.16",
            "169.254.0.1",
            "169.254.169.254",
            "169.254.170.2",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.1",
            "192.0.0.192",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.0.1",
            "192.168.255.255",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.1",
            "203.0.113.1",
            "224.0.0.1",
            "239.255.255.255",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::2",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::ffff:169.254.169.254",
            "::127.0.0.1",
            "::ffff:0:192.168.1.1",
            "64:ff9b::10.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b:1::8.8.8.8",
            "100::1",
            "2001:2::1",
            "2001:10::1",
            "2001:20::1",
            "2001:1ff::1",
            "2001:db8::1",
            "2002:7f00:1::1",
            "2002:a00:1::",
            "2002:a9fe:a9fe::1",
            "2001:0:7f00:1::f7f7:f7f7",
            "2001:0:808:808:0:0:80ff:fffe",
            "3fff::1",
            "3fff:fff::1",
            "4000::1",
            "5f00::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "febf::1",
            "fec0::1",
            "ff02::1",
            "ffff::1",
        ];
        for ip in special {
            assert!(!is_public(ip.parse().unwrap()), "{ip} is special");
        }
    }

    #[test]
    fn no_spelling_of_a_literal_address_gets_past() {
        for host in [
            "127.0.0.1",
            "127.1",
            "127.0.1",
            "0177.0.0.1",
            "0x7f.0.0.1",
            "0x7f000001",
            "2130706433",
            "017700000001",
            "0x7f.1",
            "127.0.0.1.",
            "%31%32%37.0.0.1",
            "１２７.０.０.１",
            "①②⑦.⓪.⓪.①",
            "127。0。0。1",
            "0",
            "0.0.0.0",
            "0x0",
            "2852039166",
            "0xa9fea9fe",
            "0251.0376.0251.0376",
            "169.254.43518",
            "169.16689662",
            "10.1",
            "192.168.257",
            "[::1]",
            "[::]",
            "[0:0:0:0:0:0:0:1]",
            "[::ffff:127.0.0.1]",
            "[::ffff:7f00:1]",
            "[0:0:0:0:0:ffff:a9fe:a9fe]",
            "[::7f00:1]",
            "[fd00:ec2::254]",
            "[fe80::1]",
        ] {
            let url = Url::parse(&format!("http://{host}/")).unwrap();
            let ip = match url.host().unwrap() {
                Host::Ipv4(ip) => IpAddr::V4(ip),
                Host::Ipv6(ip) => IpAddr::V6(ip),
                Host::Domain(name) => panic!("{host} was taken for the name {name}"),
            };
            assert!(!is_public(ip), "{host} is {ip}");
        }
    }

    #[test]
    fn literal_addresses_are_known_from_names() {
        for (host, literal) in [
            ("127.0.0.1", Some("127.0.0.1")),
            ("[::1]", Some("::1")),
            ("1.example.org", None),
            ("example.org", None),
        ] {
            let literal = literal.map(|ip| ip.parse().unwrap());
            assert_eq!(literal_address(host), literal, "{host}");
        }
    }

    #[test]
    fn networks_are_read_strictly() {
        for text in ["", "127.0.0.0/33", "::/129", "127.0.0/8", "10.0.0.0/", "10.0.0.0/-1", "lan"] {
            assert!(text.parse::<Network>().is_err(), "{text:?}");
        }
        let network: Network = " 10.0.0.0 / 8 ".parse().unwrap();
        assert_eq!(network.to_string(), "10.0.0.0/8");
    }

    #[test]
    fn names_of_private_networks_are_known() {
        for (host, private) in [
            ("intranet", true),
            ("metadata.google.internal", true),
            ("Printer.Local.", true),
            ("router.home.arpa", true),
            ("localhost", true),
            ("a.localhost", true),
            ("wiki.lan", true),
            ("example.org", false),
            ("local.example.org", false),
            ("mylocal.test", false),
            ("8.8.8.8", false),
            ("[::1]", false),
        ] {
            assert_eq!(is_private_name(host), private, "{host}");
        }
    }

    proptest! {
        #[test]
        fn wrapping_an_ipv4_address_never_makes_it_public(bits: u32) {
            let v4 = Ipv4Addr::from_bits(bits);
            for wrapped in [v4.to_ipv6_mapped(), v4.to_ipv6_compatible()] {
                prop_assert_eq!(is_public(wrapped.into()), is_public(v4.into()));
            }
        }

        #[test]
        fn a_network_contains_what_shares_its_prefix(net: u32, ip: u32, prefix in 0u8..=32) {
            let network = Network { ip: Ipv4Addr::from_bits(net).into(), prefix };
            let mask = u32::MAX.checked_shl(32 - u32::from(prefix)).unwrap_or(0);
            let within = net & mask == ip & mask;
            prop_assert_eq!(network.contains(Ipv4Addr::from_bits(ip).into()), within);
        }
    }
}
