//! What does it look like? Curves of the policies that stand out, the others in grey.

use super::tables::capital;
use super::{RunSummary, marked};
use crate::measure::{MeanWithError, ScoreMeasure};
use evercrawl_draw::{Axis, Figure, FigureLine, Panel};

/// The most budgets shown side by side.
const MOST_PANELS: usize = 3;

/// About how many marks an axis has.
const TICKS: f64 = 6.0;

const BANDS: &str = " The bands are intervals of 95 %.";

impl<'a> RunSummary<'a> {
    /// Freshness and coverage against the budget in a world, or on the mean over all; `None` where
    /// there is one budget only.
    pub(super) fn by_budget_chart(&self, world: Option<&str>) -> Option<Figure> {
        let value = |budget: &str, policy: &str, measure: ScoreMeasure| match world {
            Some(world) => self.line(world, budget, policy).map(|line| line.of(measure)),
            None => self.measured_over_worlds(budget, policy, measure),
        };
        let sizes: Vec<f64> = self.budgets.iter().map(|b| self.size(world, b)).collect();
        let points = |policy: &str, measure: ScoreMeasure| -> Vec<(f64, MeanWithError)> {
            let values = self.budgets.iter().map(|budget| value(budget, policy, measure));
            sizes.iter().zip(values).filter_map(|(x, y)| Some((*x, y?))).collect()
        };
        let measures = self.shares();
        let panels: Vec<Panel> = measures
            .iter()
            .map(|&measure| {
                let drawn = FigureLine::dotted_curve;
                let lines = self.lines_of(measure, |policy| points(policy, measure), drawn);
                Panel { heading: measure.name().to_owned(), lines }
            })
            .collect();
        let verdict = |measure: &ScoreMeasure| match world {
            Some(world) => self.verdict(world, *measure),
            None => self.verdict_over_worlds(*measure),
        };
        let verdicts: Vec<String> = measures.iter().map(verdict).collect();
        let figure = Figure {
            title: match world {
                Some(world) => format!("{world}: freshness by budget"),
                None => format!("Mean over {} worlds: freshness by budget", self.worlds.len()),
            },
            description: format!("{}{BANDS}{}", verdicts.join(" "), self.grey()),
            x: log_axis("budget, fetches per week and 100 pages", &sizes),
            y: percent_axis(&panels),
            panels,
            rule: None,
        };
        (sizes.len() > 1).then_some(figure)
    }

    /// The curves week by week in a world, at a few budgets side by side.
    pub(super) fn weeks_chart(&self, world: &str) -> Figure {
        let measure = self.over_time();
        let panel = |budget: &'a str| {
            let weeks = |policy: &str| -> Vec<(f64, MeanWithError)> {
                let weeks = self.line(world, budget, policy).map(|line| line.weeks(measure));
                let middles = (0..).map(|week| f64::from(week) + 0.5);
                middles.zip(weeks.unwrap_or_default()).collect()
            };
            let lines = self.lines_of(measure, weeks, FigureLine::curve);
            Panel { heading: budget.to_owned(), lines }
        };
        let panels: Vec<Panel> = self.some_budgets().into_iter().map(panel).collect();
        let last = points(&panels).map(|(week, _)| week).fold(1.0, f64::max).ceil();
        let off = if measure.is_a_time() { "a rising one" } else { "a falling one" };
        Figure {
            title: format!("{world}: {} over time", measure.name()),
            description: format!(
                "{} in each week of the scored time: a level curve keeps up; {off} fell behind the changes.{BANDS}{}",
                capital(measure),
                self.grey()
            ),
            x: Axis::linear("week", &[0.0, 0.25, 0.5, 0.75, 1.0].map(|part| (part * last).round())),
            y: if measure.is_a_time() { days_axis(&panels) } else { percent_axis(&panels) },
            panels,
            rule: None,
        }
    }

    /// A curve for each policy: named, in colour and with its interval, or in grey.
    fn lines_of(
        &self,
        measure: ScoreMeasure,
        points: impl Fn(&str) -> Vec<(f64, MeanWithError)>,
        drawn: fn(String, Vec<(f64, f64)>) -> FigureLine,
    ) -> Vec<FigureLine> {
        let picked = self.picked();
        let shown = |policy: &str| -> Vec<(f64, MeanWithError)> {
            points(policy).into_iter().map(|(x, of)| (x, of.shown(measure))).collect()
        };
        let named = picked.iter().map(|policy| {
            let shown = shown(policy);
            let name = if shown.is_empty() { format!("{policy}: not run") } else { marked(policy) };
            drawn(name, values(&shown)).of(policy).within(bounds(&shown))
        });
        let rest = self.policies.iter().filter(|policy| !picked.contains(policy));
        named.chain(rest.map(|policy| FigureLine::faint(values(&shown(policy))))).collect()
    }

    fn grey(&self) -> String {
        match self.policies.len() - self.picked().len() {
            0 => String::new(),
            1 => " In grey, one other policy.".to_owned(),
            rest => format!(" In grey, {rest} other policies."),
        }
    }

    /// How much a budget is, on the mean over the worlds.
    fn size(&self, world: Option<&str>, budget: &str) -> f64 {
        let lines = self.lines.iter().filter(|line| line.budget() == budget);
        let here = lines.filter(|line| world.is_none_or(|world| line.world() == world));
        let sizes: Vec<f64> = here.map(super::SummaryLine::size).collect();
        sizes.iter().sum::<f64>() / sizes.len() as f64
    }

    /// The smallest, the middle and the largest budget.
    fn some_budgets(&self) -> Vec<&'a str> {
        let count = self.budgets.len();
        if count <= MOST_PANELS {
            return self.budgets.clone();
        }
        [0, count / 2, count - 1].map(|place| self.budgets[place]).to_vec()
    }
}

fn values(points: &[(f64, MeanWithError)]) -> Vec<(f64, f64)> {
    points.iter().map(|(x, of)| (*x, of.value)).collect()
}

/// The intervals; what has none is its own.
fn bounds(points: &[(f64, MeanWithError)]) -> Vec<(f64, f64)> {
    points.iter().map(|(_, of)| of.bounds.unwrap_or((of.value, of.value))).collect()
}

/// An axis from at most `low` to at least `high`, marked at round numbers.
pub(crate) fn axis(label: &str, low: f64, high: f64) -> Axis {
    let wide = (high - low).max(1e-9);
    let rough = wide / TICKS;
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|m| m * power).into_iter().find(|s| *s >= rough * 0.999);
    let step = step.unwrap_or(rough);
    let (first, last) = ((low / step).floor(), (high / step).ceil());
    let digits = (-power.log10().floor()).max(0.0) as i32;
    let scale = 10_f64.powi(digits);
    let count = (last - first).max(1.0) as u32;
    let tick = |n: u32| ((first + f64::from(n)) * step * scale).round() / scale;
    Axis::linear(label, &(0..=count).map(tick).collect::<Vec<f64>>())
}

/// An axis in equal factors, marked at the values themselves as far as there is room.
pub(crate) fn log_axis(label: &str, values: &[f64]) -> Axis {
    let mut ticks: Vec<f64> = values.iter().copied().filter(|v| *v > 0.0).map(rounded).collect();
    ticks.sort_by(f64::total_cmp);
    ticks.dedup();
    let (Some(&first), Some(&last)) = (ticks.first(), ticks.last()) else {
        return Axis::log(label, &[1.0, 10.0]);
    };
    let room = (last / first).ln() / 7.0;
    let mut kept: Vec<f64> = Vec::new();
    for &tick in &ticks {
        if kept.last().is_none_or(|before| (tick / before).ln() >= room) {
            kept.push(tick);
        }
    }
    if kept.last() != Some(&last) {
        kept.pop();
        kept.push(last);
    }
    Axis::log(label, &kept)
}

/// Three digits, for marks on an axis.
fn rounded(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}

fn percent_axis(panels: &[Panel]) -> Axis {
    let (low, high) = extent(panels, 100.0);
    axis("share, %", f64::min(low, high), high)
}

fn days_axis(panels: &[Panel]) -> Axis {
    axis("days", 0.0, extent(panels, 0.0).1)
}

/// The least and the most that is drawn, intervals too; nothing above `low` counts as the least.
fn extent(panels: &[Panel], low: f64) -> (f64, f64) {
    let lines = || panels.iter().flat_map(|panel| &panel.lines);
    let ends = lines().flat_map(|line| line.band.iter().flat_map(|(low, high)| [*low, *high]));
    let all = points(panels).map(|(_, y)| y).chain(ends);
    all.fold((low, 0.0), |(low, high), y| (f64::min(low, y), f64::max(high, y)))
}

fn points(panels: &[Panel]) -> impl Iterator<Item = (f64, f64)> {
    panels.iter().flat_map(|panel| &panel.lines).flat_map(|line| line.points.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_round_numbers_around_all_values() {
        for (low, high, ticks) in [
            (0.0, 52.0, vec![0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0]),
            (41.3, 88.0, vec![40.0, 50.0, 60.0, 70.0, 80.0, 90.0]),
            (0.12, 0.31, vec![0.1, 0.15, 0.2, 0.25, 0.3, 0.35]),
            (5.0, 5.0, vec![5.0, 5.0]),
        ] {
            let found = axis("x", low, high).ticks;
            assert_eq!(found.len(), ticks.len(), "{found:?}");
            assert!(found.iter().zip(&ticks).all(|(a, b)| (a - b).abs() < 1e-6), "{found:?}");
        }
        assert_eq!(log_axis("x", &[2.0, 5.0, 40.0]).ticks, [2.0, 5.0, 40.0]);
        let many: Vec<f64> = (1..=100).map(f64::from).collect();
        let ticks = log_axis("x", &many).ticks;
        assert!(ticks.len() <= 8 && ticks[0] == 1.0 && *ticks.last().unwrap() == 100.0);
    }
}
