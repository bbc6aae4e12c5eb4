//! Figures 9 and 12 to 15: what are the groups, how deep are the pages, and how regular is a front page?

use evercrawl_sites::{Partition, UNREACHED};

use super::{METHODS, YEAR, updates};
use crate::page::{Cell, ReportTable, cell, count, number};
use crate::report::ReportDocument;
use crate::report::trace::SiteTrace;
use evercrawl_draw::{Axis, Figure, FigureLine, Panel};

const DEPTHS: u32 = 8;

pub(super) fn write(document: &mut ReportDocument, traces: &[SiteTrace]) {
    document.section("Figures 9 and 12 to 14: depths and groups");
    document.figure("depths", depths(traces));
    let mut table = ReportTable::new(
        "groups",
        "Groups and pages a group, by the way a site is cut.",
        &[
            "site",
            "pages",
            "groups: A",
            "groups: B",
            "groups: open",
            "pages a group: A",
            "pages a group: B",
            "pages a group: open",
        ],
    );
    let mut sums = [0usize; 3];
    for trace in traces {
        let groups = METHODS.map(|(method, _)| Partition::new(&trace.server, method).len());
        sums.iter_mut().zip(groups).for_each(|(sum, groups)| *sum += groups);
        let sizes = groups.map(|groups| cell(trace.pages() as f64 / groups as f64, 1));
        let first = [Cell::from(trace.name.as_str()), count(trace.pages())];
        table.row(first.into_iter().chain(groups.map(count)).chain(sizes));
    }
    document.table(table);
    let pages: usize = traces.iter().map(SiteTrace::pages).sum();
    let size = |at: usize| pages as f64 / sums[at] as f64;
    document.beside(
        "11 582 pages under 13 links of the front page, within 5 links of it: 152 groups by A, 3129 by B and \
         2430 by C, that is 76, 3.7 and 4.8 pages a group.",
        format!(
            "{} pages on {} sites: {} groups by A, {} by B and {} by open, {:.1}, {:.1} and {:.1} pages a \
             group.",
            number(pages as f64, 0),
            traces.len(),
            sums[0],
            sums[1],
            sums[2],
            size(0),
            size(1),
            size(2),
        ),
        "A university's site keeps few large directories, a documentation site many small ones; by links, \
         with the gaps closed, groups come out about as large.",
    );
    front_pages(document, traces);
}

fn depths(traces: &[SiteTrace]) -> Figure {
    let line = |trace: &SiteTrace| {
        let share = |depth: u32| {
            let deep = trace.numbers().filter(|&page| trace.server.depth(page) == depth).count();
            (f64::from(depth), 100.0 * deep as f64 / trace.pages() as f64)
        };
        FigureLine::dotted_curve(trace.name.as_str(), (1..=DEPTHS).map(share).collect())
    };
    let lost: usize = traces
        .iter()
        .map(|trace| trace.numbers().filter(|&page| trace.server.depth(page) == UNREACHED).count())
        .sum();
    let all: usize = traces.iter().map(SiteTrace::pages).sum();
    Figure {
        title: "How deep pages lie below the front page".to_owned(),
        description: format!(
            "Most pages lie at depths 3 to 5, two to four links from the front page; {:.0} % cannot be reached by \
             links.",
            100.0 * lost as f64 / all as f64
        ),
        x: Axis::linear("depth (the front page has 1)", &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]),
        y: Axis::linear("pages of the site, %", &[0.0, 20.0, 40.0, 60.0, 80.0]),
        panels: vec![Panel { heading: String::new(), lines: traces.iter().map(line).collect() }],
        rule: None,
    }
}

/// The page of depth 1 that changed most often in the scored year, and its gaps in days.
fn front_gaps(trace: &SiteTrace) -> Vec<f64> {
    let fronts = trace.numbers().filter(|&page| trace.server.depth(page) == 1);
    let updates = fronts.map(|page| updates(trace, page, trace.from, trace.from + YEAR));
    let most = updates.max_by_key(Vec::len).unwrap_or_default();
    most.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

/// The mean of gaps and their standard deviation over it.
fn regularity(gaps: &[f64]) -> (f64, f64) {
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
    (mean, variance.sqrt() / mean)
}

fn front_pages(document: &mut ReportDocument, traces: &[SiteTrace]) {
    document.section("Figure 15: how regularly does a front page change?");
    let gaps: Vec<Vec<f64>> = traces.iter().map(front_gaps).collect();
    let line = |(trace, gaps): (&SiteTrace, &Vec<f64>)| {
        let points = gaps.iter().enumerate().map(|(at, gap)| (at as f64 + 1.0, *gap));
        FigureLine::dots(trace.name.as_str(), points.collect())
    };
    let lines = traces.iter().zip(&gaps).map(line).collect();
    let least = gaps.iter().flatten().copied().fold(f64::INFINITY, f64::min);
    let most = gaps.iter().flatten().copied().fold(0.0, f64::max);
    document.figure(
        "front-pages",
        Figure {
            title: "Days between updates of each site's busiest front page".to_owned(),
            description: format!(
                "The gaps between updates of the same page differ on every site, from {} to {} days over \
                 all: no interval is right for long.",
                number(least, 0),
                number(most, 0)
            ),
            x: Axis::linear(
                "number of the update in the year",
                &[0.0, 10.0, 20.0, 30.0, 40.0, 50.0],
            ),
            y: Axis::log("days since the update before", &[1.0, 3.0, 10.0, 30.0, 100.0]),
            panels: vec![Panel { heading: String::new(), lines }],
            rule: None,
        },
    );
    let spreads: Vec<f64> =
        gaps.iter().filter(|gaps| gaps.len() > 2).map(|gaps| regularity(gaps).1).collect();
    let low = spreads.iter().copied().fold(f64::INFINITY, f64::min);
    let high = spreads.iter().copied().fold(0.0, f64::max);
    document.beside(
        "The front page is not updated at a constant interval; the gaps differ greatly with the season.",
        format!(
            "Nor is any here: the standard deviation of the gaps is {low:.1} to {high:.1} times their mean, \
             where a page that changes at random has 1 and a regular one 0."
        ),
        "They agree: people update when there is news, not by the calendar.",
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::trace::testing::trace;

    #[test]
    fn gaps_are_those_of_the_busiest_front_page_in_the_scored_year() {
        let trace =
            trace(&[0, 0], &[(0, 1)], &[(0, 51.0), (0, 60.0), (0, 61.0), (0, 64.0), (1, 70.0)]);
        let gaps = front_gaps(&trace);
        assert_eq!(gaps, [7.0, 21.0]);
        assert_eq!(regularity(&gaps), (14.0, 0.5));
    }
}
