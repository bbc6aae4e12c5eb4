//! What does a running crawl answer to requests, good and bad, and are they the same views as of a stopped one?
#![allow(clippy::unwrap_used, reason = "a failing test panics")]

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use crate::common::site::{Answer, Site};
use crate::common::{Place, Running, wait_until};
use evercrawl_query as query;
use rustix::process::Signal;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// A site of three pages, and a crawl that has been there.
fn crawling() -> (Site, Place, Running) {
    let site = Site::serve(|request| match request.page.split_once('/').unwrap().1 {
        "" => Answer::page("<title>Front</title><a href=/one>1</a><a href=/two>2</a>"),
        "one" | "two" => Answer::page(format!("<p>{} is here", request.page)),
        _ => Answer::status("404 Not Found"),
    });
    let place = Place::new();
    let flags = format!("--delay 5ms --quiet {}", site.flags());
    let mut crawl = place.start(&format!("crawl http://a.test/ {flags}"));
    crawl.wait_until("the crawl to listen", || socket(&place).exists());
    let visits = |place: &Place| place.run("status --json").json()["total"]["visits"].as_u64();
    crawl.wait_until("three pages", || visits(&place) >= Some(3));
    (site, place, crawl)
}

fn socket(place: &Place) -> PathBuf {
    place.data().join("control.sock")
}

/// All that is answered to some bytes.
fn answers_to(place: &Place, bytes: &[u8]) -> Vec<Value> {
    let mut crawl = UnixStream::connect(socket(place)).unwrap();
    crawl.write_all(bytes).unwrap();
    let lines = BufReader::new(crawl).lines().map(|line| line.unwrap());
    lines.map(|line| serde_json::from_str(&line).unwrap()).collect()
}

fn request(place: &Place, request: &Value) -> Vec<Value> {
    let mut line = json!({"version": 1, "request": request}).to_string();
    line.push('\n');
    answers_to(place, line.as_bytes())
}

/// Fails unless each line of a verb's JSON is this view, whole and without loss.
fn assert_are<T: Serialize + DeserializeOwned>(place: &Place, words: &str) {
    let lines = place.run(words).expect(0).json_lines();
    assert!(!lines.is_empty(), "{words}");
    for line in lines {
        let view: T = serde_json::from_value(line.clone())
            .unwrap_or_else(|error| panic!("{words}: {error} in {line}"));
        assert_eq!(serde_json::to_value(&view).unwrap(), line, "{words}");
    }
}

fn assert_all_are_views(place: &Place) {
    assert_are::<query::Status>(place, "status --json");
    assert_are::<query::PageView>(place, "urls --json");
    assert_are::<query::WhyView>(place, "why http://a.test/one --json");
    assert_are::<query::WhyView>(place, "why http://a.test/never --json");
    assert_are::<query::VisitView>(place, "history http://a.test/one --json");
    assert_are::<query::ChangeView>(place, "changes --all --json");
    assert_are::<query::PlanView>(place, "plan --json");
    assert_are::<query::RankRow>(place, "rank --json");
    assert_are::<query::RetentionPreview>(place, "retain --dry-run --json");
}

#[test]
fn the_json_of_verbs_is_the_views_of_a_running_crawl_and_of_a_stopped_one() {
    let (_site, place, crawl) = crawling();
    assert_all_are_views(&place);
    crawl.signal(Signal::INT);
    crawl.wait().expect(11);
    assert_all_are_views(&place);
}

#[test]
fn a_running_crawl_answers_what_no_verb_asks() {
    let (_site, place, _crawl) = crawling();
    let hosts = request(&place, &json!({"hosts": {}}));
    assert_eq!(hosts[0]["hosts"]["hosts"][0]["host"], "a.test");
    assert_eq!(hosts.last().unwrap(), "end");
    let page = request(&place, &json!({"page": {"url": "a.test/one"}}));
    assert_eq!(page[0]["page"]["url"], "http://a.test/one");
    let part = request(&place, &json!({"pages": {"limit": 1}}));
    assert_eq!(part[0]["pages"]["pages"].as_array().unwrap().len(), 1);
    assert!(part[0]["pages"]["next"].is_string());
    for (name, asked) in [("queue", json!({"queue": {}})), ("freshness", json!("freshness"))] {
        assert!(request(&place, &asked)[0][name].is_object(), "{name}");
    }
    let archive = &request(&place, &json!("archive"))[0]["archive"];
    assert!(archive["files"][0]["open"] == true && archive["bytes"].as_u64() > Some(0));
}

#[test]
fn what_is_not_understood_is_refused_with_a_reason() {
    let (_site, place, crawl) = crawling();
    let failed = |bytes: &[u8]| -> (String, String) {
        let answers = answers_to(&place, bytes);
        let failed = &answers.last().unwrap()["failed"];
        let text = |name: &str| failed[name].as_str().unwrap_or_default().to_owned();
        (text("kind"), text("message"))
    };
    for (bytes, words) in [
        (&b"\xff\xfe\n"[..], "does not understand"),
        (b"[\"evercrawl\", \"urls\"]\n", "does not understand"),
        (b"{\"version\": 7, \"request\": \"status\"}\n", "version 7"),
        (b"{\"version\": 1, \"request\": \"fly\"}\n", "unknown variant `fly`"),
        (b"{\"version\": 1, \"request\": {\"pages\": {\"stat\": 1}}}\n", "unknown field `stat`"),
    ] {
        let (kind, message) = failed(bytes);
        assert!(kind == "protocol" && message.contains(words), "{words}: {kind}: {message}");
    }
    let asks = |request: Value| {
        failed(format!("{}\n", json!({"version": 1, "request": request})).as_bytes())
    };
    assert_eq!(asks(json!({"pages": {"after": "x"}})).0, "bad_request");
    assert_eq!(asks(json!({"plan": {"seconds": -1.0}})).0, "bad_request");
    assert_eq!(asks(json!({"history": {"url": "http://a.test/never"}})).0, "not_known");
    // Half a request, and then no more.
    let mut half = UnixStream::connect(socket(&place)).unwrap();
    half.write_all(b"{\"version\": 1, \"req").unwrap();
    half.shutdown(std::net::Shutdown::Write).unwrap();
    let mut answer = String::new();
    half.read_to_string(&mut answer).unwrap();
    assert!(answer.contains("ends before its line does"), "{answer}");
    crawl.signal(Signal::INT);
    crawl.wait().expect(11);
}

#[test]
fn callers_that_leave_make_room_for_others() {
    let (_site, place, _crawl) = crawling();
    let line = json!({"version": 1, "request": {"changes": {"follow": true}}}).to_string() + "\n";
    // More than are served at a time, one after the other; none waits for anything but changes.
    for _ in 0..3 {
        let followers: Vec<UnixStream> = (0..16)
            .map(|_| {
                let mut follower = UnixStream::connect(socket(&place)).unwrap();
                follower.write_all(line.as_bytes()).unwrap();
                follower
            })
            .collect();
        drop(followers);
        wait_until("room for one more", || place.run("urls").code == Some(0));
    }
    // A caller that takes nothing holds up nobody else.
    let mut lazy = UnixStream::connect(socket(&place)).unwrap();
    lazy.write_all(line.as_bytes()).unwrap();
    place.run("status").expect(0);
}

#[test]
fn an_answer_from_another_version_is_a_clear_error() {
    let place = Place::new();
    place.run("init").expect(0);
    let lock = std::fs::File::options().write(true).open(place.data().join("lock")).unwrap();
    lock.lock().unwrap();
    let listener = std::os::unix::net::UnixListener::bind(socket(&place)).unwrap();
    let old = std::thread::spawn(move || {
        for caller in listener.incoming().take(2) {
            let mut caller = caller.unwrap();
            let mut asked = String::new();
            BufReader::new(caller.try_clone().unwrap()).read_line(&mut asked).unwrap();
            caller.write_all(b"e\x00\x00\x00\x05hello").unwrap();
        }
    });
    for verb in ["urls", "status"] {
        place.run(verb).expect(4).explains(&["is not understood", "same version of Evercrawl"]);
    }
    old.join().unwrap();
}
