//! Sites: which server holds us up?

use evercrawl_query::{HostTally, HostView, HostsView, RobotsCopyView, TallyView};
use maud::{Markup, html};

use crate::codes::{self, Tone};
use crate::frame::{Elsewhere, Frame, Place};
use crate::parts::{badge, choices, empty, table};
use crate::words::{count, in_query, moment, percent, plain, plural, seconds, visible};

/// What the screen shows.
#[derive(Clone, Debug)]
pub struct Sites<'a> {
    /// Some of the hosts.
    pub hosts: &'a HostsView,
    /// What the last visits brought.
    pub tally: &'a TallyView,
    /// Whether only hosts in trouble are shown.
    pub troubled: bool,
}

/// The hosts.
pub fn sites(frame: &Frame<'_>, shown: &Sites<'_>) -> String {
    let hosts: Vec<&HostView> =
        shown.hosts.hosts.iter().filter(|host| !shown.troubled || is_troubled(host)).collect();
    let at = |troubled: bool| match troubled {
        true => format!("{}?troubled=true", frame.at(Place::Sites)),
        false => frame.at(Place::Sites),
    };
    let body = html! {
        (slowest(shown))
        (choices("Which hosts", &[(at(false), "all", !shown.troubled), (at(true), "in trouble", shown.troubled)]))
        section #hosts data-live aria-label="Hosts" {
            @if hosts.is_empty() { (empty("No such host here.", &html! { "Hosts appear once their pages are known." })) }
            @else { (hosts_table(frame, shown, &hosts)) }
        }
        @if let Some(next) = &shown.hosts.next {
            p { a.button.quiet rel="next" href=(format!("{}?after={}{}", frame.at(Place::Sites), in_query(next),
                if shown.troubled { "&troubled=true" } else { "" })) { "More hosts" } }
        }
    };
    let elsewhere = Elsewhere::new("hosts?limit=100", "hosts --limit 100");
    frame.screen(Place::Sites, &elsewhere, &body)
}

fn is_troubled(host: &HostView) -> bool {
    host.failures > 0
        || host.blocked_until.is_some()
        || host.paused
        || host.robots.iter().any(|copy| copy.unreachable)
}

/// Who holds the crawl up most, in a sentence.
fn slowest(shown: &Sites<'_>) -> Markup {
    let troubled = shown.hosts.hosts.iter().filter(|host| is_troubled(host)).count() as u64;
    let slowest = shown
        .tally
        .hosts
        .iter()
        .filter(|host| host.visits >= 3)
        .max_by(|a, b| a.mean_ms.total_cmp(&b.mean_ms));
    let failing = shown
        .tally
        .hosts
        .iter()
        .filter(|host| host.failed > 0)
        .max_by(|a, b| a.failed.cmp(&b.failed));
    html! {
        section.headline #headline data-live {
            p {
                strong { @if troubled == 0 { "No host listed here is in trouble." } @else { (plural(troubled, "host")) " listed here " @if troubled == 1 { "is" } @else { "are" } " in trouble." } }
                @if let Some(host) = slowest { " The slowest of late is " (visible(&host.host)) ", with " (seconds(host.mean_ms / 1000.0)) " an answer." }
                @if let Some(host) = failing { " Most failures of late: " (visible(&host.host)) ", " (count(host.failed)) " of " (plural(host.visits, "visit")) "." }
            }
        }
    }
}

fn hosts_table(frame: &Frame<'_>, shown: &Sites<'_>, hosts: &[&HostView]) -> Markup {
    let heads = [
        ("", "Host"),
        ("", "Waits for"),
        ("num", "Pages"),
        ("num", "New"),
        ("num", "Answer"),
        ("num", "Failures"),
        ("num", "Changed"),
        ("", "robots.txt"),
        ("", ""),
    ];
    let rows = html! {
        @for host in hosts {
            @let lately = shown.tally.hosts.iter().find(|one| one.host == host.host);
            tr {
                th scope="row" {
                    a href=(format!("{}?host={}", frame.at(Place::Changes), in_query(&host.host))) { (visible(&host.host)) }
                    @if host.seed { " " span.tag { "seed" } }
                    @if let Some(original) = &host.mirror_of { " " span.soft { "mirrors " (visible(original)) } }
                    @if let Some(probability) = host.spam_probability { " " (badge("spam", Tone::Warn)) " " span.soft { (percent(probability)) } }
                }
                td { (waits(frame, host)) }
                td.num { (count(host.pages)) }
                td.num { (count(host.new_pages)) }
                td.num { (answer(host, lately)) }
                td.num { (failures(host, lately)) }
                td.num { (changed(lately)) }
                td { (robots(frame, &host.robots)) }
                td { (acts(frame, host)) }
            }
        }
    };
    table("Hosts", &heads, &rows)
}

fn waits(frame: &Frame<'_>, host: &HostView) -> Markup {
    let Some(reason) = host.waits_for else { return html! { span.soft { "nothing" } } };
    let (word, title) = codes::waits(reason);
    let until =
        host.blocked_until.or(host.next_allowed).or(host.due_from.filter(|at| at.0 > frame.now));
    html! { span title=(title) { (word) } @if let Some(until) = until { " " span.soft { (moment(until.0, frame.now)) } } }
}

fn answer(host: &HostView, lately: Option<&HostTally>) -> String {
    let ms = lately.map_or(host.answer_ms as f64, |lately| lately.mean_ms);
    if ms > 0.0 { seconds(ms / 1000.0) } else { "\u{2013}".to_owned() }
}

fn failures(host: &HostView, lately: Option<&HostTally>) -> Markup {
    html! {
        @match lately { Some(one) if one.visits > 0 => (percent(one.failed as f64 / one.visits as f64)), _ => "\u{2013}" }
        @if host.failures > 0 { " " (badge(&format!("{} in a row", host.failures), Tone::Bad)) }
    }
}

fn changed(lately: Option<&HostTally>) -> String {
    match lately {
        Some(one) if one.visits > one.first_visits => {
            percent(one.changes as f64 / (one.visits - one.first_visits) as f64)
        }
        _ => "\u{2013}".to_owned(),
    }
}

fn robots(frame: &Frame<'_>, copies: &[RobotsCopyView]) -> Markup {
    html! {
        @for copy in copies {
            @if copy.unreachable { (badge("unreachable", Tone::Bad)) " " span.soft { (copy.cause.as_deref().unwrap_or_default()) } }
            @else { @match copy.status { Some(status) => { (status) }, None => "no answer" } " " span.soft { (moment(copy.fetched.0, frame.now)) } }
        }
        @if copies.is_empty() { span.soft { "not fetched" } }
    }
}

fn acts(frame: &Frame<'_>, host: &HostView) -> Markup {
    let (action, word) = if host.paused { ("unpause", "Resume") } else { ("pause", "Pause") };
    frame.form(
        action,
        &html! {
            input type="hidden" name="host" value=(host.host);
            input type="hidden" name="back" value="sites";
            button.quiet.small aria-label=(format!("{word} {}", plain(&host.host))) { (word) }
        },
    )
}
