use evercrawl_model::{Cause, Change, HostKey, LifeChange, LogNotice, Score, Visit, VisitNoise};
use proptest::prelude::*;

use super::*;

fn full_page() -> PageRow {
    PageRow {
        url: "http://a.test/x?y=1".into(),
        kind: PageKind::Feed,
        depth: 3,
        hops: 1,
        via: Some(PageKey { host: HostKey { shard: 1, host: 2 }, url: 3 }),
        hub: Some(4),
        tags: 7,
        seed: true,
        guess: true,
        found: Time::from_millis(1_794_780_950_123),
        claimed_change: Some(Time::from_secs(5)),
        status: PageStatus::Refused(Refusal::Robots),
        place: Some(Place::New(Band::new(2), 99)),
        past: Some(Past {
            visits: 4,
            checks: 3,
            changes: 2,
            watched: 12.5,
            last_visit: Time::from_secs(9),
            last_look: Some(Time::from_secs(9)),
            last_change: None,
            outcome: Outcome::NotModified,
            status: 304,
            failures: 2,
            digest: Some([7; 20]),
            simhash: Some(u64::MAX),
            memory: Some([1, 2, 3].into()),
            validators: Validators { etag: Some("\"é\"".into()), last_modified: None },
            log: 12,
            noted: PolicyNotes {
                unmodified: 1.5,
                numbers: [0.5, 0.0, -2.0, 0.0, 0.0, 0.0, 0.0, 0.0],
                news: 0.25,
            },
            cause: Some(Cause::CutCoding),
            is_cut: true,
        }),
        importance: Importance::UNKNOWN,
    }
}

#[test]
fn rows_round_trip() {
    let page = full_page();
    assert_eq!(PageRow::decode(&page.encode()).unwrap(), page);
    assert_eq!(PageRow::url_of(&page.encode()).unwrap(), page.url);
    for place in [Place::Due(Time::from_secs(1)), Place::Recheck(Time::from_secs(1))] {
        let due = PageRow { place: Some(place), past: None, ..page.clone() };
        assert_eq!(PageRow::decode(&due.encode()).unwrap(), due);
    }
    let ranked = PageRow { importance: Importance::from_ratio(2.0), ..page.clone() };
    assert_eq!(PageRow::decode(&ranked.encode()).unwrap(), ranked);
    assert_eq!(ranked.encode().len(), page.encode().len() + 1);
    let mut host = HostRow::new("a.test:8080".into());
    host.front = Some((Band::LAST, Time::from_secs(3)));
    host.ip = Some([127, 0, 0, 1].into());
    assert_eq!(HostRow::decode(&host.encode()).unwrap(), host);
    host.ip = Some("::1".parse().unwrap());
    assert_eq!(HostRow::decode(&host.encode()).unwrap(), host);
}

#[test]
fn rows_of_the_log_round_trip() {
    let page = PageKey { host: HostKey { shard: 1, host: 2 }, url: 3 };
    let (at, turn) =
        (Time::from_secs(7), LifeChange { from: LifeState::Refused, to: LifeState::New });
    for notice in [
        LogNotice::LifeChanged { page, at, change: turn, reason: Refusal::Spam },
        LogNotice::SiteChanged { host: page.host, at, passages: 300 },
    ] {
        let row = encode_notice(&notice);
        assert!(is_notice(&row));
        assert_eq!(decode_notice(&row).unwrap(), notice);
        assert!(Logged::decode(&row).is_err(), "no visit");
    }
    let visit = Visit {
        page,
        at,
        outcome: Outcome::Ok,
        status: 200,
        change: Change::New,
        score: Score::ALL,
        digest: Some([1; 20]),
        bytes: 9,
        ms: 1,
        record: None,
        near: None,
        cause: Some(Cause::DnsNotFound),
        noise: VisitNoise::default(),
    };
    let noisy = VisitNoise { in_doubt: true, masked: vec![7, 0x0100_0009] };
    let noisy = Visit { noise: noisy, ..visit.clone() };
    for (visit, before, turn) in [
        (&visit, None, None),
        (&visit, Some(8), Some(turn)),
        (&visit, None, Some(turn)),
        (&noisy, Some(8), None),
        (&noisy, None, Some(turn)),
    ] {
        let logged = Logged { visit: visit.clone(), before, turn };
        assert!(!is_notice(&logged.encode()));
        assert_eq!(Logged::decode(&logged.encode()).unwrap(), logged);
    }
}

#[test]
fn rows_of_format_2_have_no_cause_and_hold_nothing_cut() {
    let page = full_page();
    let mut row = page.encode();
    row.pop();
    row[0] = 2;
    let before = PageRow::decode(&row).unwrap().past.unwrap();
    let now = Past { cause: None, is_cut: false, ..page.past.unwrap() };
    assert_eq!(before, now);
}

#[test]
fn pages_are_somewhere_in_their_lives() {
    let row = |page_status, outcome, status, failures| {
        let mut page = full_page();
        page.status = page_status;
        let past = page.past.as_mut().unwrap();
        (past.outcome, past.status, past.failures) = (outcome, status, failures);
        page.life()
    };
    let (live, gone) = (PageStatus::Live, PageStatus::Gone);
    assert_eq!(row(live, Outcome::Ok, 200, 0), LifeState::Live);
    assert_eq!(row(live, Outcome::Redirect, 302, 0), LifeState::Live);
    assert_eq!(row(live, Outcome::Redirect, 308, 0), LifeState::Moved);
    assert_eq!(row(live, Outcome::ServerError, 500, 2), LifeState::Failing);
    assert_eq!(row(live, Outcome::LoginWall, 200, 1), LifeState::Failing);
    assert_eq!(row(gone, Outcome::ClientError, 404, 0), LifeState::Gone);
    assert_eq!(row(gone, Outcome::SoftGone, 200, 0), LifeState::SoftGone);
    assert_eq!(row(gone, Outcome::LoginWall, 200, 0), LifeState::LoginWall);
    assert_eq!(row(gone, Outcome::Parked, 200, 0), LifeState::Parked);
    assert_eq!(row(PageStatus::Refused(Refusal::Robots), Outcome::Ok, 200, 0), LifeState::Refused);
    let new = PageRow { past: None, status: PageStatus::New, ..full_page() };
    assert_eq!(new.life(), LifeState::New);
    let refused = PageRow { past: None, ..full_page() };
    assert_eq!(refused.life(), LifeState::Refused);
}

#[test]
fn a_page_never_visited_costs_little_more_than_its_url() {
    let page = PageRow { past: None, claimed_change: None, ..full_page() };
    assert!(page.encode().len() <= page.url.len() + 45, "{}", page.encode().len());
}

proptest! {
    #[test]
    fn damaged_rows_are_errors_not_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let mut bytes = bytes;
        if let Some(first) = bytes.first_mut() { *first = [1, 2, log::NOTICE][usize::from(*first % 3)]; }
        let _ = PageRow::decode(&bytes);
        let _ = HostRow::decode(&bytes);
        let _ = Logged::decode(&bytes);
        let _ = decode_notice(&bytes);
        let _ = decode_robots(&bytes);
        let cut = full_page().encode();
        for len in 0..cut.len() { prop_assert!(PageRow::decode(&cut[..len]).is_err()); }
    }
}
