//! Eq. 15 and 16: how soon does one know whether a page changes weekly or monthly?

use evercrawl_estimate::classes::Classes;
use evercrawl_estimate::poisson::change_within;
use evercrawl_policy::SplitMix64;

use crate::page::{ReportTable, cell, count, percent};
use crate::report::threads::each;
use crate::report::{Effort, ReportDocument};
use evercrawl_draw::{Axis, Figure, FigureLine, Panel};

const WEEKLY: f64 = 1.0 / 7.0;
const MONTHLY: f64 = 1.0 / 30.0;
const CHECKS: usize = 30;
const GAPS: [f64; 3] = [1.0, 5.0, 15.0];
const PAGES: usize = 100_000;

pub(super) fn write(document: &mut ReportDocument, effort: Effort) {
    document.section("Eq. 15 and 16: weekly or monthly, by Bayes");
    let mut example = classes();
    example.observe(5.0, true);
    let mut table = ReportTable::new(
        "bayes-example",
        "The survey's example: a page that had changed when it was checked after five days.",
        &[
            "class",
            "before",
            "after one change",
            "after a second",
            "then unchanged after five days",
        ],
    );
    let mut steps = vec![classes().chances().to_vec(), example.chances().to_vec()];
    for changed in [true, false] {
        example.observe(5.0, changed);
        steps.push(example.chances().to_vec());
    }
    for (class, name) in ["weekly", "monthly"].iter().enumerate() {
        let chances = steps.iter().map(|step| cell(step[class], 3));
        table.row([(*name).into()].into_iter().chain(chances));
    }
    document.table(table);
    let right = each(&GAPS, |&gap| Sorted::of(gap, effort.rounds(PAGES)));
    document.table(right_table(&right));
    document.figure("bayes", figure(&right));
    document.beside(
        "After the evidence a page is weekly with probability 0.77 and monthly with 0.23; iterating, the \
         judgement may become more exact (section 1.2).",
        format!(
            "{:.4} and {:.4}. Iterated every five days, {:.0} % of pages are put in the right class after \
             5 checks and {:.0} % after 20.",
            steps[1][0],
            steps[1][1],
            100.0 * right[1].right(5),
            100.0 * right[1].right(20),
        ),
        "They agree, if \"changed 5 times\" is read as \"had changed when checked after 5 days\", which is \
         what the survey's own figures compute.",
    );
}

fn classes() -> Classes {
    Classes::new([(WEEKLY, 0.5), (MONTHLY, 0.5)])
}

/// How many pages of each class were put in it, by the number of checks.
struct Sorted {
    gap: f64,
    weekly: Vec<f64>,
    monthly: Vec<f64>,
}

impl Sorted {
    fn of(gap: f64, pages: usize) -> Self {
        let share = |rate: f64, class: usize| {
            let mut random = SplitMix64::new(gap.to_bits() ^ class as u64);
            let mut right = vec![0.0; CHECKS];
            for _ in 0..pages {
                let mut belief = classes();
                for right in &mut right {
                    belief.observe(gap, random.uniform() < change_within(rate, gap));
                    let chance = belief.chances()[class];
                    *right += if chance > 0.5 { 1.0 } else { 0.0 };
                }
            }
            right.into_iter().map(|right| right / pages as f64).collect()
        };
        Sorted { gap, weekly: share(WEEKLY, 0), monthly: share(MONTHLY, 1) }
    }

    /// The share classified correctly after this many checks.
    fn right(&self, checks: usize) -> f64 {
        (self.weekly[checks - 1] + self.monthly[checks - 1]) / 2.0
    }
}

fn right_table(all: &[Sorted]) -> ReportTable {
    let mut table = ReportTable::new(
        "bayes",
        "Pages put in the right class, %, half of them weekly and half monthly.",
        &[
            "days between checks",
            "1 check",
            "3 checks",
            "5 checks",
            "10 checks",
            "20 checks",
            "30 checks",
        ],
    );
    for sorted in all {
        let shares = [1, 3, 5, 10, 20, 30].map(|checks| percent(sorted.right(checks), 1));
        table.row([count(sorted.gap as usize)].into_iter().chain(shares));
    }
    table
}

fn figure(all: &[Sorted]) -> Figure {
    let line = |sorted: &Sorted| {
        let points = (1..=CHECKS).map(|checks| (checks as f64, 100.0 * sorted.right(checks)));
        let unit = if sorted.gap == 1.0 { "day" } else { "days" };
        FigureLine::curve(format!("every {} {unit}", sorted.gap), points.collect())
    };
    Figure {
        title: "How many checks it takes to tell weekly from monthly pages".to_owned(),
        description:
            "Daily checks tell little each; the same number of checks every 5 or 15 days sorts \
                      nearly all pages rightly, because more happens between them."
                .to_owned(),
        x: Axis::linear("checks", &[0.0, 5.0, 10.0, 15.0, 20.0, 25.0, 30.0]),
        y: Axis::linear("pages in the right class, %", &[50.0, 60.0, 70.0, 80.0, 90.0, 100.0]),
        panels: vec![Panel { heading: String::new(), lines: all.iter().map(line).collect() }],
        rule: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_check_is_right_as_often_as_the_two_chances_say() {
        let sorted = Sorted::of(5.0, 20_000);
        // A change makes it weekly, none makes it monthly.
        let want = (change_within(WEEKLY, 5.0) + 1.0 - change_within(MONTHLY, 5.0)) / 2.0;
        assert!((sorted.right(1) - want).abs() < 0.01, "{}", sorted.right(1));
        assert!(sorted.right(30) > sorted.right(5));
    }
}
