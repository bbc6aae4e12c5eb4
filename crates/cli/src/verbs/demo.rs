//! `evercrawl demo`: crawls a synthetic web for a minute by two policies with the same budget, and
//! compares the results with the truth.

use std::io::Write;
use std::path::{Path, PathBuf};

use evercrawl_engine::freshness::Freshness;
use evercrawl_engine::live::{self, Inbox, Progress, Stopper, SystemClock};
use evercrawl_engine::walk::Walk;
use evercrawl_engine::{DataDir, EngineError, freshness};
use evercrawl_model::Time;
use evercrawl_query::{Answer, FreshnessView, Request, RunReport, Totals, UrlRequest};
use evercrawl_state::{Counters, DiskStore, View};
use evercrawl_testweb::{
    HostShares, PageShares, ServeConfig, TestServer, World, WorldConfig, serve,
};
use evercrawl_urls::parse_seed_line;
use serde_json::{Value, json};

use super::crawl::{Screen, listen_for_signals, open_walk};
use super::{open, why};
use crate::args::{Common, CrawlRules, Demo, RunArgs};
use crate::control::{StatusBoard, desk, unexpected};
use crate::exit::Failure;
use crate::units::{show_counted, show_duration, show_size};
use crate::{crawl_config, exit, print, report, units};

/// How fresh the pages held really are.
struct Truth {
    held: u64,
    fresh: u64,
}

impl Truth {
    fn share(&self) -> f64 {
        self.fresh as f64 / self.held.max(1) as f64
    }
}

/// What came of one of the crawls.
struct Outcome {
    progress: Progress,
    counters: Counters,
    estimate: Freshness,
    /// How fresh it really was: over the second half of the run, and at its end.
    mean: f64,
    end: Truth,
    /// The page that was seen to change most often.
    liveliest: String,
}

pub(crate) fn run(args: &Demo) -> anyhow::Result<u8> {
    let beside = beside(&args.data);
    clear(&args.data)?;
    clear(&beside)?;
    let world = World::new(world(SystemClock.now()));
    let server = serve(world, ServeConfig::default()).map_err(broken)?;
    eprintln!(
        "A synthetic web of {} hosts runs on {}: its pages change, move and disappear.\n\
         Two crawls visit it, each with {BUDGET}: one treats all pages alike, one learns.",
        server.world().config().hosts,
        server.addr()
    );
    let stopper = Stopper::default();
    listen_for_signals(vec![stopper.clone()], false);
    let (uniform, index) = std::thread::scope(|scope| {
        let other = scope.spawn(|| crawl(args, &beside, "uniform", &server, &stopper));
        let index = crawl(args, &args.data, "index", &server, &stopper);
        (other.join(), index)
    });
    let uniform =
        uniform.map_err(|_| anyhow::anyhow!("the comparison crawl failed unexpectedly"))??;
    let index = index?;
    server.shutdown().map_err(broken)?;
    show_report(args, &uniform, &index)?;
    if !args.json {
        explain(args, &index.liveliest)?;
    }
    Ok(exit::OK)
}

/// A small web in a hurry: a day there takes ten seconds. Most pages stay for good, and some change
/// a hundred times as often as others.
fn world(now: Time) -> WorldConfig {
    let demo = WorldConfig::demo();
    WorldConfig {
        origin_ms: now.millis(),
        time_scale: 8_640.0,
        pages: 18,
        change_sigma: 2.5,
        page_shares: PageShares { mortal: 0.05, ..demo.page_shares },
        host_shares: HostShares { trap: 0.0, limited: 0.0, ..demo.host_shares },
        ..demo
    }
}

/// Where the crawl that treats all pages alike goes.
fn beside(data: &Path) -> PathBuf {
    let mut name = data.as_os_str().to_owned();
    name.push("-uniform");
    name.into()
}

/// Crawls the web by `policy` for as long as was asked for.
fn crawl(
    args: &Demo,
    data: &Path,
    policy: &str,
    server: &TestServer,
    stopper: &Stopper,
) -> anyhow::Result<Outcome> {
    let clock = SystemClock;
    let common = Common { data: data.to_owned(), config: None, set: Vec::new() };
    let mut settings = crawl_config::settings(&common, Some(&rules(policy, server)))?;
    settings.set_pair("schedule.min_interval=100ms")?;
    let time = units::duration(&args.time).map_err(Failure::usage)?;
    let run = RunArgs { time: Some(args.time.clone()), ..RunArgs::default() };
    let config = crawl_config::crawl_config(&settings, &run)?;
    let dir = DataDir::open_or_create(data)?;
    settings.remember(&crawl_config::remembered(dir.path()))?;
    let mut walk = open_walk(&dir, &settings, &config)?;
    let world = server.world();
    for host in 0..world.config().hosts {
        let url = format!("http://{}/", world.host_name(host));
        if let Ok(Some(seed)) = parse_seed_line(&url, config.walk.reading.steps) {
            walk.add_seed(&seed, clock.now())?;
        }
    }
    let board = StatusBoard::default();
    let mut screen =
        Screen::new(false, args.json || policy != "index", board).keeping_curves(dir.path());
    let mut watch = Vec::new();
    let show = |progress: &Progress, walk: &Walk<DiskStore>| {
        if progress.at.since(progress.began) >= time / 2
            && let Ok(truth) = truth(walk.state(), world, progress.at)
        {
            watch.push(truth.share());
        }
        screen.show(progress, walk);
    };
    let inbox = Inbox::default();
    let (_, progress, walk) = live::run(walk, &config, stopper, &inbox, || dir.free_disk(), show)?;
    screen.clear();
    let now = clock.now();
    let estimate = freshness::collection_freshness(walk.planner(), walk.state(), now)?;
    let end = truth(walk.state(), world, now)?;
    let mean = if watch.is_empty() { end.share() } else { mean(&watch) };
    let liveliest = liveliest(walk.state())?;
    DataDir::keep_learned(dir.path(), &walk.planner().encode_learned())?;
    let counters = walk.close()?;
    Ok(Outcome { progress, counters, estimate, mean, end, liveliest })
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The demo begins anew; a folder that is no data directory stays untouched.
fn clear(data: &Path) -> anyhow::Result<()> {
    match DataDir::open(data) {
        Ok(_) | Err(EngineError::Older { .. }) => Ok(std::fs::remove_dir_all(data)?),
        Err(EngineError::Missing { .. }) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Less than would keep every page fresh: a budget is there to be divided.
const BUDGET: &str = "40/s";

/// Polite on a small scale: a tenth of a second stands for the usual second.
fn rules(policy: &str, server: &TestServer) -> CrawlRules {
    CrawlRules {
        scope: Some("host".to_owned()),
        delay: Some("100ms".to_owned()),
        budget: Some(BUDGET.to_owned()),
        policy: Some(policy.to_owned()),
        allow_private: vec!["127.0.0.0/8".to_owned()],
        connect_to: vec![format!("::{}", server.addr())],
        ..CrawlRules::default()
    }
}

/// Asks the world itself, page by page, whether what is held is as it is there now.
fn truth(state: &View<DiskStore>, world: &World, now: Time) -> anyhow::Result<Truth> {
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

fn liveliest(state: &View<DiskStore>) -> anyhow::Result<String> {
    let mut best = (0, String::new());
    for page in state.pages() {
        let (_, row) = page?;
        let changes = row.past.as_ref().filter(|_| row.held()).map_or(0, |past| past.changes);
        if changes > best.0 {
            best = (changes, row.url);
        }
    }
    Ok(best.1)
}

/// What the crawler says of one page.
fn explain(args: &Demo, url: &str) -> anyhow::Result<()> {
    let common = Common { data: args.data.clone(), config: None, set: Vec::new() };
    let request = Request::Why(UrlRequest { url: url.to_owned() });
    let mut out = print::data();
    writeln!(out, "\n$ evercrawl why {url} --data {}", args.data.display())?;
    let mut show = |answer: Answer| match answer {
        Answer::Why(view) => why::write(&view, &mut out),
        other => Err(unexpected(&other)),
    };
    desk::answer(&open(&common)?, request, SystemClock.now(), &mut show)
}

fn show_report(args: &Demo, uniform: &Outcome, index: &Outcome) -> anyhow::Result<()> {
    let mut out = print::data();
    if args.json {
        let line = json!({"uniform": outcome_json(uniform), "index": outcome_json(index)});
        return Ok(print::json_line(&mut out, &line)?);
    }
    writeln!(
        out,
        "{} in {}, {} received, {} archived",
        show_counted(index.progress.tally.pages, "visit"),
        show_duration(index.progress.at.since(index.progress.began)),
        show_size(index.progress.tally.bytes),
        show_size(index.progress.tally.archived),
    )?;
    report::write_totals(&mut out, &Totals::of(&index.counters))?;
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let estimate = FreshnessView::from(index.estimate);
    let right = match (estimate.freshness, estimate.freshness_error) {
        (Some(share), Some(error)) => format!("{} \u{b1} {:.1}", percent(share), 100.0 * error),
        _ => "not yet known".to_owned(),
    };
    writeln!(out)?;
    writeln!(out, "freshness with {BUDGET}                      all alike   learning")?;
    let rows = [
        ("true, mean of the second half", percent(uniform.mean), percent(index.mean)),
        ("true, at the end", percent(uniform.end.share()), percent(index.end.share())),
        ("estimated by the crawler, at the end", String::new(), right),
    ];
    for (what, uniform, index) in rows {
        writeln!(out, "  {what:<40} {uniform:>9}   {index}")?;
    }
    writeln!(out)?;
    let data = args.data.display();
    let me = std::env::args().next().unwrap_or_else(|| "evercrawl".to_owned());
    writeln!(out, "Try next:")?;
    writeln!(out, "  {me} serve --no-crawl --data {data}     # the same in a browser")?;
    writeln!(out, "  {me} plan --ahead 1m --data {data}")?;
    writeln!(out, "  {me} diff {} --data {data}", index.liveliest)?;
    writeln!(out, "  {me} history {} --data {data}", index.liveliest)?;
    Ok(())
}

fn outcome_json(outcome: &Outcome) -> Value {
    json!({
        "run": RunReport::of(&outcome.progress),
        "total": Totals::of(&outcome.counters),
        "freshness": FreshnessView::from(outcome.estimate),
        "truth": {
            "pages_held": outcome.end.held,
            "freshness": outcome.end.share(),
            "freshness_second_half": outcome.mean,
        },
    })
}

fn broken(error: evercrawl_testweb::Error) -> anyhow::Error {
    Failure { code: exit::UNEXPECTED, message: error.to_string() }.into()
}
