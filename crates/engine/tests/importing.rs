//! Does a crawl that begins with what others saw know as much as one that was there?
#![allow(clippy::unwrap_used, reason = "a failing test panics")]

use std::time::Duration;

use crate::common::fetched;
use crate::common::rehearsed::{HOUR, START, Sim, TOOK, begun, words};
use evercrawl_engine::Pace;
use evercrawl_engine::rehearsal::{Asked, Web};
use evercrawl_engine::walk::{Imported, PastVisit, Seen, WhatCame};
use evercrawl_fetch::Fetched;
use evercrawl_model::{Change, Outcome, Time};
use evercrawl_urls::Canonical;

const PAGES: u64 = 30;
const DAY: Duration = Duration::from_secs(86_400);
const MONTH: Duration = Duration::from_secs(30 * 86_400);

/// Pages of which one never changes, and the others every 20 to 600 days.
struct Slow;

fn answer(url: &str, now: Time) -> Fetched {
    let page: Option<u64> = url.rsplit_once("/p").and_then(|(_, number)| number.parse().ok());
    let Some(page) = page else { return fetched(404, &[], String::new(), TOOK) };
    let days = now.since(START).as_secs() / 86_400;
    let version = if page == 0 { 0 } else { days / (20 * page) };
    let text: String = (0..6).map(|n| words(version * 7919 + page * 97 + n)).collect();
    fetched(200, &[("content-type", "text/html")], text, TOOK)
}

impl Web for Slow {
    fn answer(&mut self, asked: &Asked<'_>, now: Time) -> (Fetched, Duration) {
        (answer(asked.url, now), TOOK)
    }
}

fn seeds() -> Vec<String> {
    (0..PAGES).map(|page| format!("http://h{}.test/p{page}", page % 3)).collect()
}

fn crawl(dir: &std::path::Path, seeds: &[String]) -> Sim<Slow> {
    begun(dir, Slow, seeds, |config| {
        config.schedule.recrawl = MONTH;
        config.frontier.pace = Pace { host: Duration::from_millis(1), ..Pace::default() };
    })
}

/// The visits of the log to pages, in their order.
fn visits(sim: &Sim<Slow>) -> Vec<(String, Time, Change)> {
    let view = sim.walk.state();
    view.visits(0)
        .map(|visit| visit.unwrap().1)
        .map(|visit| (view.url(visit.page).unwrap().unwrap(), visit.at, visit.change))
        .collect()
}

/// For each page, in the order of their URLs: changes a day as they are believed to be, days between visits.
fn plan(sim: &Sim<Slow>, now: Time) -> Vec<(String, f64, f64)> {
    let (view, planner) = (sim.walk.state(), sim.walk.planner());
    let mut all: Vec<_> = view
        .pages()
        .map(Result::unwrap)
        .filter(|(_, row)| row.past.is_some())
        .map(|(key, row)| {
            let rate = planner.change_rate_of(key, &row, now).unwrap();
            let days = planner.revisit_interval(key, &row, now).as_secs_f64() / 86_400.0;
            (row.url, rate, days)
        })
        .collect();
    all.sort_by(|one, other| one.0.cmp(&other.0));
    all
}

fn import(sim: &mut Sim<Slow>, url: &str, at: Time, came: WhatCame) -> Imported {
    let url = Canonical::from_trusted(url.to_owned()).unwrap();
    sim.walk.import(&url, PastVisit { at, came, revisit: true }).unwrap()
}

#[test]
fn a_year_that_was_imported_is_planned_on_as_one_that_was_crawled() {
    let dirs = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let year = START.after(370 * DAY);
    let mut crawled = crawl(dirs[0].path(), &seeds());
    crawled.run(year, 40 * DAY).unwrap();
    let seen = visits(&crawled);
    assert!(seen.len() as u64 > 12 * PAGES, "{}", seen.len());

    let mut imported = crawl(dirs[1].path(), &seeds());
    for (url, at, _) in &seen {
        let came = WhatCame::Answer(Box::new(answer(url, *at)));
        assert!(matches!(import(&mut imported, url, *at, came), Imported::Taken { .. }));
    }
    assert_eq!(visits(&imported), seen, "the same visits, and each found the same");
    imported.walk.commit_now().unwrap();
    imported.pass(year);

    // The first week within a budget.
    for sim in [&mut crawled, &mut imported] {
        sim.set_budget(20.0 / 86_400.0);
        sim.run(year.after(HOUR), HOUR).unwrap();
    }
    let (want, got) = (plan(&crawled, year.after(HOUR)), plan(&imported, year.after(HOUR)));
    assert_eq!(want.len() as u64, PAGES);
    for (want, got) in want.iter().zip(&got) {
        assert_eq!(want.0, got.0);
        let ratio = |one: f64, other: f64| (one / other).max(other / one);
        assert!(ratio(want.1, got.1) < 1.1, "changes a day: {want:?} {got:?}");
        assert!(ratio(want.2, got.2) < 1.25, "days between visits: {want:?} {got:?}");
    }
}

#[test]
fn what_is_known_or_older_is_not_taken_and_hosts_are_left_as_they_are() {
    let dir = tempfile::tempdir().unwrap();
    let mut sim = crawl(dir.path(), &["http://h0.test/p0".to_owned()]);
    sim.run(START.after(HOUR), HOUR).unwrap();
    let logged = sim.walk.counters().logged;
    let host = |sim: &Sim<Slow>| sim.walk.state().hosts().next().unwrap().unwrap().1;
    let before = host(&sim);
    let url = "http://h0.test/p0";
    let (_, last, _) = visits(&sim)[0].clone();
    let taken = |verdict| matches!(verdict, Imported::Taken { archived: true });
    let gives = |at| WhatCame::Answer(Box::new(answer(url, at)));
    let (early, late) = (START.before(DAY), last.after(DAY));
    assert_eq!(import(&mut sim, url, early, gives(early)), Imported::Older);
    assert_eq!(import(&mut sim, url, last, gives(last)), Imported::Known);
    assert!(taken(import(&mut sim, url, late, gives(late))));
    // An overloaded server of the past does not slow the crawl of today.
    let busy = fetched(503, &[("retry-after", "99999")], String::new(), TOOK);
    assert!(taken(import(&mut sim, url, late.after(DAY), WhatCame::Answer(Box::new(busy)))));
    let after = host(&sim);
    assert_eq!(
        (after.next_allowed, after.blocked_until),
        (before.next_allowed, before.blocked_until)
    );
    assert_eq!((after.failures, after.ip), (before.failures, before.ip));
    let ranges = sim.walk.state().imported().unwrap();
    assert_eq!(ranges.len(), 1);
    assert_eq!(ranges[0], logged..sim.walk.counters().logged);
}

#[test]
fn visits_without_content_tell_of_changes_by_what_identifies_it() {
    let dir = tempfile::tempdir().unwrap();
    let mut sim = crawl(dir.path(), &["http://h0.test/p0".to_owned()]);
    let url = "http://h0.test/p7";
    let contents = [Some(1), Some(1), Some(2), None, Some(2)];
    let mut at = START;
    for content in contents {
        at = at.after(DAY);
        let (outcome, status) =
            if content.is_some() { (Outcome::Ok, 200) } else { (Outcome::Timeout, 0) };
        let content = content.map(|byte| ([byte; 20], true));
        let seen = Seen { outcome, status, content, bytes: 9 };
        let verdict = import(&mut sim, url, at, WhatCame::Seen(seen));
        assert_eq!(verdict, Imported::Taken { archived: false });
    }
    let changes: Vec<Change> = visits(&sim).into_iter().map(|(_, _, change)| change).collect();
    let want = [Change::New, Change::Same, Change::Changed, Change::Failed, Change::Same];
    assert_eq!(changes, want);
}
