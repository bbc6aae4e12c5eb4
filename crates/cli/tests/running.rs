//! Can a crawl be asked while it runs, and does its log of changes lose or repeat nothing?
#![allow(clippy::unwrap_used, reason = "a failing test panics")]

use std::os::unix::fs::PermissionsExt;

use crate::common::web::Web;
use crate::common::{Place, Running, wait_until};
use evercrawl_testweb::WorldConfig;
use rustix::process::Signal;
use serde_json::Value;

fn small_web() -> Web {
    Web::serve(WorldConfig { hosts: 4, pages: 12, seed: 5, ..WorldConfig::calm() })
}

/// A crawl without an end, some pages into it.
fn crawl(place: &Place, web: &Web) -> Running {
    let seeds = web.seeds(4).join(" ");
    let running = place.start(&format!("crawl {seeds} --delay 100ms --quiet {}", web.flags()));
    let visited = || place.run("changes --json").json_lines().len() >= 3;
    wait_until("pages to be visited", || place.data().join("control.sock").exists() && visited());
    running
}

fn numbers(lines: &[Value]) -> Vec<u64> {
    lines.iter().map(|line| line["number"].as_u64().unwrap()).collect()
}

#[test]
fn a_running_crawl_answers_as_a_stopped_one() {
    let (web, place) = (small_web(), Place::new());
    let running = crawl(&place, &web);
    let seed = &web.seeds(1)[0];
    let why = place.run(&format!("why {seed} --json")).expect(0).json();
    assert_eq!(why["page"]["url"], seed.as_str());
    // Guesses that come to nothing are forgotten; what was visited is not.
    let mut visited = place.urls();
    visited.retain(|page| page["visits"] == 1);
    assert!(!visited.is_empty());
    place.history(seed);
    place.run("history http://nowhere.test/").expect(1).explains(&["is not known"]);
    place.run("urls --state sleeping").expect(2);
    place.run("check").expect(4).explains(&["in use"]);
    let mode = place.data().join("control.sock").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    running.signal(Signal::INT);
    running.wait().expect(11);
    assert!(!place.data().join("control.sock").exists());
    let after = place.urls();
    assert!(visited.iter().all(|page| after.iter().any(|row| row["url"] == page["url"])));
}

#[test]
fn a_socket_left_by_a_killed_crawl_is_in_nobodys_way() {
    let (web, place) = (small_web(), Place::new());
    let running = crawl(&place, &web);
    running.signal(Signal::KILL);
    running.wait();
    assert!(place.data().join("control.sock").exists());
    assert!(!place.urls().is_empty());
    let again = crawl(&place, &web);
    assert!(!place.urls().is_empty());
    drop(again);
}

#[test]
fn who_follows_the_log_does_not_keep_the_store_from_being_closed() {
    let (web, place) = (small_web(), Place::new());
    let mut running = crawl(&place, &web);
    let follower = place.start("changes --json --follow");
    running.wait_until("something to be told", || !follower.said()[0].is_empty());
    running.signal(Signal::INT);
    running.wait().expect(11);
    follower.wait().expect(11);
    let journals = std::fs::read_dir(place.data().join("state/store")).unwrap();
    let journals = journals
        .map(|file| file.unwrap())
        .filter(|file| file.path().extension().is_some_and(|extension| extension == "jnl"));
    let left: Vec<u64> = journals.map(|file| file.metadata().unwrap().len()).collect();
    assert_eq!(left, [0], "nothing is left to be done again when it is opened");
}

#[test]
fn the_log_of_changes_is_gone_on_with_without_loss_or_repetition() {
    let (web, place) = (small_web(), Place::new());
    let running = crawl(&place, &web);
    let mut seen = numbers(&place.run("changes --json --limit 2").expect(0).json_lines());
    assert_eq!(seen.len(), 2);
    let follow = format!("changes --json --follow --limit 20 --after {}", seen[1]);
    seen.extend(numbers(&place.run(&follow).expect(0).json_lines()));
    running.signal(Signal::INT);
    running.wait().expect(11);
    let rest = format!("changes --json --after {}", seen.last().unwrap());
    seen.extend(numbers(&place.run(&rest).expect(0).json_lines()));
    let all = place.run("changes --json").expect(0).json_lines();
    assert_eq!(seen, numbers(&all));
    assert!(all.iter().all(|line| line["change"] == "new" && line["url"].is_string()), "{all:?}");
    let recent = place.run("changes --json --since 1h").expect(0).json_lines();
    assert_eq!(numbers(&recent), numbers(&all));
    assert!(place.run("changes --json --since 2999-01-01").expect(0).out.is_empty());
    place.run("changes --since yesterday").expect(2).explains(&["is no time"]);
}
