//! Which pages does a list name, and what does it say of them?

mod csv;
mod markup;
mod urlwatch;

use std::io::{self, BufRead};

use evercrawl_extract::{ContentKind, Document, Listing};

pub(crate) use csv::read_csv;
pub(crate) use markup::{read_bookmarks, read_opml};
pub(crate) use urlwatch::read_urlwatch;

use crate::found::{FoundSeed, Place, Taker};
use crate::lines::{Line, Lines};

/// Bytes of a line that may name a page.
pub(crate) const LONGEST_LINE: usize = 64 << 10;

/// Reads a URL or a bare domain a line, with any number of `tag=...` beside it; Heritrix's `seeds.txt` too.
pub(crate) fn read_urls(input: impl BufRead, take: &mut dyn Taker) -> io::Result<()> {
    let mut lines = Lines::new(input, LONGEST_LINE);
    while let Some((number, line)) = lines.next()? {
        let place = Place::Line(number);
        match line {
            Line::TooLong => take.refuse(place, "the line is too long"),
            Line::Text(text) => read_url_line(place, text.trim_start_matches('\u{feff}'), take),
        }
    }
    Ok(())
}

fn read_url_line(place: Place, text: &str, take: &mut dyn Taker) {
    let mut seed = FoundSeed::default();
    for word in text.split_whitespace().take_while(|word| !word.starts_with('#')) {
        match word.strip_prefix("tag=") {
            Some("") => return take.refuse(place, "a tag without a name"),
            Some(tag) => seed.tags.push(tag.to_owned()),
            None if word.starts_with(['+', '-']) => {
                return take.refuse(place, "a rule of Heritrix (`+` or `-` and a SURT prefix)");
            }
            None if seed.url.is_empty() => seed.url = word.to_owned(),
            None => return take.refuse(place, "more than a URL and tags"),
        }
    }
    if !seed.url.is_empty() {
        take.seed(place, seed);
    } else if !seed.tags.is_empty() {
        take.refuse(place, "tags without a URL");
    }
}

/// Reads a sitemap, an index of sitemaps or a feed, without gzip around it.
pub(crate) fn read_sitemap(bytes: &[u8], take: &mut dyn Taker) {
    let listing = Listing::read_listing(&Document { bytes, content_type: None, url: "" });
    let tag = (listing.kind == ContentKind::SitemapIndex).then(|| "sitemap".to_owned());
    for entry in &listing.entries {
        let seed = FoundSeed { tags: tag.iter().cloned().collect(), ..FoundSeed::new(&entry.url) };
        take.seed(Place::File, seed);
    }
    if listing.damaged {
        take.refuse(Place::File, "the file is broken; what can be read of it is taken");
    }
    if listing.cut {
        take.refuse(
            Place::File,
            "the sitemap has more than 50,000 addresses or 50 MB; the rest is not taken",
        );
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;
    use crate::found::FoundVisit;

    /// Keeps what is found.
    #[derive(Default)]
    pub(crate) struct Kept {
        pub(crate) seeds: Vec<FoundSeed>,
        pub(crate) visits: Vec<FoundVisit>,
        pub(crate) refused: Vec<String>,
    }

    impl Taker for Kept {
        fn seed(&mut self, _place: Place, seed: FoundSeed) {
            self.seeds.push(seed);
        }

        fn visit(&mut self, _place: Place, visit: FoundVisit) -> io::Result<()> {
            self.visits.push(visit);
            Ok(())
        }

        fn refuse(&mut self, place: Place, why: &str) {
            self.refused.push(format!("{place}: {why}"));
        }
    }

    impl Kept {
        pub(crate) fn urls(&self) -> Vec<&str> {
            self.seeds.iter().map(|seed| seed.url.as_str()).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::testing::Kept;
    use super::*;

    #[test]
    fn lists_are_read_line_by_line_and_the_rest_is_named() {
        let text = "\u{feff}http://a.test/ tag=x tag=y # note\n\n# c\nb.test\n+http://(test,\ntag=\ntag=z\n\
                    http://c.test/ http://d.test/\n";
        let mut kept = Kept::default();
        read_urls(text.as_bytes(), &mut kept).unwrap();
        assert_eq!(kept.urls(), ["http://a.test/", "b.test"]);
        assert_eq!(kept.seeds[0].tags, ["x", "y"]);
        let lines: Vec<&str> =
            kept.refused.iter().map(|line| line.split(':').next().unwrap()).collect();
        assert_eq!(lines, [", line 5", ", line 6", ", line 7", ", line 8"]);
    }

    #[test]
    fn sitemaps_and_their_indexes_are_read() {
        let mut kept = Kept::default();
        read_sitemap(
            b"<urlset><url><loc>http://a.test/1</loc></url><url><loc>http://a.test/2",
            &mut kept,
        );
        assert_eq!(kept.urls(), ["http://a.test/1"]);
        assert_eq!(kept.refused.len(), 1);
        let mut kept = Kept::default();
        read_sitemap(
            b"<sitemapindex><sitemap><loc>http://a.test/s.xml</loc></sitemap></sitemapindex>",
            &mut kept,
        );
        assert_eq!(
            (kept.urls(), kept.seeds[0].tags.clone()),
            (vec!["http://a.test/s.xml"], vec!["sitemap".to_owned()])
        );
    }
}
