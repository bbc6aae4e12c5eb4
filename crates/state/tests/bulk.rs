//! Do seeds that come in together leave what they would have left one by one, all of it or nothing?
#![allow(clippy::unwrap_used, reason = "a failing test panics")]

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use evercrawl_model::{Band, Discovery, Event, Time};
use evercrawl_state::{
    DiskStore, Lane, Load, Loading, MemoryStore, Overlay, Settings, Space, State, StateError,
    Store, StoreLimits, View, WrappedStore, prepare_store,
};
use proptest::prelude::*;

const NOW: Time = Time::from_secs(1_000);
const SPACES: [Space; 4] = [Space::Pages, Space::Known, Space::Queues, Space::Hosts];

fn open<S: Store>(store: &Arc<S>, filter: Option<&Path>) -> State<S> {
    State::open(store.clone(), Settings { seed: 1, shards: 4 }, filter).unwrap()
}

/// The page numbered `page` of host `host`, as the user gives it.
fn seed<S: Store>(state: &State<S>, host: u8, page: u16) -> Discovery {
    let name = format!("h{host}.test");
    let url = format!("http://{name}/{page}");
    let key = state.view().keyer().page(state.view().keyer().host(&name, &name), &url);
    Discovery { seed: true, tags: 3, band: Band::FIRST, ..Discovery::new(key, url, 0, NOW) }
}

fn load<S: Store>(state: &mut State<S>, seeds: &[(u8, u16)]) -> u64 {
    let dir = tempfile::tempdir().unwrap();
    let mut load = Load::new(dir.path().join("load")).unwrap();
    for (host, page) in seeds {
        load.push(seed(state, *host, *page)).unwrap();
    }
    state.load(load, NOW, &mut |_| {}).unwrap()
}

/// Every row of the spaces that seeds come into.
fn rows<S: Store>(store: &S) -> Vec<Vec<(Vec<u8>, Vec<u8>)>> {
    let all = |space| {
        let rows = store.scan(space, &[], &[0xff; 32]);
        rows.map(|row| row.unwrap()).map(|(key, row)| (key.to_vec(), row.to_vec())).collect()
    };
    SPACES.into_iter().map(all).collect()
}

/// URLs host by host in the order in which they wait, with how many pages and hosts are counted.
fn order<S: Store>(state: &State<S>) -> (Vec<String>, u64, u64, Vec<String>) {
    let mut waiting = Vec::new();
    for host in state.view().hosts() {
        let (key, row) = host.unwrap();
        let queued = state.view().lane(key, Lane::New(Band::FIRST), (0, 0), u64::MAX, 1_000);
        let queued = queued.unwrap();
        assert_eq!((queued.len(), queued.len()), (row.waiting as usize, row.known as usize));
        assert!(row.seed && row.front == Some((Band::FIRST, NOW)));
        waiting.extend(queued.iter().map(|one| state.view().page(one.page).unwrap().unwrap().url));
    }
    let mut seeds: Vec<String> = state.view().seeds().map(Result::unwrap).collect();
    seeds.sort();
    (waiting, state.view().counters().pages, state.view().counters().hosts, seeds)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn together_is_as_one_by_one(
        before in proptest::collection::vec((0u8..4, 0u16..20), 0..20),
        seeds in proptest::collection::vec((0u8..6, 0u16..40), 1..80),
    ) {
        let stores = [Arc::new(MemoryStore::default()), Arc::new(MemoryStore::default())];
        let mut states = stores.clone().map(|store| open(&store, None));
        for state in &mut states {
            for (host, page) in &before {
                state.apply(&Event::Discovered(seed(state, *host, *page))).unwrap();
            }
        }
        let [alone, together] = &mut states;
        let mut new = 0;
        for (host, page) in &seeds {
            let applied = alone.apply(&Event::Discovered(seed(alone, *host, *page))).unwrap();
            new += u64::from(applied.queued.is_some());
        }
        alone.flush_now().unwrap();
        prop_assert_eq!(load(together, &seeds), new);
        prop_assert_eq!(order(together), order(alone));
        together.view().inspect(&mut |fault| panic!("{fault:?}")).unwrap();
    }
}

#[test]
fn seeds_whose_keys_collide_come_in_all_the_same() {
    let store = Arc::new(MemoryStore::default());
    let mut state = open(&store, None);
    let first = seed(&state, 0, 1);
    let others = [2, 3].map(|page| Discovery { page: first.page, ..seed(&state, 0, page) });
    for _ in 0..2 {
        let dir = tempfile::tempdir().unwrap();
        let mut load = Load::new(dir.path().join("load")).unwrap();
        load.push(others[0].clone()).unwrap();
        load.push(first.clone()).unwrap();
        load.push(others[1].clone()).unwrap();
        state.load(load, NOW, &mut |_| {}).unwrap();
        let mut urls: Vec<String> = state.view().pages().map(|page| page.unwrap().1.url).collect();
        urls.sort();
        assert_eq!(urls, [1, 2, 3].map(|page| format!("http://h0.test/{page}")));
        assert_eq!(state.view().counters().pages, 3);
    }
}

#[test]
fn what_was_loaded_is_known_after_an_end_of_any_kind() {
    let dir = tempfile::tempdir().unwrap();
    let filter = dir.path().join("seen");
    let seeds: Vec<(u8, u16)> = (0..2_000).map(|n| ((n % 7) as u8, n)).collect();
    for clean in [false, true] {
        let store = dir.path().join(clean.to_string());
        let disk = || Arc::new(DiskStore::open(&store, StoreLimits::default()).unwrap());
        let mut state = open(&disk(), Some(&filter));
        assert_eq!(load(&mut state, &seeds), 2_000);
        if clean {
            state.close(true).unwrap();
        }
        drop(state);
        let mut state = open(&disk(), Some(&filter));
        assert_eq!(state.view().counters().pages, 2_000);
        assert_eq!(load(&mut state, &seeds), 0, "all are known");
        let first = seed(&state, 0, 0);
        assert!(state.apply(&Event::Discovered(first)).unwrap().queued.is_none());
        state.close(true).unwrap();
        state.view().inspect(&mut |fault| panic!("{fault:?}")).unwrap();
    }
}

/// A store that takes so many more commits and finished tables, and then no more.
struct CutShort {
    store: Arc<MemoryStore>,
    left: AtomicI32,
}

impl WrappedStore for CutShort {
    type Inner = MemoryStore;

    fn inner(&self) -> &MemoryStore {
        &self.store
    }

    fn commit(&self, changes: &Overlay) -> Result<(), StateError> {
        self.power()?;
        self.store.commit(changes)
    }

    fn loading(&self, space: Space) -> Result<Box<dyn Loading + '_>, StateError> {
        Ok(Box::new(LoadingCutShort { cut: self, rows: self.store.loading(space)? }))
    }
}

impl CutShort {
    /// An error once the power is gone.
    fn power(&self) -> Result<(), StateError> {
        let left = self.left.fetch_sub(1, Ordering::SeqCst);
        if left > 0 { Ok(()) } else { Err(io::Error::other("no power").into()) }
    }
}

struct LoadingCutShort<'a> {
    cut: &'a CutShort,
    rows: Box<dyn Loading + 'a>,
}

impl Loading for LoadingCutShort<'_> {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), StateError> {
        self.rows.put(key, value)
    }

    fn finish(self: Box<Self>) -> Result<(), StateError> {
        self.cut.power()?;
        self.rows.finish()
    }
}

#[test]
fn a_load_that_is_cut_short_leaves_nothing() {
    let seeds: Vec<(u8, u16)> = (0..300).map(|n| ((n % 7) as u8, n)).collect();
    let mut ends = Vec::new();
    for left in 0.. {
        let store = Arc::new(MemoryStore::default());
        let dir = tempfile::tempdir().unwrap();
        let seen = dir.path().join("seen");
        let mut state = open(&store, Some(&seen));
        let first = seed(&state, 1, 1);
        state.apply(&Event::Discovered(first)).unwrap();
        state.close(true).unwrap();
        let before = rows(&*store);

        let cut = Arc::new(CutShort { store: store.clone(), left: left.into() });
        let mut state = open(&cut, Some(&seen));
        let mut load = Load::new(dir.path().join("load")).unwrap();
        seeds.iter().for_each(|(host, page)| load.push(seed(&state, *host, *page)).unwrap());
        let loaded = state.load(load, NOW, &mut |_| {});
        prepare_store(&store).unwrap();
        let view = View::open(store.clone()).unwrap();
        view.inspect(&mut |fault| panic!("after {left} steps: {fault:?}")).unwrap();
        if loaded.is_ok() {
            assert_eq!(view.counters().pages, 300, "page 1 of host 1 is one of them");
            break;
        }
        assert_eq!(rows(&*store), before, "after {left} steps");
        assert_eq!(self::load(&mut open(&store, Some(&seen)), &seeds), 299, "none is known");
        ends.push(left);
    }
    assert!(ends.len() >= 5, "queues, pages, known, and the commits around them: {ends:?}");
}
