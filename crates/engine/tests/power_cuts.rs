//! What is left of a crawl when the power goes, or the disk fails, at any moment? All that was
//! committed. `SEEDS` says how many crawls of each kind, `SEED` which one alone.

#![allow(clippy::unwrap_used)] // a test that cannot go on should stop there
#![allow(clippy::print_stderr)] // which seed fails is what whoever runs this must know

mod common;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use evercrawl_model::Time;
use evercrawl_policy::SplitMix64;
use evercrawl_testweb::{Config, World};

use common::sim::{LONG, START, Sim, assert_agree, assert_polite, config, held, reachable};

/// Runs `crawl` by each seed, on all cores; the first that fails says how to have it again.
fn each_seed(test: &str, usual: u64, crawl: impl Fn(u64) + Sync) {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let seeds = match number("SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("SEEDS").unwrap_or(usual),
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
                    "replay: SEED={seed} cargo test -p evercrawl-engine --test power_cuts {test}"
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
    World::new(Config { seed, hosts: 4, pages: 10, origin_ms: START.millis(), ..Config::calm() })
}

/// A crawl whose WARC files roll often, and what chance has in store for it.
fn small_sim<'a>(world: &'a World, dir: &'a Path, seed: u64) -> (Sim<'a>, SplitMix64) {
    let mut plan = config(true, LONG);
    plan.archive.roll_at = 8_000;
    let mut sim = Sim::new(world, dir, plan, seed);
    sim.add_seeds();
    (sim, SplitMix64::new(seed))
}

/// Crawls to the end, and finds everything as if nothing had ever happened.
fn assert_nothing_is_lost(mut sim: Sim<'_>, world: &World, dir: &Path) {
    sim.run(Time::NEVER);
    assert_polite(sim.requests());
    for (host, asked) in sim.requests() {
        assert!(asked.iter().all(|(_, path)| world.allows(host, path)), "{host}");
    }
    let state = sim.close();
    assert_eq!(held(&state, world), reachable(world));
    assert_agree(&state, dir);
}

/// Up to four seconds: a commit begins every second.
fn a_while(sim: &Sim<'_>, dice: &mut SplitMix64) -> Time {
    sim.rehearsal.now().after(Duration::from_millis(dice.next_u64() % 4_000))
}

#[test]
fn power_cuts_lose_nothing_whatever_was_on_its_way_to_the_disk() {
    each_seed("power_cuts", 1000, |seed| {
        let (world, dir) = (small_world(seed), scratch());
        let (mut sim, mut dice) = small_sim(&world, dir.path(), seed);
        for _ in 0..2 + dice.below(6) {
            // From a disk that takes no time to one that takes longer than commits are apart.
            let slow = [0, 20, 700, 3_000][dice.below(4)];
            sim.rehearsal.set_commit_time(Duration::from_millis(slow));
            sim.run(a_while(&sim, &mut dice));
            sim.lose_power(&mut dice);
        }
        assert_nothing_is_lost(sim, &world, dir.path());
    });
}

#[test]
fn failing_disks_stop_a_crawl_and_nothing_is_built_on_what_they_refused() {
    let failures = AtomicU64::new(0);
    each_seed("failing_disks", 300, |seed| {
        let (world, dir) = (small_world(seed), scratch());
        let (mut sim, mut dice) = small_sim(&world, dir.path(), seed);
        for _ in 0..1 + dice.below(4) {
            sim.rehearsal.set_commit_time(Duration::from_millis([0, 700][dice.below(2)]));
            sim.place.disk.fail_after(dice.below(12));
            let until = a_while(&sim, &mut dice);
            sim = match sim.try_run(until) {
                Ok(()) => {
                    sim.lose_power(&mut dice);
                    sim
                }
                Err(error) => {
                    failures.fetch_add(1, Ordering::Relaxed);
                    let told = error.to_string();
                    assert!(told.contains("input/output error"), "{told}");
                    sim.end_and_lose_power(&mut dice)
                }
            };
        }
        assert_nothing_is_lost(sim, &world, dir.path());
    });
    assert!(failures.into_inner() > 0, "no disk failed");
}
