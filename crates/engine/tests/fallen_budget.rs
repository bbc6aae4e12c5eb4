//! Does a crawl go on while all that was due is put off, because much less may be spent?

#![allow(clippy::unwrap_used)] // a test that cannot go on should stop there

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use evercrawl_engine::rehearsal::{Asked, Rehearsal, Web};
use evercrawl_fetch::Fetched;
use evercrawl_model::Time;
use evercrawl_state::{MemoryStore, Row, Space, Store, WrappedStore};

use crate::common::fetched;
use crate::common::rehearsed::{HOUR, START, begun_in, words};

const PAGES: usize = 2000;
const DAY: Duration = Duration::from_secs(86_400);

/// Counts the rows of queues that are read.
#[derive(Default)]
struct Counting {
    store: MemoryStore,
    read: Arc<AtomicUsize>,
}

impl WrappedStore for Counting {
    type Inner = MemoryStore;

    fn inner(&self) -> &MemoryStore {
        &self.store
    }

    fn scan<'a>(
        &'a self,
        space: Space,
        from: &[u8],
        to: &[u8],
    ) -> Box<dyn Iterator<Item = Row> + 'a> {
        let counted = usize::from(space == Space::Queues);
        Box::new(self.store.scan(space, from, to).inspect(move |_| {
            self.read.fetch_add(counted, Ordering::Relaxed);
        }))
    }
}

/// One host, whose pages never change.
struct Still;

impl Web for Still {
    fn answer(&mut self, asked: &Asked<'_>, _: Time) -> (Fetched, Duration) {
        let number = asked.url.rsplit('/').next().unwrap().parse();
        let answer = number.map_or((404, String::new()), |number| (200, words(number)));
        let fields = [("content-type", "text/html")];
        (fetched(answer.0, &fields, answer.1, Duration::ZERO), Duration::ZERO)
    }
}

/// A crawl that has visited every page once, unhindered, and may spend little from now on, a while later.
fn after_the_fall(dir: &Path, store: Counting, pause: Duration) -> Rehearsal<Counting, Still> {
    let seeds: Vec<_> = (0..PAGES).map(|page| format!("http://still.test/{page}")).collect();
    let mut sim = begun_in(store, dir, Still, &seeds, |config| {
        config.frontier.pace.host = Duration::ZERO;
        config.frontier.pace.address = Duration::ZERO;
    });
    sim.set_rate(Some(1.1 * PAGES as f64 / DAY.as_secs_f64()));
    sim.run(START.after(DAY), Duration::MAX).unwrap();
    sim.pass(START.after(DAY + pause));
    sim.set_budget(0.1 * PAGES as f64 / (7 * DAY).as_secs_f64());
    sim
}

#[test]
fn it_is_let_do_other_work_between() {
    let dir = tempfile::tempdir().unwrap();
    let mut sim = after_the_fall(dir.path(), Counting::default(), 30 * DAY);
    assert!(sim.walk.counters().visits >= PAGES as u64);
    sim.settle().unwrap();
    let (before, now) = (sim.walk.pending(), sim.now());
    sim.walk.next(now).unwrap();
    let changed = sim.walk.pending() - before;
    assert!(changed < 2000, "{changed} keys changed before anything else could be done");
}

#[test]
fn a_queue_is_not_read_from_its_beginning_for_each_page() {
    let (store, dir) = (Counting::default(), tempfile::tempdir().unwrap());
    let read = store.read.clone();
    let mut sim = after_the_fall(dir.path(), store, Duration::ZERO);
    read.store(0, Ordering::Relaxed);
    let end = sim.now().after(HOUR);
    sim.run(end, Duration::MAX).unwrap();
    let read = read.load(Ordering::Relaxed);
    assert!(read < 20 * PAGES, "{read} rows were read to put off {PAGES} pages");
}
