//! What was the crawl told to do? Plain values; the edges fill them in.

use std::path::PathBuf;
use std::time::Duration;

use evercrawl_extract::decode::Caps;
use evercrawl_fetch as fetch;
use evercrawl_urls::{CanonicalSteps, FilterRules, ScopeKind};

use crate::frontier::FrontierConfig;
use crate::importance::Interest;
use crate::planner::PlannerConfig;
use crate::retention::RetentionConfig;
use crate::schedule::Schedule;

/// Everything a crawl is told.
#[derive(Clone, Debug)]
pub struct CrawlConfig {
    /// Identity, limits, DNS and addresses.
    pub fetch: fetch::FetchConfig,
    /// The token that robots.txt and meta robots name us by.
    pub agent: String,
    /// Which URLs the crawl is about.
    pub scope: ScopeKind,
    /// Filters and traps.
    pub rules: FilterRules,
    /// What content types begin with that are neither kept nor followed.
    pub skip_types: Vec<String>,
    /// How URLs are made canonical.
    pub steps: CanonicalSteps,
    /// How much of an answer is unpacked.
    pub unpack: Caps,
    /// What is followed and kept.
    pub take: Take,
    /// Hosts at once, pauses, what is handed out.
    pub frontier: FrontierConfig,
    /// When to come again after a failure, or without a budget.
    pub schedule: Schedule,
    /// How visits are planned.
    pub plan: PlannerConfig,
    /// When to stop, and how fast to go.
    pub limits: RunLimits,
    /// How the archive is written.
    pub archive: ArchiveConfig,
    /// What new pages should be about, where they come by topic.
    pub interest: Interest,
    /// How often pages are ranked by their links; `None`: never.
    pub rank_every: Option<Duration>,
    /// Where rankings are kept, to be compared with later ones.
    pub ranks: Option<PathBuf>,
    /// How long what was found is kept.
    pub retention: RetentionConfig,
    /// Threads that read pages.
    pub workers: usize,
}

/// What is followed and kept of pages.
#[derive(Clone, Copy, Debug)]
pub struct Take {
    /// Also fetch what pages are made of: images, scripts, style sheets.
    pub embeds: bool,
    /// Look for sitemaps: those that robots.txt names, and `/sitemap.xml` of seed hosts.
    pub sitemaps: bool,
    /// Heed `nofollow` and `noarchive` of pages and links.
    pub page_directives: bool,
    /// Keep which page links to which.
    pub keep_links: bool,
    /// Keep the words that links are put in.
    pub keep_anchors: bool,
    /// Fetch what a mirror and its original both have from the original alone.
    pub hold_mirrors: bool,
    /// Most redirects in a row.
    pub max_redirects: u8,
    /// Most pages of one host.
    pub pages_per_host: Option<u32>,
    /// Most URLs of one shape on one host: by parameters or dates, and by numbers in the path.
    pub shape_cap: u32,
    /// Most URLs that differ only in numbers in their path, which mostly are real pages.
    pub number_cap: u32,
}

impl Default for Take {
    fn default() -> Self {
        Take {
            embeds: false,
            sitemaps: true,
            page_directives: true,
            keep_links: true,
            keep_anchors: false,
            hold_mirrors: true,
            max_redirects: 10,
            pages_per_host: None,
            shape_cap: 10_000,
            number_cap: 1_000_000,
        }
    }
}

/// When a run stops, and how fast it goes.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunLimits {
    /// Stop when every known page was visited.
    pub once: bool,
    /// Stop after so many pages of this run.
    pub pages: Option<u64>,
    /// Stop after so long.
    pub time: Option<Duration>,
    /// Stop after so many bytes received in this run.
    pub bytes: Option<u64>,
    /// At most so many bytes received in any 24 hours, over all runs.
    pub bytes_per_day: Option<u64>,
    /// Requests a second, over all hosts.
    pub budget: Option<f64>,
    /// Requests out at once.
    pub concurrency: usize,
    /// Stop cleanly when less than this is free on the disk.
    pub min_free_disk: u64,
}

/// How the archive is written.
#[derive(Clone, Debug)]
pub struct ArchiveConfig {
    /// What file names begin with.
    pub prefix: String,
    /// Gzip level, 1 to 12.
    pub level: u8,
    /// Bytes at which a file is full.
    pub roll_at: u64,
    /// This machine's name, for file names.
    pub machine: String,
    /// Who runs the crawl.
    pub operator: String,
    /// Keep the request beside the response.
    pub requests: bool,
}
