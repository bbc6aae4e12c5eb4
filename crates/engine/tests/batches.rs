//! How large are the batches of a crawl, and how fast are they encoded and decoded?
//!
//! `cargo test --release -p evercrawl-engine --test engine batches:: -- --ignored --nocapture` prints it.

use std::time::{Duration, Instant};

use evercrawl_state::{Overlay, decode_batch, encode_batch, read_batch_header};
use evercrawl_testweb::{World, WorldConfig};

use crate::common::sim::{LONG, START, Sim, config};

/// How often each batch is encoded and decoded.
const TIMES: u32 = 5;

#[test]
#[ignore = "prints figures; see the head of this file"]
fn bytes_of_a_visit_and_speed() {
    let dir = tempfile::tempdir().unwrap();
    let world = World::new(WorldConfig {
        hosts: 40,
        pages: 250,
        origin_ms: START.millis(),
        ..WorldConfig::default()
    });
    let mut plan = config(false, LONG);
    plan.frontier.active_hosts = 40;
    let mut sim = Sim::new(&world, dir.path(), plan, 1);
    sim.place.store.record(usize::MAX);
    sim.add_seeds();
    sim.run(START.after(Duration::from_secs(8 * 3600)));
    let visits = sim.rehearsal.walk.counters().visits as f64;
    let pages = sim.rehearsal.walk.counters().pages as f64;
    let batches = sim.place.store.recorded().batches;
    let headers = batches.iter().map(|batch| read_batch_header(batch).unwrap());
    let unpacked = headers.map(|header| header.unpacked_bytes).sum::<u64>() as f64;
    let packed = batches.iter().map(Vec::len).sum::<usize>() as f64;
    let mut changes: Vec<Overlay> = Vec::new();
    let decoding =
        timed(|| changes = batches.iter().map(|one| decode_batch(one).unwrap()).collect());
    let encoding = timed(|| changes.iter().for_each(|one| drop(encode_batch(one))));
    let keys = changes.iter().map(Overlay::len).sum::<usize>() as f64;
    eprintln!(
        "{visits} visits, {pages} pages known, {} batches, {:.1} rows a visit",
        batches.len(),
        keys / visits
    );
    eprintln!("bytes a visit: {:.0} unpacked, {:.0} packed", unpacked / visits, packed / visits);
    for (what, seconds) in [("encode", encoding), ("decode", decoding)] {
        let speed = unpacked / 1e6 / seconds;
        eprintln!(
            "{what}: {speed:.0} MB/s of unpacked rows, {:.1} us a visit",
            seconds / visits * 1e6
        );
    }
}

/// Seconds that something takes, the shortest of a few times.
#[allow(clippy::disallowed_methods, reason = "how long it takes is what is shown")]
fn timed(mut what: impl FnMut()) -> f64 {
    let once = |_| {
        let start = Instant::now();
        what();
        start.elapsed().as_secs_f64()
    };
    (0..TIMES).map(once).fold(f64::INFINITY, f64::min)
}
