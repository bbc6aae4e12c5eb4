//! What does the user wish of this page or host? Asked for every page, so it is looked up, not
//! searched for.

use std::collections::{HashMap, HashSet};
use std::ops::RangeInclusive;
use std::time::Duration;

use evercrawl_model::{HostKey, Next, Override, PageKey, Time};
use evercrawl_state::{Store, View};
use evercrawl_urls::{Patterns, RuleError, Rules};

use crate::PlannerError;

/// What a page's weight may be multiplied by, by all boosts together.
pub const BOOSTS: RangeInclusive<f32> = 0.01..=1000.0;

/// Everything that the user wishes, ready to be asked.
#[derive(Debug, Default)]
pub struct Overrides {
    pins: HashMap<PageKey, Duration>,
    boosted: Vec<String>,
    times: Vec<f32>,
    boosts: Patterns,
    paused: HashSet<HostKey>,
    trusted: HashSet<HostKey>,
    excluded: Vec<String>,
    excludes: Patterns,
}

impl Overrides {
    /// The wishes that stand in `state`.
    pub fn read<S: Store>(state: &View<S>) -> Result<Self, PlannerError> {
        let (mut pins, mut paused) = (HashMap::new(), HashSet::new());
        let mut trusted = HashSet::new();
        let (mut boosted, mut times, mut excluded) = (Vec::new(), Vec::new(), Vec::new());
        for (user_override, _) in state.overrides()? {
            match user_override {
                Override::Pin { page, every, .. } => drop(pins.insert(page, every)),
                Override::Pause { host, .. } => drop(paused.insert(host)),
                Override::Trust { host, .. } => drop(trusted.insert(host)),
                Override::Exclude { pattern } => excluded.push(pattern),
                Override::Boost { pattern, times: by } => {
                    boosted.push(pattern);
                    times.push(by);
                }
            }
        }
        let boosts = Patterns::new("boost", &boosted)?;
        let excludes = Patterns::new("exclude", &excluded)?;
        Ok(Overrides { pins, boosted, times, boosts, paused, trusted, excluded, excludes })
    }

    /// What the weight of a page is multiplied by.
    pub fn weight(&self, url: &str) -> f32 {
        let by: f32 = self.boosts.matches(url).filter_map(|n| self.times.get(n)).product();
        by.clamp(*BOOSTS.start(), *BOOSTS.end())
    }

    /// The pages that are pinned.
    pub fn pinned(&self) -> impl Iterator<Item = PageKey> + '_ {
        self.pins.keys().copied()
    }

    /// How often a page must be visited at least.
    pub fn every(&self, page: PageKey) -> Option<Duration> {
        self.pins.get(&page).copied()
    }

    /// Whether a host is to be left alone.
    pub fn is_paused(&self, host: HostKey) -> bool {
        self.paused.contains(&host)
    }

    /// Whether a host is crawled like any other, whatever it is taken for.
    pub fn is_trusted(&self, host: HostKey) -> bool {
        self.trusted.contains(&host)
    }

    /// Whether a page is neither to be fetched nor to be followed.
    pub fn excludes(&self, url: &str) -> bool {
        self.excludes.is_match(url)
    }

    /// Whether the pattern of one more wish can be used together with those that stand.
    pub fn check(&self, user_override: &Override, configured: &Rules) -> Result<(), RuleError> {
        let with = |stand: &[String], one: &String| [stand, std::slice::from_ref(one)].concat();
        let (list, patterns) = match user_override {
            Override::Boost { pattern, .. } => ("boost", with(&self.boosted, pattern)),
            Override::Exclude { pattern } => {
                ("exclude", with(&self.rules(configured).exclude, pattern))
            }
            Override::Pin { .. } | Override::Pause { .. } | Override::Trust { .. } => return Ok(()),
        };
        Patterns::new(list, &patterns).map(drop)
    }

    /// The rules of a crawl with what is excluded besides.
    pub fn rules(&self, configured: &Rules) -> Rules {
        let exclude = [&configured.exclude[..], &self.excluded].concat();
        Rules { exclude, ..configured.clone() }
    }

    /// When to visit a page again that was visited at `at`: no later than its pin says.
    pub fn no_later(&self, page: PageKey, at: Time, next: Next) -> Next {
        match (self.every(page), next) {
            (Some(every), Next::Due(due)) => Next::Due(due.min(at.after(every))),
            (Some(every), Next::Never | Next::Recheck(_)) => Next::Due(at.after(every)),
            (_, next) => next,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use evercrawl_model::Event;
    use evercrawl_state::{MemoryStore, Settings, State};

    use super::*;

    const HOST: HostKey = HostKey { shard: 0, host: 1 };
    const PAGE: PageKey = PageKey { host: HOST, url: 2 };

    fn overrides(list: &[Override]) -> Overrides {
        let store = Arc::new(MemoryStore::default());
        let mut state = State::open(store, Settings { seed: 1, shards: 1 }, None).unwrap();
        for user_override in list {
            state
                .apply(&Event::OverrideSet {
                    user_override: user_override.clone(),
                    at: Time::EPOCH,
                })
                .unwrap();
        }
        Overrides::read(state.view()).unwrap()
    }

    fn boost(pattern: &str, times: f32) -> Override {
        Override::Boost { pattern: pattern.to_owned(), times }
    }

    #[test]
    fn without_wishes_nothing_is_special() {
        let none = overrides(&[]);
        assert_eq!((none.weight("http://a.org/"), none.every(PAGE)), (1.0, None));
        assert!(!none.is_paused(HOST) && !none.excludes("http://a.org/"));
        assert_eq!(none.no_later(PAGE, Time::EPOCH, Next::Never), Next::Never);
    }

    #[test]
    fn boosts_multiply_within_bounds() {
        let some = overrides(&[boost("/news/", 5.0), boost("\\.org/", 0.5), boost("/hot/", 999.0)]);
        for (url, weight) in [
            ("http://a.net/x", 1.0),
            ("http://a.net/news/", 5.0),
            ("http://a.org/news/", 2.5),
            ("http://a.net/hot/news/", 1000.0),
        ] {
            assert_eq!(some.weight(url), weight, "{url}");
        }
    }

    #[test]
    fn a_pin_brings_the_next_visit_forward_and_never_puts_it_off() {
        let every = Duration::from_secs(60);
        let some =
            overrides(&[Override::Pin { page: PAGE, url: "http://a.org/".to_owned(), every }]);
        let (at, due) = (Time::from_secs(1000), |s| Next::Due(Time::from_secs(s)));
        for (next, want) in [
            (due(5000), due(1060)),
            (due(1010), due(1010)),
            (Next::Never, due(1060)),
            (Next::Retry, Next::Retry),
        ] {
            assert_eq!(some.no_later(PAGE, at, next), want, "{next:?}");
        }
    }

    #[test]
    fn hosts_are_paused_and_patterns_excluded() {
        let pause = Override::Pause { host: HOST, authority: "a.org".to_owned() };
        let some = overrides(&[pause, Override::Exclude { pattern: "/tmp/".to_owned() }]);
        assert!(some.is_paused(HOST) && !some.is_paused(HostKey { host: 9, ..HOST }));
        assert!(some.excludes("http://a.org/tmp/x") && !some.excludes("http://a.org/tmpx"));
        let configured = Rules { exclude: vec!["/a/".to_owned()], ..Rules::default() };
        assert_eq!(some.rules(&configured).exclude, ["/a/", "/tmp/"]);
    }
}
