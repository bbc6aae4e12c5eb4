//! Which pages and hosts are known, one at a time and part by part?

use evercrawl_model::{Change, Event, HostUpdate, Refusal};
use evercrawl_query::{
    HostWaits, HostsRequest, PageState, PagesRequest, QueryError, QueueRequest, hosts, page, pages,
    queue,
};

use crate::common::{Crawl, at, travelled, url};

#[test]
fn a_page_is_described_with_codes_numbers_and_times() {
    let mut crawl = Crawl::new();
    let front = crawl.seed("http://a.test/");
    let found = crawl.link(front, "http://a.test/p");
    crawl.visit(found, 10, Change::New, 100);
    crawl.visit(found, 100, Change::Changed, 200);
    let view = page(&crawl.source(150), &url("http://a.test/p")).unwrap();
    assert_eq!((view.state, view.reason.as_deref()), (PageState::Resting, None));
    assert_eq!(view.via.as_deref(), Some("http://a.test/"));
    assert_eq!((view.visits, view.changes, view.depth, view.seed), (2, 1, 1, false));
    assert_eq!(view.last_visit.map(|at| at.0), Some(at(100)));
    assert_eq!(view.next_due.map(|at| at.0), Some(at(200)));
    assert!(view.digest.as_deref().unwrap().starts_with("sha1:"));
    assert_eq!(travelled(&view), view);
    let json = serde_json::to_value(&view).unwrap();
    assert_eq!((&json["state"], &json["kind"]), (&"resting".into(), &"page".into()));
    assert_eq!(json["last_visit"], at(100).rfc3339());
    let later = page(&crawl.source(200), &url("http://a.test/p")).unwrap();
    assert_eq!(later.state, PageState::Due);
    let unknown = page(&crawl.source(0), &url("http://a.test/never"));
    assert!(matches!(unknown, Err(QueryError::NotKnown(_))));
}

#[test]
fn pages_come_in_parts_that_miss_none_and_repeat_none() {
    let mut crawl = Crawl::new();
    let front = crawl.seed("http://a.test/");
    for n in 0..40 {
        let page = crawl.link(front, &format!("http://h{}.test/{n}", n % 7));
        if n % 4 == 0 {
            crawl.refuse(page, 5, Refusal::Robots);
        }
    }
    let source = crawl.source(10);
    let all = pages(&source, &PagesRequest::default()).unwrap();
    assert_eq!((all.pages.len(), all.next), (41, None));
    let (mut asked, mut seen) =
        (PagesRequest { limit: Some(6), ..PagesRequest::default() }, Vec::new());
    loop {
        let part = travelled(&pages(&source, &asked).unwrap());
        assert!(part.pages.len() <= 6);
        seen.extend(part.pages);
        asked.after = part.next;
        if asked.after.is_none() {
            break;
        }
    }
    assert_eq!(seen, all.pages);
    let only = |asked: PagesRequest| pages(&source, &asked).unwrap().pages;
    let refused = only(PagesRequest { reason: Some("robots".into()), ..PagesRequest::default() });
    assert!(refused.iter().all(|page| page.state == PageState::Refused));
    assert_eq!(refused.len(), 10);
    let new = only(PagesRequest { state: Some(PageState::New), ..PagesRequest::default() });
    assert_eq!(new.len(), 31);
    let host = only(PagesRequest { host: Some("h1.test".into()), ..PagesRequest::default() });
    assert!(host.len() == 6 && host.iter().all(|page| page.url.starts_with("http://h1.test/")));
    for wrong in ["", "zz", "00", "é"] {
        let asked = PagesRequest { after: Some(wrong.to_owned()), ..PagesRequest::default() };
        assert!(matches!(pages(&source, &asked), Err(QueryError::BadRequest(_))), "{wrong:?}");
    }
}

#[test]
fn hosts_say_what_holds_them_up() {
    let mut crawl = Crawl::new();
    let (one, two) = (crawl.seed("http://one.test/"), crawl.seed("http://two.test/"));
    crawl.robots("http://two.test", 503, "");
    let blocked =
        HostUpdate { blocked_until: Some(at(500)), failures: Some(3), ..HostUpdate::default() };
    crawl.apply(&Event::HostLearned { host: two.host, update: blocked });
    crawl.visit(one, 10, Change::New, 100);
    let source = crawl.source(10);
    let all = hosts(&source, &HostsRequest::default()).unwrap();
    assert_eq!((all.hosts.len(), all.next.as_deref()), (2, None));
    assert_eq!(travelled(&all), all);
    let host = |name: &str| all.hosts.iter().find(|host| host.host == name).unwrap();
    assert_eq!(host("one.test").next_allowed.map(|at| at.0), Some(at(11)));
    assert!(host("one.test").seed && host("one.test").blocked_until.is_none());
    let two = host("two.test");
    assert_eq!((two.waits_for, two.failures), (Some(HostWaits::Robots), 3));
    assert!(two.robots[0].unreachable && two.robots[0].status == Some(503));
    let first = hosts(&source, &HostsRequest { limit: Some(1), after: None }).unwrap();
    let second = hosts(&source, &HostsRequest { limit: Some(1), after: first.next }).unwrap();
    assert_eq!([&first.hosts[0], &second.hosts[0]], [&all.hosts[0], &all.hosts[1]]);
    let queue = travelled(&queue(&source, &QueueRequest::default()).unwrap());
    assert_eq!(queue.waiting.robots.hosts, 1);
    assert!(queue.hosts.iter().any(|host| host.waits_for == HostWaits::Robots));
}
