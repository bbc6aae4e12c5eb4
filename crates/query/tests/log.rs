//! What happened to pages, one by one and in the order of the log?

use evercrawl_model::{Change, Refusal};
use evercrawl_query::{At, ChangesRequest, RefusalChange, WhatChanged, changes, history};
use evercrawl_urls::CanonicalSteps;

use crate::common::{Crawl, at, travelled, url};

/// A page that was new, the same, changed; and one that was refused.
fn visited() -> Crawl {
    let mut crawl = Crawl::new();
    let front = crawl.seed("http://a.test/");
    crawl.visit(front, 10, Change::New, 100);
    crawl.visit(front, 100, Change::Same, 200);
    crawl.visit(front, 2_000, Change::Changed, 4_000);
    let other = crawl.link(front, "http://a.test/other");
    crawl.visit(other, 2_001, Change::New, 4_000);
    crawl.refuse(other, 2_002, Refusal::Robots);
    crawl
}

#[test]
fn a_history_has_every_visit_the_earliest_first() {
    let crawl = visited();
    let source = crawl.source(5_000);
    let view = history(&source, CanonicalSteps::default(), &url("http://a.test/")).unwrap();
    let found: Vec<Change> = view.visits.iter().map(|visit| visit.change.0).collect();
    assert_eq!(found, [Change::New, Change::Same, Change::Changed]);
    assert_eq!(view.visits[2].time.0, at(2_000));
    assert!((view.visits[2].score - 0.25).abs() < 1e-3 && view.visits[2].url.is_none());
    assert_eq!(travelled(&view), view);
    assert!(history(&source, CanonicalSteps::default(), &url("http://a.test/never")).is_err());
}

#[test]
fn the_log_is_read_in_parts_that_miss_none_and_repeat_none() {
    let crawl = visited();
    let source = crawl.source(5_000);
    let news = changes(&source, &ChangesRequest::default()).unwrap();
    let numbers: Vec<u64> = news.changes.iter().map(|change| change.number).collect();
    assert_eq!(numbers.len(), 3, "what was the same is no news: {news:?}");
    assert!(news.complete);
    assert_eq!(travelled(&news), news);
    let (mut asked, mut seen) =
        (ChangesRequest { limit: Some(1), ..ChangesRequest::default() }, Vec::new());
    loop {
        let part = changes(&source, &asked).unwrap();
        seen.extend(part.changes.iter().map(|change| change.number));
        asked.after = part.last;
        if part.complete {
            break;
        }
    }
    assert_eq!(seen, numbers);
    let all = changes(&source, &ChangesRequest { all: true, ..ChangesRequest::default() });
    assert_eq!(all.unwrap().changes.len(), 5);
    let since = Some(At(at(1_500)));
    let late = changes(&source, &ChangesRequest { since, ..ChangesRequest::default() }).unwrap();
    assert_eq!(late.changes.len(), 2);
}

#[test]
fn a_page_that_is_refused_is_in_the_log_with_its_reason() {
    let crawl = visited();
    let asked = ChangesRequest { states: true, ..ChangesRequest::default() };
    let view = travelled(&changes(&crawl.source(5_000), &asked).unwrap());
    let WhatChanged::Page(last) = &view.changes.last().unwrap().what else {
        panic!("{view:?}");
    };
    assert_eq!((last.change, last.url.as_str()), (RefusalChange::Refused, "http://a.test/other"));
    assert_eq!((last.life.from.text(), last.life.to.text()), ("live", "refused"));
    assert_eq!(last.life.reason, "robots");
    let json = serde_json::to_value(view.changes.last().unwrap()).unwrap();
    assert_eq!((&json["change"], &json["to"]), (&"refused".into(), &"refused".into()));
}
