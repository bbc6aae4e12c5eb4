//! Into which columns does Common Crawl divide a URL?

use psl::Type;
use url::{Host, Url};

use super::table::ColumnKind::{self, Int, Label, Text};
use super::table::Row;

/// The columns of a URL, in Common Crawl's order.
pub(super) const URL_COLUMNS: [(&str, ColumnKind); 15] = [
    ("url_host_name", Label),
    ("url_host_tld", Label),
    ("url_host_2nd_last_part", Label),
    ("url_host_3rd_last_part", Label),
    ("url_host_4th_last_part", Label),
    ("url_host_5th_last_part", Label),
    ("url_host_registry_suffix", Label),
    ("url_host_registered_domain", Label),
    ("url_host_private_suffix", Label),
    ("url_host_private_domain", Label),
    ("url_host_name_reversed", Label),
    ("url_protocol", Label),
    ("url_port", Int),
    ("url_path", Text),
    ("url_query", Text),
];

/// Writes the columns of URLs, and remembers how the last host's name is divided.
#[derive(Debug, Default)]
pub(super) struct UrlColumns {
    host: HostParts,
}

/// How the name of a host is divided.
#[derive(Debug, Default)]
struct HostParts {
    name: String,
    /// Parts from the last one on; a number address has none.
    parts: [Option<String>; 5],
    registry_suffix: Option<String>,
    registered_domain: Option<String>,
    private_suffix: Option<String>,
    private_domain: Option<String>,
    reversed: Option<String>,
}

impl UrlColumns {
    /// Fills in the columns of a URL.
    pub(super) fn fill(&mut self, url: &str, row: &mut Row<'_>) {
        let Ok(url) = Url::parse(url) else {
            URL_COLUMNS[..12].iter().for_each(|_| {
                row.text(None);
            });
            row.int(None::<i32>).text(None).text(None);
            return;
        };
        let name = url.host_str().unwrap_or_default();
        if self.host.name != name || self.host.name.is_empty() {
            self.host = HostParts::of(name, matches!(url.host(), Some(Host::Domain(_))));
        }
        self.host.fill(row);
        row.text(Some(url.scheme())).int(url.port()).text(Some(url.path())).text(url.query());
    }
}

impl HostParts {
    fn of(name: &str, is_name: bool) -> Self {
        if !is_name {
            return HostParts { name: name.to_owned(), ..HostParts::default() };
        }
        let own = |text: Option<&str>| text.map(str::to_owned);
        let mut parts = name.rsplit('.').map(str::to_owned);
        let (registry, private) = suffixes(name);
        let domain = |suffix: Option<&str>| own(suffix.and_then(|end| domain_above(name, end)));
        HostParts {
            name: name.to_owned(),
            parts: std::array::from_fn(|_| parts.next()),
            registry_suffix: own(registry),
            registered_domain: domain(registry),
            private_suffix: own(private),
            private_domain: domain(private),
            reversed: Some(name.rsplit('.').collect::<Vec<_>>().join(".")),
        }
    }

    fn fill(&self, row: &mut Row<'_>) {
        row.text(Some(&self.name));
        for part in &self.parts {
            row.text(part.as_deref());
        }
        row.text(self.registry_suffix.as_deref()).text(self.registered_domain.as_deref());
        row.text(self.private_suffix.as_deref()).text(self.private_domain.as_deref());
        row.text(self.reversed.as_deref());
    }
}

/// The suffix that a registry sells names under, and the one that includes those of companies.
fn suffixes(name: &str) -> (Option<&str>, Option<&str>) {
    let suffix = |name: &str| {
        psl::suffix(name.as_bytes()).map(|found| (found.as_bytes().len(), found.typ()))
    };
    let end = |length: usize| name.get(name.len().checked_sub(length)?..);
    let Some((length, kind)) = suffix(name) else { return (None, None) };
    let private = end(length);
    let mut registry = private;
    let mut is_private = kind == Some(Type::Private);
    while is_private {
        let Some((_, rest)) = registry.and_then(|text| text.split_once('.')) else { break };
        let Some((length, kind)) = suffix(rest) else { break };
        registry = rest.get(rest.len() - length..);
        is_private = kind == Some(Type::Private);
    }
    (registry, private)
}

/// The suffix with one part more of the name before it.
fn domain_above<'a>(name: &'a str, suffix: &str) -> Option<&'a str> {
    let before = name.strip_suffix(suffix)?.strip_suffix('.')?;
    let start = before.rfind('.').map_or(0, |dot| dot + 1);
    name.get(start..)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failing test panics")]
mod tests {
    use super::*;

    fn parts(name: &str) -> Vec<Option<String>> {
        let host = HostParts::of(name, !name.starts_with(char::is_numeric));
        let domains = [
            host.registry_suffix,
            host.registered_domain,
            host.private_suffix,
            host.private_domain,
            host.reversed,
        ];
        host.parts.into_iter().chain(domains).collect()
    }

    fn texts(name: &str) -> Vec<String> {
        parts(name).into_iter().map(|part| part.unwrap_or("-".to_owned())).collect()
    }

    #[test]
    fn a_host_is_divided_as_common_crawl_does() {
        assert_eq!(
            texts("www.shop.example.co.uk"),
            [
                "uk",
                "co",
                "example",
                "shop",
                "www",
                "co.uk",
                "example.co.uk",
                "co.uk",
                "example.co.uk",
                "uk.co.example.shop.www",
            ]
        );
        let private = texts("me.blogspot.com");
        assert_eq!(private[5..9], ["com", "blogspot.com", "blogspot.com", "me.blogspot.com"]);
        assert_eq!(parts("127.0.0.1"), vec![None; 10]);
        assert_eq!(texts("localhost")[..2], ["localhost", "-"]);
    }
}
