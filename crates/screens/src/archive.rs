//! Archive: can I trust it, and hand it over?

use evercrawl_query::{ArchiveView, DroppedView, Status, TrendView};
use maud::{Markup, html};

use crate::codes::Tone;
use crate::frame::{Elsewhere, Frame, Place};
use crate::parts::{Curve, Titles, badge, card, empty, figure, levels, table, wide_card};
use crate::words::{argument, bytes, count, moment, percent, plural, visible};

/// What the screen shows.
#[derive(Clone, Debug)]
pub struct Archive<'a> {
    /// Its files.
    pub archive: &'a ArchiveView,
    /// What was dropped by the rules of retention.
    pub dropped: &'a [DroppedView],
    /// How the crawl is doing.
    pub status: &'a Status,
    /// How its figures moved in thirty days.
    pub trend: &'a TrendView,
    /// How many of the last files are shown.
    pub most: usize,
}

/// The archive.
pub fn archive(frame: &Frame<'_>, shown: &Archive<'_>) -> String {
    let body = html! {
        (summary(shown))
        div.grid {
            (growth_card(shown))
            (trust_card(frame))
            (files_card(shown))
            (dropped_card(frame, shown.dropped))
        }
    };
    let elsewhere = Elsewhere::new("archive", "archive").command("check").command("check --deep");
    frame.screen(Place::Archive, &elsewhere, &body)
}

fn summary(shown: &Archive<'_>) -> Markup {
    let total = &shown.status.total;
    let saved = total.unchanged.not_modified + total.unchanged.same_digest + total.duplicates;
    html! {
        section.headline #headline data-live {
            p {
                strong { (bytes(shown.archive.bytes)) " in " (plural(shown.archive.files.len() as u64, "WARC file")) "." }
                " " (bytes(total.bytes_received)) " were received; " (plural(saved, "visit")) " of " (count(total.visits))
                " (" (percent(saved as f64 / total.visits.max(1) as f64)) ") brought bytes that were already there and stored none anew."
            }
        }
    }
}

fn growth_card(shown: &Archive<'_>) -> Markup {
    let points = &shown.trend.points;
    let (Some(first), Some(last)) = (points.first(), points.last()).to_owned() else {
        return card(
            "growth",
            "Growth",
            &empty("No figures yet.", &html! { "A running crawl notes one every ten seconds." }),
        );
    };
    let sentence = format!(
        "The archive grew by {} to {}.",
        bytes(last.bytes_archived.saturating_sub(first.bytes_archived)),
        bytes(last.bytes_archived)
    );
    let worded = |value: f64| bytes(value as u64);
    let titles = Titles {
        id: "growth-c",
        title: "Size of the archive",
        sentence: &sentence,
        worded: &worded,
        top: None,
    };
    let curves = [Curve { class: "k0", value: &|point| Some(point.bytes_archived as f64) }];
    card("growth", "Growth", &figure(levels(points, &titles, &curves), &sentence))
}

fn trust_card(frame: &Frame<'_>) -> Markup {
    let data = argument(frame.collection);
    let commands = [
        ("Check every file and row", format!("evercrawl check --data {data}")),
        ("Read every record again", format!("evercrawl check --deep --data {data}")),
        ("Hand it over as WACZ", format!("evercrawl export wacz --data {data} --out archive.wacz")),
    ];
    let body = html! {
        p { "Records are standard WARC/1.1 with CDXJ indexes. A check runs while no crawl does:" }
        @for (what, command) in &commands { p.soft.above { (what) } pre { code { (command) } } }
    };
    card("trust", "Check and export", &body)
}

fn files_card(shown: &Archive<'_>) -> Markup {
    let heads = [("", "File"), ("", "State"), ("num", "Size"), ("num", "Index")];
    let hidden = shown.archive.files.len().saturating_sub(shown.most);
    let rows = html! { @for file in shown.archive.files.iter().rev().take(shown.most) { tr {
        th scope="row" { code { (visible(&file.warc)) } }
        td { @if file.open { (badge("open", Tone::News)) } @else if file.finished { (badge("finished", Tone::Good)) } @else { (badge("closing", Tone::Plain)) } }
        td.num { (bytes(file.bytes)) }
        td.num { (bytes(file.index_bytes)) }
    } } };
    let body = html! {
        @if shown.archive.files.is_empty() { (empty("No file yet.", &html! { "The first one begins with the first visit." })) }
        @else { (table("WARC files", &heads, &rows)) }
        @if hidden > 0 { p.soft { (plural(hidden as u64, "earlier file")) " not listed." } }
    };
    wide_card("files", "Files", &body)
}

fn dropped_card(frame: &Frame<'_>, dropped: &[DroppedView]) -> Markup {
    let heads = [("", "When"), ("", "Rule"), ("", "From"), ("num", "Records"), ("num", "Size")];
    let rows = html! { @for one in dropped.iter().rev().take(50) { tr {
        th scope="row" { (moment(one.time.0, frame.now)) }
        td { (one.kept) } td { code { (visible(&one.from)) } } td.num { (count(one.dropped)) } td.num { (bytes(one.bytes)) }
    } } };
    let body = html! {
        @if dropped.is_empty() { (empty("Nothing was dropped.", &html! { "Rules of retention are settings; all is kept without them." })) }
        @else { (table("What was dropped", &heads, &rows)) }
    };
    wide_card("dropped", "Dropped by retention", &body)
}
