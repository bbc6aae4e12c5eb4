//! Which hosts and paths does a cookie's domain and path cover?

use std::net::IpAddr;

/// Whether `host` is `domain` or lies below it. An address lies below nothing.
pub(crate) fn domain_matches(host: &str, domain: &str) -> bool {
    host == domain
        || (host.strip_suffix(domain).is_some_and(|above| above.ends_with('.'))
            && !is_address(host))
}

/// Whether `path` is `cookie_path` or lies below it.
pub(crate) fn path_matches(path: &str, cookie_path: &str) -> bool {
    path.strip_prefix(cookie_path)
        .is_some_and(|rest| rest.is_empty() || cookie_path.ends_with('/') || rest.starts_with('/'))
}

/// The path of a cookie that names none: that of the URL up to its last slash.
pub(crate) fn default_path(path: &str) -> &str {
    match path.rfind('/') {
        None | Some(0) => "/",
        Some(end) => &path[..end],
    }
}

/// Whether anybody may register a name below `domain`, so that a cookie for it would go to strangers.
pub fn is_public_suffix(domain: &str) -> bool {
    psl::suffix_str(domain).is_some_and(|suffix| suffix == domain) && !is_address(domain)
}

/// What the hosts of one owner have in common: the registered domain, or the host itself.
pub(crate) fn site_of(host: &str) -> &str {
    if is_address(host) { host } else { psl::domain_str(host).unwrap_or(host) }
}

/// Whether `host`, as a URL writes it, is a literal address.
fn is_address(host: &str) -> bool {
    host.starts_with('[') || host.parse::<IpAddr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn domains_cover_themselves_and_what_lies_below() {
        for (host, domain, covered) in [
            ("a.test", "a.test", true),
            ("b.a.test", "a.test", true),
            ("ba.test", "a.test", false),
            ("a.test", "b.a.test", false),
            ("1.2.3.4", "3.4", false),
            ("1.2.3.4", "1.2.3.4", true),
            ("[::1]", "[::1]", true),
        ] {
            assert_eq!(domain_matches(host, domain), covered, "{host} {domain}");
        }
    }

    #[test]
    fn paths_cover_themselves_and_what_lies_below() {
        for (path, cookie, covered) in [
            ("/", "/", true),
            ("/a", "/", true),
            ("/a", "/a", true),
            ("/a/b", "/a", true),
            ("/a/b", "/a/", true),
            ("/ab", "/a", false),
            ("/", "/a", false),
        ] {
            assert_eq!(path_matches(path, cookie), covered, "{path} {cookie}");
        }
        for (path, default) in [("/", "/"), ("/a", "/"), ("/a/", "/a"), ("/a/b", "/a"), ("", "/")] {
            assert_eq!(default_path(path), default, "{path}");
        }
    }

    #[test]
    fn public_suffixes_belong_to_nobody() {
        for (domain, public) in [
            ("com", true),
            ("co.uk", true),
            ("github.io", true),
            ("example.com", false),
            ("example.co.uk", false),
            ("127.0.0.1", false),
            ("[::1]", false),
        ] {
            assert_eq!(is_public_suffix(domain), public, "{domain}");
        }
        assert_eq!(site_of("a.b.example.co.uk"), "example.co.uk");
        assert_eq!(site_of("127.0.0.1"), "127.0.0.1");
        assert_eq!(site_of("localhost"), "localhost");
    }
}
