//! Analytics: what do the figures say? Tables and drawings, each with a sentence of what it shows.
//!
//! The sentences are computed from the same numbers as the drawings. The screen and the report are the same sections.

use evercrawl_draw::chart::share_bar;
use evercrawl_model::Time;
use evercrawl_query::{
    ClassCount, PlanView, PredictionsView, RatesView, Status, TallyView, TrendPoint, TrendView,
};
use maud::{Markup, PreEscaped, html};
use serde::Serialize;

use crate::codes;
use crate::frame::{Elsewhere, Frame, Place};
use crate::overview::Period;
use crate::parts::{
    self, Curve, Titles, choices, columns, counts_table, empty, figure, freshness_chart, legend,
    levels, table,
};
use crate::words::{self, bytes, count, figures, percent, plural, seconds, short, visible};

/// What there is to analyse.
#[derive(Clone, Debug, Serialize)]
pub struct Analytics<'a> {
    /// How the crawl is doing.
    pub status: &'a Status,
    /// How its figures moved.
    pub trend: &'a TrendView,
    /// What the last visits brought.
    pub tally: &'a TallyView,
    /// What would be fetched in the next 24 hours.
    pub plan: &'a PlanView,
    /// How often pages change, by host; it takes a walk over the whole log, so screens leave it out.
    pub rates: Option<&'a RatesView>,
}

/// A part of the analysis.
struct Section {
    id: &'static str,
    title: &'static str,
    sentence: String,
    body: Markup,
}

/// The screen.
pub fn analytics(frame: &Frame<'_>, shown: &Analytics<'_>, period: Period) -> String {
    let link = |one: Period| {
        (format!("{}?period={}", frame.at(Place::Analytics), one.code()), one.code(), one == period)
    };
    let body = html! {
        (choices("Period of the curves", &Period::ALL.map(link)))
        div.grid.analysis { @for section in sections(shown) { (card_of(&section)) } }
    };
    let elsewhere = Elsewhere::new("tally", "report --html report.html")
        .api(format!("trend?seconds={}", period.seconds()));
    frame.screen(Place::Analytics, &elsewhere, &body)
}

/// One HTML file that holds the whole analysis, without scripts and without anything from elsewhere.
pub fn report(collection: &str, shown: &Analytics<'_>, now: Time) -> String {
    let sections = sections(shown);
    let style = std::str::from_utf8(crate::assets::STYLE.bytes).unwrap_or_default();
    html! {
        (maud::DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "Report of " (words::plain(collection)) }
                style { (PreEscaped(style)) }
            }
            body.report {
                main #main {
                    div.head { div { h1 { "Report of " (visible(collection)) } p.question { "As of " (words::utc(now)) } } }
                    section.headline { p { (overall(shown)) } }
                    nav.contents aria-label="Sections" { ul { @for section in &sections { li { a href=(format!("#{}", section.id)) { (section.title) } } } } }
                    div.grid.analysis { @for section in &sections { (card_of(section)) } }
                    footer.elsewhere { p.soft { "Made by " code { "evercrawl report --html" } ". The same as JSON: " code { "evercrawl report --json" } "." } }
                }
            }
        }
    }
    .into_string()
}

fn card_of(section: &Section) -> Markup {
    html! {
        section.card id=(section.id) data-live aria-labelledby=(format!("{}-h", section.id)) {
            h2 id=(format!("{}-h", section.id)) { (section.title) }
            p.says { (visible(&section.sentence)) }
            (section.body)
        }
    }
}

fn sections(shown: &Analytics<'_>) -> Vec<Section> {
    let mut sections = vec![
        growth(shown),
        states(shown.status),
        freshness(shown),
        age(shown),
        pace_of(shown),
        outcomes(shown),
        by_host(shown.tally),
        rates_by_class(shown.plan),
    ];
    sections.extend(shown.rates.map(rates_by_host));
    sections.extend([
        budget(shown),
        discovery(shown.status),
        calibrated(shown.status),
        sizes(shown.tally),
        times(shown.tally),
        duplicates(shown.status),
        types(shown.tally),
        languages(shown.tally),
        refusals(shown.status),
    ]);
    sections
}

/// The whole in two sentences.
fn overall(shown: &Analytics<'_>) -> String {
    let (total, fresh) = (&shown.status.total, &shown.status.survey.freshness);
    let known = format!(
        "{} on {} are known, after {} that received {}.",
        plural(total.pages, "page"),
        plural(total.hosts, "host"),
        plural(total.visits, "visit"),
        bytes(total.bytes_received)
    );
    match fresh.as_ref().and_then(|fresh| fresh.freshness.zip(fresh.freshness_error)) {
        Some((share, error)) => format!(
            "{known} {} \u{b1} {} of the held pages are as on the web.",
            percent(share),
            percent(error)
        ),
        None => format!("{known} How fresh the held pages are is not measured yet."),
    }
}

fn nothing(why: &str) -> Markup {
    empty("No figures yet.", &html! { (why) })
}

const NO_POINTS: &str = "A running crawl notes a point every ten seconds.";

/// By how much a total grew in the period.
fn grown(points: &[TrendPoint], value: impl Fn(&TrendPoint) -> u64) -> Option<(u64, u64, f64)> {
    let (first, last) = (points.first()?, points.last()?);
    let length = last.at.0.since(first.at.0).as_secs_f64();
    (length > 0.0).then(|| (value(first), value(last), length))
}

fn growth(shown: &Analytics<'_>) -> Section {
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

/// The colour of each life state.
fn state_class(code: &str) -> &'static str {
    match code {
        "live" => "k0",
        "new" => "k4",
        "failing" => "k3",
        "gone" => "k1",
        "moved" => "k2",
        "refused" => "k5",
        _ => "k6",
    }
}

fn states(status: &Status) -> Section {
    let total = status.total.pages.max(1) as f64;
    let by_state = &status.total.pages_by_state;
    let live = by_state.get("live").copied().unwrap_or(0);
    let sentence = format!("{} of the known pages are live.", percent(live as f64 / total));
    let part = |(code, count): (&String, &u64)| {
        (state_class(code), *count as f64 / total, format!("{code}: {count}"))
    };
    let parts: Vec<(&str, f64, String)> = by_state.iter().map(part).collect();
    let rows = by_state
        .iter()
        .map(|(code, count)| (html! { (code.replace('_', " ")) }, *count, state_class(code)));
    let body = match status.total.pages {
        0 => nothing("Add seeds, and crawl."),
        _ => {
            html! { (PreEscaped(share_bar("Pages by state", &parts))) (counts_table("Pages by state", "State", rows)) }
        }
    };
    Section { id: "states", title: "States", sentence, body }
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

fn freshness(shown: &Analytics<'_>) -> Section {
    let points = &shown.trend.points;
    let sentence = freshness_sentence(points);
    let known = points.iter().filter(|point| point.freshness.is_some()).count();
    let body = match known {
        0..=1 => nothing("It takes some hundred random visits to measure freshness."),
        _ => html! { (PreEscaped(freshness_chart(points, &sentence))) },
    };
    Section { id: "freshness", title: "Freshness over time", sentence, body }
}

fn age(shown: &Analytics<'_>) -> Section {
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

fn pace_of(shown: &Analytics<'_>) -> Section {
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

fn outcomes(shown: &Analytics<'_>) -> Section {
    let by_outcome = &shown.status.total.visits_by_outcome;
    let failed: u64 =
        by_outcome.iter().filter(|(code, _)| codes::is_failure(code)).map(|(_, count)| count).sum();
    let sentence = format!(
        "{} of {} failed; of the last {}, {} did.",
        percent(failed as f64 / shown.status.total.visits.max(1) as f64),
        plural(shown.status.total.visits, "visit"),
        count(shown.tally.visits),
        percent(
            shown.tally.by_change.get("failed").copied().unwrap_or(0) as f64
                / shown.tally.visits.max(1) as f64
        )
    );
    let rows = by_outcome.iter().map(|(code, count)| {
        (
            html! { (codes::outcome(code)) },
            *count,
            if codes::is_failure(code) { "k3" } else { "k0" },
        )
    });
    let body = if by_outcome.is_empty() {
        nothing("No visit yet.")
    } else {
        counts_table("Visits by outcome", "Outcome", rows)
    };
    Section { id: "outcomes", title: "Outcomes", sentence, body }
}

fn by_host(tally: &TallyView) -> Section {
    let top: u64 = tally.hosts.iter().take(5).map(|host| host.visits).sum();
    let sentence = format!(
        "The last {} went to {}; the five with most got {} of them.",
        plural(tally.visits, "visit"),
        plural(tally.hosts_seen, "host"),
        percent(top as f64 / tally.visits.max(1) as f64)
    );
    let heads = [
        ("", "Host"),
        ("num", "Visits"),
        ("num", "Changed"),
        ("num", "Failed"),
        ("num", "Received"),
        ("num", "Answer"),
    ];
    let rows = html! { @for host in tally.hosts.iter().take(25) { tr {
        th scope="row" { (visible(&host.host)) }
        td.num { (count(host.visits)) }
        td.num { (percent(host.changes as f64 / (host.visits - host.first_visits).max(1) as f64)) }
        td.num { (percent(host.failed as f64 / host.visits.max(1) as f64)) }
        td.num { (bytes(host.bytes)) }
        td.num { (seconds(host.mean_ms / 1000.0)) }
    } } };
    let body = if tally.hosts.is_empty() {
        nothing("No visit yet.")
    } else {
        table("Outcomes by host", &heads, &rows)
    };
    Section { id: "hosts", title: "Outcomes by host", sentence, body }
}

fn rates_by_class(plan: &PlanView) -> Section {
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
    let counts: Vec<(String, f64)> =
        plan.classes.iter().map(|class| (class.changes.clone(), class.pages as f64)).collect();
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

fn rates_by_host(rates: &RatesView) -> Section {
    use evercrawl_draw::chart::{Chart, Mark, ticks_to};
    let mut rows: Vec<_> = rates.rows.iter().filter(|row| row.rate.is_some()).collect();
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
    let most = rows.iter().filter_map(|row| row.high.or(row.rate)).fold(0.0, f64::max);
    let ticks = ticks_to(most);
    let top = ticks.last().copied().unwrap_or(1.0);
    let x = |number: usize| (number as f64 + 0.5) / rows.len().max(1) as f64;
    let chart = Chart {
        id: "a-host-rates".to_owned(),
        title: "Changes a day of one page, by host".to_owned(),
        description: words::plain(&sentence),
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
            html! { (PreEscaped(chart.svg())) (table("Change rates by host", &heads, &body_rows)) }
        }
    };
    Section { id: "host-rates", title: "Change rates by host", sentence, body }
}

fn budget(shown: &Analytics<'_>) -> Section {
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

fn discovery(status: &Status) -> Section {
    let links = &status.survey.learned.new_links;
    let best = links
        .iter()
        .filter(|one| one.a_visit.is_some())
        .max_by(|a, b| a.a_visit.unwrap_or(0.0).total_cmp(&b.a_visit.unwrap_or(0.0)));
    let sentence = match best {
        Some(one) => format!(
            "A visit to a known {} leads to {} new links on average; no other kind leads to more.",
            one.kind,
            figures(one.a_visit.unwrap_or(0.0))
        ),
        None => "No known page was visited again yet.".to_owned(),
    };
    let heads = [("", "Kind of page"), ("num", "Visits"), ("num", "New links"), ("num", "A visit")];
    let rows = html! { @for one in links { tr {
        th scope="row" { (one.kind) } td.num { (short(one.visits)) } td.num { (short(one.links)) }
        td.num { (one.a_visit.map_or("\u{2013}".to_owned(), figures)) }
    } } };
    Section {
        id: "discovery",
        title: "Discovery yield",
        sentence,
        body: table("New links by kind of page", &heads, &rows),
    }
}

fn calibrated(status: &Status) -> Section {
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
    use evercrawl_draw::chart::{Chart, Mark};
    let seen: Vec<_> = predictions.by_chance.iter().filter(|one| one.count.visits >= 1.0).collect();
    if seen.is_empty() {
        return nothing("Each visit to a known page adds a prediction.");
    }
    let share = |part: f64, visits: f64| (part / visits).clamp(0.0, 1.0);
    let at = |one: &&evercrawl_query::ChancePredictions| {
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

fn classes(counts: &[ClassCount], worded: impl Fn(u64) -> String) -> Vec<(String, f64)> {
    let mut last = 0;
    let class = |one: &ClassCount| {
        let name = match one.to {
            Some(to) => format!("\u{2264} {}", worded(to)),
            None => format!("> {}", worded(last)),
        };
        last = one.to.unwrap_or(last);
        (name, one.count as f64)
    };
    let mut named: Vec<(String, f64)> = counts.iter().map(class).collect();
    while named.last().is_some_and(|class| class.1 == 0.0) {
        named.pop();
    }
    named
}

/// The class in the middle of the counts.
fn median(classes: &[(String, f64)]) -> Option<&str> {
    let total: f64 = classes.iter().map(|class| class.1).sum();
    let mut so_far = 0.0;
    classes
        .iter()
        .find(|class| {
            so_far += class.1;
            so_far * 2.0 >= total
        })
        .filter(|_| total > 0.0)
        .map(|class| class.0.as_str())
}

fn sizes(tally: &TallyView) -> Section {
    let named = classes(&tally.sizes, bytes);
    let sentence = match median(&named) {
        Some(median) => format!(
            "The last {} received {}; half of the answers with content are {median}.",
            plural(tally.visits, "visit"),
            bytes(tally.bytes)
        ),
        None => "No content was received lately.".to_owned(),
    };
    let titles = Titles {
        id: "a-sizes",
        title: "Answers by size",
        sentence: &sentence,
        worded: &short,
        top: None,
    };
    let body = if named.is_empty() {
        nothing("No visit yet.")
    } else {
        html! { (PreEscaped(columns(&titles, "k2", &named))) }
    };
    Section { id: "sizes", title: "Bytes", sentence, body }
}

fn times(tally: &TallyView) -> Section {
    let named = classes(&tally.times, |ms| seconds(ms as f64 / 1000.0));
    let sentence = match median(&named) {
        Some(median) => {
            format!("Half of the last {} took {median}.", plural(tally.visits, "visit"))
        }
        None => "No visit yet.".to_owned(),
    };
    let titles = Titles {
        id: "a-times",
        title: "Visits by how long they took",
        sentence: &sentence,
        worded: &short,
        top: None,
    };
    let body = if named.is_empty() {
        nothing("No visit yet.")
    } else {
        html! { (PreEscaped(columns(&titles, "k2", &named))) }
    };
    Section { id: "times", title: "How long visits take", sentence, body }
}

fn duplicates(status: &Status) -> Section {
    let total = &status.total;
    let share = |count: u64| percent(count as f64 / total.visits.max(1) as f64);
    let sentence = format!(
        "{} of the visits brought what another page had already brought, and {} nearly that; {} brought nothing new.",
        share(total.duplicates),
        share(total.near_duplicates),
        share(total.unchanged.not_modified + total.unchanged.same_digest + total.unchanged.noise)
    );
    let rows = [
        (html! { "Exact copies of another page" }, total.duplicates, "k1"),
        (html! { "Near copies of another page" }, total.near_duplicates, "k4"),
        (html! { "Not modified (304)" }, total.unchanged.not_modified, "k0"),
        (html! { "Same bytes" }, total.unchanged.same_digest, "k0"),
        (html! { "Only noise differed" }, total.unchanged.noise, "k2"),
    ];
    let body = counts_table("Visits that brought nothing new", "What came", rows.into_iter());
    Section { id: "duplicates", title: "Duplicates", sentence, body }
}

fn types(tally: &TallyView) -> Section {
    let sentence = sampled_sentence(&tally.by_content_type, tally.looked_up, "media type");
    let named =
        |code: &str| if code.is_empty() { "none named".to_owned() } else { code.to_owned() };
    let rows = tally
        .by_content_type
        .iter()
        .map(|(code, count)| (html! { (visible(&named(code))) }, *count, "k0"));
    let body = if tally.looked_up == 0 {
        nothing("No content is held yet.")
    } else {
        counts_table("Media types", "Type", rows)
    };
    Section { id: "types", title: "Media types", sentence, body }
}

fn languages(tally: &TallyView) -> Section {
    let sentence = sampled_sentence(&tally.by_language, tally.texts_read, "language");
    let named = |code: &str| if code.is_empty() { "not known".to_owned() } else { code.to_owned() };
    let rows = tally
        .by_language
        .iter()
        .map(|(code, count)| (html! { (visible(&named(code))) }, *count, "k0"));
    let body = if tally.texts_read == 0 {
        nothing("No text is held yet.")
    } else {
        counts_table("Languages", "Language", rows)
    };
    Section { id: "languages", title: "Languages", sentence, body }
}

/// The most frequent of what a sample showed, with twice its standard error.
fn sampled_sentence(
    counts: &std::collections::BTreeMap<String, u64>,
    sample: u64,
    what: &str,
) -> String {
    match counts.iter().max_by_key(|(_, count)| **count) {
        Some((code, count)) if sample > 0 => {
            let share = *count as f64 / sample as f64;
            let error = 2.0 * (share * (1.0 - share) / sample as f64).sqrt();
            let code = if code.is_empty() { "none" } else { code };
            format!(
                "The most frequent {what} is {code}: {} \u{b1} {} of the answers, by a look at {}.",
                percent(share),
                percent(error),
                plural(sample, "sample")
            )
        }
        _ => format!("No {what} is known yet."),
    }
}

fn refusals(status: &Status) -> Section {
    let by_reason = &status.total.refused_by_reason;
    let total: u64 = by_reason.values().sum();
    let sentence = match by_reason.iter().max_by_key(|(_, count)| **count) {
        Some((code, count)) => format!(
            "{} were refused, {} of them for one reason: {}",
            plural(total, "URL"),
            percent(*count as f64 / total.max(1) as f64),
            codes::refusal(code).0.to_lowercase()
        ),
        None => "Nothing was refused.".to_owned(),
    };
    let rows = by_reason.iter().map(|(code, count)| (html! { code { (code) } }, *count, "k5"));
    let body = if by_reason.is_empty() {
        nothing("Each refusal has one reason.")
    } else {
        counts_table("Refusals by reason", "Reason", rows)
    };
    Section { id: "refusals", title: "Refusals", sentence, body }
}
