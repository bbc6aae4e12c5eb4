//! Does `evercrawl spam` find what the web says is spam, and leave alone what is not?
#![allow(clippy::unwrap_used, reason = "a failing test panics")]

mod common;

use std::collections::BTreeSet;

use common::Place;
use common::web::Web;
use evercrawl_testweb::{Config, Spam};
use serde_json::Value;

const HOSTS: u32 = 120;

/// A web with spam among good hosts; no threshold of a detector was set with this seed.
fn web() -> Web {
    Web::serve(Config { hosts: HOSTS, pages: 6, seed: 179_424_673, ..Config::spam() })
}

fn crawled(web: &Web) -> Place {
    let place = Place::new();
    let seeds = web.seeds(HOSTS).join(" ");
    place.run(&format!("crawl {seeds} --once --delay 0s --quiet {}", web.flags())).expect(0);
    place
}

/// Hosts among what was named; single pages are left out.
fn names(lines: &[Value], wanted: impl Fn(&Value) -> bool) -> BTreeSet<String> {
    let wanted = lines.iter().filter(|line| wanted(line));
    wanted.filter_map(|line| line["host"].as_str()).map(str::to_owned).collect()
}

#[test]
fn spam_and_mirrors_are_found_with_reasons_and_good_hosts_are_not() {
    let web = web();
    let place = crawled(&web);
    let lines = place.run("spam --json").expect(0).json_lines();
    let hosts = |is: &dyn Fn(u32) -> bool| -> BTreeSet<String> {
        (0..HOSTS).filter(|host| is(*host)).map(|host| web.world().host_name(host)).collect()
    };
    let spam = hosts(&|host| web.world().spam(host).is_some_and(|spam| spam != Spam::Mirror));
    let found = names(&lines, |line| line["probability"].is_f64());
    let right = found.intersection(&spam).count() as f64;
    eprintln!("{right} of {} found, {} named", spam.len(), found.len());
    assert!(spam.len() >= 10, "{spam:?}");
    assert!(right >= 0.9 * spam.len() as f64, "missed {:?}", spam.difference(&found));
    assert!(right >= 0.95 * found.len() as f64, "wrong {:?}", found.difference(&spam));
    let reasons = lines.iter().filter_map(|line| line["signs"].as_array());
    assert!(reasons.clone().all(|signs| signs[0]["evidence"].as_str().unwrap().len() > 20));
    let origin = |host: u32| web.world().mirrored(host).unwrap_or(host);
    let twins = |host: u32| (0..HOSTS).any(|other| other != host && origin(other) == origin(host));
    let copies = names(&lines, |line| line["mirror_of"].is_string());
    assert!(!copies.is_empty() && copies.is_subset(&hosts(&twins)), "{copies:?}");
    let words = place.run("spam").expect(0).out;
    assert!(words.contains("nothing was done") && words.contains("evercrawl resume"), "{words}");
}
