//! What would twice the budget buy, or half of it cost? The same crawl at multiples of a budget.

use std::str::FromStr;

use evercrawl_policy::Days;
use serde::Serialize;

use crate::measure::{MeanWithError, ScoreMeasure};
use crate::page::{Cell, ReportPage, ReportTable, cell, percent};
use crate::row::ResultRow;
use crate::run::FetchBudget;
use crate::summary::{RunSummary, SummaryLine, axis, log_axis};
use crate::visit_log::VisitLog;
use evercrawl_draw::{Figure, FigureLine as Curve, Panel};

/// Between two multiples of a range lies this factor.
const STEP: f64 = std::f64::consts::SQRT_2;
/// The most multiples that are run.
const MOST: usize = 64;
/// A knee that rises less than this share of pages above the straight line is none.
const LEAST_KNEE: f64 = 0.005;
/// How far back a crawl's recent rate reaches.
const RECENT: Days = 28.0;

/// Multiples of a budget, ascending: `0.25x..4x`, `0.5x,1x,2x`.
#[derive(Clone, Debug, PartialEq)]
pub struct Factors(Vec<f64>);

impl Factors {
    /// `base` at each multiple.
    pub fn budgets(&self, base: &FetchBudget) -> Vec<FetchBudget> {
        self.0.iter().map(|factor| base.scaled(*factor)).collect()
    }

    /// Every half doubling from `low` to `high`, and both.
    fn range(low: f64, high: f64) -> Vec<f64> {
        let steps = ((high / low).ln() / STEP.ln()).round().clamp(1.0, MOST as f64) as i32;
        let step = |n: i32| low * (high / low).powf(f64::from(n) / f64::from(steps));
        (0..=steps).map(step).collect()
    }
}

impl FromStr for Factors {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let one = |part: &str| -> Result<f64, String> {
            let number = part.trim().trim_end_matches('x').parse().ok();
            let number = number.filter(|factor: &f64| (1e-3..=1e3).contains(factor));
            number.ok_or_else(|| {
                format!("`{text}` is not a range of budgets; use e.g. 0.25x..4x or 0.5x,1x,2x")
            })
        };
        let mut list = match text.split_once("..") {
            Some((low, high)) => match (one(low)?, one(high)?) {
                (low, high) if low < high => Self::range(low, high),
                _ => return Err(format!("`{text}` is not a range; put the smaller number first")),
            },
            None => text.split(',').map(one).collect::<Result<_, _>>()?,
        };
        list.iter_mut().for_each(|factor| *factor = three_digits(*factor));
        list.sort_by(f64::total_cmp);
        list.dedup();
        Ok(Factors(list))
    }
}

/// The recent fetch rate of a crawl: over its last four weeks, or its whole duration.
pub fn recent_rate(log: &VisitLog) -> Option<FetchBudget> {
    let looks = || log.pages().iter().flat_map(|page| &page.looks).map(|look| look.at);
    let last = looks().fold(f64::NEG_INFINITY, f64::max);
    let first = looks().fold(last, f64::min).max(last - RECENT);
    // A crawl of a few minutes is taken as a day's: nobody runs one all day long.
    let days = (last - first).max(1.0);
    let fetches = looks().filter(|at| *at >= first).count() as f64 / days;
    format!("{}/day", three_digits(fetches)).parse().ok()
}

/// What a policy makes of a world at multiples of a budget.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WhatIf {
    /// The world.
    pub world: String,
    /// The policy.
    pub policy: String,
    /// The budget that stands at 1.
    pub base: String,
    /// The multiple at the knee: where the curve of freshness over the logarithm of the budget rises
    /// furthest above the straight line between its ends. `None` where it hardly rises above it.
    pub knee: Option<f64>,
    /// By ascending budget.
    pub points: Vec<BudgetPoint>,
}

/// The score at one multiple, on the mean over seeds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BudgetPoint {
    /// The multiple.
    pub factor: f64,
    /// Fetches a week.
    pub fetches_a_week: f64,
    /// As in [`ResultRow`].
    pub freshness: f64,
    /// As in [`ResultRow`], over seeds from three on.
    pub freshness_low: Option<f64>,
    /// The high end of it.
    pub freshness_high: Option<f64>,
    /// As in [`ResultRow`].
    pub coverage: f64,
    /// As for freshness.
    pub coverage_low: Option<f64>,
    /// The high end of it.
    pub coverage_high: Option<f64>,
    /// As in [`ResultRow`].
    pub age: f64,
    /// As for freshness.
    pub age_low: Option<f64>,
    /// The high end of it.
    pub age_high: Option<f64>,
    /// What freshness gained since the point before, for each doubling.
    pub gain_a_doubling: Option<f64>,
}

impl WhatIf {
    /// Takes the rows of one policy in one world at [`Factors::budgets`] of `base`.
    pub fn new(rows: &[ResultRow], base: &FetchBudget, factors: &Factors) -> Self {
        let summary = RunSummary::new(rows);
        let mut points: Vec<BudgetPoint> = Vec::new();
        for (&factor, budget) in factors.0.iter().zip(factors.budgets(base)) {
            let budget = budget.to_string();
            let Some(line) = summary.lines().find(|line| line.budget() == budget) else { continue };
            points.push(BudgetPoint::new(factor, line, points.last()));
        }
        let first = rows.first();
        WhatIf {
            world: first.map_or_else(String::new, |row| row.world.clone()),
            policy: first.map_or_else(String::new, |row| row.policy.clone()),
            base: base.to_string(),
            knee: knee(&points),
            points,
        }
    }

    /// What the curve says, in a sentence or two.
    pub fn words(&self) -> String {
        let at = |factor: f64| {
            let point = self.points.iter().find(|point| (point.factor / factor - 1.0).abs() < 0.01);
            point.map(|point| 100.0 * point.freshness)
        };
        let now = at(1.0).map(|now| format!("At {}, {now:.1} % of copies are current", self.base));
        let twice = at(2.0).map(|more| format!("doubling it gives {more:.1} %"));
        let half = at(0.5).map(|less| format!("halving it {less:.1} %"));
        let parts: Vec<String> = [now, twice, half].into_iter().flatten().collect();
        let knee = match self.knee {
            Some(knee) => format!(
                "The knee is at {knee}x: below it, each doubling gains more than the average of this \
                 range; above it, less."
            ),
            None => "There is no knee: returns are not diminishing yet at the end of this range."
                .to_owned(),
        };
        if parts.is_empty() { knee } else { format!("{}. {knee}", parts.join(", ")) }
    }

    /// The points as a table.
    pub fn table(&self) -> ReportTable {
        let heads = [
            "budget",
            "fetches a week",
            "freshness, %",
            "gain a doubling, points",
            "coverage, %",
            "age, days",
            "",
        ];
        let caption = format!(
            "{} in {} at multiples of {}; \u{b1} is half of the 95 % interval.",
            self.policy, self.world, self.base
        );
        let mut table = ReportTable::new("whatif", caption, &heads);
        for point in &self.points {
            let is_knee = self.knee == Some(point.factor);
            table.row([
                Cell::from(format!("{}x", point.factor)).bold_if(is_knee),
                cell(point.fetches_a_week, 1),
                point.cell(ScoreMeasure::Freshness).bold_if(is_knee),
                percent(point.gain_a_doubling.unwrap_or(f64::NAN), 1),
                point.cell(ScoreMeasure::Coverage),
                point.cell(ScoreMeasure::Age),
                if is_knee { "knee" } else { "" }.into(),
            ]);
        }
        table
    }

    /// Freshness and coverage against the budget, the knee marked.
    pub fn figure(&self) -> Figure {
        let curve = |measure: ScoreMeasure| -> Vec<(f64, f64)> {
            self.points.iter().map(|point| (point.factor, point.shown(measure).value)).collect()
        };
        let panel = |measure: ScoreMeasure| {
            let points = curve(measure);
            let at_knee: Vec<(f64, f64)> =
                points.iter().copied().filter(|(x, _)| self.knee == Some(*x)).collect();
            let band = self.points.iter().map(|point| point.band(measure)).collect();
            let mut lines =
                vec![Curve::curve(self.policy.clone(), points).of(&self.policy).within(band)];
            if !at_knee.is_empty() {
                lines.push(Curve::dots("knee", at_knee));
            }
            Panel { heading: measure.name().to_owned(), lines }
        };
        let (low, high) = self.extent();
        let factors: Vec<f64> = self.points.iter().map(|point| point.factor).collect();
        Figure {
            title: format!("{}: freshness by budget", self.world),
            description: format!(
                "Freshness of `{}` at each budget, on a logarithmic scale: where the curve is steep, a larger budget gains much; where it is flat, little. The bands are intervals of 95 %.",
                self.policy
            ),
            x: log_axis(&format!("times the budget of {}", self.base), &factors),
            y: axis("share, %", low, high),
            panels: vec![panel(ScoreMeasure::Freshness), panel(ScoreMeasure::Coverage)],
            rule: None,
        }
    }

    /// The least and the most share shown, in %, intervals included.
    fn extent(&self) -> (f64, f64) {
        let drawn = [ScoreMeasure::Freshness, ScoreMeasure::Coverage];
        let shown = self.points.iter().flat_map(|point| drawn.map(|measure| point.shown(measure)));
        let ends = shown.map(|of| of.bounds.unwrap_or((of.value, of.value)));
        let (low, high) = ends.fold((100.0, 0.0), |(low, high), (least, most)| {
            (f64::min(low, least), f64::max(high, most))
        });
        (low, high.max(low))
    }

    /// Returns all of it as one HTML file; `notes` are paragraphs on where the world comes from.
    pub fn html(&self, notes: &[String]) -> String {
        let title = format!("How fresh would {} be with another budget?", self.world);
        let mut page = ReportPage::new(&title, &self.words());
        if !self.points.is_empty() {
            page.figure(&self.figure());
        }
        page.table(&self.table());
        notes.iter().for_each(|note| page.paragraph(note));
        page.paragraph(
            "The knee is where the curve of freshness over the logarithm of the budget rises furthest \
             above the straight line between its ends.",
        );
        page.html()
    }
}

impl BudgetPoint {
    /// What a policy makes of a multiple, after what it makes of a smaller one.
    fn new(factor: f64, line: &SummaryLine<'_>, before: Option<&BudgetPoint>) -> Self {
        let [fresh, coverage, age] =
            [ScoreMeasure::Freshness, ScoreMeasure::Coverage, ScoreMeasure::Age]
                .map(|measure| line.of(measure));
        let low = |of: MeanWithError| of.bounds.map(|(low, _)| low);
        let high = |of: MeanWithError| of.bounds.map(|(_, high)| high);
        let gain = |before: &BudgetPoint| {
            (fresh.value - before.freshness) / (factor / before.factor).log2()
        };
        BudgetPoint {
            factor,
            fetches_a_week: line.mean(|row| row.fetches as f64 / row.weeks.len().max(1) as f64),
            freshness: fresh.value,
            freshness_low: low(fresh),
            freshness_high: high(fresh),
            coverage: coverage.value,
            coverage_low: low(coverage),
            coverage_high: high(coverage),
            age: age.value,
            age_low: low(age),
            age_high: high(age),
            gain_a_doubling: before.map(gain),
        }
    }

    /// What people are shown of a measure.
    fn shown(&self, measure: ScoreMeasure) -> MeanWithError {
        let (value, low, high) = match measure {
            ScoreMeasure::Coverage => (self.coverage, self.coverage_low, self.coverage_high),
            ScoreMeasure::Age => (self.age, self.age_low, self.age_high),
            _ => (self.freshness, self.freshness_low, self.freshness_high),
        };
        MeanWithError { value, bounds: low.zip(high) }.shown(measure)
    }

    fn cell(&self, measure: ScoreMeasure) -> Cell {
        let shown = self.shown(measure);
        cell(shown.value, measure.digits()).within(shown.reach())
    }

    /// The interval of a measure; no numbers where it is not known.
    fn band(&self, measure: ScoreMeasure) -> (f64, f64) {
        self.shown(measure).bounds.unwrap_or((f64::NAN, f64::NAN))
    }
}

fn knee(points: &[BudgetPoint]) -> Option<f64> {
    let (first, last) = (points.first()?, points.last()?);
    let width = (last.factor / first.factor).ln();
    let above = |point: &BudgetPoint| {
        let share = (point.factor / first.factor).ln() / width;
        point.freshness - (first.freshness + share * (last.freshness - first.freshness))
    };
    let highest = points.iter().max_by(|a, b| above(a).total_cmp(&above(b)))?;
    (above(highest) >= LEAST_KNEE).then_some(highest.factor)
}

fn three_digits(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::RowScores;

    fn whatif(freshness: impl Fn(f64) -> f64) -> WhatIf {
        let base: FetchBudget = "10%/week".parse().unwrap();
        let factors: Factors = "0.25x..4x".parse().unwrap();
        let rows: Vec<ResultRow> = factors
            .0
            .iter()
            .zip(factors.budgets(&base))
            .map(|(factor, budget)| ResultRow {
                world: "w".to_owned(),
                policy: "index".to_owned(),
                budget: budget.to_string(),
                scores: RowScores { freshness: freshness(*factor), ..RowScores::default() },
                ..ResultRow::default()
            })
            .collect();
        WhatIf::new(&rows, &base, &factors)
    }

    #[test]
    fn factors_are_read_as_people_write_them() {
        let read = |text: &str| text.parse::<Factors>().map(|factors| factors.0);
        let range = [0.25, 0.354, 0.5, 0.707, 1.0, 1.41, 2.0, 2.83, 4.0];
        assert_eq!(read("0.25x..4x").unwrap(), range);
        assert_eq!(read("2x,0.5x, 1").unwrap(), [0.5, 1.0, 2.0]);
        assert_eq!(read("1x..1.1x").unwrap(), [1.0, 1.1]);
        for bad in ["", "x", "4x..1x", "1x..1x", "0x..4x", "1..inf", "-1", "1x..2x..3x"] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_knee_is_where_the_curve_bends() {
        assert_eq!(whatif(|factor| 0.5 + 0.2 * factor.min(1.0).log2()).knee, Some(1.0));
        assert_eq!(whatif(|factor| 0.5 + 0.1 * factor.log2()).knee, None, "straight");
        assert_eq!(whatif(|factor| factor / 4.0).knee, None, "ever steeper");
        assert_eq!(whatif(|_| 1.0).knee, None, "flat");
    }

    #[test]
    fn a_doubling_gains_what_it_gains() {
        let whatif = whatif(|factor| 0.5 + 0.1 * factor.log2());
        assert_eq!(whatif.points[0].gain_a_doubling, None);
        let gains = whatif.points[1..].iter().filter_map(|point| point.gain_a_doubling);
        assert!(gains.clone().count() == 8 && gains.into_iter().all(|g| (g - 0.1).abs() < 1e-9));
        assert_eq!(
            whatif.words(),
            "At 10%/week, 50.0 % of copies are current, doubling it gives 60.0 %, halving it 40.0 %. \
             There is no knee: returns are not diminishing yet at the end of this range."
        );
    }

    #[test]
    fn the_page_shows_curve_and_table() {
        let html =
            whatif(|factor| 1.0 - 0.3 / (1.0 + factor * factor)).html(&["Of <old>.".to_owned()]);
        for part in ["<figure>", "<td><b>", ">knee</", "Of &lt;old&gt;.", ">2.83x<"] {
            assert!(html.contains(part), "no {part} in {html}");
        }
        assert!(!whatif(|factor| factor / 4.0).html(&[]).contains(">knee</"), "none to mark");
        let base: FetchBudget = "1/day".parse().unwrap();
        let nothing = WhatIf::new(&[], &base, &"1x".parse().unwrap());
        assert!(!nothing.html(&[]).contains("NaN"));
    }
}
