//! Figures 21 to 25: what does an archive catch that collects each group at its own interval?

use evercrawl_policy::schedulers::dependence::{Dependence, Grouping};
use evercrawl_policy::{Agenda, Days, Page, Round};
use evercrawl_sites::{Pairing, Partition, PartitionMethod, dependence};

use super::{METHODS, YEAR, rank_correlation, updates};
use crate::page::{Cell, ReportTable, number, percent};
use crate::report::ReportDocument;
use crate::report::threads::each;
use crate::report::trace::{SiteTrace, WEEK};
use evercrawl_draw::{Axis, Figure, FigureLine, Panel};

/// How the members of a site are grouped.
const GROUPINGS: [(&str, Grouping); 6] = [
    ("no width", Grouping::Components { width: 0.0, tolerance: 0.0 }),
    ("5 %", Grouping::Components { width: 0.05, tolerance: 0.0 }),
    ("20 %", Grouping::Components { width: 0.2, tolerance: 0.0 }),
    ("50 %", Grouping::Components { width: 0.5, tolerance: 0.0 }),
    ("pivots 5 %", Grouping::Pivots { width: 0.05 }),
    ("pivots 20 %", Grouping::Pivots { width: 0.2 }),
];
/// By how much all intervals are stretched for the curves.
const STRETCHES: [f64; 9] = [0.125, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 4.0, 8.0];

pub(super) fn write(
    document: &mut ReportDocument,
    traces: &[SiteTrace],
    progress: &(dyn Fn(&str) + Sync),
) {
    document.section("Figures 21 to 24: coverage against cost");
    document.paragraph(
        "Every group is collected together, each time its interval has passed: the mean gap between updates \
         of its member closest to the top. Pages of which too little is known keep the mean gap of all; the \
         baseline collects every page at that. Coverage is updates caught over updates there were, several \
         between two collections counting once. Stretching all intervals alike gives the curves.",
    );
    let measured = each(traces, |trace| {
        let measured = ArchiveMeasurement::of(trace);
        progress(&format!("{} archived", trace.name));
        measured
    });
    let base = mean(measured.iter().map(|m| m.baseline.run(&m.scored, 1.0).coverage()));
    let same_year = equal_cost(&measured, |m| &m.same);
    let next_year = equal_cost(&measured, |m| &m.next);
    for (name, grouping) in [("no-width", 0), ("width-5", 1), ("width-20", 2), ("width-50", 3)] {
        let best = |all: &[Vec<f64>]| all.iter().map(|row| row[grouping]).fold(0.0, f64::max);
        let reached = [base, best(&same_year), best(&next_year)];
        document.figure(&format!("coverage-{name}"), figure(&measured, grouping, reached));
    }
    document.table(table("same-year", "tuned on the year that is scored", &same_year));
    document.table(table("next-year", "tuned on the year before", &next_year));
    let best = |all: &[Vec<f64>]| 100.0 * all.iter().flatten().copied().fold(0.0, f64::max);
    document.beside(
        "Without width coverage is best; at 5 % nothing is lost with A and C, and C needs about 6000 \
         collections where the baseline needs 10 000; at 20 % B and C save about 2000; at 50 % all fall \
         below the baseline. All on the months on which the intervals were measured.",
        format!(
            "At the cost at which the baseline catches {:.1} % of the updates, the best grouping catches {:.1} % \
             if tuned on the year that is scored, and {:.1} % if tuned on the year before.",
            100.0 * base,
            best(&same_year),
            best(&next_year),
        ),
        "The mean gap between updates is the pace within a bout: a page updated on two days running is then \
         collected daily all year, which costs more than it catches on sites where most pages change a few \
         times a year, and one year's pace says little of the next one's.",
    );
    front_dependence(document, traces, &measured);
}

/// A trace with the intervals of every method and grouping.
struct ArchiveMeasurement {
    scored: Vec<Vec<Days>>,
    lives: Vec<Days>,
    baseline: Intervals,
    /// By method and grouping: tuned on the scored year, and on the one before.
    same: Vec<Vec<Intervals>>,
    next: Vec<Vec<Intervals>>,
}

/// How often each page is collected; how long each lives in the scored year.
struct Intervals {
    every: Vec<Days>,
    lives: Vec<Days>,
}

/// What an archive caught.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Caught {
    fetches: f64,
    caught: f64,
    updates: f64,
}

impl Caught {
    fn coverage(self) -> f64 {
        self.caught / self.updates
    }
}

impl ArchiveMeasurement {
    fn of(trace: &SiteTrace) -> Self {
        let lives: Vec<Days> =
            trace.dies.iter().map(|&dies| dies.min(trace.to) - trace.from).collect();
        let all = |from: Days| -> Vec<Vec<Intervals>> {
            let past = past(trace, from);
            let one = |method, grouping| Intervals::of(trace, method, grouping, &past, &lives);
            let method = |(method, _)| {
                GROUPINGS.iter().map(|&(_, grouping)| one(method, grouping)).collect()
            };
            METHODS.into_iter().map(method).collect()
        };
        let gap = mean_gap_of_all(trace);
        ArchiveMeasurement {
            scored: trace.numbers().map(|page| since_start(trace, page)).collect(),
            baseline: Intervals { every: vec![gap; trace.pages()], lives: lives.clone() },
            same: all(trace.from),
            next: all(trace.from - YEAR),
            lives,
        }
    }
}

/// The `(page, time)` of all updates in the year that begins at `from`.
fn past(trace: &SiteTrace, from: Days) -> Vec<(u32, Days)> {
    let year =
        |page: u32| updates(trace, page, from, from + YEAR).into_iter().map(move |at| (page, at));
    trace.numbers().flat_map(year).collect()
}

/// The updates of a page, in days since the scored year began.
fn since_start(trace: &SiteTrace, page: u32) -> Vec<Days> {
    let times = updates(trace, page, trace.from, trace.to);
    times.into_iter().map(|at| (at - trace.from).max(0.0)).collect()
}

/// The mean over pages of the mean gap between their updates in the year before.
fn mean_gap_of_all(trace: &SiteTrace) -> Days {
    let gap =
        |page: u32| evercrawl_sites::mean_gap(&updates(trace, page, trace.from - YEAR, trace.from));
    let gaps: Vec<Days> =
        trace.numbers().map(gap).filter(|gap| gap.is_finite() && *gap > 0.0).collect();
    if gaps.is_empty() { WEEK } else { mean(gaps.into_iter()) }
}

impl Intervals {
    /// Asks the policy that crawls by dependence how often it would fetch each page.
    fn of(
        trace: &SiteTrace,
        method: PartitionMethod,
        grouping: Grouping,
        past: &[(u32, Days)],
        lives: &[Days],
    ) -> Self {
        let policy = Box::new(Dependence::new(&trace.server, method, grouping, past));
        let page = |id: u32| Page { last: trace.from, ..Page::new(id) };
        let mut agenda = Agenda::new(policy, trace.numbers().map(page).collect(), trace.from);
        agenda.begin_round(&Round { start: trace.from, length: WEEK, fetches: trace.pages() });
        let every = |page: &Page| {
            let reasons = agenda.policy().explain(page, trace.from);
            reasons.iter().find(|(name, _)| *name == "interval").map_or(WEEK, |(_, every)| *every)
        };
        Intervals { every: agenda.pages().iter().map(every).collect(), lives: lives.to_vec() }
    }

    /// Collects every page each `stretch` times its interval.
    fn run(&self, updates: &[Vec<Days>], stretch: f64) -> Caught {
        let mut sum = Caught::default();
        for ((every, lives), updates) in self.every.iter().zip(&self.lives).zip(updates) {
            // A page that is gone is collected once more, and found gone.
            let one = collect(every * stretch, *lives, updates);
            sum.fetches += one.fetches;
            sum.caught += one.caught;
            sum.updates += one.updates;
        }
        sum
    }

    /// The stretch at which the cost is `fetches`.
    fn stretch_for(&self, updates: &[Vec<Days>], fetches: f64) -> f64 {
        let (mut low, mut high) = (1e-3f64, 1e3f64);
        for _ in 0..60 {
            let middle = (low * high).sqrt();
            if self.run(updates, middle).fetches > fetches { low = middle } else { high = middle }
        }
        high
    }
}

/// The changes caught on one page that lives `lives` days.
fn collect(every: Days, lives: Days, updates: &[Days]) -> Caught {
    let last = (lives / every).floor();
    let seen_by = |at: &Days| (at / every).ceil();
    let mut rounds: Vec<f64> = updates.iter().map(seen_by).filter(|&round| round <= last).collect();
    rounds.dedup();
    Caught { fetches: last, caught: rounds.len() as f64, updates: updates.len() as f64 }
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    sum / count
}

/// Coverage by method and grouping at the baseline's cost, mean of all sites.
fn equal_cost(
    measured: &[ArchiveMeasurement],
    of: fn(&ArchiveMeasurement) -> &Vec<Vec<Intervals>>,
) -> Vec<Vec<f64>> {
    let coverage = |m: &ArchiveMeasurement, method: usize, grouping: usize| {
        let cost = m.baseline.run(&m.scored, 1.0).fetches;
        let intervals = &of(m)[method][grouping];
        intervals.run(&m.scored, intervals.stretch_for(&m.scored, cost)).coverage()
    };
    let cases: Vec<(usize, usize)> =
        (0..METHODS.len()).flat_map(|m| (0..GROUPINGS.len()).map(move |g| (m, g))).collect();
    let means = each(&cases, |&(method, grouping)| {
        mean(measured.iter().map(|m| coverage(m, method, grouping)))
    });
    means.chunks(GROUPINGS.len()).map(<[f64]>::to_vec).collect()
}

fn table(name: &str, how: &str, coverage: &[Vec<f64>]) -> ReportTable {
    let mut columns = vec!["cut by"];
    columns.extend(GROUPINGS.map(|(name, _)| name));
    let caption = format!("Coverage at the cost of the baseline, {how}: %, mean of all sites.");
    let mut table = ReportTable::new(name, caption, &columns);
    let best = coverage.iter().flatten().copied().fold(0.0, f64::max);
    for ((_, method), row) in METHODS.iter().zip(coverage) {
        let cells = row.iter().map(|&share| percent(share, 1).bold_if(share == best));
        table.row([Cell::from(*method)].into_iter().chain(cells));
    }
    table
}

/// `reached` is what the baseline and the best of each panel catch at the baseline's cost.
fn figure(measured: &[ArchiveMeasurement], grouping: usize, reached: [f64; 3]) -> Figure {
    let line = |label: &str, of: &dyn Fn(&ArchiveMeasurement) -> &Intervals| {
        let point = |stretch: &f64| {
            let runs = measured.iter().map(|m| (m.lives.len(), of(m).run(&m.scored, *stretch)));
            let runs: Vec<(usize, Caught)> = runs.collect();
            let cost = mean(runs.iter().map(|(pages, run)| run.fetches / *pages as f64));
            (cost, 100.0 * mean(runs.iter().map(|(_, run)| run.coverage())))
        };
        let points = STRETCHES.iter().rev().map(point).collect();
        FigureLine::dotted_curve(label, points)
    };
    let panel = |heading: &str, of: fn(&ArchiveMeasurement) -> &Vec<Vec<Intervals>>| {
        let methods = METHODS
            .iter()
            .enumerate()
            .map(|(method, (_, name))| line(name, &|m| &of(m)[method][grouping]).of(name));
        // All pages at one interval: uniform.
        let baseline = line("baseline", &|m| &m.baseline).of("uniform");
        Panel {
            heading: heading.to_owned(),
            lines: std::iter::once(baseline).chain(methods).collect(),
        }
    };
    let width = GROUPINGS[grouping].0;
    Figure {
        title: format!(
            "Coverage against cost, width of intervals: {}",
            if grouping == 0 { "none" } else { width }
        ),
        description: format!(
            "Where the baseline at its own pace catches {:.0} %, the best cut catches {:.0} % at the same cost if \
             its intervals come from the scored year itself, and {:.0} % if they come from the year before.",
            100.0 * reached[0],
            100.0 * reached[1],
            100.0 * reached[2],
        ),
        x: Axis::log("collections a page and year", &[0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]),
        y: Axis::linear("updates caught, %", &[0.0, 20.0, 40.0, 60.0, 80.0, 100.0]),
        panels: vec![
            panel("tuned on the scored year", |m| &m.same),
            panel("tuned on the year before", |m| &m.next),
        ],
        rule: None,
    }
}

/// Figure 25: do groups that follow the front page get covered better?
fn front_dependence(
    document: &mut ReportDocument,
    traces: &[SiteTrace],
    measured: &[ArchiveMeasurement],
) {
    document.section("Figure 25: dependence on the front page and coverage");
    let mut lines = Vec::new();
    let mut found = Vec::new();
    for (trace, measured) in traces.iter().zip(measured) {
        let points = group_points(trace, measured);
        found.push((trace.name.as_str(), -rank_correlation(&points), points.len()));
        lines.push(FigureLine::dots(trace.name.as_str(), points));
    }
    document.figure(
        "front-dependence",
        Figure {
            title: "Groups by how closely their top follows the front page".to_owned(),
            description: "Each dot is a group of the open reading with at least ten updates in the scored \
                          year, collected at intervals of the year before, width 5 %; those that follow the \
                          front page closely stand at the left, those on the very days of it at 0.1."
                .to_owned(),
            x: Axis::log(
                "dependence of the group's top on the front page, days",
                &[0.1, 1.0, 10.0, 100.0, 365.0],
            ),
            y: Axis::linear("updates of the group caught, %", &[0.0, 20.0, 40.0, 60.0, 80.0, 100.0]),
            panels: vec![Panel { heading: String::new(), lines }],
            rule: None,
        },
    );
    let shown: Vec<String> = found
        .iter()
        .filter(|(_, correlation, groups)| correlation.is_finite() && *groups >= 10)
        .map(|(name, correlation, groups)| {
            format!("{name} {} ({groups} groups)", number(*correlation, 2))
        })
        .collect();
    document.beside(
        "The higher the dependence on the site's top page, the higher the coverage.",
        format!("The rank correlation of closeness and coverage is {}.", shown.join(", ")),
        "On one site with a news page on its front the two may go together; elsewhere coverage depends on \
         how often a group changes, whatever the front page does.",
    );
}

/// `(dependence of the group's top on the front page, coverage in %)` of groups with enough updates.
fn group_points(trace: &SiteTrace, measured: &ArchiveMeasurement) -> Vec<(f64, f64)> {
    let partition = Partition::new(&trace.server, PartitionMethod::Open);
    let intervals = &measured.next[2][1];
    let year = |page: u32| updates(trace, page, trace.from, trace.to);
    let fronts = trace.numbers().filter(|&page| trace.server.depth(page) == 1);
    let front = fronts.map(year).max_by_key(Vec::len).unwrap_or_default();
    let point = |site: u32| {
        let mut sum = Caught::default();
        for &page in partition.tops(site).iter().chain(partition.members(site)) {
            let at = page as usize;
            let one = collect(intervals.every[at], measured.lives[at], &measured.scored[at]);
            sum.caught += one.caught;
            sum.updates += one.updates;
        }
        let top = partition.tops(site).first().map(|&top| year(top)).unwrap_or_default();
        let value = dependence(&front, &top, Pairing::Nearest);
        (sum.updates >= 10.0 && value.is_finite()).then(|| (value.max(0.1), 100.0 * sum.coverage()))
    };
    partition.sites().filter_map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::trace::testing::trace;

    #[test]
    fn updates_between_two_collections_are_caught_once() {
        // Collected at 10, 20 and 30 of 35 days.
        let caught = collect(10.0, 35.0, &[1.0, 9.0, 15.0, 34.0]);
        assert_eq!(caught, Caught { fetches: 3.0, caught: 2.0, updates: 4.0 });
        assert_eq!(collect(50.0, 35.0, &[1.0]).caught, 0.0);
    }

    #[test]
    fn intervals_are_those_of_the_policy_and_can_be_stretched_to_any_cost() {
        // The top changes every 4 weeks, its member a day later, in both years.
        let changes: Vec<(u32, f64)> = (1..25)
            .flat_map(|i| [(0, f64::from(4 * i)), (1, f64::from(4 * i) + 1.0 / 7.0)])
            .collect();
        let trace = trace(&[0, 0], &[(0, 1)], &changes);
        let measured = ArchiveMeasurement::of(&trace);
        assert!(measured.next[0][1].every.iter().all(|every| (every - 28.0).abs() < 1e-9));
        assert!((measured.baseline.every[0] - 28.0).abs() < 1e-9);
        let run = measured.next[0][1].run(&measured.scored, 1.0);
        assert_eq!(run.fetches, 26.0);
        let stretch = measured.next[0][1].stretch_for(&measured.scored, 13.0);
        assert!((measured.next[0][1].run(&measured.scored, stretch).fetches - 13.0).abs() <= 1.0);
    }
}
