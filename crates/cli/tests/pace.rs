//! Are hosts, addresses and the budget given the time that they are due?
#![allow(clippy::unwrap_used, reason = "a failing test panics")]

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::common::proxy::Proxy;
use crate::common::site::{Answer, Site};
use crate::common::{NOISE, Place, wait_until};

/// A site of a few pages on any host, with these rules for robots.
fn site(robots: &'static str) -> Site {
    Site::serve(move |request| match request.page.split_once('/').unwrap().1 {
        "robots.txt" => Answer::status("200 OK").body(robots),
        "" => Answer::page("<a href=/1>1</a><a href=/2>2</a>"),
        "1" | "2" => Answer::page(request.page.clone()),
        _ => Answer::status("404 Not Found"),
    })
}

/// Fails when two requests to hosts that end so came closer than this.
#[track_caller]
fn keeps_apart(site: &Site, host: &str, gap: Duration) {
    keeps_apart_from(site, host, gap, 0);
}

/// The same, of the requests from the one with this number on.
#[track_caller]
fn keeps_apart_from(site: &Site, host: &str, gap: Duration, first: usize) {
    let asked = site.all_asked();
    let of_host = |page: &str| page.split('/').next().unwrap().ends_with(host);
    let asked: Vec<_> = asked.iter().filter(|(_, page)| of_host(page)).collect();
    assert!(asked.len() >= 4, "{asked:?}");
    for pair in asked[first..].windows(2) {
        let [(before, first), (after, second)] = [pair[0], pair[1]];
        assert!(*after - *before + NOISE >= gap, "{second} {:?} after {first}", *after - *before);
    }
}

#[test]
fn a_crawl_delay_counts_where_it_is_longer() {
    let (site, place) = (site("User-agent: *\nCrawl-delay: 0.4\n"), Place::new());
    place.run(&format!("crawl --once http://a.test/ --delay 20ms {}", site.flags())).expect(0);
    keeps_apart(&site, "a.test", Duration::from_millis(400));
}

#[test]
fn hosts_on_one_address_share_its_pause() {
    let (site, place) = (site(""), Place::new());
    let flags = format!("--delay 20ms --ip-delay 150ms {}", site.flags());
    place.run(&format!("crawl --once http://a.test/ http://b.test/ {flags}")).expect(0);
    keeps_apart(&site, ".test", Duration::from_millis(150));
}

#[test]
fn pauses_hold_through_a_proxy() {
    let (site, place) = (site("User-agent: *\nCrawl-delay: 0.2\n"), Place::new());
    let proxy = Proxy::http(Some(site.address()));
    let flags = format!("--delay 20ms --contact a@example.org --proxy {}", proxy.url());
    place.run(&format!("crawl --once http://a.test/ http://b.test/ {flags}")).expect(0);
    keeps_apart(&site, "a.test", Duration::from_millis(200));
    keeps_apart(&site, "b.test", Duration::from_millis(200));
    assert!(proxy.asked().len() >= 8, "{:?}", proxy.asked());
}

#[test]
fn a_budget_holds_over_all_hosts() {
    let (site, place) = (site(""), Place::new());
    let seeds = ["a", "b", "c", "d"].map(|name| format!("http://{name}.test/")).join(" ");
    let flags = format!("--delay 5ms --budget 10/s {}", site.flags());
    place.run(&format!("crawl --once {seeds} {flags}")).expect(0);
    let asked = site.all_asked();
    let (first, last) = (asked.first().unwrap().0, asked.last().unwrap().0);
    // The first request is free.
    let due = Duration::from_millis(100) * u32::try_from(asked.len() - 1).unwrap();
    assert!(asked.len() >= 16, "{asked:?}");
    assert!(last - first >= due.mul_f64(0.9), "{} requests in {:?}", asked.len(), last - first);
}

#[test]
fn a_host_that_complains_is_asked_more_slowly() {
    let complained = AtomicBool::new(false);
    let site = Site::serve(move |request| match request.page.split_once('/').unwrap().1 {
        "" => Answer::page("<a href=/1>1</a><a href=/2>2</a><a href=/3>3</a>"),
        "1" if !complained.swap(true, Ordering::Relaxed) => {
            Answer::status("429 Too Many Requests").with("Retry-After: 0")
        }
        "1" | "2" | "3" => Answer::page(request.page.clone()),
        _ => Answer::status("404 Not Found"),
    });
    let place = Place::new();
    place.run(&format!("crawl --once http://a.test/ --delay 150ms {}", site.flags())).expect(0);
    let complaint = site.all_asked().iter().position(|(_, page)| page == "a.test/1").unwrap();
    assert_eq!(site.asked("a.test/1").len(), 2, "it is asked for again");
    keeps_apart_from(&site, "a.test", Duration::from_millis(300), complaint);
}

#[test]
fn the_pause_outlives_the_run() {
    let (site, place) = (site(""), Place::new());
    let crawl = format!("crawl http://a.test/ --delay 1s {}", site.flags());
    place.run(&format!("{crawl} --max-pages 1")).expect(14);
    place.run("crawl --max-pages 1").expect(14);
    place.run("crawl --max-pages 1").expect(14);
    keeps_apart(&site, "a.test", Duration::from_secs(1));
}

#[test]
fn a_crawl_delay_outlives_a_kill() {
    let (site, place) = (site("User-agent: *\nCrawl-delay: 0.8\n"), Place::new());
    place.run("add http://a.test/").expect(0);
    let crawl = place.start(&format!("crawl --once --delay 20ms {}", site.flags()));
    wait_until("the second page", || site.all_asked().len() > 2);
    drop(crawl);
    place.run("crawl --once").expect(0);
    keeps_apart_from(&site, "a.test", Duration::from_millis(800), 1);
}
