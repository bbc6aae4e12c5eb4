//! Does the user get what they wish of a crawl, at once, whether it runs or not?
#![allow(clippy::unwrap_used, reason = "a failing test panics")]

use std::collections::BTreeSet;
use std::time::Duration;

use crate::common::site::{Answer, Request, Site};
use crate::common::{Place, Running, pause, time_of, wait_until};
use rustix::process::Signal;
use serde_json::Value;

/// How soon a wish must be seen to hold.
const SOON: Duration = Duration::from_secs(3);

/// Two hosts with pages that lead to more pages without an end, a few a second.
fn answer(request: &Request) -> Answer {
    let (host, path) = request.page.split_once('/').unwrap();
    if path == "robots.txt" || path == "sitemap.xml" {
        return Answer::status("404 Not Found");
    }
    let number = path.rsplit('/').next().and_then(|last| last.parse().ok()).unwrap_or(0);
    let next = number + 1;
    Answer::page(format!(
        "<p>page {number} of {host} <a href='/old/{next}'>o</a> <a href='/new/{next}'>n</a>"
    ))
}

fn endless() -> Site {
    Site::serve(answer)
}

/// A crawl of both hosts, some pages into it.
fn crawl(place: &Place, site: &Site) -> Running {
    let flags = format!("--delay 50ms --quiet -s crawl.max_per_shape=100000 {}", site.flags());
    let running = place.start(&format!("crawl http://a.test/ http://b.test/ {flags}"));
    let before = site.all_asked().len();
    let answers = || place.run("wishes").code == Some(0);
    wait_until("pages to be visited", || site.all_asked().len() > before + 10 && answers());
    running
}

/// A data directory that a crawl has left.
fn crawled(place: &Place, site: &Site) {
    let running = crawl(place, site);
    stop(running);
}

fn stop(running: Running) {
    running.signal(Signal::INT);
    running.wait().expect(11);
}

fn asked_of(site: &Site, host: &str) -> usize {
    site.all_asked().iter().filter(|(_, page)| page.starts_with(host)).count()
}

/// What stands, without since when.
fn overrides(place: &Place) -> Vec<Value> {
    let mut lines = place.run("wishes --json").expect(0).json_lines();
    for line in &mut lines {
        assert!(line.as_object_mut().unwrap().remove("since").unwrap().is_string());
    }
    lines
}

#[test]
fn a_paused_host_is_asked_for_nothing_until_it_is_resumed() {
    let (site, place) = (endless(), Place::new());
    let running = crawl(&place, &site);
    place.run("pause a.test").expect(0);
    let ten_of_another = || {
        let other = asked_of(&site, "b.test");
        wait_until("another host to be asked", || asked_of(&site, "b.test") > other + 10);
    };
    // What was on its way when the verb ended is noted when others have come.
    ten_of_another();
    let paused = asked_of(&site, "a.test");
    ten_of_another();
    assert_eq!(asked_of(&site, "a.test"), paused);
    assert!(place.run("why http://a.test/").expect(0).out.contains("a.test is paused"));
    stop(running);

    let again = crawl(&place, &site);
    pause(SOON);
    assert_eq!(asked_of(&site, "a.test"), paused, "a pause outlives the crawl");
    place.run("resume a.test").expect(0);
    let resumed = || asked_of(&site, "a.test") > paused + 5;
    wait_until("the host to be asked again", resumed);
    assert!(overrides(&place).is_empty());
    stop(again);
    place.run("check --deep").expect(0);
}

#[test]
fn a_crawl_whose_only_host_is_paused_waits_and_goes_on() {
    let (site, place) = (endless(), Place::new());
    crawled(&place, &site);
    place.run("pause a.test").expect(0);
    place.run("pause http://b.test/").expect(0);
    let before = site.all_asked().len();
    let mut running = place.start("crawl --quiet");
    pause(SOON);
    assert!(running.is_running());
    assert_eq!(site.all_asked().len(), before);
    place.run("resume b.test").expect(0);
    wait_until("the host to be asked again", || site.all_asked().len() > before + 5);
    stop(running);
    let once = place.run("crawl --once --max-pages 5").expect(14);
    assert!(once.err.contains("State saved"), "{}", once.err);
}

#[test]
fn excluded_pages_are_neither_fetched_nor_followed_and_come_back() {
    let (site, place) = (endless(), Place::new());
    let running = crawl(&place, &site);
    let count = || place.run("exclude /old/ --dry-run --json").expect(0).json();
    wait_until("an old page to be known", || count()["matching"].as_u64() > Some(0));
    let counted = count();
    assert!(counted["matching"].as_u64() < counted["known"].as_u64(), "{counted}");
    assert!(counted["examples"][0].as_str().unwrap().contains("/old/"));
    assert!(overrides(&place).is_empty());

    place.run("exclude /old/").expect(0);
    let old = |site: &Site| site.all_asked().iter().filter(|(_, p)| p.contains("/old/")).count();
    let ten_more = || {
        let all = site.all_asked().len();
        wait_until("other pages to be asked for", || site.all_asked().len() > all + 10);
    };
    // Requests that were on their way are over when others have come.
    ten_more();
    let excluded = old(&site);
    ten_more();
    assert_eq!(old(&site), excluded);
    let known = |place: &Place| -> Vec<Value> {
        let mut urls = place.urls();
        urls.retain(|page| page["url"].as_str().unwrap().contains("/old/"));
        urls
    };
    let found: BTreeSet<String> =
        known(&place).iter().map(|page| page["url"].to_string()).collect();
    let why = place.run("why http://a.test/old/1").expect(0).out;
    assert!(why.contains("excluded: matches `/old/`"), "{why}");
    assert!(why.contains("exclude pattern"), "{why}");
    stop(running);
    let after = known(&place);
    let places: BTreeSet<String> = after.iter().map(|page| page["url"].to_string()).collect();
    assert_eq!(places, found, "no page was found that is excluded");
    for page in &after {
        assert_eq!((&page["state"], &page["reason"]), (&"refused".into(), &"excluded".into()));
    }

    place.run("resume /old/").expect(0);
    assert!(known(&place).iter().all(|page| page["reason"] != "excluded"));
    assert!(known(&place).iter().any(|page| page["state"] == "new"));
    let again = crawl(&place, &site);
    wait_until("pages to come back", || old(&site) > excluded + 5);
    stop(again);
    place.run("check --deep").expect(0);
}

#[test]
fn a_pinned_page_is_visited_as_often_as_wished() {
    let (site, place) = (endless(), Place::new());
    let running = crawl(&place, &site);
    place.run("pin http://a.test/ --every 1s").expect(0);
    let visits = || site.asked("a.test/").len();
    let before = visits();
    let took = time_of(|| wait_until("five visits", || visits() >= before + 5));
    assert!(took > Duration::from_secs(3), "five visits in {took:?}");
    let why = place.run("why http://a.test/").expect(0).out;
    assert!(why.contains("pinned: visited at least every 1 s"), "{why}");
    assert!(why.contains("bound by     its pin: every 1 s"), "{why}");
    stop(running);

    place.run("pin http://a.test/ --every 2s").expect(0);
    assert_eq!(overrides(&place).len(), 1);
    let known = place.run("pin http://b.test/elsewhere --every 1s --json").expect(0).json();
    assert_eq!(known["note"]["code"], "new_seed", "{known}");
    let again = crawl(&place, &site);
    wait_until("the pinned page to be visited twice", || site.asked("b.test/elsewhere").len() > 1);
    place.run("pin http://a.test/ --remove").expect(0);
    place.run("resume b.test/elsewhere").expect(0);
    pause(Duration::from_millis(200));
    let ended = visits();
    pause(SOON);
    assert!(visits() <= ended + 1, "one visit was due already");
    stop(again);
}

#[test]
fn a_pinned_page_does_not_wait_behind_a_host_that_cannot_keep_up() {
    let links: String = (0..150).map(|n| format!("<a href='/{n}'>x</a>")).collect();
    let (site, place) = (Site::serve(move |_| Answer::page(links.clone())), Place::new());
    // Every page again after a second: three times what the host is asked for.
    let flags = format!("--delay 20ms --recrawl 1s --quiet {}", site.flags());
    let running = place.start(&format!("crawl http://a.test/ {flags}"));
    let visits = |page: &str| site.asked(page).len();
    wait_until("the crawl to fall behind", || visits("a.test/149") > 0 && visits("a.test/") > 1);
    place.run("pin http://a.test/7 --every 1s").expect(0);
    let before = (visits("a.test/7"), visits("a.test/8"));
    wait_until("five visits", || visits("a.test/7") >= before.0 + 5);
    let (pinned, other) = (visits("a.test/7") - before.0, visits("a.test/8") - before.1);
    assert!(other < pinned, "pinned {pinned}, other {other}");
    stop(running);
}

#[test]
fn what_is_wished_is_listed_alike_running_or_not() {
    let (site, place) = (endless(), Place::new());
    let running = crawl(&place, &site);
    for verb in ["pin http://a.test/ --every 90m", "boost /new/ x5", "pause b.test", "exclude /x/"]
    {
        place.run(verb).expect(0);
    }
    place.run("boost /new/ 0.5").expect(0);
    let again = place.run("boost /new/ 0.5").expect(0);
    assert!(again.out.contains("no effect without a budget"), "{}", again.out);
    let again = place.run("boost /new/ 0.25 --json").expect(0).json();
    assert_eq!(again["note"], serde_json::json!({"code": "no_budget"}), "{again}");
    let before = serde_json::json!({"kind": "boost", "pattern": "/new/", "times": 0.5});
    assert_eq!((&again["before"], &again["now"]), (&before, &"holds".into()), "{again}");
    place.run("boost /new/ 0.5").expect(0);
    let stand = overrides(&place);
    let text: Vec<String> = stand.iter().map(Value::to_string).collect();
    assert_eq!(
        text,
        [
            r#"{"kind":"boost","pattern":"/new/","times":0.5}"#,
            r#"{"host":"b.test","kind":"pause"}"#,
            r#"{"every_seconds":5400.0,"kind":"pin","url":"http://a.test/"}"#,
            r#"{"kind":"exclude","pattern":"/x/"}"#,
        ]
    );
    place.run("overrides rm /x/").expect(0);
    place.run("exclude /x/").expect(0);
    place.run("boost /new/ --weight 0.5").expect(0);
    assert_eq!(overrides(&place).len(), 4);
    let one = place.run("boost").expect(0);
    assert!(one.out.starts_with("pages matching `/new/` weigh 0.5x since "), "{}", one.out);
    stop(running);
    assert_eq!(overrides(&place), stand);
    place.run("resume /new/").expect(0);
    place.run("exclude --remove /x/").expect(0);
    assert_eq!(overrides(&place).len(), 2);
    assert!(place.run("exclude").expect(0).out.contains("no exclusions"));
}

#[test]
fn what_cannot_be_done_is_said_and_changes_nothing() {
    let (site, place) = (endless(), Place::new());
    place.run("wishes").expect(4).explains(&["does not exist"]);
    let running = crawl(&place, &site);
    let table: &[(&str, i32, &[&str])] = &[
        ("pin http://a.test/ --every 1ms", 2, &["1 ms is too short", "--every 1s or more"]),
        ("pin http://a.test/ --every 0", 2, &["is too short", "--every 1s or more"]),
        ("pin http://a.test/ --every 9000d", 2, &["too long", "--every 365d or less"]),
        ("pin http://a.test/ --every often", 2, &["is not a valid duration"]),
        ("pin http://a.test/", 2, &["no interval given", "--every 1h"]),
        ("pin http://a.test/ --every -1s", 2, &[]),
        ("pin mailto:x@y.test --every 1h", 2, &["cannot crawl"]),
        ("pin http://elsewhere.test/ --every 1h", 2, &["out_of_scope", "evercrawl add"]),
        ("pin --remove", 2, &["required"]),
        ("pin http://a.test/ --remove", 1, &["no pin matches"]),
        ("boost /new/", 2, &["no factor given", "--weight 5"]),
        ("boost /new/ x0", 2, &["from 0.01 to 1000"]),
        ("boost /new/ x1001", 2, &["from 0.01 to 1000"]),
        ("boost /new/ xNaN", 2, &["is not a valid factor"]),
        ("boost ( x2", 2, &["not a valid regular expression", "matched anywhere in a URL"]),
        ("boost */new/* x2", 2, &["not a valid regular expression", "e.g. `/news/`"]),
        ("exclude (", 2, &["not a valid regular expression", "matched anywhere in a URL"]),
        ("exclude é", 2, &["%C3%A9"]),
        ("exclude .*", 2, &["every known page", "--force"]),
        ("exclude .test", 2, &["every known page"]),
        ("exclude --dry-run", 2, &["required"]),
        ("pause nowhere.test", 1, &["cannot pause nowhere.test"]),
        ("pause ftp://a.test/", 2, &["cannot crawl"]),
        (
            "resume /never/",
            1,
            &["pause, trust or exclusion matches `/never/`", "evercrawl overrides"],
        ),
        ("resume a.test", 1, &["matches `a.test`"]),
        ("overrides rm /never/", 1, &["matches `/never/`"]),
        ("overrides rm", 2, &["required"]),
        ("resume", 2, &["required"]),
    ];
    for (verb, code, words) in table {
        place.run(verb).expect(*code).explains(words);
    }
    assert!(overrides(&place).is_empty());
    stop(running);
    for (verb, code, words) in table {
        place.run(verb).expect(*code).explains(words);
    }
    assert!(overrides(&place).is_empty());
    place.run("exclude .* --force").expect(0);
    assert!(place.urls().iter().all(|page| page["state"] == "refused"));
    place.run("exclude .* --remove").expect(0);
    assert!(place.urls().iter().all(|page| page["reason"] != "excluded"));
    place.run("check --deep").expect(0);
}

#[test]
fn a_kill_leaves_all_of_a_wish_or_nothing() {
    const KILLS: u32 = 14;
    let (site, place) = (endless(), Place::new());
    let seeds: Vec<String> = (0..3000).map(|n| format!("http://c.test/old/{n}")).collect();
    place.write("seeds.txt", &format!("http://c.test/new/1\n{}", seeds.join("\n")));
    place.run("add --seeds seeds.txt").expect(0);
    // The kills are spread over the time that a wish takes here and now.
    let takes = place.time_of("exclude /old/");
    let mut unheard = 0;
    for n in 0..KILLS {
        let stood = !overrides(&place).is_empty();
        let verb = if stood { "resume /old/" } else { "exclude /old/" };
        let crawl = (n % 2 == 0).then(|| crawl(&place, &site));
        let asked = place.start(verb);
        pause(takes * (n * 5 % KILLS) / KILLS);
        match crawl {
            Some(crawl) => crawl.signal(Signal::KILL),
            None => asked.signal(Signal::KILL),
        }
        let code = asked.wait().code;
        let stands = !overrides(&place).is_empty();
        if code == Some(0) {
            assert_ne!(stands, stood, "kill {n}: what was told to be done is lost");
        }
        unheard += u32::from(code != Some(0));
    }
    assert!(unheard > 2, "the kills came too late to prove anything");
    place.run("check --deep").expect(0);
    if !overrides(&place).is_empty() {
        place.run("resume /old/").expect(0);
    }
    let last = crawl(&place, &site);
    let excluded = || place.run("urls --json --reason excluded").expect(0).out;
    wait_until("every page to be back", || excluded().is_empty());
    stop(last);
    let known: BTreeSet<String> =
        place.urls().iter().map(|page| page["url"].as_str().unwrap().to_owned()).collect();
    assert!(seeds.iter().all(|seed| known.contains(seed)));
    place.run("check --deep").expect(0);
}
