//! A crawl's own state, read as a world.

#![allow(clippy::unwrap_used)] // a test that cannot go on should stop there

use std::sync::Arc;

use evercrawl_lab::ChangeTruth;
use evercrawl_lab::visit_log::{LoggedFinding, VisitLog};
use evercrawl_model::{
    Band, Change, Discovery, Event, HostUpdate, NextVisit, Outcome, PageKey, PageKind, PolicyNotes,
    Score, Time, Visit, VisitNoise, Visited,
};
use evercrawl_state::{MemoryStore, Settings, State};

/// Days since the epoch on which the crawl begins.
const START: u64 = 20_000;

fn day(n: u64) -> Time {
    Time::from_secs((START + n) * 86_400)
}

fn discover(
    state: &mut State<MemoryStore>,
    url: &str,
    via: Option<PageKey>,
    found: Time,
) -> PageKey {
    let host = state.view().keyer().host("a.test", "a.test");
    let key = state.view().keyer().page(host, url);
    let discovery = Discovery { via, band: Band::new(2), ..Discovery::new(key, url, 1, found) };
    state.apply(&Event::Discovered(discovery)).unwrap();
    key.0
}

fn visit(state: &mut State<MemoryStore>, page: PageKey, at: Time, change: Change) {
    let outcome = if change == Change::Failed { Outcome::Timeout } else { Outcome::Ok };
    let visit = Visit {
        page,
        at,
        outcome,
        status: 200,
        change,
        score: Score::ALL,
        digest: None,
        bytes: 10,
        ms: 3,
        record: None,
        near: None,
        cause: None,
        noise: VisitNoise::default(),
    };
    state
        .apply(&Event::Visited(Box::new(Visited {
            visit,
            identity: None,
            next: NextVisit::Never,
            policy_notes: PolicyNotes::default(),
            validators: None,
            simhash: None,
            memory: None,
            differing: Vec::new(),
            untold: None,
            observed: None,
            links: None,
            anchors: Vec::new(),
            first_of_digest: false,
            kind: PageKind::Page,
            host: HostUpdate::default(),
        })))
        .unwrap();
}

#[test]
fn what_was_seen_holds_in_every_world_that_is_drawn() {
    let settings = Settings { seed: 7, shards: 64 };
    let mut state = State::open(Arc::new(MemoryStore::default()), settings, None).unwrap();
    let root = discover(&mut state, "http://a.test/", None, day(0));
    let late = discover(&mut state, "http://a.test/d/late", Some(root), day(5));
    discover(&mut state, "http://a.test/never", Some(root), day(5));
    let seen =
        [Change::New, Change::Same, Change::Failed, Change::Near, Change::Changed, Change::Same];
    for (week, change) in (0..).zip(seen) {
        visit(&mut state, root, day(10 * week), change);
    }
    visit(&mut state, late, day(6), Change::New);
    visit(&mut state, late, day(44), Change::Gone);

    let log = VisitLog::read(&state).unwrap();
    assert_eq!(log.pages().len(), 2, "a page that was never visited says nothing");
    let page = |url: &str| log.pages().iter().find(|page| page.url == url).unwrap();
    let saw: Vec<LoggedFinding> =
        page("http://a.test/").looks.iter().map(|look| look.saw).collect();
    assert_eq!(
        saw,
        [
            LoggedFinding::Other,
            LoggedFinding::Same,
            LoggedFinding::Other,
            LoggedFinding::Other,
            LoggedFinding::Same
        ]
    );

    let start = START as f64;
    for seed in 0..20 {
        let world = log.world("mine", seed, 0.0);
        assert_eq!(world.urls, ["http://a.test/", "http://a.test/d/late"], "by birth");
        let ChangeTruth::Listed(changes) = &world.truth else { panic!("listed") };
        for (from, to, changed) in
            [(0.0, 10.0, false), (10.0, 30.0, true), (30.0, 40.0, true), (40.0, 50.0, false)]
        {
            assert_eq!(changes.changed_within(0, start + from, start + to), changed, "{from}");
        }
        assert_eq!(world.pages[1].born, start + 5.0);
        assert!((start + 6.0..start + 44.0).contains(&world.pages[1].dies));
        assert_eq!(world.server.as_ref().unwrap().links(0), [1]);
    }
    let account = log.account();
    assert_eq!((account.pages, account.checks, account.changed), (2, 4, 2));
}
