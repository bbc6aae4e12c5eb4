//! What changed when? The version of a page at any moment, computed from its own Poisson process and from the births
//! and
//! deaths of the pages it lists.

use super::arrivals::Arrivals;
use super::dice::{DicePurpose, WorldDice};
use super::life::Cycle;
use super::{Fate, PageId, World};

impl World {
    /// The version of a page at a moment, or none when it does not exist then. A version is named by the time of the
    /// change
    /// that made it, or by the page's creation, so it grows with every change.
    pub fn version_at(&self, page: PageId, at_ms: u64) -> Option<u64> {
        self.life(page).covers(at_ms).then(|| self.last_change(page, at_ms))
    }

    /// The time of the last change at or before a moment, or of the creation when there was none.
    pub fn last_change(&self, page: PageId, at_ms: u64) -> u64 {
        let life = self.life(page);
        let at_ms = last_moment(life.deleted_ms, at_ms);
        let source = self.source(page).page;
        let edit = self.arrivals(source).and_then(|arrivals| arrivals.latest(at_ms));
        let listed = self.listed_cycles(source).map(|cycle| self.latest_turn(&cycle, at_ms)).max();
        life.created_ms.max(edit.unwrap_or(0)).max(listed.unwrap_or(0))
    }

    /// The times of all changes after one moment, up to and including another, in order. Creation is no change.
    pub fn changes_between(&self, page: PageId, after_ms: u64, until_ms: u64) -> Vec<u64> {
        let life = self.life(page);
        let after_ms = after_ms.max(life.created_ms);
        let until_ms = last_moment(life.deleted_ms, until_ms);
        let mut changes = Vec::new();
        if after_ms < until_ms {
            let source = self.source(page).page;
            if let Some(arrivals) = self.arrivals(source) {
                arrivals.between(after_ms, until_ms, &mut changes);
            }
            for cycle in self.listed_cycles(source) {
                self.turns_between(&cycle, after_ms, until_ms, &mut changes);
            }
        }
        changes.sort_unstable();
        changes.dedup();
        changes
    }

    /// Expected edits of a page in a real day; what its listed pages add to its changes is not counted.
    pub(crate) fn rate_per_day(&self, page: PageId) -> f64 {
        self.arrivals(self.source(page).page).map_or(0.0, |arrivals| arrivals.rate() * DAY_MS)
    }

    /// The edit that a page's text stands at, or 0 before the first.
    pub(crate) fn edition(&self, page: PageId, at_ms: u64) -> u64 {
        self.arrivals(page).and_then(|arrivals| arrivals.latest(at_ms)).unwrap_or(0)
    }

    fn arrivals(&self, page: PageId) -> Option<Arrivals> {
        if self.config.changes_per_day <= 0.0 {
            return None;
        }
        let dice = &mut WorldDice::new(
            self.config.seed,
            DicePurpose::Rate,
            page.key(),
            u64::from(page.generation),
        );
        let sigma = self.config.change_sigma;
        // Shifted by half the variance, so that the mean and not the median is as configured.
        let per_day =
            self.config.changes_per_day * (sigma * dice.normal() - sigma * sigma / 2.0).exp();
        let per_ms = per_day * self.config.time_scale / DAY_MS;
        let start_ms = self.life(page).created_ms.max(self.config.origin_ms);
        Arrivals::new(self.config.seed, dice.next(), start_ms, per_ms)
    }

    /// The cycles of the mortal slots that a section lists: each birth and death alters the section's page.
    fn listed_cycles(&self, page: PageId) -> impl Iterator<Item = Cycle> {
        let mortal = self.config.page_shares.mortal > 0.0;
        let children = if mortal { self.children(page.slot) } else { 0..0 };
        let host = (!children.is_empty()).then(|| self.host(page.host));
        children.filter_map(move |slot| {
            let cycle = self.cycle(page.host, slot)?;
            (self.fate(host.as_ref()?, slot) != Fate::Orphan).then_some(cycle)
        })
    }
}

const DAY_MS: f64 = 86_400_000.0;

/// Nothing changes once a page is gone.
fn last_moment(deleted_ms: Option<u64>, at_ms: u64) -> u64 {
    deleted_ms.map_or(at_ms, |deleted_ms| at_ms.min(deleted_ms.saturating_sub(1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WorldConfig;
    use proptest::prelude::*;
    use std::sync::LazyLock;

    static DEMO: LazyLock<World> = LazyLock::new(|| World::new(WorldConfig::demo()));

    proptest! {
        #[test]
        fn the_version_is_the_last_of_the_changes(slot in 0u32..30, host in 0u32..12, after in 0u64..20_000_000) {
            let world = &*DEMO;
            let at_ms = world.config().origin_ms + after;
            let Some(page) = world.tenant(host, slot, at_ms) else { return Ok(()) };
            let created_ms = world.life(page).created_ms;
            let changes = world.changes_between(page, 0, at_ms);
            prop_assert!(changes.is_sorted_by(|a, b| a < b));
            prop_assert_eq!(world.version_at(page, at_ms), Some(changes.last().copied().unwrap_or(created_ms)));
        }

        #[test]
        fn no_change_between_two_moments_means_the_same_version(slot in 0u32..30, after in 0u64..5_000_000, span in 0u64..200_000) {
            let world = &*DEMO;
            let from = world.config().origin_ms + after;
            let page = PageId::first(1, slot);
            let same = world.last_change(page, from) == world.last_change(page, from + span);
            prop_assert_eq!(world.changes_between(page, from, from + span).is_empty(), same);
        }
    }

    #[test]
    fn rates_are_lognormal_with_the_configured_mean() {
        let world = World::new(WorldConfig {
            changes_per_day: 3.0,
            change_sigma: 0.8,
            time_scale: 2.0,
            ..WorldConfig::default()
        });
        let rates: Vec<f64> = (0..20_000)
            .map(|slot| world.rate_per_day(PageId::first(slot / 50, slot % 50)))
            .collect();
        let mean = rates.iter().sum::<f64>() / rates.len() as f64;
        let logs: Vec<f64> = rates.iter().map(|rate| rate.ln()).collect();
        let log_mean = logs.iter().sum::<f64>() / logs.len() as f64;
        let sigma = (logs.iter().map(|log| (log - log_mean).powi(2)).sum::<f64>()
            / logs.len() as f64)
            .sqrt();
        assert!((mean - 6.0).abs() < 0.2, "mean {mean}");
        assert!((sigma - 0.8).abs() < 0.02, "sigma {sigma}");
    }

    #[test]
    fn pages_change_as_often_as_their_rate_says() {
        let world = World::new(WorldConfig { change_sigma: 0.5, ..WorldConfig::default() });
        let (from, days) = (world.config().origin_ms, 30);
        let pages = (0..1_000).map(|n| PageId::first(n / 50, n % 50));
        let (mut seen, mut expected) = (0.0, 0.0);
        for page in pages {
            seen += world.changes_between(page, from, from + days * 86_400_000).len() as f64;
            expected += world.rate_per_day(page) * days as f64;
        }
        // Four standard deviations of a Poisson count near 30,000.
        assert!(
            (seen - expected).abs() < 4.0 * expected.sqrt(),
            "{seen} changes, {expected} expected"
        );
    }
}
