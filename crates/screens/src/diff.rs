//! Diff: which words changed between two versions?

use evercrawl_query::{DiffView, HistoryView, PartWords, VersionView, VisitView};
use maud::{Markup, html};

use crate::changes::{one_part, words_changed};
use crate::frame::{Elsewhere, Frame, Place};
use crate::parts::{choices, empty, page_link};
use crate::words::{argument, in_query, moment, utc};

/// What the screen shows.
#[derive(Clone, Debug)]
pub struct Diff<'a> {
    /// The words that changed; or why there is nothing to compare.
    pub found: Result<&'a DiffView, &'a str>,
    /// The page.
    pub url: &'a str,
    /// Its visits, of which any two can be compared.
    pub history: Option<&'a HistoryView>,
    /// Whether both versions stand side by side.
    pub beside: bool,
    /// Whether nothing is masked as noise.
    pub unmask: bool,
}

/// Versions that can be chosen.
const MOST_VERSIONS: usize = 100;

/// The words that changed.
pub fn diff(frame: &Frame<'_>, shown: &Diff<'_>) -> String {
    let body = html! {
        section.headline { p.big { (page_link(frame, shown.url)) } @if let Ok(diff) = shown.found { p { (words_changed(diff)) } } }
        (versions(frame, shown))
        (looks(frame, shown))
        @match shown.found {
            Err(why) => (empty("There is nothing to compare.", &html! { (why) })),
            Ok(diff) if diff.changes.is_empty() => (empty("No word differs.", &html! { "Show noise, or choose other versions." })),
            Ok(diff) => @if shown.beside { (side_by_side(diff)) } @else { (inline(diff)) },
        }
    };
    let of = in_query(shown.url);
    let elsewhere =
        Elsewhere::new(&format!("page/diff?url={of}"), &format!("diff {}", argument(shown.url)));
    frame.titled(Place::Page, ("Diff", "Which words changed?"), &elsewhere, &body)
}

fn address(frame: &Frame<'_>, shown: &Diff<'_>, beside: bool, unmask: bool) -> String {
    let mut address = format!("{}?url={}", frame.path("diff"), in_query(shown.url));
    if let Ok(diff) = shown.found {
        for (name, version) in [("from", &diff.from), ("to", &diff.to)] {
            address += &format!("&{name}={}", in_query(&version.since.to_string()));
        }
    }
    if beside {
        address += "&as=beside";
    }
    if unmask {
        address += "&unmask=true";
    }
    address
}

fn looks(frame: &Frame<'_>, shown: &Diff<'_>) -> Markup {
    let at = |beside, unmask| address(frame, shown, beside, unmask);
    html! {
        div.filters {
            (choices("Layout", &[(at(false, shown.unmask), "inline", !shown.beside), (at(true, shown.unmask), "side by side", shown.beside)]))
            (choices("Noise", &[(at(shown.beside, false), "noise masked", !shown.unmask), (at(shown.beside, true), "noise shown", shown.unmask)]))
        }
    }
}

fn versions(frame: &Frame<'_>, shown: &Diff<'_>) -> Markup {
    let visits: Vec<&VisitView> = shown
        .history
        .iter()
        .flat_map(|history| history.visits.iter().rev())
        .filter(|visit| matches!(visit.change.text(), "new" | "changed" | "near"))
        .take(MOST_VERSIONS)
        .collect();
    let held = |version: Option<&VersionView>| version.map(|version| version.since);
    let (from, to) = (
        held(shown.found.ok().map(|diff| &diff.from)),
        held(shown.found.ok().map(|diff| &diff.to)),
    );
    let choice = |name: &str, label: &str, held: Option<evercrawl_query::At>| {
        html! {
            label { (label) " " select name=(name) {
                @for visit in &visits {
                    option value=(visit.time) selected[held == Some(visit.time)] { (utc(visit.time.0)) " \u{2013} " (visit.change.text()) }
                }
            } }
        }
    };
    html! {
        @if visits.len() >= 2 {
            form.inline.versions method="get" action=(frame.path("diff")) {
                input type="hidden" name="url" value=(shown.url);
                @if shown.beside { input type="hidden" name="as" value="beside"; }
                @if shown.unmask { input type="hidden" name="unmask" value="true"; }
                (choice("from", "From", from)) (choice("to", "To", to))
                button { "Compare" }
            }
        } @else if let Ok(diff) = shown.found {
            p.soft { "Between the versions of " (moment(diff.from.since.0, frame.now)) " and " (moment(diff.to.since.0, frame.now)) "." }
        }
    }
}

fn kind_and_text(words: &PartWords) -> (&'static str, &str) {
    match words {
        PartWords::Same(text) => ("same", text),
        PartWords::Deleted(text) => ("deleted", text),
        PartWords::Inserted(text) => ("inserted", text),
    }
}

fn inline(diff: &DiffView) -> Markup {
    html! {
        section.card.wide aria-label="Words that changed" {
            ol.places { @for place in &diff.changes {
                li { p.diff.whole { @for part in place { @let (kind, text) = kind_and_text(&part.words); (one_part(kind, part, text)) } } }
            } }
        }
    }
}

fn side_by_side(diff: &DiffView) -> Markup {
    let side = |left_out: &'static str, place: &[evercrawl_query::Part]| {
        html! {
            p.diff.whole {
                @for part in place {
                    @let (kind, text) = kind_and_text(&part.words);
                    @if kind != left_out { (one_part(kind, part, text)) }
                }
            }
        }
    };
    html! {
        section.card.wide aria-label="Words that changed, side by side" {
            div.beside.heads { h2 { "Before, " (utc(diff.from.since.0)) } h2 { "After, " (utc(diff.to.since.0)) } }
            @for place in &diff.changes { div.beside { (side("inserted", place)) (side("deleted", place)) } }
        }
    }
}
