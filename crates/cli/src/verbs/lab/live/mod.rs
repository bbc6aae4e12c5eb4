//! `evercrawl lab live`: does the engine do what the lab promises?
//!
//! The real engine (state, frontier, planner, archive) under a clock of its own, in a world of the lab;
//! beside it the lab's own run of the same policy.

mod scratch;
mod web;

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use clap::Args;
use evercrawl_archive as archive;
use evercrawl_engine::config::WalkConfig;
use evercrawl_engine::rehearsal::Rehearsal;
use evercrawl_engine::walk::Walk;
use evercrawl_engine::{Pace, PlannerConfig};
use evercrawl_lab::run::{
    FetchBudget, RunPlan as LabPlan, RunProgress, RunTerms, Signals, TruthObserver,
};
use evercrawl_lab::{LabWorld, PageClassifier, ResultRow, WorldSource};
use evercrawl_model::Time;
use evercrawl_policy::Days;
use evercrawl_policy::registry::find;
use evercrawl_state::{MemoryStore, Settings as StateSettings, State};
use evercrawl_urls::ScopeKind;

use super::{json_line, sources};
use crate::args::RunArgs;
use crate::settings::Settings;
use crate::{crawl_config, exit, print, units};
use scratch::Scratch;
use web::LabWeb;

/// How often a walk commits, in simulated time: often enough to be realistic, rarely enough to be fast.
const COMMIT_EVERY: Duration = HOUR;
const HOUR: Duration = Duration::from_secs(3600);
/// Bytes at which a WARC file is full.
const ROLL_AT: u64 = 1_000_000_000;
/// How often budgets given as shares of the live pages are recomputed, in days.
const ROUND: f64 = 7.0;
/// All pages are fetched once, free of charge, in the day before the crawl begins.
const FIRST_LOOK: f64 = 1.0;

#[derive(Debug, Args)]
pub(crate) struct Live {
    /// Worlds to crawl
    #[arg(required = true, value_name = "WORLD")]
    worlds: Vec<PathBuf>,
    /// Policy: index, gamma or uniform
    #[arg(long, value_name = "NAME", default_value = "index")]
    policy: String,
    /// Budgets: a share of the live pages, or a number, per unit of time
    #[arg(long, value_name = "5%/week,..", value_delimiter = ',', default_value = "10%/week")]
    budget: Vec<FetchBudget>,
    /// What to optimize: freshness, coverage or age
    #[arg(long, default_value = "freshness", value_parser = units::goal)]
    goal: evercrawl_policy::registry::Goal,
    /// Pause between requests to one host, in simulated time: shows what politeness costs
    #[arg(long, value_name = "TIME", default_value = "0", value_parser = units::duration)]
    delay: Duration,
    /// Random seed
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Print JSON Lines: for each budget the engine's row and the lab's
    #[arg(long)]
    json: bool,
    /// Show no progress
    #[arg(long, short)]
    quiet: bool,
}

type Crawl<'a> = Rehearsal<MemoryStore, LabWeb<'a>>;

pub(super) fn run(args: &Live) -> anyhow::Result<u8> {
    let mut out = print::data();
    if !args.json {
        writeln!(out, "world                 budget      engine     lab    difference   fetches")?;
    }
    for path in &args.worlds {
        // Nobody tells the engine which pages matter more; a lab that knew would aim at something else.
        let source = sources::open(path, false)?.unweighted();
        let world = source.world(args.seed, 0.0)?;
        for budget in &args.budget {
            let live = engine_row(args, &world, budget)?;
            let lab = lab_row(args, &source, budget)?;
            write(args, &mut out, &live, &lab)?;
        }
    }
    Ok(exit::OK)
}

fn write(
    args: &Live,
    out: &mut impl Write,
    live: &ResultRow,
    lab: &ResultRow,
) -> anyhow::Result<()> {
    if args.json {
        json_line(out, live)?;
        return json_line(out, lab);
    }
    let (engine, promised) = (100.0 * live.scores.freshness, 100.0 * lab.scores.freshness);
    writeln!(
        out,
        "{:<20} {:>8} {engine:>9.2} % {promised:>6.2} % {:>+9.2}   {:>9}",
        print::plain(&live.world),
        live.budget,
        engine - promised,
        units::show_count(live.fetches),
    )?;
    Ok(out.flush()?)
}

/// What the lab makes of the same policy.
fn lab_row(args: &Live, source: &WorldSource, budget: &FetchBudget) -> anyhow::Result<ResultRow> {
    let plan = LabPlan {
        worlds: vec![source.clone()],
        policies: vec![find(&args.policy)?],
        budgets: vec![budget.clone()],
        seeds: vec![args.seed],
        terms: RunTerms { goal: args.goal, ..RunTerms::default() },
        references: Some(false),
        threads: 1,
        cache: None,
    };
    let mut made = None;
    evercrawl_lab::run::run(&plan, &AtomicBool::new(false), |news| {
        if let RunProgress::Row(row) = news {
            made = Some(*row);
        }
    })?;
    made.ok_or_else(|| anyhow::anyhow!("the lab made nothing of it"))
}

/// Lets the engine crawl the world to its end.
#[allow(clippy::disallowed_methods)] // how long it took is part of what is told
fn engine_row(args: &Live, world: &LabWorld, budget: &FetchBudget) -> anyhow::Result<ResultRow> {
    let began = Instant::now();
    let judge = PageClassifier::new(world);
    let config = Arc::new(config(args)?);
    let web =
        LabWeb::new(world, TruthObserver::new(world, &judge), config.reading.steps, args.seed);
    let scratch = Scratch::new()?;
    let start = web.time(world.span.begin - FIRST_LOOK);
    let walk = open(&scratch, &config, args.seed, start)?;
    let mut crawl = Rehearsal::new(walk, web, start, COMMIT_EVERY);
    first_look(&mut crawl, world)?;
    let mut signals = Signals::new(world, world.span.begin, world.span.to, args.seed);
    let mut at = world.span.begin;
    while at < world.span.to {
        args.show_progress(world, at);
        let length = ROUND.min(world.span.to - at);
        let fetches = budget.over(length, crawl.web.witness.live(at));
        crawl.set_budget(fetches / length / 86_400.0);
        at += length;
        round(&mut crawl, &mut signals, at)?;
    }
    args.end_progress();
    let row = crawl.web.witness.row(args.seed);
    Ok(ResultRow {
        world: world.name.clone(),
        policy: format!("{} (engine)", args.policy),
        budget: budget.to_string(),
        goal: evercrawl_lab::run::goal_name(args.goal).to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        cpu_seconds: began.elapsed().as_secs_f64(),
        ..row
    })
}

impl Live {
    fn shows_progress(&self) -> bool {
        !self.quiet && std::io::stderr().is_terminal()
    }

    fn show_progress(&self, world: &LabWorld, at: Days) {
        if self.shows_progress() {
            let weeks = |days: Days| (days / 7.0).round();
            let (done, all) =
                (weeks(at - world.span.begin), weeks(world.span.to - world.span.begin));
            eprint!("\r{}: week {done} of {all} ", print::plain(&world.name));
        }
    }

    fn end_progress(&self) {
        if self.shows_progress() {
            eprint!("\r\x1b[K");
        }
    }
}

/// Every page there is in the beginning is fetched once.
fn first_look(crawl: &mut Crawl<'_>, world: &LabWorld) -> anyhow::Result<()> {
    let begin = crawl.web.time(world.span.begin);
    discover(crawl, begin)?;
    let known = crawl.walk.counters().pages;
    crawl.set_rate(Some(known as f64 / (FIRST_LOOK * 86_400.0) * 1.01));
    crawl.run(begin, Duration::MAX)?;
    crawl.pass(begin);
    crawl.web.charged = true;
    Ok(())
}

/// Crawls up to `until`. Pages are told of within the hour of their birth.
fn round(crawl: &mut Crawl<'_>, signals: &mut Signals<'_>, until: Days) -> anyhow::Result<()> {
    let end = crawl.web.time(until);
    while crawl.now() < end {
        let now = crawl.now();
        discover(crawl, now)?;
        deliver_signals(crawl, signals, now)?;
        let word = signals.next_at().map_or(end, |at| crawl.web.time(at));
        let soon = now.after(Duration::from_millis(1));
        let pause = now.after(HOUR).min(word.max(soon)).min(end);
        crawl.run(pause, Duration::MAX)?;
        crawl.pass(pause);
    }
    Ok(())
}

/// Lets hosts say which pages changed, rightly or not.
fn deliver_signals(
    crawl: &mut Crawl<'_>,
    signals: &mut Signals<'_>,
    now: Time,
) -> anyhow::Result<()> {
    while let Some((page, _)) = signals.next(crawl.web.days(now)) {
        if let Some(url) = crawl.web.address(page) {
            crawl.walk.signal(&url, now)?;
        }
    }
    Ok(())
}

fn discover(crawl: &mut Crawl<'_>, now: Time) -> anyhow::Result<()> {
    for (url, hub) in crawl.web.born(now) {
        crawl.walk.add_page(url, hub, crawl.now().min(now))?;
    }
    Ok(())
}

/// A crawl like any other, but that nothing but the budget holds it back.
fn config(args: &Live) -> anyhow::Result<WalkConfig> {
    let mut config = crawl_config::walk_config(&Settings::defaults(), &RunArgs::default())?;
    config.scope = ScopeKind::Any;
    config.sitemaps = false;
    config.frontier.pace = Pace { host: args.delay, address: Duration::ZERO, ..Pace::default() };
    let policy = find(&args.policy)?.name;
    config.plan = PlannerConfig { policy, goal: args.goal, ..PlannerConfig::default() };
    // The lab's pages show no noise, and its own run of the policy looks at none of them twice.
    config.schedule.second_look = None;
    config.reading.records.level = 1;
    Ok(config)
}

fn open(
    scratch: &Scratch,
    config: &Arc<WalkConfig>,
    seed: u64,
    now: Time,
) -> anyhow::Result<Walk<MemoryStore>> {
    let settings = StateSettings { seed, shards: 64 };
    let state = State::open(Arc::new(MemoryStore::default()), settings, None)?;
    let settings = archive::Settings {
        prefix: "lab".to_owned(),
        host: "lab".to_owned(),
        software: String::new(),
        operator: String::new(),
        user_agent: String::new(),
        robots: "obey".to_owned(),
        is_part_of: String::new(),
        roll_at: ROLL_AT,
        first_serial: 1,
    };
    let (writer, _) = archive::Writer::open(scratch.segments(), &[], settings, now)?;
    Ok(Walk::new(config.clone(), state, writer, seed, now)?)
}
