//! Does what was learned of a page go with it when it moves for good?
#![allow(clippy::unwrap_used)] // a test that cannot go on should stop there

use std::path::Path;
use std::time::Duration;

use crate::common::fetched;
use crate::common::rehearsed::{HOUR, START, Sim, TOOK, begun, words};
use evercrawl_engine::rehearsal::{Asked, Web};
use evercrawl_fetch::Fetched;
use evercrawl_model::{PageKey, Time};
use evercrawl_state::PageRow;
use evercrawl_urls::Canonical;

/// A page that changes every hour, until it moves; and one that was never elsewhere.
struct Moves {
    at: Time,
    /// When the other page begins to link to where it will be.
    linked: Time,
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
            "other" => {
                let link = if now >= self.linked { "<a href=/new>new</a>" } else { "" };
                fetched(200, &html, words(7) + link, TOOK)
            }
            _ => fetched(404, &[], String::new(), TOOK),
        };
        (answer, TOOK)
    }
}

const MOVES: Time = Time::from_secs(START.secs() + 60 * 3600);
const OLD: &str = "http://a.test/old";
const NEW: &str = "http://a.test/new";
const OTHER: &str = "http://a.test/other";

/// A crawl that has seen the old page for sixty hours, and a link to the new one from `linked` on.
fn watched(dir: &Path, linked: Time) -> Sim<Moves> {
    let seeds = [OLD, OTHER].map(str::to_owned);
    let web = Moves { at: MOVES, linked };
    let mut sim = begun(dir, web, &seeds, |config| config.schedule.recrawl = HOUR);
    sim.run(MOVES, HOUR * 60).unwrap();
    sim
}

fn page(sim: &Sim<Moves>, url: &str) -> Option<(PageKey, PageRow)> {
    let (state, url) = (sim.walk.state(), Canonical::parse(url).unwrap());
    let host = state.keyer().host(url.domain(), url.authority());
    state.find(host, url.as_str()).unwrap()
}

/// How often a page is believed to change, a day.
fn rate(sim: &Sim<Moves>, url: &str, now: Time) -> Option<f64> {
    let (key, row) = page(sim, url)?;
    sim.walk.planner().change_rate_of(key, &row, now)
}

/// Crawls on until `done`, for three hours at most.
fn go_on(sim: &mut Sim<Moves>, done: impl Fn(&Sim<Moves>, Time) -> bool) -> Time {
    let mut now = MOVES;
    while !done(sim, now) {
        now = now.after(HOUR / 4);
        assert!(now < MOVES.after(HOUR * 3), "what must come does not");
        sim.run(now, HOUR).unwrap();
    }
    now
}

#[test]
fn what_was_learned_of_a_page_goes_with_it() {
    let dir = tempfile::tempdir().unwrap();
    let mut sim = watched(dir.path(), Time::NEVER);
    let learned = rate(&sim, OLD, MOVES).unwrap();
    assert!(learned > 8.0 * rate(&sim, OTHER, MOVES).unwrap());
    assert_eq!(rate(&sim, NEW, MOVES), None);
    let now = go_on(&mut sim, |sim, now| rate(sim, NEW, now).is_some());
    let inherited = rate(&sim, NEW, now).unwrap();
    assert!((inherited / learned - 1.0).abs() < 0.1, "{learned} a day before, {inherited} now");
}

#[test]
fn it_goes_with_it_too_where_the_new_page_was_met_before_the_old_one_was_seen_to_have_moved() {
    let dir = tempfile::tempdir().unwrap();
    let mut sim = watched(dir.path(), MOVES.before(HOUR));
    let (learned, own) = (rate(&sim, OLD, MOVES).unwrap(), rate(&sim, NEW, MOVES).unwrap());
    assert!((own / learned - 1.0).abs() > 0.2, "{own} {learned}: it was to be told apart");
    let now = go_on(&mut sim, |sim, _| page(sim, OLD).unwrap().1.is_moved());
    let inherited = rate(&sim, NEW, now).unwrap();
    assert!((inherited / learned - 1.0).abs() < 0.1, "{learned} a day before, {inherited} now");
}
