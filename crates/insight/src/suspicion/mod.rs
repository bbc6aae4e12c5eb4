//! Which hosts only pretend to be of use, and what is done about them?
//!
//! - `survey`: what do some pages of each host, and the links between domains, speak of?
//! - `company`: what does the company of its domain say?
//! - `archived`: what did a page last say?

mod archived;
mod company;
mod survey;

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use evercrawl_model::{HostKey, Override, Suspicion, Time};
use evercrawl_state::{StateError, Store, View};

pub use archived::Archived;
pub use survey::{Seen, copies, survey};

/// Pages of each host that a running crawl looks at.
const PAGES: usize = 6;
/// What the freshness of a suspect page counts next to that of others.
const WEIGHT: f32 = 0.1;
/// Suspect hosts together get one request in so many.
const SHARE: u64 = 100;

/// What is done about hosts that are taken for spam.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Action {
    /// Nothing: they are named where somebody asks.
    #[default]
    Report,
    /// They get a hundredth of the requests, and what they link to counts for nothing.
    Lower,
    /// Their pages are put aside, but for those that the user gave.
    Exclude,
}

/// How spam is treated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpamConfig {
    /// What is done about hosts that are spam.
    pub action: Action,
    /// How likely a host must be spam before anything is.
    pub threshold: f64,
    /// How often a running crawl looks, where anything is to be done.
    pub every: Duration,
}

impl SpamConfig {
    /// How often a running crawl looks; never where nothing is to be done.
    pub fn looks_every(&self) -> Option<Duration> {
        (self.action != Action::Report).then_some(self.every)
    }
}

impl Default for SpamConfig {
    fn default() -> Self {
        let every = Duration::from_secs(6 * 3600);
        SpamConfig { action: Action::default(), threshold: 0.95, every }
    }
}

/// The hosts that something is done about.
#[derive(Debug, Default)]
pub struct Suspects {
    action: Action,
    hosts: HashSet<HostKey>,
}

impl Suspects {
    /// Those that are suspect enough by what is kept, without those that the user trusts.
    pub fn read<S: Store>(state: &View<S>, config: &SpamConfig) -> Result<Self, StateError> {
        let mut hosts = HashSet::new();
        if config.action != Action::Report {
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

    /// Whether a host is one of them.
    pub fn contains(&self, host: HostKey) -> bool {
        self.hosts.contains(&host)
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.hosts.len()
    }

    /// Whether pages of a host are put aside.
    pub fn excludes(&self, host: HostKey) -> bool {
        self.action == Action::Exclude && self.contains(host)
    }

    /// What the freshness of its pages counts next to that of others.
    pub fn weight(&self, host: HostKey) -> f32 {
        if self.contains(host) { WEIGHT } else { 1.0 }
    }

    /// Whether a host may be asked, where `spent` of `all` requests went to suspect ones.
    pub fn may_ask(&self, host: HostKey, spent: u64, all: u64) -> bool {
        self.action != Action::Lower || !self.contains(host) || spent * SHARE < all
    }
}

/// What differs between what is kept of hosts and what can be seen of them now. Of a host that is left out
/// nothing is seen any more, so what it is taken for stays. Links are looked at where `memory` bytes hold them.
pub fn changed<S: Store>(
    state: &View<S>,
    archived: &mut Archived,
    spam: &SpamConfig,
    memory: u64,
    now: Time,
) -> Result<Vec<(HostKey, Option<Suspicion>)>, StateError> {
    let mut known: HashMap<HostKey, Suspicion> = state.suspicions().collect::<Result<_, _>>()?;
    let mut changes = Vec::new();
    let links_seen = survey(state, archived, PAGES, memory, |seen| {
        let (before, found) = (known.remove(&seen.host), seen.suspicion(spam.threshold, now));
        if spam.action == Action::Exclude && before.is_some() {
            return;
        }
        let words = |suspicion: &Option<Suspicion>| suspicion.as_ref().map(|s| s.evidence.clone());
        if words(&before) != words(&found) {
            changes.push((seen.host, found));
        }
    })?;
    // Who was suspect by links stays so where there were too many to look at.
    changes.retain(|(_, found)| links_seen || found.is_some());
    Ok(changes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOST: HostKey = HostKey { shard: 0, host: 1 };

    fn suspects(action: Action) -> Suspects {
        Suspects { action, hosts: HashSet::from([HOST]) }
    }

    #[test]
    fn suspects_together_get_one_request_in_a_hundred() {
        let lowered = suspects(Action::Lower);
        let mut spent = 0;
        for all in 0..10_000 {
            spent += u64::from(lowered.may_ask(HOST, spent, all));
        }
        assert_eq!(spent, 100);
        assert!(lowered.may_ask(HostKey { host: 2, ..HOST }, spent, 0) && !lowered.excludes(HOST));
        assert!(suspects(Action::Exclude).excludes(HOST));
    }
}
