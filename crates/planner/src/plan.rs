//! Which settings control the planning of visits?

use std::time::Duration;

use evercrawl_policy::registry::Goal;

use evercrawl_insight::importance::CrawlOrder;
use evercrawl_insight::suspicion::SpamConfig;

/// The planner's configuration, as the user set it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlannerConfig {
    /// The policy's name.
    pub policy: &'static str,
    /// What the crawl optimises.
    pub goal: Goal,
    /// Requests per second to divide over all pages; `None`: every page has the interval of the schedule, and the
    /// policy only learns.
    pub rate: Option<f64>,
    /// Whether every page has the interval of the schedule whatever the budget: then the budget is only a bound.
    pub fixed: bool,
    /// No page is revisited sooner.
    pub shortest: Duration,
    /// No page waits longer, as far as the budget allows.
    pub longest: Option<Duration>,
    /// The share of requests used for audits, which measure freshness.
    pub audits: f64,
    /// Whether importance by links counts in a page's weight.
    pub importance: bool,
    /// Whether importance is learned by OPIC cash, visit by visit, instead of by a ranking.
    pub by_cash: bool,
    /// Which new pages come first.
    pub order: CrawlOrder,
    /// How spam is treated.
    pub spam: SpamConfig,
    /// The memory for all links at once, when a crawl ranks pages or looks for spam, in bytes.
    pub link_memory: u64,
}

impl Default for PlannerConfig {
    fn default() -> Self {
        PlannerConfig {
            policy: "index",
            goal: Goal::Freshness,
            rate: None,
            fixed: false,
            shortest: Duration::from_secs(60),
            longest: None,
            audits: 0.02,
            importance: false,
            by_cash: false,
            order: CrawlOrder::Breadth,
            spam: SpamConfig::default(),
            link_memory: 1 << 30,
        }
    }
}
