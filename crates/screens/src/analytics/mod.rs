//! Analytics: what do the figures say? Tables and drawings, each with a sentence of what it shows.
//!
//! The sentences are computed from the same numbers as the drawings. The screen and the report are the same sections.

mod change_rates;
mod over_time;
mod pages;
mod visits;

use evercrawl_model::Time;
use evercrawl_query::{PlanView, RatesView, Status, TallyView, TrendView};
use maud::{Markup, PreEscaped, html};
use serde::Serialize;

use crate::frame::{Elsewhere, Frame, Place};
use crate::parts::{choices, empty};
use crate::period::Period;
use crate::words::{self, bytes, percent, plural, visible};

pub(crate) use change_rates::{calibration, short_class};
pub(crate) use over_time::{freshness_sentence, pace_sentence};

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
    let (status, tally) = (shown.status, shown.tally);
    let mut sections = vec![
        over_time::growth(shown),
        pages::states(status),
        over_time::freshness(shown),
        over_time::age(shown),
        over_time::pace_of(shown),
        visits::outcomes(shown),
        visits::by_host(tally),
        change_rates::rates_by_class(shown.plan),
    ];
    sections.extend(shown.rates.map(change_rates::rates_by_host));
    sections.extend([
        over_time::budget(shown),
        visits::discovery(status),
        change_rates::calibrated(status),
        visits::sizes(tally),
        visits::times(tally),
        visits::duplicates(status),
        visits::types(tally),
        visits::languages(tally),
        pages::refusals(status),
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
            "{known} {} \u{b1} {} of the held pages are current.",
            percent(share),
            percent(error)
        ),
        None => format!("{known} How fresh the held pages are is not measured yet."),
    }
}

fn nothing(why: &str) -> Markup {
    empty("No figures yet.", &html! { (why) })
}
