//! Which hosts are spam, and what is done about them?
//!
//! - `survey`: which signs of spam do some pages of each host, and the links between domains, show?
//! - `company`: which signs do the neighbours of its domain show?
//! - `archived`: what was a page's last archived content?

mod archived;
mod company;
mod survey;

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use evercrawl_model::{HostKey, Override, Suspicion, Time};
use evercrawl_state::{StateError, Store, View};

pub use archived::ArchivedPages;
pub use survey::{HostSurvey, find_copies, survey_hosts};

/// How many pages of each host a running crawl surveys.
const PAGES: usize = 6;
/// The weight of a suspect page's freshness, relative to other pages.
const WEIGHT: f32 = 0.1;
/// All suspect hosts together get one request in this many.
const SHARE: u64 = 100;

/// What is done about hosts that count as spam.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SuspectAction {
    /// Nothing: they are only reported on request.
    #[default]
    Report,
    /// They get a hundredth of the requests, and their links do not count.
    Lower,
    /// Their pages are set aside, except for seeds.
    Exclude,
}

/// How spam is treated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpamConfig {
    /// What is done about spam hosts.
    pub action: SuspectAction,
    /// The probability of spam from which it is done.
    pub threshold: f64,
    /// How often a running crawl surveys hosts, if anything is to be done.
    pub every: Duration,
}

impl SpamConfig {
    /// How often a running crawl surveys hosts; never when nothing is to be done.
    pub fn survey_interval(&self) -> Option<Duration> {
        (self.action != SuspectAction::Report).then_some(self.every)
    }
}

impl Default for SpamConfig {
    fn default() -> Self {
        let every = Duration::from_secs(6 * 3600);
        SpamConfig { action: SuspectAction::default(), threshold: 0.95, every }
    }
}

/// The suspect hosts.
#[derive(Debug, Default)]
pub struct Suspects {
    action: SuspectAction,
    hosts: HashSet<HostKey>,
}

impl Suspects {
    /// Reads the hosts whose suspicion reaches the threshold, except those that the user trusts.
    pub fn read<S: Store>(state: &View<S>, config: &SpamConfig) -> Result<Self, StateError> {
        let mut hosts = HashSet::new();
        if config.action != SuspectAction::Report {
            for row in state.suspicions() {
                let (host, suspicion) = row?;
                if f64::from(suspicion.probability) >= config.threshold {
                    hosts.insert(host);
                }
            }
            for (user_override, _) in state.overrides()? {
                if let Override::Trust { host, .. } = user_override {
                    hosts.remove(&host);
                }
            }
        }
        Ok(Suspects { action: config.action, hosts })
    }

    /// Whether a host is suspect.
    pub fn contains(&self, host: HostKey) -> bool {
        self.hosts.contains(&host)
    }

    /// The number of suspect hosts.
    pub fn count(&self) -> usize {
        self.hosts.len()
    }

    /// Whether pages of a host are set aside.
    pub fn excludes(&self, host: HostKey) -> bool {
        self.action == SuspectAction::Exclude && self.contains(host)
    }

    /// The weight of the freshness of a host's pages.
    pub fn weight(&self, host: HostKey) -> f32 {
        if self.contains(host) { WEIGHT } else { 1.0 }
    }

    /// Whether a host may be requested, when `spent` of `all` requests went to suspect hosts.
    pub fn may_request(&self, host: HostKey, spent: u64, all: u64) -> bool {
        self.action != SuspectAction::Lower || !self.contains(host) || spent * SHARE < all
    }
}

/// The suspicions to store after a survey: those that differ from the stored ones. A host whose pages are set aside
/// shows nothing new, so its suspicion stays. Links are read if they fit in `memory` bytes.
pub fn changed_suspicions<S: Store>(
    state: &View<S>,
    archived: &mut ArchivedPages,
    spam: &SpamConfig,
    memory: u64,
    now: Time,
) -> Result<Vec<(HostKey, Option<Suspicion>)>, StateError> {
    let mut known: HashMap<HostKey, Suspicion> = state.suspicions().collect::<Result<_, _>>()?;
    let mut changes = Vec::new();
    let links_seen = survey_hosts(state, archived, PAGES, memory, |seen| {
        let (before, found) = (known.remove(&seen.host), seen.suspicion(spam.threshold, now));
        if spam.action == SuspectAction::Exclude && before.is_some() {
            return;
        }
        let words = |suspicion: &Option<Suspicion>| suspicion.as_ref().map(|s| s.evidence.clone());
        if words(&before) != words(&found) {
            changes.push((seen.host, found));
        }
    })?;
    // Suspicions based on links stay when the links did not fit in memory.
    changes.retain(|(_, found)| links_seen || found.is_some());
    Ok(changes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOST: HostKey = HostKey { shard: 0, host: 1 };

    fn suspects(action: SuspectAction) -> Suspects {
        Suspects { action, hosts: HashSet::from([HOST]) }
    }

    #[test]
    fn suspects_together_get_one_request_in_a_hundred() {
        let lowered = suspects(SuspectAction::Lower);
        let mut spent = 0;
        for all in 0..10_000 {
            spent += u64::from(lowered.may_request(HOST, spent, all));
        }
        assert_eq!(spent, 100);
        assert!(
            lowered.may_request(HostKey { host: 2, ..HOST }, spent, 0) && !lowered.excludes(HOST)
        );
        assert!(suspects(SuspectAction::Exclude).excludes(HOST));
    }
}
