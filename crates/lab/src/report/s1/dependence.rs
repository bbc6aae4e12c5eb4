//! Section 5.1, figures 16 to 20: how closely do members follow their top, and what does that group?

use evercrawl_policy::Days;
use evercrawl_sites::{
    DependenceHeap, Pairing, Partition, PartitionMethod, dependence, pivot_groups, width_groups,
};

use super::{METHODS, YEAR, rank_correlation, updates};
use crate::page::{Cell, ReportTable, cell, count, number, percent};
use crate::report::ReportDocument;
use crate::report::trace::SiteTrace;
use evercrawl_draw::{Axis, Figure, FigureLine, Panel};

/// The widths of the paper.
const WIDTHS: [f64; 4] = [0.0, 0.05, 0.2, 0.5];

pub(super) fn write(document: &mut ReportDocument, traces: &[SiteTrace]) {
    document.section("Dependence: how closely do members follow their top?");
    document.paragraph(
        "The dependence of a member is the mean time between each of its updates and the nearest update of \
         its top, in days: the smaller, the closer. The paper leaves sign and pairing open; this is how it is \
         read here. A crawler in the field knows only the update before.",
    );
    let values: Vec<Values> = traces.iter().map(Values::of).collect();
    document.table(table(traces, &values));
    document.figure("dependence", figure(traces, &values));
    let lasting: Vec<f64> = values.iter().map(Values::lasting).collect();
    let mean = lasting.iter().sum::<f64>() / lasting.len() as f64;
    document.beside(
        "Groups are formed by the dependence measured over the same months in which they are scored.",
        format!(
            "From one year to the next the dependence of the same pages has a rank correlation of {:.2} on \
             average ({}).",
            mean,
            traces
                .iter()
                .zip(&lasting)
                .map(|(trace, value)| format!("{} {}", trace.name, number(*value, 2)))
                .collect::<Vec<_>>()
                .join(", "),
        ),
        "Many pages change once or twice a year; the value of such a page is mostly chance, and chance does \
         not repeat.",
    );
    heap(document, traces);
    widths(document, traces);
}

/// The dependence of members, by the sites of the open reading, in the year before and in the next.
struct Values {
    before: Vec<f64>,
    next: Vec<f64>,
    preceding: Vec<f64>,
}

impl Values {
    fn of(trace: &SiteTrace) -> Self {
        let partition = Partition::new(&trace.server, PartitionMethod::Open);
        let all = |from: Days, pairing: Pairing| -> Vec<f64> {
            partition
                .sites()
                .flat_map(|site| of_site(trace, &partition, site, from, pairing))
                .collect()
        };
        Values {
            before: all(trace.from - YEAR, Pairing::Nearest),
            next: all(trace.from, Pairing::Nearest),
            preceding: all(trace.from, Pairing::Preceding),
        }
    }

    /// How far the order of one year is that of the next.
    fn lasting(&self) -> f64 {
        let pairs: Vec<(f64, f64)> =
            self.before.iter().copied().zip(self.next.iter().copied()).collect();
        rank_correlation(&pairs)
    }
}

/// The values of the members of a site over the year that begins at `from`.
fn of_site(
    trace: &SiteTrace,
    partition: &Partition,
    site: u32,
    from: Days,
    pairing: Pairing,
) -> Vec<f64> {
    let year = |page: u32| updates(trace, page, from, from + YEAR);
    let top = partition.tops(site).first().map(|&top| year(top)).unwrap_or_default();
    let members = partition.members(site).iter();
    members.map(|&member| dependence(&top, &year(member), pairing)).collect()
}

/// The share of values up to `limit`.
fn share_up_to(values: &[f64], limit: f64) -> f64 {
    values.iter().filter(|value| **value <= limit).count() as f64 / values.len() as f64
}

fn median(values: &[f64]) -> f64 {
    let mut finite: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    finite.sort_by(f64::total_cmp);
    finite.get(finite.len() / 2).copied().unwrap_or(f64::NAN)
}

fn table(traces: &[SiteTrace], values: &[Values]) -> ReportTable {
    let mut table = ReportTable::new(
        "dependence",
        "Dependence of members in the scored year: shares in %, medians in days.",
        &[
            "site",
            "members",
            "no value",
            "same day",
            "within a day",
            "within a week",
            "median",
            "median to the update before",
        ],
    );
    for (trace, values) in traces.iter().zip(values) {
        let next = &values.next;
        table.row([
            trace.name.as_str().into(),
            count(next.len()),
            percent(1.0 - share_up_to(next, f64::MAX), 0),
            percent(share_up_to(next, 0.0), 0),
            percent(share_up_to(next, 1.0), 0),
            percent(share_up_to(next, 7.0), 0),
            cell(median(next), 1),
            cell(median(&values.preceding), 1),
        ]);
    }
    table
}

fn figure(traces: &[SiteTrace], values: &[Values]) -> Figure {
    let days: Vec<f64> = (0..=80).map(|i| 0.1 * 3650f64.powf(f64::from(i) / 80.0)).collect();
    let panel = |heading: &str, of: fn(&Values) -> &Vec<f64>| {
        let line = |(trace, values): (&SiteTrace, &Values)| {
            let points = days.iter().map(|&day| (day, 100.0 * share_up_to(of(values), day)));
            FigureLine::curve(trace.name.as_str(), points.collect())
        };
        Panel { heading: heading.to_owned(), lines: traces.iter().zip(values).map(line).collect() }
    };
    Figure {
        title: "Members by how closely they follow their top".to_owned(),
        description: "Some members change on the very days of their top, where the curves begin; most of those \
                      that change at all do so days to weeks apart from it, and many have no value because \
                      they or their top did not change in the year."
            .to_owned(),
        x: Axis::log("dependence, days", &[0.1, 1.0, 10.0, 100.0, 365.0]),
        y: Axis::linear("members up to that value, %", &[0.0, 20.0, 40.0, 60.0, 80.0, 100.0]),
        panels: vec![panel("the year before", |v| &v.before), panel("the scored year", |v| &v.next)],
        rule: None,
    }
}

fn heap(document: &mut ReportDocument, traces: &[SiteTrace]) {
    document.section("Figures 16 and 17: a heap, and what joins its pages");
    let Some((trace, site, values)) = example(traces) else { return };
    let partition = Partition::new(&trace.server, PartitionMethod::Open);
    let members = partition.members(site);
    let heap = DependenceHeap::new(&values);
    let places: Vec<Vec<usize>> = WIDTHS[..3]
        .iter()
        .map(|&width| group_of(&width_groups(&values, width, 0.0), values.len()))
        .collect();
    let path = |page: u32| path_of(&trace.urls[page as usize]);
    let top = partition.tops(site).first().map_or("", |&top| path(top));
    let mut table = ReportTable::new(
        "heap",
        format!(
            "The members of the site below {top} as the heap holds them, and the groups they fall in."
        ),
        &[
            "place",
            "below",
            "page",
            "dependence, days",
            "group, no width",
            "group, 5 %",
            "group, 20 %",
        ],
    );
    for (place, member) in heap.members().enumerate() {
        let at = member as usize;
        let above =
            if place == 0 { "the top".to_owned() } else { ((place - 1) / 2 + 1).to_string() };
        let first = [
            count(place + 1),
            Cell::from(above),
            Cell::from(path(members[at])),
            cell(values[at], 3),
        ];
        table.row(first.into_iter().chain(places.iter().map(|places| count(places[at] + 1))));
    }
    document.table(table);
    let groups = |place: usize| places[place].iter().max().map_or(0, |last| last + 1);
    document.beside(
        "Two pages with the value 2.645 are joined, since their intervals coincide, and then collected \
         together.",
        format!(
            "In this example {} members make {} groups without width, {} with 5 % and {} with 20 %.",
            values.len(),
            groups(0),
            groups(1),
            groups(2),
        ),
        "Values coincide exactly only where pages changed by the same acts; the heap itself is an order and \
         joins nothing.",
    );
}

/// What follows the host of a URL.
fn path_of(url: &str) -> &str {
    let host = url.find("://").map_or(0, |at| at + 3);
    url[host..].find('/').map_or("/", |at| &url[host + at..])
}

/// A site with six to twelve members, all with a value, two of them equal: the first that there is.
fn example(traces: &[SiteTrace]) -> Option<(&SiteTrace, u32, Vec<f64>)> {
    traces.iter().find_map(|trace| {
        let partition = Partition::new(&trace.server, PartitionMethod::Open);
        partition.sites().find_map(|site| {
            let values = of_site(trace, &partition, site, trace.from, Pairing::Nearest);
            let fits =
                (6..=12).contains(&values.len()) && values.iter().all(|value| value.is_finite());
            let groups = width_groups(&values, 0.0, 0.0).len();
            let varied = groups > values.len() / 2 && groups < values.len();
            (fits && varied).then_some((trace, site, values))
        })
    })
}

/// The number of the group of each member.
fn group_of(groups: &[Vec<u32>], members: usize) -> Vec<usize> {
    let mut of = vec![0; members];
    for (number, group) in groups.iter().enumerate() {
        group.iter().for_each(|&member| of[member as usize] = number);
    }
    of
}

fn widths(document: &mut ReportDocument, traces: &[SiteTrace]) {
    document.section("Figures 18 to 20: how many groups a width leaves");
    let mut table = ReportTable::new(
        "widths",
        "Groups of members with a value in the scored year, all sites together: components of the interval \
         graph; the same when half of an interval must overlap (max-tolerance); and pivots, where the \
         smallest value takes all within the width.",
        &[
            "cut by",
            "members",
            "no width",
            "5 %",
            "20 %",
            "50 %",
            "50 %, half overlap",
            "pivots 5 %",
            "pivots 20 %",
            "pivots 50 %",
        ],
    );
    let mut left = Vec::new();
    for (method, name) in METHODS {
        let values = all_values(traces, method);
        let members: usize = values.iter().map(Vec::len).sum();
        let groups =
            |of: &dyn Fn(&[f64]) -> usize| values.iter().map(|site| of(site)).sum::<usize>();
        let widths = WIDTHS.map(|width| groups(&|site| width_groups(site, width, 0.0).len()));
        let half = groups(&|site| width_groups(site, 0.5, 0.5).len());
        let pivots = [0.05, 0.2, 0.5].map(|width| groups(&|site| pivot_groups(site, width).len()));
        left.push((members, widths));
        let first = [Cell::from(name), count(members)];
        table.row(
            first
                .into_iter()
                .chain(widths.map(count))
                .chain([count(half)])
                .chain(pivots.map(count)),
        );
    }
    document.table(table);
    let (members, widths) = left[2];
    let share = |groups: usize| 100.0 * groups as f64 / members as f64;
    document.beside(
        "A width of 50 % makes the dependence of all pages alike.",
        format!(
            "Cut the open way, {:.0} % of the members are groups of their own without width, {:.0} % with \
             5 %, {:.0} % with 20 % and {:.0} % with 50 %.",
            share(widths[0]),
            share(widths[1]),
            share(widths[2]),
            share(widths[3]),
        ),
        "Overlapping intervals chain, so that wide ones run into one another, but none beyond the members of \
         its top, of which our sites have many; pivots do not chain and keep more groups.",
    );
}

/// The values of every site's members that have one.
fn all_values(traces: &[SiteTrace], method: PartitionMethod) -> Vec<Vec<f64>> {
    let of_trace = |trace: &SiteTrace| -> Vec<Vec<f64>> {
        let partition = Partition::new(&trace.server, method);
        let finite = |site: u32| -> Vec<f64> {
            let values = of_site(trace, &partition, site, trace.from, Pairing::Nearest);
            values.into_iter().filter(|value| value.is_finite()).collect()
        };
        partition.sites().map(finite).collect()
    };
    traces.iter().flat_map(of_trace).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::trace::testing::trace;

    #[test]
    fn values_are_mean_gaps_to_the_top_in_days() {
        // The top 0 changes in weeks 60 and 70; page 1 a week after each, page 2 never.
        let changes = [(0, 60.0), (0, 70.0), (1, 61.0), (1, 71.0), (1, 20.0)];
        let trace = trace(&[0, 0, 0], &[(0, 1), (0, 2)], &changes);
        let values = Values::of(&trace);
        assert_eq!(values.next, [7.0, f64::INFINITY]);
        assert_eq!(values.before, [f64::INFINITY; 2], "the top did not change in that year");
        assert_eq!((share_up_to(&values.next, 7.0), median(&values.next)), (0.5, 7.0));
    }

    #[test]
    fn paths_begin_behind_the_host() {
        assert_eq!(
            (path_of("http://s/a/b"), path_of("http://s"), path_of("/x")),
            ("/a/b", "/", "/x")
        );
    }

    #[test]
    fn members_know_their_group() {
        assert_eq!(group_of(&[vec![2, 0], vec![1]], 3), [0, 1, 0]);
    }
}
