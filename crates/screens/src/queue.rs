//! Queue: what comes next, and what should not?

use evercrawl_query::{ExclusionCount, OverrideKind, OverrideView, PlanView, QueueView};
use maud::{Markup, html};

use crate::codes;
use crate::frame::{Elsewhere, Frame, Place};
use crate::parts::{card, empty, page_link, table, wide_card};
use crate::words::{argument, count, figures, moment, percent, plain, plural, seconds, visible};

/// What the screen shows.
#[derive(Clone, Debug)]
pub struct Queue<'a> {
    /// The hosts that have something to fetch.
    pub queue: &'a QueueView,
    /// What would be fetched in the next 24 hours.
    pub plan: &'a PlanView,
    /// What the user set.
    pub overrides: &'a [OverrideView],
    /// A pattern to exclude, and what it would do, where one is asked about.
    pub exclusion: Option<Exclusion<'a>>,
}

/// A pattern to exclude, before it is.
#[derive(Clone, Debug)]
pub struct Exclusion<'a> {
    /// The pattern.
    pub pattern: &'a str,
    /// What it would do; or why it cannot be used.
    pub counted: Result<&'a ExclusionCount, &'a str>,
}

/// What comes next.
pub fn queue(frame: &Frame<'_>, shown: &Queue<'_>) -> String {
    let body = html! {
        (summary(shown.plan))
        div.grid {
            (next_card(frame, shown.plan))
            (hosts_card(frame, shown.queue))
            (exclude_card(frame, shown))
            (overrides_card(frame, shown.overrides))
        }
    };
    let elsewhere = Elsewhere::new("plan?seconds=86400", "plan")
        .api("queue")
        .command("queue")
        .command("overrides");
    frame.screen(Place::Queue, &elsewhere, &body)
}

fn summary(plan: &PlanView) -> Markup {
    html! {
        section.headline #headline data-live {
            p {
                "In the next " (seconds(plan.seconds)) " " strong { (count(plan.visits_due.round() as u64)) " visits" }
                " to known pages come due; the budget has room for " (count(plan.visits.round() as u64)) ". "
                strong { (plural(plan.new_pages, "new page")) } " wait" @if plan.new_pages == 1 { "s" } " for a first visit."
            }
        }
    }
}

fn next_card(frame: &Frame<'_>, plan: &PlanView) -> Markup {
    let body = html! {
        @if plan.next.is_empty() { (empty("No visit is due.", &html! { "New pages come as soon as their host may be asked." })) }
        ol.rows.plain { @for visit in plan.next.iter().take(20) {
            li { div.change { (page_link(frame, &visit.url)) span.when { (moment(visit.at.0, frame.now)) } } }
        } }
    };
    card("next", "Next visits to known pages", &body)
}

fn hosts_card(frame: &Frame<'_>, queue: &QueueView) -> Markup {
    let heads =
        [("", "Host"), ("num", "Band"), ("", "Waits for"), ("num", "From"), ("num", "New pages")];
    let rows = html! { @for host in queue.hosts.iter().take(40) { tr {
        th scope="row" { (visible(&host.host)) }
        td.num { (host.band) }
        td title=(codes::waits(host.waits_for).1) { (codes::waits(host.waits_for).0) }
        td.num { (moment(host.due_from.0, frame.now)) }
        td.num { (count(host.new_pages)) }
    } } };
    let body = html! {
        @if queue.hosts.is_empty() { (empty("No host has anything to fetch.", &html! { "Add seeds, or wait until pages are due." })) }
        @else { (table("Hosts in the queue", &heads, &rows)) }
    };
    card("hosts", "First hosts of each front queue", &body)
}

fn exclude_card(frame: &Frame<'_>, shown: &Queue<'_>) -> Markup {
    let pattern = shown.exclusion.as_ref().map(|one| one.pattern).unwrap_or_default();
    let body = html! {
        form.inline method="get" action=(frame.at(Place::Queue)) {
            label.grow { "Regular expression of URLs "
                input name="pattern" value=(pattern) required placeholder="/calendar/" autocomplete="off" spellcheck="false"; }
            button { "Preview" }
        }
        @if let Some(exclusion) = &shown.exclusion { (preview(frame, exclusion)) }
        @else { p.soft { "Nothing is excluded before you have seen what would be." } }
    };
    wide_card("exclude", "Exclude pages", &body)
}

fn preview(frame: &Frame<'_>, exclusion: &Exclusion<'_>) -> Markup {
    let counted = match exclusion.counted {
        Ok(counted) => counted,
        Err(why) => return html! { p.fault role="alert" { (visible(why)) } },
    };
    let share = counted.matching as f64 / counted.known.max(1) as f64;
    html! {
        p { strong { (plural(counted.matching, "known page")) } " of " (count(counted.known)) " (" (percent(share)) ") would be excluded." }
        @if !counted.examples.is_empty() { ul.samples { @for url in &counted.examples { li { (page_link(frame, url)) } } } }
        (frame.form("exclude", &html! {
            input type="hidden" name="pattern" value=(exclusion.pattern);
            button.danger { "Exclude these pages" }
        }))
        pre { code { "evercrawl exclude " (visible(&argument(exclusion.pattern))) " --data " (argument(frame.collection)) } }
    }
}

fn overrides_card(frame: &Frame<'_>, overrides: &[OverrideView]) -> Markup {
    let heads = [("", "Override"), ("", "Of"), ("num", "Since"), ("", "")];
    let rows = html! { @for one in overrides {
        @let (kind, what, how) = words_of(&one.what);
        tr {
            th scope="row" { (kind) @if !how.is_empty() { span.soft { " " (how) } } }
            td { code.break { (visible(&what)) } }
            td.num { (moment(one.since.0, frame.now)) }
            td { (frame.form("unset", &html! {
                input type="hidden" name="what" value=(what); input type="hidden" name="kind" value=(kind);
                button.quiet.small aria-label=(format!("Remove {kind} of {}", plain(&what))) { "Remove" }
            })) }
        }
    } };
    let body = html! {
        @if overrides.is_empty() { (empty("You have set nothing.", &html! { "Pin, boost, pause, trust or exclude: on the screen of a page, of sites, or here." })) }
        @else { (table("Overrides", &heads, &rows)) }
    };
    wide_card("overrides", "What you set", &body)
}

fn words_of(what: &OverrideKind) -> (&'static str, String, String) {
    match what {
        OverrideKind::Pin { url, every_seconds } => {
            ("pin", url.clone(), format!("every {}", seconds(*every_seconds)))
        }
        OverrideKind::Boost { pattern, times } => {
            ("boost", pattern.clone(), format!("{}\u{d7}", figures(f64::from(*times))))
        }
        OverrideKind::Pause { host } => ("pause", host.clone(), String::new()),
        OverrideKind::Trust { host } => ("trust", host.clone(), String::new()),
        OverrideKind::Exclude { pattern } => ("exclude", pattern.clone(), String::new()),
    }
}
