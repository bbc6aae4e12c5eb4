//! Is what is put in the place of a page told from the page, and is the good copy kept?
#![allow(clippy::unwrap_used, reason = "a failing test panics")]

use crate::common::site::{Answer, Request, Site};
use crate::common::{Place, wait_until};
use rustix::process::Signal;
use serde_json::Value;

/// Visits after which a page is something else.
const GOOD: usize = 2;

fn answer(request: &Request) -> Answer {
    let later = request.earlier >= GOOD;
    let (host, path) = request.page.split_once('/').unwrap();
    match (host, path) {
        (_, "robots.txt") => Answer::status("404 Not Found"),
        (host, "sitemap.xml") if host != "soft.test" => Answer::status("404 Not Found"),
        (_, "") if host != "parked.test" || !later => {
            Answer::page(format!("{}<a href=/story>s</a><a href=/moving>m</a>", essay("home")))
        }
        ("soft.test", "story") if !later => Answer::page(essay("the harbour")),
        ("soft.test", "moving") => Answer::page(essay("a move that never came")),
        ("soft.test", path) => sorry(path),
        ("wall.test", "story") if !later => Answer::page(essay("the vault")),
        ("wall.test", "story") => {
            Answer::status("302 Found").with("Location: /login?next=%2Fstory")
        }
        ("wall.test", "moving") if !later => Answer::page(essay("the cellar")),
        ("wall.test", "moving") => Answer::page(
            "<p>Members only<form method=post><input name=u><input type=password name=p></form>",
        ),
        ("parked.test", "story" | "moving") if !later => Answer::page(essay("the old shop")),
        ("parked.test", _) => Answer::page("<p>This domain is for sale.<p>Related searches<p>Cars"),
        ("honest.test", "story") => Answer::page("<title>404</title><p>On pages not found."),
        ("honest.test", "moving") if !later => Answer::page(essay("the ferry")),
        ("honest.test", "moving") => {
            Answer::status("301 Moved Permanently").with("Location: /moved-here")
        }
        ("honest.test", "moved-here") => Answer::page(essay("the ferry, at another pier")),
        _ => Answer::status("404 Not Found"),
    }
}

fn essay(of: &str) -> String {
    (0..40).map(|n| format!("<p>Sentence {n} of a long tale of {of}.")).collect()
}

fn sorry(path: &str) -> Answer {
    Answer::page(format!("<title>Not found</title><p>Home<p>Sorry, /{path} is not here.<p>Search"))
}

/// Every host crawled until each page has become what it becomes.
fn crawled() -> (Site, Place) {
    let (site, place) = (Site::serve(answer), Place::new());
    let seeds = "http://soft.test/ http://wall.test/ http://parked.test/ http://honest.test/";
    let flags = format!("--delay 5ms --recrawl 200ms --quiet {}", site.flags());
    let crawl = place.start(&format!("crawl {seeds} {flags}"));
    wait_until("many visits", || site.asked("honest.test/").len() > 16);
    crawl.signal(Signal::INT);
    crawl.wait().expect(11);
    place.run("check --deep").expect(0);
    (site, place)
}

fn state(place: &Place, url: &str) -> Value {
    let pages = place.urls();
    pages.iter().find(|page| page["url"] == url).unwrap()["state"].clone()
}

#[test]
fn what_is_in_the_place_of_a_page_is_told_and_the_good_copy_stays() {
    let (site, place) = crawled();
    for (url, want, words) in [
        ("http://soft.test/story", "soft_404", "an address that does not exist"),
        ("http://wall.test/story", "login_wall", "asks for a password"),
        ("http://wall.test/moving", "login_wall", "asks for a password"),
        ("http://parked.test/", "parked", "parked domain"),
        ("http://parked.test/story", "parked", "parked domain"),
    ] {
        assert_eq!(state(&place, url), want, "{url}");
        let why = place.run(&format!("why {url}")).expect(0).out;
        assert!(why.contains(words) && why.contains("the last good copy is kept"), "{why}");
        // Two good visits, two in a row that were not: the second was believed.
        let visits = place.history(url);
        let found: Vec<&str> =
            visits.iter().map(|visit| visit["change"].as_str().unwrap()).collect();
        assert!(
            found.starts_with(&["new", "same", "failed"]) && found.contains(&"gone"),
            "{found:?}"
        );
        let gone = visits.iter().find(|visit| visit["change"] == "gone").unwrap();
        assert_eq!(gone["outcome"], want);
        // Looked for rarely since then.
        let often = site.asked("honest.test/").len();
        assert!(visits.len() < often / 2, "{url}: {} visits, the others {often}", visits.len());
        // The copy is the good one.
        let held = place.urls().into_iter().find(|page| page["url"] == url).unwrap();
        assert_eq!(held["digest"], visits[0]["digest"], "{url}");
    }
    for url in [
        "http://soft.test/",
        "http://soft.test/moving",
        "http://wall.test/",
        "http://honest.test/story",
    ] {
        let state = state(&place, url);
        assert!(state == "due" || state == "resting", "{url}: {state}");
    }
    let changes = place.run("changes").expect(0).out;
    for line in ["http://soft.test/story  (soft_404)", "http://parked.test/  (parked)"] {
        assert!(changes.contains(line), "{changes}");
    }
    let walled = place.run("urls --state login_wall").expect(0).out;
    assert_eq!(walled.lines().count(), 2, "{walled}");
}

#[test]
fn a_page_in_the_place_of_a_list_that_was_looked_for_is_nothing_to_remember() {
    let (site, place) = crawled();
    assert_eq!(site.asked("soft.test/sitemap.xml").len(), 1);
    assert!(place.urls().iter().all(|page| page["url"] != "http://soft.test/sitemap.xml"));
}

#[test]
fn a_host_is_asked_once_and_only_where_there_is_doubt() {
    let (site, place) = crawled();
    let nonsense = |host: &str| {
        let known = ["", "story", "moving", "moved-here", "robots.txt", "sitemap.xml", "login"];
        let asked = site.all_asked().into_iter().filter_map(|(_, page)| {
            let path = page.strip_prefix(host)?.strip_prefix('/')?.to_owned();
            (!known.contains(&path.as_str())).then_some(path)
        });
        asked.count()
    };
    assert_eq!(["soft.test", "parked.test", "honest.test"].map(nonsense), [1, 1, 1]);
    assert_eq!(nonsense("wall.test"), 0, "a form is no doubt");
    // The address that was asked for is nothing to remember.
    assert!(place.urls().iter().all(|page| page["kind"] != "probe"));
}

#[test]
fn a_page_that_moved_keeps_its_history() {
    let (_site, place) = crawled();
    let (old, new) = ("http://honest.test/moving", "http://honest.test/moved-here");
    assert_eq!(state(&place, old), "moved");
    let why = place.run(&format!("why {old}")).expect(0).out;
    assert!(why.contains(&format!("permanently (301) to {new}")), "{why}");
    let why = place.run(&format!("why {new}")).expect(0).out;
    assert!(why.contains(&format!("formerly     {old}")), "{why}");
    let visits = place.history(new);
    assert_eq!(visits[0]["url"], old);
    assert!(visits.len() > place.history(old).len());
}
