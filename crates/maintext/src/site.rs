//! Which passages do many pages of a site show? They are not what one of them says.

use std::collections::{HashMap, HashSet};

use crate::blocks::Block;

/// Passages of some pages of a site, and on how many of them each stands.
#[derive(Clone, Debug, Default)]
pub struct SitePassages {
    pages: HashSet<u64>,
    counts: HashMap<u64, u32>,
}

/// On how many pages a passage must stand, and on which part of all pages, to be the site's.
const COMMON: u32 = 3;
const SHARE: u32 = 2;
/// Passages, and pages, that are remembered.
const MOST: usize = 20_000;

impl SitePassages {
    /// Remembers the passages of a page; other versions of the same page count nothing more.
    pub fn add(&mut self, page: u64, blocks: &[Block]) {
        if self.pages.len() >= MOST || !self.pages.insert(page) {
            return;
        }
        let own: HashSet<u64> = blocks.iter().map(Block::id).collect();
        for id in own {
            if self.counts.len() < MOST || self.counts.contains_key(&id) {
                *self.counts.entry(id).or_default() += 1;
            }
        }
    }

    /// Pages so far.
    pub fn pages(&self) -> usize {
        self.pages.len()
    }

    /// Whether at least three pages show a passage, and at least half of them.
    pub fn is_common(&self, id: u64) -> bool {
        self.counts
            .get(&id)
            .is_some_and(|count| *count >= COMMON && (*count * SHARE) as usize >= self.pages.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{blocks, extract};

    #[test]
    fn what_most_pages_of_a_site_show_is_left_out() {
        let page = |n: u32| {
            format!(
                "<article><h1>Story {n}</h1><p>What happened on day {n}, told at length and in order.</p>\
                 <p>Our paper is made by two hundred people and lives by its readers.</p></article>"
            )
        };
        let mut site = SitePassages::default();
        for n in 0..4 {
            let before = site.is_common(blocks::read(&page(9))[2].id());
            assert_eq!(before, n >= 3);
            site.add(n.into(), &blocks::read(&page(n)));
            site.add(n.into(), &blocks::read(&page(n)));
        }
        let text = extract(&page(7), "http://a.org/7", &|id| site.is_common(id)).text();
        assert!(text.contains("day 7") && !text.contains("two hundred"), "{text}");
        assert_eq!(site.pages(), 4);
    }
}
