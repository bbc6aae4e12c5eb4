//! Which user overrides apply to a page or host? This is asked for every page, so it is a look-up, not a search.

use std::collections::{HashMap, HashSet};
use std::ops::RangeInclusive;
use std::time::Duration;

use evercrawl_model::{HostKey, NextVisit, Override, PageKey, Time};
use evercrawl_state::{Store, View};
use evercrawl_urls::{FilterRules, Patterns, RuleError};

use crate::PlannerError;

/// The range of the product of all boosts on a page.
pub const BOOST_RANGE: RangeInclusive<f32> = 0.01..=1000.0;

/// All overrides, indexed.
#[derive(Debug, Default)]
pub struct Overrides {
    pins: HashMap<PageKey, Duration>,
    boosted: Vec<String>,
    factors: Vec<f32>,
    boosts: Patterns,
    paused: HashSet<HostKey>,
    trusted: HashSet<HostKey>,
    excluded: Vec<String>,
    excludes: Patterns,
}

impl Overrides {
    /// Reads the overrides in `state`.
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
        Ok(Overrides { pins, boosted, factors: times, boosts, paused, trusted, excluded, excludes })
    }

    /// The factor on the weight of a page.
    pub(crate) fn boost_factor(&self, url: &str) -> f32 {
        let by: f32 = self.boosts.matches(url).filter_map(|n| self.factors.get(n)).product();
        by.clamp(*BOOST_RANGE.start(), *BOOST_RANGE.end())
    }

    /// The pages that are pinned.
    pub fn pinned_pages(&self) -> impl Iterator<Item = PageKey> + '_ {
        self.pins.keys().copied()
    }

    /// The longest interval between visits that a pin allows.
    pub fn pin_interval(&self, page: PageKey) -> Option<Duration> {
        self.pins.get(&page).copied()
    }

    /// Whether the user paused a host.
    pub fn is_paused(&self, host: HostKey) -> bool {
        self.paused.contains(&host)
    }

    /// Whether the user trusts a host, even if it looks like spam.
    pub fn is_trusted(&self, host: HostKey) -> bool {
        self.trusted.contains(&host)
    }

    /// Whether an exclusion matches a URL: it is neither fetched nor followed.
    pub fn is_excluded(&self, url: &str) -> bool {
        self.excludes.is_match(url)
    }

    /// Checks that the pattern of another override compiles together with the existing ones.
    pub fn validate(
        &self,
        user_override: &Override,
        configured: &FilterRules,
    ) -> Result<(), RuleError> {
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

    /// The configured rules plus the user's exclusions.
    pub fn rules(&self, configured: &FilterRules) -> FilterRules {
        let exclude = [&configured.exclude[..], &self.excluded].concat();
        FilterRules { exclude, ..configured.clone() }
    }

    /// The next visit after one at `at`: no later than the page's pin allows.
    pub fn apply_pin(&self, page: PageKey, at: Time, next: NextVisit) -> NextVisit {
        match (self.pin_interval(page), next) {
            (Some(every), NextVisit::Due(due)) => NextVisit::Due(due.min(at.after(every))),
            (Some(every), NextVisit::Never | NextVisit::Recheck(_)) => {
                NextVisit::Due(at.after(every))
            }
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
        assert_eq!((none.boost_factor("http://a.org/"), none.pin_interval(PAGE)), (1.0, None));
        assert!(!none.is_paused(HOST) && !none.is_excluded("http://a.org/"));
        assert_eq!(none.apply_pin(PAGE, Time::EPOCH, NextVisit::Never), NextVisit::Never);
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
            assert_eq!(some.boost_factor(url), weight, "{url}");
        }
    }

    #[test]
    fn a_pin_brings_the_next_visit_forward_and_never_puts_it_off() {
        let every = Duration::from_secs(60);
        let some =
            overrides(&[Override::Pin { page: PAGE, url: "http://a.org/".to_owned(), every }]);
        let (at, due) = (Time::from_secs(1000), |s| NextVisit::Due(Time::from_secs(s)));
        for (next, want) in [
            (due(5000), due(1060)),
            (due(1010), due(1010)),
            (NextVisit::Never, due(1060)),
            (NextVisit::Retry, NextVisit::Retry),
        ] {
            assert_eq!(some.apply_pin(PAGE, at, next), want, "{next:?}");
        }
    }

    #[test]
    fn hosts_are_paused_and_patterns_excluded() {
        let pause = Override::Pause { host: HOST, authority: "a.org".to_owned() };
        let some = overrides(&[pause, Override::Exclude { pattern: "/tmp/".to_owned() }]);
        assert!(some.is_paused(HOST) && !some.is_paused(HostKey { host: 9, ..HOST }));
        assert!(some.is_excluded("http://a.org/tmp/x") && !some.is_excluded("http://a.org/tmpx"));
        let configured = FilterRules { exclude: vec!["/a/".to_owned()], ..FilterRules::default() };
        assert_eq!(some.rules(&configured).exclude, ["/a/", "/tmp/"]);
    }
}
