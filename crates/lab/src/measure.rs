//! By which numbers are policies compared?

use std::cmp::Ordering;

/// A number by which policies are compared. Each is a ratio of two sums over pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScoreMeasure {
    Freshness,
    /// Weighted by the value of pages, as policies optimise. The same if all pages have the same value.
    Weighted,
    Age,
    AgeWeighted,
    Coverage,
    UpdateRate,
}

impl ScoreMeasure {
    /// All of them, in the order in which files list them.
    pub(crate) const ALL: [ScoreMeasure; 6] = [
        ScoreMeasure::Freshness,
        ScoreMeasure::Weighted,
        ScoreMeasure::Age,
        ScoreMeasure::AgeWeighted,
        ScoreMeasure::Coverage,
        ScoreMeasure::UpdateRate,
    ];

    /// The measure of a goal: as policies optimise it, weighted by value where that can differ.
    pub(crate) fn of_goal(goal: &str) -> Self {
        match goal {
            "coverage" => ScoreMeasure::Coverage,
            "age" => ScoreMeasure::AgeWeighted,
            _ => ScoreMeasure::Weighted,
        }
    }

    /// The same with all pages counting alike.
    pub(crate) fn plain(self) -> Self {
        match self {
            ScoreMeasure::Weighted => ScoreMeasure::Freshness,
            ScoreMeasure::AgeWeighted => ScoreMeasure::Age,
            other => other,
        }
    }

    pub(crate) fn is_a_time(self) -> bool {
        matches!(self, ScoreMeasure::Age | ScoreMeasure::AgeWeighted)
    }

    /// Whether it is a share of counted things, which may be none or all by chance.
    pub(crate) fn is_counted(self) -> bool {
        matches!(self, ScoreMeasure::Coverage | ScoreMeasure::UpdateRate)
    }

    /// No value is larger.
    pub(crate) fn most(self) -> f64 {
        if self.is_a_time() { f64::INFINITY } else { 1.0 }
    }

    /// What it is multiplied by to be shown: shares in per cent, times in days.
    pub(crate) fn factor(self) -> f64 {
        if self.is_a_time() { 1.0 } else { 100.0 }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            ScoreMeasure::Freshness => "freshness",
            ScoreMeasure::Weighted => "weighted freshness",
            ScoreMeasure::Coverage => "coverage",
            ScoreMeasure::UpdateRate => "update rate",
            ScoreMeasure::Age => "age",
            ScoreMeasure::AgeWeighted => "weighted age",
        }
    }

    /// What its column is called in a file.
    pub(crate) fn column(self) -> &'static str {
        match self {
            ScoreMeasure::Freshness => "freshness",
            ScoreMeasure::Weighted => "freshness_weighted",
            ScoreMeasure::Age => "age_days",
            ScoreMeasure::AgeWeighted => "age_weighted_days",
            ScoreMeasure::Coverage => "coverage",
            ScoreMeasure::UpdateRate => "update_rate",
        }
    }

    pub(crate) fn unit(self) -> &'static str {
        if self.is_a_time() { "days" } else { "%" }
    }

    /// How many decimal places are shown.
    pub(crate) fn digits(self) -> usize {
        if self.is_a_time() { 2 } else { 1 }
    }

    pub(crate) fn best_first(self, a: f64, b: f64) -> Ordering {
        if self.is_a_time() { a.total_cmp(&b) } else { b.total_cmp(&a) }
    }

    /// Where one stands that was not measured.
    pub(crate) fn worst(self) -> f64 {
        if self.is_a_time() { f64::INFINITY } else { f64::NEG_INFINITY }
    }

    /// How much better `a` is than `b`.
    pub(crate) fn lead(self, a: f64, b: f64) -> f64 {
        if self.is_a_time() { b - a } else { a - b }
    }

    /// Whether two are the same as far as they are shown.
    pub(crate) fn same(self, a: f64, b: f64) -> bool {
        let digits = self.digits();
        format!("{a:.digits$}") == format!("{b:.digits$}")
    }
}

/// A measured value, and its 95 % interval if there are enough samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanWithError {
    pub(crate) value: f64,
    pub(crate) bounds: Option<(f64, f64)>,
}

impl MeanWithError {
    /// The interval that reaches as far to both sides, but not below nothing nor above the most there can be.
    pub(crate) fn around(value: f64, reach: Option<f64>, most: f64) -> Self {
        let bounds = |reach: f64| ((value - reach).max(0.0), (value + reach).min(most));
        MeanWithError { value, bounds: reach.map(bounds) }
    }

    /// As people are shown it: shares in per cent, times in days.
    pub(crate) fn shown(self, measure: ScoreMeasure) -> Self {
        let factor = measure.factor();
        let bounds = self.bounds.map(|(low, high)| (factor * low, factor * high));
        MeanWithError { value: factor * self.value, bounds }
    }

    /// Half of the interval; NaN if there is none.
    pub(crate) fn reach(self) -> f64 {
        self.bounds.map_or(f64::NAN, |(low, high)| (high - low) / 2.0)
    }
}

/// The 97.5 % quantiles of Student's distribution with 1, 2, ... degrees of freedom.
const STUDENT: [f64; 10] = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228];

/// By how many standard errors a mean of `count` values may be off in 95 of 100 cases; `None` if they
/// are too few to tell their spread.
pub(crate) fn student(count: usize) -> Option<f64> {
    let free = count.checked_sub(2)?;
    let more = (free + 1) as f64;
    Some(STUDENT.get(free).copied().unwrap_or(1.96 + 2.37 / more + 2.8 / (more * more)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        assert_eq!((student(0), student(1), student(2)), (None, None, Some(12.706)));
        for (count, quantile) in [(11, 2.228), (12, 2.201), (21, 2.086), (61, 2.0), (1001, 1.962)] {
            let found = student(count).unwrap();
            assert!((found - quantile).abs() < 0.004, "{count}: {found}, not {quantile}");
        }
    }

    #[test]
    fn an_interval_ends_where_the_measure_does() {
        let bounds = |m: ScoreMeasure| MeanWithError::around(0.9, Some(0.95), m.most()).bounds;
        assert_eq!(bounds(ScoreMeasure::Coverage), Some((0.0, 1.0)));
        assert_eq!(bounds(ScoreMeasure::Age), Some((0.0, 1.85)));
    }
}
