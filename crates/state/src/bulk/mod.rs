//! How do millions of seeds come in at once? Sorted first, then written once, in the store's own order.
//!
//! One by one, each would be written to a journal and then sorted and written again several times. Here
//! they are put aside in sorted runs, merged, and given to the store as finished tables.
//!
//! Tables of different spaces do not appear at one instant, so a mark comes first: the turn after which
//! there is nothing yet. Queues appear before the pages they speak of. The commit that counts the pages
//! and wakes their hosts takes the mark away; where it is found, `undo_load` takes back whatever has a
//! later turn. So all of them came in, or none.
//!
//! Tables are no batch. So the commit that counts the pages raises the generation (`position`): a copy of the state
//! that was brought up to date by batches needs a new snapshot then. What `undo_load` takes back it never had.

mod runs;

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use evercrawl_model::{Band, Discovery, Event, HostKey, Time};
use tracing::{debug_span, warn};

use crate::StateError;
use crate::keys::{self, Lane};
use crate::layers::Layers;
use crate::machine::{self, MachineRow};
use crate::rows::{PageRow, Place};
use crate::seen::Trace;
use crate::state::State;
use crate::store::{Loading, Slice, Space, Store};
use crate::view::{KeySlot, known_by};
use runs::{Merged, QueuedSeed, SeedRecord};

/// Seeds sorted in memory at a time.
const RUN: usize = 400_000;
/// Seeds of one load. A load that is cut short begins anew, so there is an end to it.
const MOST_SEEDS: u64 = 50_000_000;
/// Hosts of one load: their rows are changed in a single commit.
const MOST_HOSTS: usize = 250_000;
/// Seeds after which progress is reported.
const REPORT_EVERY: u64 = 100_000;
/// Changed keys after which seeds that were known already are committed.
const COMMIT_KEYS: usize = 40_000;

/// Seeds that are to come in together.
pub struct Load {
    /// Where runs are put aside; gone with the load.
    dir: PathBuf,
    run: Vec<SeedRecord>,
    runs: usize,
    hosts: HashSet<HostKey>,
    given: u64,
}

impl Load {
    /// Begins with nothing; `dir` is made, and is for this load alone.
    pub fn new(dir: PathBuf) -> io::Result<Self> {
        // One that was cut short may have left its own.
        let _ = std::fs::remove_dir_all(&dir);
        std::fs::create_dir_all(&dir)?;
        Ok(Load { dir, run: Vec::new(), runs: 0, hosts: HashSet::new(), given: 0 })
    }

    /// Takes one more seed.
    pub fn push(&mut self, seed: Discovery) -> io::Result<()> {
        let Discovery { page, check, tags, guess, url, .. } = seed;
        self.hosts.insert(page.host);
        self.run.push(SeedRecord { page, check, number: self.given, tags, guess, url });
        self.given += 1;
        if self.run.len() >= RUN { self.put_aside() } else { Ok(()) }
    }

    /// How many seeds it has.
    pub fn len(&self) -> u64 {
        self.given
    }

    /// True when it has none.
    pub fn is_empty(&self) -> bool {
        self.given == 0
    }

    /// True when it has to be loaded before it takes more.
    pub fn is_full(&self) -> bool {
        self.given >= MOST_SEEDS || self.hosts.len() >= MOST_HOSTS
    }

    fn put_aside(&mut self) -> io::Result<()> {
        let turn = |seed: &SeedRecord| QueuedSeed {
            host: seed.page.host,
            number: seed.number,
            url: seed.page.url,
        };
        let mut turns: Vec<QueuedSeed> = self.run.iter().map(turn).collect();
        runs::put_aside(&mut turns, &path(&self.dir, "turns", self.runs))?;
        runs::put_aside(&mut self.run, &path(&self.dir, "seeds", self.runs))?;
        self.run.clear();
        self.runs += 1;
        Ok(())
    }

    fn merged<R: runs::SortedRecord>(&self, what: &str) -> io::Result<Merged<R>> {
        Merged::open((0..self.runs).map(|run| path(&self.dir, what, run)))
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

fn path(dir: &Path, what: &str, run: usize) -> PathBuf {
    dir.join(format!("{what}.{run}"))
}

impl<S: Store> State<S> {
    /// Lets seeds in, as if each had been discovered at `at` in the order given; returns how many were
    /// not known. `report` is called now and then with how many are done.
    pub fn load(
        &mut self,
        load: Load,
        at: Time,
        report: &mut dyn FnMut(u64),
    ) -> Result<u64, StateError> {
        let loaded = self.load_all(load, at, report);
        if loaded.is_err() {
            // It may have pages by now that will be taken back.
            self.never_save_seen();
        }
        loaded
    }

    fn load_all(
        &mut self,
        mut load: Load,
        at: Time,
        report: &mut dyn FnMut(u64),
    ) -> Result<u64, StateError> {
        load.put_aside()?;
        load.run = Vec::new();
        self.flush_now()?;
        let turns = self.view.counters.turns;
        self.view.layers.put_machine_row(MachineRow::LoadMark, &turns.to_be_bytes());
        self.dirty = true;
        self.flush_now()?;

        let mut loaded = LoadedSeeds::new(load.given);
        let store = self.view.layers.store().clone();
        let tables = self.write_pages(&*store, &load, &mut loaded, at, report)?;
        write_queues(&*store, &load, &loaded.dropped, turns)?;
        tables.into_iter().try_for_each(Loading::finish)?;

        self.count(&loaded, load.given, at)?;
        if !loaded.hosts.is_empty() {
            // There is no log of so many; the file counts from the commit on that they do.
            self.save_seen()?;
        }
        self.view.layers.remove_machine_row(MachineRow::LoadMark);
        // Tables went past the batches: a copy that lacks them must not go on with what comes now.
        self.view.layers.raise_generation();
        self.dirty = true;
        self.flush_now()?;
        let mut new = loaded.hosts.iter().map(|host| u64::from(host.pages)).sum();
        for seed in loaded.colliding {
            new += u64::from(self.apply(&Event::Discovered(seed))?.queued.is_some());
        }
        Ok(new)
    }

    /// Writes pages and by what they are known, to be seen once finished.
    fn write_pages<'s>(
        &mut self,
        store: &'s S,
        load: &Load,
        loaded: &mut LoadedSeeds,
        at: Time,
        report: &mut dyn FnMut(u64),
    ) -> Result<[Box<dyn Loading + 's>; 2], StateError> {
        let turns = self.view.counters.turns;
        let (mut pages, mut known) = (store.loading(Space::Pages)?, store.loading(Space::Known)?);
        let mut seeds = load.merged::<SeedRecord>("seeds")?;
        let (mut last, mut done) = (None, 0);
        while let Some(seed) = seeds.next()? {
            done += 1;
            if done % REPORT_EVERY == 0 {
                report(done);
            }
            let same = last == Some((seed.page, seed.check));
            let taken = last.is_some_and(|(page, _)| page == seed.page);
            last = Some((seed.page, seed.check));
            match self.decide_seed(&seed, same, taken)? {
                SeedOutcome::Enters => {
                    let key = seed.page.to_bytes();
                    pages.put(&key, &new_row(&seed, turns, at).encode())?;
                    known.put(&key, &known_by(seed.check))?;
                    self.seen.note(Trace::new(seed.page, known_by(seed.check)));
                    loaded.enters(&seed);
                    continue;
                }
                SeedOutcome::Known => {}
                SeedOutcome::Collides => loaded.colliding.push(discovery(&seed, at)),
            }
            loaded.dropped.insert(seed.number);
        }
        Ok([pages, known])
    }

    fn decide_seed(
        &mut self,
        seed: &SeedRecord,
        same: bool,
        taken: bool,
    ) -> Result<SeedOutcome, StateError> {
        if same {
            return Ok(SeedOutcome::Known);
        }
        if taken {
            return Ok(SeedOutcome::Collides);
        }
        match self.look_up(seed.page, seed.check)? {
            KeySlot::Free(page) if page == seed.page => Ok(SeedOutcome::Enters),
            KeySlot::Free(_) => Ok(SeedOutcome::Collides),
            KeySlot::Known(page) => {
                self.becomes_seed(page)?;
                if self.pending() > COMMIT_KEYS {
                    self.flush_now()?;
                }
                Ok(SeedOutcome::Known)
            }
        }
    }

    /// The pages are there: totals say so, and their hosts wake.
    fn count(&mut self, loaded: &LoadedSeeds, given: u64, at: Time) -> Result<(), StateError> {
        self.view.counters.turns += given;
        for host in &loaded.hosts {
            self.view.counters.new_pages(host.pages.into());
            self.ensure_host(host.key, &host.url)?;
            self.pages_await(host.key, host.pages, (Band::FIRST, at), true)?;
        }
        Ok(())
    }
}

/// What becomes of a seed.
enum SeedOutcome {
    Enters,
    Known,
    /// Another URL has its key: it is let in after the others, as if it came alone.
    Collides,
}

/// What a load has let in so far.
struct LoadedSeeds {
    hosts: Vec<Host>,
    /// Which of those given do not get a turn.
    dropped: Numbers,
    colliding: Vec<Discovery>,
}

/// A host that gets pages.
struct Host {
    key: HostKey,
    pages: u32,
    /// The first of them.
    url: Box<str>,
}

impl LoadedSeeds {
    fn new(given: u64) -> Self {
        LoadedSeeds { hosts: Vec::new(), dropped: Numbers::below(given), colliding: Vec::new() }
    }

    /// Pages come in the order of their keys, and so host by host.
    fn enters(&mut self, seed: &SeedRecord) {
        match self.hosts.last_mut().filter(|host| host.key == seed.page.host) {
            Some(host) => host.pages += 1,
            None => {
                let (key, url) = (seed.page.host, seed.url.clone());
                self.hosts.push(Host { key, pages: 1, url });
            }
        }
    }
}

/// A set of numbers below a bound.
struct Numbers(Vec<u64>);

impl Numbers {
    fn below(bound: u64) -> Self {
        Numbers(vec![0; usize::try_from(bound / 64 + 1).unwrap_or(usize::MAX)])
    }

    fn insert(&mut self, number: u64) {
        self.0[(number / 64) as usize] |= 1 << (number % 64);
    }

    fn contains(&self, number: u64) -> bool {
        self.0[(number / 64) as usize] >> (number % 64) & 1 == 1
    }
}

/// Writes where the pages wait: seen from then on, and so the first to be undone.
fn write_queues<S: Store>(
    store: &S,
    load: &Load,
    dropped: &Numbers,
    turns: u64,
) -> Result<(), StateError> {
    let mut queues = store.loading(Space::Queues)?;
    let mut order = load.merged::<QueuedSeed>("turns")?;
    while let Some(turn) = order.next()? {
        if !dropped.contains(turn.number) {
            let position = turns + 1 + turn.number;
            let key = keys::queue_at(turn.host, Lane::New(Band::FIRST), position, turn.url);
            queues.put(&key, b"")?;
        }
    }
    queues.finish()
}

fn discovery(seed: &SeedRecord, at: Time) -> Discovery {
    Discovery {
        tags: seed.tags,
        band: Band::FIRST,
        seed: true,
        guess: seed.guess,
        ..Discovery::new((seed.page, seed.check), seed.url.clone(), 0, at)
    }
}

fn new_row(seed: &SeedRecord, turns: u64, at: Time) -> PageRow {
    PageRow::found(&discovery(seed, at), Place::New(Band::FIRST, turns + 1 + seed.number))
}

/// Whether [`prepare_store`] has something to do in `store`.
pub fn needs_preparation<S: Store>(store: &S) -> Result<bool, StateError> {
    Ok(machine::load_mark(store)?.is_some() || machine::has_rows_to_move(store)?)
}

/// Makes a store ready to be read as a state: moves the rows of this machine that an earlier version left among those
/// of the crawl, and takes back what a load that was cut short has left. Call it first after opening a store.
pub fn prepare_store<S: Store>(store: &Arc<S>) -> Result<(), StateError> {
    let _span = debug_span!("prepare store").entered();
    if machine::move_rows(store.as_ref())? {
        // So that those who come after can read the store without opening it to write.
        store.settle()?;
    }
    undo_load(store)
}

fn undo_load<S: Store>(store: &Arc<S>) -> Result<(), StateError> {
    let Some(mark) = machine::load_mark(store.as_ref())? else { return Ok(()) };
    let turns = mark.as_ref().try_into().map(u64::from_be_bytes);
    let turns = turns.map_err(|_| StateError::Corrupt("the mark of a load".into()))?;
    warn!("a list of seeds had come in half: taking its pages out again");
    let mut layers = Layers::new(store.clone());
    layers.read_position()?;
    let mut from = Vec::new();
    while let Some(last) = take_back(&mut layers, &from, turns)? {
        from = keys::after(&last);
        commit(&mut layers)?;
    }
    layers.remove_machine_row(MachineRow::LoadMark);
    commit(&mut layers)
}

/// Removes some pages with a later turn, from the queue key `from` on; returns the last of them.
fn take_back<S: Store>(
    layers: &mut Layers<S>,
    from: &[u8],
    turns: u64,
) -> Result<Option<Slice>, StateError> {
    let mut late = Vec::new();
    for row in layers.scan(Space::Queues, from, &[0xff; keys::QUEUE_LEN]) {
        let (key, _) = row?;
        let new = keys::parse_new(&key).filter(|(_, turn)| *turn > turns);
        late.extend(new.map(|(page, _)| (key, page)));
        if late.len() >= COMMIT_KEYS {
            break;
        }
    }
    for (key, page) in &late {
        layers.remove(Space::Queues, key);
        layers.remove(Space::Pages, &page.to_bytes());
        layers.remove(Space::Known, &page.to_bytes());
    }
    Ok(late.pop().map(|(key, _)| key))
}

fn commit<S: Store>(layers: &mut Layers<S>) -> Result<(), StateError> {
    if let Some(frozen) = layers.freeze() {
        layers.store().commit(&frozen)?;
        layers.flushed();
    }
    Ok(())
}
