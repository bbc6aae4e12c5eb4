//! Are servers believed no further than they deserve: when they say that nothing changed, and when they
//! say one thing and then another?

#![allow(clippy::unwrap_used)] // a test that cannot go on should stop there

use std::collections::HashMap;
use std::time::Duration;

use evercrawl_engine::planner::Validator;
use evercrawl_engine::rehearsal::{Asked, Web};
use evercrawl_fetch::Fetched;
use evercrawl_model::Time;
use evercrawl_urls::Canonical;

use crate::common::fetched;
use crate::common::rehearsed::{HOUR, START, TOOK, begun, words};

/// Two hosts whose pages change every hour: one has a tag for every version, the other the same for all.
#[derive(Default)]
struct Tags {
    /// Requests of each host, and those of them that asked "changed since?".
    requests: HashMap<bool, Vec<bool>>,
}

impl Web for Tags {
    fn answer(&mut self, asked: &Asked<'_>, now: Time) -> (Fetched, Duration) {
        let liar = asked.url.starts_with("http://liar.test/");
        let path = asked.url.splitn(4, '/').nth(3).unwrap();
        let Ok(page) = path.parse::<u64>() else {
            return (fetched(404, &[], String::new(), TOOK), TOOK);
        };
        self.requests.entry(liar).or_default().push(asked.etag.is_some());
        let version = now.since(START).as_secs() / 3500;
        let tag = if liar { "\"always\"".to_owned() } else { format!("\"{version}\"") };
        let fields = [("content-type", "text/html"), ("etag", tag.as_str())];
        if asked.etag == Some(tag.as_str()) {
            return (fetched(304, &fields, String::new(), TOOK), TOOK);
        }
        (fetched(200, &fields, words(page * 1000 + version), TOOK), TOOK)
    }
}

#[test]
fn a_tag_that_hides_changes_is_found_out() {
    let hosts = ["honest", "liar"];
    let pages = |host| (1..=5).map(move |page| format!("http://{host}.test/{page}"));
    let seeds: Vec<String> = hosts.into_iter().flat_map(pages).collect();
    let dir = tempfile::tempdir().unwrap();
    let mut sim =
        begun(dir.path(), Tags::default(), &seeds, |config| config.schedule.recrawl = HOUR);
    sim.run(START.after(HOUR * 48), HOUR * 48).unwrap();

    let share = |requests: &[bool]| {
        let late = &requests[requests.len() / 2..];
        late.iter().filter(|asked| **asked).count() as f64 / late.len() as f64
    };
    let [honest, liar] = [false, true].map(|liar| share(&sim.web.requests[&liar]));
    assert!(honest > 0.9, "the honest one is asked: {honest}");
    assert!(liar < 0.05, "the liar is not: {liar}");
    let planner = sim.walk.planner();
    let state = sim.walk.state();
    let proved = |seed: &str| {
        let url = Canonical::parse(seed).unwrap();
        let host = state.keyer().host(url.domain(), url.authority());
        let mut all = planner.validators_of(host).filter(|(which, _)| *which == Validator::ETag);
        all.next().unwrap().1
    };
    assert!(proved(&seeds[0]).recall() > 0.9 && proved(&seeds[5]).recall() < 0.2);
    let learned = planner.encode_learned();
    let mut again = evercrawl_engine::Planner::new(*planner.plan()).unwrap();
    assert!(again.restore_learned(&learned) && again.validators().count() == 2);
}

/// A manual, some pages of which speak of what does not exist, on a host that says so when it has no such page.
#[derive(Default)]
struct Manual {
    visits: HashMap<String, u32>,
}

impl Web for Manual {
    fn answer(&mut self, asked: &Asked<'_>, _: Time) -> (Fetched, Duration) {
        let page = asked.url.rsplit('/').next().unwrap().parse::<u64>();
        let Ok(page) = page else {
            return (fetched(404, &[], String::new(), TOOK), TOOK);
        };
        *self.visits.entry(asked.url.to_owned()).or_default() += 1;
        let error = if page % 10 == 0 { "<p>It is an error if it does not exist." } else { "" };
        let html = format!("{error}{}", words(page));
        (fetched(200, &[("content-type", "text/html")], html, TOOK), TOOK)
    }
}

#[test]
fn a_good_page_that_speaks_of_what_does_not_exist_is_looked_at_once_more_at_most() {
    let pages = (0..300).map(|page| format!("http://manual.test/{page}"));
    let seeds: Vec<String> = pages.chain(["http://leaflet.test/0".to_owned()]).collect();
    for (per_host, new_only) in [(1, false), (8, false), (1, true), (8, true)] {
        let dir = tempfile::tempdir().unwrap();
        let mut sim = begun(dir.path(), Manual::default(), &seeds, |config| {
            config.schedule.recrawl = HOUR * 24;
            config.frontier.per_host = per_host;
            config.frontier.new_only = new_only;
        });
        sim.run(START.after(HOUR), HOUR).unwrap();
        let [_, live, failing, ..] = sim.walk.counters().lives.unwrap();
        assert_eq!((live, failing), (seeds.len() as u64, 0), "{per_host} at a time");
        // Audits look at others a second time.
        let doubted = sim.web.visits.iter().filter(|(url, _)| url.ends_with('0'));
        let again: Vec<_> = doubted.filter(|(_, visits)| **visits > 1).collect();
        assert!(again.iter().all(|(_, visits)| **visits == 2), "{again:?}");
        assert!(again.len() <= 1 + per_host, "before the host had answered: {again:?}");
    }
}

/// A page that shows another text at its second visit, and then again the first.
#[derive(Default)]
struct ToAndFro {
    visits: Vec<Time>,
}

impl Web for ToAndFro {
    fn answer(&mut self, asked: &Asked<'_>, now: Time) -> (Fetched, Duration) {
        if !asked.url.ends_with("/page") {
            return (fetched(404, &[], String::new(), TOOK), TOOK);
        }
        self.visits.push(now);
        let version = u64::from(self.visits.len() == 2);
        (fetched(200, &[("content-type", "text/html")], words(version), TOOK), TOOK)
    }
}

#[test]
fn a_change_back_is_looked_at_again_where_that_is_asked_for() {
    let gaps = |confirm| {
        let dir = tempfile::tempdir().unwrap();
        let seed = "http://flaps.test/page".to_owned();
        let mut sim = begun(dir.path(), ToAndFro::default(), &[seed], |config| {
            config.schedule.recrawl = HOUR;
            config.schedule.confirm = confirm;
        });
        sim.run(START.after(HOUR * 5), HOUR * 5).unwrap();
        let visits = &sim.web.visits;
        let gaps = visits.windows(2).map(|pair| pair[1].since(pair[0]).as_secs() / 60);
        gaps.collect::<Vec<u64>>()
    };
    assert_eq!(gaps(None), [60; 4]);
    assert_eq!(gaps(Some(HOUR / 6)), [60, 60, 10, 60, 60]);
}
