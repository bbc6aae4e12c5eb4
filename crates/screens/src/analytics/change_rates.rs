//! How often do pages change, and how far are the estimates of that right?

use evercrawl_draw::chart::{Chart, Mark, ticks_to};
use evercrawl_query::{ChancePredictions, PlanView, PredictionsView, RateView, RatesView, Status};
use maud::{Markup, PreEscaped, html};

use super::{Section, nothing};
use crate::parts::{Titles, columns, figure, legend, table};
use crate::words::{self, count, figures, percent, short, visible};

pub(super) fn rates_by_class(plan: &PlanView) -> Section {
    let total: u64 = plan.classes.iter().map(|class| class.pages).sum();
    let most = plan.classes.iter().max_by_key(|class| class.pages);
    let sentence = match most {
        Some(most) if total > 0 => format!(
            "Most pages, {} of {} with a known rate, change {}.",
            percent(most.pages as f64 / total as f64),
            count(total),
            most.changes
        ),
        _ => "No change rate is known yet.".to_owned(),
    };
    let counts: Vec<(String, f64)> = plan
        .classes
        .iter()
        .map(|class| (short_class(&class.changes), class.pages as f64))
        .collect();
    let titles = Titles {
        id: "a-rates",
        title: "Pages by how often they change",
        sentence: &sentence,
        worded: &short,
        top: None,
    };
    let body = if total == 0 {
        nothing("Pages must be visited twice.")
    } else {
        html! { (PreEscaped(columns(&titles, "k0", &counts))) }
    };
    Section { id: "rates", title: "Change rates", sentence, body }
}

pub(super) fn rates_by_host(rates: &RatesView) -> Section {
    let mut rows: Vec<&RateView> = rates.rows.iter().filter(|row| row.rate.is_some()).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.checks));
    rows.truncate(20);
    let (fastest, slowest) = (
        rows.iter().max_by(|a, b| a.rate.unwrap_or(0.0).total_cmp(&b.rate.unwrap_or(0.0))),
        rows.iter().min_by(|a, b| a.rate.unwrap_or(0.0).total_cmp(&b.rate.unwrap_or(0.0))),
    );
    let sentence = match (fastest, slowest) {
        (Some(fast), Some(slow)) => format!(
            "A page of {} changes {} times a day, one of {} {} times; bars are {} intervals.",
            fast.section,
            figures(fast.rate.unwrap_or(0.0)),
            slow.section,
            figures(slow.rate.unwrap_or(0.0)),
            percent(rates.level)
        ),
        _ => "No host has enough checks yet.".to_owned(),
    };
    let heads = [
        ("", "Host"),
        ("num", "Pages"),
        ("num", "Checks"),
        ("num", "Changes a day"),
        ("num", "Interval"),
    ];
    let body_rows = html! { @for row in &rows { tr {
        th scope="row" { (visible(&row.section)) } td.num { (count(row.pages)) } td.num { (count(row.checks)) }
        td.num { (row.rate.map_or("\u{221e}".to_owned(), figures)) }
        td.num { (figures(row.low)) " \u{2013} " (row.high.map_or("\u{221e}".to_owned(), figures)) }
    } } };
    let body = match rows.is_empty() {
        true => nothing("Pages must be visited twice."),
        false => {
            html! { (PreEscaped(host_rates_chart(&rows, &sentence))) (table("Change rates by host", &heads, &body_rows)) }
        }
    };
    Section { id: "host-rates", title: "Change rates by host", sentence, body }
}

/// The rates of hosts with their intervals.
fn host_rates_chart(rows: &[&RateView], sentence: &str) -> String {
    let most = rows.iter().filter_map(|row| row.high.or(row.rate)).fold(0.0, f64::max);
    let ticks = ticks_to(most);
    let top = ticks.last().copied().unwrap_or(1.0);
    let x = |number: usize| (number as f64 + 0.5) / rows.len().max(1) as f64;
    Chart {
        id: "a-host-rates".to_owned(),
        title: "Changes a day of one page, by host".to_owned(),
        description: words::plain(sentence),
        height: 190,
        x_ticks: rows
            .iter()
            .enumerate()
            .step_by(rows.len().div_ceil(5).max(1))
            .map(|(number, row)| (x(number), words::plain(&row.section)))
            .collect(),
        y_ticks: ticks.iter().map(|tick| (tick / top, short(*tick))).collect(),
        marks: vec![
            Mark::Whiskers(
                "k0",
                rows.iter()
                    .enumerate()
                    .map(|(number, row)| (x(number), row.low / top, row.high.unwrap_or(top) / top))
                    .collect(),
            ),
            Mark::Dots(
                "k0",
                rows.iter()
                    .enumerate()
                    .map(|(number, row)| {
                        let rate = row.rate.unwrap_or(0.0);
                        (
                            x(number),
                            rate / top,
                            format!("{}: {} a day", words::plain(&row.section), figures(rate)),
                        )
                    })
                    .collect(),
            ),
        ],
    }
    .svg()
}

pub(super) fn calibrated(status: &Status) -> Section {
    let predictions = &status.survey.learned.predictions;
    let sentence = calibration_sentence(predictions);
    Section {
        id: "calibration",
        title: "Calibration of the estimates",
        sentence,
        body: calibration_chart(predictions),
    }
}

fn calibration_sentence(predictions: &PredictionsView) -> String {
    let total = predictions.total();
    match predictions.error {
        Some(error) => format!(
            "{} changes were predicted in {} visits and {} were seen; a predicted probability is off by {} on average.",
            short(total.changes_predicted),
            short(total.visits),
            short(total.changes_seen),
            percent(error)
        ),
        None => "No known page was visited again yet.".to_owned(),
    }
}

/// Predicted chances against what was seen, with its sentence.
pub(crate) fn calibration(predictions: &PredictionsView) -> Markup {
    html! { p.says { (calibration_sentence(predictions)) } (calibration_chart(predictions)) }
}

fn calibration_chart(predictions: &PredictionsView) -> Markup {
    let seen: Vec<_> = predictions.by_chance.iter().filter(|one| one.count.visits >= 1.0).collect();
    if seen.is_empty() {
        return nothing("Each visit to a known page adds a prediction.");
    }
    let share = |part: f64, visits: f64| (part / visits).clamp(0.0, 1.0);
    let at = |one: &&ChancePredictions| {
        (
            share(one.count.changes_predicted, one.count.visits),
            share(one.count.changes_seen, one.count.visits),
            one.count.visits,
        )
    };
    let points: Vec<(f64, f64, f64)> = seen.iter().map(at).collect();
    // Twice the standard error of a share.
    let whisker = |(x, y, visits): &(f64, f64, f64)| {
        let error = 2.0 * (y * (1.0 - y) / visits).sqrt();
        (*x, (y - error).max(0.0), (y + error).min(1.0))
    };
    let quarters = || [0.0, 0.25, 0.5, 0.75, 1.0].map(|share: f64| (share, percent(share)));
    let chart = Chart {
        id: "a-calibration".to_owned(),
        title: "Predicted chance of a change, and how often there was one".to_owned(),
        description: calibration_sentence(predictions),
        height: 220,
        x_ticks: quarters().into(),
        y_ticks: quarters().into(),
        marks: vec![
            Mark::Line("k5", vec![(0.0, 0.0), (1.0, 1.0)]),
            Mark::Whiskers("k0", points.iter().map(whisker).collect()),
            Mark::Dots(
                "k0",
                points
                    .iter()
                    .map(|(x, y, visits)| {
                        (
                            *x,
                            *y,
                            format!(
                                "predicted {}, seen {}, in {} visits",
                                percent(*x),
                                percent(*y),
                                short(*visits)
                            ),
                        )
                    })
                    .collect(),
            ),
        ],
    };
    html! { (legend(&[("k0", "seen, by predicted chance"), ("k5", "perfect")])) (figure(chart.svg(), "To the right: the predicted chance; upwards: how often there was a change.")) }
}

/// The name of a class of change rates, for below a column.
pub(crate) fn short_class(changes: &str) -> String {
    let bare =
        changes.trim_start_matches("within ").trim_start_matches("the ").trim_start_matches("a ");
    match changes.starts_with("within ") {
        true => format!("\u{2264} {bare}"),
        false => bare.trim_start_matches("more ").to_owned(),
    }
}
