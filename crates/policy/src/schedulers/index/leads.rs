//! What is a page worth for where it leads? One that yields new links is worth more than its own change.
//!
//! A page that nobody knows of yet is missing as a stale one is. While a page is not looked at, what it would
//! lead to gathers: `rate` links a day, so that after τ days `rate` τ pages are missing, and by the rule of
//! the index (τ D(τ) - ∫ D) a look is worth `rate` τ²/2.

use crate::page::{Days, Page, PageKind, VisitEvidence};
use crate::persist::persist_fields;

/// Where it is noted how many new links a day a page yields.
const PLACE: usize = 7;

/// How many days of earlier visits weigh as much as what a visit finds.
const MEMORY: Days = 3.0;

/// What pages of each kind yield, as a start for those of which nothing is known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct LinkYields {
    pages: HostYield,
    sitemaps: HostYield,
    feeds: HostYield,
}

persist_fields!(LinkYields { pages, sitemaps, feeds });

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct HostYield {
    links: f64,
    days: Days,
}

persist_fields!(HostYield { links, days });

impl LinkYields {
    /// Learns what a visit of `page` found, `elapsed` after the one before.
    pub(super) fn learn(&mut self, page: &mut Page, seen: &VisitEvidence, elapsed: Days) {
        let links = f64::from(seen.new_links);
        let all = match page.kind {
            PageKind::Page => &mut self.pages,
            PageKind::Sitemap => &mut self.sitemaps,
            PageKind::Feed => &mut self.feeds,
        };
        let usual = if all.days > 0.0 { all.links / all.days } else { 0.0 };
        let before = if page.checks > 1 { rate(page) } else { usual };
        page.note[PLACE] = ((MEMORY * before + links) / (MEMORY + elapsed)) as f32;
        all.links += links;
        all.days += elapsed;
    }
}

/// New links a day that `page` yields.
pub(super) fn rate(page: &Page) -> f64 {
    f64::from(page.note[PLACE]).max(0.0)
}

/// What they make a look worth that comes so long after the last.
pub(super) fn value(rate: f64, waited: Days) -> f64 {
    rate * waited * waited / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::{Finding, Visit};

    #[test]
    fn what_a_page_yields_is_learned_and_forgotten() {
        let mut leads = LinkYields::default();
        let mut page = Page { last: 0.0, kind: PageKind::Feed, ..Page::new(0) };
        let mut valuation = |page: &mut Page, at: Days, new_links: u32| {
            let seen = page.record(&Visit { new_links, ..Visit::new(at, Finding::Changed) });
            leads.learn(page, &seen, seen.elapsed.unwrap());
        };
        (1..30).for_each(|day| valuation(&mut page, f64::from(day), 4));
        assert!((rate(&page) - 4.0).abs() < 0.1, "{}", rate(&page));
        let mut other = Page { last: 29.0, kind: PageKind::Feed, ..Page::new(1) };
        valuation(&mut other, 29.5, 2);
        assert!(rate(&other) > 3.0, "a new feed is as others: {}", rate(&other));
        (30..60).for_each(|day| valuation(&mut page, f64::from(day), 0));
        assert!(rate(&page) < 0.01, "{}", rate(&page));
        assert_eq!((value(0.0, 9.0), value(2.0, 3.0)), (0.0, 9.0));
    }
}
