//! Does dropping what need not be kept leave all that must be, whenever it is killed?
#![allow(clippy::unwrap_used, reason = "a failing test panics")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use crate::common::site::{Answer, Request, Site};
use crate::common::tools::{records, warcio_accepts};
use crate::common::{Place, pause, wait_until};
use evercrawl_archive::Record;
use rustix::process::Signal;

const PAGES: [&str; 4] = ["edited", "flapping", "mother", "twin"];

fn answer(request: &Request) -> Answer {
    let n = request.earlier;
    match request.page.as_str() {
        "a.test/" => Answer::page(
            "<a href=/edited>1</a><a href=/flapping>2</a><a href=/mother>3</a><a href=/twin>4</a>",
        ),
        "a.test/edited" => Answer::page(format!("<p>The tower is {} today {}", word(n), filler())),
        "a.test/flapping" => Answer::page(format!("<p>It is {} {}", word(n % 2), filler())),
        // What the twin refers to is the first version of this, which is soon an old one.
        "a.test/mother" if n == 0 => Answer::page(format!("<p>The family likeness {}", filler())),
        "a.test/mother" => Answer::page(format!("<p>She reads about {} {}", word(n), filler())),
        "a.test/twin" if n == 0 => Answer::page("<p>A beginning of its own"),
        "a.test/twin" => Answer::page(format!("<p>The family likeness {}", filler())),
        _ => Answer::status("404 Not Found"),
    }
}

fn filler() -> String {
    (0..60).map(|n| format!("word{n} ")).collect()
}

/// Another word at every visit; a number would soon be taken for a clock.
fn word(n: usize) -> String {
    let letter = |n: usize| char::from(b'a' + u8::try_from(n % 26).unwrap());
    format!("{}{}{}olour", letter(n), letter(n / 26), letter(n * 7))
}

/// A data directory in which every page was visited often, in many small files.
fn visited(more: &str) -> (Site, Place) {
    let (site, place) = (Site::serve(answer), Place::new());
    let crawl = place.start(&crawl(&site, more));
    wait_until("twelve visits", || site.asked("a.test/twin").len() > 11);
    crawl.signal(Signal::INT);
    crawl.wait().expect(11);
    place.run("check --deep").expect(0);
    (site, place)
}

fn crawl(site: &Site, more: &str) -> String {
    let flags = site.flags();
    format!(
        "crawl http://a.test/ --delay 5ms --recrawl 200ms --quiet -s archive.roll=4kB {more} {flags}"
    )
}

/// All records but those that say what a file is.
fn archived(place: &Place) -> Vec<Record> {
    let files = place.archive_files(".warc.gz");
    let all = files.iter().flat_map(|file| records(file)).map(|scanned| scanned.record);
    all.filter(|record| record.header("WARC-Type") != Some("warcinfo")).collect()
}

/// State and archive agree, every page has its latest content, and no record refers to nothing.
fn assert_whole(place: &Place) {
    place.run("check --deep").expect(0);
    let records = archived(place);
    let place_of = |record: &Record, uri: &str, date: &str| {
        (record.header(uri).unwrap().to_owned(), record.header(date).unwrap().to_owned())
    };
    let of_type = |kind: &'static str| {
        records.iter().filter(move |record| record.header("WARC-Type") == Some(kind))
    };
    let whole: BTreeSet<_> = of_type("response")
        .map(|record| place_of(record, "WARC-Target-URI", "WARC-Date"))
        .collect();
    for revisit in of_type("revisit") {
        let named = place_of(revisit, "WARC-Refers-To-Target-URI", "WARC-Refers-To-Date");
        assert!(whole.contains(&named), "{named:?} is gone");
    }
    let digests: BTreeSet<&str> =
        of_type("response").filter_map(|record| record.header("WARC-Payload-Digest")).collect();
    for page in PAGES {
        let latest = place.history(&format!("http://a.test/{page}")).pop().unwrap();
        let digest = latest["digest"].as_str().unwrap();
        assert!(digests.contains(digest), "{page} lost its latest content");
    }
}

fn count_of(place: &Place, page: &str) -> usize {
    let url = format!("http://a.test/{page}");
    let records = archived(place);
    let ours = |record: &&Record| {
        record.header("WARC-Target-URI") == Some(&url)
            && record.header("WARC-Type") == Some("response")
    };
    records.iter().filter(ours).count()
}

#[test]
fn the_last_versions_stay_and_what_they_refer_to() {
    let (site, place) = visited("");
    let before = archived(&place).len();
    let dry = place.run("retain --dry-run --json -s retention.archive=last2").expect(0).json();
    assert!(dry["captures"].as_u64().unwrap() > 10, "{dry}");
    assert_eq!(archived(&place).len(), before);

    let done = place.run("retain --json -s retention.archive=last2").expect(0).json_lines();
    assert_whole(&place);
    warcio_accepts(&place.archive_files(".warc.gz"));
    let dropped: u64 = done.iter().map(|line| line["dropped"].as_u64().unwrap()).sum();
    assert_eq!(usize::try_from(dropped).unwrap(), before - archived(&place).len());
    assert!(done.iter().all(|line| line["bytes"].as_u64().unwrap() > 0));
    let sorted = |mut lines: Vec<serde_json::Value>| {
        lines.sort_by_key(|line| line["from"].to_string());
        lines
    };
    let listed = place.run("retain --list --json").expect(0).json_lines();
    assert_eq!(sorted(listed), sorted(done));
    // Each visit brought another version of this one; of the other the first is referred to.
    assert_eq!(count_of(&place, "edited"), 2);
    assert_eq!(count_of(&place, "mother"), 3);
    // The log is as long as it was, and `diff` tells the versions that are left.
    assert!(place.history("http://a.test/edited").len() > 10);
    place.run("diff http://a.test/edited --exit-code").expect(10);
    place.run("diff http://a.test/twin --from 1s").expect(0);
    assert!(place.run("retain -s retention.archive=last2").expect(0).out.is_empty(), "twice");

    // What was dropped comes back to a page, and is stored again.
    let crawl = place.start(&crawl(&site, ""));
    let asked = site.asked("a.test/twin").len();
    wait_until("three visits", || site.asked("a.test/twin").len() > asked + 2);
    crawl.signal(Signal::INT);
    crawl.wait().expect(11);
    assert_whole(&place);
}

#[test]
fn visits_leave_the_log_with_their_records() {
    let (_site, place) = visited("");
    let all = place.run("changes --all --json").expect(0).json_lines();
    let rules = "-s retention.archive=last1 -s retention.visits=last1";
    let foreseen = place.run(&format!("retain --dry-run --json {rules}")).expect(0).json();
    place.run(&format!("retain {rules}")).expect(0);
    assert_whole(&place);
    let left = place.run("changes --all --json").expect(0).json_lines();
    let gone = u64::try_from(all.len() - left.len()).unwrap();
    assert_eq!(foreseen["visits"].as_u64(), Some(gone));
    assert_eq!(place.history("http://a.test/edited").len(), 1);
    // A version has two ends; the latest is one of them.
    assert!(place.history("http://a.test/twin").len() <= 2);
    // Numbers are as they were: whoever follows the log goes on where it was.
    let numbers = |lines: &[serde_json::Value]| -> BTreeMap<u64, String> {
        let line = |line: &serde_json::Value| {
            (line["number"].as_u64().unwrap(), line["url"].as_str().unwrap().to_owned())
        };
        lines.iter().map(line).collect()
    };
    let (all, left) = (numbers(&all), numbers(&left));
    assert!(left.iter().all(|(number, url)| all.get(number) == Some(url)));
    let listed = place.run("retain --list --json").expect(0).json_lines();
    let log = listed.iter().find(|line| line["from"] == "visit log").unwrap();
    assert_eq!(log["dropped"].as_u64(), Some(gone));
}

#[test]
fn without_rules_nothing_is_dropped() {
    let (_site, place) = visited("");
    let before = archived(&place).len();
    place.run("retain").expect(0).explains(&["nothing to delete"]);
    place.run("retain -s retention.archive=all,last1").expect(0);
    assert_eq!(archived(&place).len(), before);
    place.run("retain -s retention.archive=weekly").expect(3).explains(&["weekly", "last 5"]);
}

#[test]
fn a_kill_at_any_moment_loses_nothing_and_leaves_nothing_half_done() {
    kills_lose_nothing(24);
}

#[test]
#[ignore = "some minutes; `make check-large`"]
fn two_hundred_kills_lose_nothing() {
    kills_lose_nothing(200);
}

fn kills_lose_nothing(kills: u32) {
    let (_site, place) = visited("");
    copy(&place.data(), &place.path().join("full"));
    let rules = "-s retention.archive=last1 -s retention.visits=last1";
    // The kills are spread over the time that it takes here and now, which is less once others are done.
    let mut takes = place.time_of(&format!("retain {rules}"));
    let mut cut_short = 0;
    for n in 0..kills {
        std::fs::remove_dir_all(place.data()).unwrap();
        copy(&place.path().join("full"), &place.data());
        let mut retain = place.start(&format!("retain {rules}"));
        pause(takes * n / kills);
        if retain.is_running() {
            cut_short += 1;
        } else {
            takes = takes * 3 / 4;
        }
        retain.child().kill().unwrap();
        drop(retain);
        assert_whole(&place);
        place.run(&format!("retain {rules}")).expect(0);
        assert_whole(&place);
        assert_eq!(count_of(&place, "edited"), 1, "after kill {n}");
        assert!(place.archive_files(".open").is_empty());
    }
    assert!(cut_short > kills / 3, "only {cut_short} of {kills} kills came in time");
}

#[test]
fn a_running_crawl_drops_from_time_to_time_and_may_be_killed() {
    let rules = "-s archive.roll=20kB -s retention.every=1s -s retention.archive=last2 -s retention.visits=1s";
    let (site, place) = visited(rules);
    let cuts = |place: &Place| {
        let listed = place.run("retain --list --json").json_lines();
        listed.iter().filter(|line| line["from"] == "visit log").count()
    };
    for _ in 0..2 {
        // What a killed crawl left would make us look before this one works here.
        let door = place.data().join("control.sock");
        let _ = std::fs::remove_file(&door);
        let mut crawl = place.start(&crawl(&site, rules));
        wait_until("the crawl to listen", || door.exists());
        let before = cuts(&place);
        wait_until("the log to be cut", || {
            assert!(crawl.is_running(), "{:?}", crawl.said());
            cuts(&place) > before
        });
        crawl.child().kill().unwrap();
        drop(crawl);
        assert_whole(&place);
    }
    assert!(place.archive_files(".open").is_empty());
}

fn copy(from: &Path, to: &Path) {
    assert!(Command::new("cp").arg("-a").args([from, to]).status().unwrap().success());
}
