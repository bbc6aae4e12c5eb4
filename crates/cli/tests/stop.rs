//! How does a run end, what does its exit code say, and does the next one go on?
#![allow(clippy::unwrap_used, reason = "a failing test panics")]

use crate::common::site::{Answer, Request, Site};
use crate::common::web::{Web, pages_by_status};
use crate::common::{Place, pause, time_of, wait_until};
use evercrawl_testweb::{ReachScope, WorldConfig};
use rustix::process::Signal;
use std::time::Duration;

fn small_web() -> Web {
    Web::serve(WorldConfig { hosts: 4, pages: 12, seed: 5, ..WorldConfig::calm() })
}

/// A crawl of all hosts that takes a few seconds.
fn slow_crawl(web: &Web) -> String {
    format!("crawl --once {} --delay 150ms {}", web.seeds(4).join(" "), web.flags())
}

fn visited(place: &Place) -> usize {
    pages_by_status(place).remove(&Some(200)).unwrap_or_default().len()
}

/// The rest is crawled by a run that says nothing but where, and it ends with every page.
fn goes_on(place: &Place, web: &Web) {
    let before = visited(place);
    place.run("crawl --once").expect(0);
    let expected = web.reachable(&web.seeds(4), ReachScope::Host);
    assert!(before < expected.len(), "the first run should have been cut short");
    assert_eq!(pages_by_status(place).remove(&Some(200)).unwrap(), expected);
    place.run("check --deep").expect(0);
}

#[test]
fn a_page_limit_ends_with_14() {
    let (web, place) = (small_web(), Place::new());
    place.run(&format!("{} --max-pages 7", slow_crawl(&web))).expect(14).explains(&["goes on"]);
    assert_eq!(place.run("status --json").expect(0).json()["total"]["visits"], 7);
    goes_on(&place, &web);
}

#[test]
fn a_byte_limit_ends_with_14() {
    let (web, place) = (small_web(), Place::new());
    place.run(&format!("{} --max-bytes 10kB", slow_crawl(&web))).expect(14);
    let status = place.run("status --json").expect(0).json();
    assert!(status["total"]["bytes_received"].as_u64().unwrap() >= 10_000, "{status}");
    goes_on(&place, &web);
}

#[test]
fn a_time_limit_ends_with_15() {
    let (web, place) = (small_web(), Place::new());
    place.run(&format!("{} --for 700ms", slow_crawl(&web))).expect(15).explains(&["goes on"]);
    goes_on(&place, &web);
}

#[test]
fn a_full_disk_ends_with_16_before_it_is_full() {
    let (web, place) = (small_web(), Place::new());
    let crawl = format!("{} -s limits.min_free_disk=1000TB", slow_crawl(&web));
    place.run(&crawl).expect(16).explains(&["free some space"]);
    // What was said on the line is remembered, so it takes a word to change it.
    place.run("crawl --once -s limits.min_free_disk=1MB").expect(0);
    assert_eq!(visited(&place), web.reachable(&web.seeds(4), ReachScope::Host).len());
}

#[test]
fn one_signal_ends_with_11_and_what_is_in_flight() {
    for signal in [Signal::INT, Signal::TERM] {
        let (web, place) = (small_web(), Place::new());
        let crawl = place.start(&slow_crawl(&web));
        wait_until("the first pages", || place.data().join("control.sock").exists());
        pause(Duration::from_millis(500));
        crawl.signal(signal);
        crawl.wait().expect(11).explains(&[
            "finishing what is in flight",
            "all is saved",
            "goes on",
        ]);
        goes_on(&place, &web);
    }
}

/// A page that takes too long to wait for.
fn stuck(request: &Request) -> Answer {
    if request.page == "a.test/slow" {
        pause(Duration::from_secs(25));
    }
    Answer::page("<a href='/slow'>slow</a>")
}

#[test]
fn a_second_signal_does_not_wait_and_loses_nothing() {
    let (site, place) = (Site::serve(stuck), Place::new());
    let crawl = place.start(&format!("crawl --once http://a.test/ --delay 5ms {}", site.flags()));
    wait_until("the slow page", || !site.asked("a.test/slow").is_empty());
    crawl.signal(Signal::INT);
    wait_until("the answer to Ctrl-C", || crawl.said()[1].contains("again to stop at once"));
    let took = time_of(|| {
        crawl.signal(Signal::INT);
        crawl.wait().expect(11);
    });
    assert!(took < Duration::from_secs(10), "it waited for {took:?}");
    place.run("check --deep").expect(0);
    let state =
        |url: &str| place.urls().iter().find(|page| page["url"] == url).unwrap()["state"].clone();
    assert_eq!(state("http://a.test/"), "resting");
    assert_eq!(state("http://a.test/slow"), "new");
}

/// Flags that lead to a port where nobody listens any more.
fn dead_end() -> String {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    format!("--delay 5ms --allow-private --connect-to ::127.0.0.1:{port}")
}

#[test]
fn a_time_limit_does_not_wait_long_for_a_slow_server() {
    let (site, place) = (Site::serve(stuck), Place::new());
    let crawl = format!("crawl http://a.test/ --delay 5ms --for 1s {}", site.flags());
    let took = time_of(|| drop(place.run(&crawl).expect(15)));
    assert!(took < Duration::from_secs(15), "it took {took:?}");
    place.run("check --deep").expect(0);
}

#[test]
fn nothing_reachable_ends_with_5() {
    let place = Place::new();
    place.run(&format!("fetch http://a.test/ {}", dead_end())).expect(5).explains(&["a.test"]);
    let site = Site::serve(|_| Answer::status("503 Service Unavailable"));
    let crawl = format!("crawl --once http://a.test/ --delay 5ms {}", site.flags());
    place.run(&crawl).expect(5).explains(&["1 page left", "tries again"]);
}

#[test]
#[ignore = "minutes of waiting for a host that is dead; `make check-large`"]
fn a_dead_host_ends_with_5_too() {
    let place = Place::new();
    place.run(&format!("crawl --once http://a.test/ {}", dead_end())).expect(5);
}

#[test]
fn addresses_of_our_own_network_are_left_alone_unless_allowed() {
    let (site, place) = (Site::serve(|_| Answer::page("<p>here")), Place::new());
    let allow = "--allow-private=127.0.0.0/8";
    let crawl = format!("crawl --once http://a.test/ {}", site.flags()).replace(allow, "");
    // Each run tries anew, and says what would let it in.
    for _ in 0..2 {
        place.run(&crawl).expect(5).explains(&["--allow-private"]);
    }
    assert_eq!(site.asked("a.test/robots.txt").len() + site.asked("a.test/").len(), 0);
    assert_eq!(place.run("urls --reason private_address --json").expect(0).json_lines().len(), 1);
    place.run(&format!("crawl --once {allow}")).expect(0);
    assert_eq!(site.asked("a.test/").len(), 1);
    place.run("check --deep").expect(0);
}

#[test]
fn a_crawl_that_ended_leaves_nothing_to_be_done_again() {
    let (site, place) = (Site::serve(|_| Answer::page("<p>here")), Place::new());
    let crawl = format!("crawl http://a.test/ --for 2s --quiet {}", site.flags());
    let crawl = place.start(&crawl);
    // Whoever asks meanwhile does not keep the store open.
    wait_until("the first page", || !site.asked("a.test/").is_empty());
    place.run("why http://a.test/").expect(0);
    crawl.wait().expect(15);
    let store = std::fs::read_dir(place.data().join("state/store")).unwrap();
    let journals = store.map(Result::unwrap).filter(|file| file.path().extension().is_some());
    let lengths: Vec<u64> = journals.map(|file| file.metadata().unwrap().len()).collect();
    assert_eq!(lengths, [0], "what a verb would read first, whatever it is asked");
}
