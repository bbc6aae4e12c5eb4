//! What is believed of a page's change rate: its own evidence, on what its directory shows, on what
//! all pages show.

use std::collections::HashMap;

use evercrawl_estimate::{Evidence, Gamma, GroupRates, prior};

use crate::page::{Days, Page};

/// Where a page's evidence is noted.
const CHANGES: usize = 0;
const TIME: usize = 1;
const RATE: usize = 2;

/// How many pages the prior is fitted to.
const SAMPLE: usize = 500;

/// The priors from which the belief about any page starts.
#[derive(Debug)]
pub(crate) struct Beliefs {
    /// The belief about a page of which nothing is known.
    all: Gamma,
    directories: HashMap<u32, GroupRates>,
    checks_fitted: u64,
}

impl Beliefs {
    pub(crate) fn new(all: Gamma) -> Self {
        Beliefs { all, directories: HashMap::new(), checks_fitted: 0 }
    }

    /// What is believed of a page of this directory before its first check.
    pub(crate) fn prior(&self, page: &Page) -> Gamma {
        self.directories.get(&page.group).copied().unwrap_or_default().prior(self.all)
    }

    pub(crate) fn of(&self, page: &Page) -> Gamma {
        evidence(page).on(self.prior(page))
    }

    /// Learns what a check of `page` showed; `age` is how long ago it last changed, if it says so.
    pub(crate) fn learn(
        &mut self,
        page: &mut Page,
        elapsed: Days,
        changed: bool,
        age: Option<Days>,
    ) {
        let prior = self.prior(page);
        let belief = evidence(page).on(prior);
        let learned = match (changed, age) {
            (false, _) => belief.observe_unchanged(elapsed),
            (true, Some(age)) => belief.observe_change_at(elapsed, age),
            (true, None) => belief.observe_changed(elapsed),
        };
        let (evidence, rate) = (Evidence::since(prior, learned), learned.mean());
        let directory = self.directories.entry(page.group).or_default();
        if page.checks <= 1 {
            directory.add(rate);
        } else {
            directory.replace(f64::from(page.note[RATE]), rate);
        }
        page.note[CHANGES] = evidence.changes as f32;
        page.note[TIME] = evidence.time as f32;
        page.note[RATE] = rate as f32;
    }

    /// Fits the prior to all pages, if enough was seen since the last time.
    pub(crate) fn fit(&mut self, pages: &[Page]) {
        let checked = pages.iter().filter(|page| page.checks > 0);
        let checks: u64 = checked.clone().map(|page| u64::from(page.checks)).sum();
        // Each fit sees a fifth more than the one before: few fits, none of them stale for long.
        if checks * 5 > self.checks_fitted * 6 {
            self.checks_fitted = checks;
            let step = checked.clone().count().div_ceil(SAMPLE).max(1);
            let sample: Vec<Evidence> = checked.step_by(step).map(evidence).collect();
            self.all = prior::fit(self.all, &sample);
        }
    }
}

/// What a fetch of `page` is worth for each unit of its cost.
pub(crate) fn importance(page: &Page) -> f64 {
    f64::from(page.weight) / f64::from(page.cost).max(f64::MIN_POSITIVE)
}

fn evidence(page: &Page) -> Evidence {
    Evidence { changes: f64::from(page.note[CHANGES]), time: f64::from(page.note[TIME]) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::{Found, Visit};

    #[test]
    fn directories_tell_about_pages_never_checked() {
        let mut beliefs = Beliefs::new(Gamma::with_mean(1.0 / 30.0, 1.0));
        for id in 0..9 {
            let mut page = Page { last: 0.0, group: 5, ..Page::new(id) };
            page.record(&Visit::new(1.0, Found::Changed));
            beliefs.learn(&mut page, 1.0, true, None);
        }
        let rate = |group| beliefs.of(&Page { group, ..Page::new(99) }).mean();
        assert!(rate(5) > 3.0 * rate(6), "{} {}", rate(5), rate(6));
    }
}
