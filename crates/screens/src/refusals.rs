//! Refusals: why is it not crawled?

use std::collections::BTreeMap;

use evercrawl_query::PageView;
use maud::{Markup, html};

use crate::codes;
use crate::frame::{Elsewhere, Frame, Place};
use crate::parts::{counts_table, empty, page_link, wide_card};
use crate::words::{argument, in_query, moment, plural};

/// What the screen shows.
#[derive(Clone, Debug)]
pub struct Refusals<'a> {
    /// Pages and links refused, by reason.
    pub by_reason: &'a BTreeMap<String, u64>,
    /// The reason of which samples are shown.
    pub reason: Option<&'a str>,
    /// Some pages that are refused for it.
    pub samples: &'a [PageView],
    /// Where to go on with them.
    pub next: Option<&'a str>,
}

/// What is refused.
pub fn refusals(frame: &Frame<'_>, shown: &Refusals<'_>) -> String {
    let body = html! {
        (summary(shown))
        div.grid {
            (reasons_card(frame, shown))
            (samples_card(frame, shown))
        }
    };
    let reason = shown.reason.unwrap_or("robots");
    let elsewhere = Elsewhere::new(
        &format!("urls?state=refused&reason={reason}"),
        &format!("urls --state refused --reason {}", argument(reason)),
    )
    .api("reasons");
    frame.screen(Place::Refusals, &elsewhere, &body)
}

fn summary(shown: &Refusals<'_>) -> Markup {
    let total: u64 = shown.by_reason.values().sum();
    let most = shown.by_reason.iter().max_by_key(|(_, count)| **count);
    html! {
        section.headline #headline data-live {
            p {
                strong { (plural(total, "URL")) " " @if total == 1 { "was" } @else { "were" } " refused." }
                @if let Some((code, count)) = most { " Most of them, " (crate::words::count(*count)) ": " (codes::refusal(code).0) }
            }
        }
    }
}

fn reasons_card(frame: &Frame<'_>, shown: &Refusals<'_>) -> Markup {
    let rows = shown.by_reason.iter().map(|(code, count)| {
        let name = html! {
            a href=(format!("{}?reason={}", frame.at(Place::Refusals), in_query(code))) aria-current=[(shown.reason == Some(code)).then_some("true")] { code { (code) } }
            br; span.soft { (codes::refusal(code).0) }
        };
        (name, *count, "k0")
    });
    let body = match shown.by_reason.is_empty() {
        true => empty(
            "Nothing was refused.",
            &html! { "Each URL that is refused has one reason, and is counted here." },
        ),
        false => counts_table("Refusals by reason", "Reason", rows),
    };
    wide_card("reasons", "Reasons", &body)
}

fn samples_card(frame: &Frame<'_>, shown: &Refusals<'_>) -> Markup {
    let Some(reason) = shown.reason else {
        return wide_card(
            "samples",
            "Samples",
            &empty("Choose a reason.", &html! { "Then some of its pages are shown here." }),
        );
    };
    let (what, change) = codes::refusal(reason);
    let body = html! {
        p { (what) " " span.soft { "What would change it: " } (marked(change)) }
        @if shown.samples.is_empty() {
            (empty("No page is kept with this reason.", &html! { "Links that are refused before they become pages are only counted. Look a URL up above: " code { "why" } " tells its reason." }))
        } @else {
            ol.rows.plain { @for page in shown.samples {
                li { div.change { (page_link(frame, &page.url)) span.when { "found " (moment(page.found.0, frame.now)) } } }
            } }
        }
        @if let Some(next) = shown.next {
            p { a.button.quiet rel="next" href=(format!("{}?reason={}&after={}", frame.at(Place::Refusals), in_query(reason), in_query(next))) { "More" } }
        }
    };
    wide_card("samples", &format!("Samples: {reason}"), &body)
}

/// A sentence whose settings and commands stand between backquotes.
fn marked(text: &str) -> Markup {
    html! { @for (number, part) in text.split('`').enumerate() { @if number % 2 == 1 { code { (part) } } @else { (part) } } }
}
