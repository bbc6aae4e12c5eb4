//! How did the figures move?

use evercrawl_query::TrendPoint;
use maud::{PreEscaped, html};

use super::{Analytics, Section, nothing};
use crate::codes;
use crate::parts::{self, Curve, Titles, freshness_chart, legend, levels};
use crate::words::{count, figures, percent, plural, seconds, short};

const NO_POINTS: &str = "A running crawl notes a point every ten seconds.";

/// By how much a total grew in the period.
fn grown(points: &[TrendPoint], value: impl Fn(&TrendPoint) -> u64) -> Option<(u64, u64, f64)> {
    let (first, last) = (points.first()?, points.last()?);
    let length = last.at.0.since(first.at.0).as_secs_f64();
    (length > 0.0).then(|| (value(first), value(last), length))
}

pub(super) fn growth(shown: &Analytics<'_>) -> Section {
    let points = &shown.trend.points;
    let sentence = match grown(points, |point| point.pages) {
        Some((from, to, length)) => format!(
            "Known pages went from {} to {} in {}; {} of them wait for their first visit.",
            count(from),
            count(to),
            seconds(length),
            count(shown.status.total.in_state(evercrawl_model::LifeState::New))
        ),
        None => format!("{} are known.", plural(shown.status.total.pages, "page")),
    };
    let titles = Titles {
        id: "a-growth",
        title: "Pages known, and pages visited",
        sentence: &sentence,
        worded: &short,
        top: None,
    };
    let curves = [
        Curve { class: "k0", value: &|point| Some(point.pages as f64) },
        Curve { class: "k2", value: &|point| Some(point.first_visits as f64) },
    ];
    let body = match points.len() {
        0..=2 => nothing(NO_POINTS),
        _ => {
            html! { (legend(&[("k0", "known"), ("k2", "first visits")])) (PreEscaped(levels(points, &titles, &curves))) }
        }
    };
    Section { id: "growth", title: "Growth", sentence, body }
}

/// How freshness moved, in a sentence.
pub(crate) fn freshness_sentence(points: &[TrendPoint]) -> String {
    let known: Vec<(f64, f64)> =
        points.iter().filter_map(|point| point.freshness.zip(point.freshness_error)).collect();
    let (Some((first, _)), Some((last, error))) = (known.first(), known.last()) else {
        return "Freshness was not measured in this period.".to_owned();
    };
    let mean = known.iter().map(|one| one.0).sum::<f64>() / known.len() as f64;
    let moved = match last - first {
        by if by.abs() <= *error => "and did not move by more than its error".to_owned(),
        by if by > 0.0 => format!("up from {}", percent(*first)),
        _ => format!("down from {}", percent(*first)),
    };
    format!(
        "It is {} \u{b1} {} now, {moved}; the mean is {}.",
        percent(*last),
        percent(*error),
        percent(mean)
    )
}

pub(super) fn freshness(shown: &Analytics<'_>) -> Section {
    let points = &shown.trend.points;
    let sentence = freshness_sentence(points);
    let known = points.iter().filter(|point| point.freshness.is_some()).count();
    let body = match known {
        0..=1 => nothing("It takes some hundred random visits to measure freshness."),
        _ => html! { (PreEscaped(freshness_chart(points, &sentence))) },
    };
    Section { id: "freshness", title: "Freshness over time", sentence, body }
}

pub(super) fn age(shown: &Analytics<'_>) -> Section {
    let points = &shown.trend.points;
    let ages: Vec<f64> = points.iter().filter_map(|point| point.age_seconds).collect();
    let sentence = match (ages.last(), shown.status.survey.freshness.as_ref()) {
        (Some(age), Some(fresh)) => format!(
            "A held page is out of date for {} on average; an average page changes {} times a day.",
            seconds(*age),
            figures(fresh.changes_a_day)
        ),
        _ => "The age of the copies is not known yet.".to_owned(),
    };
    let titles = Titles {
        id: "a-age",
        title: "Mean age of the copies",
        sentence: &sentence,
        worded: &seconds,
        top: None,
    };
    let curves = [Curve { class: "k1", value: &|point| point.age_seconds }];
    let body = if ages.len() < 3 {
        nothing(NO_POINTS)
    } else {
        html! { (PreEscaped(levels(points, &titles, &curves))) }
    };
    Section { id: "age", title: "Age over time", sentence, body }
}

/// How fast visits went and changes came, in a sentence.
pub(crate) fn pace_sentence(points: &[TrendPoint]) -> String {
    let visits = grown(points, |point| point.visits);
    let changes = grown(points, |point| point.changes);
    match (visits, changes) {
        (Some((from, to, length)), Some((before, after, _))) => {
            let (visits, changes) = (to.saturating_sub(from), after.saturating_sub(before));
            format!(
                "{} in {} ({} a minute); {} found a change ({}).",
                plural(visits, "visit"),
                seconds(length),
                short(visits as f64 / length * 60.0),
                count(changes),
                percent(changes as f64 / visits.max(1) as f64)
            )
        }
        _ => "No visit was counted in this period.".to_owned(),
    }
}

pub(super) fn pace_of(shown: &Analytics<'_>) -> Section {
    let points = &shown.trend.points;
    let sentence = pace_sentence(points);
    let titles = Titles {
        id: "a-pace",
        title: "Visits a minute, by what they found",
        sentence: &sentence,
        worded: &short,
        top: None,
    };
    let curves = [
        Curve { class: "k0", value: &|point| Some(point.visits as f64) },
        Curve { class: "k1", value: &|point| Some(point.changes as f64) },
        Curve { class: "k3", value: &|point| Some(failed(point) as f64) },
    ];
    let body = match points.len() {
        0..=2 => nothing(NO_POINTS),
        _ => {
            html! { (legend(&[("k0", "visits"), ("k1", "changes"), ("k3", "failures")])) (PreEscaped(parts::paces(points, &titles, &curves))) }
        }
    };
    Section { id: "pace", title: "Outcomes over time", sentence, body }
}

fn failed(point: &TrendPoint) -> u64 {
    point
        .visits_by_outcome
        .iter()
        .filter(|(code, _)| codes::is_failure(code))
        .map(|(_, count)| count)
        .sum()
}

pub(super) fn budget(shown: &Analytics<'_>) -> Section {
    let points = &shown.trend.points;
    let used: Vec<f64> = points.iter().filter_map(|point| point.budget_used).collect();
    let sentence = match shown.status.plan.budget_a_second {
        Some(rate) if !used.is_empty() => format!(
            "Of {} requests a second, {} were used on average.",
            figures(rate),
            percent(used.iter().sum::<f64>() / used.len() as f64)
        ),
        Some(rate) => format!(
            "The budget is {} requests a second; its use was not noted in this period.",
            figures(rate)
        ),
        None => "No budget is set, so none is divided.".to_owned(),
    };
    let titles = Titles {
        id: "a-budget",
        title: "Share of the budget used",
        sentence: &sentence,
        worded: &percent,
        top: Some(1.0),
    };
    let curves = [Curve { class: "k0", value: &|point| point.budget_used }];
    let body = if used.len() < 3 {
        nothing(NO_POINTS)
    } else {
        html! { (PreEscaped(levels(points, &titles, &curves))) }
    };
    Section { id: "budget", title: "Budget use", sentence, body }
}
