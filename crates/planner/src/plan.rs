//! How are visits planned? As the user set it.

use std::time::Duration;

use evercrawl_policy::registry::Goal;

use evercrawl_insight::importance::Order;
use evercrawl_insight::suspicion::SpamConfig;

/// How visits are planned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// The policy's name.
    pub policy: &'static str,
    /// What the crawl is for.
    pub goal: Goal,
    /// Requests a second to divide over all pages; `None`: every page waits as long as the schedule
    /// says, and the policy only learns.
    pub rate: Option<f64>,
    /// Whether every page waits as long as the schedule says whatever the budget is: then that is a bound,
    /// and nothing to divide.
    pub fixed: bool,
    /// No page is visited again sooner.
    pub shortest: Duration,
    /// No page waits longer, where the budget allows it.
    pub longest: Option<Duration>,
    /// The share of requests that goes to pages drawn by lot, to know how fresh all are.
    pub audits: f64,
    /// Whether pages that matter more by links are worth more.
    pub importance: bool,
    /// Whether that is found out by cash that pages hand on, visit by visit, rather than by a ranking.
    pub by_cash: bool,
    /// Which new pages come first.
    pub order: Order,
    /// How spam is treated.
    pub spam: SpamConfig,
    /// Memory for all links at once, where a crawl ranks its pages or looks for spam, in bytes.
    pub link_memory: u64,
}

impl Default for Plan {
    fn default() -> Self {
        Plan {
            policy: "index",
            goal: Goal::Freshness,
            rate: None,
            fixed: false,
            shortest: Duration::from_secs(60),
            longest: None,
            audits: 0.02,
            importance: false,
            by_cash: false,
            order: Order::Breadth,
            spam: SpamConfig::default(),
            link_memory: 1 << 30,
        }
    }
}
