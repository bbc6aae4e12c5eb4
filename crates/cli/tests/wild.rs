//! Does a crawl of a web that misbehaves in every way it can stay polite, alive and consistent?
#![allow(clippy::unwrap_used, reason = "a failing test panics")]

use std::time::Duration;

use crate::common::Place;
use crate::common::web::Web;
use evercrawl_testweb::WorldConfig;

#[test]
fn nothing_a_server_does_stops_the_crawl() {
    let world = WorldConfig { hosts: 60, pages: 20, seed: 3, ..WorldConfig::wild() };
    let (web, place) = (Web::serve(world), Place::new());
    place.write("seeds.txt", &web.seeds(60).join("\n"));
    // Some servers never answer, and others give a byte a second.
    let patience = "-s fetch.timeout_answer=2s -s fetch.timeout_total=4s";
    let flags = format!("--delay 20ms --recrawl 1s {patience} {}", web.flags());
    place.run(&format!("crawl --seeds seeds.txt --for 5s {flags}")).expect(15);
    place.run("check --deep").expect(0);

    let total = &place.run("status --json").expect(0).json()["total"];
    let count = |path: &str| total.pointer(path).and_then(|n| n.as_u64()).unwrap_or(0);
    for seen in [
        "/visits_by_change/new",
        "/visits_by_change/changed",
        "/visits_by_change/same",
        "/visits_by_change/gone",
        "/visits_by_change/failed",
        "/visits_by_outcome/redirect",
        "/visits_by_outcome/server_error",
        "/refused_by_reason/robots",
        "/refused_by_reason/nofollow",
        "/duplicates",
        "/near_duplicates",
    ] {
        assert!(count(seen) > 0, "no {seen} in {total}");
    }
    let manners = web.stop().manners(Duration::ZERO);
    assert_eq!(manners.forbidden, 0, "{manners:#?}");
    assert!(manners.requests > 500, "{}", manners.requests);
}
