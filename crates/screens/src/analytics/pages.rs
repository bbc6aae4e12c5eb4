//! Which pages are there, and which are left out?

use evercrawl_draw::chart::share_bar;
use evercrawl_query::Status;
use maud::{PreEscaped, html};

use super::{Section, nothing};
use crate::codes;
use crate::parts::counts_table;
use crate::words::{percent, plural};

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

pub(super) fn states(status: &Status) -> Section {
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

pub(super) fn refusals(status: &Status) -> Section {
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
