//! Do the same events leave the same bytes, however their commits fell?

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use evercrawl_model::{
    Band, Change, Discovery, Dropped, Event, HostLikeness, HostUpdate, Importance, LinkEvidence,
    Measure, NextVisit, Outcome, Override, PageKey, PageKind, PolicyNotes, RecordAt, Refusal,
    Rewritten, RobotsCopy, Score, Suspicion, Time, Visit, VisitNoise, Visited, VisitsDropped,
};
use evercrawl_state::{MemoryStore, Settings, Space, State, crawl_rows};

const SETTINGS: Settings = Settings { seed: 7, shards: 64 };
/// Kinds of events.
const KINDS: usize = 23;
/// What is done to fifty pages, one kind of event after another, in one round.
const STEPS: usize = 24;

fn at(second: usize) -> Time {
    Time::from_secs(1_000_000 + second as u64)
}

fn page(state: &State<MemoryStore>, n: usize) -> (PageKey, Discovery) {
    let (host, path) = (format!("h{}.test", n % 50 % 7), n % 100);
    let url = format!("http://{host}/{path}");
    let key = state.view().keyer().page(state.view().keyer().host(&host, &host), &url);
    (key.0, Discovery { tags: 1, ..Discovery::new(key, url, 1, at(0)) })
}

fn visited(page: PageKey, link: PageKey, n: usize) -> Event {
    let digest = [u8::try_from(n % 251).unwrap(); 20];
    let record = RecordAt { file: 1, offset: n as u64 * 100, length: 100 };
    Event::Visited(Box::new(Visited {
        visit: Visit {
            page,
            at: at(n),
            outcome: Outcome::Ok,
            status: 200,
            change: if n.is_multiple_of(3) { Change::New } else { Change::Changed },
            score: Score::ALL,
            digest: Some(digest),
            bytes: 10,
            ms: 3,
            record: Some(record),
            near: None,
            cause: None,
            noise: VisitNoise::default(),
        },
        identity: Some(digest),
        next: NextVisit::Due(at(500 + n)),
        policy_notes: PolicyNotes { unmodified: 0.5, news: 0.25, ..PolicyNotes::default() },
        validators: None,
        simhash: Some(n as u64 * 0x9e37_79b9),
        memory: Some(vec![1, 2, 3].into()),
        differing: vec![n as u32, 7],
        untold: None,
        observed: None,
        links: Some(vec![link]),
        anchors: vec!["word".into()],
        first_of_digest: true,
        kind: PageKind::Page,
        host: HostUpdate { next_allowed: Some(at(n + 1)), ..HostUpdate::default() },
    }))
}

/// The event of a step; each kind comes about as often as any other.
fn event(state: &State<MemoryStore>, n: usize) -> Option<Event> {
    let step = n / 50 % STEPS;
    // The last steps are about pages that were never visited.
    let of = n % 50 + if step < 20 { 0 } else { 50 };
    let (page, found) = page(state, of);
    let link = self::page(state, (of + 1) % 50).0;
    let host = page.host;
    let row = state.view().page(page).unwrap();
    let known = row.is_some();
    let was_visited = row.is_some_and(|row| row.past.is_some());
    let boost = || Override::Boost { pattern: format!("/{}", n % 5), times: 2.0 };
    let (rule, from) = ("last 3".to_owned(), "log".to_owned());
    let dropped = Dropped { at: at(n), rule, from, count: 1, bytes: 100 };
    Some(match step {
        0 | 20 => Event::Discovered(found),
        1 if known => visited(page, link, n),
        2 if n.is_multiple_of(9) && known => {
            Event::Refused { page, reason: Refusal::Robots, at: at(n), again: Some(at(n + 9)) }
        }
        3 => Event::HostLearned {
            host,
            update: HostUpdate { failures: Some(2), ..Default::default() },
        },
        4 => Event::HostParked { host, front: Some((Band::REVISITS, at(n))) },
        5 => Event::Probed { host, at: at(n), profile: vec![1, 2].into() },
        6 => Event::RobotsLearned {
            origin: format!("http://h{}.test", n % 7),
            copy: RobotsCopy { at: at(n), expires: at(n + 99), status: 200, body: b"x".to_vec() },
        },
        7 if known => {
            Event::Rescheduled { page, next: NextVisit::Due(at(n + 5)), policy_notes: None }
        }
        8 if known => Event::Signalled {
            page,
            at: at(n),
            due: at(n + 1),
            policy_notes: PolicyNotes::default(),
        },
        9 if known => Event::ImportanceChanged { pages: vec![(page, Importance::from_ratio(3.0))] },
        10 => Event::LinkEvidenceChanged {
            measure: Measure::Cash,
            evidence: vec![(
                page,
                Some(LinkEvidence { band: None, numbers: [1.0, n as f64, 0.5] }),
            )],
            total: [n as f64, 1.0, 0.0, 0.0],
        },
        11 => Event::LikenessChanged {
            host,
            likeness: HostLikeness {
                compared_with: link.host,
                alike_pages: 3,
                compared_pages: 4,
                is_mirror: false,
                since: at(n),
            },
        },
        12 => Event::SuspicionChanged {
            host,
            suspicion: Some(Suspicion { probability: 0.5, evidence: "links".into(), at: at(n) }),
        },
        13 => Event::OverrideSet { user_override: boost(), at: at(n) },
        14 if n.is_multiple_of(3) => Event::OverrideRemoved { user_override: boost() },
        15 if known => Event::PutAside { page, reason: Refusal::Excluded, at: at(n) },
        16 if known => Event::PutBack { page, at: at(n) },
        17 => Event::LinksRefused { reason: Refusal::TooDeep, count: 2 },
        18 if was_visited && n.is_multiple_of(10) => Event::Rewritten(Box::new(Rewritten {
            dropped,
            moved: vec![(0, RecordAt { file: 2, offset: 0, length: 100 })],
            emptied: vec![],
            contents: vec![],
        })),
        19 if n % 50 == 7 => Event::VisitsDropped(Box::new(VisitsDropped {
            dropped,
            visits: vec![],
            notices: vec![],
        })),
        23 => Event::Imported { first: n as u64, end: n as u64 + 3 },
        21 if known => Event::Requeued { page, band: Band::new(4), at: at(0) },
        22 if known && n.is_multiple_of(17) => Event::Forgotten { page },
        _ => return None,
    })
}

/// All rows of the crawl, except for the position, which counts commits.
fn rows_after(commit_every: usize) -> BTreeMap<(String, Vec<u8>), Vec<u8>> {
    let store = Arc::new(MemoryStore::default());
    let mut state = State::open(store.clone(), SETTINGS, None).unwrap();
    state.tag_set("news").unwrap();
    let mut kinds = HashSet::new();
    for n in 0..50 * STEPS * 3 {
        if let Some(event) = event(&state, n) {
            kinds.insert(std::mem::discriminant(&event));
            state.apply(&event).unwrap();
        }
        if n % commit_every == 0 {
            state.flush_now().unwrap();
        }
    }
    state.flush_now().unwrap();
    assert_eq!(kinds.len(), KINDS, "every kind of event is applied");
    let rows = crawl_rows(&*store).map(Result::unwrap);
    let is_position = |space: Space, key: &[u8]| space == Space::Meta && key == b"g";
    let rows = rows.filter(|(space, key, _)| !is_position(*space, key));
    rows.map(|(space, key, value)| ((format!("{space:?}"), key.to_vec()), value.to_vec())).collect()
}

#[test]
fn the_same_events_leave_the_same_rows_in_all_spaces() {
    let rows = rows_after(1);
    for space in Space::CRAWL {
        let name = format!("{space:?}");
        assert!(rows.keys().any(|(of, _)| *of == name), "no row in {name}");
    }
    for commit_every in [17, 1000] {
        let others = rows_after(commit_every);
        let differs = rows.iter().find(|(key, value)| others.get(*key) != Some(*value));
        assert_eq!(differs, None, "commits after {commit_every} events");
        assert_eq!(rows.len(), others.len(), "commits after {commit_every} events");
    }
}
