//! Is a crawl polite, in the eyes of somebody else? Thousands of requests to hosts with rules of
//! their own, through restarts and kills, judged by what the servers saw.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a failing test panics, and tells figures"
)]

use std::time::Duration;

use crate::common::Place;
use crate::common::proxy::Proxy;
use crate::common::touchy::{Size, Touchy};
use rustix::process::Signal;

const DELAY: Duration = Duration::from_millis(50);
const IP_DELAY: Duration = Duration::from_millis(4);
const FLAGS: &str =
    "-s pace.slow_factor=0 --contact a@example.org --allow-private=127.0.0.0/8 --quiet";

/// Crawls a web, stopped and killed in turns so often on the way; there must be no offence.
fn is_polite(size: Size, restarts: usize, proxy: Option<&Proxy>) {
    let (web, place) = (Touchy::serve(size), Place::new());
    std::fs::create_dir_all(place.data()).unwrap();
    std::fs::write(place.data().join("evercrawl.toml"), web.settings()).unwrap();
    place.write("seeds.txt", &web.seeds());
    place.run("add --seeds seeds.txt").expect(0);
    let pace = format!("--delay {}ms --ip-delay {}ms", DELAY.as_millis(), IP_DELAY.as_millis());
    let proxy = proxy.map(|proxy| format!("--proxy {}", proxy.url())).unwrap_or_default();
    let flags = format!("{pace} {FLAGS} {proxy}");
    let expected = size.hosts * size.pages / 2;
    for n in 1..=restarts {
        let mut crawl = place.start(&format!("crawl --once {flags}"));
        let enough = expected * n / (restarts + 1);
        crawl.wait_until("the next restart", || web.requests() > enough);
        if n % 2 == 0 {
            crawl.signal(Signal::INT);
            crawl.wait().expect(11);
        } else {
            web.note_kill();
            crawl.child().kill().unwrap();
        }
    }
    place.run(&format!("crawl --once {flags}")).expect(0);
    place.run("check --deep").expect(0);
    let judgement = web.judge(DELAY, IP_DELAY);
    eprintln!("{judgement:#?}");
    assert_eq!(judgement.offences(), 0, "{judgement:#?}");
    assert_eq!((judgement.hosts, judgement.addresses), (size.hosts, size.addresses.into()));
    assert!(judgement.requests > expected, "{judgement:#?}");
    assert!(judgement.delays_asked > size.hosts / 4, "{judgement:#?}");
    assert!(judgement.pauses_asked > expected / 100, "{judgement:#?}");
}

#[test]
fn thousands_of_requests_through_restarts_are_polite() {
    is_polite(Size { hosts: 100, addresses: 5, pages: 40 }, 3, None);
}

#[test]
fn requests_through_a_proxy_are_as_polite() {
    let proxies = [Proxy::http(None), Proxy::socks(None, None)];
    for proxy in &proxies {
        is_polite(Size { hosts: 40, addresses: 3, pages: 30 }, 2, Some(proxy));
        let asked = proxy.asked();
        assert!(asked.len() > 40, "it was in between: {} connections", asked.len());
    }
}

#[test]
#[ignore = "a hundred thousand requests; `make check-large`"]
fn a_hundred_thousand_requests_through_restarts_are_polite() {
    is_polite(Size { hosts: 1000, addresses: 50, pages: 150 }, 10, None);
}

/// The judge must not be one that finds everybody polite.
#[test]
fn a_rude_crawl_is_found_out() {
    let size = Size { hosts: 3, addresses: 1, pages: 12 };
    let (web, place) = (Touchy::serve(size), Place::new());
    std::fs::create_dir_all(place.data()).unwrap();
    std::fs::write(place.data().join("evercrawl.toml"), web.settings()).unwrap();
    place.write("seeds.txt", &web.seeds());
    place.run("add --seeds seeds.txt").expect(0);
    place.run(&format!("crawl --once --delay 5ms {FLAGS}")).expect(0);
    let strict = web.judge(Duration::from_secs(2), Duration::from_millis(1));
    assert!(strict.too_early > 5, "{strict:#?}");
    assert_eq!(strict.against_robots + strict.parallel, 0, "{strict:#?}");
}
