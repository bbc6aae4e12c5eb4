//! What was the crawl told to do? Plain values, apart by who reads them; the edges fill them in.

mod reading;

use std::path::PathBuf;
use std::time::Duration;

use evercrawl_fetch as fetch;
use evercrawl_urls::{FilterRules, ScopeKind};

use crate::frontier::FrontierConfig;
use crate::planner::PlannerConfig;
use crate::retention::RetentionConfig;
use crate::schedule::Schedule;

pub use reading::{ReadingConfig, RecordConfig, Take};

/// Everything a crawl is told.
#[derive(Clone, Debug)]
pub struct CrawlConfig {
    /// What the walk decides by.
    pub walk: WalkConfig,
    /// What the fetcher reads: identity, limits, DNS and addresses.
    pub fetch: fetch::FetchConfig,
    /// What the driver reads: when to stop, and how fast to go.
    pub limits: RunLimits,
    /// Threads that read pages.
    pub workers: usize,
    /// What the archive's writer reads.
    pub archive: ArchiveConfig,
    /// What the ranking beside the crawl reads.
    pub ranking: RankingConfig,
    /// Where the cookies are kept over runs; `None`: they end with this run.
    pub cookie_file: Option<PathBuf>,
}

/// What the walk decides by, under every driver.
#[derive(Clone, Debug)]
pub struct WalkConfig {
    /// How answers are read.
    pub reading: ReadingConfig,
    /// Which URLs the crawl is about.
    pub scope: ScopeKind,
    /// Filters and traps.
    pub rules: FilterRules,
    /// Hosts at once, pauses, what is handed out.
    pub frontier: FrontierConfig,
    /// When to come again after a failure, or without a budget.
    pub schedule: Schedule,
    /// How visits are planned.
    pub plan: PlannerConfig,
    /// Look for sitemaps: those that robots.txt names, and `/sitemap.xml` of seed hosts.
    pub sitemaps: bool,
    /// Fetch what a mirror and its original both have from the original alone.
    pub hold_mirrors: bool,
    /// Tags of seeds whose new pages come first, where new pages come by topic.
    pub topic_tags: Vec<String>,
    /// Pages on which nothing is masked as noise: patterns of URLs, and `tag:NAME`.
    pub noise_off: Vec<String>,
    /// How long what was found is kept.
    pub retention: RetentionConfig,
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

/// How archive files are named and described, and when they are full.
#[derive(Clone, Debug)]
pub struct ArchiveConfig {
    /// What file names begin with.
    pub prefix: String,
    /// Bytes at which a file is full.
    pub roll_at: u64,
    /// This machine's name, for file names.
    pub machine: String,
    /// Who runs the crawl.
    pub operator: String,
}

/// How pages are ranked by their links while the crawl runs.
#[derive(Clone, Debug, Default)]
pub struct RankingConfig {
    /// How often; `None`: never.
    pub every: Option<Duration>,
    /// Where rankings are kept, to be compared with later ones.
    pub kept_in: Option<PathBuf>,
}
