//! Is a mirror crawled once, and nothing lost that it alone holds?
#![allow(clippy::unwrap_used, reason = "a failing test panics")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::common::Place;
use crate::common::site::{Answer, Request, Site};
use crate::common::web::{Asked, Web};
use evercrawl_testweb::{HostShares, PageShares, ReachScope, World, WorldConfig};
use rustix::process::Signal;

/// A web in which so many hosts are mirrors of a few others, page by page.
fn exact_mirrors(mirrors: u32, originals: u32, pages: u32) -> Web {
    mirrored_web(mirrors, originals, pages, PageShares::default())
}

fn mirrored_web(mirrors: u32, originals: u32, pages: u32, page_shares: PageShares) -> Web {
    let (calm, hosts) = (WorldConfig { page_shares, ..WorldConfig::calm() }, mirrors + originals);
    let mirror = f64::from(mirrors) / f64::from(hosts);
    let host_shares = HostShares { mirror, ..calm.host_shares.clone() };
    let webs = (1..).map(|seed| WorldConfig { hosts, pages, seed, ..calm.clone() });
    let mut webs = webs.map(|config| WorldConfig { host_shares: host_shares.clone(), ..config });
    let fits = |config: &WorldConfig| {
        let world = World::new(config.clone());
        (0..hosts).filter(|host| world.mirrored(*host).is_some()).count() == mirrors as usize
    };
    Web::serve(webs.find(fits).unwrap())
}

/// Crawls such a web, and says what share was asked for of the pages that are only copies.
fn share_asked_of_copies(web: Web) -> f64 {
    let hosts = web.world().config().hosts;
    let seeds = web.seeds(hosts);
    let mirrored = |host: u32| web.world().mirrored(host);
    // Two mirrors of one original stand in for each other and for it.
    let origins: BTreeMap<String, u32> = (0..hosts)
        .map(|host| (web.world().host_name(host), mirrored(host).unwrap_or(host)))
        .collect();
    let place = Place::new();
    let words = format!("crawl {} --once --delay 0s --quiet {}", seeds.join(" "), web.flags());
    place.run(&words).expect(0);

    let content = |url: &str| {
        let rest = url.strip_prefix("http://").unwrap();
        let (name, path) = rest.split_at(rest.find('/').unwrap());
        (origins[name], path.to_owned())
    };
    let reachable = web.reachable(&seeds, ReachScope::Host);
    let all: BTreeSet<_> = reachable.iter().map(|url| content(url)).collect();
    let urls: BTreeSet<String> = web.stop().requests().iter().map(Asked::url).collect();
    let asked: Vec<_> = urls.iter().map(|url| content(url)).filter(|it| all.contains(it)).collect();
    let held: BTreeSet<_> = asked.iter().cloned().collect();
    assert_eq!(all.difference(&held).next(), None, "nobody was asked for it");
    let hosts_of = |origin: &u32| origins.values().filter(|of| *of == origin).count();
    let copies: usize = all.iter().map(|(origin, _)| hosts_of(origin) - 1).sum();
    (asked.len() - held.len()) as f64 / copies as f64
}

#[test]
fn mirrors_cost_little_and_every_page_is_fetched_from_somewhere() {
    let share = share_asked_of_copies(exact_mirrors(4, 2, 400));
    eprintln!("{:.1} % of the copies were asked for", 100.0 * share);
    assert!(share <= 0.1, "{share}");
}

#[test]
fn nothing_is_lost_where_each_mirror_lacks_other_pages() {
    // What moved, died or is private differs from host to host here, whichever is taken for the original.
    let share = share_asked_of_copies(mirrored_web(4, 2, 150, WorldConfig::calm().page_shares));
    assert!(share < 0.5, "{share}");
}

#[test]
#[ignore = "a minute: 60 hosts of 500 pages"]
fn fifty_mirrors_of_five_hundred_pages_cost_a_tenth_at_most() {
    let share = share_asked_of_copies(exact_mirrors(50, 10, 500));
    eprintln!("{:.1} % of the copies were asked for", 100.0 * share);
    assert!(share <= 0.1, "{share}");
}

const PAGES: usize = 60;

/// `o.test` and its mirror, which it links to. The mirror alone has `/own0` to `/own4`, and `/p40`, which is gone from the
/// original, and `/p41`, which only leads elsewhere there. From some moment on its pages are its own.
fn two_hosts(departed: Arc<AtomicBool>) -> Site {
    Site::serve(move |request: &Request| {
        let (host, path) = request.page.split_once('/').unwrap();
        let mirror = host == "m.test";
        let word = if mirror && departed.load(Ordering::Relaxed) { "of its own" } else { "" };
        match path {
            "" => {
                let links = (0..PAGES).map(|n| format!("<a href='/p{n}'>page {n}</a> "));
                let own = (0..5).map(|n| format!("<a href='/own{n}'>own {n}</a> "));
                let other = "<a href='http://m.test/'>also there</a>".to_owned();
                let more = if mirror { own.collect() } else { other };
                Answer::page(links.collect::<String>() + &more + word)
            }
            "p40" if !mirror => Answer::status("404 Not Found"),
            "p41" if !mirror => Answer::status("302 Found").with("Location: /p1"),
            path if path.starts_with('p') => Answer::page(format!("<p>This is {path} {word}")),
            path if path.starts_with("own") && mirror => Answer::page(format!("<p>Only {path}")),
            _ => Answer::status("404 Not Found"),
        }
    })
}

const CRAWL: &str = "crawl http://o.test/ --scope any --once --delay 0s --quiet";

fn pages_asked(site: &Site, host: &str) -> usize {
    let asked = |n: &usize| !site.asked(&format!("{host}/p{n}")).is_empty();
    (0..PAGES).filter(asked).count()
}

/// A page of the mirror that waits.
fn waiting(place: &Place) -> Vec<String> {
    let lines = place.run("urls --reason mirror --json").expect(0).json_lines();
    lines.iter().map(|line| line["url"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn what_a_mirror_alone_holds_is_fetched_and_the_rest_waits_with_a_reason() {
    let (site, place) = (two_hosts(Arc::default()), Place::new());
    place.run(&format!("{CRAWL} {}", site.flags())).expect(0);
    assert_eq!(pages_asked(&site, "o.test"), PAGES);
    assert!(pages_asked(&site, "m.test") < PAGES * 2 / 3, "{}", pages_asked(&site, "m.test"));
    for own in ["own0", "own1", "own2", "own3", "own4", "p40", "p41"] {
        assert!(!site.asked(&format!("m.test/{own}")).is_empty(), "{own}");
    }
    let waits = waiting(&place);
    assert_eq!(waits.len() + pages_asked(&site, "m.test"), PAGES);
    let why = place.run(&format!("why {}", waits[0])).expect(0).out;
    for words in ["refused", "mirror", "m.test mirrors o.test", "alike", "evercrawl trust m.test"] {
        assert!(why.contains(words), "{words} in {why}");
    }
    let status = place.run("status --json").expect(0).json();
    assert_eq!(status["mirrors"], 1);
    assert!(place.run("status").expect(0).out.contains("1 host mirrors another;"));
    place.run("check").expect(0);

    place.run("trust m.test").expect(0);
    assert!(waiting(&place).is_empty());
    place.run(&format!("crawl --once --delay 0s --quiet {}", site.flags())).expect(0);
    assert_eq!(pages_asked(&site, "m.test"), PAGES);
    assert!(place.run("wishes").expect(0).out.contains("m.test is trusted"));
    place.run("resume m.test").expect(0);
    place.run("trust nobody.test").expect(1).explains(&["cannot trust", "no page of this host"]);
}

#[test]
fn a_setting_lets_mirrors_be_fetched_as_any_host() {
    let (site, place) = (two_hosts(Arc::default()), Place::new());
    place.run(&format!("{CRAWL} {}", site.flags())).expect(0);
    assert!(!waiting(&place).is_empty());
    place.run(&format!("{CRAWL} -s crawl.mirrors=fetch {}", site.flags())).expect(0);
    assert_eq!((pages_asked(&site, "m.test"), waiting(&place).len()), (PAGES, 0));
    place
        .run("crawl --once -s crawl.mirrors=no")
        .expect(3)
        .explains(&["`no` is not valid; use skip or fetch"]);
}

#[test]
fn a_mirror_that_departs_is_one_no_more() {
    let departed = Arc::new(AtomicBool::default());
    let (site, place) = (two_hosts(departed.clone()), Place::new());
    place.run(&format!("{CRAWL} --recrawl 1s {}", site.flags())).expect(0);
    assert!(!waiting(&place).is_empty());
    departed.store(true, Ordering::Relaxed);
    let again = format!("crawl --recrawl 1s --delay 0s --quiet {}", site.flags());
    let mut running = place.start(&again);
    running.wait_until("all pages of what was a mirror", || pages_asked(&site, "m.test") == PAGES);
    running.signal(Signal::INT);
    running.wait().expect(11);
    assert_eq!(place.run("status --json").expect(0).json()["mirrors"], 0);
}

/// Text of 400 words that no other page has.
fn prose(page: &str) -> String {
    let first: u64 = page.bytes().fold(7, |sum, byte| sum * 31 + u64::from(byte));
    (0..400).map(|n| format!("w{} ", first.wrapping_mul(2 * n + 1) % 9973)).collect()
}

/// How many of a host's pages are asked for, where each says `word` besides what the other host has there.
fn asked_where_pages_say(word: &str) -> usize {
    let word = word.to_owned();
    let site = Site::serve(move |request: &Request| {
        let (host, path) = request.page.split_once('/').unwrap();
        let own = if host == "m.test" { word.as_str() } else { "" };
        match path {
            "" => {
                let links = (0..PAGES).map(|n| format!("<a href='/p{n}'>page {n}</a> "));
                let other = "<a href='http://m.test/'>also there</a>".to_owned();
                Answer::page(links.collect::<String>() + &other + own)
            }
            path if path.starts_with('p') => Answer::page(format!("<p>{} {own}", prose(path))),
            _ => Answer::status("404 Not Found"),
        }
    });
    let place = Place::new();
    place.run(&format!("{CRAWL} {}", site.flags())).expect(0);
    assert_eq!(pages_asked(&site, "o.test"), PAGES);
    if waiting(&place).is_empty() {
        return pages_asked(&site, "m.test");
    }
    let named = place.run("spam --json").expect(0).json_lines();
    assert!(named.iter().any(|line| line["mirror_of"] == "o.test"), "{named:?}");
    pages_asked(&site, "m.test")
}

#[test]
fn a_mirror_that_names_itself_is_one_too_and_one_with_texts_of_its_own_is_not() {
    let asked = asked_where_pages_say("Served by m.test");
    assert!(asked < PAGES * 2 / 3, "{asked}");
    let own = "and here is quite another text, which goes on for long enough to be something else to read. ".repeat(6);
    assert_eq!(asked_where_pages_say(&own), PAGES);
}
