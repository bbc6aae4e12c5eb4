//! Does what was learned of a page go with it when it moves for good?
#![allow(clippy::unwrap_used)] // a test that cannot go on should stop there

mod common;

use std::time::Duration;

use common::fetched;
use common::rehearsed::{HOUR, START, Sim, TOOK, begun, words};
use evercrawl_engine::rehearsal::{Asked, Web};
use evercrawl_fetch::Fetched;
use evercrawl_model::Time;
use evercrawl_urls::Canonical;

/// A page that changes every hour, until it moves; and one that was never elsewhere.
struct Moves {
    at: Time,
}

impl Web for Moves {
    fn answer(&mut self, asked: &Asked<'_>, now: Time) -> (Fetched, Duration) {
        let (_, path) = asked.url.rsplit_once('/').unwrap();
        let html = [("content-type", "text/html")];
        let away = [("location", "/new")];
        let answer = match path {
            "old" if now >= self.at => fetched(301, &away, String::new(), TOOK),
            "old" | "new" => {
                let version = now.since(START).as_secs() / 3500;
                fetched(200, &html, words(version), TOOK)
            }
            "other" => fetched(200, &html, words(7), TOOK),
            _ => fetched(404, &[], String::new(), TOOK),
        };
        (answer, TOOK)
    }
}

/// How often a page is believed to change, a day.
fn rate(sim: &Sim<Moves>, url: &str, now: Time) -> Option<f64> {
    let (state, url) = (sim.walk.state(), Canonical::parse(url).unwrap());
    let host = state.keyer().host(url.domain(), url.authority());
    let (key, row) = state.find(host, url.as_str()).unwrap()?;
    sim.walk.planner().rate_of(key, &row, now)
}

#[test]
fn what_was_learned_of_a_page_goes_with_it() {
    let [old, new, other] = ["old", "new", "other"].map(|path| format!("http://a.test/{path}"));
    let moves = START.after(HOUR * 60);
    let dir = tempfile::tempdir().unwrap();
    let seeds = [old.clone(), other.clone()];
    let mut sim =
        begun(dir.path(), Moves { at: moves }, &seeds, |config| config.schedule.recrawl = HOUR);
    sim.run(moves, HOUR * 60).unwrap();
    let learned = rate(&sim, &old, moves).unwrap();
    assert!(learned > 8.0 * rate(&sim, &other, moves).unwrap());
    assert_eq!(rate(&sim, &new, moves), None);

    let mut now = moves;
    while rate(&sim, &new, now).is_none() {
        now = now.after(HOUR / 4);
        assert!(now < moves.after(HOUR * 3), "it was never visited where it is now");
        sim.run(now, HOUR).unwrap();
    }
    let inherited = rate(&sim, &new, now).unwrap();
    assert!((inherited / learned - 1.0).abs() < 0.1, "{learned} a day before, {inherited} now");
}
