//! What is counted about some pages, and how far may chance have moved the scores made of it?

use crate::measure::{MeanWithError, ScoreMeasure, student};
use crate::row::{RowScores, Tallied};

/// Pages of each part are counted in so many groups, to see how much chance matters: in groups that
/// have nothing in common, as no pattern in the order of pages is as long as a prime of this size.
const GROUPS: usize = 61;

/// Sums over some pages and some time.
#[derive(Clone, Copy, Default)]
pub(super) struct ScoreSums {
    plain: Sums,
    /// Weighted by the value of pages.
    weighted: Sums,
    pub(super) cost: f64,
    pub(super) pages: u64,
    pub(super) fetches: u64,
    pub(super) finds: u64,
    pub(super) changes: u64,
    pub(super) detected: u64,
}

/// Time that pages lived, that their copies were current, and the integral of their age.
#[derive(Clone, Copy, Default)]
pub(super) struct Sums {
    pub(super) live: f64,
    pub(super) fresh: f64,
    pub(super) age: f64,
}

impl ScoreSums {
    pub(super) fn plus(self, other: &ScoreSums) -> ScoreSums {
        ScoreSums {
            plain: self.plain.plus(&other.plain),
            weighted: self.weighted.plus(&other.weighted),
            cost: self.cost + other.cost,
            pages: self.pages + other.pages,
            fetches: self.fetches + other.fetches,
            finds: self.finds + other.finds,
            changes: self.changes + other.changes,
            detected: self.detected + other.detected,
        }
    }

    /// Adds so much to the sum that `which` names, and as much as the page's worth makes of it where that counts.
    pub(super) fn add(&mut self, which: impl Fn(&mut Sums) -> &mut f64, much: f64, weight: f64) {
        *which(&mut self.plain) += much;
        *which(&mut self.weighted) += weight * much;
    }

    /// The two sums that a measure is the ratio of.
    fn sums(&self, measure: ScoreMeasure) -> (f64, f64) {
        match measure {
            ScoreMeasure::Freshness => (self.plain.fresh, self.plain.live),
            ScoreMeasure::Weighted => (self.weighted.fresh, self.weighted.live),
            ScoreMeasure::Age => (self.plain.age, self.plain.live),
            ScoreMeasure::AgeWeighted => (self.weighted.age, self.weighted.live),
            ScoreMeasure::Coverage => (self.detected as f64, self.changes as f64),
            ScoreMeasure::UpdateRate => (self.finds as f64, self.fetches as f64),
        }
    }

    /// A share of nothing is 0.
    pub(super) fn value(&self, measure: ScoreMeasure) -> f64 {
        let (part, whole) = self.sums(measure);
        if whole > 0.0 { part / whole } else { 0.0 }
    }
}

impl Sums {
    fn plus(self, other: &Sums) -> Sums {
        Sums {
            live: self.live + other.live,
            fresh: self.fresh + other.fresh,
            age: self.age + other.age,
        }
    }
}

/// Sums for some weeks, hosts or classes, separate for each group of pages.
pub(super) struct Parts {
    count: usize,
    /// All parts of the first group, then all of the second: a page goes through its weeks in order.
    tallies: Vec<ScoreSums>,
}

impl Parts {
    pub(super) fn new(count: usize) -> Self {
        Parts { count, tallies: vec![ScoreSums::default(); count * GROUPS] }
    }

    /// Sums for a page in each part.
    pub(super) fn of_page(&mut self, page: u32) -> &mut [ScoreSums] {
        let first = page as usize % GROUPS * self.count;
        &mut self.tallies[first..first + self.count]
    }

    /// The sum of each part.
    pub(super) fn sums(&self) -> impl Iterator<Item = ScoreSums> {
        (0..self.count).map(|part| self.groups(part).fold(ScoreSums::default(), ScoreSums::plus))
    }

    /// What came of each part.
    pub(super) fn tallied(&self) -> impl Iterator<Item = (ScoreSums, Tallied)> {
        self.sums().enumerate().map(|(part, sum)| {
            let tallied = Tallied {
                scores: RowScores::new(|measure| self.measured(part, &sum, measure)),
                fetches: sum.fetches,
                wasted: sum.fetches - sum.finds,
                cost: sum.cost,
                detected: sum.detected,
                changes: sum.changes,
            };
            (sum, tallied)
        })
    }

    fn groups(&self, part: usize) -> impl Iterator<Item = &ScoreSums> {
        self.tallies[part.min(self.tallies.len())..].iter().step_by(self.count.max(1))
    }

    /// The ratio of two sums, and how far it may be off: as a ratio of means over groups, by how far each
    /// group is from where the ratio puts it (Cochran, Sampling Techniques, 1977, chapter 6).
    fn measured(&self, part: usize, sum: &ScoreSums, measure: ScoreMeasure) -> MeanWithError {
        let (value, whole) = (sum.value(measure), sum.sums(measure).1);
        let (mut squares, mut count) = (0.0, 0);
        for (own, of) in self.groups(part).map(|group| group.sums(measure)) {
            if of > 0.0 {
                squares += (own - value * of).powi(2);
                count += 1;
            }
        }
        // Where none of a few changes was found, or all were, groups do not differ: that tells nothing.
        let tells = squares > 0.0 || !measure.is_counted();
        let reach = student(count).filter(|_| tells).map(|errors| {
            let n = f64::from(count as u32);
            errors * (squares * n / (n - 1.0)).sqrt() / whole
        });
        MeanWithError::around(value, reach, measure.most())
    }
}

#[cfg(test)]
mod tests {
    use evercrawl_policy::SplitMix64;

    use super::*;

    /// A part in which each of `pages` was current for a time drawn from 0 to 1.
    fn drawn(seed: u64, pages: u32) -> Parts {
        let mut random = SplitMix64::new(seed);
        let mut parts = Parts::new(2);
        for page in 0..pages {
            let part = &mut parts.of_page(page)[1];
            part.add(|sums| &mut sums.live, 1.0, 1.0);
            part.add(|sums| &mut sums.fresh, random.uniform(), 1.0);
        }
        parts
    }

    #[test]
    fn nineteen_of_twenty_intervals_hold_the_truth() {
        for pages in [5, 40, 3000] {
            let holds = |seed: &u64| {
                let (_, tallied) = drawn(*seed, pages).tallied().nth(1).unwrap();
                let bounds = tallied.scores.of(ScoreMeasure::Freshness).bounds.unwrap();
                (bounds.0..=bounds.1).contains(&0.5)
            };
            let share = (0..2000).filter(holds).count() as f64 / 2000.0;
            assert!((0.93..=0.97).contains(&share), "{pages} pages: {share}");
        }
    }

    #[test]
    fn where_one_page_or_none_counts_nobody_can_tell() {
        for pages in [0, 1] {
            let (_, tallied) = drawn(1, pages).tallied().nth(1).unwrap();
            assert_eq!(tallied.scores.of(ScoreMeasure::Freshness).bounds, None, "{pages}");
        }
    }

    #[test]
    fn that_nothing_was_found_does_not_mean_that_nothing_can_be() {
        let mut parts = Parts::new(1);
        let coverage = |parts: &Parts| {
            let (_, tallied) = parts.tallied().next().unwrap();
            tallied.scores.of(ScoreMeasure::Coverage)
        };
        let unknown = MeanWithError { value: 0.0, bounds: None };
        assert_eq!(coverage(&parts), unknown, "of nothing");
        (0..9).for_each(|page| parts.of_page(page)[0].changes = 1);
        assert_eq!(coverage(&parts), unknown, "none of nine");
        parts.of_page(4)[0].detected = 1;
        assert!(coverage(&parts).bounds.is_some(), "one of nine");
    }
}
