//! How might a run have ended with other pages, and how does that compare with another run on the same pages?

use evercrawl_policy::SplitMix64;
use serde::{Deserialize, Serialize};

use super::tally::ScoreSums;
use crate::measure::{MeanWithError, ScoreMeasure};
use crate::row::RowScores;

const RESAMPLES: usize = 1000;

/// Worlds resampled from the same blocks of pages, with replacement.
pub(super) struct Resamples(Vec<ScoreSums>);

impl Resamples {
    /// Every run of as many blocks from the same seed draws the same ones, so that runs can be compared
    /// draw by draw.
    pub(super) fn new(blocks: &[ScoreSums], seed: u64) -> Self {
        let mut random = SplitMix64::new(seed);
        let mut drawn = || {
            let draw = |sum: ScoreSums, _| sum.plus(&blocks[random.below(blocks.len())]);
            blocks.iter().fold(ScoreSums::default(), draw)
        };
        let wanted = if blocks.len() > 1 { RESAMPLES } else { 0 };
        Resamples((0..wanted).map(|_| drawn()).collect())
    }

    /// The scores of `all`, each with the middle 95 % of those of the resampled worlds.
    pub(super) fn scores(&self, all: &ScoreSums) -> RowScores {
        RowScores::new(|measure| MeanWithError {
            value: all.value(measure),
            bounds: middle(self.values(measure).collect()),
        })
    }

    /// What is kept of a resampled world.
    pub(super) fn fresh(&self) -> ResampledScores {
        ResampledScores(self.values(ScoreMeasure::Weighted).map(|value| value as f32).collect())
    }

    fn values(&self, measure: ScoreMeasure) -> impl Iterator<Item = f64> {
        self.0.iter().map(move |tally| tally.value(measure))
    }
}

/// The fresh value in each of the resampled worlds: all that is needed to compare runs by it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ResampledScores(Vec<f32>);

impl ResampledScores {
    /// The ends of the middle 95 % of what this run reached of another's in the same drawn world. What chance
    /// does to both alike does nothing to that. `None` where nobody can tell.
    pub(super) fn over(&self, other: &ResampledScores) -> Option<(f64, f64)> {
        let pairs = self.0.iter().zip(&other.0);
        middle(pairs.map(|(own, best)| f64::from(*own) / f64::from(*best)).collect())
    }
}

/// The ends of the middle 95 %; `None` if there are no values, or some are NaN.
fn middle(mut values: Vec<f64>) -> Option<(f64, f64)> {
    let tail = values.len() / 40;
    let last = values.len().checked_sub(1 + tail)?;
    let told = values.iter().all(|value| value.is_finite());
    let mut ranked = |rank: usize| *values.select_nth_unstable_by(rank, f64::total_cmp).1;
    told.then(|| (ranked(tail), ranked(last)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGES: usize = 80;

    /// The same pages as two policies had them: one has kept each fresh for a time from 0 to 1, the other for
    /// 0.8 of that, give or take a tenth.
    fn two_runs(seed: u64) -> [ResampledScores; 2] {
        let mut random = SplitMix64::new(seed);
        let mut runs = [[ScoreSums::default(); PAGES]; 2];
        for page in 0..PAGES {
            let best = random.uniform();
            for (run, fresh) in runs.iter_mut().zip([best * (0.7 + 0.2 * random.uniform()), best]) {
                run[page].add(|sums| &mut sums.live, 1.0, 1.0);
                run[page].add(|sums| &mut sums.fresh, fresh, 1.0);
            }
        }
        runs.map(|blocks| Resamples::new(&blocks, seed).fresh())
    }

    /// Drawn apart for each of the two, nearly every interval would hold it.
    #[test]
    fn nineteen_of_twenty_intervals_hold_the_true_ratio() {
        let holds = |seed: &u64| {
            let [own, best] = two_runs(*seed);
            let (low, high) = own.over(&best).unwrap();
            (low..=high).contains(&0.8)
        };
        let share = (0..1000).filter(holds).count() as f64 / 1000.0;
        assert!((0.93..=0.97).contains(&share), "{share}");
    }

    #[test]
    fn what_chance_does_to_both_alike_does_nothing_to_their_ratio() {
        let [own, best] = two_runs(1);
        let (low, high) = own.over(&best).unwrap();
        assert!(high - low < 0.03, "{low} to {high}");
        assert_eq!(best.over(&best), Some((1.0, 1.0)));
    }

    #[test]
    fn beside_nothing_and_by_one_page_nobody_can_tell() {
        let [own, _] = two_runs(1);
        let nothing = Resamples::new(&[ScoreSums::default(); PAGES], 1).fresh();
        assert_eq!(own.over(&nothing), None);
        let one = Resamples::new(&[ScoreSums::default()], 1);
        assert_eq!(one.fresh().over(&one.fresh()), None);
        assert_eq!(one.scores(&ScoreSums::default()).freshness_low, None);
    }
}
