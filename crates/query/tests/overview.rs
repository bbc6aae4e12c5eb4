//! How is a crawl doing, and what comes next?

use std::time::Duration;

use evercrawl_model::{Change, Refusal};
use evercrawl_query::{archive, freshness, plan, status};

use crate::common::{Crawl, config, travelled};

fn visited() -> Crawl {
    let mut crawl = Crawl::new();
    let front = crawl.seed("http://a.test/");
    crawl.visit(front, 10, Change::New, 100);
    for n in 0..4 {
        let page = crawl.link(front, &format!("http://a.test/{n}"));
        crawl.visit(page, 20 + n, Change::New, 100 + n);
        crawl.visit(page, 40 + n, Change::Changed, 100 + n);
    }
    let other = crawl.link(front, "http://a.test/other");
    crawl.refuse(other, 60, Refusal::Robots);
    crawl.link(front, "http://a.test/waits");
    crawl
}

#[test]
fn a_status_counts_what_there_is() {
    let crawl = visited();
    let view = status(&crawl.source(90), config().plan, Some(5.0)).unwrap();
    assert!(!view.running && view.run.is_none());
    assert_eq!((view.total.pages, view.total.hosts, view.total.visits), (7, 1, 9));
    assert_eq!(view.total.pages_by_state["live"], 5);
    assert_eq!(view.total.refused_by_reason["robots"], 1);
    assert_eq!(view.total.changed(Change::Changed), 4);
    assert_eq!((view.today.visits, view.today.changes), (9, 4));
    assert_eq!(view.plan.budget_a_second, Some(5.0));
    assert_eq!(travelled(&view), view);
    let json = serde_json::to_value(&view).unwrap();
    for name in ["total", "freshness", "today", "waiting", "signals", "predictions", "run"] {
        assert!(json.get(name).is_some(), "{name} in {json}");
    }
}

#[test]
fn freshness_is_a_share_by_one_name_in_every_view() {
    let crawl = visited();
    let (source, config) = (crawl.source(90), config());
    let fresh = freshness(&source, config.plan).unwrap();
    assert_eq!(fresh.pages_held, 5);
    assert_eq!(fresh.freshness.is_some(), fresh.measurable);
    assert_eq!(fresh.freshness_error.is_some(), fresh.measurable);
    assert!(fresh.freshness.is_none_or(|share| (0.0..=1.0).contains(&share)));
    let plan = plan(&source, config.plan, Duration::from_secs(3600)).unwrap();
    let status = status(&source, config.plan, None).unwrap();
    assert_eq!((plan.freshness, status.survey.freshness), (fresh, Some(fresh)));
    let json = serde_json::to_value(&plan).unwrap();
    assert!(json["freshness"]["freshness"].is_f64() && json.get("freshness_expected").is_some());
}

#[test]
fn a_plan_counts_known_and_new_pages() {
    let crawl = visited();
    let view = plan(&crawl.source(90), config().plan, Duration::from_secs(60)).unwrap();
    assert_eq!(view.new_pages, 1);
    assert!(view.visits_due >= 5.0 && view.visits <= view.visits_due);
    assert_eq!((view.hosts.len(), view.hosts[0].pages), (1, 5));
    assert!(view.next.is_sorted_by_key(|visit| visit.at));
    assert_eq!(travelled(&view), view);
}

#[test]
fn an_archive_without_files_is_empty() {
    let view = archive(&Crawl::new().source(0)).unwrap();
    assert_eq!((view.files.len(), view.bytes), (0, 0));
}
