//! Does the engine do what the lab promises, and keep its budget while it does?
#![allow(clippy::unwrap_used, reason = "a failing test panics")]

use std::path::Path;

use serde_json::Value;

use crate::common::Place;

/// One world a line: the textbook, bursts, pages that change in batches and come and go, and pages of which
/// it is said when they changed.
const WORLDS: [(&str, &str); 4] = [
    (
        "textbook",
        "pages = 300\nbefore = 8\nweeks = 20\n[[class]]\nrate = { lognormal = 1.5, mean = 0.5 }\n",
    ),
    (
        "bursts",
        "pages = 300\nhosts = 3\nbefore = 8\nweeks = 20\n[[class]]\nrate = { lognormal = 1, mean = 0.3 }\n\
         gaps = { cv = 1.8 }\n",
    ),
    (
        "batches",
        "pages = 300\nhosts = 2\ndirectories = 10\nbefore = 8\nweeks = 20\n[[class]]\n\
         rate = { lognormal = 1, mean = 0.1 }\nbirths = 0.005\ndeaths = 0.003\n\
         [[batch]]\nof = \"directory\"\nrate = 0.1\nshare = 0.5\n",
    ),
    (
        "told",
        "pages = 300\nhosts = 3\nbefore = 8\nweeks = 20\n[[host]]\nrecall = 0.8\nprecision = 0.7\n\
         [[class]]\nrate = { lognormal = 1, mean = 0.3 }\n",
    ),
];

/// The engine's freshness and the lab's, in percent, and the engine's row.
fn both(place: &Place, command: &str) -> (f64, f64, Value) {
    let out = place.run(command);
    assert_eq!(out.code, Some(0), "{command}: {}", out.err);
    let rows: Vec<Value> =
        out.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len(), 2, "{}", out.out);
    let fresh = |row: &Value| 100.0 * row["freshness"].as_f64().unwrap();
    assert_eq!(rows[0]["policy"], "index (engine)");
    (fresh(&rows[0]), fresh(&rows[1]), rows[0].clone())
}

/// How many draws of each world are taken together: one of so few pages is a point or so off by chance.
const DRAWS: u32 = 4;

/// The engine may do better than
/// promised: it plans anew every minute, the lab once a round.
#[test]
fn the_engine_keeps_what_the_lab_promises() {
    let place = Place::new();
    for (name, world) in WORLDS {
        place.write(&format!("{name}.toml"), world);
        let mut gain = 0.0;
        for seed in 0..DRAWS {
            let command = format!("lab live {name}.toml --budget 20%/week --seed {seed} --json");
            let (engine, lab, row) = both(&place, &command);
            gain += (engine - lab) / f64::from(DRAWS);
            let (fetches, allowed) = (row["fetches"].as_f64().unwrap(), 0.2 * 20.0 * 300.0);
            // A share of the live pages: a few more of them are born than die.
            assert!(fetches <= 1.06 * allowed && fetches > 0.98 * allowed, "{name}: {fetches}");
        }
        assert!((-1.0..2.5).contains(&gain), "{name}: the engine is {gain} points off");
    }
}

#[test]
fn what_politeness_costs_is_shown() {
    let place = Place::new();
    place.write("textbook.toml", WORLDS[0].1);
    let slow = "lab live textbook.toml --budget 50%/week --delay 3h --json";
    let (engine, lab, row) = both(&place, slow);
    assert!(engine < lab - 1.0, "engine {engine}, lab {lab}");
    assert!(row["fetches"].as_f64().unwrap() <= 20.0 * 7.0 * 8.0 + 1.0, "one in three hours");
}

#[test]
fn the_engine_keeps_up_on_a_recorded_site() {
    let traces = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/traces"));
    if !traces.is_dir() {
        eprintln!("SKIPPED: no recorded sites at {}", traces.display());
        return;
    }
    let place = Place::new();
    let site = traces.join("peps");
    let command = format!("lab live {} --budget 10%/week --json", site.display());
    let (engine, lab, _) = both(&place, &command);
    assert!((engine - lab).abs() < 1.0, "engine {engine}, lab {lab}");
}
