//! How do pages become a sitemap? As the protocol of sitemaps.org has it: at most 50,000 URLs and 50 MB a file, and
//! an index where there are several.

use std::fmt::Write as _;

use evercrawl_model::PageKind;
use evercrawl_model::Time;
use evercrawl_query::{PageState, PageView};

/// The most URLs and bytes of a file.
const MOST_URLS: usize = 50_000;
const MOST_BYTES: usize = 50_000_000;

const HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
const SCHEMA: &str = "http://www.sitemaps.org/schemas/sitemap/0.9";
const URLS_END: &str = "</urlset>\n";

/// A sitemap that is being made.
#[derive(Debug, Default)]
pub struct Sitemap {
    current: String,
    urls: usize,
    /// URLs of all files.
    pub total: u64,
}

impl Sitemap {
    /// Whether a page belongs into a sitemap: it answers with content of its own.
    pub fn takes(page: &PageView) -> bool {
        let is_live = matches!(page.state, PageState::Due | PageState::Resting);
        let is_answer =
            page.status.is_some_and(|status| (200..300).contains(&status) || status == 304);
        is_live && is_answer && page.kind.0 == PageKind::Page
    }

    /// Adds a page; returns a file that is full.
    pub fn add(&mut self, page: &PageView) -> Option<String> {
        let changed = page.last_change.or(page.claimed_change).map(|at| at.0);
        let entry = entry(&page.url, changed);
        let is_full = self.urls == MOST_URLS
            || self.current.len() + entry.len() + URLS_END.len() + 200 > MOST_BYTES;
        let full = is_full.then(|| self.take()).flatten();
        self.current.push_str(&entry);
        self.urls += 1;
        self.total += 1;
        full
    }

    /// The file with what was added since the last one; `None` where nothing was.
    pub fn take(&mut self) -> Option<String> {
        let entries = std::mem::take(&mut self.current);
        let count = std::mem::take(&mut self.urls);
        (count > 0).then(|| Self::file(&entries))
    }

    /// A file without any URL.
    pub fn empty() -> String {
        Self::file("")
    }

    fn file(entries: &str) -> String {
        format!("{HEAD}<urlset xmlns=\"{SCHEMA}\">\n{entries}{URLS_END}")
    }

    /// The index of several files, which will be served at `urls`.
    pub fn index(urls: &[String]) -> String {
        let mut out = format!("{HEAD}<sitemapindex xmlns=\"{SCHEMA}\">\n");
        for url in urls {
            // Writing to memory does not fail.
            let _ = writeln!(out, "<sitemap><loc>{}</loc></sitemap>", escaped(url));
        }
        out + "</sitemapindex>\n"
    }
}

fn entry(url: &str, changed: Option<Time>) -> String {
    let changed = changed.map(|at| format!("<lastmod>{}</lastmod>", at.rfc3339()));
    format!("<url><loc>{}</loc>{}</url>\n", escaped(url), changed.unwrap_or_default())
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failing test panics")]
mod tests {
    use evercrawl_query::{At, Code};

    use super::*;

    fn page(url: &str, state: PageState, status: u16) -> PageView {
        PageView {
            url: url.to_owned(),
            state,
            reason: None,
            cause: None,
            status: Some(status),
            kind: Code(PageKind::Page),
            depth: 0,
            via: None,
            seed: false,
            tags: Vec::new(),
            found: At(Time::EPOCH),
            visits: 1,
            changes: 0,
            last_visit: None,
            last_change: Some(At(Time::from_secs(1_794_780_950))),
            claimed_change: None,
            next_due: None,
            digest: None,
            cut: false,
        }
    }

    #[test]
    fn a_sitemap_has_the_pages_that_answer() {
        assert!(Sitemap::takes(&page("http://a/", PageState::Resting, 200)));
        assert!(!Sitemap::takes(&page("http://a/", PageState::Gone, 404)));
        assert!(!Sitemap::takes(&page("http://a/", PageState::Resting, 302)));
        let mut sitemap = Sitemap::default();
        assert_eq!(sitemap.add(&page("http://a/?x=1&y='<", PageState::Due, 200)), None);
        let file = sitemap.take().unwrap();
        assert!(file.contains(
            "<url><loc>http://a/?x=1&amp;y=&apos;&lt;</loc><lastmod>2026-11-15T22:15:50Z</lastmod></url>"
        ));
        assert_eq!(sitemap.take(), None);
    }

    #[test]
    fn a_file_has_at_most_50_000_urls() {
        let (mut sitemap, mut files) = (Sitemap::default(), Vec::new());
        for n in 0..100_001 {
            files.extend(sitemap.add(&page(&format!("http://a/{n}"), PageState::Due, 200)));
        }
        files.extend(sitemap.take());
        let counts: Vec<usize> = files.iter().map(|file| file.matches("<loc>").count()).collect();
        assert_eq!((counts, sitemap.total), (vec![50_000, 50_000, 1], 100_001));
    }
}
