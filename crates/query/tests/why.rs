//! Does `why` name what decides, step by step?

use std::time::Duration;

use evercrawl_model::{Change, Event, Override, Refusal};
use evercrawl_query::{Inputs, Step, Verdict, WaitsFor, WhyView, why};

use crate::common::{Crawl, at, config, travelled, url};

fn ask(crawl: &Crawl, seconds: u64, text: &str) -> WhyView {
    let view = why(&crawl.source(seconds), &config(), &url(text)).unwrap();
    assert_eq!(travelled(&view), view);
    view
}

/// The codes of all steps with their verdicts.
fn verdicts(view: &WhyView) -> Vec<(String, Verdict)> {
    let code =
        |step: &Step| serde_json::to_value(step).unwrap()["code"].as_str().unwrap().to_owned();
    view.steps.iter().map(|step| (code(step), step.verdict)).collect()
}

fn verdict(view: &WhyView, code: &str) -> Option<Verdict> {
    let found = verdicts(view).into_iter().find(|(of, _)| of == code);
    found.map(|(_, verdict)| verdict)
}

#[test]
fn a_url_that_was_never_seen_is_judged_all_the_same() {
    let mut crawl = Crawl::new();
    crawl.seed("http://a.test/");
    crawl.robots("http://a.test", 200, "User-agent: *\nDisallow: /private/\n");
    let view = ask(&crawl, 5, "http://a.test/private/x");
    assert_eq!((view.state, view.page.is_none()), (None, true));
    assert_eq!(verdict(&view, "known"), Some(Verdict::Info));
    assert_eq!(verdict(&view, "scope"), Some(Verdict::Pass));
    assert_eq!(verdict(&view, "robots"), Some(Verdict::Refuse));
    let line = view.steps.iter().find_map(|step| match &step.what {
        Inputs::Robots(robots) => robots.line.clone(),
        _ => None,
    });
    assert_eq!(line.map(|line| (line.number, line.text)), Some((2, "Disallow: /private/".into())));
    let elsewhere = ask(&crawl, 5, "http://b.test/");
    assert_eq!(verdict(&elsewhere, "scope"), Some(Verdict::Refuse));
    assert_eq!(verdict(&elsewhere, "robots"), Some(Verdict::Info), "nothing was fetched yet");
}

#[test]
fn a_page_waits_for_its_time_its_host_and_its_robots_txt() {
    let mut crawl = Crawl::new();
    let front = crawl.seed("http://a.test/");
    let next = |view: &WhyView| {
        view.steps.iter().find_map(|step| match &step.what {
            Inputs::Next(next) => Some((next.waits, step.verdict)),
            _ => None,
        })
    };
    let new = ask(&crawl, 5, "http://a.test/");
    assert_eq!(next(&new), Some((WaitsFor::FirstVisit, Verdict::Pass)));
    crawl.visit(front, 10, Change::New, 100);
    crawl.visit(front, 100, Change::Changed, 200);
    let early = ask(&crawl, 100, "http://a.test/");
    assert_eq!(next(&early), Some((WaitsFor::Due, Verdict::Wait)));
    assert_eq!(verdict(&early, "host"), Some(Verdict::Wait), "its pause is not over");
    assert!(verdict(&early, "schedule").is_some());
    let due = ask(&crawl, 200, "http://a.test/");
    assert_eq!(next(&due), Some((WaitsFor::Due, Verdict::Pass)));
    assert_eq!(verdict(&due, "host"), Some(Verdict::Pass));
    crawl.robots("http://a.test", 503, "");
    assert_eq!(verdict(&ask(&crawl, 200, "http://a.test/"), "robots"), Some(Verdict::Wait));
}

#[test]
fn steps_come_in_the_order_in_which_the_crawl_takes_them() {
    let mut crawl = Crawl::new();
    let front = crawl.seed("http://a.test/");
    crawl.visit(front, 10, Change::New, 100);
    let codes: Vec<String> =
        verdicts(&ask(&crawl, 50, "http://a.test/")).into_iter().map(|(code, _)| code).collect();
    assert_eq!(&codes[..4], ["known", "scope", "robots", "visits"]);
    let place = |code: &str| codes.iter().position(|of| of == code).unwrap();
    assert!(place("next") < place("schedule") && place("schedule") < place("host"), "{codes:?}");
}

#[test]
fn what_the_user_set_and_what_was_refused_is_said() {
    let mut crawl = Crawl::new();
    let front = crawl.seed("http://a.test/");
    let other = crawl.link(front, "http://a.test/tmp/x");
    crawl.refuse(other, 5, Refusal::Excluded);
    let (page, every) = (front, Duration::from_secs(60));
    for user_override in [
        Override::Pin { page, url: "http://a.test/".to_owned(), every },
        Override::Exclude { pattern: "/tmp/".to_owned() },
        Override::Pause { host: front.host, authority: "a.test".to_owned() },
    ] {
        crawl.apply(&Event::OverrideSet { user_override, at: at(3) });
    }
    let of = |view: &WhyView| -> Vec<Verdict> {
        let steps = view.steps.iter().filter(|step| matches!(step.what, Inputs::Override(_)));
        steps.map(|step| step.verdict).collect()
    };
    let front = of(&ask(&crawl, 10, "http://a.test/"));
    assert!(front.len() == 2 && front.contains(&Verdict::Info) && front.contains(&Verdict::Wait));
    let other = ask(&crawl, 10, "http://a.test/tmp/x");
    assert!(of(&other).contains(&Verdict::Refuse));
    assert_eq!(verdict(&other, "known"), Some(Verdict::Refuse));
    assert_eq!(verdict(&other, "scope"), Some(Verdict::Refuse));
    assert_eq!(verdict(&other, "next"), Some(Verdict::Refuse));
}
