//! Figures 5 to 9: how do the methods compare?

use super::collect::{CollectionMethod, Rates};
use super::measure::{DEPTHS, HORIZONS, METHODS, PRINTED, SurveyMeasurement};
use super::survey::weeks;
use crate::page::{Cell, ReportTable, cell, number, percent};
use crate::report::ReportDocument;
use crate::report::trace::SiteTrace;
use evercrawl_draw::{Axis, Figure, FigureLine, Panel, ReferenceLine};

pub(super) const SHARES: [f64; 6] = [0.0, 20.0, 40.0, 60.0, 80.0, 100.0];
/// Four weeks, by its place in the horizons.
pub(super) const FOUR: usize = 1;
pub(super) const TWENTY_FOUR: usize = 6;

pub(super) fn write(
    document: &mut ReportDocument,
    traces: &[SiteTrace],
    measured: &[Vec<SurveyMeasurement>],
) {
    told(document, traces, measured);
    by_weeks(document, measured);
    by_site(document, traces, measured);
    breadth(document, measured);
    history(document, measured);
}

/// The mean of all sites.
pub(super) fn mean(
    measured: &[Vec<SurveyMeasurement>],
    of: impl Fn(&[SurveyMeasurement]) -> Rates,
) -> Rates {
    Rates::mean(&measured.iter().map(|site| of(site)).collect::<Vec<_>>())
}

fn told(document: &mut ReportDocument, traces: &[SiteTrace], measured: &[Vec<SurveyMeasurement>]) {
    document.section("What a changed top says about its members");
    let mut table = ReportTable::new(
        "told",
        "Chance that a member had changed after so many weeks, %, if its top had changed and if it had not.",
        &[
            "site",
            "A, 4\u{a0}weeks, changed",
            "A, 4\u{a0}weeks, unchanged",
            "A, 24\u{a0}weeks, changed",
            "A, 24\u{a0}weeks, unchanged",
            "B, 4\u{a0}weeks, changed",
            "B, 4\u{a0}weeks, unchanged",
        ],
    );
    for (trace, of) in traces.iter().zip(measured) {
        let pairs = [of[FOUR].told[0], of[TWENTY_FOUR].told[0], of[FOUR].told[1]]
            .map(|told| told.chances());
        let cells =
            pairs.into_iter().flat_map(|(with, without)| [percent(with, 1), percent(without, 1)]);
        table.row([Cell::from(trace.name.as_str())].into_iter().chain(cells));
    }
    document.table(table);
    let lifts =
        measured.iter().map(|of| of[FOUR].told[0].chances()).map(|(with, without)| with / without);
    let (low, high) = lifts.fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), lift| {
        (low.min(lift), high.max(lift))
    });
    document.beside(
        "The top page reflects the changes of its server: that is assumed of every site (section 5).",
        format!(
            "After four weeks a member is {} to {} times as likely to have changed if its directory's top \
             has.",
            number(low, 1),
            number(high, 1),
        ),
        "The value of a top differs from site to site, so it has to be learned and must not be assumed.",
    );
}

fn by_weeks(document: &mut ReportDocument, measured: &[Vec<SurveyMeasurement>]) {
    document.section("Figures 5 and 6: update rate and cover");
    document.paragraph(
        "Every k weeks one round: each method collects the pages that it selects, and stops. Update rate is the share \
         of collected pages that had changed, cover the share of changed pages that was collected. BFS, \
         HIST, C then B and Cho's sampling want no end by themselves; they collect as many pages as A does. \
         Tops count as collected. Each number is the mean of all rounds of a site, then of all sites.",
    );
    document.figure("update-rate", update_figure(measured));
    document.figure("times", times_figure(measured));
    document.figure("cover", cover_figure(measured));
    document.table(weeks_table(measured));
    let at =
        |how: CollectionMethod, horizon: usize| mean(measured, |site| site[horizon].rates(how));
    let times = |how: CollectionMethod, horizon: usize| {
        at(how, horizon).update / at(CollectionMethod::All, horizon).update
    };
    document.beside(
        "All three methods have a higher update rate than all pages, two to three times as high over short \
         times; C about twice on average. The higher the update rate, the lower the cover: C covers 70 to \
         80 %.",
        format!(
            "At 4 weeks A has {:.1} times the update rate of all pages, B {:.1} and C {:.1}; at 24 weeks {:.1}, \
             {:.1} and {:.1}. A covers {:.0} and {:.0} %, B {:.0} and {:.0} %, C {:.0} and {:.0} %; C1, which \
             asks only the site directly above, {:.0} and {:.0} %.",
            times(CollectionMethod::A, FOUR),
            times(CollectionMethod::B, FOUR),
            times(CollectionMethod::C, FOUR),
            times(CollectionMethod::A, TWENTY_FOUR),
            times(CollectionMethod::B, TWENTY_FOUR),
            times(CollectionMethod::C, TWENTY_FOUR),
            100.0 * at(CollectionMethod::A, FOUR).cover,
            100.0 * at(CollectionMethod::A, TWENTY_FOUR).cover,
            100.0 * at(CollectionMethod::B, FOUR).cover,
            100.0 * at(CollectionMethod::B, TWENTY_FOUR).cover,
            100.0 * at(CollectionMethod::C, FOUR).cover,
            100.0 * at(CollectionMethod::C, TWENTY_FOUR).cover,
            100.0 * at(CollectionMethod::C1, FOUR).cover,
            100.0 * at(CollectionMethod::C1, TWENTY_FOUR).cover,
        ),
        "Where half of the pages change anyway nothing can be twice as good, and on deep sites one unchanged \
         page breaks C's chain from the root, which the small servers of 2003 did not have.",
    );
}

/// A line through the value of `how` at every horizon, mean of all sites.
fn line_by_weeks(
    measured: &[Vec<SurveyMeasurement>],
    how: CollectionMethod,
    value: impl Fn(&Rates, usize) -> f64,
) -> FigureLine {
    let point = |(horizon, &weeks): (usize, &u32)| {
        let rates = mean(measured, |site| site[horizon].rates(how));
        (f64::from(weeks), value(&rates, horizon))
    };
    let points = HORIZONS.iter().enumerate().map(point).collect();
    FigureLine::dotted_curve(how.name(), points).of(how.known_as())
}

fn update_figure(measured: &[Vec<SurveyMeasurement>]) -> Figure {
    let line =
        |how: CollectionMethod| line_by_weeks(measured, how, |rates, _| 100.0 * rates.update);
    Figure {
        title: "Update rate, mean of all sites".to_owned(),
        description:
            "The share of collected pages that had changed grows with the time between rounds, and \
                      is a little higher for the paper's methods than for all pages."
                .to_owned(),
        x: weeks(),
        y: Axis::linear(
            "collected pages that had changed, %",
            &[0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0],
        ),
        panels: vec![Panel {
            heading: String::new(),
            lines: [
                CollectionMethod::All,
                CollectionMethod::A,
                CollectionMethod::B,
                CollectionMethod::C,
                CollectionMethod::C1,
            ]
            .map(line)
            .to_vec(),
        }],
        rule: None,
    }
}

fn times_figure(measured: &[Vec<SurveyMeasurement>]) -> Figure {
    let all =
        |horizon: usize| mean(measured, |site| site[horizon].rates(CollectionMethod::All)).update;
    let line = |&how: &CollectionMethod| {
        line_by_weeks(measured, how, |rates, horizon| rates.update / all(horizon))
    };
    let times = |how: CollectionMethod, horizon: usize| {
        mean(measured, |site| site[horizon].rates(how)).update / all(horizon)
    };
    let best = |horizon: usize| untold().map(|how| times(how, horizon)).fold(0.0, f64::max);
    Figure {
        title: "Update rate as a multiple of that of all pages".to_owned(),
        description: format!(
            "What a method gains over collecting everything melts away as the time between rounds grows and \
             more pages have changed anyway: from {:.1} to {:.1} times the update rate for Cho's method with the true ratios, and from {:.1} to {:.1} for the best of the others.",
            times(CollectionMethod::ChoTrue, 0),
            times(CollectionMethod::ChoTrue, TWENTY_FOUR),
            best(0),
            best(TWENTY_FOUR),
        ),
        x: weeks(),
        y: Axis::linear("times the update rate of all pages", &[0.5, 1.0, 1.5, 2.0, 2.5]),
        panels: vec![Panel {
            heading: String::new(),
            lines: METHODS[1..].iter().map(line).collect(),
        }],
        rule: Some(ReferenceLine { label: "all pages".to_owned(), y: 1.0 }),
    }
}

fn cover_figure(measured: &[Vec<SurveyMeasurement>]) -> Figure {
    let line =
        |&how: &CollectionMethod| line_by_weeks(measured, how, |rates, _| 100.0 * rates.cover);
    Figure {
        title: "Cover, mean of all sites".to_owned(),
        description: format!(
            "Of the methods without the true ratios, {}; {}.",
            most_and_least(measured, 0),
            most_and_least(measured, TWENTY_FOUR),
        ),
        x: weeks(),
        y: Axis::linear("changed pages that were collected, %", &SHARES),
        panels: vec![Panel {
            heading: String::new(),
            lines: METHODS[1..].iter().map(line).collect(),
        }],
        rule: None,
    }
}

/// The methods that choose, and are not told which directories changed most.
fn untold() -> impl Iterator<Item = CollectionMethod> {
    METHODS[1..].iter().copied().filter(|how| *how != CollectionMethod::ChoTrue)
}

/// Which of them found most and least of what had changed, and in how many pages.
fn most_and_least(measured: &[Vec<SurveyMeasurement>], horizon: usize) -> String {
    let of = |how: CollectionMethod| mean(measured, |site| site[horizon].rates(how));
    let mut hows: Vec<CollectionMethod> = untold().collect();
    hows.sort_by(|a, b| of(*b).cover.total_cmp(&of(*a).cover));
    let said = |how: CollectionMethod, which: &str| {
        let Rates { cover, collected, .. } = of(how);
        let (cover, collected) = (100.0 * cover, 100.0 * collected);
        format!("{} found {which}, {cover:.0} % in {collected:.0} % of the pages", how.name())
    };
    let [most, least] = [said(hows[0], "most"), said(hows[hows.len() - 1], "least")];
    format!("at {} weeks {most}, and {least}", HORIZONS[horizon])
}

fn weeks_table(measured: &[Vec<SurveyMeasurement>]) -> ReportTable {
    let mut table = ReportTable::new(
        "methods",
        "Update rate, cover and share of pages collected after 2, 4, 12 and 24 weeks, %, mean of all sites.",
        &[
            "method",
            "rate 2\u{a0}w",
            "rate 4\u{a0}w",
            "rate 12\u{a0}w",
            "rate 24\u{a0}w",
            "cover 2\u{a0}w",
            "cover 4\u{a0}w",
            "cover 12\u{a0}w",
            "cover 24\u{a0}w",
            "share 2\u{a0}w",
            "share 4\u{a0}w",
            "share 12\u{a0}w",
            "share 24\u{a0}w",
        ],
    );
    for how in METHODS {
        let at = PRINTED.map(|horizon| mean(measured, |site| site[horizon].rates(how)));
        let values: [fn(&Rates) -> f64; 3] = [|r| r.update, |r| r.cover, |r| r.collected];
        let cells = values.into_iter().flat_map(|value| at.map(|rates| percent(value(&rates), 0)));
        table.row([Cell::from(how.name())].into_iter().chain(cells));
    }
    table
}

/// A value of every method on every site, at the paper's shortest and longest time between rounds.
fn site_table(
    name: &str,
    caption: &str,
    traces: &[SiteTrace],
    measured: &[Vec<SurveyMeasurement>],
    value: impl Fn(&SurveyMeasurement, CollectionMethod) -> Cell,
) -> ReportTable {
    let columns = [
        "site",
        "weeks",
        "BFS",
        "HIST",
        "A",
        "B",
        "C",
        "C1",
        "C, then B",
        "Cho, true ratios",
        "Cho, sampled",
    ];
    let mut table = ReportTable::new(name, caption, &columns);
    for (trace, of) in traces.iter().zip(measured) {
        for (weeks, horizon) in [(4.0, FOUR), (24.0, TWENTY_FOUR)] {
            let values = METHODS[1..].iter().map(|&how| value(&of[horizon], how));
            table.row([trace.name.as_str().into(), cell(weeks, 0)].into_iter().chain(values));
        }
    }
    table
}

fn by_site(
    document: &mut ReportDocument,
    traces: &[SiteTrace],
    measured: &[Vec<SurveyMeasurement>],
) {
    document.section("Figures 7 and 8: site by site");
    document.table(site_table(
        "site-cover",
        "Cover, %, from one round to the next.",
        traces,
        measured,
        |of, how| percent(of.rates(how).cover, 0),
    ));
    document.table(site_table(
        "site-update-rate",
        "Update rate as a multiple of that of all pages.",
        traces,
        measured,
        |of, how| cell(of.rates(how).update / of.rates(CollectionMethod::All).update, 1),
    ));
    for (place, (traces, measured)) in traces.chunks(3).zip(measured.chunks(3)).enumerate() {
        document.figure(&format!("sites-{}", place + 1), site_figure(traces, measured));
    }
    let best = |how: CollectionMethod| {
        let rates = traces.iter().zip(measured).map(|(trace, of)| {
            (
                of[FOUR].rates(how).update / of[FOUR].rates(CollectionMethod::All).update,
                trace.name.as_str(),
            )
        });
        rates.fold((0.0, ""), |best, next| if next.0 > best.0 { next } else { best })
    };
    let (c, b) = (best(CollectionMethod::C), best(CollectionMethod::B));
    document.beside(
        "In every domain C > B > A > all in update rate; A and B cover evenly, C's cover differs greatly \
         (low for AC and OR, as high as the others' for ED, the domain it suits best).",
        format!(
            "At 4 weeks C does best on {} ({:.1} times the rate of all pages), B on {} ({:.1} times); {}",
            c.1,
            c.0,
            b.1,
            b.0,
            exceptions(traces, measured),
        ),
        "The order rests on tops that announce what changed below them; a site whose listings are rendered \
         by a generator, and whose own sources do not change with them, has no such tops.",
    );
}

/// The sites on which the paper's order does not hold.
fn exceptions(traces: &[SiteTrace], measured: &[Vec<SurveyMeasurement>]) -> String {
    let in_order = |of: &Vec<SurveyMeasurement>| {
        [CollectionMethod::C, CollectionMethod::B, CollectionMethod::A, CollectionMethod::All]
            .map(|how| of[FOUR].rates(how).update)
            .is_sorted_by(|a, b| a >= b)
    };
    let others: Vec<&str> = traces
        .iter()
        .zip(measured)
        .filter(|(_, of)| !in_order(of))
        .map(|(trace, _)| trace.name.as_str())
        .collect();
    if others.is_empty() {
        "the paper's order holds on every site.".to_owned()
    } else {
        let which = if others.len() == traces.len() { "any site" } else { &others.join(", ") };
        format!("the paper's order does not hold on {which}.")
    }
}

fn site_figure(traces: &[SiteTrace], measured: &[Vec<SurveyMeasurement>]) -> Figure {
    let shown = [
        CollectionMethod::All,
        CollectionMethod::A,
        CollectionMethod::B,
        CollectionMethod::C,
        CollectionMethod::C1,
    ];
    let panel = |(trace, of): (&SiteTrace, &Vec<SurveyMeasurement>)| {
        let line = |&how: &CollectionMethod| {
            let points = of
                .iter()
                .zip(HORIZONS)
                .map(|(m, weeks)| (f64::from(weeks), 100.0 * m.rates(how).update));
            FigureLine::dotted_curve(how.name(), points.collect()).of(how.known_as())
        };
        Panel { heading: trace.name.clone(), lines: shown.iter().map(line).collect() }
    };
    Figure {
        title: "Update rate on each site".to_owned(),
        description:
            "What looking at tops gains differs from site to site: much where tops announce \
                      changes, nothing or less where they do not."
                .to_owned(),
        x: Axis::linear("weeks from one round to the next", &[0.0, 8.0, 16.0, 24.0]),
        y: Axis::linear("collected pages that had changed, %", &SHARES),
        panels: traces.iter().zip(measured).map(panel).collect(),
        rule: None,
    }
}

/// `(cover, collected)`, as the paper draws it.
pub(super) fn point(rates: &Rates) -> (f64, f64) {
    (100.0 * rates.cover, 100.0 * rates.collected)
}

pub(super) fn collected_axes() -> (Axis, Axis) {
    let x = Axis::linear("changed pages that were collected (cover), %", &SHARES);
    (x, Axis::linear("pages collected, %", &SHARES))
}

fn breadth(document: &mut ReportDocument, measured: &[Vec<SurveyMeasurement>]) {
    document.section("Figure 9: against breadth-first collection");
    let depth = |at: usize| mean(measured, |site| site[FOUR].depths[at]);
    let levels = FigureLine::dotted_curve(
        "depth 1, 2, …",
        (0..DEPTHS as usize).map(|at| point(&depth(at))).collect(),
    )
    .of(CollectionMethod::BreadthFirst.known_as());
    let dots = dots(measured, FOUR);
    let random = FigureLine::curve("at random", vec![(0.0, 0.0), (100.0, 100.0)]);
    let lines = [random, levels.clone()].into_iter().chain(dots.clone()).collect();
    let (x, y) = collected_axes();
    document.figure(
        "breadth-first",
        Figure {
            title: "Share of pages to collect for a share of the changed pages, 4 weeks".to_owned(),
            description: format!(
                "The further below the diagonal, the better: {} with fewer pages than going down level \
                 by level, which to depth 4 finds {:.0} % of what changed in {:.0} % of the pages.",
                cheaper(&levels, &dots, "found what it found", "found what they found"),
                100.0 * depth(3).cover,
                100.0 * depth(3).collected,
            ),
            x,
            y,
            panels: vec![Panel { heading: String::new(), lines }],
            rule: None,
        },
    );
    let gain = |how: CollectionMethod| {
        let rates = mean(measured, |site| site[FOUR].rates(how));
        let breadth = mean(measured, |site| site[FOUR].rates(CollectionMethod::BreadthFirst));
        rates.update / breadth.update
    };
    document.beside(
        "Breadth-first is better than random; each proposed method is better than breadth-first, two to \
         three times in update rate.",
        format!(
            "With as many pages as A, breadth-first finds {:.0} % of what changed where A finds {:.0} %; A, B \
             and C have {:.1}, {:.1} and {:.1} times its update rate.",
            100.0 * mean(measured, |site| site[FOUR].rates(CollectionMethod::BreadthFirst)).cover,
            100.0 * mean(measured, |site| site[FOUR].rates(CollectionMethod::A)).cover,
            gain(CollectionMethod::A),
            gain(CollectionMethod::B),
            gain(CollectionMethod::C),
        ),
        "On a site of thousands of pages the shallow ones are a small part and mostly lists, while on the \
         paper's servers of 94 pages two levels were most of the server.",
    );
}

fn history(document: &mut ReportDocument, measured: &[Vec<SurveyMeasurement>]) {
    document.section("Section 6.3.2: against history");
    let at =
        |how: CollectionMethod, horizon: usize| mean(measured, |site| site[horizon].rates(how));
    document.beside(
        "Methods by update interval need a long watch and cannot cover half of the changed pages, since \
         fewer than half change twice; they are discussed, not measured.",
        format!(
            "Measured, with a year of weekly checks and as many pages as A: HIST covers {:.0} % at 4 weeks and \
             {:.0} % at 24, where A covers {:.0} and {:.0} %.",
            100.0 * at(CollectionMethod::History, FOUR).cover,
            100.0 * at(CollectionMethod::History, TWENTY_FOUR).cover,
            100.0 * at(CollectionMethod::A, FOUR).cover,
            100.0 * at(CollectionMethod::A, TWENTY_FOUR).cover,
        ),
        "Half a year of history says little of pages that changed once in it, but a year sorts pages well; the paper is right that it takes that long, and top pages need no history at all.",
    );
}

/// The methods with an end of their own, each as the dot where it ends.
pub(super) fn dots(measured: &[Vec<SurveyMeasurement>], horizon: usize) -> Vec<FigureLine> {
    let dot = |how: CollectionMethod| {
        let rates = mean(measured, |site| site[horizon].rates(how));
        FigureLine::dots(how.name(), vec![point(&rates)]).of(how.known_as())
    };
    [CollectionMethod::A, CollectionMethod::B, CollectionMethod::C, CollectionMethod::C1]
        .map(dot)
        .to_vec()
}

/// Which dots lie below a curve, and so need fewer pages for as much, as the start of a sentence.
pub(super) fn cheaper(curve: &FigureLine, dots: &[FigureLine], one: &str, many: &str) -> String {
    let is_below = |dot: &&FigureLine| dot.points[0].1 < needed(&curve.points, dot.points[0].0);
    let names: Vec<&str> = dots.iter().filter(is_below).map(|dot| dot.label.as_str()).collect();
    match names.split_last() {
        None => format!("no method {one}"),
        Some((last, [])) => format!("{last} {one}"),
        Some((last, others)) => format!("{} and {last} {many}", others.join(", ")),
    }
}

/// How many pages, %, a curve of `(cover, collected)` needs for `cover`.
fn needed(curve: &[(f64, f64)], cover: f64) -> f64 {
    let after = curve.partition_point(|point| point.0 < cover).clamp(1, curve.len() - 1);
    let ((from, less), (to, more)) = (curve[after - 1], curve[after]);
    less + (more - less) * (cover - from) / (to - from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_says_which_dots_lie_below_its_curve() {
        let curve = FigureLine::dotted_curve("x", vec![(0.0, 0.0), (50.0, 20.0), (90.0, 80.0)]);
        assert_eq!((needed(&curve.points, 25.0), needed(&curve.points, 70.0)), (10.0, 50.0));
        let dots = [("A", 70.0, 40.0), ("B", 70.0, 60.0), ("C", 25.0, 9.0)]
            .map(|(name, x, y)| FigureLine::dots(name, vec![(x, y)]));
        assert_eq!(cheaper(&curve, &dots, "did", "do"), "A and C do");
        assert_eq!(cheaper(&curve, &dots[..1], "did", "do"), "A did");
        assert_eq!(cheaper(&curve, &dots[1..2], "did", "do"), "no method did");
    }
}
