//! Is every turn in the life of a page told, with its reason, and is a site that changes as a whole one
//! event?
#![allow(clippy::unwrap_used)] // a test that cannot go on should stop there

use std::time::Duration;

use crate::common::fetched;
use crate::common::rehearsed::{HOUR, START, Sim, TOOK, begun, words};
use evercrawl_engine::rehearsal::{Asked, Web};
use evercrawl_fetch::Fetched;
use evercrawl_model::{Change, LifeChange, LifeState, LogNotice, Outcome, Refusal, Time};
use evercrawl_state::{LogEntry, Store, View};

const HTML: [(&str, &str); 1] = [("content-type", "text/html")];

/// A page whose server is out of order from an hour to another, and the times at which it was asked for.
struct Outage {
    hours: (u32, u32),
    asked: Vec<Time>,
}

impl Web for Outage {
    fn answer(&mut self, asked: &Asked<'_>, now: Time) -> (Fetched, Duration) {
        if !asked.url.ends_with("/page") {
            return (fetched(404, &[], String::new(), TOOK), TOOK);
        }
        self.asked.push(now);
        let broken = START.after(HOUR * self.hours.0)..START.after(HOUR * self.hours.1);
        let answer = if broken.contains(&now) {
            fetched(500, &HTML, "out of order".to_owned(), TOOK)
        } else {
            fetched(200, &HTML, words(now.since(START).as_secs() / 7200), TOOK)
        };
        (answer, TOOK)
    }
}

/// The turns in a log, each with the reason.
fn turns<S: Store>(state: &View<S>) -> Vec<(LifeState, LifeState, String)> {
    let told = |entry: LogEntry| match entry {
        LogEntry::Visit(visit, Some(LifeChange { from, to })) => {
            Some((from, to, visit.outcome.code().to_owned()))
        }
        LogEntry::Notice(LogNotice::LifeChanged {
            change: LifeChange { from, to },
            reason,
            ..
        }) => Some((from, to, reason.code().to_owned())),
        _ => None,
    };
    state.log(0).filter_map(|entry| told(entry.unwrap().1)).collect()
}

fn turn(from: LifeState, to: LifeState, reason: &str) -> (LifeState, LifeState, String) {
    (from, to, reason.to_owned())
}

#[test]
fn a_page_that_fails_is_tried_ever_more_rarely_and_comes_back() {
    let dir = tempfile::tempdir().unwrap();
    let web = Outage { hours: (3, 9), asked: Vec::new() };
    let mut sim = begun(dir.path(), web, &["http://a.test/page".to_owned()], |_| {});
    sim.set_budget(0.1);
    sim.run(START.after(HOUR * 14), HOUR * 24).unwrap();
    let within = |from: u32, to: u32| {
        let (from, to) = (START.after(HOUR * from), START.after(HOUR * to));
        sim.web.asked.iter().filter(|at| **at >= from && **at < to).count()
    };
    // One, two, four .. minutes after each other: nine in six hours.
    assert!((6..=10).contains(&within(3, 9)), "{} requests in six hours", within(3, 9));
    assert!(within(9, 14) > 20, "it is as it was: {}", within(9, 14));
    let state = sim.walk.state();
    assert_eq!(
        turns(state),
        [
            turn(LifeState::New, LifeState::Live, "ok"),
            turn(LifeState::Live, LifeState::Failing, "server_error"),
            turn(LifeState::Failing, LifeState::Live, "ok"),
        ]
    );
    assert_eq!(state.counters().living(LifeState::Live), Some(1));
    assert_eq!(state.counters().living(LifeState::Failing), Some(0));
}

#[test]
fn a_page_that_never_comes_back_is_given_up_after_days_and_looked_at_rarely() {
    let dir = tempfile::tempdir().unwrap();
    let web = Outage { hours: (3, 24 * 365), asked: Vec::new() };
    let mut sim = begun(dir.path(), web, &["http://a.test/page".to_owned()], |_| {});
    sim.run(START.after(HOUR * 24 * 4), HOUR * 24).unwrap();
    assert_eq!(sim.walk.counters().living(LifeState::Failing), Some(1), "four days are no end");
    sim.run(START.after(HOUR * 24 * 40), HOUR * 24 * 30).unwrap();
    let refused = turn(LifeState::Failing, LifeState::Refused, Refusal::ErrorHistory.code());
    assert!(turns(sim.walk.state()).contains(&refused));
    assert!(sim.web.asked.len() < 300, "{} requests", sim.web.asked.len());
}

/// A page that leads to the front page of another host at every visit, of many.
struct Leads(u64);

impl Web for Leads {
    fn answer(&mut self, asked: &Asked<'_>, _now: Time) -> (Fetched, Duration) {
        if !asked.url.ends_with("/page") {
            return (fetched(404, &[], String::new(), TOOK), TOOK);
        }
        self.0 += 1;
        let away = format!("http://n{}.test/", self.0);
        (fetched(302, &[("location", &away)], String::new(), TOOK), TOOK)
    }
}

#[test]
fn a_page_that_always_led_elsewhere_is_not_gone_when_it_leads_to_a_front_page() {
    let dir = tempfile::tempdir().unwrap();
    let mut sim = begun(dir.path(), Leads(0), &["http://a.test/page".to_owned()], |config| {
        config.schedule.recrawl = HOUR;
    });
    sim.run(START.after(HOUR * 9), HOUR * 24).unwrap();
    assert!(sim.web.0 >= 8, "{} visits", sim.web.0);
    let mut outcomes = sim.walk.state().log(0).filter_map(|entry| match entry.unwrap().1 {
        LogEntry::Visit(visit, _) => Some(visit.outcome),
        LogEntry::Notice(_) => None,
    });
    assert!(outcomes.all(|outcome| outcome != Outcome::SoftGone));
}

const PAGES: u64 = 60;

/// A site whose pages stay as they are, in a frame that is another from an hour on.
struct Framed {
    at: Time,
    menu: u64,
}

impl Framed {
    /// The words of a menu, one a line.
    fn menu(&self, version: u64) -> String {
        let entry = |n: u64| format!("<li>entry {} of menu {version}", n * n + 7);
        (0..self.menu).map(entry).collect()
    }
}

impl Web for Framed {
    fn answer(&mut self, asked: &Asked<'_>, now: Time) -> (Fetched, Duration) {
        let page = asked.url.rsplit_once("/p").and_then(|(_, number)| number.parse::<u64>().ok());
        let answer = match page {
            Some(page) => {
                let menu = self.menu(u64::from(now >= self.at));
                let text: String = (0..12).map(|n| words(page * 977 + n * 31)).collect();
                fetched(200, &HTML, format!("<ul>{menu}</ul>{text}"), TOOK)
            }
            None => fetched(404, &[], String::new(), TOOK),
        };
        (answer, TOOK)
    }
}

/// A crawl of a framed site; how many changes it found after the frame became another, and how many
/// events of the whole site.
fn framed(menu: u64) -> (usize, usize) {
    let (dir, at) = (tempfile::tempdir().unwrap(), START.after(HOUR * 30));
    let seeds: Vec<String> = (0..PAGES).map(|page| format!("http://a.test/p{page}")).collect();
    let mut sim: Sim<Framed> = begun(dir.path(), Framed { at, menu }, &seeds, |config| {
        config.schedule.recrawl = HOUR * 6;
    });
    sim.run(START.after(HOUR * 72), HOUR * 24).unwrap();
    let (mut changes, mut events) = (0, 0);
    for entry in sim.walk.state().log(0) {
        match entry.unwrap().1 {
            LogEntry::Visit(visit, _) => {
                let told = matches!(visit.change, Change::Changed | Change::Near);
                changes += usize::from(told && visit.at >= at);
            }
            LogEntry::Notice(LogNotice::SiteChanged { .. }) => events += 1,
            LogEntry::Notice(_) => {}
        }
    }
    (changes, events)
}

#[test]
fn a_new_frame_of_a_whole_site_is_one_event_and_not_a_change_of_every_page() {
    for menu in [2, 6, 20, 60] {
        let (changes, events) = framed(menu);
        eprintln!("a menu of {menu}: {changes} of {PAGES} pages changed, {events} events");
        assert_eq!(events, 1, "a menu of {menu}");
        assert!(changes <= 4, "a menu of {menu}: {changes} of {PAGES} pages");
    }
}
