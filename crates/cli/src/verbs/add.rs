//! `evercrawl add`: seeds without crawling.

use std::io::Write;
use std::sync::Arc;

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
    seeds::read(&args.seeds, config.steps, |seed| {
        given += 1;
        new += u64::from(walk.add_seed(&seed, clock.now())?);
        if walk.pending() > COMMIT_KEYS {
            walk.commit_now()?;
        }
        Ok(())
    })?;
    if given == 0 {
        return Err(exit::Failure::usage("nothing to add: give URLs, or a list by --seeds FILE"));
    }
    if new >= BULK {
        walk.merge()?;
    }
    let counters = walk.close()?;
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

/// Changed keys after which what was read so far is committed.
const COMMIT_KEYS: usize = 40_000;

/// New pages from which on the next crawl would notice how they were added.
const BULK: u64 = 100_000;
