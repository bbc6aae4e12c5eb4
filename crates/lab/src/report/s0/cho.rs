//! Figures 12 to 18: how do the methods compare with Cho's sampling, and go with it?

use super::collect::{CollectionMethod, Rates};
use super::compare::{FOUR, SHARES, TWENTY_FOUR, cheaper, collected_axes, dots, mean, point};
use super::measure::{BUDGETS, HORIZONS, PRINTED, RATIOS, SWEPT, SurveyMeasurement};
use crate::page::{ReportTable, cell, percent};
use crate::report::ReportDocument;
use evercrawl_draw::{Axis, Figure, FigureLine, Panel};

pub(super) fn write(document: &mut ReportDocument, measured: &[Vec<SurveyMeasurement>]) {
    by_ratio(document, measured);
    against_cho(document, measured);
    combinations(document, measured);
}

fn by_ratio(document: &mut ReportDocument, measured: &[Vec<SurveyMeasurement>]) {
    document.section("Figures 12 and 13: the most changed directories first");
    let lines = |value: fn(&Rates) -> f64| {
        let line = |&horizon: &usize| {
            let points = RATIOS.iter().enumerate().map(|(at, least)| {
                (100.0 * least, 100.0 * value(&mean(measured, |site| site[horizon].ratios[at])))
            });
            FigureLine::dotted_curve(format!("{} weeks", HORIZONS[horizon]), points.rev().collect())
        };
        PRINTED.iter().map(line).collect::<Vec<FigureLine>>()
    };
    let least = FigureLine::curve("least possible", vec![(0.0, 0.0), (90.0, 90.0)]);
    let mut update = lines(|rates| rates.update);
    update.push(least);
    let mut cover = lines(|rates| rates.cover);
    // The key names what is in the last panel: the line is drawn in the first only.
    cover.push(FigureLine::curve("least possible", Vec::new()));
    let x = Axis::linear(
        "least share of changed pages of a directory, %",
        &[0.0, 20.0, 40.0, 60.0, 80.0, 100.0],
    );
    document.figure(
        "cho",
        Figure {
            title: "Whole directories above a change ratio: update rate and cover".to_owned(),
            description: "The higher the ratio that is asked for, the larger the share of changed pages in \
                          what is collected, and the less of all that changed is in it; the ratios are the \
                          true ones. Update rates end where on some site no directory has as high a ratio."
                .to_owned(),
            x,
            y: Axis::linear("left: update rate, %; right: cover, %", &SHARES),
            panels: vec![
                Panel { heading: "update rate".to_owned(), lines: update },
                Panel { heading: "cover".to_owned(), lines: cover },
            ],
            rule: None,
        },
    );
    let ten = |horizon: usize| mean(measured, |site| site[horizon].ratios[8]);
    document.beside(
        "Servers with a ratio of 10 % or more hold 60 to 70 % of the changes, at an update rate above 40 %.",
        format!(
            "Directories with 10 % or more hold {:.0} % of the changes at 4 weeks at an update rate of {:.0} %, \
             and {:.0} % at 24 weeks at {:.0} %.",
            100.0 * ten(FOUR).cover,
            100.0 * ten(FOUR).update,
            100.0 * ten(TWENTY_FOUR).cover,
            100.0 * ten(TWENTY_FOUR).update,
        ),
        "The true ratios are unknown before collecting, so both are upper bounds; directories \
         are smaller than servers, and small units have extreme ratios.",
    );
}

fn against_cho(document: &mut ReportDocument, measured: &[Vec<SurveyMeasurement>]) {
    document.section("Figures 14 to 17: against Cho's sampling");
    let panel = |&horizon: &usize| {
        let swept = [0, 1].map(|how| swept(measured, horizon, how));
        let lines = swept.into_iter().chain(dots(measured, horizon)).collect();
        Panel { heading: format!("{} weeks", HORIZONS[horizon]), lines }
    };
    let beside = |&horizon: &usize| {
        let sampled = swept(measured, horizon, 1);
        let who = cheaper(&sampled, &dots(measured, horizon), "needed fewer", "needed fewer");
        format!("at {} weeks {who}", HORIZONS[horizon])
    };
    for (name, pair) in [("against-cho-1", &PRINTED[..2]), ("against-cho-2", &PRINTED[2..])] {
        let (x, y) = collected_axes();
        document.figure(
            name,
            Figure {
                title: "Share of pages to collect for a share of the changed pages".to_owned(),
                description: format!(
                    "With the true ratios, Cho's method needs the fewest pages. Compared with its version that samples the ratios, {}.",
                    pair.iter().map(beside).collect::<Vec<_>>().join("; ")
                ),
                x,
                y,
                panels: pair.iter().map(panel).collect(),
                rule: None,
            },
        );
    }
    let cover = |how: CollectionMethod, horizon: usize| {
        100.0 * mean(measured, |site| site[horizon].rates(how)).cover
    };
    document.beside(
        "Over long times the methods and Cho's do not differ, over short ones Cho's is better; the true \
         ratios of servers were used, not samples.",
        format!(
            "With as many pages as A, Cho's method with true ratios covers {:.0} % at 4 weeks and {:.0} % at \
             24, A {:.0} and {:.0} %; with sampled ratios Cho's covers {:.0} and {:.0} %.",
            cover(CollectionMethod::ChoTrue, FOUR),
            cover(CollectionMethod::ChoTrue, TWENTY_FOUR),
            cover(CollectionMethod::A, FOUR),
            cover(CollectionMethod::A, TWENTY_FOUR),
            cover(CollectionMethod::ChoSampled, FOUR),
            cover(CollectionMethod::ChoSampled, TWENTY_FOUR),
        ),
        "The paper gave Cho's method ratios that it would have to find out. If it must find them out by sampling each directory, it loses its lead.",
    );
}

fn swept(measured: &[Vec<SurveyMeasurement>], horizon: usize, how: usize) -> FigureLine {
    let points =
        (0..BUDGETS.len()).map(|b| point(&mean(measured, |site| site[horizon].sweeps[how][b])));
    FigureLine::dotted_curve(SWEPT[how].name(), points.collect()).of(SWEPT[how].known_as())
}

fn combinations(document: &mut ReportDocument, measured: &[Vec<SurveyMeasurement>]) {
    document.section("Figure 18: Cho's sampling with A, B and C");
    let panel = |&horizon: &usize| Panel {
        heading: format!("{} weeks", HORIZONS[horizon]),
        lines: [0, 2, 3, 4].map(|how| swept(measured, horizon, how)).to_vec(),
    };
    for (name, pair) in [("combined-1", &PRINTED[..2]), ("combined-2", &PRINTED[2..])] {
        let (x, y) = collected_axes();
        document.figure(
            name,
            Figure {
                title: "The most changed directories first, and inside them tops first".to_owned(),
                description:
                    "The combinations end where the inner method requests no more pages; up to there none needs clearly fewer pages than Cho's method alone with true ratios, and \
                              the one with C needs the most."
                        .to_owned(),
                x,
                y,
                panels: pair.iter().map(panel).collect(),
                rule: None,
            },
        );
    }
    document.table(combined_table(measured));
    document.beside(
        "At 2 weeks Cho alone is best; A helps from 4 weeks on, B from 12; C does not.",
        format!(
            "At a budget of 20 % of the pages {}.",
            told([('A', 2), ('B', 3), ('C', 4)].map(|(name, how)| (name, helps(measured, how)))),
        ),
        "Inside a server of many directories tops save pages; inside one directory that is known to have \
         changed nearly wholly there is little left to save.",
    );
}

/// Cover at a budget of 20 % of the pages.
fn cover(measured: &[Vec<SurveyMeasurement>], horizon: usize, how: usize) -> f64 {
    let twenty = BUDGETS.iter().position(|share| *share == 0.2).unwrap_or_default();
    mean(measured, |site| site[horizon].sweeps[how][twenty]).cover
}

fn combined_table(measured: &[Vec<SurveyMeasurement>]) -> ReportTable {
    let mut table = ReportTable::new(
        "combined",
        "Cover, %, when 20 % of the pages may be collected, ratios known; mean of all sites.",
        &["weeks", "Cho alone", "Cho + A", "Cho + B", "Cho + C", "sampled"],
    );
    for horizon in PRINTED {
        let covers = [0, 2, 3, 4, 1].map(|how| cover(measured, horizon, how));
        let best = covers[..4].iter().copied().fold(0.0, f64::max);
        let cells = covers.map(|cover| percent(cover, 1).bold_if(cover == best));
        table.row([cell(f64::from(HORIZONS[horizon]), 0)].into_iter().chain(cells));
    }
    table
}

/// After how many weeks a combination covers more than Cho's method alone.
fn helps(measured: &[Vec<SurveyMeasurement>], how: usize) -> Vec<String> {
    let better = |horizon: &&usize| cover(measured, **horizon, how) > cover(measured, **horizon, 0);
    PRINTED.iter().filter(better).map(|&horizon| HORIZONS[horizon].to_string()).collect()
}

/// Which methods help at which weeks.
fn told(methods: [(char, Vec<String>); 3]) -> String {
    let help = |(name, weeks): &(char, Vec<String>)| match weeks.is_empty() {
        true => format!("{name} never helps"),
        false => format!("{name} helps at {} weeks", weeks.join(", ")),
    };
    if methods.iter().all(|(_, weeks)| weeks.is_empty()) {
        return "none of the three helps at any of these times".to_owned();
    }
    methods.iter().map(help).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_told_who_helps_when() {
        let weeks = |weeks: &[&str]| weeks.iter().map(|week| (*week).to_owned()).collect();
        let none = ['A', 'B', 'C'].map(|name| (name, Vec::new()));
        assert_eq!(told(none), "none of the three helps at any of these times");
        let some = [('A', weeks(&["4", "12"])), ('B', weeks(&["12"])), ('C', weeks(&[]))];
        assert_eq!(told(some), "A helps at 4, 12 weeks; B helps at 12 weeks; C never helps");
    }
}
