//! Do we give the answers that the field's own test suites expect?
#![allow(
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test stops, or says that it cannot run"
)]

use std::path::Path;
use std::time::Duration;

use evercrawl_robots::RobotsTxt;
use serde_json::Value;

const SUITES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/suites/");

/// Reads a suite, or says loudly that it is not there.
fn suite(name: &str) -> Option<Value> {
    let path = Path::new(SUITES).join(name);
    match std::fs::read(&path) {
        Ok(bytes) => Some(serde_json::from_slice(&bytes).expect("a suite is JSON")),
        Err(error) => {
            eprintln!("SKIPPED: suite {name} cannot be read: {error}");
            None
        }
    }
}

fn text<'a>(case: &'a Value, field: &str) -> &'a str {
    case[field].as_str().unwrap_or_default()
}

fn robots(case: &Value) -> RobotsTxt {
    let bytes = match case["robots_base64"].as_str() {
        Some(encoded) => from_base64(encoded),
        None => text(case, "robots").as_bytes().to_vec(),
    };
    RobotsTxt::parse(&bytes, text(case, "agent"))
}

fn from_base64(encoded: &str) -> Vec<u8> {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let value = |symbol| ALPHABET.iter().position(|&known| known == symbol).map(|at| at as u32);
    let symbols: Vec<u32> = encoded.bytes().filter_map(value).collect();
    let decode = |four: &[u32]| {
        let bits =
            four.iter().enumerate().fold(0, |bits, (at, symbol)| bits | symbol << (18 - 6 * at));
        bits.to_be_bytes()[1..four.len()].to_vec()
    };
    symbols.chunks(4).flat_map(decode).collect()
}

/// Checks the verdict of each case; where the RFC and a suite differ, the RFC's answer counts.
fn check_verdicts(cases: &Value, at_least: usize) {
    let cases = cases.as_array().expect("cases are a list");
    assert!(cases.len() >= at_least, "only {} cases", cases.len());
    let wrong: Vec<String> = cases
        .iter()
        .filter(|case| {
            let expected = case.get("rfc9309").unwrap_or(&case["allowed"]).as_bool();
            Some(robots(case).verdict_for_url(text(case, "url")).allowed) != expected
        })
        .map(|case| format!("{case:.600}"))
        .collect();
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn verdicts_of_the_first_suite() {
    if let Some(cases) = suite("robots_cases.json") {
        check_verdicts(&cases, 166);
    }
}

#[test]
fn verdicts_of_the_second_suite() {
    if let Some(suite) = suite("robots_more.json") {
        check_verdicts(&suite["cases"], 658);
    }
}

#[test]
fn crawl_delays() {
    let Some(suite) = suite("robots_more.json") else { return };
    let cases = suite["crawl_delay"].as_array().expect("cases are a list");
    assert!(cases.len() >= 17);
    for case in cases {
        let expected = case["delay_seconds"].as_f64().map(Duration::from_secs_f64);
        assert_eq!(robots(case).crawl_delay(), expected, "{case}");
    }
}

#[test]
fn sitemaps() {
    let Some(suite) = suite("robots_more.json") else { return };
    let cases = suite["sitemaps"].as_array().expect("cases are a list");
    assert!(cases.len() >= 9);
    for case in cases {
        let origin = text(case, "base").trim_end_matches("/robots.txt");
        let absolute = |url: &str| match url.strip_prefix('/') {
            Some(path) => format!("{origin}/{path}"),
            None => url.to_owned(),
        };
        let robots = robots(case);
        let mut found: Vec<String> = robots.sitemaps().map(absolute).collect();
        found.dedup();
        let expected: Vec<&str> =
            case["expected"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
        assert_eq!(found, expected, "{case}");
    }
}
