//! Does a host that waits get its turn, however slow those are that have theirs?

#![allow(clippy::unwrap_used)] // a test that cannot go on should stop there

use std::collections::HashMap;
use std::time::Duration;

use evercrawl_engine::rehearsal::{Asked, Web};
use evercrawl_fetch::Fetched;
use evercrawl_model::Time;

use crate::common::fetched;
use crate::common::rehearsed::{HOUR, START, TOOK, begun, words};

/// Hosts of very many pages, some of which want long pauses.
#[derive(Default)]
struct Hosts {
    /// The pause that each host asks for, in seconds.
    pauses: HashMap<String, u64>,
    /// One that fails until then.
    failing: Option<(String, Time)>,
    /// When each was asked for a page.
    asked: HashMap<String, Vec<Time>>,
}

impl Web for Hosts {
    fn answer(&mut self, asked: &Asked<'_>, now: Time) -> (Fetched, Duration) {
        let mut parts = asked.url.splitn(4, '/').skip(2);
        let (host, path) = (parts.next().unwrap(), parts.next().unwrap());
        let html = [("content-type", "text/html")];
        if path == "robots.txt" {
            let pause = self.pauses.get(host).copied().unwrap_or_default();
            let rules = format!("User-agent: *\nCrawl-delay: {pause}\n");
            return (fetched(200, &[("content-type", "text/plain")], rules, TOOK), TOOK);
        }
        if self.failing.as_ref().is_some_and(|(failing, until)| failing == host && now < *until) {
            let again = [("retry-after", "120")];
            return (fetched(503, &again, String::new(), TOOK), TOOK);
        }
        self.asked.entry(host.to_owned()).or_default().push(now);
        let links = (1..4000).map(|page| format!("<a href=/{page}>on</a>")).collect::<String>();
        // No two hosts have a text in common, or they would count as mirrors.
        let of_host = host
            .bytes()
            .filter(u8::is_ascii_digit)
            .fold(0, |sum, digit| 10 * sum + u64::from(digit - b'0'));
        let number = path.parse().unwrap_or(0) + 4096 * of_host;
        let text = if path.is_empty() { format!("{host} {links}") } else { words(number) };
        (fetched(200, &html, text, TOOK), TOOK)
    }
}

impl Hosts {
    /// The longest that a host waited, for its first page, between two, or at the end.
    fn longest_wait(&self, host: &str, end: Time) -> Duration {
        let asked = self.asked.get(host).map(Vec::as_slice).unwrap_or_default();
        let moments: Vec<Time> = [START].iter().chain(asked).chain([&end]).copied().collect();
        moments.windows(2).map(|two| two[1].since(two[0])).max().unwrap()
    }
}

fn seeds(names: &[String]) -> Vec<String> {
    names.iter().map(|name| format!("http://{name}/")).collect()
}

#[test]
fn no_host_waits_longer_than_the_hosts_before_it_have_turns() {
    let names: Vec<String> = (0..30).map(|n| format!("h{n}.test")).collect();
    let pauses = names.iter().enumerate().filter(|(n, _)| n % 3 > 0);
    let pauses = pauses.map(|(_, name)| (name.clone(), 30)).collect();
    let dir = tempfile::tempdir().unwrap();
    let web = Hosts { pauses, ..Hosts::default() };
    let (places, end) = (5, START.after(2 * HOUR));
    let mut sim = begun(dir.path(), web, &seeds(&names), |config| {
        config.schedule.recrawl = 100 * HOUR;
        config.frontier.quantum = 100;
        config.frontier.active_hosts = places;
    });
    sim.run(end, HOUR).unwrap();
    // A turn is a minute, and the pause that was on when it ended. Hosts that were never asked wait in a queue of
    // their own, so that in the first round each queue has half of the places.
    let turn = Duration::from_secs(60 + 31);
    let rounds = (names.len() - places) as u32 / (places as u32 / 2);
    for name in &names {
        let waited = sim.web.longest_wait(name, end);
        assert!(waited <= turn * rounds, "{name} waited for {waited:?}");
    }
}

#[test]
fn a_host_in_a_long_pause_leaves_its_place_to_others() {
    let names = ["slow.test".to_owned(), "quick.test".to_owned()];
    let web = Hosts { pauses: [(names[0].clone(), 300)].into(), ..Hosts::default() };
    let dir = tempfile::tempdir().unwrap();
    let mut sim = begun(dir.path(), web, &seeds(&names), |config| {
        config.schedule.recrawl = 100 * HOUR;
        config.frontier.quantum = 100;
        config.frontier.active_hosts = 1;
        config.frontier.pace.max_crawl_delay = Duration::from_secs(300);
    });
    sim.run(START.after(HOUR), HOUR).unwrap();
    let [slow, quick] = names.map(|name| sim.web.asked.remove(&name).unwrap_or_default());
    assert!(quick.len() > 3000, "{} pages of the quick one", quick.len());
    assert!((9..=12).contains(&slow.len()), "{} pages of the slow one", slow.len());
    let pauses = slow.windows(2).map(|two| two[1].since(two[0]).as_secs());
    assert!(pauses.min() >= Some(300));
}

#[test]
fn a_host_that_was_blocked_takes_its_turn_among_the_others() {
    let names: Vec<String> = (0..6).map(|n| format!("h{n}.test")).collect();
    let until = START.after(Duration::from_secs(100));
    let web = Hosts { failing: Some((names[0].clone(), until)), ..Hosts::default() };
    let dir = tempfile::tempdir().unwrap();
    let mut sim = begun(dir.path(), web, &seeds(&names), |config| {
        config.schedule.recrawl = 100 * HOUR;
        config.frontier.quantum = 100;
        config.frontier.active_hosts = 2;
    });
    sim.run(START.after(HOUR), HOUR).unwrap();
    let asked = sim.web.asked.get(&names[0]).map_or(0, Vec::len);
    assert!(asked > 300, "{asked} pages of the one that had failed");
}
