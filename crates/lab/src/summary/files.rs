//! Where can a program read it all? One table a kind of number, every run in it.

use super::Summary;
use crate::page::{Cell, Table, cell};
use crate::row::{Part, Row};

/// What every row of the detailed tables begins with.
const RUN: [&str; 5] = ["world", "policy", "budget", "goal", "seed"];

impl Summary<'_> {
    /// The tables: `summary` over seeds, `weeks`, `hosts` and `classes` run by run.
    pub fn files(&self) -> [Table; 4] {
        let parts = ["pages", "freshness", "age_days", "coverage", "fetches"];
        [
            self.summary(),
            self.runs(
                "weeks",
                &["week", "freshness", "age_days", "fetches", "detected", "changes"],
                weeks,
            ),
            self.runs("hosts", &[&["host"], &parts[..]].concat(), |row| listed(&row.hosts)),
            self.runs("classes", &[&["class"], &parts[..]].concat(), |row| listed(&row.classes)),
        ]
    }

    fn summary(&self) -> Table {
        let heads = [
            "world",
            "policy",
            "budget",
            "goal",
            "seeds",
            "pages",
            "fetches",
            "cost",
            "changes",
            "detected",
            "wasted",
            "freshness",
            "freshness_low",
            "freshness_high",
            "freshness_weighted",
            "age_days",
            "age_weighted_days",
            "coverage",
            "update_rate",
            "freshness_of_clairvoyant",
            "freshness_of_oracle",
            "cpu_seconds",
        ];
        let mut table = Table::new("summary", "Means over seeds.", &heads);
        for line in &self.lines {
            let (low, high) = line.interval();
            let mean = |of: fn(&Row) -> f64| plain(line.mean(of));
            let beside =
                |of: fn(&Row) -> Option<f64>| plain(line.mean_of_some(of).unwrap_or(f64::NAN));
            let [world, policy, budget, goal, _] = run(line.rows[0]);
            table.row([
                world,
                policy,
                budget,
                goal,
                plain(line.rows.len() as f64),
                mean(|row| row.pages as f64),
                mean(|row| row.fetches as f64),
                mean(|row| row.cost),
                mean(|row| row.changes as f64),
                mean(|row| row.detected as f64),
                mean(|row| row.wasted as f64),
                mean(|row| row.freshness),
                plain(low),
                plain(high),
                mean(|row| row.freshness_weighted),
                mean(|row| row.age),
                mean(|row| row.age_weighted),
                mean(|row| row.coverage),
                mean(|row| row.update_rate),
                beside(|row| row.freshness_of_clairvoyant),
                beside(|row| row.freshness_of_oracle),
                mean(|row| row.cpu_seconds),
            ]);
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

fn run(row: &Row) -> [Cell; 5] {
    let [world, policy, budget, goal] =
        [&row.world, &row.policy, &row.budget, &row.goal].map(|words| Cell::from(words.as_str()));
    [world, policy, budget, goal, plain(row.seed as f64)]
}

fn weeks(row: &Row) -> Vec<Vec<Cell>> {
    let cells = |week: &crate::row::Week| {
        let counts = [week.fetches, week.detected, week.changes].map(|n| plain(n as f64));
        let head = [f64::from(week.week), week.freshness, week.age].map(plain);
        head.into_iter().chain(counts).collect()
    };
    row.weeks.iter().map(cells).collect()
}

fn listed(parts: &[Part]) -> Vec<Vec<Cell>> {
    let cells = |part: &Part| {
        let numbers =
            [part.pages as f64, part.freshness, part.age, part.coverage, part.fetches as f64];
        std::iter::once(Cell::from(part.name.as_str())).chain(numbers.map(plain)).collect()
    };
    parts.iter().map(cells).collect()
}

fn plain(value: f64) -> Cell {
    cell(value, 4)
}
