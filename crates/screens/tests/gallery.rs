//! All screens of a crawl whose views were recorded; its hosts may be called otherwise.

use evercrawl_query::{
    ArchiveView, DiffView, ExclusionCount, HistoryView, HostsView, LatestRequest, LatestView,
    OverrideKind, OverrideView, PagesView, PlanView, QueueView, RatesView, Status, TallyView,
    TrendView, WhyView,
};
use evercrawl_screens::analytics::{Analytics, analytics, report};
use evercrawl_screens::archive::Archive;
use evercrawl_screens::budget::Budget;
use evercrawl_screens::changes::Changes;
use evercrawl_screens::diff::Diff;
use evercrawl_screens::entrance::{Beginning, SeedLook};
use evercrawl_screens::frame::Frame;
use evercrawl_screens::overview::{CollectionLine, Overview};
use evercrawl_screens::period::Period;
use evercrawl_screens::queue::{Exclusion, Queue};
use evercrawl_screens::refusals::Refusals;
use evercrawl_screens::settings::Setting;
use evercrawl_screens::sites::Sites;
use evercrawl_screens::{
    archive, budget, changes, diff, entrance, overview, page, queue, refusals, settings, sites,
};
use serde::de::DeserializeOwned;

/// A name that tries all that markup might let it.
pub(crate) const HOSTILE: &str =
    "\u{202e}<script>alert(1)</script>\" onmouseover=\"x' javascript:alert(1)";

macro_rules! recorded {
    ($name:literal, $host:expr) => {
        read(include_str!(concat!("data/", $name, ".json")), $host)
    };
}

/// A view in which the recorded crawl's hosts have another name.
fn read<T: DeserializeOwned>(text: &str, host: &str) -> T {
    let quoted = serde_json::to_string(host).unwrap();
    let inner = quoted.trim_matches('"');
    // The quotes of the name itself are not of the text.
    let inner = if host.contains('"') { &quoted[1..quoted.len() - 1] } else { inner };
    let mut text = text.to_owned();
    for number in 0..12 {
        text = text
            .replace(&format!("h{number}.test"), if host == "h5.test" { "h5.test" } else { inner });
    }
    serde_json::from_str(&text).unwrap()
}

pub(crate) fn every_screen(host: &str) -> Vec<(&'static str, String)> {
    drawn(host, true)
}

/// The screens of one who may change nothing.
pub(crate) fn for_readers() -> Vec<(&'static str, String)> {
    let all = drawn("h5.test", false);
    all.into_iter()
        .filter(|(name, _)| !matches!(*name, "collections" | "login" | "begin"))
        .collect()
}

fn drawn(host: &str, may_write: bool) -> Vec<(&'static str, String)> {
    let status: Status = recorded!("status", host);
    let trend: TrendView = recorded!("trend", host);
    let latest: LatestView = recorded!("latest", host);
    let tally: TallyView = recorded!("tally", host);
    let plan: PlanView = recorded!("plan", host);
    let why: WhyView = recorded!("why", host);
    let history: HistoryView = recorded!("history", host);
    let words: DiffView = recorded!("diff", host);
    let hosts: HostsView = recorded!("hosts", host);
    let queued: QueueView = recorded!("queue", host);
    let files: ArchiveView = recorded!("archive", host);
    let pages: PagesView = recorded!("pages", host);
    let rates: RatesView = recorded!("rates", host);
    let keys: Vec<Setting> = recorded!("settings", host);
    let collections = ["news".to_owned(), "more".to_owned()];
    let frame = Frame {
        collection: "news",
        collections: &collections,
        running: Some(true),
        form_token: "secret",
        may_write,
        now: status.at.0,
        replay: None,
    };
    let diffs: Vec<(u64, DiffView)> =
        latest.changes.iter().map(|one| (one.number, words.clone())).collect();
    let analysed =
        Analytics { status: &status, trend: &trend, tally: &tally, plan: &plan, rates: None };
    let counted = ExclusionCount {
        pattern: host.to_owned(),
        matching: 1,
        known: 2,
        examples: vec![format!("http://{host}/")],
    };
    let overrides = [OverrideView {
        what: OverrideKind::Exclude { pattern: host.to_owned() },
        since: status.at,
    }];
    let exclusion = Some(Exclusion { pattern: host, counted: Ok(&counted) });
    let asked = LatestRequest { host: Some(host.to_owned()), ..LatestRequest::default() };
    let look = SeedLook {
        seed: host.to_owned(),
        url: None,
        verdict: "unusable".to_owned(),
        reason: Some(host.to_owned()),
        sitemaps: Vec::new(),
        pages: None,
    };
    vec![
        (
            "overview",
            overview::overview(
                &frame,
                &Overview {
                    status: &status,
                    trend: &trend,
                    period: Period::Hour,
                    latest: &latest.changes,
                },
            ),
        ),
        (
            "changes",
            changes::changes(
                &frame,
                &Changes {
                    asked: &asked,
                    found: &latest,
                    diffs: &diffs,
                    seen: None,
                    unread: true,
                    by_score: true,
                },
            ),
        ),
        ("page", page::page(&frame, &page::Page { why: &why, history: Some(&history) })),
        ("pages", page::lookup(&frame, &pages.pages, Some("new"), pages.next.as_deref())),
        (
            "diff",
            diff::diff(
                &frame,
                &Diff {
                    found: Ok(&words),
                    url: &words.url,
                    history: Some(&history),
                    beside: true,
                    unmask: true,
                },
            ),
        ),
        (
            "no-diff",
            diff::diff(
                &frame,
                &Diff {
                    found: Err("one version"),
                    url: &words.url,
                    history: None,
                    beside: false,
                    unmask: false,
                },
            ),
        ),
        ("sites", sites::sites(&frame, &Sites { hosts: &hosts, tally: &tally, troubled: false })),
        (
            "queue",
            queue::queue(
                &frame,
                &Queue { queue: &queued, plan: &plan, overrides: &overrides, exclusion },
            ),
        ),
        ("budget", budget::budget(&frame, &Budget { status: &status, plan: &plan })),
        (
            "refusals",
            refusals::refusals(
                &frame,
                &Refusals {
                    by_reason: &status.total.refused_by_reason,
                    reason: Some("robots"),
                    samples: &pages.pages,
                    next: None,
                },
            ),
        ),
        (
            "archive",
            archive::archive(
                &frame,
                &Archive {
                    archive: &files,
                    dropped: &[],
                    status: &status,
                    trend: &trend,
                    most: 50,
                },
            ),
        ),
        ("settings", settings::settings(&frame, &keys, false)),
        ("analytics", analytics(&frame, &analysed, Period::Hour)),
        ("report", report(host, &Analytics { rates: Some(&rates), ..analysed }, status.at.0)),
        (
            "collections",
            overview::collections(
                &[CollectionLine {
                    name: "news",
                    state: "failed",
                    message: Some(host),
                    status: Some(&status),
                }],
                "secret",
                "0.1.0",
            ),
        ),
        ("login", entrance::login(Some("No."))),
        (
            "begin",
            entrance::begin(
                "secret",
                &Beginning { seeds: host.to_owned(), ..Beginning::default() },
                Some(&[look]),
                Some(host),
            ),
        ),
        ("problem", entrance::problem("Not found", host, Some(host))),
    ]
}
