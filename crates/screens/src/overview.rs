//! Overview: is all well, how fresh is it, and why is budget left over?

use evercrawl_query::{ChangeView, Status, TrendView, WaitingHosts};
use maud::{Markup, html};

use crate::changes::row_in_brief;
use crate::codes::{self, Tone};
use crate::frame::{Elsewhere, Frame, Place};
use crate::parts::{
    self, Curve, Titles, badge, card, choices, counts_table, empty, figure, freshness_chart,
    legend, tile, wide_card,
};
use crate::period::Period;
use crate::words::{self, count, percent, plural, short};

/// What the overview shows.
#[derive(Clone, Debug)]
pub struct Overview<'a> {
    /// How the crawl is doing.
    pub status: &'a Status,
    /// How its figures moved.
    pub trend: &'a TrendView,
    /// Which period that is.
    pub period: Period,
    /// What changed last.
    pub latest: &'a [ChangeView],
}

/// The overview.
pub fn overview(frame: &Frame<'_>, shown: &Overview<'_>) -> String {
    let status = shown.status;
    let body = html! {
        (headline(status))
        (tiles(shown))
        (periods(frame, shown.period))
        div.grid {
            (freshness_card(shown))
            (pace_card(shown))
            (waiting_card(frame, status))
            (outcomes_card(status))
            (latest_card(frame, shown.latest))
        }
    };
    let elsewhere = Elsewhere::new("status", "status")
        .api(format!("trend?seconds={}", shown.period.seconds()))
        .command("status --watch");
    frame.screen(Place::Overview, &elsewhere, &body)
}

/// Whether all is well, in a sentence.
fn headline(status: &Status) -> Markup {
    let (tone, verdict) = verdict(status);
    html! {
        section.headline.(tone.class()) #headline data-live aria-label="Summary" {
            p { strong { (verdict) } " " (sentence(status)) }
        }
    }
}

/// Whether somebody should look.
fn verdict(status: &Status) -> (Tone, &'static str) {
    let used_up = status.run.as_ref().is_some_and(|run| run.bytes_used_up_until.is_some());
    let (failed, visits) = (failures(status), status.total.visits);
    match () {
        () if status.total.pages == 0 => (Tone::Plain, "Nothing is known yet."),
        () if visits >= 20 && failed * 2 > visits => (Tone::Bad, "Most visits fail."),
        () if used_up => (Tone::Warn, "The bytes of the day are used up."),
        () if visits >= 20 && failed * 10 > visits => (Tone::Warn, "Many visits fail."),
        () if status.running => (Tone::Good, "All is well."),
        () => (Tone::Plain, "The crawl does not run."),
    }
}

fn failures(status: &Status) -> u64 {
    let outcomes = status.total.visits_by_outcome.iter();
    outcomes.filter(|(code, _)| codes::is_failure(code)).map(|(_, count)| count).sum()
}

fn sentence(status: &Status) -> String {
    let today = &status.today;
    let found = format!(
        "Today {} found {} and {} gone.",
        plural(today.visits, "visit"),
        plural(today.changes, "change"),
        plural(today.gone, "page")
    );
    let Some(fresh) = &status.survey.freshness else { return found };
    let share = match (fresh.freshness, fresh.freshness_error) {
        (Some(share), Some(error)) => format!(
            "{} \u{b1} {} of {} are current.",
            percent(share),
            percent(error),
            plural(fresh.pages_held, "held page")
        ),
        _ if fresh.pages_held == 0 => "No page is held yet.".to_owned(),
        _ => format!(
            "{} are held; how fresh they are is not known yet.",
            plural(fresh.pages_held, "page")
        ),
    };
    format!("{share} {found}")
}

fn tiles(shown: &Overview<'_>) -> Markup {
    let (status, points) = (shown.status, &shown.trend.points);
    let (total, survey) = (&status.total, &status.survey);
    let paced = |value: fn(&evercrawl_query::TrendPoint) -> Option<f64>| {
        parts::spark(&parts::pace(points, &value), true)
    };
    let lately = status.run.as_ref().map(|run| run.requests_a_second_lately * 60.0);
    let share_failed = failures(status) as f64 / total.visits.max(1) as f64;
    html! {
        dl.tiles #tiles data-live {
            (freshness_tile(shown))
            (tile("Pages known", &html! { (short(total.pages as f64)) },
                &html! { (plural(total.hosts, "host")) ", " (count(total.in_state(evercrawl_model::LifeState::New))) " new" },
                parts::spark_of(points, |point| Some(point.pages as f64))))
            (tile("Requests a minute", &html! { (lately.map_or("\u{2013}".to_owned(), short)) },
                &html! { (budget_words(status)) }, paced(|point| Some(point.visits as f64))))
            (tile("Changes today", &html! { (short(status.today.changes as f64)) },
                &html! { (count(status.today.first_visits)) " first visits" }, paced(|point| Some(point.changes as f64))))
            (tile("Visits that failed", &html! { (percent(share_failed)) },
                &html! { (count(failures(status))) " of " (count(total.visits)) }, None))
            (tile("Archive", &html! { (words::bytes(survey.bytes_archived)) },
                &html! { (words::bytes(survey.bytes_state)) " of state" },
                parts::spark_of(points, |point| Some(point.bytes_archived as f64))))
        }
    }
}

fn freshness_tile(shown: &Overview<'_>) -> Markup {
    let fresh = shown.status.survey.freshness.as_ref();
    let known = fresh.and_then(|fresh| fresh.freshness.zip(fresh.freshness_error));
    let value = match known {
        Some((share, error)) => html! { (percent(share)) small { " \u{b1} " (percent(error)) } },
        None => html! { "\u{2013}" },
    };
    let note = match fresh {
        Some(fresh) if fresh.measurable && fresh.audits > 0 => {
            html! { "by " (plural(fresh.audits, "audit")) }
        }
        Some(fresh) if fresh.measurable => html! { "estimated, no audit yet" },
        Some(fresh) => html! { "not measured yet, " (plural(fresh.audits, "audit")) },
        None => html! { "once a crawl can tell" },
    };
    tile("Freshness", &value, &note, parts::spark_of(&shown.trend.points, |point| point.freshness))
}

fn budget_words(status: &Status) -> String {
    let used = status.run.as_ref().and_then(|run| run.budget_used);
    match (status.plan.budget_a_second, used) {
        (Some(rate), Some(used)) => {
            format!("{} of {} a second", percent(used), words::figures(rate))
        }
        (Some(rate), None) => format!("budget {} a second", words::figures(rate)),
        _ if status.plan.fixed_interval => "every page at a fixed interval".to_owned(),
        _ => "no budget is set".to_owned(),
    }
}

fn periods(frame: &Frame<'_>, here: Period) -> Markup {
    let link = |period: Period| {
        (
            format!("{}?period={}", frame.at(Place::Overview), period.code()),
            period.words(),
            period == here,
        )
    };
    choices("Period of the curves", &Period::ALL.map(link))
}

fn no_points() -> Markup {
    empty("No figures in this period.", &html! { "A running crawl notes one every ten seconds." })
}

fn freshness_card(shown: &Overview<'_>) -> Markup {
    let points = &shown.trend.points;
    let known = points.iter().filter(|point| point.freshness.is_some()).count();
    let body = if known < 2 {
        empty(
            "Not enough audits yet.",
            &html! { "Freshness is measured by random visits; that takes some hundred of them." },
        )
    } else {
        let sentence = crate::analytics::freshness_sentence(points);
        figure(freshness_chart(points, &sentence), &sentence)
    };
    card("freshness", "Freshness", &body)
}

fn pace_card(shown: &Overview<'_>) -> Markup {
    let points = &shown.trend.points;
    if points.len() < 3 {
        return card("pace", "Visits and changes a minute", &no_points());
    }
    let sentence = crate::analytics::pace_sentence(points);
    let titles = Titles {
        id: "pace-c",
        title: "Visits and changes a minute",
        sentence: &sentence,
        worded: &short,
        top: None,
    };
    let curves = [
        Curve { class: "k0", value: &|point| Some(point.visits as f64) },
        Curve { class: "k1", value: &|point| Some(point.changes as f64) },
    ];
    let body = html! {
        (legend(&[("k0", "visits"), ("k1", "changes")]))
        (figure(parts::paces(points, &titles, &curves), &sentence))
    };
    card("pace", "Visits and changes a minute", &body)
}

/// What keeps hosts from being asked: so one sees why budget is left over.
fn waiting_card(frame: &Frame<'_>, status: &Status) -> Markup {
    let waiting = &status.survey.waiting;
    let row = |name: &str, words: &str, held: WaitingHosts, class: &'static str| {
        (html! { (name) span.soft { " \u{2013} " (words) } }, held.hosts, class)
    };
    let rows = [
        row("Not due", "nothing of theirs is due yet", waiting.not_due, "k0"),
        row("Pace", "the pause between two requests", waiting.pace, "k2"),
        row("Turn", "the budget, or other hosts first", waiting.turn, "k1"),
        row("Backoff", "they failed, or asked for a pause", waiting.back_off, "k3"),
        row("robots.txt", "it could not be fetched", waiting.robots, "k3"),
        row("Paused", "by you", waiting.paused, "k5"),
    ];
    let none = rows.iter().all(|row| row.1 == 0);
    let body = html! {
        p { (why_left_over(status)) }
        @if !none { (counts_table("Hosts by what they wait for", "Hosts wait for", rows.into_iter())) }
        p { a href=(frame.at(Place::Sites)) { "All sites" } " · " a href=(frame.at(Place::Queue)) { "The queue" } }
    };
    card("waiting", "What the crawl waits for", &body)
}

/// Why the crawl does not ask more than it does.
fn why_left_over(status: &Status) -> String {
    let waiting = &status.survey.waiting;
    let parts = [
        (waiting.turn.hosts, "wait for their turn"),
        (waiting.pace.hosts, "wait for their pause between requests"),
        (waiting.back_off.hosts, "are left alone after failures"),
        (waiting.robots.hosts, "have a robots.txt that could not be fetched"),
        (waiting.not_due.hosts, "have nothing that is due"),
        (waiting.paused.hosts, "you paused"),
    ];
    let most = parts.into_iter().filter(|part| part.0 > 0).max_by_key(|part| part.0);
    let reason = most.map(|(hosts, words)| format!("Hosts that {words}: {}.", count(hosts)));
    let used = status.run.as_ref().and_then(|run| run.budget_used);
    match (used, reason) {
        (Some(used), _) if used > 0.95 => {
            "The budget is used up: a larger one would buy fresher pages.".to_owned()
        }
        (Some(used), Some(reason)) => {
            format!("{} of the budget is left over. {reason}", percent(1.0 - used))
        }
        (_, Some(reason)) => reason,
        _ => "No host waits for anything.".to_owned(),
    }
}

fn outcomes_card(status: &Status) -> Markup {
    let rows = status.total.visits_by_outcome.iter().map(|(code, count)| {
        let class = if codes::is_failure(code) { "k3" } else { "k0" };
        (html! { (codes::outcome(code)) }, *count, class)
    });
    let body = match status.total.visits {
        0 => empty("No visits yet.", &html! { "Start the crawl." }),
        _ => counts_table("Visits by how they ended", "Visits ended with", rows),
    };
    card("outcomes", "How visits end", &body)
}

fn latest_card(frame: &Frame<'_>, latest: &[ChangeView]) -> Markup {
    let body = html! {
        @if latest.is_empty() {
            (empty("Nothing has changed yet.", &html! { "New and changed pages appear here as they are found." }))
        } @else {
            ol.rows { @for change in latest { li { (row_in_brief(frame, change)) } } }
            p { a href=(frame.at(Place::Changes)) { "All changes" } }
        }
    };
    wide_card("latest", "Latest changes", &body)
}

/// One collection in the list of all.
#[derive(Clone, Debug)]
pub struct CollectionLine<'a> {
    /// Its name.
    pub name: &'a str,
    /// Whether it runs: `running`, `stopped` and so on.
    pub state: &'a str,
    /// What went wrong last.
    pub message: Option<&'a str>,
    /// How it is doing, where that is known.
    pub status: Option<&'a Status>,
}

/// All collections.
pub fn collections(lines: &[CollectionLine<'_>], form_token: &str, version: &str) -> String {
    let tone = |state: &str| match state {
        "running" => Tone::Good,
        "failed" => Tone::Bad,
        "starting" | "stopping" => Tone::Warn,
        _ => Tone::Plain,
    };
    let inner = html! {
        a.skip href="#main" { "Skip to content" }
        header.bar.alone { span.brand { (crate::frame::logo()) span { "Evercrawl" } } span.soft { (version) } }
        main.narrow #main tabindex="-1" {
            div.head { div { h1 { "Collections" } p.question { "Is all well?" } } }
            @for line in lines {
                section.card.collection-line {
                    h2 { a href=(format!("/c/{}/", words::in_query(line.name))) { (line.name) } " " (badge(line.state, tone(line.state))) }
                    @if let Some(message) = line.message { p { (words::visible(message)) } }
                    @if let Some(status) = line.status { p { strong { (verdict(status).1) } " " (sentence(status)) } }
                }
            }
            @if lines.is_empty() { (empty("There is no collection yet.", &html! { "Begin with an address below." })) }
            p { a.button href="/begin" { "New collection" } }
            form.act method="post" action="/logout" {
                input type="hidden" name="form_token" value=(form_token);
                button.quiet { "Sign out" }
            }
        }
    };
    crate::frame::document("Collections", None, &inner)
}
