//! Changes: what is new for me?

use evercrawl_query::{
    Before, ChangeView, DiffView, LatestRequest, LatestView, Part, PartWords, VisitEntry,
    WhatChanged,
};
use maud::{Markup, html};

use crate::codes;
use crate::frame::{Elsewhere, Frame, Place};
use crate::parts::{badge, choices, empty, page_link};
use crate::words::{self, argument, in_query, moment, percent, plural, visible};

/// What the screen shows.
#[derive(Clone, Debug)]
pub struct Changes<'a> {
    /// What was asked for.
    pub asked: &'a LatestRequest,
    /// What there is.
    pub found: &'a LatestView,
    /// The words that changed, by the number of the change; for some of them.
    pub diffs: &'a [(u64, DiffView)],
    /// Up to which number the user has seen all; `None`: nothing yet.
    pub seen: Option<u64>,
    /// Whether only what is not seen yet is shown.
    pub unread: bool,
    /// Whether the greatest changes come first, rather than the latest.
    pub by_score: bool,
}

/// The changes.
pub fn changes(frame: &Frame<'_>, shown: &Changes<'_>) -> String {
    let mut order: Vec<&ChangeView> = shown.found.changes.iter().collect();
    if shown.by_score {
        order.sort_by(|a, b| score(b).total_cmp(&score(a)).then(b.number.cmp(&a.number)));
    }
    let body = html! {
        (filters(frame, shown))
        (seen_form(frame, shown))
        section #list data-live aria-label="Changes" {
            @if order.is_empty() { (nothing(frame, shown)) }
            ol.rows.changes data-keys="rows" {
                @for change in order { (row(frame, shown, change)) }
            }
            @if let Some(before) = shown.found.before {
                p { a.button.quiet rel="next" href=(address(frame, shown, &[("before", Some(before.to_string()))])) { "Earlier changes" } }
            }
        }
        p.soft.keys-help { kbd { "j" } " next " kbd { "k" } " previous " kbd { "Enter" } " open " kbd { "e" } " seen up to here " kbd { "/" } " look up a page" }
    };
    let elsewhere =
        Elsewhere::new("changes?since=1d", "changes --since 1d").command("changes --follow --json");
    frame.screen(Place::Changes, &elsewhere, &body)
}

fn score(change: &ChangeView) -> f64 {
    match &change.what {
        WhatChanged::Visit(entry) => entry.visit.score,
        _ => 1.0,
    }
}

/// The address of the screen with some of its state changed.
fn address(frame: &Frame<'_>, shown: &Changes<'_>, other: &[(&str, Option<String>)]) -> String {
    let asked = shown.asked;
    let mut state: Vec<(&str, Option<String>)> = vec![
        ("change", asked.change.clone()),
        ("host", asked.host.clone()),
        ("score", asked.score.map(|score| score.to_string())),
        ("unread", shown.unread.then(|| "true".to_owned())),
        ("sort", shown.by_score.then(|| "score".to_owned())),
        ("before", None),
    ];
    for (name, value) in other {
        if let Some(held) = state.iter_mut().find(|(known, _)| known == name) {
            held.1.clone_from(value);
        }
    }
    let query: Vec<String> = state
        .into_iter()
        .filter_map(|(name, value)| Some(format!("{name}={}", in_query(&value?))))
        .collect();
    match query.is_empty() {
        true => frame.at(Place::Changes),
        false => format!("{}?{}", frame.at(Place::Changes), query.join("&")),
    }
}

fn filters(frame: &Frame<'_>, shown: &Changes<'_>) -> Markup {
    let kinds = [
        ("", "all"),
        ("changed", "changed"),
        ("new", "new"),
        ("gone", "gone"),
        ("near", "nearly the same"),
        ("site", "whole sites"),
    ];
    let held = shown.asked.change.as_deref().unwrap_or_default();
    let kind = |(code, name): (&'static str, &'static str)| {
        let value = Some(code.to_owned()).filter(|code| !code.is_empty());
        (address(frame, shown, &[("change", value)]), name, code == held)
    };
    let truth = |value: bool| value.then(|| "true".to_owned());
    let by = |score: bool| score.then(|| "score".to_owned());
    html! {
        div.filters {
            (choices("Kind of change", &kinds.map(kind)))
            (choices("Read or not", &[
                (address(frame, shown, &[("unread", truth(false))]), "all", !shown.unread),
                (address(frame, shown, &[("unread", truth(true))]), "not seen yet", shown.unread),
            ]))
            (choices("Order", &[
                (address(frame, shown, &[("sort", by(false))]), "latest first", !shown.by_score),
                (address(frame, shown, &[("sort", by(true))]), "greatest first", shown.by_score),
            ]))
            form.inline method="get" action=(frame.at(Place::Changes)) {
                @if let Some(change) = &shown.asked.change { input type="hidden" name="change" value=(change); }
                @if shown.unread { input type="hidden" name="unread" value="true"; }
                @if shown.by_score { input type="hidden" name="sort" value="score"; }
                label { "Host " input name="host" value=(shown.asked.host.as_deref().unwrap_or_default()) autocomplete="off"; }
                label { "Least score " input name="score" type="number" min="0" max="1" step="0.01"
                    value=(shown.asked.score.map(|score| score.to_string()).unwrap_or_default()); }
                button { "Show" }
            }
        }
    }
}

fn seen_form(frame: &Frame<'_>, shown: &Changes<'_>) -> Markup {
    let newest = shown.found.last.filter(|last| shown.seen.is_none_or(|seen| seen < *last));
    html! {
        @if let Some(last) = newest {
            (frame.form("seen", &html! {
                input type="hidden" name="number" value=(last);
                button { "Seen up to here" }
                span.soft { " marks all as seen in this browser" }
            }))
        }
    }
}

fn nothing(frame: &Frame<'_>, shown: &Changes<'_>) -> Markup {
    let filtered =
        shown.asked.change.is_some() || shown.asked.host.is_some() || shown.asked.score.is_some();
    match () {
        () if shown.unread && !filtered => empty(
            "You have seen all.",
            &html! { a href=(address(frame, shown, &[("unread", None)])) { "Show all changes" } },
        ),
        () if filtered && shown.found.before.is_some() => {
            empty("None among these.", &html! { "Earlier changes may fit." })
        }
        () if filtered => empty(
            "No change fits.",
            &html! { a href=(frame.at(Place::Changes)) { "Show all changes" } },
        ),
        () => empty(
            "Nothing has changed yet.",
            &html! { "Run the crawl: " code { "evercrawl crawl --data " (argument(frame.collection)) } },
        ),
    }
}

fn row(frame: &Frame<'_>, shown: &Changes<'_>, change: &ChangeView) -> Markup {
    let unread = shown.seen.is_none_or(|seen| change.number > seen);
    let diff =
        shown.diffs.iter().find(|(number, _)| *number == change.number).map(|(_, diff)| diff);
    html! {
        li.unread[unread] id=(format!("n{}", change.number)) data-number=(change.number) {
            (row_in_brief(frame, change))
            @if let Some(diff) = diff { (brief_diff(diff)) }
        }
    }
}

/// A change in a line: what, where, how much, when.
pub(crate) fn row_in_brief(frame: &Frame<'_>, change: &ChangeView) -> Markup {
    let (word, tone) = codes::change(change.code());
    html! {
        div.change {
            (badge(word, tone))
            @match &change.what {
                WhatChanged::Site(site) => span.what {
                    "All pages of " span.host { (visible(&site.host)) } " changed alike"
                    @if let Some(passages) = site.passages { " (" (plural(passages.into(), "passage")) ")" }
                },
                WhatChanged::Page(entry) => span.what {
                    (page_link(frame, &entry.url)) " " span.soft { (codes::refusal(&entry.life.reason).0) }
                },
                WhatChanged::Visit(entry) => (visit_words(frame, entry)),
            }
            span.when { (moment(change.at().0, frame.now)) }
        }
    }
}

fn visit_words(frame: &Frame<'_>, entry: &VisitEntry) -> Markup {
    let url = entry.visit.url.as_deref().unwrap_or_default();
    let is_changed = entry.visit.change.text() == "changed";
    html! {
        span.what { (page_link(frame, url)) }
        @if is_changed {
            a.score href=(diff_at(frame, url, entry)) title="the share of the text that is new" { (percent(entry.visit.score)) }
        }
    }
}

/// The words that a visit changed.
fn diff_at(frame: &Frame<'_>, url: &str, entry: &VisitEntry) -> String {
    format!(
        "{}?url={}&to={}",
        frame.path("diff"),
        in_query(url),
        in_query(&entry.visit.time.to_string())
    )
}

/// The first words that changed.
fn brief_diff(diff: &DiffView) -> Markup {
    let Some(first) = diff.changes.first() else {
        return html! { @if diff.ignored > 0 { p.diff.soft { "Only noise: " (plural(diff.ignored, "word")) } } };
    };
    let more = diff.changes.len() - 1;
    html! {
        p.diff { (parts_inline(first, 220)) @if more > 0 { span.soft { " and " (plural(more as u64, "more place")) } } }
    }
}

/// Parts of a text in their order, up to so many letters.
pub(crate) fn parts_inline(parts: &[Part], most: usize) -> Markup {
    let mut left = most;
    let mut shown = Vec::new();
    for part in parts {
        let (kind, text) = match &part.words {
            PartWords::Same(text) => ("same", text),
            PartWords::Deleted(text) => ("deleted", text),
            PartWords::Inserted(text) => ("inserted", text),
        };
        if left == 0 {
            break;
        }
        // Of words that stayed, those beside a change say where it is.
        let text: String = match kind {
            "same" if text.chars().count() > 80 => shorter(text, 80),
            _ => shorter(text, left),
        };
        left = left.saturating_sub(text.chars().count());
        shown.push((kind, part, text));
    }
    html! { @for (kind, part, text) in &shown { (one_part(kind, part, text)) } }
}

fn shorter(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let cut: String = text.chars().take(most).collect();
    format!("{cut}\u{2026}")
}

/// Words with what stands before them.
pub(crate) fn one_part(kind: &str, part: &Part, text: &str) -> Markup {
    html! {
        @match part.before { Before::Space => " ", Before::Line => br; , Before::Nothing => "" }
        @if part.cut_before { span.cut { "\u{2026} " } }
        @match kind {
            "deleted" => del.noise[part.ignored] { (visible(text)) },
            "inserted" => ins.noise[part.ignored] { (visible(text)) },
            _ => (visible(text)),
        }
        @if part.cut_after { span.cut { " \u{2026}" } }
    }
}

/// How many words changed.
pub(crate) fn words_changed(diff: &DiffView) -> String {
    if diff.same_bytes {
        return "Both versions have the same bytes.".to_owned();
    }
    let noise = match diff.ignored {
        0 => String::new(),
        ignored => format!(" {} of noise differ besides.", plural(ignored, "word")),
    };
    if diff.same_words {
        return format!("No word changed.{noise}");
    }
    format!(
        "{} deleted and {} inserted, of {} before.{noise}",
        plural(diff.deleted, "word"),
        plural(diff.inserted, "word"),
        words::count(diff.words)
    )
}
