//! What is this file? Its content tells; its name does not count.

use serde::Serialize;

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A URL or a bare domain in each line.
    UrlList,
    /// Columns `url`, `tag`, `every`.
    Csv,
    /// A sitemap, an index of sitemaps, or a feed.
    Sitemap,
    /// Subscriptions of a feed reader.
    Opml,
    /// Bookmarks as browsers export them.
    Bookmarks,
    /// Records of fetched pages.
    Warc,
    /// A zip package with WARC files.
    Wacz,
    /// An index of WARC files.
    Cdxj,
    /// The backup of a changedetection.io instance.
    Changedetection,
    /// urlwatch's list of jobs.
    Urlwatch,
    /// Heritrix's log of visits.
    CrawlLog,
    /// The dump of Nutch's crawl database.
    Nutch,
    /// A zip package; what is in it says more.
    Zip,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 13] = [
        Kind::UrlList,
        Kind::Csv,
        Kind::Sitemap,
        Kind::Opml,
        Kind::Bookmarks,
        Kind::Warc,
        Kind::Wacz,
        Kind::Cdxj,
        Kind::Changedetection,
        Kind::Urlwatch,
        Kind::CrawlLog,
        Kind::Nutch,
        Kind::Zip,
    ];

    /// What users call it.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::UrlList => "URL list",
            Kind::Csv => "CSV",
            Kind::Sitemap => "sitemap",
            Kind::Opml => "OPML",
            Kind::Bookmarks => "bookmarks",
            Kind::Warc => "WARC",
            Kind::Wacz => "WACZ",
            Kind::Cdxj => "CDXJ",
            Kind::Changedetection => "changedetection.io backup",
            Kind::Urlwatch => "urlwatch",
            Kind::CrawlLog => "crawl.log",
            Kind::Nutch => "Nutch dump",
            Kind::Zip => "zip",
        }
    }
}

/// What a file is that begins with these bytes, without gzip around them; `None` where it is none of these.
pub fn kind_of(head: &[u8]) -> Option<Kind> {
    if head.starts_with(b"WARC/") {
        return Some(Kind::Warc);
    }
    if head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06") {
        return Some(Kind::Zip);
    }
    if head.contains(&0) {
        return None;
    }
    let text = String::from_utf8_lossy(head);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if text.starts_with('<') { markup_kind(text) } else { text_kind(text) }
}

fn markup_kind(text: &str) -> Option<Kind> {
    let small = text.to_ascii_lowercase();
    let has = |name: &str| small.contains(name);
    if has("netscape-bookmark-file") {
        Some(Kind::Bookmarks)
    } else if has("<opml") {
        Some(Kind::Opml)
    } else if ["<urlset", "<sitemapindex", "<rss", "<feed", "<rdf:rdf", ":urlset", ":sitemapindex"]
        .into_iter()
        .any(has)
    {
        Some(Kind::Sitemap)
    } else {
        None
    }
}

/// Lines that are looked at.
const LINES: usize = 50;

fn text_kind(text: &str) -> Option<Kind> {
    let lines = || text.lines().take(LINES).map(str::trim_end).filter(|line| !line.is_empty());
    let first = lines().find(|line| !line.starts_with('#') && !line.starts_with("---"))?;
    let is = |test: fn(&str) -> bool| test(first);
    if is(is_cdxj) {
        Some(Kind::Cdxj)
    } else if is(is_crawl_log) {
        Some(Kind::CrawlLog)
    } else if is(is_nutch) {
        Some(Kind::Nutch)
    } else if is(is_urlwatch) {
        Some(Kind::Urlwatch)
    } else if is(is_csv) {
        Some(Kind::Csv)
    } else if lines().any(is_address) {
        Some(Kind::UrlList)
    } else {
        None
    }
}

/// `com,example)/ 20200101000000 {"url": ...}`, or the line before that says what it is.
fn is_cdxj(line: &str) -> bool {
    if line.starts_with("!meta ") {
        return true;
    }
    let mut parts = line.splitn(3, ' ');
    let (Some(key), Some(time), Some(json)) = (parts.next(), parts.next(), parts.next()) else {
        return false;
    };
    let is_time = (14..=17).contains(&time.len()) && time.bytes().all(|byte| byte.is_ascii_digit());
    is_time && json.starts_with('{') && !key.contains("://")
}

/// `2020-01-01T00:00:00.123Z   200   1234 http://example.org/ ...`.
fn is_crawl_log(line: &str) -> bool {
    let mut words = line.split_ascii_whitespace();
    let (Some(time), Some(status), Some(size), Some(url)) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return false;
    };
    time.len() >= 20
        && time.as_bytes()[4] == b'-'
        && time.contains('T')
        && status.parse::<i32>().is_ok()
        && (size == "-" || size.parse::<u64>().is_ok())
        && url.contains(':')
}

/// A URL, a tab and `Version: 7`.
fn is_nutch(line: &str) -> bool {
    line.split_once('\t')
        .is_some_and(|(url, rest)| url.contains(':') && rest.trim().starts_with("Version: "))
}

fn is_urlwatch(line: &str) -> bool {
    ["url:", "name:", "navigate:", "command:", "kind:"]
        .iter()
        .any(|key| line.strip_prefix(key).is_some_and(|rest| rest.starts_with([' ', '"', '\''])))
}

/// A header that names a column for URLs, or an address and a comma.
fn is_csv(line: &str) -> bool {
    let mut cells = line.split(',');
    let first = cells.next().unwrap_or_default().trim().trim_matches('"');
    let header = |cell: &str| cell.trim().trim_matches('"').eq_ignore_ascii_case("url");
    let others = line.contains(',');
    others && (line.split(',').any(header) || is_address(first)) || header(line)
}

/// A URL, or a bare domain.
fn is_address(line: &str) -> bool {
    let word = line.split_whitespace().next().unwrap_or_default();
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | ':' | '/' | '_');
    let host = word.split('/').next().unwrap_or_default();
    word.starts_with("http://")
        || word.starts_with("https://")
        || !host.starts_with('.')
            && !host.ends_with('.')
            && host.contains('.')
            && host.chars().all(is_name)
            && line
                .split_whitespace()
                .skip(1)
                .all(|word| word.starts_with("tag=") || word.starts_with('#'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_tells_what_a_file_is() {
        for (head, want) in [
            ("http://a.test/\nhttp://b.test/ tag=x\n", Some(Kind::UrlList)),
            ("# seeds\n\nexample.org\n", Some(Kind::UrlList)),
            ("url,tag,every\nhttp://a.test/,news,1h\n", Some(Kind::Csv)),
            ("tag;url\n", None),
            ("http://a.test/,news\n", Some(Kind::Csv)),
            ("url\nhttp://a.test/\n", Some(Kind::Csv)),
            ("<?xml version='1.0'?>\n<urlset xmlns='x'>", Some(Kind::Sitemap)),
            ("\u{feff}<opml version='2.0'>", Some(Kind::Opml)),
            ("<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<TITLE>", Some(Kind::Bookmarks)),
            ("<!doctype html><p>", None),
            ("WARC/1.0\r\n", Some(Kind::Warc)),
            ("PK\u{3}\u{4}...", Some(Kind::Zip)),
            ("test,a)/ 20200101000000 {\"url\": \"http://a.test/\"}\n", Some(Kind::Cdxj)),
            (
                "2010-08-31T21:04:35.110Z   200       1234 http://a.test/ - - text/html #001 -",
                Some(Kind::CrawlLog),
            ),
            ("http://a.test/\tVersion: 7\nStatus: 2 (db_fetched)\n", Some(Kind::Nutch)),
            ("name: \"A\"\nurl: \"http://a.test/\"\n---\n", Some(Kind::Urlwatch)),
            ("some prose about a.test, and more.\n", None),
            ("a\0b", None),
            ("", None),
        ] {
            assert_eq!(kind_of(head.as_bytes()), want, "{head}");
        }
    }
}
