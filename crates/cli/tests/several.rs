//! Several data directories in one process: is each crawled as if it were alone, and are pauses and budget those of all?
#![allow(clippy::unwrap_used, reason = "a failing test panics")]

use std::collections::BTreeSet;
use std::time::Duration;

use evercrawl_testweb::{ReachScope, WorldConfig};
use rustix::process::Signal;
use serde_json::Value;

use crate::common::site::{Answer, Request, Site};
use crate::common::touchy::{Size, Touchy};
use crate::common::web::{Asked, Web};
use crate::common::{Place, wait_until};

const DIRECTORIES: usize = 8;
const DELAY: Duration = Duration::from_millis(60);
const IP_DELAY: Duration = Duration::from_millis(4);

/// `--data` for so many directories.
fn all(directories: usize) -> String {
    (0..directories).map(|n| format!(" --data d{n}")).collect()
}

/// Each directory gets the seeds of its own hosts: every so many-th.
fn add_seeds(place: &Place, seeds: &[String], directories: usize) -> Vec<Vec<String>> {
    let of = |n: usize| seeds.iter().skip(n).step_by(directories).cloned().collect();
    let parts: Vec<Vec<String>> = (0..directories).map(of).collect();
    for (n, seeds) in parts.iter().enumerate() {
        place.run(&format!("add {} --data d{n}", seeds.join(" "))).expect(0);
    }
    parts
}

/// The pages that a directory holds.
fn held(place: &Place, directory: usize) -> BTreeSet<String> {
    let urls = place.run(&format!("urls --json --data d{directory}")).expect(0).json_lines();
    let is_held = |url: &&Value| url["kind"] == "page" && url["status"] == 200;
    let urls = urls.iter().filter(is_held);
    urls.map(|url| url["url"].as_str().unwrap().to_owned()).collect()
}

/// No run of requests may be much shorter than `each` for every one of them.
fn assert_slow_enough(requests: &[Asked], run: usize, each: Duration) {
    let due = u64::try_from((each * run as u32).as_micros()).unwrap();
    for pair in requests.windows(run + 1).step_by(run) {
        let took = pair[run].start_us - pair[0].start_us;
        assert!(took + due / 4 >= due, "{run} requests in {took} us instead of {due}");
    }
}

#[test]
fn eight_directories_keep_pauses_and_budget_and_survive_kills() {
    let hosts = 2 * DIRECTORIES as u32;
    let (web, place) = (
        Web::serve(WorldConfig { hosts, pages: 14, seed: 21, ..WorldConfig::calm() }),
        Place::new(),
    );
    let parts = add_seeds(&place, &web.seeds(hosts), DIRECTORIES);
    let pace = format!("--delay {}ms --ip-delay {}ms", DELAY.as_millis(), IP_DELAY.as_millis());
    let crawl =
        format!("crawl --new-only --budget 60/s {pace} {}{}", web.flags(), all(DIRECTORIES));
    for pages in [2, 6] {
        let mut running = place.start(&crawl);
        let socket = place.path().join("d7/control.sock");
        running.wait_until("the last directory to answer", || socket.exists());
        let visits = || place.run("status --json --data d7").json_lines().pop().unwrap_or_default();
        running.wait_until("pages", || visits()["run"]["pages"].as_u64() >= Some(pages));
        running.child().kill().unwrap();
        drop(running);
        (0..DIRECTORIES).for_each(|n| {
            place.run(&format!("check --deep --data d{n}")).expect(0);
        });
    }
    place.run(&crawl).expect(0);
    for (n, seeds) in parts.iter().enumerate() {
        place.run(&format!("check --deep --data d{n}")).expect(0);
        assert_eq!(held(&place, n), web.reachable(seeds, ReachScope::Host), "d{n}");
    }
    let log = web.stop();
    let manners = log.manners(DELAY);
    assert!(manners.is_clean(), "{manners:#?}");
    let requests = log.requests();
    assert_slow_enough(&requests, 100, IP_DELAY);
    // What a second left unused may go at once: half of 120 requests.
    assert_slow_enough(&requests, 120, Duration::from_millis(8));
}

#[test]
fn hosts_of_different_directories_keep_the_pause_of_the_address_that_they_share() {
    let size = Size { hosts: 40, addresses: 3, pages: 30 };
    let (web, place) = (Touchy::serve(size), Place::new());
    place.write("evercrawl.toml", &web.settings());
    let seeds: Vec<String> = web.seeds().lines().map(str::to_owned).collect();
    add_seeds(&place, &seeds, 4);
    let (delay, ip_delay) = (Duration::from_millis(50), Duration::from_millis(6));
    let crawl = format!(
        "crawl --new-only --delay 50ms --ip-delay 6ms -s pace.slow_factor=0 \
         --contact a@example.org --allow-private=127.0.0.0/8 --quiet{}",
        all(4)
    );
    let mut running = place.start(&crawl);
    running.wait_until("half of the requests", || web.requests() > 400);
    running.signal(Signal::INT);
    running.wait().expect(11);
    place.run(&crawl).expect(0);
    let judgement = web.judge(delay, ip_delay);
    assert_eq!(judgement.offences(), 0, "{judgement:#?}");
    assert_eq!((judgement.hosts, judgement.addresses), (40, 3));
}

#[test]
fn a_host_of_two_directories_gets_one_request_at_a_time_and_its_pause() {
    let links: String = (0..12).map(|n| format!("<a href=/{n}>{n}</a>")).collect();
    let (site, place) = (Site::serve(move |_| Answer::page(links.clone())), Place::new());
    (0..2).for_each(|n| {
        place.run(&format!("add http://a.test/ --data d{n}")).expect(0);
    });
    let crawl = format!("crawl --new-only --delay 80ms {}{}", site.flags(), all(2));
    place.run(&crawl).expect(0);
    let asked = site.all_asked();
    assert_eq!(asked.len(), 2 * 15, "robots.txt, sitemap.xml, the front page and twelve more");
    for pair in asked.windows(2) {
        let gap = pair[1].0 - pair[0].0;
        assert!(
            gap >= Duration::from_millis(70),
            "{gap:?} between {} and {}",
            pair[0].1,
            pair[1].1
        );
    }
    assert_eq!(held(&place, 0), held(&place, 1));
}

#[test]
fn a_pause_that_a_host_asked_one_directory_for_holds_for_all() {
    let answer = |request: &Request| match request.page.as_str() {
        "a.test/" if request.earlier == 0 => {
            Answer::status("429 Too Many Requests").with("Retry-After: 2")
        }
        _ => Answer::page("<p>a page"),
    };
    let (site, place) = (Site::serve(answer), Place::new());
    (0..2).for_each(|n| {
        place.run(&format!("add http://a.test/ --data d{n}")).expect(0);
    });
    place.run(&format!("crawl --new-only --delay 50ms {}{}", site.flags(), all(2))).expect(0);
    let refused = site.asked("a.test/")[0];
    let next = site.all_asked().into_iter().find(|(at, _)| *at > refused).unwrap().0 - refused;
    assert!(next >= Duration::from_millis(1990), "asked again after {next:?}");
    assert!((0..2).all(|n| held(&place, n).len() == 1));
}

#[test]
fn a_directory_that_fails_does_not_take_the_others_down() {
    let web = Web::serve(WorldConfig { hosts: 2, pages: 6, seed: 3, ..WorldConfig::calm() });
    let place = Place::new();
    let parts = add_seeds(&place, &web.seeds(2), 2);
    std::fs::create_dir(place.path().join("strange")).unwrap();
    place.write("strange/letter.txt", "dear reader");
    let crawl = format!("crawl --new-only --delay 10ms --json {}", web.flags());
    let ran = place.run(&format!("{crawl} --data d0 --data strange --data d1 --data missing"));
    let ran = ran.expect(4).explains(&[
        "strange: ",
        "is not an Evercrawl data directory",
        "missing: nothing to crawl; add seeds with `evercrawl add URL --data missing`",
    ]);
    let events = ran.json_lines();
    let of = |kind: &str| {
        let of = events.iter().filter(|event| event["event"] == kind);
        of.map(|event| event["data"].as_str().unwrap().to_owned()).collect::<BTreeSet<_>>()
    };
    assert_eq!(of("report"), ["d0", "d1"].map(str::to_owned).into());
    assert_eq!(of("error"), ["strange", "missing"].map(str::to_owned).into());
    assert!(!place.path().join("missing").exists(), "nothing was made where nothing is crawled");
    for (n, seeds) in parts.iter().enumerate() {
        assert_eq!(held(&place, n), web.reachable(seeds, ReachScope::Host));
    }
}

#[test]
fn each_directory_answers_other_verbs_and_one_signal_ends_all() {
    let web = Web::serve(WorldConfig { hosts: 3, pages: 40, seed: 4, ..WorldConfig::calm() });
    let place = Place::new();
    add_seeds(&place, &web.seeds(3), 3);
    let crawl = format!("crawl --delay 100ms --budget 90/s {}{}", web.flags(), all(3));
    let mut running = place.start(&crawl);
    for n in 0..3 {
        let status = || place.run(&format!("status --json --data d{n}")).json_lines().pop();
        let socket = place.path().join(format!("d{n}/control.sock"));
        running.wait_until("the directory to answer", || socket.exists());
        running.wait_until("pages of each", || {
            let status = status().unwrap_or_default();
            status["running"] == true && status["run"]["pages"].as_u64() > Some(1)
        });
    }
    place.run("budget 1/s --data d1").expect(0);
    let budget = |n: usize| {
        let status = place.run(&format!("status --json --data d{n}")).json_lines().pop();
        status.unwrap_or_default()["plan"]["budget_a_second"].as_f64().unwrap_or_default()
    };
    running.wait_until("its own budget to bound its part", || budget(1) <= 1.0 && budget(0) > 1.0);
    running.signal(Signal::INT);
    let ended = running.wait().expect(11);
    for n in 0..3 {
        let resume = format!("d{n}: State saved. Resume with: evercrawl crawl --data d{n}");
        assert!(ended.err.contains(&resume), "{}", ended.err);
        assert!(ended.out.contains(&format!("d{n}: interrupted: ")), "{}", ended.out);
        place.run(&format!("check --deep --data d{n}")).expect(0);
        let remembered =
            std::fs::read_to_string(place.path().join(format!("d{n}/remembered.toml")));
        let remembered = remembered.unwrap();
        assert!(remembered.contains("100ms"), "flags are remembered in each: {remembered}");
        // The budget of all is no budget of one; that of d1 was set for it alone.
        assert_eq!(remembered.contains("rate"), n == 1, "{remembered}");
    }
}

#[test]
fn limits_of_a_run_are_those_of_all_directories_together() {
    let web = Web::serve(WorldConfig { hosts: 3, pages: 30, seed: 6, ..WorldConfig::calm() });
    let place = Place::new();
    add_seeds(&place, &web.seeds(3), 3);
    let crawl = format!("crawl --new-only --delay 20ms {}{}", web.flags(), all(3));
    place.run(&format!("{crawl} --max-pages 20")).expect(14);
    let visits = |n: usize| {
        let status = place.run(&format!("status --json --data d{n}")).expect(0).json();
        status["total"]["visits"].as_u64().unwrap()
    };
    let visits: Vec<u64> = (0..3).map(visits).collect();
    assert_eq!(visits.iter().sum::<u64>(), 20, "{visits:?}");
    place.run(&format!("{crawl} --max-time 300ms")).expect(15);
}

#[test]
fn what_concerns_one_directory_is_refused_for_several() {
    let place = Place::new();
    let refused = |flags: &str, words: &[&str]| {
        place.run(&format!("crawl --data d0 --data d1 {flags}")).expect(2).explains(words);
    };
    refused("http://a.test/", &["seeds belong to one data directory", "evercrawl add"]);
    refused("--push 127.0.0.1:0", &["push.listen"]);
    refused("--report report.json", &["--report", "--json"]);
    refused("--data ./d0", &["given twice"]);
    refused("--budget fast", &["--budget: `fast` is not a valid rate"]);
    refused("--max-time soon", &["--max-time"]);
    wait_until("nothing to be left behind", || !place.path().join("d0").exists());
}
