//! Does a crawl say what failed, on which host and why; what changed, and what it left out; and how often pages
//! change?
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a failing test panics; how long a run takes is tested"
)]

use std::fs;
use std::net::TcpListener;
use std::time::Duration;

use crate::common::site::{Answer, Request, Site};
use crate::common::{Place, wait_until};
use rustix::process::Signal;
use serde_json::Value;

/// A port at which nobody listens.
fn closed_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// A name server to which no name exists; gives its address.
fn names_nothing() -> String {
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        let mut query = [0; 1500];
        while let Ok((length, from)) = socket.recv_from(&mut query) {
            let mut answer = query[..length].to_vec();
            // An answer that recursion was used for, and the code for "no such name".
            (answer[2], answer[3]) = (0x81, 0x83);
            // Only the question is repeated.
            answer[6..12].fill(0);
            let end = 12 + answer[12..].iter().position(|byte| *byte == 0).unwrap_or(0) + 5;
            answer.truncate(end);
            let _ = socket.send_to(&answer, from);
        }
    });
    address
}

#[test]
fn a_host_that_does_not_answer_is_named_with_the_cause_and_does_not_hold_up_the_end() {
    let site = Site::serve(|_| Answer::page("<p>here"));
    let place = Place::new();
    let (closed, plain) = (closed_port(), site.address().port());
    // Nothing listens there; what listens there does not speak TLS; and no such name exists.
    let ways = format!(
        "--connect-to refused.test:80:127.0.0.1:{closed} \
         --connect-to tls.test:443:127.0.0.1:{plain} \
         --connect-to good.test:80:127.0.0.1:{plain}"
    );
    let seeds = "http://refused.test/ https://tls.test/ http://none.invalid/ http://good.test/";
    let crawl = format!(
        "crawl {seeds} --once --delay 1ms --allow-private --contact you@example.org {ways} \
         -s fetch.dns={} --report report.json",
        names_nothing()
    );
    let took = std::time::Instant::now();
    let ran = place.run(&crawl).expect(0);
    assert!(took.elapsed() < Duration::from_secs(60), "{:?}", took.elapsed());
    for words in ["refused.test", "connection refused", "tls.test", "TLS failed", "none.invalid"] {
        assert!(ran.out.contains(words), "{words}: {}", ran.out);
    }
    let report: Value =
        serde_json::from_str(&fs::read_to_string(place.path().join("report.json")).unwrap())
            .unwrap();
    assert_eq!(report["finish_reason"], "done_but_resting");
    let host = |name: &str| {
        let hosts = report["hosts"].as_array().unwrap();
        hosts.iter().find(|host| host["host"] == name).cloned().unwrap()
    };
    assert_eq!(host("refused.test")["silent"], "connect");
    assert_eq!(host("tls.test")["silent"], "tls");
    assert_eq!(host("none.invalid")["silent"], "dns");
    assert_eq!(host("good.test")["silent"], Value::Null);
    assert!(report["failures"]["dns"].as_u64() >= Some(2), "{report}");
    for (url, cause) in [
        ("http://refused.test/", "connect"),
        ("https://tls.test/", "tls"),
        ("http://none.invalid/", "dns"),
    ] {
        let page = place.urls().into_iter().find(|page| page["url"] == url).unwrap();
        assert_eq!(page["cause"], cause, "{page}");
        let by_cause = place.run(&format!("urls --reason {cause}")).expect(0).out;
        assert!(by_cause.contains(url) && by_cause.contains(cause), "{by_cause}");
    }
}

#[test]
fn a_domain_whose_https_fails_is_crawled_by_http_without_a_pause() {
    let site = Site::serve(|request| match request.page.as_str() {
        // Links by the scheme that fails, too.
        "bare.test/" => Answer::page(
            (0..6)
                .map(|n| format!("<a href=/{n}>x</a><a href=https://bare.test/s{n}>x</a>"))
                .collect::<String>(),
        ),
        page if page.ends_with("robots.txt") => Answer::status("404 Not Found"),
        _ => Answer::page("<p>here"),
    });
    let place = Place::new();
    let closed = closed_port();
    let plain = site.address().port();
    let ways = format!(
        "--connect-to bare.test:443:127.0.0.1:{closed} --connect-to bare.test:80:127.0.0.1:{plain}"
    );
    let began = std::time::Instant::now();
    let flags = "--once --delay 1ms --allow-private --contact you@example.org --max-time 60s";
    place.run(&format!("crawl bare.test {flags} {ways}")).expect(0);
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    for n in 0..6 {
        assert_eq!(site.asked(&format!("bare.test/{n}")).len(), 1, "page {n}");
    }
    let pages = place.urls();
    let secure = pages.iter().find(|page| page["url"] == "https://bare.test/s1").unwrap();
    assert_eq!((&secure["reason"], &secure["cause"]), (&"host_dead".into(), &"connect".into()));
}

#[test]
fn pages_by_the_scheme_that_answers_do_not_wait_for_those_by_the_other() {
    let site = Site::serve(|request| match request.page.as_str() {
        page if page.ends_with("robots.txt") => Answer::status("404 Not Found"),
        _ => Answer::page("<p>here"),
    });
    let place = Place::new();
    let (closed, plain) = (closed_port(), site.address().port());
    let ways =
        format!("--connect-to both.test:443:127.0.0.1:{closed} --connect-to :80:127.0.0.1:{plain}");
    // The scheme that fails comes first.
    let seeds = "https://both.test/1 https://both.test/2 http://both.test/3 http://both.test/4";
    let flags = "--once --delay 1ms --allow-private --contact you@example.org --max-time 60s";
    let ran = place.run(&format!("crawl {seeds} {flags} {ways}")).expect(0);
    for n in [3, 4] {
        assert_eq!(site.asked(&format!("both.test/{n}")).len(), 1, "{}", ran.out);
    }
    let pages = place.urls();
    let secure = pages.iter().find(|page| page["url"] == "https://both.test/1").unwrap();
    assert_eq!((&secure["reason"], &secure["cause"]), (&"host_dead".into(), &"connect".into()));
}

#[test]
fn a_host_that_answered_is_not_given_up_for_two_pages_that_it_cuts_off() {
    let site = Site::serve_bytes(|request| match request.page.as_str() {
        "a.test/cut1" | "a.test/cut2" if request.earlier == 0 => b"HTTP/1.1 20".to_vec(),
        _ => b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhere".to_vec(),
    });
    let place = Place::new();
    let seeds = "http://a.test/1 http://a.test/cut1 http://a.test/cut2 http://a.test/2";
    let flags = "--once --delay 1ms --scope page --contact you@example.org";
    let ran = place.run(&format!("crawl {seeds} {flags} {}", site.flags())).expect(0);
    assert!(ran.out.contains("every known page was visited"), "{}", ran.out);
    for page in ["1", "2", "cut1", "cut2"] {
        assert!(!site.asked(&format!("a.test/{page}")).is_empty(), "{page}: {}", ran.out);
    }
}

#[test]
fn a_page_that_stays_gone_is_told_of_once() {
    let site = Site::serve(|request| match (request.page.as_str(), request.earlier) {
        ("a.test/goes", 0) => Answer::page("<p>It was here for a while."),
        ("a.test/goes", 1 | 3..) => Answer::status("410 Gone"),
        // Nothing is learned of it in between.
        ("a.test/goes", _) => Answer::status("500 Broken"),
        _ => Answer::status("404 Not Found"),
    });
    let place = Place::new();
    let pace = "--revisit-every 20ms -s schedule.min_interval=10ms --delay 1ms";
    let crawl = place.start(&format!("crawl http://a.test/goes {pace} --quiet {}", site.flags()));
    crate::common::wait_until("rechecks", || site.asked("a.test/goes").len() > 4);
    crawl.signal(Signal::INT);
    crawl.wait().expect(11);
    let gone = |flags: &str| {
        let lines = place.run(&format!("changes --json {flags}")).expect(0).json_lines();
        lines.iter().filter(|line| line["change"] == "gone").count()
    };
    assert_eq!(gone(""), 1);
    assert!(gone("--all") > 1);
    // Its states are told all the same, and that nothing is new about it.
    let lines = place.run("changes --json --states").expect(0).json_lines();
    let told: Vec<_> = lines.iter().filter(|line| line["change"] == "gone").collect();
    assert_eq!((&told[0]["from"], &told[0]["again"]), (&"live".into(), &false.into()));
    assert!(told.len() > 1 && told[1..].iter().all(|line| line["again"] == true), "{told:?}");
}

/// A page with a clock, one that moved, a feed, and one that goes.
fn varied(request: &Request) -> Answer {
    let n = request.earlier;
    match request.page.split_once('/').unwrap().1 {
        "" => Answer::page(
            "<a href=/clock>c</a><a href=/old>o</a><a href=/goes>g</a>\
             <link rel=alternate type=application/rss+xml href=/feed.xml>",
        ),
        "clock" => Answer::page(format!(
            "<title>Clock</title><p>The words stay.<p>It is 12:{:02} and {} seconds.",
            n % 60,
            n * 7
        )),
        "old" => Answer::status("301 Moved Permanently").with("Location: /new"),
        "new" => Answer::page("<title>New</title><p>Here it is now."),
        "goes" if n > 0 => Answer::status("410 Gone"),
        "goes" => Answer::page("<p>Soon gone."),
        "feed.xml" => Answer::status("200 OK")
            .body(
                "<?xml version='1.0'?><rss version='2.0'><channel><title>f</title></channel></rss>",
            )
            .with("Content-Type: application/rss+xml; charset=utf-8"),
        _ => Answer::status("404 Not Found"),
    }
}

fn watched(more: &str, page: &str, visits: usize) -> (Site, Place) {
    let (site, place) = (Site::serve(varied), Place::new());
    let found = site.flags_with_second_looks();
    let flags = format!("--delay 1ms --revisit-every 150ms --quiet {more} {found}");
    let crawl = place.start(&format!("crawl http://a.test/ --tag shop {flags}"));
    wait_until("visits", || site.asked(page).len() > visits);
    crawl.signal(rustix::process::Signal::INT);
    crawl.wait().expect(11);
    (site, place)
}

#[test]
fn changes_tell_what_a_page_is_where_it_leads_and_what_was_masked() {
    let (_site, place) = watched("", "a.test/clock", 8);
    let ran = place.run("changes --json").expect(0);
    let lines = ran.json_lines();
    let of = |url: &str, change: &str| {
        let is = |line: &&Value| line["url"] == url && line["change"] == change;
        lines.iter().find(is).cloned().unwrap_or_else(|| panic!("{url} {change}: {}", ran.out))
    };
    let old = of("http://a.test/old", "new");
    assert_eq!(
        (&old["target"], &old["outcome"]),
        (&"http://a.test/new".into(), &"redirect".into())
    );
    let feed = of("http://a.test/feed.xml", "new");
    assert_eq!(
        (&feed["kind"], &feed["content_type"]),
        (&"feed".into(), &"application/rss+xml".into())
    );
    let new = of("http://a.test/new", "new");
    assert_eq!((&new["kind"], &new["content_type"]), (&"page".into(), &"text/html".into()));
    assert_eq!(new["target"], Value::Null);
    of("http://a.test/goes", "gone");
    let note: Value = serde_json::from_str(ran.err.lines().last().unwrap()).unwrap();
    let masked = note["note"]["masked_visits"].as_u64().unwrap();
    assert!(masked > 0, "{note}");
    let text = place.run("changes").expect(0);
    assert!(text.err.contains(&format!("{masked} visits found nothing but noise")), "{}", text.err);
    assert!(text.out.contains("(moved to http://a.test/new)"), "{}", text.out);
    let with_noise = place.run("changes --noise --json").expect(0);
    let noise = with_noise.json_lines().into_iter().filter(|line| line["noise_only"] == true);
    assert_eq!(noise.count() as u64, masked);
    assert!(with_noise.err.is_empty(), "{}", with_noise.err);

    let diff = place.run("diff http://a.test/clock --from 2020-01-01").code;
    assert_eq!(diff, Some(1), "there was no version then");
    let since = place.history("http://a.test/clock")[2]["time"].as_str().unwrap().to_owned();
    let masked = place.run(&format!("diff http://a.test/clock --from {since}")).expect(0).out;
    assert!(masked.contains("ignored as noise (--unmask counts them)"), "{masked}");
    let all = format!("diff http://a.test/clock --from {since} --unmask --json");
    let all = place.run(&all).expect(0).json();
    assert_eq!((&all["same_words"], &all["ignored"]), (&false.into(), &0.into()));
}

#[test]
fn noise_counts_where_the_user_wants_it_by_pattern_or_by_tag() {
    for setting in ["-s compare.noise_off=/clock$", "-s compare.noise_off=tag:shop"] {
        let (_site, place) = watched(setting, "a.test/clock", 8);
        let visits = place.history("http://a.test/clock");
        let same = visits.iter().skip(1).filter(|visit| visit["change"] == "same").count();
        assert_eq!(same, 0, "{setting}: {visits:?}");
    }
    let wrong = Place::new();
    wrong.run("crawl http://a.test/ -s compare.noise_off=[").expect(3).explains(&["noise_off"]);
}

#[test]
fn rates_by_section_are_what_the_lab_estimates_from_the_same_checks() {
    let (_site, place) = watched("", "a.test/clock", 6);
    let rows = place.run("rates --by host --json").expect(0).json_lines();
    assert_eq!(rows.len(), 1, "{rows:?}");
    let host = &rows[0];
    assert_eq!(host["section"], "a.test");
    let number = |row: &Value, name: &str| row[name].as_f64().unwrap();
    assert!(number(host, "low") <= number(host, "rate"));
    assert!(number(host, "rate") <= host["high"].as_f64().unwrap());
    let by_tag = place.run("rates --by tag --json").expect(0).json_lines();
    assert!(by_tag.iter().any(|row| row["section"] == "shop"), "{by_tag:?}");
    assert!(place.run("rates --by dir").expect(0).out.contains("http://a.test/"));

    let checks = place.run("rates --by host --checks").expect(0).out;
    place.write("checks.csv", &checks);
    let lab = place.run("lab estimate --history checks.csv --json").expect(0).json();
    let page = &lab["pages"][0];
    assert_eq!(page["page"], "a.test");
    assert_eq!((&page["checks"], &page["changes"]), (&host["checks"], &host["changes"]));
    for (ours, theirs) in [("rate", "rate"), ("low", "low"), ("high", "high")] {
        let (ours, theirs) = (number(host, ours), number(&page["estimates"]["mle"], theirs));
        assert!((ours - theirs).abs() <= 1e-9 * theirs, "{ours} {theirs}");
    }
    let csv = place.run("rates --by host --csv").expect(0).out;
    place.write("pages.csv", &csv);
    let lab = "lab allocate --pages pages.csv --budget 2 --objective freshness --json";
    assert!(place.run(lab).expect(0).json()["frequency"][0].as_f64().is_some());
}

#[test]
fn an_archive_has_all_that_its_pages_show_from_any_host() {
    let site = Site::serve(|request| match request.page.as_str() {
        "a.test/" => Answer::page(
            "<img src=http://cdn.test/i.png><a href=http://cdn.test/page>away</a>\
             <a href=/paper.pdf>paper</a><iframe src=http://cdn.test/frame></iframe>",
        ),
        "cdn.test/i.png" => Answer::status("302 Found").with("Location: http://img.test/1"),
        "img.test/1" => Answer::status("200 OK").body("PNG").with("Content-Type: image/png"),
        "cdn.test/frame" => Answer::page(
            "<img src=/in-frame.png><a href=/page>away</a><iframe src=http://img.test/deeper>",
        ),
        "a.test/paper.pdf" => {
            Answer::status("200 OK").body("%PDF-1.4").with("Content-Type: application/pdf")
        }
        _ => Answer::status("404 Not Found"),
    });
    let place = Place::new();
    let crawl = format!("crawl http://a.test/ --once --archive --delay 1ms {}", site.flags());
    place.run(&crawl).expect(0);
    assert_eq!(site.asked("cdn.test/i.png").len(), 1);
    assert_eq!(site.asked("a.test/paper.pdf").len(), 1);
    assert_eq!(site.asked("img.test/1").len(), 1, "where a requisite is now");
    assert_eq!(site.asked("cdn.test/frame").len(), 1);
    assert_eq!(site.asked("cdn.test/in-frame.png").len(), 1, "a frame has requisites, too");
    assert_eq!(site.asked("img.test/deeper").len(), 0, "frames of frames are no end");
    assert_eq!(site.asked("cdn.test/page").len(), 0, "a link to another host is no requisite");
    let shown = place.run("config show").expect(0).out;
    assert!(shown.contains("64MiB") && shown.contains("crawl.preset"), "{shown}");
    let own = place.run("config show -s limits.body=1MB").expect(0).out;
    assert!(own.contains("1MB"), "what the user set wins: {own}");
}

#[test]
fn a_report_is_one_file_without_scripts_and_says_the_same_as_its_json() {
    let (_site, place) = watched("", "a.test/clock", 6);
    let json = place.run("report --html report.html --json").expect(0).json();
    let visits = json["status"]["total"]["visits"].as_u64().unwrap();
    assert!(visits >= 6, "{json}");
    assert_eq!(json["tally"]["visits"], visits);
    assert!(!json["trend"]["points"].as_array().unwrap().is_empty(), "{json}");
    let html = fs::read_to_string(place.path().join("report.html")).unwrap();
    for part in
        ["<!DOCTYPE html>", "Freshness over time", "Calibration of the estimates", "a.test", "<svg"]
    {
        assert!(html.contains(part), "no {part}");
    }
    for foreign in ["<script", "src=", "@import", "<link", "style=\""] {
        assert!(!html.contains(foreign), "{foreign} in the report");
    }
    place.run("report").expect(2);
    place.run("report --html missing/folder/report.html").expect(1).explains(&["cannot write"]);
}
