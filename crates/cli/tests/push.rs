//! Does somebody's word that a page changed bring the crawl there, and no further than it may go?
#![allow(clippy::unwrap_used, reason = "a failing test panics")]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::common::site::{Answer, Request, Site};
use crate::common::{Place, Running, pause, wait_until};
use rustix::process::Signal;
use serde_json::Value;

/// How soon a push must be heeded.
const SOON: Duration = Duration::from_secs(5);

/// A host of some pages with a feed, each of which says which edition it is.
struct Web {
    site: Site,
    edition: Arc<AtomicU32>,
}

impl Web {
    fn new() -> Self {
        let edition = Arc::new(AtomicU32::new(1));
        let current = edition.clone();
        let site = Site::serve(move |request| answer(request, current.load(Ordering::Relaxed)));
        Web { site, edition }
    }

    /// Every page changes.
    fn edit(&self) {
        self.edition.fetch_add(1, Ordering::Relaxed);
    }

    fn asked(&self, page: &str) -> usize {
        self.site.asked(page).len()
    }
}

fn answer(request: &Request, edition: u32) -> Answer {
    let (_, path) = request.page.split_once('/').unwrap();
    match path {
        "robots.txt" => Answer::status("200 OK").body("User-agent: *\nDisallow: /secret"),
        "feed" => Answer::page("").with("Content-Type: application/rss+xml").body(&format!(
            "<rss><channel><item><link>http://a.test/2</link>\
             <pubDate>Sat, 01 Jan 2022 00:00:00 GMT</pubDate>\
             <title>edition {edition}</title></item></channel></rss>"
        )),
        "gone" if edition == 1 => Answer::status("404 Not Found"),
        "" | "1" | "2" | "gone" => Answer::page(format!(
            "<p>This is edition {edition} of the page at {path}, which has some words. \
             <a href='/1'>one</a> <a href='/2'>two</a> <a href='/gone'>three</a> \
             <a href='/secret'>four</a> <a href='/feed'>five</a>"
        )),
        "unlinked" => Answer::page("<p>nobody leads here"),
        _ => Answer::status("404 Not Found"),
    }
}

/// A crawl that has seen all there is, and would come again in a day.
fn settled(place: &Place, web: &Web, flags: &str) -> Running {
    let flags = format!("--delay 20ms -s schedule.min_interval=1s {flags} {}", web.site.flags());
    let running = place.start(&format!("crawl http://a.test/ --quiet {flags}"));
    let all = ["a.test/", "a.test/1", "a.test/2", "a.test/gone", "a.test/feed"];
    wait_until("all pages to be visited", || all.iter().all(|page| web.asked(page) > 0));
    wait_until("them to be known", || {
        place.run("urls --json").json_lines().iter().filter(|page| page["visits"] == 1).count() >= 5
    });
    // No page is asked for twice within a second.
    pause(Duration::from_millis(1200));
    running
}

fn stop(running: Running) {
    running.signal(Signal::INT);
    running.wait().expect(11);
}

/// Waits until a page was asked for once more, which must be soon.
#[track_caller]
fn comes_again(web: &Web, page: &str, before: usize) {
    let took = crate::common::time_of(|| wait_until("the page", || web.asked(page) > before));
    assert!(took < SOON, "{page} took {took:?}");
}

#[test]
fn a_pushed_page_is_fetched_at_once_though_it_was_not_due() {
    let (web, place) = (Web::new(), Place::new());
    let running = settled(&place, &web, "");
    web.edit();
    let before = web.site.all_asked().len();
    let pushed = place.run("push http://a.test/1 --json").expect(0).json();
    assert_eq!((&pushed["known"], &pushed["new"]), (&1.into(), &0.into()), "{pushed}");
    comes_again(&web, "a.test/1", 1);
    wait_until("the change to be told", || {
        place
            .run("changes --json")
            .expect(0)
            .json_lines()
            .iter()
            .any(|line| line["url"] == "http://a.test/1" && line["change"] == "changed")
    });
    pause(Duration::from_millis(500));
    assert_eq!(web.site.all_asked().len(), before + 1, "nothing else was asked for");

    let said = place.run("push http://a.test/unlinked http://a.test/gone").expect(0);
    assert_eq!(said.out, "1 known, 1 new\n");
    comes_again(&web, "a.test/unlinked", 0);
    comes_again(&web, "a.test/gone", 1);
    let back =
        || place.run("why http://a.test/gone --json").expect(0).json()["page"]["state"].clone();
    wait_until("the page to be back", || back() == "resting");
    stop(running);
    place.run("check --deep").expect(0);
}

#[test]
fn a_page_pushed_to_a_stopped_crawl_comes_first_when_it_goes_on() {
    let (web, place) = (Web::new(), Place::new());
    let running = settled(&place, &web, "--recrawl 1d");
    stop(running);
    web.edit();
    let pushed = place.run("push a.test/2 http://b.test/ --json").expect(0).json();
    assert_eq!(pushed["known"], 1);
    assert_eq!(pushed["refused"]["out_of_scope"], 1, "{pushed}");
    let before = web.site.all_asked().len();
    let again = place.start("crawl --quiet");
    comes_again(&web, "a.test/2", 1);
    pause(Duration::from_millis(500));
    assert_eq!(web.site.all_asked().len(), before + 1);
    stop(again);
}

#[test]
fn lists_come_by_standard_input() {
    let (web, place) = (Web::new(), Place::new());
    let running = settled(&place, &web, "");
    let many: String = (0..3000).map(|n| format!("http://b.test/{n}\n")).collect();
    place.write(
        "list",
        &format!("# changed\n\nhttp://a.test/1\nmailto:x@y.test\n{many} a.test/2 \n"),
    );
    let push = |place: &Place| {
        let mut command = place.command("push - --json");
        command.stdin(Stdio::from(std::fs::File::open(place.path().join("list")).unwrap()));
        place.start_command(command).wait().expect(0).explains(&["mailto:x@y.test"]).json()
    };
    let check = |pushed: Value| {
        assert_eq!(
            [&pushed["given"], &pushed["known"], &pushed["unusable"]],
            [3003, 2, 1],
            "{pushed}"
        );
        assert_eq!(pushed["refused"]["out_of_scope"], 3000, "{pushed}");
    };
    check(push(&place));
    comes_again(&web, "a.test/1", 1);
    comes_again(&web, "a.test/2", 1);
    stop(running);
    check(push(&place));
}

#[test]
fn what_cannot_be_pushed_is_said() {
    let (web, place) = (Web::new(), Place::new());
    place.run("push http://a.test/").expect(4).explains(&["does not exist"]);
    let running = settled(&place, &web, "");
    let table: &[(&str, i32, &str, &[&str])] = &[
        ("push", 2, "", &["nothing to push", "stdin"]),
        ("push -", 2, "", &["nothing to push"]),
        ("push mailto:x@y.test", 2, "0 known, 0 new, 1 invalid\n", &["cannot crawl"]),
        ("push http://", 2, "0 known, 0 new, 1 invalid\n", &["cannot crawl"]),
        ("push http://elsewhere.test/", 1, "0 known, 0 new, 1 refused (out_of_scope)\n", &[]),
        ("push http://a.test/secret", 1, "0 known, 0 new, 1 refused (robots)\n", &[]),
        ("push http://a.test/x.zip", 1, "0 known, 0 new, 1 refused (extension)\n", &[]),
        ("push http://a.test/ ftp://x/", 0, "1 known, 0 new, 1 invalid\n", &["ftp://x/"]),
    ];
    for (verb, code, said, words) in table {
        let ran = place.run(verb).expect(*code).explains(words);
        assert_eq!(ran.out, *said, "{verb}");
    }
    let long = format!("push http://a.test/{}", "x".repeat(10_000));
    place.run(&long).expect(2).explains(&["too long"]);
    stop(running);
    for (verb, code, said, words) in table {
        let ran = place.run(verb).expect(*code).explains(words);
        assert_eq!(ran.out, *said, "{verb}");
    }
    assert_eq!(web.asked("a.test/secret"), 0);
}

/// The doorbell of a running crawl.
struct Bell(String);

impl Bell {
    fn of(running: &Running) -> Self {
        let [_, err] = running.said();
        let rest = err.split_once("accepting pushes at http://").unwrap().1;
        Bell(rest.split('/').next().unwrap().to_owned())
    }

    /// Sends these bytes and returns status and body.
    fn send(&self, bytes: &[u8]) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.0).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        // Whoever is answered early may find the other end closed.
        let _ = stream.write_all(bytes);
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        let status = head.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
        (status, body.to_owned())
    }

    fn get(&self, target: &str) -> (u16, String) {
        self.send(format!("GET {target} HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes())
    }

    fn post(&self, target: &str, headers: &str, body: &str) -> (u16, String) {
        let length = body.len();
        self.send(
            format!("POST {target} HTTP/1.1\r\nHost: x\r\n{headers}Content-Length: {length}\r\n\r\n{body}")
                .as_bytes(),
        )
    }
}

const JSON: &str = "Content-Type: application/json\r\n";

#[test]
fn a_crawl_is_told_over_http_in_three_ways() {
    let (web, place) = (Web::new(), Place::new());
    let running = settled(&place, &web, "--push 127.0.0.1:0");
    let bell = Bell::of(&running);
    web.edit();
    let (status, body) = bell.post("/push", "", "http://a.test/1\n# no\nhttp://b.test/\n");
    assert_eq!(status, 202, "{body}");
    let told: Value = serde_json::from_str(&body).unwrap();
    assert_eq!((&told["known"], &told["refused"]["out_of_scope"]), (&1.into(), &1.into()));
    comes_again(&web, "a.test/1", 1);
    assert_eq!(bell.post("/push", JSON, r#"{"urls": ["http://a.test/2"]}"#).0, 202);
    comes_again(&web, "a.test/2", 1);

    pause(Duration::from_millis(1200));
    web.edit();
    assert_eq!(bell.get("/indexnow?url=http%3A%2F%2Fa.test%2F1&key=0123abcd").0, 202);
    comes_again(&web, "a.test/1", 2);
    let list = r#"{"host": "a.test", "key": "0123abcd", "urlList": ["http://a.test/2"]}"#;
    assert_eq!(bell.post("/indexnow", JSON, list).0, 202);
    comes_again(&web, "a.test/2", 2);

    let asked = |mode: &str, topic: &str| {
        bell.get(&format!("/websub?hub.mode={mode}&hub.topic={topic}&hub.challenge=a%2Bb"))
    };
    assert_eq!(asked("subscribe", "http://a.test/feed"), (200, "a+b".to_owned()));
    for (mode, topic, status) in [
        ("subscribe", "http://a.test/never", 404),
        ("subscribe", "http://a.test/secret", 404),
        ("unsubscribe", "http://a.test/feed", 404),
        ("unsubscribe", "http://a.test/never", 200),
        ("denied", "http://a.test/feed", 200),
        ("dance", "http://a.test/feed", 400),
    ] {
        assert_eq!(asked(mode, topic).0, status, "{mode} {topic}");
    }
    let before = web.asked("a.test/feed");
    let link = "Link: <http://hub.test/>; rel=\"hub\", <http://a.test/feed>; rel=\"self\"\r\n";
    assert_eq!(bell.post("/websub", link, "<rss/>").0, 202);
    comes_again(&web, "a.test/feed", before);
    assert_eq!(bell.post("/websub?topic=http://a.test/none", "", "x").0, 410);
    assert_eq!(bell.post("/websub", "", "x").0, 400);
    stop(running);
}

#[test]
fn who_has_no_right_or_no_sense_is_told_so() {
    let (web, place) = (Web::new(), Place::new());
    let running = settled(&place, &web, "--push 127.0.0.1:0");
    let bell = Bell::of(&running);
    let json = |body: &str| bell.post("/push", JSON, body).0;
    assert_eq!([json("{"), json("[]"), json(r#"{"urls": "x"}"#), json("{\"urls\": []}")], [400; 4]);
    assert_eq!(bell.post("/push", "", "").0, 400);
    assert_eq!(bell.post("/push", "", "mailto:x\n").0, 400);
    assert_eq!(bell.post("/push", "Origin: http://evil.test\r\n", "http://a.test/1").0, 403);
    assert_eq!(bell.get("/push").0, 405);
    assert_eq!(bell.get("/").0, 404);
    assert_eq!(bell.get("/indexnow?url=http://a.test/1").0, 400);
    let list = r#"{"host": "b.test", "key": "k", "urlList": ["http://a.test/1"]}"#;
    assert_eq!(bell.post("/indexnow", JSON, list).0, 422);
    assert_eq!(bell.post("/indexnow", JSON, "{}").0, 400);
    assert_eq!(bell.send(b"POST /push HTTP/1.1\r\n\r\n").0, 411);
    assert_eq!(
        bell.send(b"POST /push HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n").0,
        411
    );
    assert_eq!(bell.send(b"POST /push HTTP/1.1\r\nContent-Length: -1\r\n\r\n").0, 400);
    assert_eq!(bell.send(b"\x16\x03\x01 this is TLS\r\n\r\n").0, 400);
    assert_eq!(bell.send(&[b"GET / HTTP/1.1\r\nX: ", &[b'x'; 20_000][..]].concat()).0, 431);
    assert_eq!(bell.post("/push", "", &"x".repeat(3 << 20)).0, 413);
    assert_eq!(bell.post("/push", "", &"a.test/\n".repeat(10_001)).0, 413);
    let most = "b.test/\n".repeat(10_000);
    assert_eq!([202, 202, 429], [(); 3].map(|()| bell.post("/push", "", &most).0));
    stop(running);
}

#[test]
fn a_token_and_a_secret_are_asked_for() {
    let (web, place) = (Web::new(), Place::new());
    let settings = "[push]\ntoken = \"let-me-in\"\nsecret = \"Jefe\"\n";
    std::fs::create_dir_all(place.data()).unwrap();
    std::fs::write(place.data().join("evercrawl.toml"), settings).unwrap();
    let running = settled(&place, &web, "--push 0.0.0.0:0");
    let bell = Bell(Bell::of(&running).0.replace("0.0.0.0", "127.0.0.1"));
    let body = "http://a.test/1";
    for (headers, target, status) in [
        ("", "/push", 403),
        ("Authorization: Bearer let-me\r\n", "/push", 403),
        ("Authorization: Bearer let-me-in\r\n", "/push", 202),
        ("Origin: http://cms.test\r\n", "/push?token=let-me-in", 202),
        ("", "/push?token=", 403),
    ] {
        assert_eq!(bell.post(target, headers, body).0, status, "{target} {headers}");
    }
    assert_eq!(bell.get("/indexnow?url=http://a.test/1&key=guess").0, 403);
    assert_eq!(bell.get("/indexnow?url=http://a.test/1&key=let-me-in").0, 202);
    let websub = "/websub?token=let-me-in&topic=http://a.test/feed";
    let content = "what do ya want for nothing?";
    let signed = "X-Hub-Signature: sha1=effcdf6ae5eb2fa2d27416d5f184df9c259a7c79\r\n";
    assert_eq!(bell.post(websub, signed, content).0, 202);
    assert_eq!(bell.post(websub, signed, "something else").0, 403);
    assert_eq!(bell.post(websub, "", content).0, 403);
    let remembered = std::fs::read_to_string(place.data().join("remembered.toml")).unwrap();
    assert!(!remembered.contains("let-me-in") && !remembered.contains("push"), "{remembered}");
    stop(running);
}

#[test]
fn a_doorbell_that_cannot_be_is_refused_before_anything_is_done() {
    let (web, place) = (Web::new(), Place::new());
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    for (flags, words) in [
        ("--push 0.0.0.0:0", "set push.token"),
        ("--push [::]:0", "set push.token"),
        ("--push 8090", "is not an address and port"),
        ("--push localhost:8090", "is not an address and port"),
    ] {
        let flags = format!("{flags} {}", web.site.flags());
        place.run(&format!("crawl http://a.test/ {flags}")).expect(3).explains(&[words]);
        assert!(!place.data().exists());
    }
    let taken = format!("crawl http://a.test/ --push {taken} {}", web.site.flags());
    place.run(&taken).expect(1).explains(&["cannot listen on", "use another port"]);
    assert!(!place.data().exists());
    assert!(web.site.all_asked().is_empty());
}
