//! Table 1 and eq. 4 to 8: how fresh and how old are copies, by the order in which pages are fetched?

use evercrawl_estimate::VisitOrder;
use evercrawl_estimate::poisson::{age_at, age_since_last_change_at};
use evercrawl_policy::SplitMix64;

use crate::page::{ReportTable, cell};
use crate::report::threads::each;
use crate::report::{Effort, ReportDocument};
use evercrawl_draw::{Axis, Figure, FigureLine, Panel};

const RATES: [f64; 6] = [0.1, 0.5, 1.0, 2.0, 5.0, 10.0];
const ORDERS: [(VisitOrder, &str); 3] = [
    (VisitOrder::Fixed, "fixed order"),
    (VisitOrder::RandomPerCycle, "random in each cycle"),
    (VisitOrder::PurelyRandom, "purely random"),
];
const FETCHES: usize = 1_000_000;

pub(super) fn write(document: &mut ReportDocument, effort: Effort) {
    document.section("Table 1: freshness and age by order of fetching");
    document.paragraph(
        "A page changes r times between two fetches on average. Fetched in a fixed order its gaps are \
         even; in an order redrawn each cycle they are the difference of two uniform draws; purely at random they are exponential. Freshness is the share of time that the copy is current, age \
         the time since the first change not yet seen, in mean gaps.",
    );
    let cases: Vec<(VisitOrder, f64)> =
        ORDERS.iter().flat_map(|&(order, _)| RATES.map(|r| (order, r))).collect();
    let fetches = effort.rounds(FETCHES);
    let seen = each(&cases, |&(order, r)| simulate(order, r, fetches));
    let worst = worst_difference(&cases, &seen);
    document.table(table(&cases, &seen));
    document.figure("orders", figure(&cases, &seen));
    document.beside(
        "Six closed formulas; even spacing is best (table 1, section 3.1).",
        format!(
            "All six hold: no simulated value is further than {worst:.4} from its formula, and at every r \
             fixed beats random beats purely random."
        ),
        "They agree; only the survey's prose is off, which calls the gaps of a purely random order Zipf \
         where its formula is that of exponential ones.",
    );
    ages(document, effort);
}

/// The two meanings of age in the survey.
fn ages(document: &mut ReportDocument, effort: Effort) {
    document.section("Eq. 4 and 8: which change does age count from?");
    let (rate, time) = (1.0, 2.0);
    let (first, last) = simulate_ages(rate, time, effort.rounds(FETCHES));
    let mut table = ReportTable::new(
        "age",
        "Mean age two units after a fetch, of a page that changes once a unit.",
        &["age counts from", "formula", "simulated"],
    );
    let literal = age_since_last_change_at(rate, time);
    table.row([
        "first change not seen (eq. 8)".into(),
        cell(age_at(rate, time), 4),
        cell(first, 4),
    ]);
    table.row(["last change (eq. 4 as printed)".into(), cell(literal, 4), cell(last, 4)]);
    document.table(table);
    document.beside(
        "Eq. 4 counts age from the last modification; eq. 8 is said to be its mean over an interval.",
        format!("Counted from the first unseen change the mean is {first:.3}, from the last {last:.3}."),
        "Eq. 8 is the mean of the first kind, at time t and not over the interval, so eq. 4 must be read \
         as counting from the first change not seen; table 1 rests on that.",
    );
}

fn table(cases: &[(VisitOrder, f64)], seen: &[(f64, f64)]) -> ReportTable {
    let mut table = ReportTable::new(
        "table1",
        "Freshness (share of time) and age (mean gaps): formula and simulation.",
        &["order", "r", "freshness", "simulated", "age", "simulated age"],
    );
    for (&(order, r), &(freshness, age)) in cases.iter().zip(seen) {
        table.row([
            name(order).into(),
            cell(r, 1),
            cell(order.freshness(r, 1.0), 4),
            cell(freshness, 4),
            cell(order.age(r, 1.0), 4),
            cell(age, 4),
        ]);
    }
    table
}

fn figure(cases: &[(VisitOrder, f64)], seen: &[(f64, f64)]) -> Figure {
    let rates: Vec<f64> = (0..=120).map(|i| 0.1 * 100f64.powf(f64::from(i) / 120.0)).collect();
    let panel =
        |heading: &str, formula: &dyn Fn(VisitOrder, f64) -> f64, place: fn(&(f64, f64)) -> f64| {
            let curves = ORDERS.map(|(order, name)| {
                FigureLine::curve(name, rates.iter().map(|&r| (r, formula(order, r))).collect())
            });
            let dots = cases.iter().zip(seen).map(|(&(_, r), seen)| (r, place(seen))).collect();
            let lines = curves.into_iter().chain([FigureLine::dots("simulated", dots)]).collect();
            Panel { heading: heading.to_owned(), lines }
        };
    Figure {
        title: "Even spacing is freshest and youngest".to_owned(),
        description: "At every change rate the fixed order keeps copies freshest and youngest and the \
                      purely random one stalest and oldest; simulated values lie on the formulas' curves."
            .to_owned(),
        x: Axis::log("changes between two fetches, r", &[0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0]),
        y: Axis::linear(
            "left: share of time; right: mean gaps between fetches",
            &[0.0, 0.2, 0.4, 0.6, 0.8, 1.0],
        ),
        panels: vec![
            panel("freshness", &|order, r| order.freshness(r, 1.0), |seen| seen.0),
            panel("age", &|order, r| order.age(r, 1.0), |seen| seen.1),
        ],
        rule: None,
    }
}

fn name(order: VisitOrder) -> &'static str {
    ORDERS.iter().find(|(other, _)| *other == order).map_or("", |(_, name)| name)
}

fn worst_difference(cases: &[(VisitOrder, f64)], seen: &[(f64, f64)]) -> f64 {
    let differences = cases.iter().zip(seen).map(|(&(order, r), &(freshness, age))| {
        (order.freshness(r, 1.0) - freshness).abs().max((order.age(r, 1.0) - age).abs())
    });
    differences.fold(0.0, f64::max)
}

/// Mean freshness and age of a page that changes at rate `r` and is fetched `fetches` times, once a
/// unit on average.
fn simulate(order: VisitOrder, r: f64, fetches: usize) -> (f64, f64) {
    let mut random = SplitMix64::new(r.to_bits() ^ fetches as u64);
    let (mut fresh, mut age, mut total) = (0.0, 0.0, 0.0);
    let (mut fetched, mut changed) = (0.0, exponential(&mut random, r));
    for cycle in 1..=fetches {
        let next = match order {
            VisitOrder::Fixed => cycle as f64,
            VisitOrder::RandomPerCycle => cycle as f64 + random.uniform(),
            VisitOrder::PurelyRandom => fetched + exponential(&mut random, 1.0),
        };
        let first = changed.min(next);
        fresh += first - fetched;
        age += (next - first) * (next - first) / 2.0;
        total += next - fetched;
        while changed <= next {
            changed += exponential(&mut random, r);
        }
        fetched = next;
    }
    (fresh / total, age / total)
}

/// Mean age at `time` after a fetch: from the first change and from the last.
fn simulate_ages(rate: f64, time: f64, rounds: usize) -> (f64, f64) {
    let mut random = SplitMix64::new(8);
    let (mut first, mut last) = (0.0, 0.0);
    for _ in 0..rounds {
        let mut at = exponential(&mut random, rate);
        first += (time - at).max(0.0);
        let mut latest = time;
        while at <= time {
            latest = at;
            at += exponential(&mut random, rate);
        }
        last += time - latest;
    }
    (first / rounds as f64, last / rounds as f64)
}

pub(super) fn exponential(random: &mut SplitMix64, rate: f64) -> f64 {
    -random.uniform().ln() / rate
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simulation_meets_the_formulas() {
        for (order, _) in ORDERS {
            for r in [0.5, 2.0] {
                let (freshness, age) = simulate(order, r, 200_000);
                assert!((freshness - order.freshness(r, 1.0)).abs() < 0.005, "{order:?} {r}");
                assert!((age - order.age(r, 1.0)).abs() < 0.01, "{order:?} {r}");
            }
        }
    }

    #[test]
    fn the_two_ages_are_those_of_the_two_equations() {
        let (first, last) = simulate_ages(1.0, 2.0, 200_000);
        assert!((first - 1.1353).abs() < 0.01 && (last - 0.5940).abs() < 0.01, "{first} {last}");
    }
}
