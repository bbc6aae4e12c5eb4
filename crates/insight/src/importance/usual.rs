//! How much does a page matter of which nothing is known but its host? As much as pages of that host do on average.
//!
//! Lists speak for nobody, so that what they name has no share in anyone's rank. What was ranked of its host says
//! more than nothing. This is kept in memory alone, and known again with the next ranking.

use std::collections::HashMap;

use evercrawl_model::{HostKey, Importance};

use super::LinkGraph;

/// Of fewer pages an average says little.
const LEAST_PAGES: usize = 5;
/// Hosts that are kept in mind, those first that have most pages.
const MOST_HOSTS: usize = 1 << 16;

/// What pages of each host matter on average.
#[derive(Debug, Default)]
pub struct UsualOfHost(HashMap<HostKey, Importance>);

impl UsualOfHost {
    /// By the scores of all pages, which add up to 1.
    pub(super) fn new(links: &LinkGraph, scores: &[f64]) -> Self {
        let mut hosts: Vec<(HostKey, &[f64])> =
            links.hosts_with_pages().map(|(host, pages)| (host, &scores[pages])).collect();
        hosts.retain(|(_, scores)| scores.len() >= LEAST_PAGES);
        hosts.sort_unstable_by_key(|(host, scores)| (std::cmp::Reverse(scores.len()), *host));
        hosts.truncate(MOST_HOSTS);
        let mean = |own: &[f64]| own.iter().sum::<f64>() / own.len() as f64 * scores.len() as f64;
        UsualOfHost(
            hosts.into_iter().map(|(host, own)| (host, Importance::of(mean(own)))).collect(),
        )
    }

    /// What a page of `host` matters, as far as that is known.
    pub fn of(&self, host: HostKey) -> Importance {
        self.0.get(&host).copied().unwrap_or(Importance::UNKNOWN)
    }
}
