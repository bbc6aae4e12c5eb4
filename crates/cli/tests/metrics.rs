//! Does a crawl publish its figures: the same as `status`, complete, and as Prometheus reads them? And what does it log?
#![allow(clippy::unwrap_used, reason = "a failing test panics")]

use std::collections::BTreeMap;

use crate::common::web::Web;
use crate::common::{Place, Running};
use evercrawl_testweb::WorldConfig;
use rustix::process::Signal;
use serde_json::Value;

fn web() -> Web {
    let calm = WorldConfig::calm();
    Web::serve(WorldConfig { hosts: 3, pages: 40, seed: 5, ..calm })
}

/// Samples by everything that stands before the value.
fn samples(text: &str) -> BTreeMap<String, f64> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let (name, value) = line.rsplit_once(' ').unwrap();
            (name.to_owned(), value.parse().unwrap())
        })
        .collect()
}

/// The names of all metrics that a text has, with their types.
fn types(text: &str) -> Vec<&str> {
    text.lines().filter_map(|line| line.strip_prefix("# TYPE ")).collect()
}

fn crawl(place: &Place, web: &Web, more: &str) -> Running {
    let seeds = web.seeds(3).join(" ");
    let limits = "--delay 1ms --budget 200/s --quiet";
    let mut running = place.start(&format!("crawl {seeds} {limits} {} {more}", web.flags()));
    running.wait_until("the crawl to listen", || place.data().join("control.sock").exists());
    running
}

/// The status and the figures, at a moment when both say the same of the pages of the run.
fn status_and_metrics(place: &Place, running: &mut Running) -> (Value, String) {
    let mut found = (Value::Null, String::new());
    running.wait_until("a status between two equal sets of figures", || {
        let ran = [
            place.run("status --metrics"),
            place.run("status --json"),
            place.run("status --metrics"),
        ];
        if ran.iter().any(|ran| ran.code != Some(0)) {
            return false;
        }
        let [before, status, after] = ran;
        let pages = |text: &str| {
            samples(text).get("evercrawl_run_pages_total{collection=\"data\"}").copied()
        };
        let status = status.json();
        let enough = status["run"]["pages"].as_u64() >= Some(60) && status["freshness"].is_object();
        let still = pages(&before.out) == pages(&after.out);
        found = (status, after.out);
        enough && still
    });
    found
}

#[test]
fn a_running_crawl_publishes_every_figure_and_status_shows_the_same() {
    let (web, place) = (web(), Place::new());
    let mut running = crawl(&place, &web, "");
    let (status, text) = status_and_metrics(&place, &mut running);
    let metrics = samples(&text);
    let of = |name: &str, label: &str| metrics[&format!("{name}{{collection=\"data\"{label}}}")];
    for (name, label, value) in [
        ("evercrawl_run_pages_total", "", &status["run"]["pages"]),
        ("evercrawl_requests_total", ",purpose=\"robots\"", &status["run"]["robots"]),
        ("evercrawl_fetches_total", ",outcome=\"ok\"", &status["total"]["visits_by_outcome"]["ok"]),
        ("evercrawl_visits_total", ",change=\"new\"", &status["total"]["visits_by_change"]["new"]),
        ("evercrawl_urls", ",state=\"live\"", &status["total"]["pages_by_state"]["live"]),
        ("evercrawl_frontier_enqueued_total", "", &status["run"]["queued"]),
        ("evercrawl_frontier_released_total", "", &status["run"]["released"]),
        ("evercrawl_budget_requests_per_second", "", &status["plan"]["budget_a_second"]),
        (
            "evercrawl_fetch_duration_seconds_count",
            ",phase=\"total\"",
            &status["run"]["fetch_times"]["count"],
        ),
        (
            "evercrawl_robots_fetches_total",
            ",outcome=\"fetched\"",
            &status["run"]["robots_by_outcome"]["fetched"],
        ),
    ] {
        assert_eq!(Some(of(name, label)), value.as_f64(), "{name}: {status}");
        assert!(of(name, label) > 0.0, "{name}");
    }
    assert!(of("evercrawl_commit_duration_seconds_count", "") > 0.0);
    assert!(of("evercrawl_archive_bytes_total", "") > 1000.0);
    // Freshness is given once it can be measured; all others always.
    let later = [
        "evercrawl_freshness_ratio gauge",
        "evercrawl_freshness_error_ratio gauge",
        "evercrawl_age_seconds gauge",
    ];
    for metric in evercrawl_metrics::Metric::ALL {
        let head = format!("{} {}", metric.name(), metric.kind().code());
        let there = types(&text).contains(&head.as_str());
        assert!(there || later.contains(&head.as_str()), "{head} is missing:\n{text}");
    }
    let words = place.run("status").expect(0).out;
    for part in ["  fetches    ", "  robots.txt ", "  commits    "] {
        assert!(words.contains(part), "{part}: {words}");
    }
    running.signal(Signal::INT);
    running.wait().expect(11);
}

#[test]
fn a_stopped_crawl_publishes_its_totals_and_nothing_of_a_run() {
    let (web, place) = (web(), Place::new());
    let running = crawl(&place, &web, "--new-only --max-pages 50");
    running.wait().expect(14);
    let text = place.run("status --metrics").expect(0).out;
    let metrics = samples(&text);
    assert_eq!(metrics["evercrawl_visits_total{collection=\"data\",change=\"new\"}"], 50.0);
    assert_eq!(metrics["evercrawl_fetches_total{collection=\"data\",outcome=\"dns\"}"], 0.0);
    assert!(
        metrics.keys().all(|name| !name.contains("_run_") && !name.contains("commit")),
        "{text}"
    );
    let view = place.run("status --metrics --json").expect(0).json();
    let first = &view["metrics"][0];
    assert_eq!(
        (&first["name"], &first["type"]),
        (&"evercrawl_fetches_total".into(), &"counter".into())
    );
    place.run("status --metrics --watch").expect(2);
}

#[test]
fn a_log_has_the_spans_and_each_refusal_once() {
    let (web, place) = (web(), Place::new());
    let running = crawl(
        &place,
        &web,
        "--exclude page=1 --new-only --max-pages 50 --log debug --log-format json",
    );
    let ran = running.wait().expect(14);
    let lines: Vec<Value> =
        ran.err.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let messages = |wanted: &str| lines.iter().filter(|line| line["message"] == wanted).count();
    assert!(messages("visited") >= 50, "{}", ran.err);
    assert!(messages("committed") > 0 && messages("state opened") == 1, "{}", ran.err);
    let inside = |span: &str| ran.err.contains(&format!("\"name\":\"{span}\""));
    assert!(["start_up", "visit", "recovery"].iter().all(|span| inside(span)), "{}", ran.err);
    let refused = |line: &&Value| line["message"] == "refused" && line["fields"]["url"].is_string();
    let mut urls: Vec<String> = lines
        .iter()
        .filter(refused)
        .map(|line| line["fields"]["url"].to_string() + &line["fields"]["reason"].to_string())
        .collect();
    let all = urls.len();
    urls.sort();
    urls.dedup();
    assert_eq!(urls.len(), all, "a refusal is logged once");
}
