//! What does a host tell robots? Its robots.txt, its sitemap and its feed.

use super::bytes::{push, push_number};
use super::dates::{push_http_date, push_iso_date};
use super::dice::{DicePurpose, WorldDice};
use super::html::push_escaped;
use super::{Fate, Host, HostRobots, PageId, Sitemap, World};

impl World {
    pub(crate) fn push_robots(&self, out: &mut Vec<u8>, host: &Host, port: u16) {
        push(out, "# The rules of this host.\nUser-agent: *\n");
        match host.robots {
            HostRobots::Disallow => push(out, "Disallow: /private/\nAllow: /private/open/\n"),
            _ => push(out, "Disallow:\n"),
        }
        if let Some(seconds) = host.crawl_delay_s {
            push(out, "Crawl-delay: ");
            push_number(out, u64::from(seconds));
            out.push(b'\n');
        }
        if host.has_sitemap() {
            push(out, "\nSitemap: ");
            self.push_base(out, host.id, port);
            push(out, "/sitemap.xml\n");
        }
    }

    /// Appends the sitemap: every living page that may be fetched, up to what one sitemap may hold.
    pub(crate) fn push_sitemap(&self, out: &mut Vec<u8>, host: &Host, now_ms: u64, port: u16) {
        push(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        push(out, "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n");
        for page in self.sitemap_pages(*host, now_ms) {
            push(out, "<url><loc>");
            self.push_page_url(out, host, page, port);
            push(out, "</loc>");
            if let Some(lastmod) = self.lastmod(host, page, now_ms) {
                push(out, "<lastmod>");
                push_iso_date(out, lastmod);
                push(out, "</lastmod>");
            }
            push(out, "</url>\n");
        }
        push(out, "</urlset>\n");
    }

    /// The pages that a host's sitemap names; none when it has no sitemap.
    pub(crate) fn sitemap_pages(&self, host: Host, now_ms: u64) -> impl Iterator<Item = PageId> {
        let slots = if host.has_sitemap() { self.config.pages.min(SITEMAP_LIMIT) } else { 0 };
        (0..slots)
            .filter(move |&slot| !matches!(self.fate(&host, slot), Fate::Private | Fate::Failing))
            .filter_map(move |slot| self.tenant(host.id, slot, now_ms))
    }

    /// Appends a feed of the pages that changed last.
    pub(crate) fn push_feed(&self, out: &mut Vec<u8>, host: &Host, now_ms: u64, port: u16) {
        push(
            out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<rss version=\"2.0\">\n<channel>\n<title>Changes</title>\n<link>",
        );
        self.push_base(out, host.id, port);
        push(out, "/</link>\n<description>What changed last</description>\n");
        for (changed_ms, page) in self.news(host, now_ms) {
            push(out, "<item><title>");
            push(out, &self.title(page));
            push(out, "</title><link>");
            self.push_page_url(out, host, page, port);
            push(out, "</link><pubDate>");
            push_http_date(out, changed_ms);
            push(out, "</pubDate></item>\n");
        }
        push(out, "</channel>\n</rss>\n");
    }

    fn news(&self, host: &Host, now_ms: u64) -> Vec<(u64, PageId)> {
        let mut news: Vec<(u64, PageId)> = (0..self.config.pages.min(SITEMAP_LIMIT))
            .filter(|&slot| self.fate(host, slot) == Fate::Plain)
            .filter_map(|slot| self.tenant(host.id, slot, now_ms))
            .map(|page| (self.last_change(page, now_ms), page))
            .collect();
        news.sort_unstable_by(|a, b| b.cmp(a));
        news.truncate(FEED_ITEMS);
        news
    }

    fn lastmod(&self, host: &Host, page: PageId, now_ms: u64) -> Option<u64> {
        match host.sitemap {
            Sitemap::Right => Some(self.last_change(page, now_ms)),
            Sitemap::Wrong => Some(self.made_up_lastmod(page, now_ms)),
            Sitemap::Undated | Sitemap::Absent => None,
        }
    }

    /// What careless software writes: now, or some day that has nothing to do with the page.
    fn made_up_lastmod(&self, page: PageId, now_ms: u64) -> u64 {
        let dice = &mut WorldDice::new(self.config.seed, DicePurpose::Lastmod, page.key(), 0);
        if dice.chance(0.5) { now_ms } else { now_ms.saturating_sub(dice.below(YEAR_MS)) }
    }

    fn push_page_url(&self, out: &mut Vec<u8>, host: &Host, page: PageId, port: u16) {
        self.push_base(out, host.id, port);
        let mut path = Vec::new();
        self.push_path(&mut path, host, page);
        push_escaped(out, &path);
    }
}

/// URLs that the sitemap protocol lets one file name.
const SITEMAP_LIMIT: u32 = 50_000;
const FEED_ITEMS: usize = 15;
const YEAR_MS: u64 = 365 * 86_400_000;
