//! Eq. 28 to 38: how is a budget divided over pages whose rates are known?

use evercrawl_estimate::VisitOrder;
use evercrawl_policy::SplitMix64;
use evercrawl_policy::allocate::groups::{GroupingKey, allocate_groups, partition, refine};
use evercrawl_policy::allocate::polling::{PollGap, even_shares, staleness_bound};
use evercrawl_policy::allocate::{Demand, Objective, allocate};
use evercrawl_policy::index::IntervalLimits;

use super::orders::exponential;
use crate::drawings::{frequency_by_rate, freshness_by_budget};
use crate::page::{Cell, ReportTable, cell, count, percent};
use crate::report::threads::each;
use crate::report::{Effort, ReportDocument};

const UNITS: usize = 200_000;

pub(super) fn write(document: &mut ReportDocument, effort: Effort) {
    three_ways(document, effort);
    polling(document);
    carney(document);
}

fn three_ways(document: &mut ReportDocument, effort: Effort) {
    document.section("Uniform, proportional and optimal");
    let pages: Vec<Demand> = (1..=5).map(|rate| Demand::new(f64::from(rate), 1.0)).collect();
    let optimum = |objective| allocate(objective, &pages, 5.0, IntervalLimits::NONE).frequency;
    let ways = [
        ("uniform", vec![1.0; 5]),
        ("proportional", pages.iter().map(|page| page.rate / 3.0).collect()),
        ("best freshness", optimum(Objective::Freshness)),
        ("best age", optimum(Objective::Age)),
    ];
    let simulated = each(&ways, |(_, frequency)| simulate(&pages, frequency, effort.rounds(UNITS)));
    let mut table = ReportTable::new(
        "three-ways",
        "Five pages that change 1 to 5 times a day and five fetches a day (Cho's example): fetches a day \
         of each page, mean freshness by formula and simulated, mean age in days.",
        &[
            "division",
            "rate 1",
            "rate 2",
            "rate 3",
            "rate 4",
            "rate 5",
            "freshness",
            "simulated",
            "age",
        ],
    );
    for ((name, frequency), simulated) in ways.iter().zip(&simulated) {
        let cells = [
            cell(Objective::Freshness.value(&pages, frequency), 4),
            cell(*simulated, 4),
            cell(Objective::Age.value(&pages, frequency), 3),
        ];
        let frequencies = frequency.iter().map(|f| cell(*f, 3));
        table.row([Cell::from(*name)].into_iter().chain(frequencies).chain(cells));
    }
    document.table(table);
    document.figure("by-budget", freshness_by_budget());
    document.figure("by-rate", frequency_by_rate());
    let value = |way: usize| Objective::Freshness.value(&pages, &ways[way].1);
    document.beside(
        "One frequency for all pages is fresher than frequencies in proportion to change (section 3.1).",
        format!(
            "Uniform {:.4}, proportional {:.4}, and the exact optimum, which the survey calls too costly to \
             find for many pages, {:.4}.",
            value(0),
            value(1),
            value(2),
        ),
        "They agree on the order; the optimum costs one search for a single number, O(n) a step, once its \
         conditions are written down.",
    );
}

/// The mean freshness of pages fetched at even gaps, each `units` long.
fn simulate(pages: &[Demand], frequency: &[f64], units: usize) -> f64 {
    let mut random = SplitMix64::new(5);
    let mut fresh = 0.0;
    for (page, &frequency) in pages.iter().zip(frequency).filter(|(_, frequency)| **frequency > 0.0)
    {
        let (fetches, gap) = ((units as f64 * frequency) as usize, 1.0 / frequency);
        let times = (0..fetches).map(|_| exponential(&mut random, page.rate).min(gap));
        fresh += times.sum::<f64>() / (fetches as f64 * gap);
    }
    fresh / pages.len() as f64
}

fn polling(document: &mut ReportDocument) {
    document.section("Eq. 32 to 34: the crawler as a polling server");
    let rates = [0.1, 0.2, 0.3, 0.5];
    let total: f64 = rates.iter().sum();
    let mut table = ReportTable::new(
        "polling",
        "Shares of the fetches of four pages whose weight goes with their rate, and the least weighted \
         staleness that eq. 33 allows, by how long a download takes.",
        &[
            "download takes",
            "rate 0.1",
            "rate 0.2",
            "rate 0.3",
            "rate 0.5",
            "bound",
            "bound in proportion",
        ],
    );
    let mut gains: f64 = 0.0;
    for (name, gap) in
        [("always 1", PollGap::Constant(1.0)), ("exponential, mean 1", PollGap::Exponential(1.0))]
    {
        let cost = |shares: &[f64]| -> f64 {
            let one =
                |(rate, share): (&f64, &f64)| rate / total * staleness_bound(gap, *rate, *share);
            rates.iter().zip(shares).map(one).sum()
        };
        let shares = even_shares(gap, &rates);
        let by_rate = rates.map(|rate| rate / total);
        let (best, plain) = (cost(&shares), cost(&by_rate));
        gains = gains.max(plain - best);
        let cells =
            shares.iter().map(|share| cell(*share, 4)).chain([cell(best, 5), cell(plain, 5)]);
        table.row([Cell::from(name)].into_iter().chain(cells));
    }
    document.table(table);
    document.beside(
        "With weights that go with change rates, the best shares go with −ln h, which is the rate itself \
         only if downloads take a constant time (eq. 34).",
        format!(
            "So it is; the difference between the two is worth at most {gains:.5} of weighted staleness \
             in this example."
        ),
        "They agree, once x_i in eq. 34 is read as f_i and the exponent 1/f in eq. 33 as 1/f_i.",
    );
}

const KEYS: [(GroupingKey, &str); 4] = [
    (GroupingKey::Access, "p"),
    (GroupingKey::Rate, "λ"),
    (GroupingKey::AccessOverRate, "p / λ"),
    (GroupingKey::PerceivedFreshness, "p F(f₀, λ)"),
];
const GROUPS: [usize; 5] = [5, 10, 20, 50, 100];
const BUDGET: f64 = 1000.0;
/// Fetches of a page, on the mean.
const REFERENCE: f64 = 0.5;
const STEPS: usize = 10;

fn carney(document: &mut ReportDocument) {
    document.section("Eq. 37 and 38: Carney's groups");
    document.paragraph(
        "2000 pages with exponential change rates and heavy-tailed access, a fetch for every second page. \
         Pages are sorted by a key, cut into groups of equal size, and each group is fetched as its mean \
         page should be; then ten steps of k-means on (p, λ) move pages between groups.",
    );
    let pages = population();
    let optimum = value(
        &pages,
        &allocate(Objective::Freshness, &pages, BUDGET, IntervalLimits::NONE).frequency,
    );
    let cases: Vec<(GroupingKey, usize)> =
        KEYS.iter().flat_map(|&(key, _)| GROUPS.map(|g| (key, g))).collect();
    let shares = each(&cases, |&(key, count)| of_optimum(&pages, key, count, optimum));
    let mut table = ReportTable::new(
        "carney",
        format!(
            "Perceived freshness as % of the exact optimum ({optimum:.4}), by sorting key and groups."
        ),
        &[
            "groups",
            "p",
            "λ",
            "p / λ",
            "p F(f₀, λ)",
            "p, k-means",
            "λ, k-means",
            "p / λ, k-means",
            "p F, k-means",
        ],
    );
    let share = |key: usize, groups: usize| shares[key * GROUPS.len() + groups];
    for (groups, &number) in GROUPS.iter().enumerate() {
        let plain: Vec<f64> = (0..KEYS.len()).map(|key| share(key, groups).0).collect();
        let refined: Vec<f64> = (0..KEYS.len()).map(|key| share(key, groups).1).collect();
        let row = marked(&plain).chain(marked(&refined));
        table.row([count(number)].into_iter().chain(row));
    }
    document.table(table);
    let ten: Vec<(f64, f64)> = (0..KEYS.len()).map(|key| share(key, 1)).collect();
    let low = ten.iter().map(|share| share.1).fold(f64::INFINITY, f64::min);
    let high = ten.iter().map(|share| share.1).fold(0.0, f64::max);
    document.beside(
        "Sorting by freshness, the fourth key, comes nearest the optimum; clustering improves on it.",
        format!(
            "With ten groups the keys reach {:.1}, {:.1}, {:.1} and {:.1} % of the optimum, so the fourth \
             leads; after k-means all lie between {:.1} and {:.1} %.",
            100.0 * ten[0].0,
            100.0 * ten[1].0,
            100.0 * ten[2].0,
            100.0 * ten[3].0,
            100.0 * low,
            100.0 * high,
        ),
        "They agree, with the fourth key read as p F(f₀, λ) at one frequency for all; but the exact optimum \
         needs no more than a search for one number, so that groups are no longer needed.",
    );
}

/// The reference's population: all rates are drawn first, then all access probabilities.
fn population() -> Vec<Demand> {
    let mut random = SplitMix64::new(7);
    let rates: Vec<f64> = (0..2000).map(|_| -2.0 * random.uniform().ln()).collect();
    rates.into_iter().map(|rate| Demand::new(rate, random.uniform().powf(-0.6))).collect()
}

fn value(pages: &[Demand], frequency: &[f64]) -> f64 {
    let total: f64 = pages.iter().map(|page| page.weight).sum();
    let one = |(page, f): (&Demand, &f64)| page.weight * VisitOrder::Fixed.freshness(page.rate, *f);
    pages.iter().zip(frequency).map(one).sum::<f64>() / total
}

/// The shares of the optimum that groups reach, as cut and after k-means.
fn of_optimum(pages: &[Demand], key: GroupingKey, count: usize, optimum: f64) -> (f64, f64) {
    let mut group = partition(pages, count, key, REFERENCE);
    let reached = |group: &[usize]| value(pages, &allocate_groups(pages, group, BUDGET).frequency);
    let plain = reached(&group);
    refine(pages, &mut group, STEPS);
    (plain / optimum, reached(&group) / optimum)
}

/// Shares as per cent, the largest standing out.
fn marked(shares: &[f64]) -> impl Iterator<Item = Cell> {
    let best = shares.iter().copied().fold(0.0, f64::max);
    shares.iter().map(move |&share| percent(share, 1).bold_if(share == best))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carneys_table_is_that_of_the_reference() {
        let pages = population();
        let optimum = value(
            &pages,
            &allocate(Objective::Freshness, &pages, BUDGET, IntervalLimits::NONE).frequency,
        );
        assert!((optimum - 0.502_988_634).abs() < 1e-8, "{optimum}");
        for (key, plain, refined) in [
            (GroupingKey::Access, 86.6, 96.2),
            (GroupingKey::Rate, 85.1, 95.4),
            (GroupingKey::AccessOverRate, 87.3, 96.0),
            (GroupingKey::PerceivedFreshness, 90.7, 96.8),
        ] {
            let got = of_optimum(&pages, key, 10, optimum);
            assert!((100.0 * got.0 - plain).abs() < 0.06, "{key:?} {got:?}");
            assert!((100.0 * got.1 - refined).abs() < 0.06, "{key:?} {got:?}");
        }
    }

    #[test]
    fn simulated_freshness_is_that_of_the_formula() {
        let pages = [Demand::new(1.0, 1.0), Demand::new(3.0, 1.0)];
        let got = simulate(&pages, &[2.0, 0.0], 50_000);
        assert!((got - Objective::Freshness.value(&pages, &[2.0, 0.0])).abs() < 0.003, "{got}");
    }
}
