//! The state as its users see it: events in, rows out, through crashes and reopenings.

#![allow(clippy::unwrap_used)] // a test that cannot go on should stop there

use std::sync::Arc;

use evercrawl_model::{
    Band, Change, Discovery, Event, HostKey, HostUpdate, NextVisit, Outcome, Override, PageKey,
    PageKind, PolicyNotes, Refusal, Score, Time, UrlShape, Visit, VisitNoise, Visited,
};
use evercrawl_state::{
    DiskStore, Lane, MemoryStore, PageRow, PageStatus, Place, Settings, State, Store, StoreLimits,
};

const SETTINGS: Settings = Settings { seed: 7, shards: 64 };

fn at(s: u64) -> Time {
    Time::from_secs(1_000_000 + s)
}

fn memory() -> State<MemoryStore> {
    State::open(Arc::new(MemoryStore::default()), SETTINGS, None).unwrap()
}

fn discovery<S: Store>(state: &State<S>, host: &str, path: &str) -> Discovery {
    let url = format!("http://{host}{path}");
    let key = state.view().keyer().page(state.view().keyer().host(host, host), &url);
    Discovery { band: Band::new(2), ..Discovery::new(key, url, 1, at(0)) }
}

fn discover<S: Store>(state: &mut State<S>, host: &str, path: &str) -> PageKey {
    let found = discovery(state, host, path);
    let page = found.page;
    state.apply(&Event::Discovered(found)).unwrap();
    page
}

fn visit(page: PageKey, second: u64, change: Change, next: Option<Time>) -> Event {
    let content = matches!(change, Change::New | Change::Changed);
    let digest = content.then_some([u8::try_from(second % 251).unwrap(); 20]);
    Event::Visited(Box::new(Visited {
        visit: Visit {
            page,
            at: at(second),
            outcome: if change == Change::Failed { Outcome::Timeout } else { Outcome::Ok },
            status: 200,
            change,
            score: Score::ALL,
            digest,
            bytes: 10,
            ms: 3,
            record: None,
            near: None,
            cause: None,
            noise: VisitNoise::default(),
        },
        identity: digest,
        next: next.map_or(NextVisit::Never, NextVisit::Due),
        policy_notes: PolicyNotes::default(),
        validators: None,
        simhash: None,
        memory: None,
        differing: Vec::new(),
        untold: None,
        observed: None,
        links: None,
        anchors: Vec::new(),
        first_of_digest: content,
        kind: PageKind::Page,
        host: HostUpdate { next_allowed: Some(at(second + 1)), ..HostUpdate::default() },
    }))
}

#[test]
fn readers_share_what_is_known() {
    let mut state = memory();
    let seen = state.seen();
    let found = discovery(&state, "a.test", "/");
    let (page, check) = (found.page, found.check);
    assert!(!seen.has(page, check), "nothing is there");
    state.apply(&Event::Discovered(found)).unwrap();
    assert!(seen.has(page, check));
    assert!(!seen.has(page, !check), "another URL of the same key");
    state.apply(&Event::Forgotten { page }).unwrap();
    assert!(!seen.has(page, check), "it left");
    let found = discovery(&state, "a.test", "/");
    state.apply(&Event::Discovered(found)).unwrap();
    assert_eq!((state.view().counters().pages, seen.has(page, check)), (1, true), "it is back");
}

fn lane<S: Store>(state: &State<S>, host: HostKey, lane: Lane) -> Vec<PageKey> {
    let queued = state.view().lane(host, lane, (0, 0), u64::MAX, 100).unwrap();
    queued.into_iter().map(|queued| queued.page).collect()
}

#[test]
fn a_page_is_found_once_and_waits_in_turn() {
    let mut state = memory();
    let a = discover(&mut state, "a.test", "/1");
    let b = discover(&mut state, "a.test", "/2");
    discover(&mut state, "a.test", "/1");
    assert_eq!(state.view().counters().pages, 2);
    assert_eq!(lane(&state, a.host, Lane::New(Band::new(2))), [a, b]);
    let host = state.view().host(a.host).unwrap().unwrap();
    assert_eq!((host.authority.as_str(), host.known, host.waiting), ("a.test", 2, 2));
    assert_eq!(host.front, Some((Band::new(2), at(0))));
    let front = state.view().front(Band::new(2), (Time::EPOCH, HostKey::default()), 9).unwrap();
    assert_eq!(front, [(at(0), a.host)]);
}

#[test]
fn a_visit_moves_the_page_to_its_next_due_time_and_into_the_log() {
    let mut state = memory();
    let page = discover(&mut state, "a.test", "/1");
    state.apply(&visit(page, 1, Change::New, Some(at(100)))).unwrap();
    state.apply(&visit(page, 100, Change::Changed, Some(at(200)))).unwrap();
    state.apply(&visit(page, 150, Change::Same, Some(at(300)))).unwrap();
    assert!(lane(&state, page.host, Lane::New(Band::new(2))).is_empty());
    assert_eq!(lane(&state, page.host, Lane::Due), [page]);
    let row = state.view().page(page).unwrap().unwrap();
    assert_eq!((row.status, row.place), (PageStatus::Live, Some(Place::Due(at(300)))));
    let past = row.past.clone().unwrap();
    assert_eq!((past.visits, past.checks, past.changes), (3, 2, 1));
    assert_eq!(past.watched, 149.0);
    assert_eq!(past.last_change, Some(at(100)));
    let seen: Vec<_> = state.view().history(&row).map(|visit| visit.unwrap().1.change).collect();
    assert_eq!(seen, [Change::Same, Change::Changed, Change::New]);
    let host = state.view().host(page.host).unwrap().unwrap();
    assert_eq!((host.waiting, host.next_allowed), (0, at(151)));
}

#[test]
fn a_page_that_goes_or_is_refused_leaves_the_queue_and_can_be_looked_at_again() {
    let mut state = memory();
    let (a, b) = (discover(&mut state, "a.test", "/1"), discover(&mut state, "a.test", "/2"));
    state.apply(&visit(a, 1, Change::Gone, None)).unwrap();
    let refusal =
        Event::Refused { page: b, reason: Refusal::Robots, at: at(2), again: Some(at(500)) };
    state.apply(&refusal).unwrap();
    state.apply(&refusal).unwrap();
    assert_eq!(state.view().page(a).unwrap().unwrap().status, PageStatus::Gone);
    assert_eq!(state.view().page(b).unwrap().unwrap().status, PageStatus::Refused(Refusal::Robots));
    assert_eq!(
        state.view().counters().refused(Refusal::Robots),
        1,
        "looked at twice, refused once"
    );
    assert_eq!(state.view().counters().by_status, [0, 0, 1, 1]);
    assert_eq!(lane(&state, a.host, Lane::Recheck), [b]);
}

#[test]
fn endless_shapes_and_full_hosts_are_refused_except_to_seeds() {
    let mut state = memory();
    let shape = Some(UrlShape { hash: 5, cap: 2, refusal: Refusal::ParameterExplosion });
    let mut refused = Vec::new();
    for n in 0..4 {
        let found = Discovery { shape, ..discovery(&state, "a.test", &format!("/?n={n}")) };
        refused.push(state.apply(&Event::Discovered(found)).unwrap().refused);
    }
    let reason = Some(Refusal::ParameterExplosion);
    assert_eq!(refused, [None, None, reason, reason]);
    let full = Discovery { host_cap: Some(2), ..discovery(&state, "a.test", "/x") };
    assert_eq!(
        state.apply(&Event::Discovered(full.clone())).unwrap().refused,
        Some(Refusal::HostFull)
    );
    let seed = Discovery { seed: true, ..full };
    assert_eq!(state.apply(&Event::Discovered(seed)).unwrap().refused, None);
    assert_eq!(state.view().counters().pages, 3);
}

#[test]
fn a_page_that_waits_and_that_a_redirect_leads_to_is_its_target() {
    let mut state = memory();
    let [old, page] = ["/old", "/new"].map(|path| discover(&mut state, "a.test", path));
    let before = state.view().page(page).unwrap().unwrap();
    let led = Discovery { via: Some(old), hops: 1, ..discovery(&state, "a.test", "/new") };
    state.apply(&Event::Discovered(led.clone())).unwrap();
    let after = state.view().page(page).unwrap().unwrap();
    assert_eq!(after, PageRow { via: Some(old), hops: 1, ..before });
    // Another redirect does not take it away again.
    let other = Discovery { via: None, hops: 2, ..led };
    state.apply(&Event::Discovered(other)).unwrap();
    assert_eq!(state.view().page(page).unwrap().unwrap(), after);
}

#[test]
fn a_guess_that_leads_nowhere_leaves_no_trace() {
    let mut state = memory();
    let kept = discover(&mut state, "a.test", "/1");
    let guess = discover(&mut state, "a.test", "/sitemap.xml");
    state.apply(&Event::Forgotten { page: guess }).unwrap();
    assert_eq!(state.view().page(guess).unwrap(), None);
    assert_eq!(
        (state.view().counters().pages, state.view().counters().by_status),
        (1, [1, 0, 0, 0])
    );
    assert_eq!(lane(&state, kept.host, Lane::New(Band::new(2))), [kept]);
    let host = state.view().host(kept.host).unwrap().unwrap();
    assert_eq!((host.known, host.waiting), (1, 1));
    discover(&mut state, "a.test", "/sitemap.xml");
    assert_eq!(state.view().counters().pages, 2, "it can be found again");
}

#[test]
fn colliding_urls_are_both_kept() {
    let mut state = memory();
    let first = discovery(&state, "a.test", "/1");
    let second = Discovery { page: first.page, ..discovery(&state, "a.test", "/2") };
    state.apply(&Event::Discovered(first.clone())).unwrap();
    let applied = state.apply(&Event::Discovered(second.clone())).unwrap();
    assert_eq!(applied.queued.unwrap().0, first.page.next_probe());
    state.apply(&Event::Discovered(second)).unwrap();
    assert_eq!(state.view().counters().pages, 2);
}

#[test]
fn a_host_wakes_for_its_earliest_work() {
    let mut state = memory();
    let page = discover(&mut state, "a.test", "/1");
    state.apply(&visit(page, 1, Change::New, Some(at(100)))).unwrap();
    let rest = Event::HostParked { host: page.host, front: Some((Band::new(3), at(100))) };
    state.apply(&rest).unwrap();
    assert_eq!(state.view().host(page.host).unwrap().unwrap().front, Some((Band::new(3), at(100))));
    let later = Discovery { at: at(50), ..discovery(&state, "a.test", "/2") };
    let applied = state.apply(&Event::Discovered(later)).unwrap();
    assert_eq!(applied.front, Some((page.host, Band::new(2), at(50))));
    let all: usize = (0..Band::COUNT)
        .map(|n| {
            state.view().front(Band::new(n), (Time::EPOCH, HostKey::default()), 9).unwrap().len()
        })
        .sum();
    assert_eq!(all, 1, "one place among the front queues");
}

#[test]
fn what_was_committed_is_there_after_a_crash_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let filter = dir.path().join("seen");
    let open = || {
        let store = DiskStore::open(&dir.path().join("db"), StoreLimits::default()).unwrap();
        State::open(Arc::new(store), SETTINGS, Some(&filter)).unwrap()
    };
    let mut state = open();
    let page = discover(&mut state, "a.test", "/1");
    state.apply(&visit(page, 1, Change::New, Some(at(9)))).unwrap();
    state.flush_now().unwrap();
    discover(&mut state, "a.test", "/lost");
    drop(state);

    let mut state = open();
    assert!(!state.view().was_clean());
    assert_eq!((state.view().counters().pages, state.view().counters().visits), (1, 1));
    assert_eq!(state.view().page(page).unwrap().unwrap().past.unwrap().visits, 1);
    discover(&mut state, "a.test", "/1");
    assert_eq!(state.view().counters().pages, 1, "the filter was brought up to date");
    discover(&mut state, "a.test", "/lost");
    assert_eq!(state.view().counters().pages, 2);
    state.close(true).unwrap();
    drop(state);

    let mut state = open();
    assert!(state.view().was_clean());
    discover(&mut state, "a.test", "/lost");
    assert_eq!(state.view().counters().pages, 2);
}

#[test]
fn what_was_forgotten_before_a_crash_is_found_again() {
    let dir = tempfile::tempdir().unwrap();
    let store = Arc::new(MemoryStore::default());
    let open = || State::open(store.clone(), SETTINGS, Some(&dir.path().join("seen"))).unwrap();
    let mut state = open();
    let page = discover(&mut state, "a.test", "/1");
    discover(&mut state, "a.test", "/2");
    state.close(true).unwrap();
    let mut state = open();
    state.apply(&Event::Forgotten { page }).unwrap();
    state.flush_now().unwrap();
    drop(state);

    let mut state = open();
    discover(&mut state, "a.test", "/1");
    discover(&mut state, "a.test", "/2");
    assert_eq!(state.view().counters().pages, 2, "the file still has the one that was forgotten");
    assert!(state.view().page(page).unwrap().is_some());
}

#[test]
fn urls_seen_are_saved_when_there_are_others() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("seen");
    let store = Arc::new(MemoryStore::default());
    let run = |urls: &[&str]| {
        let mut state = State::open(store.clone(), SETTINGS, Some(&file)).unwrap();
        for url in urls {
            discover(&mut state, "a.test", url);
        }
        let (pages, _) = (state.view().counters().pages, state.close(true).unwrap());
        (pages, file.exists().then(|| std::fs::read(&file).unwrap()))
    };
    assert_eq!(run(&[]), (0, None));
    let (_, first) = run(&["/1"]);
    let (pages, second) = run(&["/1"]);
    assert_eq!((pages, &second), (1, &first), "nothing new");
    std::fs::remove_file(&file).unwrap();
    let (pages, third) = run(&["/1"]);
    assert!(pages == 1 && third.is_some(), "it is made anew");
    let (pages, fourth) = run(&["/1", "/2"]);
    assert!(pages == 2 && fourth != third);
    assert_eq!(run(&["/1", "/2"]).0, 2);
}

#[test]
fn urls_seen_that_were_done_without_are_not_believed_when_they_are_back() {
    let dir = tempfile::tempdir().unwrap();
    let (file, aside) = (dir.path().join("seen"), dir.path().join("aside"));
    let store = Arc::new(MemoryStore::default());
    let open = || State::open(store.clone(), SETTINGS, Some(&file)).unwrap();
    for url in ["/1", "/2"] {
        let mut state = open();
        discover(&mut state, "a.test", url);
        state.close(true).unwrap();
    }
    std::fs::rename(&file, &aside).unwrap();
    let mut state = open();
    let page = discover(&mut state, "a.test", "/3");
    state.apply(&visit(page, 1, Change::New, Some(at(9)))).unwrap();
    state.flush_now().unwrap();
    drop(state);

    std::fs::rename(&aside, &file).unwrap();
    let mut state = open();
    discover(&mut state, "a.test", "/3");
    assert_eq!(state.view().counters().pages, 3, "it is known, though the file does not have it");
}

#[test]
fn urls_seen_by_another_store_are_not_believed() {
    let dir = tempfile::tempdir().unwrap();
    let open = |store: &Arc<MemoryStore>| {
        State::open(store.clone(), SETTINGS, Some(&dir.path().join("seen"))).unwrap()
    };
    let stores = [(); 2].map(|()| Arc::new(MemoryStore::default()));
    for store in &stores {
        let mut state = open(store);
        discover(&mut state, "a.test", "/1");
        assert_eq!(state.view().counters().pages, 1);
        state.close(true).unwrap();
    }
    // The first finds the file of the second, as one does whose files were put back from elsewhere.
    let mut state = open(&stores[0]);
    discover(&mut state, "a.test", "/1");
    assert_eq!(state.view().counters().pages, 1);
}

#[test]
fn what_is_on_its_way_to_disk_stays_visible() {
    let mut state = memory();
    let a = discover(&mut state, "a.test", "/1");
    let frozen = state.freeze().unwrap();
    let b = discover(&mut state, "a.test", "/2");
    assert!(state.freeze().is_none(), "one part at a time");
    assert_eq!(lane(&state, a.host, Lane::New(Band::new(2))), [a, b]);
    state.reading().commit(&frozen).unwrap();
    state.flushed().unwrap();
    assert_eq!(lane(&state, a.host, Lane::New(Band::new(2))), [a, b]);
    assert!(state.freeze().is_some());
}

#[test]
fn content_is_found_by_digest_and_by_likeness() {
    let mut state = memory();
    let page = discover(&mut state, "a.test", "/1");
    let Event::Visited(mut visited) = visit(page, 1, Change::New, None) else { unreachable!() };
    visited.simhash = Some(0xdead_beef_0bad_cafe);
    let digest = visited.visit.digest.unwrap();
    state.apply(&Event::Visited(visited)).unwrap();
    state.flush_now().unwrap();
    let reading = state.reading();
    let first = reading.first_seen(&digest).unwrap().unwrap();
    assert_eq!((first.page, first.at), (page, at(1)));
    assert_eq!(reading.near(0xdead_beef_0bad_cafe ^ 0x8000_0100_0000_0001, 3).unwrap(), Some(page));
    assert_eq!(reading.near(0xdead_beef_0bad_cafe ^ 0x8000_0100_0010_0001, 3).unwrap(), None);
    assert_eq!(reading.first_seen(&[0; 20]).unwrap(), None);
}

#[test]
fn tags_are_numbered_once() {
    let mut state = memory();
    assert_eq!(state.tag_set("").unwrap(), 0);
    let id = state.tag_set("news").unwrap();
    assert_eq!(state.tag_set("news").unwrap(), id);
    assert_ne!(state.tag_set("country:jp").unwrap(), id);
    assert_eq!(state.view().tag_sets().unwrap()[&id], "news");
}

/// Readers are given a `View`: what it says of a host must not depend on when the last commit was.
#[test]
fn readers_see_a_host_as_changed_before_a_commit_and_after_it() {
    let seen = |state: &State<MemoryStore>, host: HostKey| {
        let view = state.view();
        let row = view.host(host).unwrap();
        let all: Vec<_> = view.hosts().map(Result::unwrap).collect();
        assert!(all.is_sorted_by_key(|(host, _)| *host));
        let scanned = all.into_iter().find(|(key, _)| *key == host).map(|(_, row)| row);
        assert_eq!(scanned, row, "a scan shows what a look-up shows");
        row.unwrap()
    };
    let mut state = memory();
    let page = discover(&mut state, "a.test", "/1");
    discover(&mut state, "b.test", "/1");
    let learned = |failures| Event::HostLearned {
        host: page.host,
        update: HostUpdate { failures: Some(failures), ..HostUpdate::default() },
    };
    let seed = Discovery { seed: true, ..discovery(&state, "a.test", "/1") };
    let events = [
        learned(1),
        Event::Discovered(discovery(&state, "a.test", "/2")),
        visit(page, 1, Change::New, Some(at(100))),
        Event::HostParked { host: page.host, front: Some((Band::new(3), at(100))) },
        Event::Discovered(seed),
        learned(2),
    ];
    for event in events {
        let before = seen(&state, page.host);
        state.apply(&event).unwrap();
        let changed = seen(&state, page.host);
        assert_ne!(changed, before, "{event:?}");
        let frozen = state.freeze().unwrap();
        assert_eq!(seen(&state, page.host), changed, "on its way");
        state.reading().commit(&frozen).unwrap();
        state.flushed().unwrap();
        assert_eq!(seen(&state, page.host), changed, "committed");
        assert_eq!(state.reading().view().unwrap().host(page.host).unwrap(), Some(changed));
    }
}

#[test]
fn a_new_page_can_wait_in_another_front_queue_with_the_turn_that_it_had() {
    let mut state = memory();
    let (first, second) =
        (discover(&mut state, "a.test", "/1"), discover(&mut state, "a.test", "/2"));
    for page in [second, first] {
        state.apply(&Event::Requeued { page, band: Band::new(1), at: at(5) }).unwrap();
    }
    assert_eq!(lane(&state, first.host, Lane::New(Band::new(1))), [first, second]);
    assert!(lane(&state, first.host, Lane::New(Band::new(2))).is_empty());
    let host = state.view().host(first.host).unwrap().unwrap();
    assert_eq!((host.waiting, host.front.unwrap().0), (2, Band::new(1)));
    state.apply(&visit(first, 6, Change::New, Some(at(100)))).unwrap();
    let before = state.view().page(first).unwrap();
    state.apply(&Event::Requeued { page: first, band: Band::new(3), at: at(7) }).unwrap();
    assert_eq!(state.view().page(first).unwrap(), before, "it was visited since");
}

#[test]
fn an_excluded_page_leaves_the_queues_and_returns_to_where_it_was() {
    let mut state = memory();
    let (new, known) = (discover(&mut state, "a.test", "/1"), discover(&mut state, "a.test", "/2"));
    let later = discover(&mut state, "a.test", "/3");
    state.apply(&visit(known, 1, Change::New, Some(at(100)))).unwrap();
    let before = [new, known].map(|page| state.view().page(page).unwrap().unwrap());
    let counts = state.view().counters().by_status;
    for page in [new, known, known] {
        state.apply(&Event::PutAside { page, reason: Refusal::Excluded, at: at(3) }).unwrap();
        let row = state.view().page(page).unwrap().unwrap();
        assert_eq!((row.status, row.place), (PageStatus::Refused(Refusal::Excluded), None));
    }
    assert_eq!(state.view().counters().refused(Refusal::Excluded), 2);
    assert_eq!(state.view().counters().by_status[3], 2);
    assert_eq!(lane(&state, new.host, Lane::New(Band::new(2))), [later]);
    assert!(lane(&state, new.host, Lane::Due).is_empty());
    assert_eq!(state.view().host(new.host).unwrap().unwrap().waiting, 1);
    let aside: Vec<_> = state.view().aside_after(None).map(Result::unwrap).collect();
    assert_eq!(aside.len(), 2);
    assert_eq!(state.view().aside_after(Some(aside[0])).count(), 1);

    state.apply(&Event::HostParked { host: new.host, front: None }).unwrap();
    for page in [known, new] {
        state.apply(&Event::PutBack { page, at: at(50) }).unwrap();
    }
    let after = [new, known].map(|page| state.view().page(page).unwrap().unwrap());
    assert_eq!(after, before);
    assert_eq!(state.view().counters().by_status, counts);
    assert_eq!(lane(&state, new.host, Lane::New(Band::new(2))), [new, later]);
    assert_eq!(lane(&state, new.host, Lane::Due), [known]);
    let host = state.view().host(new.host).unwrap().unwrap();
    assert_eq!((host.waiting, host.front.unwrap().1), (2, at(50)));
    assert_eq!(state.view().aside_after(None).count(), 0);
}

#[test]
fn a_page_that_is_put_aside_for_two_reasons_in_turn_still_returns_to_where_it_was() {
    let mut state = memory();
    let page = discover(&mut state, "a.test", "/1");
    let before = state.view().page(page).unwrap();
    for reason in [Refusal::Mirror, Refusal::Spam, Refusal::Excluded] {
        state.apply(&Event::PutAside { page, reason, at: at(3) }).unwrap();
        let row = state.view().page(page).unwrap().unwrap();
        assert_eq!((row.status, row.place), (PageStatus::Refused(reason), None));
    }
    state.apply(&Event::PutBack { page, at: at(2) }).unwrap();
    assert_eq!(state.view().page(page).unwrap(), before);
}

#[test]
fn a_page_that_was_in_flight_when_it_was_put_aside_stays_where_its_visit_put_it() {
    let mut state = memory();
    let page = discover(&mut state, "a.test", "/1");
    state.apply(&Event::PutAside { page, reason: Refusal::Excluded, at: at(3) }).unwrap();
    state.apply(&visit(page, 1, Change::New, Some(at(100)))).unwrap();
    let row = state.view().page(page).unwrap();
    state.apply(&Event::PutBack { page, at: at(2) }).unwrap();
    assert_eq!(state.view().page(page).unwrap(), row);
    assert_eq!(state.view().aside_after(None).count(), 0);
    state.apply(&Event::PutBack { page, at: at(3) }).unwrap();
    assert_eq!(state.view().page(page).unwrap(), row);
}

#[test]
fn a_wish_takes_the_place_of_an_earlier_one() {
    let mut state = memory();
    let boost = |times| Override::Boost { pattern: "/news/".to_owned(), times };
    let exclude = Override::Exclude { pattern: "/news/".to_owned() };
    for (second, user_override) in [(1, boost(5.0)), (2, exclude.clone()), (3, boost(7.0))] {
        state.apply(&Event::OverrideSet { user_override, at: at(second) }).unwrap();
    }
    assert_eq!(state.view().overrides().unwrap(), [(boost(7.0), at(3)), (exclude.clone(), at(2))]);
    state.apply(&Event::OverrideRemoved { user_override: boost(1.0) }).unwrap();
    assert_eq!(state.view().overrides().unwrap(), [(exclude, at(2))]);
}

#[test]
fn a_word_that_a_page_changed_moves_it_and_is_kept() {
    let mut state = memory();
    let page = discover(&mut state, "a.test", "/1");
    state.apply(&visit(page, 1, Change::New, Some(at(1000)))).unwrap();
    let numbers = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0];
    let noted = PolicyNotes { unmodified: 0.5, numbers, news: 0.0 };
    let word = Event::Signalled { page, at: at(5), due: at(6), policy_notes: noted };
    let applied = state.apply(&word).unwrap();
    assert_eq!(applied.queued, Some((page, Place::Due(at(6)))));
    let row = state.view().page(page).unwrap().unwrap();
    assert_eq!((row.place, row.claimed_change), (Some(Place::Due(at(6))), Some(at(5))));
    assert_eq!((row.status, row.past.unwrap().noted), (PageStatus::Live, noted));
    let due = state.view().lane(page.host, Lane::Due, (0, 0), u64::MAX, 9).unwrap();
    assert_eq!(due.len(), 1, "it waits in one place alone");
}

#[test]
fn links_are_kept_replaced_left_and_removed_as_visits_tell() {
    let mut state = memory();
    let a = discover(&mut state, "a.test", "/1");
    let (b, c) = (discover(&mut state, "a.test", "/2"), discover(&mut state, "b.test", "/"));
    assert_eq!(state.view().links(a).unwrap(), None, "not known before the first visit");
    let sorted = |mut links: Vec<PageKey>| {
        links.sort_unstable();
        Some(links)
    };
    let table = [
        (Change::New, sorted(vec![b, c]), sorted(vec![b, c])),
        (Change::Same, None, sorted(vec![b, c])),
        (Change::Failed, None, sorted(vec![b, c])),
        (Change::Changed, sorted(vec![c]), sorted(vec![c])),
        (Change::Changed, Some(vec![]), Some(vec![])),
        (Change::Same, sorted(vec![b]), sorted(vec![b])),
        (Change::Gone, None, None),
    ];
    for ((change, found, kept), second) in table.into_iter().zip(1..) {
        let Event::Visited(mut visited) = visit(a, second, change, None) else { unreachable!() };
        visited.links = found;
        state.apply(&Event::Visited(visited)).unwrap();
        assert_eq!(state.view().links(a).unwrap(), kept, "{change:?}");
        let all: Vec<_> = state.view().all_links().map(|row| row.unwrap()).collect();
        assert_eq!(all, kept.map(|kept| (a, kept)).into_iter().collect::<Vec<_>>());
    }
}
