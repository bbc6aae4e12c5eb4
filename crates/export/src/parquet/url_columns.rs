//! Into which columns does Common Crawl divide a URL?

use psl::Type;
use url::{Host, Url};

use super::table::Cell;
use super::table::ColumnKind::{self, Int, Text};

/// The columns of a URL, in Common Crawl's order.
pub(super) const URL_COLUMNS: [(&str, ColumnKind); OF_COMMON_CRAWL] = [
    ("url_host_name", Text),
    ("url_host_tld", Text),
    ("url_host_2nd_last_part", Text),
    ("url_host_3rd_last_part", Text),
    ("url_host_4th_last_part", Text),
    ("url_host_5th_last_part", Text),
    ("url_host_registry_suffix", Text),
    ("url_host_registered_domain", Text),
    ("url_host_private_suffix", Text),
    ("url_host_private_domain", Text),
    ("url_host_name_reversed", Text),
    ("url_protocol", Text),
    ("url_port", Int),
    ("url_path", Text),
    ("url_query", Text),
];

/// How many of them are Common Crawl's.
pub(super) const OF_COMMON_CRAWL: usize = 15;

/// The cells of a URL.
pub(super) fn url_cells(text: &str) -> Vec<Cell> {
    let Ok(url) = Url::parse(text) else { return vec![Cell::Missing; OF_COMMON_CRAWL] };
    let name = url.host_str().unwrap_or_default().to_owned();
    let is_name = matches!(url.host(), Some(Host::Domain(_)));
    let mut cells = vec![Cell::Text(name.clone())];
    cells.extend(name_cells(&name, is_name));
    cells.push(Cell::Text(url.scheme().to_owned()));
    cells.push(Cell::int(url.port()));
    cells.push(Cell::Text(url.path().to_owned()));
    cells.push(Cell::text(url.query()));
    cells
}

/// Parts of a name from the last on, suffixes and domains, and the name from its end. An address has none of them.
fn name_cells(name: &str, is_name: bool) -> Vec<Cell> {
    if !is_name {
        let mut cells = vec![Cell::Missing; 10];
        cells[9] = Cell::Text(name.to_owned());
        return cells;
    }
    let parts: Vec<&str> = name.rsplit('.').collect();
    let mut cells: Vec<Cell> = (0..5).map(|n| Cell::text(parts.get(n).copied())).collect();
    let (registry, private) = suffixes(name);
    for suffix in [registry, private] {
        cells.push(Cell::text(suffix));
        cells.push(Cell::text(suffix.and_then(|suffix| domain_above(name, suffix))));
    }
    cells.push(Cell::Text(parts.join(".")));
    cells
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

    fn texts(url: &str) -> Vec<String> {
        let text = |cell: Cell| match cell {
            Cell::Text(text) => text,
            Cell::Int(number) => number.to_string(),
            _ => "-".to_owned(),
        };
        url_cells(url).into_iter().map(text).collect()
    }

    #[test]
    fn a_url_is_divided_as_common_crawl_does() {
        assert_eq!(
            texts("https://www.shop.example.co.uk:8443/a/b?q=1"),
            [
                "www.shop.example.co.uk",
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
                "https",
                "8443",
                "/a/b",
                "q=1",
            ]
        );
        let private = texts("http://me.blogspot.com/");
        assert_eq!(private[6..10], ["com", "blogspot.com", "blogspot.com", "me.blogspot.com"]);
        let address = texts("http://127.0.0.1:80/");
        assert_eq!(
            (&*address[0], &*address[1], &*address[10], &*address[12]),
            ("127.0.0.1", "-", "127.0.0.1", "-")
        );
        assert_eq!(texts("no url"), ["-"; 15]);
        assert_eq!(URL_COLUMNS[OF_COMMON_CRAWL - 1].0, "url_query");
    }
}
