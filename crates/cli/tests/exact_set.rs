//! Does a crawl end with exactly the pages that it may reach, and does it ask politely?
#![allow(clippy::unwrap_used, reason = "a failing test panics")]

use std::time::Duration;

use crate::common::Place;
use crate::common::tools::warcio_accepts;
use crate::common::web::{Web, pages_by_status};
use evercrawl_testweb::{ReachScope, WorldConfig};

const DELAY: Duration = Duration::from_millis(50);

/// Crawls from the front pages of `seeds` hosts and compares with what the world knows.
fn crawl_finds_what_is_reachable(config: WorldConfig, seeds: u32, scope: ReachScope) {
    let (web, place) = (Web::serve(config), Place::new());
    let seeds = web.seeds(seeds);
    place.write("seeds.txt", &seeds.join("\n"));
    let scope_word = if scope == ReachScope::Any { "any" } else { "host" };
    let delay = format!("--scope {scope_word} --delay {}ms", DELAY.as_millis());
    place.run(&format!("crawl --once --seeds seeds.txt {delay} {}", web.flags())).expect(0);

    let expected = web.reachable(&seeds, scope);
    let mut pages = pages_by_status(&place);
    let found = pages.remove(&Some(200)).unwrap_or_default();
    let missed: Vec<_> = expected.difference(&found).take(10).collect();
    let wrong: Vec<_> = found.difference(&expected).take(10).collect();
    assert!(missed.is_empty() && wrong.is_empty(), "missed {missed:?}, too many {wrong:?}");
    assert!(expected.len() > 100, "a world this small shows nothing: {}", expected.len());

    // What else is known are former addresses of pages, and what robots.txt forbids.
    for (status, urls) in pages {
        for url in urls {
            match status {
                Some(301 | 302 | 307 | 308) => assert!(url.contains("/moved/"), "{url}"),
                None => assert!(!web.world().allows(host(&url), path(&url)), "{url} not visited"),
                other => panic!("{url} answered {other:?}"),
            }
        }
    }
    place.run("check --deep").expect(0);
    warcio_accepts(&place.archive_files(".warc.gz"));
    let manners = web.stop().manners(DELAY);
    assert!(manners.is_clean(), "{manners:#?}");
    assert!(manners.requests as usize > expected.len());
}

fn host(url: &str) -> &str {
    url.split('/').nth(2).unwrap()
}

fn path(url: &str) -> &str {
    let (_, rest) = url.split_once("://").unwrap();
    &rest[rest.find('/').unwrap()..]
}

#[test]
fn within_the_hosts_of_the_seeds() {
    let world = WorldConfig { hosts: 40, pages: 25, seed: 7, ..WorldConfig::calm() };
    crawl_finds_what_is_reachable(world, 25, ReachScope::Host);
}

#[test]
fn anywhere_from_one_seed() {
    let world = WorldConfig { hosts: 40, pages: 25, seed: 8, ..WorldConfig::calm() };
    crawl_finds_what_is_reachable(world, 1, ReachScope::Any);
}

#[test]
#[ignore = "ten thousand pages; `make check-large`"]
fn two_hundred_hosts_of_fifty_pages() {
    let world = WorldConfig { hosts: 200, pages: 50, seed: 9, ..WorldConfig::calm() };
    crawl_finds_what_is_reachable(world, 200, ReachScope::Host);
}
