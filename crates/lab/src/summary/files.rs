//! Where can a program read it all? One table a kind of number, every run in it.

use super::{Measure, Summary};
use crate::page::{Cell, Table, cell};
use crate::row::{Part, Row, Week};

/// What every row of the detailed tables begins with.
const RUN: [&str; 5] = ["world", "policy", "budget", "goal", "seed"];

/// A number that every run has, and its name.
type Count = (&'static str, fn(&Row) -> f64);

const COUNTS: [Count; 7] = [
    ("pages", |row| row.pages as f64),
    ("fetches", |row| row.fetches as f64),
    ("cost", |row| row.cost),
    ("changes", |row| row.changes as f64),
    ("detected", |row| row.detected as f64),
    ("finds", |row| row.finds as f64),
    ("wasted", |row| row.wasted as f64),
];

const MEASURES: [(&str, Measure); 6] = [
    ("freshness", Measure::Freshness),
    ("freshness_weighted", Measure::Weighted),
    ("age_days", Measure::Age),
    ("age_weighted_days", Measure::AgeWeighted),
    ("coverage", Measure::Coverage),
    ("update_rate", Measure::UpdateRate),
];

impl Summary<'_> {
    /// The tables: `summary` over seeds, `weeks`, `hosts` and `classes` run by run.
    pub fn files(&self) -> [Table; 4] {
        let scores = [
            "freshness",
            "freshness_weighted",
            "age_days",
            "age_weighted_days",
            "coverage",
            "update_rate",
            "fetches",
            "wasted",
            "cost",
            "detected",
            "changes",
        ];
        let heads = |first: &[&'static str]| [first, &scores[..]].concat();
        [
            self.summary(),
            self.runs("weeks", &heads(&["week"]), weeks),
            self.runs("hosts", &heads(&["host", "pages"]), |row| listed(&row.hosts)),
            self.runs("classes", &heads(&["class", "pages"]), |row| listed(&row.classes)),
        ]
    }

    fn summary(&self) -> Table {
        let heads = summary_heads();
        let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
        let mut table = Table::new("summary", "Means over seeds.", &heads);
        for line in &self.lines {
            let [world, policy, budget, goal, _] = run(line.rows[0]);
            let mut cells = vec![world, policy, budget, goal, plain(line.rows.len() as f64)];
            cells.extend(COUNTS.iter().map(|(_, of)| plain(line.mean(of))));
            for (_, measure) in MEASURES {
                let (low, high) = line.interval(measure);
                cells.extend([line.mean(|row| measure.of(row)), low, high].map(plain));
            }
            let beside = |of: fn(&Row) -> Option<f64>| line.mean_of_some(of).unwrap_or(f64::NAN);
            cells.extend([
                plain(beside(|row| row.freshness_of_clairvoyant)),
                plain(beside(|row| row.freshness_of_oracle)),
                plain(line.mean(|row| row.cpu_seconds)),
            ]);
            table.row(cells);
        }
        table
    }

    /// A table with as many rows a run as `of` gives it.
    fn runs(&self, name: &str, heads: &[&str], of: fn(&Row) -> Vec<Vec<Cell>>) -> Table {
        let mut table = Table::new(name, "", &[&RUN[..], heads].concat());
        for row in self.rows {
            for cells in of(row) {
                table.row(run(row).into_iter().chain(cells));
            }
        }
        table
    }
}

fn summary_heads() -> Vec<String> {
    let mut heads = ["world", "policy", "budget", "goal", "seeds"].map(str::to_owned).to_vec();
    heads.extend(COUNTS.iter().map(|(name, _)| (*name).to_owned()));
    for (name, _) in MEASURES {
        heads.extend(["", "_low", "_high"].map(|end| format!("{name}{end}")));
    }
    let beside = ["freshness_of_clairvoyant", "freshness_of_oracle", "cpu_seconds"];
    heads.extend(beside.map(str::to_owned));
    heads
}

fn run(row: &Row) -> [Cell; 5] {
    let [world, policy, budget, goal] =
        [&row.world, &row.policy, &row.budget, &row.goal].map(|words| Cell::from(words.as_str()));
    [world, policy, budget, goal, plain(row.seed as f64)]
}

fn weeks(row: &Row) -> Vec<Vec<Cell>> {
    let cells = |w: &Week| {
        let week = std::iter::once(f64::from(w.week));
        week.chain(w.tallied.numbers()).map(plain).collect()
    };
    row.weeks.iter().map(cells).collect()
}

fn listed(parts: &[Part]) -> Vec<Vec<Cell>> {
    let cells = |p: &Part| {
        let numbers = std::iter::once(p.pages as f64).chain(p.tallied.numbers()).map(plain);
        std::iter::once(Cell::from(p.name.as_str())).chain(numbers).collect()
    };
    parts.iter().map(cells).collect()
}

fn plain(value: f64) -> Cell {
    cell(value, 4)
}
