//! Is a budget divided over pages, and does the crawl say what it does with it?
#![allow(clippy::unwrap_used, reason = "a failing test panics")]

use crate::common::site::{Answer, Site};
use crate::common::web::Web;
use crate::common::{Place, Running, pause, wait_until};
use evercrawl_model::Time;
use evercrawl_testweb::WorldConfig;
use rustix::process::Signal;
use serde_json::Value;

/// A day of this web takes a second: pages change while we look.
fn hasty_web() -> Web {
    let calm = WorldConfig::calm();
    Web::serve(WorldConfig {
        hosts: 6,
        pages: 8,
        seed: 5,
        time_scale: 86_400.0,
        changes_per_day: 0.3,
        change_sigma: 2.0,
        ..calm
    })
}

const CRAWL: &str = "--delay 20ms --budget 30/s -s schedule.min_interval=100ms --quiet";

#[test]
fn a_budget_is_spent_explained_and_learned_from_across_restarts() {
    let (web, place) = (hasty_web(), Place::new());
    let seeds = web.seeds(6).join(" ");
    let mut running = place.start(&format!("crawl {seeds} {CRAWL} {}", web.flags()));
    // Not before: who looks at a directory that nobody works in keeps others out meanwhile.
    running.wait_until("the crawl to listen", || place.data().join("control.sock").exists());
    let status = || Some(place.run("status --json")).filter(|ran| ran.code == Some(0));
    let status = || status().map_or(Value::Null, |ran| ran.json());
    running.wait_until("visits", || {
        let status = status();
        let audits = status["freshness"]["audits"].as_u64();
        status["run"]["pages"].as_u64() > Some(250) && audits > Some(0)
    });
    let first = status();
    assert_eq!(first["plan"]["policy"], "index");
    assert_eq!(first["plan"]["budget_a_second"], 30.0);
    let fresh = first["freshness"]["freshness"].as_f64().unwrap();
    let error = first["freshness"]["freshness_error"].as_f64().unwrap();
    // A hundred second looks are ± 14 points for themselves: a young crawl says that it knows little.
    assert!((0.05..=1.0).contains(&fresh) && error > 0.0 && error < 0.25, "{fresh} {error}");
    assert_eq!(first["freshness"]["measurable"], true);
    let rate = first["run"]["pages_a_second"].as_f64().unwrap();
    assert!(rate < 31.0, "{rate} pages a second");
    let plan = place.run("plan --for 10s --json").expect(0).json();
    assert!(plan["visits"].as_f64().unwrap() > 10.0, "{plan}");
    assert!(plan["freshness_expected"].as_f64().is_some_and(|share| share > 0.1), "{plan}");
    place.run("budget 4/s").expect(0);
    // By the crawl's own clock: what it says may be read late.
    let said = || {
        let status = status();
        let at = Time::parse_iso(status["at"].as_str()?).ok()?;
        let pages = status["run"]["pages"].as_u64()?;
        Some((status["plan"]["budget_a_second"] == 4.0, pages, at))
    };
    let mut before = None;
    running.wait_until("the other budget", || {
        before = said().filter(|(slow, ..)| *slow);
        before.is_some()
    });
    let (_, pages, from) = before.unwrap();
    let mut after = before;
    running.wait_until("some more visits", || {
        after = said();
        after.is_some_and(|(_, now, _)| now >= pages + 20)
    });
    let (_, now, until) = after.unwrap();
    let (visits, took) = ((now - pages) as f64, until.since(from).as_secs_f64());
    assert!(visits < 4.0 * took + 8.0, "{visits} visits at 4/s in {took} s");
    running.signal(Signal::INT);
    running.wait().expect(11);
    let learned = std::fs::metadata(place.data().join("learned")).unwrap().len();
    assert!(learned > 1000, "{learned}");
    let busiest = place.urls().into_iter().max_by_key(|page| page["visits"].as_u64()).unwrap();
    let url = busiest["url"].as_str().unwrap().to_owned();
    let why = place.run(&format!("why {url}")).expect(0);
    for words in ["changes      about every", "bound by     "] {
        assert!(why.out.contains(words), "{}", why.out);
    }
    // What was learned is there again, and a damaged file of it is in nobody's way.
    let audits = place.run("status --json").json()["freshness"]["audits"].as_u64().unwrap();
    assert!(audits > 0, "the audits of the last run count");
    std::fs::write(place.data().join("learned"), b"nonsense").unwrap();
    assert_eq!(place.run("status --json").expect(0).json()["freshness"]["audits"], 0);
    place.run(&format!("crawl {CRAWL} --for 1s")).expect(15);
}

/// What a stopped crawl would spend a second.
fn budget_of(place: &Place) -> f64 {
    place.run("status --json").expect(0).json()["plan"]["budget_a_second"].as_f64().unwrap()
}

fn visits_of(place: &Place) -> u64 {
    place.urls().iter().filter_map(|page| page["visits"].as_u64()).sum()
}

#[test]
fn a_kill_leaves_the_plan_as_it_was_or_as_it_was_to_be() {
    const KILLS: u32 = 12;
    let (web, place) = (hasty_web(), Place::new());
    let flags = format!("{CRAWL} {}", web.flags());
    place.run(&format!("crawl {} {flags} --max-pages 60", web.seeds(6).join(" "))).expect(14);
    let mut takes = place.time_of("budget 30/s");
    let (mut stood, mut visited, mut unheard) = (30.0, visits_of(&place), 0);
    for n in 0..KILLS {
        let goal = ["freshness", "coverage", "age"][n as usize % 3];
        let policy = ["index", "gamma", "index", "uniform"][n as usize % 4];
        // Another aim and another policy, over what was learned for the one before.
        let crawl = (n % 3 > 0).then(|| {
            let mut crawl = place.start(&format!("crawl --quiet --goal {goal} --policy {policy}"));
            crawl.wait_until("the crawl to listen", || place.data().join("control.sock").exists());
            crawl
        });
        let overridden = if stood == 30.0 { 20.0 } else { 30.0 };
        let asked = place.start(&format!("budget {overridden}/s"));
        pause(2 * takes * (n * 5 % KILLS) / KILLS);
        crawl.as_ref().unwrap_or(&asked).signal(Signal::KILL);
        let heard = asked.wait().code == Some(0);
        drop(crawl.map(Running::wait));
        unheard += u32::from(!heard);
        // A busy machine takes now more and now less time: kills stay around the end of what they interrupt.
        takes = takes.mul_f64(if heard { 0.8 } else { 1.25 });
        let stands = budget_of(&place);
        assert!(
            stands == overridden || (stands == stood && !heard),
            "kill {n}: {stands}/s, {heard}"
        );
        let visits = visits_of(&place);
        assert!(visits >= visited, "kill {n}: {visits} of {visited} visits");
        (stood, visited) = (stands, visits);
    }
    assert!((2..KILLS).contains(&unheard), "{unheard} kills came in time");
    place.run("check --deep").expect(0);
    let before = visited;
    place.run("crawl --quiet --goal freshness --policy index --max-pages 30").expect(14);
    assert!(visits_of(&place) >= before + 30);
}

#[test]
fn odd_budgets_get_a_clear_answer() {
    let place = Place::new();
    for (flags, words) in [
        ("--budget 0/s", "fetches nothing"),
        ("--budget fast", "is no rate"),
        ("--budget 1/s --goal fame", "none of freshness, coverage, age"),
        ("--budget 1/s --policy oracle", "none of index, gamma, uniform"),
        ("--budget 1/s --discover 120%", "from 0% to 100%"),
        ("--recrawl sometimes", "is no duration"),
        ("--recrawl 0s", "without end"),
        ("--per-host 0", "give 1 or more"),
        ("--concurrency 0", "give 1 or more"),
        ("-s schedule.min_interval=2h -s schedule.max_interval=1h", "is shorter than"),
    ] {
        let ran = place.run(&format!("crawl http://127.0.0.1:9/ {flags}"));
        assert_eq!(ran.code, Some(3), "{flags}: {}", ran.err);
        ran.explains(&[words]);
        assert!(!place.data().exists(), "{flags}: nothing was begun");
    }
}

#[test]
fn a_day_of_bytes_binds_over_restarts_and_says_so() {
    let body = "word ".repeat(2_000);
    let site = Site::serve(move |request| match request.page.as_str() {
        "a.test/" => {
            Answer::page((0..40).map(|n| format!("<a href=/{n}>{n}</a>")).collect::<String>())
        }
        "a.test/robots.txt" | "a.test/sitemap.xml" => Answer::status("404 Not Found"),
        page => Answer::page(format!("{page} {body}")),
    });
    let place = Place::new();
    let flags = format!("--delay 5ms --quiet --max-bytes-per-day 100kB {}", site.flags());
    let mut crawl = place.start(&format!("crawl --once http://a.test/ {flags}"));
    // Not before: who looks at a directory that nobody works in keeps others out meanwhile.
    wait_until("the crawl to listen", || place.data().join("control.sock").exists());
    let status = |place: &Place| place.run("status --json").expect(0).json();
    wait_until("the bound", || status(&place)["run"]["bytes_used_up_until"].is_string());
    let asked = site.all_asked().len();
    assert!(crawl.is_running(), "it waits for the day to pass");
    let said = place.run("status").expect(0).out;
    assert!(
        said.contains("in the last 24 hours, the limit for a day; the crawl goes on at"),
        "{said}"
    );
    crawl.signal(Signal::INT);
    crawl.wait().expect(11);
    let received = status(&place)["bytes_last_day"].as_u64().unwrap();
    assert!((90_000..=120_000).contains(&received), "{received}");
    // The flag is remembered, and so is what was received.
    place.run("crawl --once --for 1s --quiet").expect(15);
    assert!(site.all_asked().len() <= asked + 1, "robots.txt at most");
    place.run("crawl --once --quiet --max-bytes-per-day 10MB").expect(0);
    assert_eq!(status(&place)["total"]["pages_by_state"]["new"], 0);
    place.run("crawl --max-bytes-per-day 0").expect(3).explains(&["fetches nothing"]);
}
