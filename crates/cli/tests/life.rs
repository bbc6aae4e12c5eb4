//! Do history and archive tell rightly what became of pages: unchanged, changed, gone, moved,
//! busy, doubled?
#![allow(clippy::unwrap_used, reason = "a failing test panics")]

use std::time::Duration;

use crate::common::site::{Answer, Request, Site};
use crate::common::{NOISE, Place};
use evercrawl_archive::{FileSegments, Record, SegmentId, payload_digest, read_record};
use serde_json::Value;

const SAME_PAYLOAD: &str = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest";
const NOT_MODIFIED: &str = "http://netpreserve.org/warc/1.1/revisit/server-not-modified";

/// Pages that the front page leads to.
const PAGES: [&str; 13] = [
    "tagged",
    "dated",
    "plain",
    "changing",
    "edited",
    "missing",
    "gone",
    "moving",
    "copy",
    "double",
    "stubborn",
    "wandering",
    "broken",
];

fn answer(request: &Request) -> Answer {
    let second = request.earlier > 0;
    match request.page.as_str() {
        "a.test/" => {
            let links = PAGES.map(|page| format!("<a href='/{page}'>x</a>")).concat();
            Answer::page(links + "<a href='/secret'>x</a>")
        }
        "a.test/robots.txt" => Answer::status("200 OK").body("User-agent: *\nDisallow: /secret"),
        "a.test/tagged" if request.has("if-none-match: \"v1\"") => {
            Answer::status("304 Not Modified")
        }
        "a.test/tagged" => Answer::page(prose("tagged")).with("ETag: \"v1\""),
        "a.test/dated" if request.has(&format!("if-modified-since: {}", DATE.to_lowercase())) => {
            Answer::status("304 Not Modified")
        }
        "a.test/dated" => Answer::page(prose("dated")).with(&format!("Last-Modified: {DATE}")),
        "a.test/plain" => Answer::page(prose("plain")),
        "a.test/changing" => Answer::page(prose(if second { "after" } else { "before" })),
        "a.test/edited" => Answer::page(prose("edited") + if second { " word" } else { "" }),
        "a.test/missing" if second => Answer::status("404 Not Found"),
        "a.test/gone" if second => Answer::status("410 Gone"),
        "a.test/moving" if second => {
            Answer::status("301 Moved Permanently").with("Location: /arrived")
        }
        // To a page that was known before.
        "a.test/wandering" if second => {
            Answer::status("308 Permanent Redirect").with("Location: /broken")
        }
        "a.test/broken" if request.earlier == 1 => Answer::status("500 Internal Server Error"),
        "a.test/copy" | "a.test/double" => Answer::page(prose("twin")),
        // Says that it changed, and did not.
        "a.test/stubborn" => {
            Answer::page(prose("stubborn")).with(&format!("ETag: \"{}\"", request.earlier))
        }
        "a.test/missing" | "a.test/gone" | "a.test/moving" | "a.test/arrived"
        | "a.test/wandering" | "a.test/broken" => Answer::page(prose(&request.page)),
        "busy.test/" if !second => Answer::status("503 Service Unavailable").with("Retry-After: 2"),
        "busy.test/" => Answer::page("<a href='/calm'>at last</a>"),
        "busy.test/calm" => Answer::page(prose("calm")),
        // Not the words of the page that goes missing: the same words would be stored once.
        _ => Answer::status("404 Not Found").body("there never was such a page"),
    }
}

const DATE: &str = "Sun, 15 Nov 2020 22:16:50 GMT";

/// Words enough for a fingerprint; other words for another topic.
fn prose(topic: &str) -> String {
    let words: Vec<String> = (0..300).map(|n| format!("{topic}{}", n * n % 97)).collect();
    format!("<title>{topic}</title><p>{}</p>", words.join(" "))
}

/// Crawls until every page was asked for twice, those that fail at first thrice, and what moved was
/// found.
fn crawl_twice(site: &Site, place: &Place) {
    let flags = format!("--delay 5ms --recrawl 1s {}", site.flags());
    place.run(&format!("crawl --once http://a.test/ http://busy.test/ {flags}")).expect(0);
    for _ in 0..10 {
        place.run("crawl --for 2s").expect(15);
        let twice = PAGES.iter().all(|page| site.asked(&format!("a.test/{page}")).len() > 1);
        let thrice = ["missing", "broken"];
        let thrice = thrice.iter().all(|page| site.asked(&format!("a.test/{page}")).len() > 2);
        if twice && thrice && !site.asked("a.test/arrived").is_empty() {
            return;
        }
    }
    panic!("known pages are not visited again");
}

#[test]
fn every_fate_of_a_page_is_told() {
    let (site, place) = (Site::serve(answer), Place::new());
    crawl_twice(&site, &place);
    place.run("check --deep").expect(0);
    for (page, outcome, status, change) in [
        ("tagged", "not_modified", 304, "same"),
        ("dated", "not_modified", 304, "same"),
        ("plain", "ok", 200, "same"),
        ("stubborn", "ok", 200, "same"),
        ("changing", "ok", 200, "changed"),
        ("edited", "ok", 200, "near"),
        ("missing", "client_error", 404, "failed"),
        ("gone", "client_error", 410, "gone"),
        ("moving", "redirect", 301, "changed"),
    ] {
        let url = format!("http://a.test/{page}");
        let visits = place.history(&url);
        assert_eq!(told(&visits[0]), ("ok", 200, "new"), "{page}");
        assert_eq!(told(&visits[1]), (outcome, status, change), "{page}");
        let unchanged = visits[0]["digest"] == visits[1]["digest"];
        assert_eq!(unchanged, change == "same", "{page}: digests");
        let [first, second] = [0, 1].map(|n| record(&place, &visits[n]));
        assert_eq!(first.header("WARC-Type"), Some("response"), "{page}");
        for (visit, record) in visits.iter().zip([&first, &second]) {
            is_record_of(visit, &url, record);
        }
        let profile = match (status, change) {
            (304, _) => Some(NOT_MODIFIED),
            (_, "same") => Some(SAME_PAYLOAD),
            _ => None,
        };
        refers_to(&second, profile, &url, visits[0]["time"].as_str().unwrap());
    }
    states(&place);
    turns(&place);
    duplicates(&place);
}

/// What `changes` says of the lives of pages, and how many there are in each state.
fn turns(place: &Place) {
    let log = place.run("changes --states --json").expect(0).json_lines();
    let turns = |page: &str| {
        let url = format!("http://a.test/{page}");
        let of = log.iter().filter(|line| line["url"] == url.as_str() && line["to"].is_string());
        let word = |line: &Value, name: &str| line[name].as_str().unwrap().to_owned();
        let told = of.map(|line| ["from", "to", "reason"].map(|name| word(line, name)).join(" "));
        told.collect::<Vec<_>>()
    };
    assert_eq!(turns("tagged"), ["new live ok"]);
    assert_eq!(turns("gone"), ["new live ok", "live gone client_error"]);
    let missing = ["new live ok", "live failing client_error", "failing gone client_error"];
    assert_eq!(turns("missing"), missing);
    assert_eq!(turns("moving"), ["new live ok", "live moved redirect"]);
    let broken = ["new live ok", "live failing server_error", "failing live ok"];
    assert_eq!(turns("broken"), broken);
    assert_eq!(turns("secret"), ["new refused robots"]);
    assert!(place.run("changes --json").expect(0).json_lines().len() < log.len());

    // Both ways of going through the log end at the same number, and none is used twice.
    let numbers: Vec<u64> = log.iter().map(|line| line["number"].as_u64().unwrap()).collect();
    assert!(numbers.is_sorted_by(|a, b| a < b));
    let total = &place.run("status --json").expect(0).json()["total"];
    let states = total["pages_by_state"].as_object().unwrap();
    let sum: u64 = states.values().map(|count| count.as_u64().unwrap()).sum();
    assert_eq!(total["pages"].as_u64(), Some(sum), "{states:?}");
    assert_eq!(
        (&states["moved"], &states["gone"], &states["failing"]),
        (&2.into(), &2.into(), &0.into())
    );
    let known = place.urls();
    for (state, count) in states {
        let is = |page: &&Value| match page["state"].as_str().unwrap() {
            "due" | "resting" => state == "live",
            other => other == state,
        };
        assert_eq!(known.iter().filter(is).count() as u64, count.as_u64().unwrap(), "{state}");
    }
}

/// What `urls` says of pages that went away.
fn states(place: &Place) {
    let known = place.urls();
    let page = |name: &str| {
        let url = format!("http://a.test/{name}");
        known.iter().find(|page| page["url"] == url.as_str()).unwrap()
    };
    // One 404 may be a slip; the second in a row is believed.
    let missing = place.history("http://a.test/missing");
    assert_eq!(told(&missing[2]), ("client_error", 404, "gone"));
    assert_eq!(page("missing")["state"], "gone");
    assert_eq!(page("gone")["state"], "gone");
    assert_eq!(page("moving")["reason"], "redirect");
    assert_eq!(page("arrived")["via"], "http://a.test/moving");
    assert_eq!(page("arrived")["status"], 200);
    let joined = place.history("http://a.test/broken");
    let wandering = |visit: &&Value| visit["url"] == "http://a.test/wandering";
    assert!(joined.iter().filter(wandering).count() >= 2, "its history goes with it");
    let why = place.run("why http://a.test/broken").expect(0).out;
    assert!(
        why.contains("formerly     http://a.test/wandering, which moved here permanently"),
        "{why}"
    );
    assert_ne!(page("changing")["last_change"], Value::Null);
    assert_eq!(page("tagged")["last_change"], Value::Null);
}

/// Of two pages with the same bytes one is stored, and the other refers to it.
fn duplicates(place: &Place) {
    let visits =
        ["copy", "double"].map(|page| place.history(&format!("http://a.test/{page}")).remove(0));
    let records = visits.each_ref().map(|visit| record(place, visit));
    assert_eq!(visits[0]["digest"], visits[1]["digest"]);
    let is_first = |record: &Record| record.header("WARC-Type") == Some("response");
    let stored = records.iter().position(is_first).unwrap();
    let (first, second) = (&records[stored], &records[1 - stored]);
    assert_eq!(first.payload(), prose("twin").as_bytes());
    let (uri, date) =
        (first.header("WARC-Target-URI").unwrap(), first.header("WARC-Date").unwrap());
    refers_to(second, Some(SAME_PAYLOAD), uri, date);
}

#[test]
fn a_host_that_asks_for_a_pause_gets_it() {
    let (site, place) = (Site::serve(answer), Place::new());
    let flags = format!("--delay 5ms {}", site.flags());
    place.run(&format!("crawl --once http://busy.test/ {flags}")).expect(0);
    let visits = place.history("http://busy.test/");
    assert_eq!(
        visits.iter().map(told).collect::<Vec<_>>(),
        [("server_error", 503, "failed"), ("ok", 200, "new")]
    );
    let refused = record(&place, &visits[0]);
    assert!(refused.http_head().starts_with(b"HTTP/1.1 503"), "the refusal is archived too");
    let asked = site.asked("busy.test/");
    assert!(asked[1] - asked[0] + NOISE >= Duration::from_secs(2), "{:?}", asked[1] - asked[0]);
    assert_eq!(told(&place.history("http://busy.test/calm")[0]), ("ok", 200, "new"));
}

fn told(visit: &Value) -> (&str, u64, &str) {
    let word = |name: &str| visit[name].as_str().unwrap_or_default();
    (word("outcome"), visit["status"].as_u64().unwrap_or(0), word("change"))
}

/// The record that `history` says a visit has.
fn record(place: &Place, visit: &Value) -> Record {
    let segments = FileSegments::new(place.data().join("archive"));
    let warc = SegmentId::sealed(visit["warc"].as_str().unwrap());
    let length = u32::try_from(visit["length"].as_u64().unwrap()).unwrap();
    read_record(&segments, &warc, visit["offset"].as_u64().unwrap(), length, 1 << 24).unwrap()
}

/// Visit and record tell the same.
fn is_record_of(visit: &Value, url: &str, record: &Record) {
    assert_eq!(record.header("WARC-Target-URI"), Some(url));
    assert_eq!(record.header("WARC-Date"), visit["time"].as_str(), "{url}");
    assert_eq!(record.header("WARC-Payload-Digest"), visit["digest"].as_str(), "{url}");
    let status = format!("HTTP/1.1 {}", visit["status"]);
    assert!(record.http_head().starts_with(status.as_bytes()), "{url}");
    if record.header("WARC-Type") == Some("response") {
        assert_eq!(record.payload().len() as u64, visit["bytes"].as_u64().unwrap(), "{url}");
        evercrawl_archive::verify(record).unwrap();
        let digest = evercrawl_compare::Digest::from_bytes(payload_digest(record.payload()));
        assert_eq!(visit["digest"], format!("sha1:{digest}"), "{url}");
    }
}

/// A record is a revisit of this profile, of the record of `uri` from `date`; or none at all.
fn refers_to(record: &Record, profile: Option<&str>, uri: &str, date: &str) {
    let kind = if profile.is_some() { "revisit" } else { "response" };
    assert_eq!(record.header("WARC-Type"), Some(kind), "{uri}");
    assert_eq!(record.header("WARC-Profile"), profile, "{uri}");
    let (uri, date) = (profile.map(|_| uri), profile.map(|_| date));
    assert_eq!(record.header("WARC-Refers-To-Target-URI"), uri);
    assert_eq!(record.header("WARC-Refers-To-Date"), date);
    assert!(profile.is_none() || record.payload().is_empty(), "a second copy");
}
