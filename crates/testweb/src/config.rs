//! What kind of world is wanted? Sizes, rates and shares, all with defaults, and the named presets.

use serde::{Deserialize, Serialize};

/// What the pages of a world are like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PageLayout {
    /// Articles: paragraphs of sentences.
    #[default]
    Article,
    /// Products with price and stock, amid recommendations, notices and counters.
    Shop,
    /// Stories with headlines, amid teasers, quotes and advertisements.
    Portal,
}

/// Everything that decides what a world is like. Two worlds with equal configurations are equal at every moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WorldConfig {
    /// Decides every draw.
    pub seed: u64,
    /// Number of hosts, named `h0` to `h<hosts-1>` before the suffix.
    pub hosts: u32,
    /// Number of page slots on each host; a mortal slot holds one page after another.
    pub pages: u32,
    /// What host names end with.
    pub suffix: String,
    /// The port that URLs name; 80 is left out. Answers follow the port of the request's Host header instead.
    pub port: u16,
    /// When the world begins, in Unix milliseconds. Nothing changes before it; moments before it are not meant.
    pub origin_ms: u64,
    /// Seconds of the world's days that pass in a real second: 1440 lets a minute stand for a day.
    pub time_scale: f64,
    /// Children of a section page in the tree of links.
    pub fanout: u32,
    /// Mean bytes of text on a page; single pages have between half and one and a half times as much.
    pub page_bytes: u32,
    /// Links shown on a page at the least; the page's distinct links are repeated with fragments to get there.
    pub anchors: u32,
    /// Further distinct links to pages of the same host.
    pub extra_links: u32,
    /// Mean number of links to other hosts on a page.
    pub external_links: f64,
    /// Mean over pages of the changes in a day of the world.
    pub changes_per_day: f64,
    /// Spread of the change rates: sigma of their lognormal distribution.
    pub change_sigma: f64,
    /// Mean life of a mortal page, in days of the world.
    pub life_days: f64,
    /// How long a host keeps a footer, in days of the world, where it has one.
    pub footer_days: f64,
    /// How long after the beginning a host that declines does so, in days of the world; single hosts take between half
    /// of
    /// it and one and a half times as long.
    pub decline_days: f64,
    /// Crawl-delay asked for, in seconds, by the hosts that ask.
    pub crawl_delay_s: u32,
    /// Longest wait before the answer of a slow host; single hosts have between half of it and all.
    pub slow_ms: u32,
    /// Least time between two requests that a limited host puts up with.
    pub limit_gap_ms: u32,
    /// What pages are like.
    pub layout: PageLayout,
    /// The shares of hosts of each kind.
    pub host_shares: HostShares,
    /// The shares of pages of each kind.
    pub page_shares: PageShares,
}

/// Shares of the hosts, from 0 to 1. Kinds that exclude each other share what is left over with the plain kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HostShares {
    /// Neither ETag nor Last-Modified.
    pub no_validators: f64,
    /// Last-Modified without ETag.
    pub last_modified_only: f64,
    /// A new ETag at every fetch.
    pub etag_always_new: f64,
    /// One ETag forever, and 304 for every request with it.
    pub etag_frozen: f64,
    /// Last-Modified is always the present moment.
    pub last_modified_now: f64,
    /// A sitemap whose lastmod is right.
    pub sitemap_right: f64,
    /// A sitemap whose lastmod is made up.
    pub sitemap_wrong: f64,
    /// A sitemap without lastmod.
    pub sitemap_undated: f64,
    /// A feed of the latest changes.
    pub feed: f64,
    /// robots.txt forbids a directory.
    pub robots_disallow: f64,
    /// robots.txt is not there (404), so all is allowed.
    pub robots_missing: f64,
    /// robots.txt fails (503), so nothing is allowed.
    pub robots_failing: f64,
    /// robots.txt asks for a Crawl-delay.
    pub crawl_delay: f64,
    /// A change alters one sentence.
    pub edits_sentence: f64,
    /// A change alters all the text; the rest of the hosts alter a paragraph.
    pub edits_everything: f64,
    /// Something on the page differs at every fetch: a clock and a counter, a token, blocks that take turns.
    pub noise: f64,
    /// All pages have a footer, rewritten from time to time.
    pub footer: f64,
    /// Text in ISO-8859-1.
    pub latin1: f64,
    /// Text in UTF-8 that does not say so.
    pub no_charset: f64,
    /// Slow answers.
    pub slow: f64,
    /// 429 or 503 for requests that come too fast.
    pub limited: f64,
    /// Endless pages.
    pub trap: f64,
    /// Takes requests and never answers.
    pub silent: f64,
    /// Some answers are broken off, too long, or dripping.
    pub faulty: f64,
    /// All pages link to all other hosts of a link farm.
    pub farm: f64,
    /// Is one of three or four hosts of a link farm whose pages all link to some pages of each other.
    pub small_farm: f64,
    /// Is one of three or four hosts of one owner, which link to each other as a company's sites or other languages do.
    pub family: f64,
    /// Pages say a few phrases over and over.
    pub stuffed: f64,
    /// Pages send their readers to another host, half of the hosts by redirects.
    pub doorway: f64,
    /// Has moved: every page redirects to the same path of another host.
    pub moved: f64,
    /// Every page is only an offer to sell the host's name.
    pub parked: f64,
    /// Has the pages of another host.
    pub mirror: f64,
    /// Shows a page with status 200 for what it does not have.
    pub soft_404: f64,
    /// One day asks for a password in place of all pages but the first.
    pub login_wall: f64,
    /// One day shows nothing but an offer of its name.
    pub expired: f64,
}

/// Shares of the leaf pages, from 0 to 1. Section pages, those with children, are always plain and immortal.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PageShares {
    /// No page links to it; only a sitemap may name it.
    pub orphan: f64,
    /// All links to it say nofollow.
    pub nofollow: f64,
    /// It lies in the directory that robots.txt forbids, on the hosts that forbid one.
    pub private: f64,
    /// Links name its former URL, which redirects, sometimes by way of others.
    pub moved: f64,
    /// Always answers 500.
    pub failing: f64,
    /// Answers 503 at times.
    pub flaky: f64,
    /// Is born and dies; another page then takes its slot under another URL.
    pub mortal: f64,
    /// Has the very bytes of another page, on its own or another host.
    pub duplicate: f64,
    /// Has the bytes of another page except for one word.
    pub near_duplicate: f64,
    /// Says nofollow in a robots meta element.
    pub meta_nofollow: f64,
    /// Shows a link that leads to 404, 410 or a redirect loop.
    pub broken_link: f64,
}

impl Default for WorldConfig {
    /// A small world of well-behaved hosts whose pages change once a day on average.
    fn default() -> Self {
        WorldConfig {
            seed: 1,
            hosts: 20,
            pages: 50,
            suffix: ".test".to_owned(),
            port: 80,
            origin_ms: 1_767_225_600_000,
            time_scale: 1.0,
            fanout: 6,
            page_bytes: 3_000,
            anchors: 0,
            extra_links: 4,
            external_links: 1.0,
            changes_per_day: 1.0,
            change_sigma: 1.0,
            life_days: 30.0,
            footer_days: 30.0,
            decline_days: 2.0,
            crawl_delay_s: 1,
            slow_ms: 500,
            limit_gap_ms: 100,
            layout: PageLayout::Article,
            host_shares: HostShares::default(),
            page_shares: PageShares::default(),
        }
    }
}

impl WorldConfig {
    /// Names of the presets, for help texts and suggestions.
    pub(crate) const PRESETS: [&'static str; 8] =
        ["calm", "demo", "wild", "noisy", "shop", "portal", "bench", "spam"];

    /// Finds a preset by its name.
    pub fn preset(name: &str) -> Option<Self> {
        match name {
            "calm" => Some(WorldConfig::calm()),
            "demo" => Some(WorldConfig::demo()),
            "wild" => Some(WorldConfig::wild()),
            "noisy" => Some(WorldConfig::noisy()),
            "shop" => Some(WorldConfig::storefront(PageLayout::Shop)),
            "portal" => Some(WorldConfig::storefront(PageLayout::Portal)),
            "bench" => Some(WorldConfig::bench()),
            "spam" => Some(WorldConfig::spam()),
            _ => None,
        }
    }

    /// Static and without errors, so that the set of pages a crawl should end with is exact. It still has rules to
    /// obey:
    /// robots.txt, nofollow, redirects, and orphans that only sitemaps name.
    pub fn calm() -> Self {
        WorldConfig {
            changes_per_day: 0.0,
            host_shares: HostShares {
                sitemap_right: 0.4,
                feed: 0.3,
                robots_disallow: 0.5,
                robots_missing: 0.2,
                ..HostShares::default()
            },
            page_shares: PageShares {
                orphan: 0.05,
                nofollow: 0.05,
                private: 0.15,
                moved: 0.05,
                meta_nofollow: 0.05,
                ..PageShares::default()
            },
            ..WorldConfig::default()
        }
    }

    /// A dozen hosts where a minute stands for a day, so that a minute shows a lot.
    pub fn demo() -> Self {
        WorldConfig {
            hosts: 12,
            pages: 30,
            time_scale: 1_440.0,
            change_sigma: 1.5,
            life_days: 4.0,
            slow_ms: 300,
            host_shares: HostShares {
                no_validators: 0.2,
                last_modified_only: 0.2,
                sitemap_right: 0.4,
                sitemap_wrong: 0.1,
                feed: 0.4,
                robots_disallow: 0.4,
                robots_missing: 0.2,
                edits_sentence: 0.4,
                edits_everything: 0.2,
                noise: 0.15,
                latin1: 0.1,
                slow: 0.1,
                limited: 0.1,
                trap: 0.1,
                ..HostShares::default()
            },
            page_shares: PageShares {
                orphan: 0.03,
                nofollow: 0.03,
                private: 0.1,
                moved: 0.05,
                flaky: 0.03,
                mortal: 0.2,
                duplicate: 0.04,
                near_duplicate: 0.04,
                broken_link: 0.05,
                ..PageShares::default()
            },
            ..WorldConfig::default()
        }
    }

    /// Everything on: each kind of misbehaviour on a share of hosts or pages that hurts.
    pub fn wild() -> Self {
        WorldConfig {
            hosts: 200,
            time_scale: 1_440.0,
            change_sigma: 2.0,
            life_days: 5.0,
            host_shares: WILD_HOSTS,
            page_shares: WILD_PAGES,
            ..WorldConfig::default()
        }
    }

    /// Every fetch brings other bytes, seldom for a reason: all kinds of noise, no validators, and changes of one
    /// sentence.
    pub fn noisy() -> Self {
        WorldConfig {
            time_scale: 1_440.0,
            changes_per_day: 0.1,
            footer_days: 7.0,
            host_shares: HostShares {
                no_validators: 1.0,
                edits_sentence: 1.0,
                noise: 1.0,
                footer: 1.0,
                ..HostShares::default()
            },
            ..WorldConfig::default()
        }
    }

    /// Pages with one thing that changes amid much that differs at every fetch: what a shop or a portal shows.
    pub fn storefront(layout: PageLayout) -> Self {
        WorldConfig {
            hosts: 4,
            pages: 40,
            time_scale: 1_440.0,
            changes_per_day: 2.0,
            change_sigma: 0.3,
            layout,
            host_shares: HostShares { no_validators: 1.0, ..HostShares::default() },
            ..WorldConfig::default()
        }
    }

    /// Good hosts, some of them families or moved, and among them one in three that only pretends: farms large and
    /// small,
    /// stuffed pages, doorways, parked names, mirrors.
    pub fn spam() -> Self {
        WorldConfig {
            hosts: 400,
            pages: 30,
            changes_per_day: 0.0,
            host_shares: HostShares {
                farm: 0.06,
                small_farm: 0.05,
                family: 0.06,
                moved: 0.03,
                stuffed: 0.06,
                doorway: 0.06,
                parked: 0.06,
                mirror: 0.06,
                ..HostShares::default()
            },
            ..WorldConfig::default()
        }
    }

    /// Large static pages like those of software manuals: about 33 kB, 78 links of which 15 are distinct on the host.
    pub fn bench() -> Self {
        WorldConfig {
            hosts: 100,
            pages: 1_000,
            fanout: 10,
            page_bytes: 27_000,
            anchors: 78,
            extra_links: 13,
            external_links: 0.5,
            changes_per_day: 0.0,
            ..WorldConfig::default()
        }
    }
}

const WILD_HOSTS: HostShares = HostShares {
    no_validators: 0.15,
    last_modified_only: 0.15,
    etag_always_new: 0.1,
    etag_frozen: 0.05,
    last_modified_now: 0.1,
    sitemap_right: 0.25,
    sitemap_wrong: 0.15,
    sitemap_undated: 0.1,
    feed: 0.3,
    robots_disallow: 0.4,
    robots_missing: 0.2,
    robots_failing: 0.03,
    crawl_delay: 0.1,
    edits_sentence: 0.4,
    edits_everything: 0.2,
    noise: 0.2,
    footer: 0.0,
    latin1: 0.15,
    no_charset: 0.15,
    slow: 0.1,
    limited: 0.1,
    trap: 0.1,
    silent: 0.03,
    faulty: 0.1,
    farm: 0.0,
    small_farm: 0.0,
    family: 0.0,
    stuffed: 0.0,
    doorway: 0.0,
    moved: 0.0,
    parked: 0.0,
    mirror: 0.0,
    soft_404: 0.0,
    login_wall: 0.0,
    expired: 0.0,
};

const WILD_PAGES: PageShares = PageShares {
    orphan: 0.05,
    nofollow: 0.05,
    private: 0.1,
    moved: 0.08,
    failing: 0.03,
    flaky: 0.05,
    mortal: 0.25,
    duplicate: 0.05,
    near_duplicate: 0.05,
    meta_nofollow: 0.03,
    broken_link: 0.1,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_named_preset_exists_and_survives_json() {
        for name in WorldConfig::PRESETS {
            let config = WorldConfig::preset(name).unwrap();
            let json = serde_json::to_string(&config).unwrap();
            assert_eq!(serde_json::from_str::<WorldConfig>(&json).unwrap(), config);
        }
        assert_eq!(WorldConfig::preset("mild"), None);
    }

    #[test]
    fn a_missing_field_has_its_default_and_an_unknown_one_is_refused() {
        let config: WorldConfig =
            serde_json::from_str(r#"{"hosts": 3, "page_shares": {"mortal": 0.5}}"#).unwrap();
        assert_eq!((config.hosts, config.pages, config.page_shares.mortal), (3, 50, 0.5));
        assert!(serde_json::from_str::<WorldConfig>(r#"{"host": 3}"#).is_err());
    }
}
