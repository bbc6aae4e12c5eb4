//! Is a host that has new pages without end looked at again?

#![allow(clippy::unwrap_used)] // a test that cannot go on should stop there

use std::collections::HashMap;
use std::time::Duration;

use evercrawl_engine::rehearsal::{Asked, Web};
use evercrawl_fetch::Fetched;
use evercrawl_model::Time;

use crate::common::fetched;
use crate::common::rehearsed::{HOUR, START, TOOK, begun, words};

/// Eight hosts of one page, and one where every page leads to the next.
#[derive(Default)]
struct Endless {
    /// How often each page of the one without end was asked for.
    asked: HashMap<u64, u32>,
}

impl Web for Endless {
    fn answer(&mut self, asked: &Asked<'_>, _: Time) -> (Fetched, Duration) {
        let path = asked.url.splitn(4, '/').nth(3).unwrap();
        let Ok(page) = path.parse::<u64>() else {
            return (fetched(404, &[], String::new(), TOOK), TOOK);
        };
        let mut text = words(page);
        if asked.url.starts_with("http://endless.test/") {
            *self.asked.entry(page).or_default() += 1;
            text.push_str(&format!("<a href=/{}>on</a><a href=/{}>on</a>", 2 * page, 2 * page + 1));
        }
        (fetched(200, &[("content-type", "text/html")], text, TOOK), TOOK)
    }
}

#[test]
fn its_known_pages_get_their_part_of_its_requests() {
    let hosts = ["a", "b", "c", "d", "e", "f", "g", "h", "endless"];
    let seeds = hosts.map(|host| format!("http://{host}.test/1"));
    let dir = tempfile::tempdir().unwrap();
    // Others have nothing but pages that are due, so that new pages are owed far more than there are requests to this host.
    let mut sim = begun(dir.path(), Endless::default(), &seeds, |config| {
        config.schedule.recrawl = Duration::from_secs(10);
        config.frontier.pace.host = Duration::from_secs(2);
        config.frontier.active_hosts = seeds.len();
    });
    sim.run(START.after(HOUR), HOUR).unwrap();
    let asked = &sim.web.asked;
    let (new, all) = (asked.len(), asked.values().sum::<u32>() as usize);
    assert!(all > 1000, "{all} requests");
    assert!(4 * (all - new) >= all - 40, "{new} of {all} requests were for new pages");
    assert!(2 * new >= all, "{new} of {all}: new pages are owed more than their share");
}
