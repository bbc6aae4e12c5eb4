//! How are answers read, and what is taken from them?

use evercrawl_extract::LinkSources;
use evercrawl_extract::decode::DecodeLimits;
use evercrawl_rank::Topic;
use evercrawl_urls::CanonicalSteps;

use crate::regions::DeclaredRegions;

/// How answers are read.
#[derive(Clone, Debug)]
pub struct ReadingConfig {
    /// The token that robots.txt and meta robots name us by.
    pub agent: String,
    /// How URLs are made canonical.
    pub steps: CanonicalSteps,
    /// What content types begin with that are neither kept nor followed.
    pub skip_types: Vec<String>,
    /// How much of an answer is unpacked.
    pub unpack: DecodeLimits,
    /// What is followed and kept.
    pub take: Take,
    /// What new pages should be about, where they come by topic.
    pub topic: Option<Topic>,
    /// The parts of pages that the user declared to be what counts.
    pub regions: DeclaredRegions,
    /// How records are made.
    pub records: RecordConfig,
}

/// What is followed and kept of pages.
#[derive(Clone, Copy, Debug)]
pub struct Take {
    /// In which places links are looked for, and whether what pages are made of is fetched too.
    pub sources: LinkSources,
    /// Fetch them from any host, not only from those in scope.
    pub embeds_from_any_host: bool,
    /// Obey `nofollow` and `noarchive` of pages and links.
    pub page_directives: bool,
    /// Keep which page links to which.
    pub keep_links: bool,
    /// Keep the words that links are put in.
    pub keep_anchors: bool,
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
            sources: LinkSources::Pages,
            embeds_from_any_host: false,
            page_directives: true,
            keep_links: true,
            keep_anchors: false,
            max_redirects: 10,
            pages_per_host: None,
            shape_cap: 10_000,
            number_cap: 1_000_000,
        }
    }
}

/// How WARC records are made.
#[derive(Clone, Copy, Debug)]
pub struct RecordConfig {
    /// Gzip level, 1 to 12.
    pub level: u8,
    /// Keep the request beside the response.
    pub requests: bool,
}
