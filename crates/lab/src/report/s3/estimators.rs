//! Eq. 9 to 14 and 27: how far off are the estimates of a page's change rate?

use evercrawl_estimate::bias;
use evercrawl_estimate::irregular::{IrregularChecks, TimedCheck};
use evercrawl_estimate::last_modified::eq27;
use evercrawl_estimate::regular::RegularChecks;
use evercrawl_policy::SplitMix64;

use super::orders::exponential;
use crate::drawings::estimator_bias;
use crate::page::{ReportTable, cell, count, number};
use crate::report::threads::each;
use crate::report::{Effort, ReportDocument};
use evercrawl_draw::{Axis, Figure, FigureLine, Panel, ReferenceLine};

const CHECKS: [u64; 3] = [3, 10, 50];
const RATES: [f64; 5] = [0.2, 0.5, 1.0, 2.0, 3.0];
const PAGES: usize = 200_000;

pub(super) fn write(document: &mut ReportDocument, effort: Effort) {
    document.section("Eq. 9 to 14: estimators for regular checks");
    let cases: Vec<(u64, f64)> = CHECKS.iter().flat_map(|&n| RATES.map(|r| (n, r))).collect();
    let pages = effort.rounds(PAGES);
    let seen = each(&cases, |&(n, r)| Means::of(n, r, false, pages));
    let regular = cases.iter().copied().zip(&seen);
    document.table(regular_table(regular.clone()));
    document.figure("bias", estimator_bias());
    let naive = |n| bias::naive(n, 1.0).mean - 1.0;
    let eq13 = |n, r| bias::eq13(n, r).mean - r;
    document.beside(
        "Eq. 9 is biased and does not get better with more checks; eq. 13 with a = b = 0.5 has less bias \
         and loses it quickly as checks grow (section 1.2).",
        format!(
            "At r = 1 eq. 9 is off by {} after 3 checks and by {} after 50; eq. 13 by {} and {}. But at r = 3 \
             eq. 13 is off by {} after 3 checks, {} after 10 and {} after 50.",
            number(naive(3), 2),
            number(naive(50), 2),
            number(eq13(3, 1.0), 3),
            number(eq13(50, 1.0), 3),
            number(eq13(3, 3.0), 2),
            number(eq13(10, 3.0), 2),
            number(eq13(50, 3.0), 3),
        ),
        "The survey expands around r = 0, where eq. 13 is nearly unbiased; few checks of a busy page all \
         find a change and do not show how many there were.",
    );
    shifts(document);
    last_modified(document, effort);
}

fn shifts(document: &mut ReportDocument) {
    let mut table = ReportTable::new(
        "shift",
        "The shift a that makes eq. 13 unbiased to first order in r.",
        &["checks", "a"],
    );
    for checks in [1, 2, 5, 10, 100] {
        table.row([count(checks as usize), cell(bias::unbiased_shift(checks), 3)]);
    }
    document.table(table);
    document.beside(
        "Setting the first term of eq. 14 to 0 and the second to 1 gives a = b = 0.5.",
        format!(
            "It gives a = b = {:.3} for one check and {:.3} for ten; 0.5 is the limit.",
            bias::unbiased_shift(1),
            bias::unbiased_shift(10),
        ),
        "The printed expansion lost a factor in its sum and exchanged n for the count of unchanged \
         checks; the corrected one depends on n.",
    );
}

fn last_modified(document: &mut ReportDocument, effort: Effort) {
    document.section("Eq. 27: estimates with Last-Modified, and with uneven gaps");
    document.paragraph(
        "Each page was checked 5 or 20 times, on average once a unit: at even gaps, or at exponential \
         ones as a crawler with a queue has them. Eq. 27 knows when the page last changed; the likelihood (the irregular estimator of Cho and Garcia-Molina) knows the gaps.",
    );
    let cases: Vec<(u64, f64, bool)> = [5, 20]
        .iter()
        .flat_map(|&n| [0.2, 1.0, 3.0].map(|r| (n, r)))
        .flat_map(|(n, r)| [(n, r, false), (n, r, true)])
        .collect();
    let pages = effort.rounds(PAGES);
    let seen = each(&cases, |&(n, r, uneven)| Means::of(n, r, uneven, pages));
    let mut table = ReportTable::new(
        "eq27",
        "Mean estimate of the rate, changes a unit (the likelihood: median, as it can be infinite).",
        &[
            "gaps",
            "checks",
            "true rate",
            "eq. 27",
            "changes / unmodified time",
            "eq. 13",
            "likelihood",
        ],
    );
    for (&(n, r, uneven), means) in cases.iter().zip(&seen) {
        table.row([
            if uneven { "exponential" } else { "even" }.into(),
            count(n as usize),
            cell(r, 1),
            cell(means.eq27, 3),
            cell(means.over_unmodified, 3),
            cell(means.eq13, 3),
            cell(means.likelihood, 3),
        ]);
    }
    document.table(table);
    document.figure("eq27", eq27_figure(effort));
    let worst = |uneven: bool| {
        let chosen = cases.iter().zip(&seen).filter(|(case, _)| case.2 == uneven);
        100.0 * chosen.map(|(case, means)| (means.eq27 / case.1 - 1.0).abs()).fold(0.0, f64::max)
    };
    document.beside(
        "Eq. 27 is the Chile crawler's estimate; its T is printed as a number of times and its X as a \
         time (section 2.2).",
        format!(
            "With T read as the total time known to be unmodified and X as a count, the mean of eq. 27 is \
             never further than {:.1} % from the truth with even gaps and {:.0} % with exponential ones; \
             changes over unmodified time alone is {:.0} % too high at r = 3 with 5 even checks.",
            worst(false),
            worst(true),
            100.0 * (seen[4].over_unmodified / 3.0 - 1.0),
        ),
        "As printed the units do not fit; as corrected it uses when the last change was, which eq. 13 \
         cannot know, and so keeps its mean where every check finds a change.",
    );
}

fn regular_table<'a>(rows: impl Iterator<Item = ((u64, f64), &'a Means)>) -> ReportTable {
    let mut table = ReportTable::new(
        "estimators",
        "Mean estimate of r, changes a check: exact and simulated. Eq. 12 is infinite when every check \
         found a change; its mean is over the other pages.",
        &[
            "checks",
            "true r",
            "eq. 9",
            "simulated 9",
            "eq. 12",
            "simulated 12",
            "eq. 13",
            "simulated 13",
            "standard deviation of 13",
        ],
    );
    for ((n, r), means) in rows {
        let eq13 = bias::eq13(n, r);
        table.row([
            count(n as usize),
            cell(r, 1),
            cell(bias::naive(n, r).mean, 3),
            cell(means.naive, 3),
            cell(bias::log(n, r).mean, 3),
            cell(means.log, 3),
            cell(eq13.mean, 3),
            cell(means.eq13, 3),
            cell(eq13.variance.sqrt(), 3),
        ]);
    }
    table
}

fn eq27_figure(effort: Effort) -> Figure {
    let rates: Vec<f64> = (1..=15).map(|i| 0.2 * f64::from(i)).collect();
    let pages = effort.rounds(PAGES / 2);
    let panel = |checks: u64| {
        let means = each(&rates, |&r| Means::of(checks, r, false, pages));
        let line = |label: &str, value: fn(&Means) -> f64| {
            let points = rates.iter().zip(&means).map(|(&r, means)| (r, value(means) - r));
            FigureLine::curve(label, points.collect())
        };
        Panel {
            heading: format!("{checks} checks"),
            lines: vec![
                line("eq. 27", |means| means.eq27),
                line("changes / unmodified", |means| means.over_unmodified),
                line("eq. 13", |means| means.eq13),
            ],
        }
    };
    Figure {
        title: "Knowing when the last change was takes the bias away".to_owned(),
        description: "Eq. 27 stays at the truth for slow and busy pages alike, after 5 checks as after 20; \
                      changes over unmodified time lies above it and eq. 13 falls below for busy pages."
            .to_owned(),
        x: Axis::linear("true rate, changes per check", &[0.0, 1.0, 2.0, 3.0]),
        y: Axis::linear("mean estimate minus true rate, changes per check", &[-1.0, -0.5, 0.0, 0.5, 1.0]),
        panels: [5, 20].map(panel).to_vec(),
        rule: Some(ReferenceLine { label: String::new(), y: 0.0 }),
    }
}

/// What estimators say on average of pages that change at the same rate.
#[derive(Debug, Default)]
struct Means {
    naive: f64,
    log: f64,
    eq13: f64,
    eq27: f64,
    over_unmodified: f64,
    /// The median: the likelihood may be largest at infinity.
    likelihood: f64,
}

impl Means {
    /// Of `pages` pages, checked `checks` times each, on average once a unit.
    fn of(checks: u64, rate: f64, uneven: bool, pages: usize) -> Self {
        let mut random = SplitMix64::new(rate.to_bits() ^ (checks << 1 | u64::from(uneven)));
        let mut sums = Means::default();
        let (mut finite, mut likelihoods) = (0.0, Vec::new());
        for page in 0..pages {
            let seen = SimulatedHistory::draw(&mut random, checks, rate, uneven);
            let regular = RegularChecks { checks, changes: seen.changes, span: seen.span };
            sums.naive += regular.naive();
            if seen.changes < checks {
                sums.log += regular.log();
                finite += 1.0;
            }
            sums.eq13 += regular.eq13();
            sums.eq27 += eq27(checks, seen.changes, seen.unmodified);
            sums.over_unmodified += seen.changes as f64 / seen.unmodified;
            // A root search each: a sixteenth of the pages is enough for a median.
            if page % 16 == 0 {
                likelihoods.push(IrregularChecks::new(seen.gaps).mle());
            }
        }
        likelihoods.sort_by(f64::total_cmp);
        let all = pages as f64;
        Means {
            naive: sums.naive / all,
            log: sums.log / finite,
            eq13: sums.eq13 / all,
            eq27: sums.eq27 / all,
            over_unmodified: sums.over_unmodified / all,
            likelihood: likelihoods[likelihoods.len() / 2],
        }
    }
}

/// What the checks of one page showed.
struct SimulatedHistory {
    changes: u64,
    span: f64,
    unmodified: f64,
    gaps: Vec<TimedCheck>,
}

impl SimulatedHistory {
    fn draw(random: &mut SplitMix64, checks: u64, rate: f64, uneven: bool) -> Self {
        let mut seen =
            SimulatedHistory { changes: 0, span: 0.0, unmodified: 0.0, gaps: Vec::new() };
        for _ in 0..checks {
            let gap = if uneven { exponential(random, 1.0) } else { 1.0 };
            // Seen from the check backwards, the last change is the first: the process has no direction.
            let age = exponential(random, rate);
            let changed = age <= gap;
            seen.changes += u64::from(changed);
            seen.span += gap;
            seen.unmodified += age.min(gap);
            seen.gaps.push(TimedCheck { interval: gap, changed });
        }
        seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simulated_means_are_those_of_the_formulas_and_of_the_reference() {
        let means = Means::of(5, 1.0, false, 40_000);
        assert!((means.naive - bias::naive(5, 1.0).mean).abs() < 0.01, "{means:?}");
        assert!((means.log - bias::log(5, 1.0).mean).abs() < 0.01, "{means:?}");
        for (got, want) in
            [(means.eq13, 0.995), (means.eq27, 1.004), (means.over_unmodified, 1.165)]
        {
            assert!((got - want).abs() < 0.02, "{means:?}");
        }
    }
}
