//! What are screens made of: figures, badges, tables, charts, empty states?

use std::time::Duration;

use evercrawl_draw::chart::{self, Chart, Mark, ticks_to};
use evercrawl_model::Time;
use evercrawl_query::TrendPoint;
use maud::{Markup, PreEscaped, html};

use crate::codes::Tone;
use crate::frame::Frame;
use crate::words::{self, is_web_address, visible};

/// A word on a coloured ground. The word says it all; the colour only helps to find it.
pub(crate) fn badge(word: &str, tone: Tone) -> Markup {
    html! { span class=(format!("badge {}", tone.class())) { (word) } }
}

/// A part of a screen with a heading.
pub(crate) fn card(id: &str, heading: &str, body: &Markup) -> Markup {
    html! { section.card id=(id) data-live aria-labelledby=(format!("{id}-h")) { h2 id=(format!("{id}-h")) { (heading) } (body) } }
}

/// The same across the whole screen.
pub(crate) fn wide_card(id: &str, heading: &str, body: &Markup) -> Markup {
    html! { section.card.wide id=(id) data-live aria-labelledby=(format!("{id}-h")) { h2 id=(format!("{id}-h")) { (heading) } (body) } }
}

/// A figure with its name and a note.
pub(crate) fn tile(name: &str, value: &Markup, note: &Markup, spark: Option<String>) -> Markup {
    html! {
        div.tile {
            dt { (name) }
            dd.value { (value) }
            dd.note { (note) }
            @if let Some(spark) = spark { dd.curve-of { (PreEscaped(spark)) } }
        }
    }
}

/// What is shown where there is nothing: why, and what comes next.
pub(crate) fn empty(what: &str, next: &Markup) -> Markup {
    html! { div.empty { p { strong { (what) } } p { (next) } } }
}

/// The URL of a page of the crawl, as a link to its screen.
pub(crate) fn page_link(frame: &Frame<'_>, url: &str) -> Markup {
    html! { a.url href=(frame.page(url)) { (short_url(url)) } }
}

/// A URL on the web, as a link that leads there only if it is one.
pub(crate) fn web_link(url: &str) -> Markup {
    html! {
        @if is_web_address(url) { a.url.out href=(words::address(url)) rel="noopener noreferrer nofollow" target="_blank" { (visible(url)) } }
        @else { span.url { (visible(url)) } }
    }
}

/// A URL with its host apart, so that long lists can be read.
fn short_url(url: &str) -> Markup {
    let bare = url.split_once("://").map_or(url, |(_, rest)| rest);
    let (host, path) = bare.split_at(bare.find('/').unwrap_or(bare.len()));
    html! { span.host { (visible(host)) } (visible(path)) }
}

/// A drawing, with a sentence that says what it shows.
pub(crate) fn figure(svg: String, sentence: &str) -> Markup {
    html! { figure { (PreEscaped(svg)) figcaption { (sentence) } } }
}

/// The names of curves, with their colours.
pub(crate) fn legend(names: &[(&str, &str)]) -> Markup {
    html! { ul.legend { @for (class, name) in names { li { i class=(class) {} (name) } } } }
}

/// A table that may be wider than the screen, in a frame that scrolls.
pub(crate) fn table(label: &str, heads: &[(&str, &str)], rows: &Markup) -> Markup {
    html! {
        div.scroll role="region" aria-label=(label) tabindex="0" {
            table {
                thead { tr { @for (class, head) in heads { th scope="col" class=(class) { (head) } } } }
                tbody { (rows) }
            }
        }
    }
}

/// A row of links of which one holds.
pub(crate) fn choices(label: &str, links: &[(String, &str, bool)]) -> Markup {
    html! {
        div.choices role="group" aria-label=(label) {
            @for (href, words, holds) in links {
                a href=(href) aria-current=[holds.then_some("true")] { (words) }
            }
        }
    }
}

/// A curve over time.
pub(crate) struct Curve<'a> {
    pub(crate) class: &'static str,
    pub(crate) value: &'a dyn Fn(&TrendPoint) -> Option<f64>,
}

/// How a value is written at an axis.
pub(crate) type Worded<'a> = &'a dyn Fn(f64) -> String;

/// The share of a period at which a moment lies.
fn share_of(at: Time, from: Time, to: Time) -> f64 {
    let length = to.since(from).as_secs_f64().max(0.001);
    at.since(from).as_secs_f64() / length
}

/// The marks of an axis of time.
fn time_ticks(from: Time, to: Time) -> Vec<(f64, String)> {
    let length = to.since(from);
    let at = |share: f64| from.after(Duration::from_secs_f64(length.as_secs_f64() * share));
    [0.0, 0.25, 0.5, 0.75, 1.0].map(|share| (share, words::tick(at(share), length))).into()
}

/// An axis from 0 to a round number that holds `most`.
fn value_ticks(most: f64, worded: Worded<'_>) -> (f64, Vec<(f64, String)>) {
    let ticks = ticks_to(most);
    let top = ticks.last().copied().unwrap_or(1.0);
    (top, ticks.iter().map(|tick| (tick / top, worded(*tick))).collect())
}

/// What a chart over time is called, and how its values are written.
pub(crate) struct Titles<'a> {
    pub(crate) id: &'a str,
    pub(crate) title: &'a str,
    pub(crate) sentence: &'a str,
    pub(crate) worded: Worded<'a>,
    /// The end of the axis, where that is known beforehand.
    pub(crate) top: Option<f64>,
}

/// Curves of values that hold at each point. A gap of time breaks them.
pub(crate) fn levels(points: &[TrendPoint], titles: &Titles<'_>, curves: &[Curve<'_>]) -> String {
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return String::new() };
    let (from, to) = (first.at.0, last.at.0);
    let values =
        || curves.iter().flat_map(|curve| points.iter().filter_map(|point| (curve.value)(point)));
    let most = titles.top.unwrap_or_else(|| values().fold(0.0, f64::max));
    let (top, y_ticks) = value_ticks(most, titles.worded);
    let marks = curves.iter().enumerate().map(|(number, curve)| {
        let at = |point: &TrendPoint| {
            (
                share_of(point.at.0, from, to),
                (curve.value)(point).map_or(f64::NAN, |value| value / top),
            )
        };
        let line = with_gaps(points, at);
        if number == 0 { Mark::Area(curve.class, line) } else { Mark::Line(curve.class, line) }
    });
    drawn(titles, time_ticks(from, to), y_ticks, marks.collect())
}

/// Curves of what happened a minute, from totals.
pub(crate) fn paces(points: &[TrendPoint], titles: &Titles<'_>, curves: &[Curve<'_>]) -> String {
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return String::new() };
    let (from, to) = (first.at.0, last.at.0);
    let lines: Vec<Vec<(f64, f64)>> =
        curves.iter().map(|curve| pace(points, curve.value)).collect();
    let most = lines
        .iter()
        .flatten()
        .map(|point| point.1)
        .filter(|value| value.is_finite())
        .fold(0.0, f64::max);
    let (top, y_ticks) = value_ticks(most, titles.worded);
    let marks = lines.into_iter().zip(curves).enumerate().map(|(number, (line, curve))| {
        let line = line.into_iter().map(|(x, y)| (x, y / top)).collect();
        if number == 0 { Mark::Area(curve.class, line) } else { Mark::Line(curve.class, line) }
    });
    drawn(titles, time_ticks(from, to), y_ticks, marks.collect())
}

/// What happened a minute between each point and the one before: share of the period, and rate.
pub(crate) fn pace(
    points: &[TrendPoint],
    value: &dyn Fn(&TrendPoint) -> Option<f64>,
) -> Vec<(f64, f64)> {
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return Vec::new() };
    let usual = usual_step(points);
    let rate = |pair: &[TrendPoint]| {
        let [before, after] = pair else { return (0.0, f64::NAN) };
        let length = after.at.0.since(before.at.0).as_secs_f64();
        let share = share_of(after.at.0, first.at.0, last.at.0);
        let grown = value(before).zip(value(after)).map(|(before, after)| after - before);
        match grown {
            Some(grown) if length > 0.0 && length <= 5.0 * usual => {
                (share, (grown / length * 60.0).max(0.0))
            }
            _ => (share, f64::NAN),
        }
    };
    points.windows(2).map(rate).collect()
}

/// The step between most points, in seconds.
fn usual_step(points: &[TrendPoint]) -> f64 {
    let mut steps: Vec<f64> =
        points.windows(2).map(|pair| pair[1].at.0.since(pair[0].at.0).as_secs_f64()).collect();
    steps.sort_by(f64::total_cmp);
    steps.get(steps.len() / 2).copied().unwrap_or(60.0).max(1.0)
}

/// A curve through points; a gap of time breaks it.
fn with_gaps(points: &[TrendPoint], at: impl Fn(&TrendPoint) -> (f64, f64)) -> Vec<(f64, f64)> {
    let usual = usual_step(points);
    let mut line = Vec::with_capacity(points.len());
    let mut before: Option<Time> = None;
    for point in points {
        if before.is_some_and(|before| point.at.0.since(before).as_secs_f64() > 5.0 * usual) {
            line.push((f64::NAN, f64::NAN));
        }
        before = Some(point.at.0);
        line.push(at(point));
    }
    line
}

/// The freshness over time, with how far it may be off.
pub(crate) fn freshness_chart(points: &[TrendPoint], sentence: &str) -> String {
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return String::new() };
    let (from, to) = (first.at.0, last.at.0);
    let x = |point: &TrendPoint| share_of(point.at.0, from, to);
    let line = with_gaps(points, |point| (x(point), point.freshness.unwrap_or(f64::NAN)));
    let band = points.iter().map(|point| match (point.freshness, point.freshness_error) {
        (Some(fresh), Some(error)) => {
            (x(point), (fresh - error).max(0.0), (fresh + error).min(1.0))
        }
        _ => (x(point), f64::NAN, f64::NAN),
    });
    let marks = vec![Mark::Band("k0", band.collect()), Mark::Line("k0", line)];
    let y_ticks = [0.0, 0.25, 0.5, 0.75, 1.0].map(|share: f64| (share, words::percent(share)));
    let titles = Titles {
        id: "fresh",
        title: "Freshness over time",
        sentence,
        worded: &words::percent,
        top: Some(1.0),
    };
    drawn(&titles, time_ticks(from, to), y_ticks.into(), marks)
}

/// A histogram: the name of each class, and how many there are.
pub(crate) fn columns(
    titles: &Titles<'_>,
    class: &'static str,
    counts: &[(String, f64)],
) -> String {
    let most = counts.iter().map(|(_, count)| *count).fold(0.0, f64::max);
    let (top, y_ticks) = value_ticks(most, titles.worded);
    let width = 1.0 / counts.len().max(1) as f64;
    let place = |number: usize| number as f64 * width;
    let bars = counts.iter().enumerate().map(|(number, (name, count))| {
        let words = format!("{name}: {}", (titles.worded)(*count));
        (place(number) + 0.08 * width, place(number) + 0.92 * width, count / top, words)
    });
    // Where there are many classes, not every name has room.
    let step = counts.len().div_ceil(7).max(1);
    let named = counts.iter().enumerate().step_by(step);
    let x_ticks =
        named.map(|(number, (name, _))| (place(number) + 0.5 * width, name.clone())).collect();
    drawn(titles, x_ticks, y_ticks, vec![Mark::Columns(class, bars.collect())])
}

fn drawn(
    titles: &Titles<'_>,
    x_ticks: Vec<(f64, String)>,
    y_ticks: Vec<(f64, String)>,
    marks: Vec<Mark>,
) -> String {
    let chart = Chart {
        id: titles.id.to_owned(),
        title: titles.title.to_owned(),
        description: titles.sentence.to_owned(),
        height: 190,
        x_ticks,
        y_ticks,
        marks,
    };
    chart.svg()
}

/// A curve for beside a number, from 0 or from the lowest value.
pub(crate) fn spark(points: &[(f64, f64)], from_zero: bool) -> Option<String> {
    let values = || points.iter().map(|point| point.1).filter(|value| value.is_finite());
    if values().count() < 3 {
        return None;
    }
    let most = values().fold(f64::NEG_INFINITY, f64::max);
    let least = if from_zero { 0.0 } else { values().fold(f64::INFINITY, f64::min) };
    let range = (most - least).max(1e-9);
    let line: Vec<(f64, f64)> =
        points.iter().map(|(x, y)| (*x, 0.06 + 0.88 * (y - least) / range)).collect();
    Some(chart::spark("k0", &line))
}

/// The same of a value that holds at each point.
pub(crate) fn spark_of(
    points: &[TrendPoint],
    value: impl Fn(&TrendPoint) -> Option<f64>,
) -> Option<String> {
    let (first, last) = (points.first()?, points.last()?);
    let at = |point: &TrendPoint| {
        (share_of(point.at.0, first.at.0, last.at.0), value(point).unwrap_or(f64::NAN))
    };
    spark(&points.iter().map(at).collect::<Vec<_>>(), false)
}

/// Counts by code, the greatest first, with bars.
pub(crate) fn counts_table<'a>(
    label: &str,
    head: &str,
    counts: impl Iterator<Item = (Markup, u64, &'a str)>,
) -> Markup {
    let mut rows: Vec<(Markup, u64, &str)> = counts.filter(|row| row.1 > 0).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.1));
    let total: u64 = rows.iter().map(|row| row.1).sum();
    let most = rows.first().map_or(1, |row| row.1).max(1);
    let body = html! {
        @for (name, count, class) in &rows {
            tr {
                th scope="row" { (name) }
                td.num { (words::count(*count)) }
                td.num.soft { (words::percent(*count as f64 / total.max(1) as f64)) }
                td.bar { (PreEscaped(chart::cell_bar(class, *count as f64 / most as f64))) }
            }
        }
    };
    table(label, &[("", head), ("num", "Count"), ("num", "Share"), ("bar", "")], &body)
}
