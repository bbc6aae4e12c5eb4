//! Which part of a page did the user declare to be what counts?
//!
//! What is declared beats what is learned: where a page has a region, its text alone is compared, and in it nothing is
//! masked. The first rule whose pattern a URL matches holds.

use evercrawl_extract::charset::{decode_text, header_charset};
use evercrawl_extract::{Document, host_of};
use evercrawl_regions::Region;
use evercrawl_urls::Patterns;
use xxhash_rust::xxh3::xxh3_64;

/// A rule as the user wrote it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegionRule {
    /// A pattern of the URLs of its pages.
    pub url: String,
    /// A CSS selector of what counts; `None`: all of the page.
    pub css: Option<String>,
    /// CSS selectors of what does not.
    pub without: Vec<String>,
}

/// What is wrong with a rule: which of its keys, and why.
pub type BadRegionRule = (&'static str, String);

/// The regions that the user declared.
#[derive(Clone, Debug, Default)]
pub struct DeclaredRegions(Vec<DeclaredRegion>);

/// The part of some pages that counts.
#[derive(Clone, Debug)]
pub struct DeclaredRegion {
    urls: Patterns,
    /// The first of these that a page has.
    regions: Vec<Region>,
    id: u16,
}

impl DeclaredRegions {
    /// Adds a rule, to hold where none before it does.
    pub fn add(&mut self, rule: &RegionRule) -> Result<(), BadRegionRule> {
        let urls = Patterns::new("url", std::slice::from_ref(&rule.url))
            .map_err(|error| ("url", error.to_string()))?;
        // A page that is all of one element may do without a body.
        let css = rule.css.as_deref().map_or_else(|| vec!["body", "*"], |css| vec![css]);
        for one in &rule.without {
            Region::new(one, &[] as &[&str]).map_err(|error| ("without", error.to_string()))?;
        }
        let regions = css.into_iter().map(|css| Region::new(css, &rule.without));
        let regions: Result<_, _> = regions.collect();
        let regions = regions.map_err(|error| ("css", error.to_string()))?;
        // No rule has the id 0, which is that of a whole page.
        let id = (xxh3_64(format!("{:?} {:?}", rule.css, rule.without).as_bytes()) >> 48) as u16;
        self.0.push(DeclaredRegion { urls, regions, id: id.max(1) });
        Ok(())
    }

    /// The region of a page, if one is declared.
    pub fn of(&self, url: &str) -> Option<&DeclaredRegion> {
        self.0.iter().find(|region| region.urls.is_match(url))
    }
}

impl DeclaredRegion {
    /// Tells it from others: another selector is another region.
    pub fn id(&self) -> u16 {
        self.id
    }

    /// What the region of a document says; nothing where the document has no such part.
    pub fn text_of(&self, document: &Document<'_>) -> String {
        let header = document.content_type.and_then(header_charset);
        let decoded = decode_text(document.bytes, header, host_of(document.url));
        let Some(decoded) = decoded else { return String::new() };
        let found = self.regions.iter().find_map(|region| region.read(&decoded.text));
        found.map(|content| content.text).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(url: &str, css: Option<&str>, without: &[&str]) -> RegionRule {
        RegionRule {
            url: url.to_owned(),
            css: css.map(str::to_owned),
            without: without.iter().map(|one| (*one).to_owned()).collect(),
        }
    }

    fn declared(rules: &[RegionRule]) -> DeclaredRegions {
        let mut declared = DeclaredRegions::default();
        rules.iter().for_each(|rule| declared.add(rule).unwrap());
        declared
    }

    fn text(declared: &DeclaredRegions, url: &str, html: &str) -> Option<String> {
        let document = Document { bytes: html.as_bytes(), content_type: Some("text/html"), url };
        declared.of(url).map(|region| region.text_of(&document))
    }

    #[test]
    fn the_first_rule_that_matches_says_what_counts() {
        let declared = declared(&[
            rule("/shop/", Some(".price"), &[]),
            rule("/shop/|/news/", None, &[".clock", "nav"]),
        ]);
        let page = "<nav>Home</nav><p class=price>10 €</p><p class=clock>12:30</p><p>Words</p>";
        let text = |url| text(&declared, url, page);
        assert_eq!(text("http://a.test/shop/1").as_deref(), Some("10 €"));
        assert_eq!(text("http://a.test/news/1").as_deref(), Some("10 €\nWords"));
        assert_eq!(text("http://a.test/"), None);
        let ids = ["http://a.test/shop/1", "http://a.test/news/1"]
            .map(|url| declared.of(url).map(DeclaredRegion::id));
        assert_ne!(ids[0], ids[1]);
    }

    #[test]
    fn a_page_without_the_part_says_nothing() {
        let declared = declared(&[rule(".", Some("#price"), &[])]);
        assert_eq!(text(&declared, "http://a.test/", "<p>Words").as_deref(), Some(""));
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let add = |rule: &RegionRule| DeclaredRegions::default().add(rule).unwrap_err().0;
        assert_eq!(add(&rule("(", None, &[])), "url");
        assert_eq!(add(&rule(".", Some("p["), &[])), "css");
        assert_eq!(add(&rule(".", None, &["p["])), "without");
    }
}
