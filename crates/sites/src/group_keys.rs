//! To which groups of related pages does a page belong, by its address and its in-links?
//!
//! Pages of one directory, one section, one linking page, or one name in several translations are
//! often edited together. Each kinship is a number made of the address alone, so the live crawler has
//! it for one page at a time, and a whole world comes out the same.

use crate::lists::Lists;
use crate::server::{authority_end, directory_of};

/// The number of a kinship that a page does not have.
pub const NO_KIN: u32 = u32::MAX;

/// A page with fewer links than this brings pages in touch, but announces none of them.
const FEWEST_LINKS: usize = 3;

/// A page with more links than this links to everything: that two pages are on it says nothing.
const MOST_LINKS: usize = 300;

/// The groups of a page; pages with the same number are related.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupKeys {
    /// The directory it lies in.
    pub directory: u32,
    /// The first part of its path.
    pub section: u32,
    /// The page that announces it, if one does.
    pub hub: u32,
    /// Its path without the first part: what translations and versions share. A page at the root has
    /// none.
    pub base: u32,
}

impl GroupKeys {
    /// The kin of a page found on a page of the given address and number of links.
    ///
    /// A page that is found again on one with fewer links may be given that one as its hub instead.
    pub fn of_page(url: &str, found_on: Option<(&str, usize)>) -> Self {
        let (host, path) = url.split_at(authority_end(url));
        let path = path.split(['?', '#']).next().unwrap_or_default().trim_start_matches('/');
        let (section, base) = path.split_once('/').unwrap_or(("", ""));
        let base = base.trim_end_matches('/');
        GroupKeys {
            directory: number(&[directory_of(url)]),
            section: number(&[host, "/", section]),
            hub: found_on.and_then(|(url, links)| Self::hub_key(url, links)).unwrap_or(NO_KIN),
            base: if base.is_empty() { NO_KIN } else { number(&[host, "/", base]) },
        }
    }

    /// The number by which a page at `url` announces what it links to; `None` where its `links` are too
    /// few or too many for that.
    pub fn hub_key(url: &str, links: usize) -> Option<u32> {
        (FEWEST_LINKS..=MOST_LINKS).contains(&links).then(|| number(&[url]))
    }

    /// The kin of all pages of a world; of the pages that link to one, the one with fewest links that
    /// still are enough is its hub.
    pub fn of_pages<S: AsRef<str>>(urls: &[S], links: &[(u32, u32)]) -> Vec<Self> {
        let known = |&&(from, to): &&(u32, u32)| {
            from != to && (from as usize) < urls.len() && (to as usize) < urls.len()
        };
        let links = Lists::new(urls.len(), links.iter().filter(known).copied()).into_sets();
        let back = links.reversed(urls.len());
        let hub = |page: u32| {
            let above = back.row(page).iter().map(|&hub| (links.row(hub).len(), hub));
            let fewest = above.filter(|(count, _)| *count >= FEWEST_LINKS).min();
            fewest.map(|(count, hub)| (urls[hub as usize].as_ref(), count))
        };
        (0u32..).zip(urls).map(|(page, url)| GroupKeys::of_page(url.as_ref(), hub(page))).collect()
    }
}

/// FNV-1a over the parts, folded to 32 bits. Two groups of one number are taken for one: with a million
/// groups that is the lot of one in four thousand, and costs it little.
fn number(parts: &[&str]) -> u32 {
    let bytes = parts.iter().flat_map(|part| part.bytes());
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    let folded = (hash ^ (hash >> 32)) as u32;
    if folded == NO_KIN { 0 } else { folded }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn translations_share_a_base_and_pages_of_a_part_a_section() {
        let (en, ja) = (
            GroupKeys::of_page("http://a/en/docs/x", None),
            GroupKeys::of_page("http://a/ja/docs/x", None),
        );
        assert_eq!(en.base, ja.base);
        assert_ne!((en.section, en.directory), (ja.section, ja.directory));
        let other = GroupKeys::of_page("http://a/en/y?q=1", None);
        assert_eq!(other.section, en.section);
        assert_ne!(other.directory, en.directory);
        assert_ne!(GroupKeys::of_page("http://b/en/docs/x", None).base, en.base, "another host");
        let root = GroupKeys::of_page("http://a/y", None);
        assert_eq!((root.base, root.hub), (NO_KIN, NO_KIN));
        assert_eq!(
            GroupKeys::of_page("en/docs/x", None).base,
            GroupKeys::of_page("ja/docs/x", None).base
        );
        assert_eq!(
            GroupKeys::of_page("http://a/en/docs/", None).base,
            GroupKeys::of_page("http://a/ja/docs", None).base
        );
    }

    #[test]
    fn the_hub_is_the_page_with_fewest_links_but_some() {
        let urls: Vec<String> = (0..8).map(|page| format!("http://a/{page}")).collect();
        // 0 links to all, 1 to three pages, 2 to one.
        let mut links: Vec<(u32, u32)> = (1..8).map(|to| (0, to)).collect();
        links.extend([(1, 5), (1, 6), (1, 7), (2, 6), (9, 1), (3, 3)]);
        let kin = GroupKeys::of_pages(&urls, &links);
        assert_eq!(kin[5].hub, kin[6].hub);
        assert_eq!(kin[6], GroupKeys::of_page(&urls[6], Some((&urls[1], 3))), "alone as among all");
        assert_eq!(kin[4].hub, kin[1].hub);
        assert_ne!(kin[4].hub, kin[5].hub);
        assert_eq!(kin[0].hub, NO_KIN);
        assert_eq!(GroupKeys::of_page("/x", Some(("/", 5000))).hub, NO_KIN);
    }

    #[test]
    fn odd_addresses_have_kin_too() {
        for url in ["", "/", "//", "http://", "http://a", "?", "#/x/y", "a//b"] {
            let kin = GroupKeys::of_page(url, Some((url, 3)));
            assert_ne!(kin.directory, NO_KIN, "{url}");
        }
        assert!(GroupKeys::of_pages::<&str>(&[], &[(0, 1)]).is_empty());
    }
}
