//! What is the score of a policy in a world at a budget, over all its seeds?

use crate::measure::{MeanWithError, ScoreMeasure, student};
use crate::row::{PartScores, ResultRow, RowScores};
use crate::run::FetchBudget;

/// From so many seeds on, the interval is that over seeds; with fewer, that over pages.
const SEEDS_FOR_INTERVAL: usize = 3;

/// The rows of one policy in one world at one budget: one a seed, at least one.
#[derive(Clone, Debug)]
pub struct SummaryLine<'a> {
    pub(super) rows: Vec<&'a ResultRow>,
}

impl<'a> SummaryLine<'a> {
    /// Whether `row` differs in its seed only.
    pub(super) fn holds(&self, row: &ResultRow) -> bool {
        (self.world(), self.budget(), self.policy()) == (&row.world, &row.budget, &row.policy)
    }

    /// The world.
    pub fn world(&self) -> &'a str {
        &self.rows[0].world
    }

    /// The budget, as it was written.
    pub fn budget(&self) -> &'a str {
        &self.rows[0].budget
    }

    /// The policy.
    pub fn policy(&self) -> &'a str {
        &self.rows[0].policy
    }

    /// The budget as fetches a week for a hundred pages.
    pub(super) fn size(&self) -> f64 {
        let pages = self.rows[0].pages.max(1);
        let budget = self.budget().parse::<FetchBudget>();
        budget.map_or(f64::NAN, |budget| 100.0 * budget.over(7.0, pages as usize) / pages as f64)
    }

    /// The mean over seeds.
    pub fn mean(&self, of: impl Fn(&ResultRow) -> f64) -> f64 {
        self.rows.iter().map(|row| of(row)).sum::<f64>() / self.rows.len() as f64
    }

    /// The mean of a measure, as people are shown it: shares in per cent, times in days.
    pub(super) fn mean_of(&self, measure: ScoreMeasure) -> f64 {
        self.of(measure).shown(measure).value
    }

    /// A measure of the whole run.
    pub(crate) fn of(&self, measure: ScoreMeasure) -> MeanWithError {
        self.measured(measure, |row| Some(&row.scores)).unwrap_or(NOTHING)
    }

    /// What it reached of one who knows more, which not every run was compared with. There is no most: by
    /// chance, and on other pages, it may be more than all.
    pub(super) fn beside(&self, of: fn(&ResultRow) -> Option<MeanWithError>) -> MeanWithError {
        self.over_seeds(f64::INFINITY, of).unwrap_or(NOTHING)
    }

    /// A measure of a part of the world.
    pub(super) fn part(
        &self,
        measure: ScoreMeasure,
        parts: fn(&ResultRow) -> &[PartScores],
        name: &str,
    ) -> Option<MeanWithError> {
        let found = |row: &'a ResultRow| parts(row).iter().find(|part| part.name == name);
        let lived = |row: &'a ResultRow| found(row).filter(|part| part.pages > 0);
        self.measured(measure, |row| lived(row).map(|part| &part.tallied.scores))
    }

    /// A measure in every week.
    pub(super) fn weeks(&self, measure: ScoreMeasure) -> Vec<MeanWithError> {
        let count = self.rows.iter().map(|row| row.weeks.len()).min().unwrap_or(0);
        let scores = |row: &'a ResultRow, week: usize| Some(&row.weeks[week].tallied.scores);
        let week = |week: usize| self.measured(measure, |row| scores(row, week));
        (0..count).filter_map(week).collect()
    }

    fn measured(
        &self,
        measure: ScoreMeasure,
        of: impl Fn(&'a ResultRow) -> Option<&'a RowScores>,
    ) -> Option<MeanWithError> {
        self.over_seeds(measure.most(), |row| of(row).map(|scores| scores.of(measure)))
    }

    /// The mean over all seeds that have it, and its 95 % interval: over seeds where there are some, else over
    /// pages.
    fn over_seeds(
        &self,
        most: f64,
        of: impl Fn(&'a ResultRow) -> Option<MeanWithError>,
    ) -> Option<MeanWithError> {
        let all: Vec<MeanWithError> = self.rows.iter().filter_map(|row| of(row)).collect();
        let value = mean(all.iter().map(|of| of.value))?;
        if all.len() >= SEEDS_FOR_INTERVAL {
            let spread = reach(all.iter().map(|of| of.value), value);
            return Some(MeanWithError::around(value, spread, most));
        }
        let ends =
            |end: fn((f64, f64)) -> f64| mean(all.iter().filter_map(|of| of.bounds).map(end));
        Some(MeanWithError { value, bounds: ends(|ends| ends.0).zip(ends(|ends| ends.1)) })
    }
}

/// The values of a line without rows.
const NOTHING: MeanWithError = MeanWithError { value: f64::NAN, bounds: None };

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

/// How far the mean of values may be off, by their spread.
fn reach(values: impl ExactSizeIterator<Item = f64>, mean: f64) -> Option<f64> {
    let count = values.len();
    let squares: f64 = values.map(|value| (value - mean).powi(2)).sum();
    Some(student(count)? * (squares / ((count - 1) * count) as f64).sqrt())
}
