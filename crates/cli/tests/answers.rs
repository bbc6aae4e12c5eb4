//! What does a crawl make of answers that are cut off, lie or are no HTTP? It believes only what arrived whole.
#![allow(clippy::unwrap_used, reason = "a failing test panics")]

use crate::common::site::Site;
use crate::common::tools::records;
use crate::common::{Place, wait_until};
use rustix::process::Signal;
use serde_json::Value;

const FLAGS: &str = "--delay 2ms --quiet --contact a@example.org";

/// A whole answer with a page.
fn page(body: &str) -> Vec<u8> {
    answer("Content-Type: text/html\r\n", body)
}

fn answer(headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 200 OK\r\n{headers}Content-Length: {length}\r\n\r\n{body}").into_bytes()
}

fn missing() -> Vec<u8> {
    b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_vec()
}

/// An answer that promises more than it has.
fn stump(body: &str) -> Vec<u8> {
    let head =
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nETag: \"cut\"\r\nContent-Length: 5000";
    format!("{head}\r\n\r\n{body}").into_bytes()
}

/// What a crawl that ends by itself says of the page `http://a.test/page`, which answers so.
fn crawled_once(bytes: &'static [u8]) -> (Place, Value) {
    let site = Site::serve_bytes(move |request| match request.page.as_str() {
        "a.test/page" => bytes.to_vec(),
        _ => missing(),
    });
    let place = Place::new();
    place.run(&format!(
        "crawl --new-only --max-time 3s http://a.test/page {FLAGS} {}",
        site.flags()
    ));
    place.run("check --deep").expect(0);
    let urls = place.urls();
    let page = urls.into_iter().find(|page| page["url"] == "http://a.test/page").unwrap();
    (place, page)
}

type FirstAnswer = (&'static [u8], Option<&'static str>, Option<&'static str>, bool);

/// Answers to the first request for a page, and what is said of them: reason, cause, whether a cut copy is held.
const ANSWERS: &[FirstAnswer] = &[
    (b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody", None, None, false),
    (b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody and more", None, None, false),
    (b"HTTP/1.0 200 OK\r\n\r\nbody", None, None, false),
    (
        b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n",
        None,
        None,
        false,
    ),
    (b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\nplain text", None, None, false),
    (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nbody", Some("cut"), Some("cut_short"), true),
    (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n",
        Some("cut"),
        Some("cut_short"),
        true,
    ),
    (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\nxyz\r\n",
        Some("cut"),
        Some("cut_chunk"),
        true,
    ),
    (
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 10\r\n\r\n\x1f\x8b\x08\0\0\0\0\0\0\xff",
        Some("cut"),
        Some("cut_coding"),
        true,
    ),
    (
        b"HTTP/1.1 206 Partial\r\nContent-Range: bytes 0-3/9\r\nContent-Length: 4\r\n\r\nbody",
        Some("cut"),
        Some("cut_partial"),
        true,
    ),
    (b"HTTP/1.1 304 Not Modified\r\n\r\n", Some("protocol"), Some("unasked_304"), false),
    (b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n", Some("protocol"), Some("bad_status"), false),
    (b"HTTP/1.1 666 No\r\nContent-Length: 2\r\n\r\nno", Some("protocol"), Some("bad_status"), false),
    (b"HTTP/1.1 099 No\r\n\r\n", Some("protocol"), Some("bad_status"), false),
    (b"HTTP/1.1 1000 No\r\n\r\n", Some("protocol"), Some("bad_status"), false),
    (b"HTTP/1.2 200 OK\r\nContent-Length: 4\r\n\r\nbody", None, None, false),
    (b"HTTP/2 200 OK\r\nContent-Length: 4\r\n\r\nbody", Some("protocol"), Some("not_http"), false),
    (b"HTTP/0.9 200 OK\r\n\r\nbody", Some("protocol"), Some("not_http"), false),
    (b"SSH-2.0-OpenSSH_9.9\r\n", Some("protocol"), Some("not_http"), false),
    (b"<html>no head</html>", Some("protocol"), Some("not_http"), false),
    (
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        Some("protocol"),
        Some("bad_head"),
        false,
    ),
    (b"HTTP/1.1 200 OK\r\nContent-Le", Some("disconnected"), Some("disconnected"), false),
    (b"", Some("disconnected"), Some("disconnected"), false),
];

#[test]
fn every_first_answer_has_the_right_name() {
    for (bytes, reason, cause, cut) in ANSWERS {
        let shown = bytes.escape_ascii();
        let (place, page) = crawled_once(bytes);
        assert_eq!(page["reason"].as_str(), *reason, "{shown}");
        assert_eq!(page["cause"].as_str(), *cause, "{shown}");
        assert_eq!(page["cut"].as_bool(), Some(*cut), "{shown}");
        assert_eq!(page["digest"].is_string(), reason.is_none() || *cut, "{shown}");
        let history = place.history("http://a.test/page");
        let visit = history.last().unwrap();
        assert_eq!(visit["cause"].as_str(), *cause, "{shown}");
        assert_eq!(visit["outcome"].as_str(), Some(reason.unwrap_or("ok")), "{shown}");
        let change = if reason.is_none() { "new" } else { "failed" };
        assert_eq!(visit["change"].as_str(), Some(change), "{shown}");
        // What answered with a status is archived as what it is.
        assert_eq!(visit["warc"].is_string(), visit["status"].is_number(), "{shown}");
        let why = place.run("why http://a.test/page --json").expect(0).json_lines();
        let said = why[0].to_string();
        assert!(cause.is_none_or(|cause| said.contains(cause)), "{shown}: {said}");
    }
}

#[test]
fn what_is_held_stays_while_answers_are_cut_and_gives_way_to_what_is_whole() {
    const OLD: &str =
        "<p>The old page says what it always said, from the first word to the last one.</p>";
    const NEW: &str =
        "<p>A new page came, and every word of it is another than those that were before.</p>";
    let site = Site::serve_bytes(|request| match (request.page.as_str(), request.earlier) {
        ("a.test/held", 0) => page(OLD),
        ("a.test/held", 1 | 2) => stump("<p>A new page"),
        ("a.test/held", _) => page(NEW),
        ("a.test/late", 0 | 1) => stump("<p>A new page</p><a href=/found>"),
        ("a.test/late", _) => page(NEW),
        ("a.test/found", _) => page(OLD),
        _ => missing(),
    });
    let place = Place::new();
    let pace = "--revisit-every 100ms -s schedule.min_interval=50ms";
    let seeds = "http://a.test/held http://a.test/late";
    let crawl = place.start(&format!("crawl {seeds} {pace} {FLAGS} {}", site.flags()));
    wait_until("six visits", || {
        site.asked("a.test/held").len() > 5 && site.asked("a.test/late").len() > 5
    });
    crawl.signal(Signal::INT);
    crawl.wait().expect(11);
    place.run("check --deep").expect(0);

    let told = |url: &str| -> Vec<(String, String)> {
        let text = |visit: &Value, field: &str| visit[field].as_str().unwrap().to_owned();
        let visits = place.history(url);
        visits.iter().take(5).map(|visit| (text(visit, "outcome"), text(visit, "change"))).collect()
    };
    let pairs =
        |pairs: [(&str, &str); 5]| pairs.map(|(a, b)| (a.to_owned(), b.to_owned())).to_vec();
    let (cut, same) = (("cut", "failed"), ("ok", "same"));
    assert_eq!(
        told("http://a.test/held"),
        pairs([("ok", "new"), cut, cut, ("ok", "changed"), same])
    );
    // The first that is whole is the first there is: nothing changed.
    assert_eq!(told("http://a.test/late"), pairs([cut, cut, ("ok", "new"), same, same]));
    let pages = place.urls();
    let late = pages.iter().find(|page| page["url"] == "http://a.test/late").unwrap();
    assert_eq!((&late["cut"], &late["changes"]), (&Value::from(false), &Value::from(0)));
    assert!(pages.iter().any(|page| page["url"] == "http://a.test/found"), "links of a cut copy");

    // No version that was cut is compared with one that is whole.
    let diff = place.run("diff http://a.test/held --json").expect(0).json_lines();
    assert!(diff[0]["from"].get("cut").is_none() && diff[0]["to"].get("cut").is_none());
    let warcs = place.archive_files(".warc.gz");
    let cut = warcs.iter().flat_map(|warc| records(warc)).filter(|scanned| {
        let header = |name| scanned.record.header(name);
        header("WARC-Truncated") == Some("disconnect") && header("WARC-Type") == Some("response")
    });
    assert_eq!(cut.count(), 4);
    let indexes = place.archive_files(".cdxj");
    let lines: String = indexes.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
    assert_eq!(lines.matches("\"truncated\":\"disconnect\"").count(), 4);
}

#[test]
fn a_cut_answer_brings_no_validators() {
    let site = Site::serve_bytes(|request| match (request.page.as_str(), request.earlier) {
        ("a.test/page", 0) => stump("<p>Half"),
        ("a.test/page", _) if request.headers.iter().any(|line| line.starts_with("if-")) => {
            b"HTTP/1.1 304 Not Modified\r\n\r\n".to_vec()
        }
        ("a.test/page", _) => page("<p>Whole"),
        _ => missing(),
    });
    let place = Place::new();
    place.run(&format!("crawl --new-only http://a.test/page {FLAGS} {}", site.flags())).expect(0);
    let outcomes: Vec<_> = place
        .history("http://a.test/page")
        .iter()
        .map(|visit| visit["outcome"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(outcomes, ["cut", "ok"]);
}

#[test]
fn a_robots_txt_that_did_not_arrive_whole_allows_nothing() {
    for robots in [
        &b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\nUser-agent: *\nAllow: /\n"[..],
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nUse\r\nr-agent\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nUse\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\n\x1f\x8b\x08\0",
        b"HTTP/1.1 206 Partial\r\nContent-Range: bytes 0-3/9\r\nContent-Length: 4\r\n\r\nUser",
        b"HTTP/1.1 304 Not Modified\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        b"SSH-2.0-OpenSSH_9.9\r\n",
        b"ICY 200 OK\r\n\r\nUser-agent: *\nAllow: /\n",
        b"User-agent: *\nAllow: /\n",
        b"HTTP/1.1 200 OK\r\nConte",
        b"",
    ] {
        let shown = robots.escape_ascii();
        let site = Site::serve_bytes(move |request| match request.page.as_str() {
            "a.test/robots.txt" => robots.to_vec(),
            _ => page("<p>A page."),
        });
        let place = Place::new();
        place.run(&format!("crawl --max-time 2s http://a.test/ {FLAGS} {}", site.flags()));
        assert!(site.asked("a.test/").is_empty(), "{shown}: a page was asked for");
        assert!(!site.asked("a.test/robots.txt").is_empty(), "{shown}");
        assert_eq!(place.urls()[0]["reason"], "robots_unreachable", "{shown}");
        place.run(&format!("robots http://a.test/ {}", site.flags())).expect(1);
    }
}

#[test]
fn a_redirect_and_an_error_count_though_their_bodies_are_cut() {
    let site = Site::serve_bytes(|request| match request.page.as_str() {
        "a.test/moved" => {
            b"HTTP/1.1 302 Found\r\nLocation: /caf\xe9\r\nContent-Length: 99\r\n\r\nhalf".to_vec()
        }
        "a.test/gone" => b"HTTP/1.1 410 Gone\r\nContent-Length: 99\r\n\r\nhalf".to_vec(),
        "a.test/caf%E9" => page("<p>Coffee."),
        _ => missing(),
    });
    let place = Place::new();
    let seeds = "http://a.test/moved http://a.test/gone";
    place.run(&format!("crawl --new-only {seeds} {FLAGS} {}", site.flags())).expect(0);
    let pages = place.urls();
    let of = |url: &str| pages.iter().find(|page| page["url"] == url).unwrap();
    assert_eq!(of("http://a.test/moved")["reason"], "redirect");
    assert_eq!(of("http://a.test/moved")["cause"], "cut_short");
    assert_eq!(of("http://a.test/gone")["state"], "gone");
    assert_eq!(of("http://a.test/caf%E9")["status"], 200);
    let fetched = place.run(&format!("fetch --json http://a.test/moved {}", site.flags()));
    assert_eq!(fetched.expect(0).json_lines()[0]["url"], "http://a.test/caf%E9");
}

#[test]
fn a_refresh_header_leads_on_and_a_text_sitemap_is_read() {
    let site = Site::serve_bytes(|request| match request.page.as_str() {
        "a.test/robots.txt" => answer(
            "Content-Type: text/plain\r\n",
            "User-agent: *\nAllow: /\nSitemap: http://a.test/map.txt\n",
        ),
        "a.test/map.txt" => {
            answer("Content-Type: text/plain\r\n", "http://a.test/one\r\nhttp://a.test/two\n")
        }
        "a.test/one" => {
            answer("Content-Type: text/plain\r\nRefresh: 5; url='/next?a=b'\r\n", "One moment.")
        }
        "a.test/list.txt" => answer("Content-Type: text/plain\r\n", "http://a.test/given\n"),
        _ => page("<p>A page."),
    });
    let place = Place::new();
    let seeds = "http://a.test/ http://a.test/list.txt";
    place.run(&format!("crawl --new-only {seeds} {FLAGS} {}", site.flags())).expect(0);
    for path in ["one", "two", "next?a=b", "given"] {
        assert_eq!(site.asked(&format!("a.test/{path}")).len(), 1, "{path}");
    }
    let pages = place.urls();
    let of = |url: &str| pages.iter().find(|page| page["url"] == url).unwrap();
    assert_eq!(of("http://a.test/map.txt")["kind"], "sitemap");
    assert_eq!(of("http://a.test/list.txt")["kind"], "sitemap");
}

#[test]
fn fetch_says_what_is_wrong_with_an_answer() {
    let site = Site::serve_bytes(|request| match request.page.as_str() {
        "a.test/cut" => stump("<p>Half"),
        "a.test/304" => b"HTTP/1.1 304 Not Modified\r\n\r\n".to_vec(),
        "a.test/ssh" => b"SSH-2.0-OpenSSH_9.9\r\n".to_vec(),
        "a.test/refresh" => answer("Refresh: 5; url=/caf\u{e9}\r\n", "One moment."),
        _ => page("<p>Whole"),
    });
    let place = Place::new();
    let failed = place.run(&format!("fetch --json http://a.test/ssh {}", site.flags())).expect(5);
    let error: Value = serde_json::from_str(&failed.err).unwrap();
    assert_eq!(
        (&error["error"]["cause"], &error["error"]["code"]),
        (&"not_http".into(), &"unreachable".into())
    );
    let led = place.run(&format!("fetch --json http://a.test/refresh {}", site.flags())).expect(0);
    let link = serde_json::json!({ "url": "http://a.test/caf%C3%A9", "kind": "refresh", "place": "header" });
    assert_eq!(led.json_lines()[0]["link_list"], serde_json::json!([link]));
    for (path, code, outcome, cause) in [
        ("cut", 1, "cut", Some("cut_short")),
        ("304", 1, "protocol", Some("unasked_304")),
        ("whole", 0, "ok", None),
    ] {
        let ran = place.run(&format!("fetch --json http://a.test/{path} {}", site.flags()));
        let ran = ran.expect(code);
        let line = &ran.json_lines()[0];
        assert_eq!((line["outcome"].as_str(), line["cause"].as_str()), (Some(outcome), cause));
        assert_eq!(ran.err.contains(cause.unwrap_or("cut_")), cause.is_some(), "{}", ran.err);
    }
    let ran = place.run(&format!("fetch --body http://a.test/cut {}", site.flags())).expect(1);
    assert_eq!(ran.out, "<p>Half");
}
