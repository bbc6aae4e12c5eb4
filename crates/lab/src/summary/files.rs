//! Where can a program read it all? One table a kind of number, every run in it.

use super::RunSummary;
use crate::measure::{MeanWithError, ScoreMeasure};
use crate::page::{Cell, ReportTable, cell};
use crate::row::{PartScores, ResultRow, Tallied, Week};

/// What every row of the detailed tables begins with.
const RUN: [&str; 5] = ["world", "policy", "budget", "goal", "seed"];

/// A number that every run has, and its name.
type Count = (&'static str, fn(&ResultRow) -> f64);

const COUNTS: [Count; 7] = [
    ("pages", |row| row.pages as f64),
    ("fetches", |row| row.fetches as f64),
    ("cost", |row| row.cost),
    ("changes", |row| row.changes as f64),
    ("detected", |row| row.detected as f64),
    ("finds", |row| row.finds as f64),
    ("wasted", |row| row.wasted as f64),
];

/// What is counted per week, host and class.
const TALLIED: [&str; 5] = ["fetches", "wasted", "cost", "detected", "changes"];

/// A score relative to a reference, and the reference's name.
type Beside = (&'static str, fn(&ResultRow) -> Option<MeanWithError>);

const BESIDE: [Beside; 2] = [
    ("freshness_of_clairvoyant", ResultRow::of_clairvoyant),
    ("freshness_of_oracle", ResultRow::of_oracle),
];

impl RunSummary<'_> {
    /// The tables: `summary` over seeds, `weeks`, `hosts` and `classes` run by run.
    pub fn files(&self) -> [ReportTable; 4] {
        [
            self.summary(),
            self.runs("weeks", &["week"], weeks),
            self.runs("hosts", &["host", "pages"], |row| listed(&row.hosts)),
            self.runs("classes", &["class", "pages"], |row| listed(&row.classes)),
        ]
    }

    fn summary(&self) -> ReportTable {
        let runs = ["world", "policy", "budget", "goal", "seeds"].map(str::to_owned);
        let counts = COUNTS.iter().map(|(name, _)| (*name).to_owned());
        let beside = BESIDE.iter().flat_map(|(name, _)| bounded(name));
        let last = std::iter::once("cpu_seconds".to_owned());
        let heads = runs.into_iter().chain(counts).chain(measures()).chain(beside).chain(last);
        let mut table = table("summary", "Means over seeds.", heads);
        for line in &self.lines {
            let [world, policy, budget, goal, _] = run(line.rows[0]);
            let mut cells = vec![world, policy, budget, goal, plain(line.rows.len() as f64)];
            cells.extend(COUNTS.iter().map(|(_, of)| plain(line.mean(of))));
            cells.extend(ScoreMeasure::ALL.into_iter().flat_map(|measure| ends(line.of(measure))));
            cells.extend(BESIDE.iter().flat_map(|(_, of)| ends(line.beside(*of))));
            cells.push(plain(line.mean(|row| row.cpu_seconds)));
            table.row(cells);
        }
        table
    }

    /// A table with as many rows a run as `of` gives it, each beginning with what `heads` says.
    fn runs(
        &self,
        name: &str,
        heads: &[&str],
        of: fn(&ResultRow) -> Vec<Vec<Cell>>,
    ) -> ReportTable {
        let first = RUN.iter().chain(heads).map(|head| (*head).to_owned());
        let last = TALLIED.iter().map(|head| (*head).to_owned());
        let mut table = table(name, "", first.chain(measures()).chain(last));
        for row in self.rows {
            for cells in of(row) {
                table.row(run(row).into_iter().chain(cells));
            }
        }
        table
    }
}

fn table(name: &str, caption: &str, heads: impl Iterator<Item = String>) -> ReportTable {
    let heads: Vec<String> = heads.collect();
    ReportTable::new(name, caption, &heads.iter().map(String::as_str).collect::<Vec<_>>())
}

/// The columns of all measures.
fn measures() -> impl Iterator<Item = String> {
    ScoreMeasure::ALL.into_iter().flat_map(|measure| bounded(measure.column()))
}

/// The columns of a value and the ends of its interval.
fn bounded(name: &str) -> [String; 3] {
    ["", "_low", "_high"].map(|end| format!("{name}{end}"))
}

/// A value and the ends of its interval; empty where it has none.
fn ends(of: MeanWithError) -> [Cell; 3] {
    let (low, high) = of.bounds.unwrap_or((f64::NAN, f64::NAN));
    [of.value, low, high].map(plain)
}

fn run(row: &ResultRow) -> [Cell; 5] {
    let [world, policy, budget, goal] =
        [&row.world, &row.policy, &row.budget, &row.goal].map(|words| Cell::from(words.as_str()));
    [world, policy, budget, goal, plain(row.seed as f64)]
}

fn weeks(row: &ResultRow) -> Vec<Vec<Cell>> {
    let cells = |w: &Week| {
        let week = std::iter::once(plain(w.week.into()));
        week.chain(numbers(&w.tallied)).collect()
    };
    row.weeks.iter().map(cells).collect()
}

fn listed(parts: &[PartScores]) -> Vec<Vec<Cell>> {
    let cells = |p: &PartScores| {
        let head = [Cell::from(p.name.as_str()), plain(p.pages as f64)];
        head.into_iter().chain(numbers(&p.tallied)).collect()
    };
    parts.iter().map(cells).collect()
}

fn numbers(tallied: &Tallied) -> impl Iterator<Item = Cell> {
    let scores = ScoreMeasure::ALL.into_iter().flat_map(|measure| ends(tallied.scores.of(measure)));
    scores.chain(tallied.counts().map(plain))
}

fn plain(value: f64) -> Cell {
    cell(value, 4)
}
