//! A crawl of a made-up web, under a clock of its own.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use evercrawl_archive as archive;
use evercrawl_engine::config::WalkConfig;
use evercrawl_engine::rehearsal::{Rehearsal, Web};
use evercrawl_engine::walk::Walk;
use evercrawl_model::Time;
use evercrawl_state::{MemoryStore, Settings, State, Store};
use evercrawl_urls::parse_seed_line;

use super::{archive_settings, small_crawl, unsynced};

pub(crate) const START: Time = Time::from_secs(1_800_000_000);
pub(crate) const HOUR: Duration = Duration::from_secs(3600);
/// What an answer takes.
pub(crate) const TOOK: Duration = Duration::from_millis(20);

pub(crate) type Sim<W> = Rehearsal<MemoryStore, W>;

/// A crawl of some seeds in `web`, with the settings that `change` makes.
pub(crate) fn begun<W: Web>(
    dir: &Path,
    web: W,
    seeds: &[String],
    change: impl FnOnce(&mut WalkConfig),
) -> Sim<W> {
    begun_in(MemoryStore::default(), dir, web, seeds, change)
}

/// The same, with another store.
pub(crate) fn begun_in<S: Store + 'static, W: Web>(
    store: S,
    dir: &Path,
    web: W,
    seeds: &[String],
    change: impl FnOnce(&mut WalkConfig),
) -> Rehearsal<S, W> {
    let mut config = small_crawl();
    change(&mut config);
    let config = Arc::new(config);
    let settings = Settings { seed: 11, shards: 64 };
    let state = State::open(Arc::new(store), settings, None).unwrap();
    let (writer, _) =
        archive::Writer::open(unsynced(dir), &[], archive_settings(1, 1 << 30), START).unwrap();
    let mut walk = Walk::new(config.clone(), state, writer, 3, START).unwrap();
    for seed in seeds {
        let seed = parse_seed_line(seed, config.reading.steps).unwrap().unwrap();
        walk.add_seed(&seed, START).unwrap();
    }
    Rehearsal::new(walk, web, START, HOUR)
}

const WORDS: [&str; 8] = ["apple", "bread", "cloud", "dream", "earth", "flame", "grape", "house"];

/// Some words, other ones for each number.
pub(crate) fn words(number: u64) -> String {
    let word = |place: u32| WORDS[(number / 8_u64.pow(place)) as usize % 8];
    let sentence = (0..6).map(word).collect::<Vec<_>>().join(" ");
    format!("<p>{sentence} are what this page is about, and little else. {sentence}.")
}
