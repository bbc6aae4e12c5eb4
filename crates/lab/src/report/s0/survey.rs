//! Tables 1 to 3, figures 1, 10 and 11: how do the sites change?

use super::measure::{ByTop, HORIZONS, PRINTED, SurveyMeasurement};
use crate::page::{Cell, ReportTable, cell, count, number, percent};
use crate::report::ReportDocument;
use crate::report::trace::{SiteTrace, WEEK};
use evercrawl_draw::{Axis, Figure, FigureLine, Panel};

pub(super) fn write(
    document: &mut ReportDocument,
    traces: &[SiteTrace],
    measured: &[Vec<SurveyMeasurement>],
) {
    sites(document, traces);
    updated(document, traces, measured);
    top_pages(document, traces, measured);
    update_counts(document, traces);
}

fn sites(document: &mut ReportDocument, traces: &[SiteTrace]) {
    document.section("Table 1: the sites");
    let mut table = ReportTable::new(
        "table1",
        "The sites as they stood when the recorded year began.",
        &[
            "site",
            "pages",
            "directories",
            "pages a directory",
            "links a page",
            "reached by links, %",
        ],
    );
    for trace in traces {
        let (pages, server) = (trace.pages() as f64, &trace.server);
        table.row([
            trace.name.as_str().into(),
            count(trace.pages()),
            count(server.directories()),
            cell(pages / server.directories() as f64, 1),
            cell(server.total_links() as f64 / pages, 1),
            percent(trace.reach(), 0),
        ]);
    }
    let total: usize = traces.iter().map(SiteTrace::pages).sum();
    document.table(table);
    document.beside(
        "17 613 servers in six domains, 1 652 609 pages, 93.8 pages a server; pages up to 11 links from \
         the top page, checked weekly from June to December 2003.",
        format!(
            "{} servers, {} pages, {} pages a server; a year of each, every change known to the second.",
            traces.len(),
            number(total as f64, 0),
            number(total as f64 / traces.len() as f64, 0),
        ),
        "Ours are few and large sites whose whole history is public, theirs a random sample of a country, \
         mostly of small ones; so where the paper sorts by server we sort by directory.",
    );
}

fn updated(
    document: &mut ReportDocument,
    traces: &[SiteTrace],
    measured: &[Vec<SurveyMeasurement>],
) {
    document.section("Table 2: how many pages change");
    let mut table = ReportTable::new(
        "table2",
        "Pages that had changed after so many weeks, % of those there at the start, mean over the year.",
        &["site", "2 weeks", "4 weeks", "12 weeks", "24 weeks"],
    );
    let shares = |of: &[SurveyMeasurement]| PRINTED.map(|h| of[h].methods[0].changed);
    for (trace, of) in traces.iter().zip(measured) {
        let cells = shares(of).map(|share| percent(share, 1));
        table.row([Cell::from(trace.name.as_str())].into_iter().chain(cells));
    }
    let mut means = [0.0; 4];
    for of in measured {
        means
            .iter_mut()
            .zip(shares(of))
            .for_each(|(mean, share)| *mean += share / measured.len() as f64);
    }
    let cells = means.map(|share| percent(share, 1));
    table.row([Cell::from("mean of sites")].into_iter().chain(cells));
    document.table(table);
    let times = means[3] / means[0];
    document.beside(
        "3.6, 7.7, 14.5 and 21.0 % of pages after 2, 4, 12 and 24 weeks; the share rises about linearly, \
         with little difference between domains.",
        format!(
            "{:.1}, {:.1}, {:.1} and {:.1} %: {times:.1} times as many after 24 weeks as after 2, where \
             theirs are 5.8 times as many; single sites differ by a factor of {:.0} after 24 weeks.",
            100.0 * means[0],
            100.0 * means[1],
            100.0 * means[2],
            100.0 * means[3],
            spread(measured),
        ),
        "Sites whose sources are public are maintained by many people and change more than the average server \
         of 2003, of which many were not touched at all.",
    );
}

fn spread(measured: &[Vec<SurveyMeasurement>]) -> f64 {
    let shares = || measured.iter().map(|of| of[PRINTED[3]].methods[0].changed);
    shares().fold(0.0, f64::max) / shares().fold(f64::INFINITY, f64::min)
}

fn top_pages(
    document: &mut ReportDocument,
    traces: &[SiteTrace],
    measured: &[Vec<SurveyMeasurement>],
) {
    document.section("Figure 1 and table 3: does the top page signal changes?");
    document.figure("top-pages", top_figure(traces, measured));
    let mut table = ReportTable::new(
        "table3",
        "What is in the units whose top page had changed, %. A unit is a server (with its front pages as \
         its top) or a directory (with its shallowest pages); all periods of the year together.",
        &["of", "unit", "2 weeks", "4 weeks", "12 weeks", "24 weeks"],
    );
    type Value = fn(&ByTop) -> f64;
    let rows: [(&str, Value); 4] = [
        ("changed pages, share signalled", |t| share(t.changed_told, t.changed)),
        ("signalled pages, share changed", |t| share(t.changed_told, t.pages_told)),
        ("all pages, share changed", |t| share(t.changed, t.pages)),
        ("all units, share signalled", |t| share(t.units_told, t.units)),
    ];
    type Unit = fn(&SurveyMeasurement) -> &ByTop;
    let units: [(&str, Unit); 2] = [("server", |m| &m.roots), ("directory", |m| &m.directories)];
    let mut told = Vec::new();
    for (name, value) in rows {
        for (unit, of) in units {
            let shares = PRINTED.map(|h| value(&summed(measured, h, of)));
            told.push(shares);
            table.row([name.into(), unit.into()].into_iter().chain(shares.map(|s| percent(s, 0))));
        }
    }
    document.table(table);
    document.beside(
        "Servers whose top page had changed (20, 35, 52, 66 % of them) hold 63, 76, 84, 88 % of all changed \
         pages; but of their pages only 5, 9, 16, 22 % had changed, against 4, 8, 15, 21 % of all.",
        format!(
            "Directories whose top had changed ({:.0}, {:.0}, {:.0}, {:.0} % of them) hold {:.0}, {:.0}, \
             {:.0}, {:.0} % of the changed pages; of their pages {:.0}, {:.0}, {:.0}, {:.0} % had changed, \
             against {:.0}, {:.0}, {:.0}, {:.0} % of all.",
            100.0 * told[7][0],
            100.0 * told[7][1],
            100.0 * told[7][2],
            100.0 * told[7][3],
            100.0 * told[1][0],
            100.0 * told[1][1],
            100.0 * told[1][2],
            100.0 * told[1][3],
            100.0 * told[3][0],
            100.0 * told[3][1],
            100.0 * told[3][2],
            100.0 * told[3][3],
            100.0 * told[5][0],
            100.0 * told[5][1],
            100.0 * told[5][2],
            100.0 * told[5][3],
        ),
        "A directory is a smaller and more even unit than a server, so its top says more; the front page of a large site changes for many reasons and says little about any one page.",
    );
}

fn top_figure(traces: &[SiteTrace], measured: &[Vec<SurveyMeasurement>]) -> Figure {
    let panel = |heading: &str, of: fn(&SurveyMeasurement) -> &ByTop| {
        let line = |(trace, measured): (&SiteTrace, &Vec<SurveyMeasurement>)| {
            let told = measured.iter().map(|m| 100.0 * share(of(m).units_told, of(m).units));
            let points = HORIZONS.iter().map(|&weeks| f64::from(weeks)).zip(told).collect();
            FigureLine::dotted_curve(trace.name.as_str(), points)
        };
        Panel {
            heading: heading.to_owned(),
            lines: traces.iter().zip(measured).map(line).collect(),
        }
    };
    let last = || measured.iter().filter_map(|site| site.last());
    let always = last().filter(|m| m.roots.units_told == m.roots.units).count();
    let tops = last().map(|m| 100.0 * share(m.directories.units_told, m.directories.units));
    let (low, high) =
        tops.fold((100.0, 0.0), |(low, high): (f64, f64), share| (low.min(share), high.max(share)));
    Figure {
        title: "How often top pages have changed".to_owned(),
        description: format!(
            "After 24 weeks the front pages of {always} of {} servers had always changed; tops of directories \
             change more slowly, {low:.0} to {high:.0} % of a site's in that time.",
            traces.len()
        ),
        x: weeks(),
        y: Axis::linear("units whose top had changed, %", &[0.0, 20.0, 40.0, 60.0, 80.0, 100.0]),
        panels: vec![panel("servers", |m| &m.roots), panel("directories", |m| &m.directories)],
        rule: None,
    }
}

fn summed(
    measured: &[Vec<SurveyMeasurement>],
    horizon: usize,
    of: fn(&SurveyMeasurement) -> &ByTop,
) -> ByTop {
    let mut sum = ByTop::default();
    measured.iter().for_each(|site| sum.add(of(&site[horizon])));
    sum
}

/// A part of a whole.
fn share(part: usize, whole: usize) -> f64 {
    part as f64 / whole as f64
}

pub(super) fn weeks() -> Axis {
    Axis::linear("weeks from one round to the next", &[0.0, 4.0, 8.0, 12.0, 16.0, 20.0, 24.0])
}

fn update_counts(document: &mut ReportDocument, traces: &[SiteTrace]) {
    document.section("Figures 10 and 11: how often do pages change?");
    let spans = [4, 12, 24];
    let counts = spans.map(|weeks| Counts::of(traces, weeks));
    let mut table = ReportTable::new(
        "update-counts",
        "Pages by the number of weeks in which they changed, % (sites count alike; windows of the year's \
         first weeks, the next, and so on).",
        &["weeks watched", "never", "of those that changed: once", "twice or more", "every week"],
    );
    for counts in &counts {
        table.row([
            count(counts.weeks),
            percent(counts.never(), 1),
            percent(counts.of_changed(|n| n == 1), 1),
            percent(counts.of_changed(|n| n > 1), 1),
            percent(counts.of_changed(|n| n == counts.weeks), 2),
        ]);
    }
    document.table(table);
    document.figure("update-counts", counts_figure(&counts));
    document.beside(
        "Over 80 % of pages never changed; of those that did, more than half changed once; twice or more: \
         36 % in 4 weeks and 47 % in 24. Many change every single week. Hence history finds less than half.",
        format!(
            "{:.0} % never changed in 24 weeks; of those that did, {:.0} % changed in a single week; twice or \
             more: {:.0} % in 4 weeks and {:.0} % in 24. {} changed in every week of 24.",
            100.0 * counts[2].never(),
            100.0 * counts[2].of_changed(|n| n == 1),
            100.0 * counts[0].of_changed(|n| n > 1),
            100.0 * counts[2].of_changed(|n| n > 1),
            counts[2].every_week(),
        ),
        "Commits record what people write, not dates and counters that programs put on pages, so hardly any \
         page changes weekly; that most pages change rarely holds for both.",
    );
}

/// How many weeks pages changed in, of so many.
struct Counts {
    weeks: usize,
    /// The share of pages by the number of weeks, from 0.
    shares: Vec<f64>,
}

impl Counts {
    fn of(traces: &[SiteTrace], weeks: usize) -> Self {
        let mut shares = vec![0.0; weeks + 1];
        for trace in traces {
            let length = weeks as f64 * WEEK;
            let windows = ((trace.to - trace.from) / length + 1e-6).floor().max(1.0);
            for window in 0..windows as usize {
                let start = trace.from + window as f64 * length;
                let live: Vec<u32> =
                    trace.numbers().filter(|&page| trace.lives(page, start)).collect();
                let changed = trace.changed_weeks(start, start + length);
                let one = 1.0 / (live.len() as f64 * windows * traces.len() as f64);
                live.iter().for_each(|&page| {
                    shares[(changed[page as usize] as usize).min(weeks)] += one;
                });
            }
        }
        Counts { weeks, shares }
    }

    fn never(&self) -> f64 {
        self.shares[0]
    }

    fn of_changed(&self, which: impl Fn(usize) -> bool) -> f64 {
        let chosen: f64 = (1..=self.weeks).filter(|&n| which(n)).map(|n| self.shares[n]).sum();
        chosen / (1.0 - self.shares[0])
    }

    /// Who changed in every week, as the start of a sentence.
    fn every_week(&self) -> String {
        let share = 100.0 * self.of_changed(|n| n == self.weeks);
        if share > 0.0 { format!("{share:.2} %") } else { "None".to_owned() }
    }
}

fn counts_figure(counts: &[Counts]) -> Figure {
    let line = |counts: &Counts| {
        let points = (1..=counts.weeks).map(|n| (n as f64, 100.0 * counts.of_changed(|m| m == n)));
        let some = points.filter(|(_, share)| *share > 0.0);
        FigureLine::dotted_curve(format!("of {} weeks", counts.weeks), some.collect())
    };
    let lines: Vec<FigureLine> = counts.iter().map(line).collect();
    Figure {
        title: "In how many weeks a page that changed has changed".to_owned(),
        description:
            "Whether 4, 12 or 24 weeks are watched, most pages that changed did so in one week \
                      only, and the share falls quickly with the number of weeks."
                .to_owned(),
        x: Axis::linear("weeks in which it changed", &[0.0, 4.0, 8.0, 12.0, 16.0, 20.0, 24.0]),
        y: Axis::log("pages that changed, %", &powers(&lines)),
        panels: vec![Panel { heading: String::new(), lines }],
        rule: None,
    }
}

/// The powers of ten from 100 down to below every point.
fn powers(lines: &[FigureLine]) -> Vec<f64> {
    let shares = lines.iter().flat_map(|line| &line.points).map(|(_, share)| *share);
    let least = shares.fold(1.0, f64::min).log10().floor() as i32;
    (least..=2).map(|power| 10_f64.powi(power)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::trace::testing::trace;

    #[test]
    fn weeks_with_changes_are_counted_by_hand() {
        // Page 0 changes in two weeks of the first four, page 1 in one of the second four.
        let trace = trace(&[0, 0], &[(0, 1)], &[(0, 52.5), (0, 53.5), (1, 57.0)]);
        let counts = Counts::of(&[trace], 4);
        // 13 windows of two pages: one page-window with two weeks, one with one.
        assert!((counts.never() - 24.0 / 26.0).abs() < 1e-9);
        assert!((counts.of_changed(|n| n == 2) - 0.5).abs() < 1e-9);
        assert_eq!(counts.every_week(), "None");
    }

    #[test]
    fn every_point_lies_on_the_axis() {
        let line = |share: f64| FigureLine::dotted_curve("x", vec![(1.0, 90.0), (2.0, share)]);
        assert_eq!(powers(&[line(40.0)]), [1.0, 10.0, 100.0]);
        assert!((powers(&[line(0.0098)])[0] - 0.001).abs() < 1e-12);
    }
}
