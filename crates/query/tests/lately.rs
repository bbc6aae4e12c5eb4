//! What changed last, what did the last visits bring, and how did the figures move?

use std::fs::{self, OpenOptions};
use std::io::Write;

use evercrawl_model::{Change, Refusal};
use evercrawl_query::{
    At, LatestRequest, Status, TallyRequest, TrendKeeper, TrendRequest, latest, status, tally,
    trend,
};

use crate::common::{Crawl, at, config, travelled};

/// Two hosts; one of them changes, on the other a page is refused.
fn visited() -> Crawl {
    let mut crawl = Crawl::new();
    let (a, b) = (crawl.seed("http://a.test/"), crawl.seed("http://b.test/"));
    crawl.visit(a, 10, Change::New, 100);
    crawl.visit(b, 20, Change::New, 100);
    crawl.visit(a, 100, Change::Same, 200);
    for second in 200..230 {
        crawl.visit(a, second, Change::Changed, 4_000);
    }
    crawl.visit(b, 300, Change::Failed, 4_000);
    crawl.refuse(b, 310, Refusal::Robots);
    crawl
}

fn numbers(view: &evercrawl_query::LatestView) -> Vec<u64> {
    view.changes.iter().map(|change| change.number).collect()
}

#[test]
fn the_latest_changes_come_first_and_parts_miss_none() {
    let crawl = visited();
    let source = crawl.source(5_000);
    let whole = latest(&source, &LatestRequest::default()).unwrap();
    assert_eq!(whole.changes.len(), 32, "two were new, thirty changed");
    assert!(numbers(&whole).is_sorted_by(|a, b| a > b) && whole.before.is_none());
    assert_eq!(travelled(&whole), whole);
    let mut asked = LatestRequest { limit: Some(7), ..LatestRequest::default() };
    let mut seen = Vec::new();
    loop {
        let part = latest(&source, &asked).unwrap();
        seen.extend(numbers(&part));
        asked.before = part.before;
        if part.before.is_none() {
            break;
        }
    }
    assert_eq!(seen, numbers(&whole));
    let after = Some(numbers(&whole)[4]);
    let new = latest(&source, &LatestRequest { after, ..LatestRequest::default() }).unwrap();
    assert_eq!(numbers(&new), numbers(&whole)[..4]);
}

#[test]
fn the_latest_changes_are_chosen_by_host_kind_and_score() {
    let crawl = visited();
    let source = crawl.source(5_000);
    let count = |asked: LatestRequest| latest(&source, &asked).unwrap().changes.len();
    let of = |host: &str| LatestRequest { host: Some(host.to_owned()), ..Default::default() };
    let kind = |code: &str| LatestRequest { change: Some(code.to_owned()), ..Default::default() };
    assert_eq!((count(of("a.test")), count(of("b.test")), count(of("c.test"))), (31, 1, 0));
    assert_eq!((count(kind("changed")), count(kind("new")), count(kind("failed"))), (30, 2, 1));
    assert_eq!(count(kind("refused")), 1);
    let score = |least| LatestRequest { score: Some(least), ..Default::default() };
    assert_eq!((count(score(0.2)), count(score(0.3))), (32, 0));
    assert!(latest(&source, &of("no host")).is_err());
}

#[test]
fn a_tally_counts_the_last_visits_by_host_and_outcome() {
    let crawl = visited();
    let source = crawl.source(5_000);
    let all = tally(&source, &TallyRequest::default()).unwrap();
    assert_eq!((all.visits, all.hosts_seen, all.bytes), (34, 2, 340));
    assert_eq!(
        (all.by_change["changed"], all.by_outcome["server_error"], all.by_status[&503]),
        (30, 1, 1)
    );
    assert_eq!(
        (all.hosts[0].host.as_str(), all.hosts[0].visits, all.hosts[0].changes),
        ("a.test", 32, 30)
    );
    assert_eq!((all.hosts[1].failed, all.hosts[1].first_visits), (1, 1));
    assert_eq!(all.times[0].count, 34);
    assert_eq!(travelled(&all), all);
    let some = TallyRequest { visits: Some(5), ..TallyRequest::default() };
    assert!(tally(&source, &some).unwrap().visits <= 5);
}

/// How the crawl is doing so many seconds after it began.
fn status_at(crawl: &Crawl, seconds: u64) -> Status {
    status(&crawl.source(seconds), config().plan, Some(1.0)).unwrap()
}

#[test]
fn figures_over_time_are_kept_over_restarts_and_a_torn_line_is_left_out() {
    let (crawl, dir) = (visited(), tempfile::tempdir().unwrap());
    let mut status = status_at(&crawl, 1_000);
    let note = |keeper: &mut TrendKeeper, status: &mut Status, second: u64| {
        status.at = At(at(second));
        keeper.note(status).unwrap();
    };
    let mut keeper = TrendKeeper::open(dir.path()).unwrap();
    for second in 1_000..1_100 {
        note(&mut keeper, &mut status, second);
    }
    let hour = TrendRequest { seconds: 3_600.0 };
    let view = trend(dir.path(), &hour, at(1_100)).unwrap();
    assert_eq!(view.points.len(), 10, "one every ten seconds");
    assert_eq!((view.points[0].pages, view.points[0].visits, view.points[0].changes), (2, 34, 30));
    assert_eq!(travelled(&view), view);
    let seconds = dir.path().join("trend/seconds.jsonl");
    OpenOptions::new().append(true).open(&seconds).unwrap().write_all(b"{\"at\":\"20").unwrap();
    let mut keeper = TrendKeeper::open(dir.path()).unwrap();
    note(&mut keeper, &mut status, 1_095);
    note(&mut keeper, &mut status, 1_100);
    let view = trend(dir.path(), &hour, at(1_100)).unwrap();
    assert_eq!(view.points.len(), 11);
    assert_eq!(
        trend(dir.path(), &TrendRequest { seconds: 86_400.0 }, at(1_100)).unwrap().points.len(),
        2
    );
}

#[test]
fn files_of_figures_are_bounded() {
    let (crawl, dir) = (visited(), tempfile::tempdir().unwrap());
    let mut status = status_at(&crawl, 1_000);
    let mut keeper = TrendKeeper::open(dir.path()).unwrap();
    for second in (1_000..11_000).step_by(10) {
        status.at = At(at(second));
        keeper.note(&status).unwrap();
    }
    let lines = fs::read_to_string(dir.path().join("trend/seconds.jsonl")).unwrap().lines().count();
    assert!((360..720).contains(&lines), "{lines}");
    let none = tempfile::tempdir().unwrap();
    assert!(trend(none.path(), &TrendRequest { seconds: 60.0 }, at(1)).unwrap().points.is_empty());
}
