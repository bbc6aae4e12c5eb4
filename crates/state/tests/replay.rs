//! Is the state a snapshot and the batches since? Whatever was done to it, in whatever order they are applied.

use std::path::Path;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex};

use evercrawl_model::{Band, Discovery, Event, HostKey, NextVisit, Override, Refusal, Time};
use evercrawl_state::{
    BatchError, DiskStore, Load, Loading, MemoryStore, Overlay, Rebuild, ReplayError, Settings,
    Space, State, StateError, Store, StoreLimits, View, WrappedStore, apply_batch, copy_crawl,
    crawl_rows, decode_batch, encode_batch, first_difference, needs_preparation, prepare_store,
};
use proptest::prelude::*;

const SETTINGS: Settings = Settings { seed: 3, shards: 4 };
const NOW: Time = Time::from_secs(5_000);

/// A store that keeps every batch, and that has power for so many more commits and tables.
struct Recording {
    rows: MemoryStore,
    batches: Mutex<Vec<Vec<u8>>>,
    left: AtomicI32,
}

impl Recording {
    fn new(left: i32) -> Arc<Self> {
        let (rows, batches) = (MemoryStore::default(), Mutex::default());
        Arc::new(Recording { rows, batches, left: left.into() })
    }

    fn power(&self) -> Result<(), StateError> {
        let left = self.left.fetch_sub(1, Ordering::SeqCst);
        if left > 0 { Ok(()) } else { Err(std::io::Error::other("no power").into()) }
    }

    fn has_power_again(&self) {
        self.left.store(i32::MAX, Ordering::SeqCst);
    }

    fn batches(&self) -> Vec<Overlay> {
        let batches = self.batches.lock().unwrap();
        batches.iter().map(|batch| decode_batch(batch).unwrap()).collect()
    }

    fn snapshot(&self) -> MemoryStore {
        let snapshot = MemoryStore::default();
        copy_crawl(&self.rows, &snapshot).unwrap();
        snapshot
    }
}

impl WrappedStore for Recording {
    type Inner = MemoryStore;

    fn inner(&self) -> &MemoryStore {
        &self.rows
    }

    fn commit(&self, changes: &Overlay) -> Result<(), StateError> {
        self.power()?;
        self.batches.lock().unwrap().push(encode_batch(changes));
        self.rows.commit(changes)
    }

    fn loading(&self, space: Space) -> Result<Box<dyn Loading + '_>, StateError> {
        Ok(Box::new(RecordingLoad { store: self, rows: self.rows.loading(space)? }))
    }
}

struct RecordingLoad<'a> {
    store: &'a Recording,
    rows: Box<dyn Loading + 'a>,
}

impl Loading for RecordingLoad<'_> {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), StateError> {
        self.rows.put(key, value)
    }

    fn finish(self: Box<Self>) -> Result<(), StateError> {
        self.store.power()?;
        self.rows.finish()
    }
}

fn open<S: Store>(store: &Arc<S>, seen: Option<&Path>) -> State<S> {
    State::open(store.clone(), SETTINGS, seen).unwrap()
}

fn discovery<S: Store>(state: &State<S>, host: u8, page: u8) -> Discovery {
    let name = format!("h{host}.test");
    let url = format!("http://{name}/{page}");
    let key = state.view().keyer().page(state.view().keyer().host(&name, &name), &url);
    Discovery { seed: page == 0, band: Band::FIRST, ..Discovery::new(key, url, 0, NOW) }
}

/// Does something to the state; which and to what comes from two numbers.
fn change<S: Store>(state: &mut State<S>, what: u8, page: u8) {
    let found = discovery(state, page % 3, page / 3);
    let key = found.page;
    let is_known = state.view().page(key).unwrap().is_some();
    let event = match what {
        0..4 => Event::Discovered(found),
        4 => {
            state.tag_set(&format!("tag {}", page % 4)).unwrap();
            return;
        }
        5 => Event::OverrideSet {
            user_override: Override::Exclude { pattern: format!("h{page}") },
            at: NOW,
        },
        6 if is_known => Event::Forgotten { page: key },
        7 if is_known => {
            Event::Rescheduled { page: key, next: NextVisit::Due(NOW), policy_notes: None }
        }
        8 if is_known => {
            Event::Refused { page: key, reason: Refusal::Robots, at: NOW, again: Some(NOW) }
        }
        9 if is_known => Event::HostParked { host: key.host, front: Some((Band::REVISITS, NOW)) },
        10 => return state.flush_now().unwrap(),
        _ => Event::LinksRefused { reason: Refusal::TooDeep, count: 1 },
    };
    state.apply(&event).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn a_snapshot_and_the_batches_since_make_the_state(
        changes in proptest::collection::vec((0u8..12, 0u8..60), 1..120),
        snapshot_after: prop::sample::Index,
        too_early: prop::sample::Index,
    ) {
        let dir = tempfile::tempdir().unwrap();
        let seen = dir.path().join("seen");
        let store = Recording::new(i32::MAX);
        let (mut snapshot, taken_at) = ((store.snapshot(), 0), snapshot_after.index(changes.len()));
        let mut state = open(&store, Some(&seen));
        for (nth, (what, page)) in changes.iter().enumerate() {
            if nth == taken_at {
                snapshot = (store.snapshot(), store.batches().len());
            }
            if *what == 11 {
                // Another run.
                state.close(page % 2 == 0).unwrap();
                state = open(&store, Some(&seen));
            }
            change(&mut state, *what, *page);
        }
        state.close(true).unwrap();
        let (batches, (snapshot, taken)) = (store.batches(), snapshot);
        let since = || taken..batches.len();
        let early = too_early.index(taken + 1)..batches.len();
        let twice = since().flat_map(|nth| [nth, nth]).collect();
        let again = since().chain(since()).collect();
        for order in [since().collect(), twice, again, early.collect::<Vec<_>>()] {
            let copy = MemoryStore::default();
            copy_crawl(&snapshot, &copy).unwrap();
            for nth in order {
                apply_batch(&copy, &batches[nth]).unwrap();
            }
            prop_assert_eq!(first_difference(&copy, &store.rows).unwrap(), None);
            let copy = View::open(Arc::new(copy)).unwrap();
            prop_assert_eq!(copy.position(), state.view().position());
        }
    }
}

#[test]
fn no_batch_of_a_run_names_a_row_of_this_machine() {
    let dir = tempfile::tempdir().unwrap();
    let seen = dir.path().join("seen");
    let store = Recording::new(i32::MAX);
    for run in 0..3 {
        let mut state = open(&store, Some(&seen));
        (0..30).for_each(|page| change(&mut state, 0, run * 30 + page));
        load(&mut state, dir.path(), run).unwrap();
        state.close(true).unwrap();
    }
    let machine: Vec<u8> =
        store.scan_keys(Space::Machine).iter().filter_map(|key| key.first().copied()).collect();
    assert_eq!(machine, *b"xy", "a clean end, and the sum of what was seen");
    for batch in store.batches() {
        for first in [b'x', b'l', b'y', b'n'] {
            assert_eq!(named(&batch, Space::Meta, first), 0, "{}", char::from(first));
        }
        assert_eq!((0..=255).map(|first| named(&batch, Space::Machine, first)).sum::<usize>(), 0);
    }
}

impl Recording {
    fn scan_keys(&self, space: Space) -> Vec<Vec<u8>> {
        self.rows.scan(space, &[], &[0xff; 9]).map(|row| row.unwrap().0.to_vec()).collect()
    }
}

/// How many keys of a space that begin with a byte a batch puts or removes.
fn named(batch: &Overlay, space: Space, first: u8) -> usize {
    let put = MemoryStore::default();
    // What a batch removes shows where it was before.
    let numbers = (0..40u64).map(|number| [&[first][..], &number.to_be_bytes()].concat());
    let removed =
        numbers.chain([vec![first]]).filter(|key| batch.get(space, key).is_some()).count();
    put.commit(batch).unwrap();
    let rows = put.scan(space, &[first], &[first, 0xff, 0xff, 0xff, 0xff, 0xff]).count();
    removed.max(rows)
}

fn load<S: Store>(state: &mut State<S>, dir: &Path, from: u8) -> Result<u64, StateError> {
    let mut load = Load::new(dir.join("load")).unwrap();
    for page in 0..40 {
        load.push(Discovery { seed: true, ..discovery(state, from + page % 5, page) }).unwrap();
    }
    state.load(load, NOW, &mut |_| {})
}

#[test]
fn after_a_load_a_new_snapshot_is_due_and_before_its_end_none() {
    for left in 0.. {
        let dir = tempfile::tempdir().unwrap();
        let seen = dir.path().join("seen");
        let store = Recording::new(i32::MAX);
        let mut state = open(&store, Some(&seen));
        change(&mut state, 0, 1);
        state.flush_now().unwrap();
        let (copy, taken) = (store.snapshot(), store.batches().len());
        store.left.store(left, Ordering::SeqCst);
        let loaded = load(&mut state, dir.path(), 0);
        drop(state);
        store.has_power_again();
        prepare_store(&store).unwrap();
        let mut state = open(&store, Some(&seen));
        change(&mut state, 0, 2);
        state.close(true).unwrap();
        let applied: Result<Vec<()>, _> =
            store.batches()[taken..].iter().map(|batch| apply_batch(&copy, batch)).collect();
        if loaded.is_ok() {
            let refused = applied.unwrap_err();
            assert!(matches!(refused, ReplayError::SnapshotDue { .. }), "{refused}");
            let copy = store.snapshot();
            store.batches()[taken..]
                .iter()
                .rev()
                .take(1)
                .for_each(|batch| apply_batch(&copy, batch).unwrap());
            assert_eq!(first_difference(&copy, &store.rows).unwrap(), None);
            assert_eq!(left, 5, "the mark, three tables, and the commit that counts");
            break;
        }
        applied.unwrap();
        assert_eq!(first_difference(&copy, &store.rows).unwrap(), None, "after {left} steps");
    }
}

#[test]
fn no_snapshot_is_taken_while_seeds_are_loaded() {
    let store = Recording::new(4);
    let dir = tempfile::tempdir().unwrap();
    let mut state = open(&store, None);
    assert!(load(&mut state, dir.path(), 0).is_err());
    let refused = copy_crawl(&store.rows, &MemoryStore::default()).unwrap_err();
    assert!(refused.to_string().contains("being loaded"), "{refused}");
}

#[test]
fn after_a_repair_a_new_snapshot_is_due() {
    let store = Recording::new(i32::MAX);
    let mut state = open(&store, None);
    (0..20).for_each(|page| change(&mut state, 0, page));
    state.close(true).unwrap();
    for keeps_facts in [true, false] {
        let (copy, mended) = (store.snapshot(), Recording::new(i32::MAX));
        let hear = &mut |fault| panic!("{fault:?}");
        let mut rebuild = Rebuild::begin(mended.clone(), SETTINGS, hear).unwrap();
        if keeps_facts {
            rebuild.copy(&View::open(store.clone()).unwrap(), |_, visit| visit.record).unwrap();
        }
        rebuild.finish(&[]).unwrap();
        let before = mended.batches().len();
        let mut state = open(&mended, None);
        change(&mut state, 0, 30);
        state.close(true).unwrap();
        let refused = apply_batch(&copy, &mended.batches()[before]).unwrap_err();
        assert!(matches!(refused, ReplayError::SnapshotDue { .. }), "{refused}");
    }
}

#[test]
fn a_batch_that_does_not_follow_is_refused() {
    let store = Recording::new(i32::MAX);
    let mut state = open(&store, None);
    for page in 0..4 {
        change(&mut state, 0, page);
        state.flush_now().unwrap();
    }
    let (batches, copy) = (store.batches(), MemoryStore::default());
    apply_batch(&copy, &batches[0]).unwrap();
    let refused = apply_batch(&copy, &batches[2]).unwrap_err();
    assert!(matches!(refused, ReplayError::Gap { .. }), "{refused}");
    assert!(matches!(apply_batch(&copy, &Overlay::default()), Err(ReplayError::Unnumbered)));
    let damaged = store.batches.lock().unwrap()[1].split_last().unwrap().1.to_vec();
    assert_eq!(decode_batch(&damaged).unwrap_err(), BatchError::Damaged);
    for batch in &batches[1..] {
        apply_batch(&copy, batch).unwrap();
    }
    assert_eq!(first_difference(&copy, &store.rows).unwrap(), None);
}

#[test]
fn a_difference_is_found_wherever_it_is() {
    let store = Recording::new(i32::MAX);
    let mut state = open(&store, None);
    (0..9).for_each(|page| change(&mut state, 0, page));
    state.close(true).unwrap();
    assert!(crawl_rows(&store.rows).count() > 20);
    for row in crawl_rows(&store.rows).map(Result::unwrap) {
        for value in [None, Some(b"another")] {
            let (copy, mut other) = (store.snapshot(), Overlay::default());
            match value {
                Some(value) => other.put(row.0, &row.1, value),
                None => other.remove(row.0, &row.1),
            }
            copy.commit(&other).unwrap();
            let found = Some((row.0, row.1.clone()));
            assert_eq!(first_difference(&copy, &store.rows).unwrap(), found);
            assert_eq!(first_difference(&store.rows, &copy).unwrap(), found);
        }
    }
}

/// Moves the rows of this machine to where the version before kept them, and forgets what it did not know.
fn as_the_version_before(store: &DiskStore) {
    let mut changes = Overlay::default();
    for row in store.scan(Space::Machine, &[], &[0xff; 10]) {
        let (key, value) = row.unwrap();
        changes.put(Space::Meta, &key, &value);
        changes.remove(Space::Machine, &key);
    }
    changes.remove(Space::Meta, b"g");
    store.commit(&changes).unwrap();
}

#[test]
fn a_directory_of_the_version_before_goes_on() {
    for clean in [true, false] {
        let dir = tempfile::tempdir().unwrap();
        let (place, seen) = (dir.path().join("store"), dir.path().join("seen"));
        let disk = || Arc::new(DiskStore::open(&place, StoreLimits::default()).unwrap());
        let store = disk();
        let mut state = open(&store, Some(&seen));
        (0..60).for_each(|page| change(&mut state, 0, page));
        state.close(true).unwrap();
        drop(state);
        let mut state = open(&store, Some(&seen));
        (0..60).for_each(|page| change(&mut state, 0, 60 + page));
        if clean {
            state.close(true).unwrap()
        } else {
            state.flush_now().unwrap()
        }
        drop(state);
        as_the_version_before(&store);
        assert!(needs_preparation(store.as_ref()).unwrap());
        drop(store);

        let store = disk();
        prepare_store(&store).unwrap();
        assert!(!needs_preparation(store.as_ref()).unwrap());
        assert_eq!(View::open(store.clone()).unwrap().was_clean(), clean);
        let mut state = open(&store, Some(&seen));
        assert_eq!(state.view().was_clean(), clean);
        let found = discovery(&state, 1, 25);
        assert!(state.seen().has(found.page, found.check), "the log of URLs seen was moved");
        change(&mut state, 0, 200);
        state.close(true).unwrap();
        assert_eq!(state.view().counters().pages, 121);
        assert_eq!(state.view().position().generation, 1, "nothing leads there from nothing");
        state.view().inspect(&mut |fault| panic!("{fault:?}")).unwrap();
    }
}

/// What can be read of hosts.
fn hosts(view: &View<MemoryStore>) -> impl PartialEq + std::fmt::Debug + use<> {
    let all: Vec<_> = view.hosts().map(Result::unwrap).collect();
    let one: Vec<_> = all.iter().map(|(key, _)| view.host(*key).unwrap()).collect();
    let fronts: Vec<_> = (0..=8)
        .map(Band::of_front_queue)
        .map(|band| view.front(band, (Time::EPOCH, HostKey::default()), 99).unwrap())
        .collect();
    (all, one, fronts)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn what_is_read_of_hosts_does_not_depend_on_the_last_commit(
        changes in proptest::collection::vec((0u8..10, 0u8..60), 1..60),
    ) {
        let mut state = open(&Arc::new(MemoryStore::default()), None);
        for (what, page) in changes {
            change(&mut state, what, page);
            let before = hosts(state.view());
            if page % 2 == 0 {
                state.flush_now().unwrap();
                prop_assert_eq!(hosts(state.view()), before);
            }
        }
    }
}
