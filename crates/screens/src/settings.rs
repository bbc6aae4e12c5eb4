//! Settings: what holds, and who said so?

use maud::{Markup, html};
use serde::Deserialize;

use crate::codes::Tone;
use crate::frame::{Elsewhere, Frame, Place};
use crate::parts::{badge, choices, empty, table};
use crate::words::{count, visible};

/// A setting, as `config show --json` has it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Setting {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// Who set it.
    pub from: String,
    /// What it would be otherwise.
    #[serde(default)]
    pub default: String,
    /// What it means.
    pub help: String,
}

/// Settings that a running crawl takes at once.
const LIVE: [&str; 1] = ["budget.rate"];

/// The settings; only those that somebody set, where that is asked for.
pub fn settings(frame: &Frame<'_>, settings: &[Setting], only_set: bool) -> String {
    let is_set = |one: &&Setting| one.from != "default";
    let set = settings.iter().filter(is_set).count() as u64;
    let shown: Vec<&Setting> = settings.iter().filter(|one| !only_set || is_set(one)).collect();
    let at = |only: bool| {
        if only {
            format!("{}?only=set", frame.at(Place::Settings))
        } else {
            frame.at(Place::Settings)
        }
    };
    let body = html! {
        section.headline { p { strong { (count(set)) " of " (settings.len()) " settings" } " differ in origin from the defaults. They are changed in "
            code { "evercrawl.toml" } " of the data directory, and hold from the next run on; what is marked " (badge("live", Tone::News)) " changes at once." } }
        (choices("Which settings", &[(at(false), "all", !only_set), (at(true), "set by somebody", only_set)]))
        @if shown.is_empty() { (empty("Nobody set anything.", &html! { "All settings have their defaults." })) }
        (groups(frame, &shown))
    };
    let elsewhere = Elsewhere::new("settings", "config show");
    frame.screen(Place::Settings, &elsewhere, &body)
}

fn groups(frame: &Frame<'_>, settings: &[&Setting]) -> Markup {
    let group = |one: &Setting| one.name.split('.').next().unwrap_or_default().to_owned();
    let heads = [("", "Setting"), ("", "Value"), ("", "From"), ("words", "Meaning")];
    let parts: Vec<&[&Setting]> = settings.chunk_by(|a, b| group(a) == group(b)).collect();
    html! {
        @for part in parts {
            @let name = group(part[0]);
            section.card.wide.settings {
                h2 { (visible(&name)) }
                (table(&format!("Settings of {}", crate::words::plain(&name)), &heads, &html! { @for one in part { (row(frame, one)) } }))
            }
        }
    }
}

fn row(frame: &Frame<'_>, one: &Setting) -> Markup {
    let is_live = LIVE.contains(&one.name.as_str());
    html! {
        tr.set[one.from != "default"] {
            th scope="row" { code { (visible(&one.name)) } @if is_live { " " a href=(frame.at(Place::Budget)) { (badge("live", Tone::News)) } } }
            td { @if one.value.is_empty() { span.soft { "\u{2013}" } } @else { code.break { (visible(&one.value)) } } }
            td { @if one.from == "default" { span.soft { "default" } } @else { (visible(&one.from)) } }
            td.words { (visible(&one.help)) }
        }
    }
}
