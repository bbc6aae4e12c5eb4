//! What does a robots.txt that cannot be fetched any more still allow?

#![allow(clippy::unwrap_used)] // a test that cannot go on should stop there

use std::time::Duration;

use evercrawl_engine::rehearsal::{Asked, Web};
use evercrawl_fetch::{Failure, Fetched, Truncation};
use evercrawl_model::Time;

use crate::common::fetched;
use crate::common::rehearsed::{HOUR, START, TOOK, begun};

const DAY: Duration = Duration::from_secs(24 * 3600);

/// How requests for robots.txt end after the first one.
#[derive(Clone, Copy, Debug)]
enum Later {
    Cut,
    ServerError,
    NoAnswer,
}

/// A host whose robots.txt comes whole once, and then no more.
struct Host {
    later: Later,
    robots: Vec<Time>,
    pages: Vec<(Time, String)>,
}

impl Web for Host {
    fn answer(&mut self, asked: &Asked<'_>, now: Time) -> (Fetched, Duration) {
        let path = asked.url.splitn(4, '/').nth(3).unwrap();
        if path != "robots.txt" {
            self.pages.push((now, path.to_owned()));
            let html = [("content-type", "text/html")];
            let text = "<p>A page.</p><a href=/no/page>a</a><a href=/page>b</a>".to_owned();
            return (fetched(200, &html, text, TOOK), TOOK);
        }
        self.robots.push(now);
        let rules = "User-agent: *\nDisallow: /no/\n".to_owned();
        let mut answer = fetched(200, &[("content-type", "text/plain")], rules, TOOK);
        match self.later {
            _ if self.robots.len() == 1 => {}
            Later::Cut => {
                let response = answer.result.as_mut().unwrap();
                response.body = bytes::Bytes::from_static(b"User-agent: *\nAllow: /\n").into();
                response.truncated = Some(Truncation::Disconnect);
            }
            Later::ServerError => answer = fetched(500, &[], String::new(), TOOK),
            Later::NoAnswer => answer.result = Err(Failure::Disconnected),
        }
        (answer, TOOK)
    }
}

#[test]
fn the_last_good_robots_txt_is_in_force_for_a_month_and_then_nothing_is_allowed() {
    for later in [Later::Cut, Later::ServerError, Later::NoAnswer] {
        let dir = tempfile::tempdir().unwrap();
        let web = Host { later, robots: Vec::new(), pages: Vec::new() };
        let mut sim = begun(dir.path(), web, &["http://h.test/".to_owned()], |config| {
            config.schedule.recrawl = 6 * HOUR;
        });
        sim.run(START.after(40 * DAY), DAY).unwrap();
        let Host { robots, pages, .. } = &sim.web;
        assert!(pages.iter().all(|(_, path)| !path.starts_with("no/")), "{later:?}");
        let days: Vec<u64> =
            pages.iter().map(|(at, _)| at.since(START).as_secs() / 86_400).collect();
        let from =
            |first: u64, last: u64| days.iter().filter(|day| (first..last).contains(*day)).count();
        assert!(from(0, 1) >= 4, "{later:?}: {days:?}");
        assert!(robots.len() > 5, "{later:?}: asked again {} times", robots.len());
        if matches!(later, Later::NoAnswer) {
            // The host is blocked as one that does not answer.
            assert!(from(2, 30) <= 10, "{later:?}: {days:?}");
        } else {
            assert!(from(2, 29) > 50, "{later:?}: {days:?}");
        }
        assert_eq!(from(32, 41), 0, "{later:?}: {days:?}");
    }
}
