//! What is left of a crawl when the power goes, the process dies, the disk fails or is full, the network
//! has faults and the clock is set, at any moment and in any order? All that was committed, and good
//! manners. `SEEDS` says how many crawls, `FROM` with which seed to begin, `SEED` which one alone.

#![allow(clippy::unwrap_used)] // a test that cannot go on should stop there
#![allow(clippy::print_stderr)] // which seed fails is what whoever runs this must know

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use evercrawl_engine::EngineError;
use evercrawl_model::Time;
use evercrawl_policy::SplitMix64;
use evercrawl_state::{
    MemoryStore, PageRow, apply_batch, copy_crawl, decode_batch, first_difference,
};
use evercrawl_testweb::{World, WorldConfig};

use crate::common::disk::{Record, SimStore};
use crate::common::sim::{
    LONG, START, Sim, assert_agree, assert_polite, config, held, is_of_the_disk, reachable,
};

/// Runs `crawl` by each seed, on all cores; the first that fails says how to have it again.
fn each_seed(test: &str, usual: u64, crawl: impl Fn(u64) + Sync) {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let seeds = match number("SEED") {
        Some(seed) => seed..seed + 1,
        None => {
            let first = number("FROM").unwrap_or(0);
            first..first + number("SEEDS").unwrap_or(usual)
        }
    };
    let (next, failed) = (AtomicU64::new(seeds.start), AtomicBool::new(false));
    let work = || {
        while !failed.load(Ordering::Relaxed) {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds.end {
                return;
            }
            if seed > 0 && seed.is_multiple_of(1000) {
                eprintln!("{test}: {seed} seeds");
            }
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| crawl(seed))) {
                failed.store(true, Ordering::Relaxed);
                eprintln!(
                    "replay: SEED={seed} cargo test -p evercrawl-engine --test engine power_cuts::{test}"
                );
                resume_unwind(panic);
            }
        }
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..cores).for_each(|_| drop(scope.spawn(work))));
}

/// In memory, where the system has a place for that: what must last here is what the disk of the test says.
fn scratch() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// Four hosts of ten pages, another web for each seed.
fn small_world(seed: u64) -> World {
    World::new(WorldConfig {
        seed,
        hosts: 4,
        pages: 10,
        origin_ms: START.millis(),
        ..WorldConfig::calm()
    })
}

/// A crawl whose WARC files roll often, and that does not give up on anything for good.
fn small_sim<'a>(world: &'a World, dir: &'a Path, seed: u64) -> Sim<'a> {
    let mut plan = config(true, LONG);
    // Fewer than there are hosts.
    plan.frontier.active_hosts = 3;
    plan.schedule.tries = u8::MAX;
    plan.schedule.give_up_after = u8::MAX;
    plan.schedule.max_back_off = Duration::from_secs(600);
    let mut sim = Sim::with_files_of(8_000, world, dir, plan, seed);
    sim.add_seeds();
    sim
}

/// What happened to crawls, how often.
#[derive(Debug, Default)]
struct Happened {
    cuts: AtomicU64,
    kills: AtomicU64,
    stops: AtomicU64,
    failed_syncs: AtomicU64,
    full_disks: AtomicU64,
    set_clocks: AtomicU64,
    bad_networks: AtomicU64,
    /// Copies of states that were made from a snapshot and batches.
    copies: AtomicU64,
}

impl Happened {
    fn all(&self) -> [u64; 8] {
        let Happened { cuts, kills, stops, failed_syncs, full_disks, .. } = self;
        let Happened { set_clocks, bad_networks, copies, .. } = self;
        [cuts, kills, stops, failed_syncs, full_disks, set_clocks, bad_networks, copies]
            .map(|count| count.load(Ordering::Relaxed))
    }
}

fn count(what: &AtomicU64) {
    what.fetch_add(1, Ordering::Relaxed);
}

/// Some time in the life of a crawl, from a start to whatever ends it, and the start after that.
fn live_on<'a>(mut sim: Sim<'a>, dice: &mut SplitMix64, happened: &Happened) -> Sim<'a> {
    // From a disk that takes no time to one that takes longer than commits are apart.
    let slow = [0, 20, 700, 3_000][dice.below(4)];
    sim.rehearsal.set_commit_time(Duration::from_millis(slow));
    let bad_network = dice.below(3) == 0;
    sim.rehearsal.web.faults = bad_network.then(|| SplitMix64::new(dice.next_u64()));
    match dice.below(6) {
        0 => sim.place.disk.fail_after(dice.below(12)),
        1 => sim.place.disk.fill_up(dice.next_u64() % 40_000),
        _ => {}
    }
    let mut ran = sim.try_run(a_while(&sim, dice));
    if ran.is_ok() && dice.below(4) == 0 {
        sim.set_clock_ahead(Duration::from_millis(dice.next_u64() % 7_200_000));
        count(&happened.set_clocks);
        ran = sim.try_run(a_while(&sim, dice));
    }
    if bad_network {
        count(&happened.bad_networks);
    }
    assert_bounded(&sim);
    match ran {
        Err(error) => end_on_a_bad_disk(sim, &error, dice, happened),
        Ok(()) => match dice.below(4) {
            0 => {
                count(&happened.kills);
                sim.crash();
                sim
            }
            1 => {
                let (sim, ended) = sim.end();
                match ended {
                    Ok(()) => count(&happened.stops),
                    Err(error) => assert!(is_of_the_disk(&error), "{error}"),
                }
                sim
            }
            _ => {
                count(&happened.cuts);
                sim.lose_power(dice);
                sim
            }
        },
    }
}

/// The disk ended the crawl: whoever runs it tries to end it well, sometimes after having made room. Then
/// the power may go, too.
fn end_on_a_bad_disk<'a>(
    sim: Sim<'a>,
    error: &EngineError,
    dice: &mut SplitMix64,
    happened: &Happened,
) -> Sim<'a> {
    assert!(is_of_the_disk(error), "{error}");
    let full = error.is_disk_full();
    count(if full { &happened.full_disks } else { &happened.failed_syncs });
    if dice.below(2) == 0 {
        sim.place.disk.make_room();
    }
    let (mut sim, _) = sim.end();
    if dice.below(2) == 0 {
        sim.lose_power(dice);
    }
    sim
}

/// What is in memory does not grow with what is known.
fn assert_bounded(sim: &Sim<'_>) {
    let (in_flight, active) = sim.rehearsal.walk.activity();
    assert!(in_flight <= active && active <= sim.config.frontier.active_hosts);
    assert!(sim.rehearsal.walk.pending() < 2_000, "{}", sim.rehearsal.walk.pending());
}

/// Up to four seconds: a commit begins every second.
fn a_while(sim: &Sim<'_>, dice: &mut SplitMix64) -> Time {
    sim.rehearsal.now().after(Duration::from_millis(dice.next_u64() % 4_000))
}

/// A snapshot and the batches since make the store as it is, in every space and byte for byte: also when each batch is
/// applied twice, all of them twice, or some that the snapshot has already.
fn assert_rebuilt(store: &SimStore, chance: &mut SplitMix64, happened: &Happened) {
    let Record { snapshot_after: taken, snapshot, batches } = store.recorded();
    let Some(snapshot) = snapshot else { return };
    let batches: Vec<_> = batches.iter().map(|batch| decode_batch(batch).unwrap()).collect();
    let too_early = chance.below(taken + 1);
    let since = || taken..batches.len();
    let orders: [(&str, Vec<usize>); 4] = [
        ("once", since().collect()),
        ("each twice", since().flat_map(|nth| [nth, nth]).collect()),
        ("all twice", since().chain(since()).collect()),
        ("from too early", (too_early..batches.len()).collect()),
    ];
    for (name, order) in orders {
        let copy = MemoryStore::default();
        copy_crawl(&snapshot, &copy).unwrap();
        order.into_iter().for_each(|nth| apply_batch(&copy, &batches[nth]).unwrap());
        assert_eq!(first_difference(&copy, store).unwrap(), None, "{name}, after {taken}");
    }
    count(&happened.copies);
}

/// All that can be told of a crawl: requests, rows, files.
type History = (BTreeMap<String, Vec<(Time, String)>>, Vec<PageRow>, BTreeMap<String, Vec<u8>>);

/// A crawl to which things happen, and then none any more: it finds everything as if nothing ever had.
fn history(seed: u64, happened: &Happened) -> History {
    let (world, dir, mut dice) = (small_world(seed), scratch(), SplitMix64::new(seed));
    let mut chance = SplitMix64::new(!seed);
    let mut sim = small_sim(&world, dir.path(), seed);
    sim.place.store.record(chance.below(40));
    for _ in 0..2 + dice.below(6) {
        sim = live_on(sim, &mut dice, happened);
    }
    sim.rehearsal.web.faults = None;
    sim.run(Time::NEVER);
    sim.assert_lets_go();
    assert_polite(sim.requests());
    for (host, asked) in sim.requests() {
        assert!(asked.iter().all(|(_, path)| world.allows(host, path)), "{host}");
    }
    let requests = sim.requests().clone();
    let store = sim.place.store.clone();
    let state = sim.close();
    assert_rebuilt(&store, &mut chance, happened);
    assert_eq!(held(&state, &world), reachable(&world));
    assert_agree(&state, dir.path());
    let rows = state.view().pages().map(|page| page.unwrap().1).collect();
    let files = std::fs::read_dir(dir.path()).unwrap().map(Result::unwrap);
    let read = |entry: std::fs::DirEntry| {
        (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap())
    };
    (requests, rows, files.map(read).collect())
}

#[test]
fn nothing_is_lost_whatever_happens() {
    let happened = Happened::default();
    each_seed("nothing_is_lost", 1000, |seed| {
        let history_of_seed = history(seed, &happened);
        if seed.is_multiple_of(20) {
            let again = history(seed, &happened);
            assert!(history_of_seed == again, "the same seed, another history");
        }
    });
    eprintln!("{happened:?}");
    let one_seed = std::env::var("SEED").is_ok();
    assert!(one_seed || happened.all().iter().all(|count| *count > 0), "{happened:?}");
    assert!(peak_memory() < 300, "{} MB", peak_memory());
}

/// The most memory that this process had, in MB; 0 where the system does not tell.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next());
    kilobytes.map_or(0, |number| number.parse::<u64>().unwrap() / 1000)
}
