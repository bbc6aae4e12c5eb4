//! `evercrawl add`: seeds without crawling.

use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::time::Duration;

use evercrawl_engine::DataDir;
use evercrawl_engine::live::SystemClock;
use serde_json::json;

use super::crawl::open_walk;
use super::take;
use crate::args::{Add, RunArgs};
use crate::units::show_count;
use crate::{crawl_config, exit, print, seeds};

pub(crate) fn run(args: &Add) -> anyhow::Result<u8> {
    let settings = crawl_config::settings(&args.common, None)?;
    let config = Arc::new(crawl_config::crawl_config(&settings, &RunArgs::default())?);
    let dir = take(&args.common.data, DataDir::open_or_create)?;
    let clock = SystemClock;
    let mut walk = open_walk(&dir, &settings, &config)?;
    let (mut given, mut new) = (0, 0);
    let began = clock.now();
    seeds::read(&args.seeds, config.steps, |seed| {
        given += 1;
        new += u64::from(walk.add_seed(&seed, clock.now())?);
        if walk.pending() > COMMIT_KEYS {
            walk.commit_now()?;
            show(args, given, new, clock.now().since(began));
        }
        Ok(())
    })?;
    if given == 0 {
        return Err(exit::Failure::usage("nothing to add: give URLs, or a list by --seeds FILE"));
    }
    if new >= BULK {
        say(args, "sorting what was added");
        walk.merge()?;
    }
    let counters = walk.close()?;
    say(args, "");
    if args.json {
        let line = json!({"given": given, "new": new, "pages": counters.pages});
        print::json_line(&mut print::data(), &line)?;
    } else {
        let (new, given) = (show_count(new), show_count(given));
        let pages = show_count(counters.pages);
        writeln!(print::data(), "{new} of {given} are new; {pages} pages known")?;
        eprintln!("next: evercrawl crawl --data {}", dir.path().display());
    }
    Ok(exit::OK)
}

/// Tells a person how far it is. What was told is on disk: whoever is interrupted can begin again, and
/// what is known already is passed over.
fn show(args: &Add, given: u64, new: u64, took: Duration) {
    let rate = show_count((given as f64 / took.as_secs_f64().max(1e-3)) as u64);
    let (given, new) = (show_count(given), show_count(new));
    say(args, &format!("{given} read, {new} new, {rate} a second"));
}

/// A line that the next one is written over.
fn say(args: &Add, words: &str) {
    if !args.json && std::io::stderr().is_terminal() {
        eprint!("\r\x1b[2K{words}");
    }
}

/// Changed keys after which what was read so far is committed.
const COMMIT_KEYS: usize = 40_000;

/// New pages from which on the next crawl would notice how they were added.
const BULK: u64 = 100_000;
