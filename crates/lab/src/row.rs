//! What does a run yield? One of these, one JSON object a line.

use serde::{Deserialize, Serialize};

/// The score of one policy in one world at one budget from one seed.
///
/// A change counts once a page and week. Freshness and age are exact means over all moments of all
/// live pages in the scored window; a page is live from its birth to its death, known or not.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The world.
    pub world: String,
    /// The policy.
    pub policy: String,
    /// The budget, as it was written.
    pub budget: String,
    /// What the policy was told to aim at.
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
    /// `detected` over `changes`.
    pub coverage: f64,
    /// The low end of its 95 % interval, by bootstrap over pages.
    pub coverage_low: f64,
    /// The high end of it.
    pub coverage_high: f64,
    /// `finds` over `fetches`.
    pub update_rate: f64,
    /// The low end of its 95 % interval, by bootstrap over pages.
    pub update_rate_low: f64,
    /// The high end of it.
    pub update_rate_high: f64,
    /// The share of copies that are current.
    pub freshness: f64,
    /// The low end of its 95 % interval, by bootstrap over pages.
    pub freshness_low: f64,
    /// The high end of it.
    pub freshness_high: f64,
    /// The share of worth that is current.
    pub freshness_weighted: f64,
    /// The low end of its 95 % interval, by bootstrap over pages.
    pub freshness_weighted_low: f64,
    /// The high end of it.
    pub freshness_weighted_high: f64,
    /// Days since the first change that was not fetched; 0 while a copy is current.
    pub age: f64,
    /// The low end of its 95 % interval, by bootstrap over pages.
    pub age_low: f64,
    /// The high end of it.
    pub age_high: f64,
    /// The same, pages counting by their worth.
    pub age_weighted: f64,
    /// The low end of its 95 % interval, by bootstrap over pages.
    pub age_weighted_low: f64,
    /// The high end of it.
    pub age_weighted_high: f64,
    /// Freshness over that of one who knows the true mean rates; null where that was not run.
    pub freshness_of_clairvoyant: Option<f64>,
    /// Freshness over that of one who knows all that is to come; null where that was not run.
    pub freshness_of_oracle: Option<f64>,
    /// Week by week.
    pub weeks: Vec<Week>,
    /// Host by host; none where there are too many to list.
    pub hosts: Vec<Part>,
    /// By how often pages change.
    pub classes: Vec<Part>,
    /// The version of the program.
    pub version: String,
    /// Processor time of the run. This and the next depend on the machine; all else on the seed.
    pub cpu_seconds: f64,
    /// The most memory that the process held so far.
    pub peak_rss_bytes: u64,
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
pub struct Part {
    /// What it is called.
    pub name: String,
    /// As in [`Row`], for this part.
    pub pages: u64,
    /// What came of it.
    #[serde(flatten)]
    pub tallied: Tallied,
}

/// What came of a week, or of a part of the world. All is as in [`Row`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)] // as in `Row`
pub struct Tallied {
    pub freshness: f64,
    pub freshness_weighted: f64,
    pub age: f64,
    pub age_weighted: f64,
    pub coverage: f64,
    pub update_rate: f64,
    pub fetches: u64,
    pub wasted: u64,
    pub cost: f64,
    pub detected: u64,
    pub changes: u64,
}

impl Tallied {
    /// Freshness of pages, or of what they are worth.
    pub(crate) fn fresh(&self, weighted: bool) -> f64 {
        if weighted { self.freshness_weighted } else { self.freshness }
    }

    /// All numbers, in the order in which they are declared.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = f64> {
        let scores = [self.freshness, self.freshness_weighted, self.age, self.age_weighted];
        let found = [self.coverage, self.update_rate, self.fetches as f64, self.wasted as f64];
        let counts = [self.cost, self.detected as f64, self.changes as f64];
        scores.into_iter().chain(found).chain(counts)
    }
}
