//! What is the score of a policy in a world at a budget, over all its seeds?

use std::cmp::Ordering;

use crate::row::{Part, Row};
use crate::run::Budget;

/// From so many seeds on, the interval is that over seeds; with fewer, that over pages.
const SEEDS_FOR_INTERVAL: usize = 3;

/// The 97.5 % quantiles of Student's distribution with 2, 3, ... degrees of freedom.
const STUDENT: [f64; 9] = [4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228];

/// The rows of one policy in one world at one budget: one a seed, at least one.
#[derive(Clone, Debug)]
pub struct Line<'a> {
    pub(super) rows: Vec<&'a Row>,
}

impl<'a> Line<'a> {
    /// Whether `row` differs in its seed only.
    pub(super) fn holds(&self, row: &Row) -> bool {
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
        let budget = self.budget().parse::<Budget>();
        budget.map_or(f64::NAN, |budget| 100.0 * budget.over(7.0, pages as usize) / pages as f64)
    }

    /// The mean over seeds.
    pub fn mean(&self, of: impl Fn(&Row) -> f64) -> f64 {
        self.rows.iter().map(|row| of(row)).sum::<f64>() / self.rows.len() as f64
    }

    /// The mean over seeds; `None` where a seed has none.
    pub(super) fn mean_of_some(&self, of: impl Fn(&Row) -> Option<f64>) -> Option<f64> {
        let all: Option<Vec<f64>> = self.rows.iter().map(|row| of(row)).collect();
        all.map(|all| all.iter().sum::<f64>() / all.len() as f64)
    }

    /// The 95 % interval of a measure: over seeds where there are some, else over pages.
    pub(crate) fn interval(&self, measure: Measure) -> (f64, f64) {
        let seeds = self.rows.len();
        if seeds < SEEDS_FOR_INTERVAL {
            return (
                self.mean(|row| measure.bounds(row).0),
                self.mean(|row| measure.bounds(row).1),
            );
        }
        let mean = self.mean(|row| measure.of(row));
        let squares = self.mean(|row| (measure.of(row) - mean).powi(2)) * seeds as f64;
        let error = (squares / ((seeds - 1) * seeds) as f64).sqrt();
        let reach = error * STUDENT[(seeds - SEEDS_FOR_INTERVAL).min(STUDENT.len() - 1)];
        ((mean - reach).max(0.0), (mean + reach).min(measure.most()))
    }

    /// Freshness of a part of the world, over all seeds that have it.
    pub(super) fn part(
        &self,
        parts: fn(&Row) -> &[Part],
        name: &str,
        weighted: bool,
    ) -> Option<f64> {
        let found = self.rows.iter().filter_map(|r| parts(r).iter().find(|p| p.name == name));
        let fresh = |part: &Part| part.tallied.fresh(weighted);
        let all: Vec<f64> = found.filter(|part| part.pages > 0).map(fresh).collect();
        (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64)
    }

    /// Freshness in every week.
    pub(super) fn weeks(&self, weighted: bool) -> Vec<(f64, f64)> {
        let count = self.rows.iter().map(|row| row.weeks.len()).min().unwrap_or(0);
        let fresh = |row: &Row, week: usize| row.weeks[week].tallied.fresh(weighted);
        (0..count).map(|w| (w as f64 + 0.5, self.mean(|row| fresh(row, w)))).collect()
    }
}

/// A number by which policies are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measure {
    Freshness,
    /// Pages counting by their worth: what policies aim at. The same where all are worth as much.
    Weighted,
    Coverage,
    UpdateRate,
    Age,
    AgeWeighted,
}

impl Measure {
    /// What a goal is measured by.
    pub(super) fn of_goal(goal: &str) -> Self {
        match goal {
            "coverage" => Measure::Coverage,
            "age" => Measure::Age,
            _ => Measure::Weighted,
        }
    }

    pub(crate) fn of(self, row: &Row) -> f64 {
        match self {
            Measure::Freshness => row.freshness,
            Measure::Weighted => row.freshness_weighted,
            Measure::Coverage => row.coverage,
            Measure::UpdateRate => row.update_rate,
            Measure::Age => row.age,
            Measure::AgeWeighted => row.age_weighted,
        }
    }

    /// The ends of its 95 % interval, by bootstrap over pages.
    fn bounds(self, row: &Row) -> (f64, f64) {
        match self {
            Measure::Freshness => (row.freshness_low, row.freshness_high),
            Measure::Weighted => (row.freshness_weighted_low, row.freshness_weighted_high),
            Measure::Coverage => (row.coverage_low, row.coverage_high),
            Measure::UpdateRate => (row.update_rate_low, row.update_rate_high),
            Measure::Age => (row.age_low, row.age_high),
            Measure::AgeWeighted => (row.age_weighted_low, row.age_weighted_high),
        }
    }

    fn is_a_time(self) -> bool {
        matches!(self, Measure::Age | Measure::AgeWeighted)
    }

    /// No value is larger.
    fn most(self) -> f64 {
        if self.is_a_time() { f64::INFINITY } else { 1.0 }
    }

    /// What it is multiplied by to be shown: shares in per cent, times in days.
    fn factor(self) -> f64 {
        if self.is_a_time() { 1.0 } else { 100.0 }
    }

    /// As people are shown it: shares in per cent, times in days.
    pub(crate) fn mean(self, line: &Line<'_>) -> f64 {
        self.factor() * line.mean(|row| self.of(row))
    }

    /// Half of its 95 % interval, in the same unit.
    pub(super) fn reach(self, line: &Line<'_>) -> f64 {
        let (low, high) = line.interval(self);
        self.factor() * (high - low) / 2.0
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Measure::Freshness => "freshness",
            Measure::Weighted => "weighted freshness",
            Measure::Coverage => "coverage",
            Measure::UpdateRate => "update rate",
            Measure::Age => "age",
            Measure::AgeWeighted => "weighted age",
        }
    }

    pub(crate) fn unit(self) -> &'static str {
        if self.is_a_time() { "days" } else { "%" }
    }

    /// How many decimal places are shown.
    pub(super) fn digits(self) -> usize {
        if self.is_a_time() { 2 } else { 1 }
    }

    pub(super) fn best_first(self, a: f64, b: f64) -> Ordering {
        if self.is_a_time() { a.total_cmp(&b) } else { b.total_cmp(&a) }
    }

    /// Where one stands that was not measured.
    pub(super) fn worst(self) -> f64 {
        if self.is_a_time() { f64::INFINITY } else { f64::NEG_INFINITY }
    }

    /// How much better `a` is than `b`.
    pub(super) fn lead(self, a: f64, b: f64) -> f64 {
        if self.is_a_time() { b - a } else { a - b }
    }

    /// Whether two are the same as far as they are shown.
    pub(super) fn same(self, a: f64, b: f64) -> bool {
        let digits = self.digits();
        format!("{a:.digits$}") == format!("{b:.digits$}")
    }
}
