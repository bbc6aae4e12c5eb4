//! What does a run yield? One of these, one JSON object a line.

use serde::{Deserialize, Serialize};

use crate::measure::{MeanWithError, ScoreMeasure};

/// The score of one policy in one world at one budget from one seed.
///
/// A change counts once a page and week. Freshness and age are exact means over all moments of all
/// live pages in the scored window; a page is live from its birth to its death, known or not.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ResultRow {
    /// The world.
    pub world: String,
    /// The policy.
    pub policy: String,
    /// The budget, as it was written.
    pub budget: String,
    /// The goal that the policy was given.
    pub goal: String,
    /// Where random draws started from.
    pub seed: u64,
    /// Pages that lived in the scored window.
    pub pages: u64,
    /// Fetches in the scored window, failed ones with the others.
    pub fetches: u64,
    /// What they cost.
    pub cost: f64,
    /// All changes there were.
    pub edits: u64,
    /// Page-weeks in which there was one, or the page went.
    pub changes: u64,
    /// Page-weeks in which a fetch found one.
    pub detected: u64,
    /// Fetches that found a change.
    pub finds: u64,
    /// Fetches that did not.
    pub wasted: u64,
    /// What came of it, each with its interval by bootstrap over pages.
    #[serde(flatten)]
    pub scores: RowScores,
    /// Fresh worth over that of one who knows the true mean rates; null where that was not run. Where all
    /// pages are worth alike, that is freshness itself.
    pub freshness_of_clairvoyant: Option<f64>,
    /// The low end of its 95 % interval, by bootstrap over the pages that both had; null where that cannot be
    /// told.
    pub freshness_of_clairvoyant_low: Option<f32>,
    /// The high end.
    pub freshness_of_clairvoyant_high: Option<f32>,
    /// Fresh worth over that of one who knows all that is to come; null where that was not run.
    pub freshness_of_oracle: Option<f64>,
    /// As for the clairvoyant.
    pub freshness_of_oracle_low: Option<f32>,
    /// The high end.
    pub freshness_of_oracle_high: Option<f32>,
    /// Week by week.
    pub weeks: Vec<Week>,
    /// Host by host; none where there are too many to list.
    pub hosts: Vec<PartScores>,
    /// By how often pages change.
    pub classes: Vec<PartScores>,
    /// The version of the program.
    pub version: String,
    /// Processor time of the run. This and the next depend on the machine; all else on the seed.
    pub cpu_seconds: f64,
    /// The peak memory of the process.
    pub peak_rss_bytes: u64,
}

impl ResultRow {
    /// The share of the score of the policy that knows the true mean rates.
    pub(crate) fn of_clairvoyant(&self) -> Option<MeanWithError> {
        let ends = (self.freshness_of_clairvoyant_low, self.freshness_of_clairvoyant_high);
        Some(MeanWithError { value: self.freshness_of_clairvoyant?, bounds: bounds(ends) })
    }

    /// The share of the score of the policy that knows all changes to come.
    pub(crate) fn of_oracle(&self) -> Option<MeanWithError> {
        let ends = (self.freshness_of_oracle_low, self.freshness_of_oracle_high);
        Some(MeanWithError { value: self.freshness_of_oracle?, bounds: bounds(ends) })
    }

    /// Sets the row in relation to the references that know the truth.
    pub(crate) fn beside(
        self,
        clairvoyant: Option<MeanWithError>,
        oracle: Option<MeanWithError>,
    ) -> Self {
        let (clairvoyant_low, clairvoyant_high) = ends(clairvoyant);
        let (oracle_low, oracle_high) = ends(oracle);
        ResultRow {
            freshness_of_clairvoyant: clairvoyant.map(|of| of.value),
            freshness_of_clairvoyant_low: clairvoyant_low,
            freshness_of_clairvoyant_high: clairvoyant_high,
            freshness_of_oracle: oracle.map(|of| of.value),
            freshness_of_oracle_low: oracle_low,
            freshness_of_oracle_high: oracle_high,
            ..self
        }
    }
}

/// One week of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Week {
    /// Counted from 0 at the start of the scored window.
    pub week: u32,
    /// What came of it.
    #[serde(flatten)]
    pub tallied: Tallied,
}

/// A part of a world: a host, or pages that change about as often as each other.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PartScores {
    /// What it is called.
    pub name: String,
    /// As in [`ResultRow`], for this part.
    pub pages: u64,
    /// What came of it.
    #[serde(flatten)]
    pub tallied: Tallied,
}

/// What came of a week, or of a part of the world. All is as in [`ResultRow`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)] // as in `Row`
pub struct Tallied {
    /// Each with its interval, by how much groups of pages differ.
    #[serde(flatten)]
    pub scores: RowScores,
    pub fetches: u64,
    pub wasted: u64,
    pub cost: f64,
    pub detected: u64,
    pub changes: u64,
}

impl Tallied {
    /// What was counted, in the order in which it is declared.
    pub(crate) fn counts(&self) -> [f64; 5] {
        let [fetches, wasted] = [self.fetches, self.wasted].map(|count| count as f64);
        let [detected, changes] = [self.detected, self.changes].map(|count| count as f64);
        [fetches, wasted, self.cost, detected, changes]
    }
}

/// The scores of a run or of a part of it, each between the ends of its 95 % interval. An end is null
/// where there are too few pages to tell, or none that counts. Seven digits are more than it is good for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)] // the ends of what stands before them
pub struct RowScores {
    /// The share of copies that are current.
    pub freshness: f64,
    pub freshness_low: Option<f32>,
    pub freshness_high: Option<f32>,
    /// The share of value that is current.
    pub freshness_weighted: f64,
    pub freshness_weighted_low: Option<f32>,
    pub freshness_weighted_high: Option<f32>,
    /// Days since the first change that was not fetched; 0 while a copy is current.
    pub age: f64,
    pub age_low: Option<f32>,
    pub age_high: Option<f32>,
    /// The same, weighted by the value of pages.
    pub age_weighted: f64,
    pub age_weighted_low: Option<f32>,
    pub age_weighted_high: Option<f32>,
    /// `detected` over `changes`.
    pub coverage: f64,
    pub coverage_low: Option<f32>,
    pub coverage_high: Option<f32>,
    /// Fetches that found a change over all fetches.
    pub update_rate: f64,
    pub update_rate_low: Option<f32>,
    pub update_rate_high: Option<f32>,
}

impl RowScores {
    /// Takes what `of` says of each measure.
    pub fn new(of: impl FnMut(ScoreMeasure) -> MeanWithError) -> Self {
        let [freshness, freshness_weighted, age, age_weighted, coverage, update_rate] =
            ScoreMeasure::ALL.map(of);
        let low = |of: MeanWithError| of.bounds.map(|(low, _)| low as f32);
        let high = |of: MeanWithError| of.bounds.map(|(_, high)| high as f32);
        RowScores {
            freshness: freshness.value,
            freshness_low: low(freshness),
            freshness_high: high(freshness),
            freshness_weighted: freshness_weighted.value,
            freshness_weighted_low: low(freshness_weighted),
            freshness_weighted_high: high(freshness_weighted),
            age: age.value,
            age_low: low(age),
            age_high: high(age),
            age_weighted: age_weighted.value,
            age_weighted_low: low(age_weighted),
            age_weighted_high: high(age_weighted),
            coverage: coverage.value,
            coverage_low: low(coverage),
            coverage_high: high(coverage),
            update_rate: update_rate.value,
            update_rate_low: low(update_rate),
            update_rate_high: high(update_rate),
        }
    }

    /// Whether pages differ in value, so that it matters which are fresh.
    pub fn go_by_worth(&self) -> bool {
        (self.freshness - self.freshness_weighted).abs() > 1e-9
    }

    /// What is said of a measure.
    pub(crate) fn of(&self, measure: ScoreMeasure) -> MeanWithError {
        let (value, low, high) = match measure {
            ScoreMeasure::Freshness => (self.freshness, self.freshness_low, self.freshness_high),
            ScoreMeasure::Weighted => {
                (self.freshness_weighted, self.freshness_weighted_low, self.freshness_weighted_high)
            }
            ScoreMeasure::Age => (self.age, self.age_low, self.age_high),
            ScoreMeasure::AgeWeighted => {
                (self.age_weighted, self.age_weighted_low, self.age_weighted_high)
            }
            ScoreMeasure::Coverage => (self.coverage, self.coverage_low, self.coverage_high),
            ScoreMeasure::UpdateRate => {
                (self.update_rate, self.update_rate_low, self.update_rate_high)
            }
        };
        MeanWithError { value, bounds: bounds((low, high)) }
    }
}

/// The ends of an interval as rows keep them.
fn ends(of: Option<MeanWithError>) -> (Option<f32>, Option<f32>) {
    of.and_then(|of| of.bounds).map(|(low, high)| (low as f32, high as f32)).unzip()
}

/// The interval between ends that rows keep.
fn bounds((low, high): (Option<f32>, Option<f32>)) -> Option<(f64, f64)> {
    low.zip(high).map(|(low, high)| (f64::from(low), f64::from(high)))
}
