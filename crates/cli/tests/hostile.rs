//! Does a crawl get past every trouble that a server can make: in time, in little memory, with a reason,
//! and without letting other hosts wait?
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a failing test panics, a large one says what it found"
)]

use std::collections::HashMap;
use std::fs;
use std::time::Duration;

use crate::common::site::{Answer, Site};
use crate::common::web::Web;
use crate::common::{Place, Running, pause};
use evercrawl_testweb::{TROUBLES, WorldConfig};
use serde_json::Value;

/// Short waits and small bodies: what takes a second here takes minutes by default, and no longer.
const HASTE: &str = "-s fetch.timeout_answer=2s -s fetch.timeout_idle=2s -s fetch.timeout_total=4s \
    -s limits.body=2MiB -s limits.unpacked=4MiB -s crawl.max_per_shape=100 --quiet";

fn web() -> Web {
    Web::serve_hostile(WorldConfig { hosts: 20, pages: 40, seed: 9, ..WorldConfig::calm() })
}

fn hostile_seeds() -> Vec<String> {
    TROUBLES.iter().map(|trouble| trouble.url(".test")).collect()
}

/// The most memory that a running command had so far, in MB.
fn peak_memory(running: &mut Running) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", running.child().id()));
    let status = status.unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next());
    kilobytes.map_or(0, |number| number.parse::<u64>().unwrap() / 1000)
}

/// What came of a page: the reason why it is not held, or that it is.
fn outcome_of(page: &Value) -> String {
    let held = if page["visits"].as_u64() > Some(0) { "held" } else { "nothing" };
    page["reason"].as_str().unwrap_or(held).to_owned()
}

/// What may come of each trouble.
fn expected(trouble: &str) -> &'static [&'static str] {
    match trouble {
        "silence" | "reset-at-once" | "robots-not-http" | "robots-304" => &["robots_unreachable"],
        trouble if trouble.starts_with("robots-cut") => &["robots_unreachable"],
        trouble if trouble.starts_with("tls-") => &["robots_unreachable"],
        "tarpit" => &["timeout"],
        "endless-head" | "endless-line" | "endless-interim" | "header-bomb" | "cookie-storm"
        | "length-twice" | "length-absurd" | "http-0-9" | "status-absurd" => &["protocol"],
        trouble if trouble.starts_with("not-http") => &["protocol"],
        trouble if trouble.starts_with("unasked-") => &["protocol"],
        "half-close" | "reset-in-head" => &["disconnected"],
        "tarpit-body" | "reset-after-head" | "reset-in-body" | "length-too-long"
        | "chunks-of-garbage" | "chunk-too-large" | "bomb-nested" => &["cut"],
        trouble if trouble.starts_with("cut-") => &["cut"],
        "retry-never" => &["server_error"],
        "always-429" => &["client_error"],
        // It answers well once in ten.
        "one-in-ten" => &["server_error", "held"],
        trouble if trouble.starts_with("redirect-") => &["redirect"],
        // All others give a page, whatever it is worth.
        _ => &["held"],
    }
}

/// Pages without end, all of a few shapes, and a page with a million links: so many of each host are taken at most.
const TRAPS: [(&str, usize); 4] =
    [("calendar", 202), ("parameters", 202), ("ever-deeper", 202), ("many-links", 20_003)];

#[test]
fn every_trouble_ends_in_time_with_a_reason() {
    let (web, place) = (web(), Place::new());
    place.write("seeds.txt", &[hostile_seeds(), web.seeds(20)].concat().join("\n"));
    let flags = format!("{HASTE} --delay 20ms --scope any {}", web.flags());
    let mut crawl = place.start(&format!("crawl --seeds seeds.txt --for 30s {flags}"));
    let mut peak = 0;
    while crawl.is_running() {
        peak = peak.max(peak_memory(&mut crawl));
        pause(Duration::from_millis(50));
    }
    crawl.wait().expect(15);
    place.run("check --deep").expect(0);

    let known: HashMap<String, Value> = place
        .urls()
        .into_iter()
        .map(|page| (page["url"].as_str().unwrap().to_owned(), page))
        .collect();
    let wrong: Vec<_> = TROUBLES
        .iter()
        .map(|trouble| (trouble.name, outcome_of(&known[&trouble.url(".test")])))
        .filter(|(name, outcome)| !expected(name).contains(&outcome.as_str()))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    // No page is made of what only looks like a web address, and traps end.
    let web = |url: &&String| url.starts_with("http://") || hostile_seeds().contains(url);
    assert_eq!(known.keys().find(|url| !web(url)), None);
    for (trap, most) in TRAPS {
        let host = format!("http://{trap}.hostile.test/");
        let pages = known.keys().filter(|url| url.starts_with(&host)).count();
        assert!((2..most).contains(&pages), "{pages} pages of {trap}");
    }
    assert!((10..400).contains(&peak), "{peak} MB");
}

#[test]
fn nobody_is_led_to_addresses_that_were_not_allowed() {
    let site = Site::serve(|request| {
        let port = request.page.split([':', '/']).nth(1).unwrap_or_default().to_owned();
        match request.page.split_once('/').unwrap().1 {
            "" => Answer::page(format!(
                "<a href=http://10.1.2.3/>1</a><a href=http://0xa9fea9fe/>2</a><a href=/moved>3</a>\
                 <a href=http://[::ffff:127.0.0.3]:{port}/>4</a><a href=http://localhost:{port}/>5</a>"
            )),
            "moved" => {
                Answer::status("301 Moved").with(&format!("Location: http://127.0.0.2:{port}/"))
            }
            _ => Answer::status("404 Not Found"),
        }
    });
    let (place, at) = (Place::new(), site.address());
    let flags = "--allow-private=127.0.0.1 --scope any --delay 5ms --quiet --contact a@example.org";
    place.run(&format!("crawl --once http://{at}/ http://192.168.7.7/ {flags}"));
    let refused = place.run("urls --reason private_address --json").expect(0).json_lines();
    let refused: Vec<_> = refused.iter().map(|page| page["url"].as_str().unwrap()).collect();
    let port = at.port();
    for url in [
        "http://10.1.2.3/".to_owned(),
        "http://169.254.169.254/".to_owned(),
        "http://192.168.7.7/".to_owned(),
        format!("http://127.0.0.2:{port}/"),
        format!("http://[::ffff:127.0.0.3]:{port}/"),
    ] {
        assert!(refused.contains(&url.as_str()), "{url} not among {refused:?}");
    }
    // A name may lead to several addresses; the one that is allowed is taken.
    assert_eq!(site.asked(&format!("localhost:{port}/")).len(), 1);
}

#[test]
#[ignore = "compares speeds, which says something of a release build only: make check-large"]
fn other_hosts_do_not_wait_for_hostile_ones() {
    // Reading what hostile hosts send takes a processor. Where another program wants it too both wait,
    // now and then; where the crawl itself lets hosts wait they do so each time.
    let shares = (0..3).map(|_| share_beside_hostile_hosts());
    assert!(shares.into_iter().any(|share| share >= 0.9), "other hosts wait");
}

/// How many requests other hosts get beside hostile ones, as a share of what they get without.
fn share_beside_hostile_hosts() -> f64 {
    let (calm, rough) = (web(), web());
    let crawl = |web: &Web, place: &Place, hostile: &[String]| {
        place.write("seeds.txt", &[hostile, &web.seeds(20)].concat().join("\n"));
        let flags = format!("{HASTE} --delay 250ms --recrawl 1s {}", web.flags());
        place.start(&format!("crawl --seeds seeds.txt --for 12s {flags}"))
    };
    let places = [Place::new(), Place::new()];
    // At the same time, so that whatever else the machine does slows both.
    let alone = crawl(&calm, &places[0], &[]);
    let beside = crawl(&rough, &places[1], &hostile_seeds());
    alone.wait().expect(15);
    beside.wait().expect(15);
    let good = |web: Web| {
        let requests = web.stop().requests();
        requests.iter().filter(|asked| !asked.host.contains(".hostile.")).count()
    };
    let (alone, beside) = (good(calm), good(rough));
    eprintln!("{beside} requests beside hostile hosts, {alone} without");
    assert!(alone > 300, "{alone}");
    beside as f64 / alone as f64
}
