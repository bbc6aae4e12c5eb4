//! Writes all screens as files, to be looked at without a server.
//!
//! ```text
//! cargo run -p evercrawl-screens --example gallery -- ANSWERS OUT
//! ```
//!
//! ANSWERS is a folder with the answers of a crawl to the requests of its control socket, as JSON: `status.json`,
//! `trend.json`, `latest.json`, `tally.json`, `plan.json`, `why.json`, `history.json`, `diff.json`, `hosts.json`,
//! `queue.json`, `archive.json`, `pages.json`, `rates.json`, `settings.json`.

use std::fs;
use std::path::{Path, PathBuf};

use evercrawl_query::{
    ArchiveView, DiffView, HistoryView, HostsView, LatestRequest, LatestView, PagesView, PlanView,
    QueueView, RatesView, Status, TallyView, TrendView, WhyView,
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
use evercrawl_screens::queue::Queue;
use evercrawl_screens::refusals::Refusals;
use evercrawl_screens::settings::Setting;
use evercrawl_screens::sites::Sites;
use evercrawl_screens::{
    archive, assets, budget, changes, diff, entrance, overview, page, queue, refusals, settings,
    sites,
};
use serde::de::DeserializeOwned;

type Anything = Result<(), Box<dyn std::error::Error>>;

struct Answers(PathBuf);

impl Answers {
    fn read<T: DeserializeOwned>(&self, name: &str) -> Result<T, Box<dyn std::error::Error>> {
        let text = fs::read_to_string(self.0.join(format!("{name}.json")))?;
        Ok(serde_json::from_str(&text).map_err(|error| format!("{name}: {error}"))?)
    }
}

fn main() -> Anything {
    let mut arguments = std::env::args().skip(1).map(PathBuf::from);
    let (Some(from), Some(to)) = (arguments.next(), arguments.next()) else {
        return Err("give the folder of the answers, and the folder to write to".into());
    };
    fs::create_dir_all(to.join("assets"))?;
    for asset in assets::ALL {
        fs::write(to.join(assets::path(asset).trim_start_matches('/')), asset.bytes)?;
    }
    draw(&Answers(from), &to)
}

fn draw(answers: &Answers, to: &Path) -> Anything {
    let status: Status = answers.read("status")?;
    let trend: TrendView = answers.read("trend")?;
    let latest: LatestView = answers.read("latest")?;
    let tally: TallyView = answers.read("tally")?;
    let plan: PlanView = answers.read("plan")?;
    let why: WhyView = answers.read("why")?;
    let history: HistoryView = answers.read("history")?;
    let words: DiffView = answers.read("diff")?;
    let hosts: HostsView = answers.read("hosts")?;
    let queued: QueueView = answers.read("queue")?;
    let files: ArchiveView = answers.read("archive")?;
    let pages: PagesView = answers.read("pages")?;
    let rates: RatesView = answers.read("rates")?;
    let keys: Vec<Setting> = answers.read("settings")?;
    let collections = ["news".to_owned(), "archive".to_owned()];
    let frame = Frame {
        collection: "news",
        collections: &collections,
        running: Some(status.running),
        form_token: "0",
        may_write: true,
        now: status.at.0,
        replay: None,
    };
    let diffs: Vec<(u64, DiffView)> = latest
        .changes
        .iter()
        .filter(|one| one.code() == "changed")
        .take(3)
        .map(|one| (one.number, words.clone()))
        .collect();
    let put = |name: &str, text: String| {
        fs::write(to.join(format!("{name}.html")), text.replace("\"/assets/", "\"assets/"))
    };
    let analysed =
        Analytics { status: &status, trend: &trend, tally: &tally, plan: &plan, rates: None };
    put(
        "overview",
        overview::overview(
            &frame,
            &Overview {
                status: &status,
                trend: &trend,
                period: Period::Hour,
                latest: &latest.changes[..latest.changes.len().min(6)],
            },
        ),
    )?;
    let asked = LatestRequest::default();
    put(
        "changes",
        changes::changes(
            &frame,
            &Changes {
                asked: &asked,
                found: &latest,
                diffs: &diffs,
                seen: latest.last.map(|last| last.saturating_sub(30)),
                unread: false,
                by_score: false,
            },
        ),
    )?;
    put("page", page::page(&frame, &page::Page { why: &why, history: Some(&history) }))?;
    put("pages", page::lookup(&frame, &pages.pages, None, pages.next.as_deref()))?;
    for (name, beside) in [("diff", false), ("diff-beside", true)] {
        put(
            name,
            diff::diff(
                &frame,
                &Diff {
                    found: Ok(&words),
                    url: &words.url,
                    history: Some(&history),
                    beside,
                    unmask: false,
                },
            ),
        )?;
    }
    put("sites", sites::sites(&frame, &Sites { hosts: &hosts, tally: &tally, troubled: false }))?;
    put(
        "queue",
        queue::queue(
            &frame,
            &Queue { queue: &queued, plan: &plan, overrides: &[], exclusion: None },
        ),
    )?;
    put("budget", budget::budget(&frame, &Budget { status: &status, plan: &plan }))?;
    put(
        "refusals",
        refusals::refusals(
            &frame,
            &Refusals {
                by_reason: &status.total.refused_by_reason,
                reason: Some("robots"),
                samples: &pages.pages[..pages.pages.len().min(5)],
                next: None,
            },
        ),
    )?;
    put(
        "archive",
        archive::archive(
            &frame,
            &Archive { archive: &files, dropped: &[], status: &status, trend: &trend, most: 50 },
        ),
    )?;
    put("settings", settings::settings(&frame, &keys, false))?;
    put("analytics", analytics(&frame, &analysed, Period::Hour))?;
    put("report", report("news", &Analytics { rates: Some(&rates), ..analysed }, status.at.0))?;
    put(
        "collections",
        overview::collections(
            &[CollectionLine {
                name: "news",
                state: "running",
                message: None,
                status: Some(&status),
            }],
            "0",
            "0.1.0",
        ),
    )?;
    put("login", entrance::login(Some("This token does not hold.")))?;
    let looks = [SeedLook {
        seed: "h0.test".to_owned(),
        url: Some("http://h0.test/".to_owned()),
        verdict: "allowed".to_owned(),
        reason: None,
        sitemaps: vec!["http://h0.test/sitemap.xml".to_owned()],
        pages: Some((41, true)),
    }];
    put("begin", entrance::begin("0", &Beginning::default(), Some(&looks), None))?;
    put(
        "problem",
        entrance::problem(
            "Not found",
            "there is no collection `x`",
            Some("GET /api/v1/collections lists them"),
        ),
    )?;
    Ok(())
}
