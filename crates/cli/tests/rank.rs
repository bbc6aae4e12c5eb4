//! Does a crawl keep who links to whom, and tell which pages matter by it?
#![allow(clippy::unwrap_used, reason = "a failing test panics")]

mod common;

use common::Place;
use common::site::{Answer, Request, Site};
use common::web::Web;
use evercrawl_testweb::Config;
use rustix::process::Signal;
use serde_json::Value;

/// Two hosts of one domain and one of another. `a.one.test/` first links to `/old`, then to `/new`.
fn site() -> Site {
    Site::serve(|request: &Request| {
        let links: &[&str] = match request.page.as_str() {
            "a.one.test/" if request.earlier == 0 => &["/old", "/hub", "/"],
            "a.one.test/" => &["/new", "/hub"],
            "a.one.test/hub" => &["http://b.one.test/", "http://c.two.test/", "/hub#top"],
            "b.one.test/" => &["http://c.two.test/", "http://c.two.test/"],
            "c.two.test/" => &["http://a.one.test/moved"],
            "a.one.test/moved" => {
                return Answer::status("301 Moved Permanently").with("Location: /hub");
            }
            "a.one.test/old" | "a.one.test/new" => &[],
            _ => return Answer::status("404 Not Found"),
        };
        let text = links.iter().map(|to| format!("<a href='{to}'>somewhere</a>"));
        Answer::page(text.collect::<String>() + &format!("<p>{} {}", request.page, request.earlier))
    })
}

const SEEDS: &str = "http://a.one.test/ http://b.one.test/ http://c.two.test/";

fn crawl(place: &Place, site: &Site, more: &str) {
    let words = format!("crawl {SEEDS} --once --delay 0s --quiet {more} {}", site.flags());
    place.run(&words).expect(0);
}

/// The links that a crawl has kept, without their scheme.
fn edges(place: &Place) -> Vec<String> {
    place.run("rank --export edges.csv").expect(0);
    let text = std::fs::read_to_string(place.path().join("edges.csv")).unwrap();
    let mut edges: Vec<String> = text.replace("http://", "").lines().map(str::to_owned).collect();
    assert_eq!(edges.remove(0), "src,dst");
    edges.sort();
    edges
}

fn names(lines: &[Value], key: &str) -> Vec<String> {
    lines.iter().map(|line| line[key].as_str().unwrap().to_owned()).collect()
}

#[test]
fn links_are_kept_as_found_and_replaced_when_a_page_changes() {
    let (site, place) = (site(), Place::new());
    crawl(&place, &site, "--recrawl 1s");
    let rest = [
        "a.one.test/hub,b.one.test/",
        "a.one.test/hub,c.two.test/",
        "a.one.test/moved,a.one.test/hub",
        "b.one.test/,c.two.test/",
        "c.two.test/,a.one.test/moved",
    ];
    let with = |own: &[&'static str]| [own, &rest].concat();
    assert_eq!(edges(&place), with(&["a.one.test/,a.one.test/hub", "a.one.test/,a.one.test/old"]));
    let again = "crawl --for 3s --delay 0s --quiet";
    place.run(&format!("{again} {}", site.flags())).expect(15);
    assert_eq!(edges(&place), with(&["a.one.test/,a.one.test/hub", "a.one.test/,a.one.test/new"]));
}

#[test]
fn every_method_ranks_and_agrees_with_the_exported_links() {
    let (site, place) = (site(), Place::new());
    crawl(&place, &site, "");
    edges(&place);
    for method in ["pagerank", "indegree"] {
        let ours = place.run(&format!("rank --method {method} --json")).expect(0).json_lines();
        let graph = format!("lab graph --edges edges.csv --method {method} --json");
        let theirs = place.run(&graph).expect(0).json();
        for line in &ours {
            let score = theirs["scores"][line["url"].as_str().unwrap()].as_f64().unwrap();
            assert!((line["score"].as_f64().unwrap() - score).abs() < 1e-9, "{line} {score}");
        }
        assert_eq!(ours.len(), 6, "{ours:?}");
    }
    let first = |words: &str, key: &str| {
        let lines = place.run(&format!("rank --json {words}")).expect(0).json_lines();
        names(&lines, key).remove(0)
    };
    assert_eq!(first("", "url"), "http://c.two.test/");
    let opic = place.run("rank --method opic --json").expect(0).json_lines();
    let sum: f64 = opic.iter().map(|line| line["score"].as_f64().unwrap()).sum();
    assert!((sum - 1.0).abs() < 1e-9 && opic[5]["linked_by"] == 0, "{opic:?}");
    assert_eq!(first("--method hits", "url"), "http://c.two.test/");
    assert_eq!(first("--method host", "host"), "c.two.test");
    let domains = place.run("rank --method domain --json").expect(0).json_lines();
    let halves: Vec<f64> = domains.iter().map(|line| line["score"].as_f64().unwrap()).collect();
    assert!(
        halves.iter().all(|half| (half - 0.5).abs() < 1e-9) && halves.len() == 2,
        "{domains:?}"
    );
    place.write("good.txt", "# whom we trust\nhttp://b.one.test/\n");
    let trust = place.run("rank --method trustrank --trust good.txt --json").expect(0).json_lines();
    let mut strangers = trust.clone();
    strangers.retain(|line| line["score"] == 0.0);
    assert_eq!(
        strangers.len(),
        2,
        "nobody of good repute leads to the front or to /old: {trust:?}"
    );
    let words = place.run("rank --top 2").expect(0).out;
    let lines: Vec<&str> = words.lines().collect();
    assert_eq!((lines[0], lines.len()), ("6 urls, 7 links", 4), "{words}");
    assert!(lines[1].starts_with("score") && lines[2].ends_with("http://c.two.test/"), "{words}");
}

#[test]
fn what_cannot_be_trusted_or_read_is_said() {
    let (site, place) = (site(), Place::new());
    crawl(&place, &site, "");
    place.write("bad.txt", "http://a.one.test/\nhttp://nowhere.test/\n");
    place.run("rank --method trustrank --trust bad.txt").expect(2).explains(&["line 2", "no page"]);
    place.run("rank --method trustrank --trust none.txt").expect(1).explains(&["cannot read"]);
    place.run("rank --damping 1.5").expect(2);
    place.run("rank --export nowhere/edges.csv").expect(1).explains(&["cannot write"]);
}

#[test]
fn a_crawl_that_keeps_no_links_says_that_there_are_none() {
    let (site, place) = (site(), Place::new());
    crawl(&place, &site, "-s links.keep=false");
    assert!(edges(&place).is_empty());
    assert!(place.run("rank").expect(0).out.starts_with("6 urls, 0 links\n"));
}

#[test]
fn a_running_crawl_ranks_and_exports_too() {
    let (web, place) =
        (Web::serve(Config { hosts: 3, pages: 12, seed: 5, ..Config::calm() }), Place::new());
    let seeds = web.seeds(3).join(" ");
    let crawl = format!("crawl {seeds} --delay 20ms --quiet {}", web.flags());
    let mut running = place.start(&crawl);
    running.wait_until("links", || {
        let ran = place.run("rank --json --top 5");
        ran.code == Some(0) && ran.json_lines().iter().any(|line| line["linked_by"] != 0)
    });
    assert!(!edges(&place).is_empty(), "where the caller is, not the crawl");
    running.signal(Signal::INT);
    running.wait().expect(11);
}

#[test]
fn a_running_crawl_weighs_pages_by_their_links_where_it_is_asked_to() {
    let (site, place) = (site(), Place::new());
    let importance = "-s importance.method=pagerank -s importance.every=1s";
    let words = format!("crawl {SEEDS} --budget 50/s --delay 0s --quiet {importance}");
    let mut running = place.start(&format!("{words} {}", site.flags()));
    let times = |url: &str| -> Option<f64> {
        let ran = place.run(&format!("why {url} --json"));
        let why = if ran.code == Some(0) { ran.json() } else { Value::Null };
        why["importance"].as_str()?.split_once(" times")?.0.parse().ok()
    };
    running.wait_until("a ranking", || times("http://c.two.test/").is_some());
    let (often, seldom) = (times("http://c.two.test/"), times("http://a.one.test/"));
    assert!(often > Some(1.0) && seldom < Some(0.5), "{often:?} {seldom:?}");
    running.signal(Signal::INT);
    running.wait().expect(11);
    let off = "why http://c.two.test/ --json -s importance.method=none";
    assert_eq!(place.run(off).expect(0).json()["importance"], Value::Null);
    let wrong = place.run("crawl --once -s importance.method=fame").expect(3);
    wrong.explains(&["none of none, pagerank, opic"]);
}
