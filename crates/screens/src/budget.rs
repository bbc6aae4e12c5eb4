//! Budget: is it spent well?

use evercrawl_query::{PlanView, Status};
use maud::{Markup, html};

use crate::frame::{Elsewhere, Frame, Place};
use crate::parts::{Titles, card, columns, counts_table, empty, figure, table, wide_card};
use crate::words::{argument, count, figures, percent, plural, seconds, short, visible};

/// What the screen shows.
#[derive(Clone, Debug)]
pub struct Budget<'a> {
    /// How the crawl is doing.
    pub status: &'a Status,
    /// What would be fetched in the next 24 hours.
    pub plan: &'a PlanView,
}

/// How the budget is spent.
pub fn budget(frame: &Frame<'_>, shown: &Budget<'_>) -> String {
    let body = html! {
        (summary(shown))
        div.grid {
            (set_card(frame, shown))
            (spent_card(shown.status))
            (classes_card(shown.plan))
            (hosts_card(shown.plan))
            (calibration_card(shown.status))
        }
    };
    let elsewhere = Elsewhere::new("plan?seconds=86400", "plan")
        .api("status")
        .command("budget 10/s")
        .command("lab whatif");
    frame.screen(Place::Budget, &elsewhere, &body)
}

fn summary(shown: &Budget<'_>) -> Markup {
    let used = shown.status.run.as_ref().and_then(|run| run.budget_used);
    let (now, later) = (shown.plan.freshness.freshness, shown.plan.freshness_expected);
    html! {
        section.headline #headline data-live {
            p {
                strong { @match shown.status.plan.budget_a_second {
                    Some(rate) => { "The budget is " (figures(rate)) " requests a second" },
                    None if shown.status.plan.fixed_interval => "Every page is visited at one fixed interval",
                    None => "No budget is set",
                } }
                @if let Some(used) = used { "; " (percent(used)) " of it was used in the last minute" }
                ". "
                @match (now, later) {
                    (Some(now), Some(later)) => { "Held pages are fresh to " (percent(now)) " now, and " (percent(later)) " is expected with this budget." },
                    (None, Some(later)) => { "With this budget " (percent(later)) " of the held pages will be fresh, as far as their change rates are known." },
                    _ => "How fresh pages will be is not known yet.",
                }
            }
        }
    }
}

fn set_card(frame: &Frame<'_>, shown: &Budget<'_>) -> Markup {
    let rate = shown.status.plan.budget_a_second;
    let body = html! {
        (frame.form("budget", &html! {
            label { "Requests over all hosts "
                input.short name="rate" required value=(rate.map(|rate| format!("{}/s", figures(rate))).unwrap_or_default()) placeholder="5/s"; }
            button { "Set" }
        }))
        p.soft { "As in " code { "5/s" } ", " code { "200/min" } " or " code { "10000/d" } ". It holds at once, and in later runs." }
        p { "What would twice the budget buy? The lab computes it from what this crawl has seen:" }
        pre { code { "evercrawl lab whatif --data " (argument(frame.collection)) } }
    };
    card("set", "Set it", &body)
}

fn spent_card(status: &Status) -> Markup {
    let Some(run) = &status.run else {
        return card(
            "spent",
            "What requests are for",
            &empty(
                "The crawl does not run.",
                &html! { "While it runs, its requests are counted by purpose." },
            ),
        );
    };
    let rows = [
        (html! { "First visits" }, run.first_visits, "k4"),
        (html! { "Known pages that were due" }, run.requests.due, "k0"),
        (html! { "Known pages ahead of their time" }, run.requests.ahead_of_time, "k2"),
        (html! { "Audits, to measure freshness" }, run.requests.audits, "k1"),
    ];
    let waste = status.survey.learned.rechecks;
    let body = html! {
        (counts_table("Requests of this run by purpose", "Purpose", rows.into_iter()))
        p.soft { "Due pages were fetched " (seconds(run.requests.mean_lag_seconds)) " late on average. Rechecks of pages that were gone took "
            (percent(waste.share)) " of the requests, of " (percent(waste.most_share)) " allowed." }
    };
    card("spent", "What requests are for", &body)
}

fn classes_card(plan: &PlanView) -> Markup {
    let total: f64 = plan.classes.iter().map(|class| class.visits).sum();
    let heads = [
        ("", "Pages that change"),
        ("num", "Pages"),
        ("num", "Visits planned"),
        ("num", "Share"),
        ("num", "Visits a page"),
    ];
    let rows = html! { @for class in &plan.classes { tr {
        th scope="row" { (class.changes) }
        td.num { (count(class.pages)) }
        td.num { (count(class.visits.round() as u64)) }
        td.num { (percent(class.visits / total.max(1e-9))) }
        td.num { (figures(class.visits / class.pages.max(1) as f64)) }
    } } };
    let body = if plan.classes.is_empty() {
        empty(
            "Nothing is planned yet.",
            &html! { "Once pages were visited twice, their change rates are known." },
        )
    } else {
        let counts: Vec<(String, f64)> = plan
            .classes
            .iter()
            .map(|class| (crate::analytics::short_class(&class.changes), class.visits))
            .collect();
        let most = plan.classes.iter().max_by(|a, b| a.visits.total_cmp(&b.visits));
        let sentence = most
            .map(|most| {
                format!(
                    "Most visits, {}, go to pages that change {}.",
                    percent(most.visits / total.max(1e-9)),
                    most.changes
                )
            })
            .unwrap_or_default();
        let titles = Titles {
            id: "classes-c",
            title: "Visits planned by how often pages change",
            sentence: &sentence,
            worded: &short,
            top: None,
        };
        html! { (figure(columns(&titles, "k0", &counts), &sentence)) (table("Visits by class", &heads, &rows)) }
    };
    wide_card("classes", "Share by how often pages change, next 24 hours", &body)
}

fn hosts_card(plan: &PlanView) -> Markup {
    let rows = plan.hosts.iter().take(15).map(|host| {
        (
            html! { (visible(&host.host)) span.soft { " " (plural(host.pages, "page")) } },
            host.visits.round() as u64,
            "k0",
        )
    });
    let body = match plan.hosts.is_empty() {
        true => {
            empty("Nothing is planned yet.", &html! { "Hosts appear once their pages are held." })
        }
        false => counts_table("Visits planned by host", "Host", rows),
    };
    card("hosts", "Share by host, next 24 hours", &body)
}

fn calibration_card(status: &Status) -> Markup {
    card(
        "calibration",
        "Is it spent on what changes?",
        &crate::analytics::calibration(&status.survey.learned.predictions),
    )
}
