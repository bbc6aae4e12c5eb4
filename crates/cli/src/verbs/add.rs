//! `evercrawl add`: seeds without crawling.

use std::io::{IsTerminal, Write};

use evercrawl_engine::DataDir;
use evercrawl_engine::live::{Inbox, SystemClock};
use evercrawl_engine::walk::Walk;
use evercrawl_model::Time;
use evercrawl_query::{AddRequest, AddView};
use evercrawl_state::{DiskStore, Load};
use evercrawl_urls::Seed;
use serde_json::json;

use super::crawl::open_walk;
use super::{Opened, take};
use crate::args::{Add, Common, RunArgs};
use crate::units::{show_count, show_counted};
use crate::{crawl_config, exit, print, seeds};

pub(crate) fn run(args: &Add) -> anyhow::Result<u8> {
    let settings = crawl_config::settings(&args.common, None)?;
    let config = crawl_config::crawl_config(&settings, &RunArgs::default())?;
    let dir = take(&args.common.data, DataDir::open_or_create)?;
    let walk = open_walk(&dir, &settings, &config)?;
    let mut adding = Adding::new(args, &dir, walk);
    seeds::read(&args.seeds, config.walk.reading.steps, |seed, bytes| adding.seed(seed, bytes))?;
    if adding.given == 0 {
        return Err(exit::Failure::usage(
            "nothing to add; give URLs, or a list with --input-file FILE",
        ));
    }
    let (given, new, pages) = adding.finish()?;
    if args.json {
        print::json_line(&mut print::data(), &json!({"given": given, "new": new, "pages": pages}))?;
    } else {
        let (given, pages) = (show_counted(given, "seed"), show_counted(pages, "page"));
        let new = show_count(new);
        writeln!(print::data(), "{new} of {given} new; {pages} known")?;
        eprintln!("next: evercrawl crawl --data {}", dir.path().display());
    }
    Ok(exit::OK)
}

/// Adds seeds to the crawl that works in the data directory.
pub(crate) fn running(
    asked: &AddRequest,
    opened: &Opened,
    inbox: &Inbox,
) -> anyhow::Result<AddView> {
    let seeds = seeds::parse(asked, crawl_config::steps(&opened.settings)?)?;
    let given = seeds.len() as u64;
    Ok(AddView { given, new: inbox.add_seeds(seeds)?.new })
}

/// Nobody crawls: the seeds are added here.
pub(crate) fn stopped(
    asked: &AddRequest,
    dir: &DataDir,
    common: &Common,
) -> anyhow::Result<AddView> {
    let settings = crawl_config::settings(common, None)?;
    let config = crawl_config::crawl_config(&settings, &RunArgs::default())?;
    let seeds = seeds::parse(asked, config.walk.reading.steps)?;
    let mut walk = open_walk(dir, &settings, &config)?;
    let (given, mut new) = (seeds.len() as u64, 0);
    for seed in &seeds {
        new += u64::from(walk.add_seed(seed, SystemClock.now())?);
    }
    walk.close()?;
    Ok(AddView { given, new })
}

/// Seeds being added: a few one by one, many sorted and at once.
struct Adding<'a> {
    dir: &'a DataDir,
    walk: Walk<DiskStore>,
    /// Those read so far, until they are many.
    few: Vec<Seed>,
    load: Option<Load>,
    /// How often many were let in, and whether there was anything before.
    loads: u32,
    given: u64,
    new: u64,
    progress: Progress,
}

impl<'a> Adding<'a> {
    fn new(args: &Add, dir: &'a DataDir, walk: Walk<DiskStore>) -> Self {
        let loads = u32::from(walk.state().counters().pages > 0);
        let progress = Progress::new(args);
        Adding { dir, walk, few: Vec::new(), load: None, loads, given: 0, new: 0, progress }
    }

    fn seed(&mut self, seed: Seed, bytes: u64) -> anyhow::Result<()> {
        self.given += 1;
        if self.given.is_multiple_of(SHOW_EVERY) {
            self.progress.read(self.given, bytes);
        }
        if self.load.is_some() {
            return self.gather(&seed);
        }
        self.few.push(seed);
        if self.few.len() >= MANY {
            self.load = Some(self.dir.load()?);
            std::mem::take(&mut self.few).iter().try_for_each(|seed| self.gather(seed))?;
        }
        Ok(())
    }

    fn gather(&mut self, seed: &Seed) -> anyhow::Result<()> {
        let found = self.walk.seed_to_load(seed, SystemClock.now())?;
        let mut load = self.load.take().map_or_else(|| self.dir.load(), Ok)?;
        found.map_or(Ok(()), |found| load.push(found))?;
        if load.is_full() {
            return self.let_in(load);
        }
        self.load = Some(load);
        Ok(())
    }

    fn let_in(&mut self, load: Load) -> anyhow::Result<()> {
        let (count, progress) = (load.len(), &self.progress);
        self.new +=
            self.walk.load(load, SystemClock.now(), &mut |done| progress.sorted(done, count))?;
        self.loads += 1;
        Ok(())
    }

    /// Adds what is left; returns how many were given, how many were new, how many pages are known.
    fn finish(mut self) -> anyhow::Result<(u64, u64, u64)> {
        for seed in &std::mem::take(&mut self.few) {
            self.new += u64::from(self.walk.add_seed(seed, SystemClock.now())?);
        }
        if let Some(load) = self.load.take() {
            self.let_in(load)?;
        }
        if self.new >= MANY as u64 && self.loads > 1 {
            self.progress.say("merging the new pages with the known ones");
            self.walk.merge()?;
        }
        let counters = self.walk.close()?;
        self.progress.say("");
        Ok((self.given, self.new, counters.pages))
    }
}

/// Shows progress on a terminal.
struct Progress {
    shown: bool,
    began: Time,
    /// Bytes of the lists, where known.
    bytes: Option<u64>,
}

impl Progress {
    fn new(args: &Add) -> Self {
        let shown = !args.json && std::io::stderr().is_terminal();
        Progress { shown, began: SystemClock.now(), bytes: seeds::bytes(&args.seeds) }
    }

    fn read(&self, given: u64, bytes: u64) {
        let took = SystemClock.now().since(self.began).as_secs_f64().max(1e-3);
        let share = self.bytes.map_or(String::new(), |all| format!(", {}", percent(bytes, all)));
        let rate = show_count((given as f64 / took) as u64);
        self.say(&format!("{} read{share}, {rate} per second", show_count(given)));
    }

    fn sorted(&self, done: u64, count: u64) {
        self.say(&format!("{} sorted, {}", show_count(done), percent(done, count)));
    }

    /// A line that the next one is written over.
    fn say(&self, words: &str) {
        if self.shown {
            eprint!("\r\x1b[2K{words}");
        }
    }
}

fn percent(part: u64, whole: u64) -> String {
    format!("{:.0} %", 100.0 * part as f64 / whole.max(1) as f64)
}

/// How many seeds are read between two updates of the progress line.
const SHOW_EVERY: u64 = 50_000;

/// From this many seeds on, sorting them first is faster.
const MANY: usize = 20_000;
