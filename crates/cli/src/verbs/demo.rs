//! `evercrawl demo`: a web of our own, crawled for a minute, and the truth beside the estimate.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use evercrawl_engine::live::{self, Inbox, Progress, Stopper, SystemClock};
use evercrawl_engine::walk::Walk;
use evercrawl_engine::{DataDir, EngineError, freshness};
use evercrawl_model::Time;
use evercrawl_state::{DiskStore, State};
use evercrawl_testweb::{Config, ServeConfig, Server, World, serve};
use evercrawl_urls::parse_seed_line;
use serde_json::json;

use super::crawl::{Screen, listen_for_signals, open_walk};
use crate::args::{Common, CrawlRules, Demo, RunArgs, ScopeArg};
use crate::exit::Failure;
use crate::units::{show_count, show_duration, show_size};
use crate::{crawl_config, exit, print, report};

/// How fresh the pages held really are.
struct Truth {
    held: u64,
    fresh: u64,
}

pub(crate) fn run(args: &Demo) -> anyhow::Result<u8> {
    clear(&args.data)?;
    let clock = SystemClock;
    let world = World::new(Config { origin_ms: clock.now().millis(), ..Config::demo() });
    let hosts: Vec<String> = (0..world.config().hosts).map(|n| world.host_name(n)).collect();
    let server = serve(world, ServeConfig::default()).map_err(broken)?;
    eprintln!(
        "an evolving web of {} hosts on {}: pages change, move, repeat each other and disappear",
        hosts.len(),
        server.addr()
    );
    let common = Common { data: args.data.clone(), config: None, set: Vec::new() };
    let rules = rules(&server);
    let settings = crawl_config::settings(&common, Some(&rules))?;
    let run = RunArgs { time: Some(args.time.clone()), ..RunArgs::default() };
    let config = Arc::new(crawl_config::crawl_config(&settings, &run)?);
    let dir = DataDir::open_or_create(&args.data)?;
    settings.remember(&crawl_config::remembered(dir.path()))?;
    let mut walk = open_walk(&dir, &settings, &config, clock.now())?;
    for host in &hosts {
        if let Ok(Some(seed)) = parse_seed_line(&format!("http://{host}/"), config.steps) {
            walk.add_seed(&seed, clock.now())?;
        }
    }
    let stopper = Stopper::default();
    listen_for_signals(stopper.clone());
    let mut screen = Screen::new(false, args.json, dir.path());
    let show = |progress: &Progress, walk: &Walk<DiskStore>| screen.show(progress, walk);
    let inbox = Inbox::default();
    let (_, progress, walk) = live::run(walk, &config, &stopper, &inbox, || dir.free_disk(), show)?;
    screen.clear();
    let now = clock.now();
    let estimate = freshness::of(walk.planner(), walk.state(), now)?;
    let truth = truth(walk.state(), server.world(), now)?;
    let counters = walk.close()?;
    server.shutdown().map_err(broken)?;
    show_report(args, &progress, &counters, &estimate, &truth)
}

/// The demo begins anew; what is not a data directory is left alone.
fn clear(data: &Path) -> anyhow::Result<()> {
    match DataDir::open(data) {
        Ok(_) => Ok(std::fs::remove_dir_all(data)?),
        Err(EngineError::Missing { .. }) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Polite on a small scale: a tenth of a second stands for the usual second.
fn rules(server: &Server) -> CrawlRules {
    CrawlRules {
        scope: Some(ScopeArg::Host),
        delay: Some("100ms".to_owned()),
        recrawl: Some("6s".to_owned()),
        allow_private: vec!["127.0.0.0/8".to_owned()],
        connect_to: vec![format!("::{}", server.addr())],
        ..CrawlRules::default()
    }
}

/// Asks the world itself, page by page, whether what is held is as it is there now.
fn truth(state: &State<DiskStore>, world: &World, now: Time) -> anyhow::Result<Truth> {
    let mut truth = Truth { held: 0, fresh: 0 };
    for page in state.pages() {
        let (_, row) = page?;
        let look = row.past.as_ref().filter(|_| row.held()).and_then(|past| past.last_look);
        let (Some(look), Some(page)) = (look, world.find(&row.url)) else { continue };
        let same = world.version_at(page, look.millis()) == world.version_at(page, now.millis());
        truth.held += 1;
        truth.fresh += u64::from(same);
    }
    Ok(truth)
}

fn show_report(
    args: &Demo,
    progress: &Progress,
    counters: &evercrawl_state::Counters,
    estimate: &freshness::Freshness,
    truth: &Truth,
) -> anyhow::Result<u8> {
    let real = truth.fresh as f64 / truth.held.max(1) as f64;
    let mut out = print::data();
    if args.json {
        let line = json!({
            "run": report::progress_json(progress),
            "total": report::counters_json(counters),
            "freshness": report::freshness_json(estimate),
            "truth": {"pages_held": truth.held, "fresh": real},
        });
        print::json_line(&mut out, &line)?;
        return Ok(exit::OK);
    }
    writeln!(
        out,
        "{} visits in {}, {} received, {} archived",
        show_count(progress.tally.pages),
        show_duration(progress.at.since(progress.began)),
        show_size(progress.tally.bytes),
        show_size(progress.tally.archived),
    )?;
    report::write_counters(&mut out, counters)?;
    writeln!(out)?;
    writeln!(out, "  freshness as the crawler estimates it   {:>5.1} %", 100.0 * estimate.fresh)?;
    writeln!(out, "  freshness as the web itself knows it    {:>5.1} %", 100.0 * real)?;
    writeln!(out)?;
    let data = args.data.display();
    let me = std::env::args().next().unwrap_or_else(|| "evercrawl".to_owned());
    writeln!(out, "try next:")?;
    writeln!(out, "  {me} urls --data {data} --state refused")?;
    writeln!(out, "  {me} history http://h0.test/ --data {data}")?;
    writeln!(out, "  {me} check --data {data}")?;
    Ok(exit::OK)
}

fn broken(error: evercrawl_testweb::Error) -> anyhow::Error {
    Failure { code: exit::UNEXPECTED, message: error.to_string() }.into()
}
