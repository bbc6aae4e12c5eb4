//! What does a judge know of a world that no crawler does?

use std::sync::OnceLock;

use evercrawl_policy::{ChangeTimes, Days};

use crate::world::LabWorld;

/// What is computed about a world once, for all runs in it.
pub struct PageClassifier {
    classes: Vec<RateClass>,
    /// When pages go, ascending.
    deaths: Vec<Days>,
    rates: OnceLock<Vec<f64>>,
    changes: OnceLock<ChangeTimes>,
}

/// How often a page changes, relative to the other pages of its world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RateClass {
    Never,
    Slow,
    Medium,
    Fast,
}

impl RateClass {
    pub(crate) const ALL: [RateClass; 4] =
        [RateClass::Never, RateClass::Slow, RateClass::Medium, RateClass::Fast];

    /// What it is called in tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            RateClass::Never => "never",
            RateClass::Slow => "slow",
            RateClass::Medium => "medium",
            RateClass::Fast => "fast",
        }
    }
}

impl PageClassifier {
    /// Knows all of `world`.
    pub fn new(world: &LabWorld) -> Self {
        let dying = world.pages.iter().map(|page| page.dies).filter(|dies| dies.is_finite());
        let mut deaths: Vec<Days> = dying.collect();
        deaths.sort_by(f64::total_cmp);
        let numbers = 0..world.pages.len() as u32;
        let rates = numbers.map(|page| rate(world, page) as f32).collect();
        let classes = classes(rates);
        PageClassifier { classes, deaths, rates: OnceLock::new(), changes: OnceLock::new() }
    }

    pub(crate) fn class(&self, page: u32) -> RateClass {
        self.classes[page as usize]
    }

    /// How many pages live at `now`.
    pub(crate) fn live(&self, world: &LabWorld, now: Days) -> usize {
        let born = world.pages.partition_point(|page| page.born <= now);
        born.saturating_sub(self.deaths.partition_point(|dies| *dies <= now))
    }

    /// How often each page changes during the crawl.
    pub(crate) fn rates(&self, world: &LabWorld) -> &[f64] {
        let numbers = || 0..world.pages.len() as u32;
        self.rates.get_or_init(|| numbers().map(|page| rate(world, page)).collect())
    }

    /// All changes up to the end, and when each page's story ends.
    pub(crate) fn changes(&self, world: &LabWorld) -> &ChangeTimes {
        self.changes.get_or_init(|| {
            let changes = world.truth.all(world.pages.len() as u32, world.span.to);
            changes.with_ends(world.pages.iter().map(|page| page.dies.min(world.span.to)).collect())
        })
    }
}

/// The mean rate over what the crawl sees of a page's life, the time before the scored window with the
/// rest: what changed last before it would be given up otherwise.
fn rate(world: &LabWorld, page: u32) -> f64 {
    let fact = &world.pages[page as usize];
    let (from, to) = (fact.born.max(world.span.begin), fact.dies.min(world.span.to));
    if from < to { world.truth.rate(page, from, to) } else { 0.0 }
}

/// Those that never change, and the others in thirds.
fn classes(rates: Vec<f32>) -> Vec<RateClass> {
    let mut sorted: Vec<f32> = rates.iter().copied().filter(|&rate| rate > 0.0).collect();
    sorted.sort_unstable_by(f32::total_cmp);
    let bound = |third: usize| sorted.get(third * sorted.len() / 3).copied().unwrap_or(0.0);
    let (medium, fast) = (bound(1), bound(2));
    let class = |rate: f32| match rate {
        rate if rate <= 0.0 => RateClass::Never,
        rate if rate < medium => RateClass::Slow,
        rate if rate < fast => RateClass::Medium,
        _ => RateClass::Fast,
    };
    // Made where the rates stood, they would keep four times the room.
    let mut classes: Vec<RateClass> = rates.into_iter().map(class).collect();
    classes.shrink_to_fit();
    classes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::listed;
    use crate::world::PageFact;

    #[test]
    fn all_that_is_to_come_is_known_the_end_of_each_page_too() {
        let dying = PageFact { dies: 6.0, ..PageFact::PLAIN };
        let world = listed(vec![dying, PageFact::PLAIN], &[(0, 2.0), (1, 9.5)], 10.0);
        let judge = PageClassifier::new(&world);
        let changes = judge.changes(&world);
        assert_eq!((changes.end(0), changes.end(1)), (6.0, 10.0));
        assert_eq!((changes.next_change(0, 2.0), changes.next_change(1, 0.0)), (None, Some(9.5)));
    }

    #[test]
    fn pages_that_change_are_cut_in_thirds() {
        let rates = vec![0.0, 3.0, 1.0, 2.0, 6.0, 5.0, 4.0];
        use RateClass::{Fast, Medium, Never, Slow};
        assert_eq!(classes(rates), [Never, Medium, Slow, Slow, Fast, Fast, Medium]);
        assert_eq!(classes(vec![0.0]), [Never]);
    }
}
