//! Which proxies does the environment name? `http_proxy` and its like, as other tools read them.

use std::sync::Arc;

use evercrawl_fetch::{HostPattern, Proxy, ProxyRule};

/// The rules of `no_proxy`, `http_proxy`, `https_proxy` and `all_proxy`. Capital letters count too, but not for
/// `HTTP_PROXY`: where a web server starts the crawler, its clients can set that.
pub(super) fn proxies(variable: impl Fn(&str) -> Option<String>) -> Result<Vec<ProxyRule>, String> {
    let set = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
    let either = |name: &str| set(name).or_else(|| set(&name.to_ascii_uppercase()));
    let mut rules = Vec::new();
    for item in either("no_proxy").unwrap_or_default().split(',').map(str::trim) {
        if !item.is_empty() {
            let hosts = exception(item).map_err(|error| format!("$no_proxy: {error}"))?;
            rules.push(ProxyRule { hosts, scheme: None, proxy: None });
        }
    }
    for (name, scheme, value) in [
        ("http_proxy", Some("http"), set("http_proxy")),
        ("https_proxy", Some("https"), either("https_proxy")),
        ("all_proxy", None, either("all_proxy")),
    ] {
        if let Some(value) = value {
            let proxy: Result<Proxy, _> = value.parse();
            let proxy = proxy.map_err(|error| format!("${name}: {error}"))?;
            rules.push(ProxyRule { hosts: HostPattern::ALL, scheme, proxy: Some(Arc::new(proxy)) });
        }
    }
    Ok(rules)
}

/// A name in `no_proxy` means the hosts below it, too, on the port that it ends with or on all.
fn exception(item: &str) -> Result<HostPattern, String> {
    let bare = item.strip_prefix("*.").or(item.strip_prefix('.')).unwrap_or(item);
    let host = bare.rsplit_once(':').map_or(bare, |(host, _)| host);
    let is_name = host.contains(char::is_alphabetic) && !host.contains([':', '/', '[']);
    let pattern = if is_name { format!(".{bare}") } else { bare.to_owned() };
    pattern.parse().map_err(|error: evercrawl_fetch::BadHostPattern| error.to_string())
}

#[cfg(test)]
mod tests {
    use evercrawl_fetch::{Access, AccessRules};

    use super::*;

    fn proxy_of(variables: &[(&str, &str)], url: &str) -> Option<String> {
        let find = |name: &str| {
            variables.iter().find(|(it, _)| *it == name).map(|(_, value)| (*value).to_owned())
        };
        let proxies = proxies(find).unwrap();
        let access = Access::new(AccessRules { proxies, ..AccessRules::default() });
        access.proxy_for(&url::Url::parse(url).unwrap()).map(ToString::to_string)
    }

    #[test]
    fn variables_count_as_they_do_for_other_tools() {
        let all = [
            ("http_proxy", "http://me:secret@a:1"),
            ("HTTPS_PROXY", "b:2"),
            ("ALL_PROXY", "socks5://c:3"),
            ("no_proxy", "x.test, .y.test,10.0.0.0/8 , z.test:8080,7zip.test,fd00::/8"),
        ];
        for (url, want) in [
            ("http://h.test/", Some("http://a:1")),
            ("https://h.test/", Some("http://b:2")),
            ("http://x.test/", None),
            ("http://w.x.test/", None),
            ("https://y.test/", None),
            ("http://10.1.2.3/", None),
            ("http://z.test:8080/", None),
            ("http://w.z.test:8080/", None),
            ("http://w.7zip.test/", None),
            ("http://[fd00::1]/", None),
            ("http://z.test/", Some("http://a:1")),
        ] {
            assert_eq!(proxy_of(&all, url).as_deref(), want, "{url}");
        }
        assert_eq!(proxy_of(&[("HTTP_PROXY", "http://evil:1")], "http://h.test/"), None);
        assert_eq!(
            proxy_of(&[("all_proxy", "socks5://c:3")], "http://h.test/").as_deref(),
            Some("socks5://c:3")
        );
        assert_eq!(proxy_of(&[("all_proxy", "c:3"), ("no_proxy", "*")], "http://h.test/"), None);
        let bad = proxies(|name| (name == "http_proxy").then(|| "ftp://me:secret@a".to_owned()));
        let error = bad.unwrap_err();
        assert!(
            error.contains("$http_proxy: cannot use ftp") && !error.contains("secret"),
            "{error}"
        );
    }
}
