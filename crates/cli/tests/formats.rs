//! Does today's version take over what earlier ones wrote, and go on with it?
//!
//! `data/format-N.tar.gz` holds a small data directory as the last version of that format left it when
//! it was killed in the middle of a crawl, and what that version said of it: `urls --json`,
//! `changes --json`.
#![allow(clippy::unwrap_used, reason = "a failing test panics")]

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;
use std::time::Duration;

use crate::common::site::{Answer, Site};
use crate::common::{Place, pause};
use serde_json::Value;

/// A place where data of an earlier format lies.
fn unpacked(format: u32) -> Place {
    let packed = format!("{}/tests/data/format-{format}.tar.gz", env!("CARGO_MANIFEST_DIR"));
    let place = Place::new();
    let mut tar = Command::new("tar");
    let tar = tar.args(["-xzf", &packed, "-C"]).arg(place.path());
    assert!(tar.status().unwrap().success());
    place
}

/// What the earlier version said, by `key`.
fn said_then(place: &Place, file: &str, key: &str) -> BTreeMap<String, Value> {
    let text = fs::read_to_string(place.path().join(file)).unwrap();
    by(key, text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

fn by(key: &str, values: Vec<Value>) -> BTreeMap<String, Value> {
    values.into_iter().map(|value| (value[key].to_string(), value)).collect()
}

/// Everything that was said then is said now, but for what depends on the time of asking.
fn assert_same(then: &BTreeMap<String, Value>, now: &BTreeMap<String, Value>) {
    assert_eq!(then.keys().collect::<Vec<_>>(), now.keys().collect::<Vec<_>>());
    for (key, then) in then {
        for (field, value) in then.as_object().unwrap() {
            if field != "state" {
                assert_eq!(&now[key][field], value, "{field} of {key}");
            }
        }
    }
}

#[test]
fn data_of_format_1_is_read_checked_and_crawled_on() {
    is_read_checked_and_crawled_on(1);
}

#[test]
fn data_of_format_2_is_read_checked_and_crawled_on() {
    is_read_checked_and_crawled_on(2);
}

#[test]
fn data_of_format_3_is_read_checked_and_crawled_on() {
    is_read_checked_and_crawled_on(3);
}

#[test]
fn data_of_format_4_is_read_checked_and_crawled_on() {
    is_read_checked_and_crawled_on(4);
}

#[test]
fn data_of_format_5_is_read_checked_and_crawled_on() {
    is_read_checked_and_crawled_on(5);
}

#[test]
fn data_of_format_6_is_read_checked_and_crawled_on() {
    is_read_checked_and_crawled_on(6);
}

fn is_read_checked_and_crawled_on(format: u32) {
    let place = unpacked(format);
    let urls = said_then(&place, "urls.jsonl", "url");
    assert_same(&urls, &by("url", place.urls()));
    let changes = place.run("changes --json").expect(0).json_lines();
    assert_same(&said_then(&place, "changes.jsonl", "number"), &by("number", changes));
    let mark = fs::read_to_string(place.data().join("evercrawl.data")).unwrap();
    assert_eq!(
        mark, "evercrawl data directory, format 7\n",
        "earlier versions must not write here"
    );
    place.run("check --deep").expect(0);

    // Rows of two formats lie side by side from here on.
    let site = Site::serve(|request| match request.page.as_str() {
        "h0.test/robots.txt" => Answer::status("404 Not Found"),
        _ => Answer::page("<p>Another time.</p><a href=/later>later</a>"),
    });
    let flags = format!("--recrawl 1h --delay 1ms --quiet {}", site.flags());
    let refused = urls.values().filter(|row| !row["reason"].is_null()).count();
    let more = urls.len() - refused + 1;
    place.run(&format!("crawl --max-pages {more} {flags}")).expect(14);
    place.run("check --deep").expect(0);
    let after = by("url", place.urls());
    assert!(after.len() > urls.len(), "the new page is found");
    for (url, then) in urls {
        let visits = |row: &Value| row["visits"].as_u64().unwrap();
        assert!(visits(&after[&url]) >= visits(&then), "{url}");
        assert_eq!(after[&url]["found"], then["found"], "{url}");
    }
}

/// Rows are written in today's format as they change: a crawl that is killed on the way leaves rows of
/// two formats, which the next one goes on with.
fn kills_in_old_data_lose_nothing(format: u32, kills: u64) {
    let place = unpacked(format);
    let mut known = by("url", place.urls());
    let site = Site::serve(|request| match request.page.as_str() {
        "h0.test/robots.txt" => Answer::status("404 Not Found"),
        _ => Answer::page(format!("<p>For the time number {}.</p>", request.earlier)),
    });
    // Old versions are dropped and files are full meanwhile.
    let rules = "-s archive.roll=20kB -s retention.archive=last2 -s retention.every=1s";
    let pace = "--recrawl 300ms -s schedule.min_interval=100ms --delay 5ms --quiet";
    for n in 0..kills {
        let mut crawl = place.start(&format!("crawl {pace} {rules} {}", site.flags()));
        pause(Duration::from_millis(100 + n * 389 % 900));
        assert!(crawl.is_running(), "{:?}", crawl.said());
        crawl.child().kill().unwrap();
        drop(crawl);
        place.run("check --deep").expect(0);
        let now = by("url", place.urls());
        for (url, then) in &known {
            let visits = |row: &Value| row["visits"].as_u64().unwrap();
            assert!(visits(&now[url]) >= visits(then), "{url} after kill {n}");
        }
        known = now;
    }
    let visits: u64 = known.values().map(|row| row["visits"].as_u64().unwrap()).sum();
    assert!(visits > kills, "{visits} visits");
}

#[test]
fn kills_in_data_of_format_6_lose_nothing() {
    kills_in_old_data_lose_nothing(6, 6);
}

#[test]
#[ignore = "some minutes; `make check-large`"]
fn two_hundred_kills_in_old_data_lose_nothing() {
    kills_in_old_data_lose_nothing(1, 60);
    kills_in_old_data_lose_nothing(2, 70);
    kills_in_old_data_lose_nothing(3, 70);
    kills_in_old_data_lose_nothing(4, 70);
    kills_in_old_data_lose_nothing(5, 70);
    kills_in_old_data_lose_nothing(6, 70);
}
