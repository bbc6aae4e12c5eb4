//! How important is a page about which only its host is known? As important as that host's pages on average.
//!
//! Links from sitemaps and feeds do not count in a ranking, so pages known from lists alone have no rank. Their
//! host's mean is a better guess than nothing. It is kept in memory only, and computed again with each ranking.

use std::collections::HashMap;

use evercrawl_model::{HostKey, Importance};

use super::LinkGraph;

/// A host with fewer pages has no mean.
const LEAST_PAGES: usize = 5;
/// The most hosts kept: those with most pages.
const MOST_HOSTS: usize = 1 << 16;

/// The mean importance of each host's pages.
#[derive(Debug, Default)]
pub struct MeanHostImportance(HashMap<HostKey, Importance>);

impl MeanHostImportance {
    /// From the scores of all pages, which sum to 1.
    pub(super) fn new(links: &LinkGraph, scores: &[f64]) -> Self {
        let mut hosts: Vec<(HostKey, &[f64])> =
            links.hosts_with_pages().map(|(host, pages)| (host, &scores[pages])).collect();
        hosts.retain(|(_, scores)| scores.len() >= LEAST_PAGES);
        hosts.sort_unstable_by_key(|(host, scores)| (std::cmp::Reverse(scores.len()), *host));
        hosts.truncate(MOST_HOSTS);
        let mean = |own: &[f64]| own.iter().sum::<f64>() / own.len() as f64 * scores.len() as f64;
        MeanHostImportance(
            hosts
                .into_iter()
                .map(|(host, own)| (host, Importance::from_ratio(mean(own))))
                .collect(),
        )
    }

    /// The mean importance of the pages of `host`, or unknown.
    pub fn importance_of(&self, host: HostKey) -> Importance {
        self.0.get(&host).copied().unwrap_or(Importance::UNKNOWN)
    }
}
