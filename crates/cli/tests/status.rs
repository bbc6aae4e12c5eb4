//! Does `status` say what is spent, found, waited for, predicted and told, once and again and again?
#![allow(clippy::unwrap_used, reason = "a failing test panics")]

use crate::common::Place;
use crate::common::web::Web;
use evercrawl_testweb::WorldConfig;
use rustix::process::Signal;
use serde_json::Value;

/// A day of this web takes a second.
fn hasty_web() -> Web {
    let calm = WorldConfig::calm();
    Web::serve(WorldConfig {
        hosts: 3,
        pages: 8,
        seed: 5,
        time_scale: 86_400.0,
        changes_per_day: 0.3,
        ..calm
    })
}

fn sum(rows: &Value, name: &str) -> f64 {
    rows.as_array().unwrap().iter().map(|row| row[name].as_f64().unwrap()).sum()
}

#[test]
fn what_is_spent_found_predicted_and_told_is_said_while_a_crawl_runs_and_after() {
    let (web, place) = (hasty_web(), Place::new());
    let seeds = web.seeds(3).join(" ");
    let crawl = "--delay 20ms --budget 30/s -s schedule.min_interval=100ms --quiet";
    let mut running = place.start(&format!("crawl {seeds} {crawl} {}", web.flags()));
    running.wait_until("the crawl to listen", || place.data().join("control.sock").exists());
    let mut status = Value::Null;
    running.wait_until("visits and what they taught", || {
        let ran = place.run("status --json");
        status = if ran.code == Some(0) { ran.json() } else { Value::Null };
        status["predictions"]["error"].is_f64() && status["run"]["pages"].as_u64() > Some(100)
    });
    let asked = |name: &str| status["run"]["requests"][name].as_u64().unwrap();
    let known = asked("due") + asked("ahead_of_time") + asked("audits");
    assert!(known > 0 && known <= status["run"]["pages"].as_u64().unwrap() + 30, "{status}");
    assert!(status["today"]["visits"].as_u64().unwrap() > 0, "{status}");
    assert!(status["waiting"]["paused"]["hosts"] == 0, "{status}");
    let while_it_ran = status;
    let words = place.run("status").expect(0).out;
    for part in
        ["  spent      ", "  today      ", "  waiting    ", "  predicted  ", "  audits     2 %"]
    {
        assert!(words.contains(part), "{part}: {words}");
    }
    let watching = place.start("status --watch 1 --json");
    crate::common::wait_until("two lines", || watching.said()[0].lines().count() >= 2);
    // Who runs tests in the background may have told all of them to ignore Ctrl-C.
    watching.signal(Signal::TERM);
    assert!(watching.wait().json_lines().iter().all(|line| line["running"] == true));
    place.run(&format!("push {}", web.seeds(1)[0])).expect(0);
    running.signal(Signal::INT);
    running.wait().expect(11);

    let status = place.run("status --json").expect(0).json();
    let names = |of: &Value| of.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&status), names(&while_it_ran), "the same view, running or not");
    assert_eq!((&status["running"], &status["run"]), (&Value::Bool(false), &Value::Null));
    let rows = &status["predictions"];
    assert!((sum(&rows["by_class"], "visits") - sum(&rows["by_chance"], "visits")).abs() < 1e-3);
    assert!(sum(&rows["by_class"], "changes_seen") > 0.0, "{rows}");
    assert!(sum(&status["new_links"], "visits") > 0.0, "{status}");
    assert_eq!(status["audit_share"], 0.02);
    let told = status["signals"].as_array().unwrap();
    let pushed = told.iter().find(|signal| signal["kind"] == "push").unwrap();
    assert!(pushed["precision"].as_f64().is_some_and(|share| share > 0.0 && share < 1.0));
    let why = place.run(&format!("why {}", web.seeds(1)[0])).expect(0);
    assert!(why.out.contains("signals      ") && why.out.contains("push: "), "{}", why.out);
}

#[test]
fn a_directory_that_was_never_crawled_has_a_status() {
    let place = Place::new();
    place.write("list.txt", "http://a.test/\nhttp://b.test/\n");
    place.run("add --seeds list.txt").expect(0);
    let ran = place.run("status").expect(0);
    for part in ["no page is stored yet", "2 hosts are queued (budget", "0 changes"] {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
    place.run("status --watch 0").expect(2);
}
