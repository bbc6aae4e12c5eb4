//! Do walks come and go while others run in the same process?
#![allow(clippy::disallowed_methods, reason = "a real server is crawled, in real time")]

use std::path::Path;
use std::sync::Arc;
use std::thread::{Scope, ScopedJoinHandle, sleep};
use std::time::{Duration, Instant};

use evercrawl_archive as archive;
use evercrawl_engine::EngineError;
use evercrawl_engine::config::{ArchiveConfig, CrawlConfig, RankingConfig, RunLimits};
use evercrawl_engine::live::{Crawl, Ended, Inbox, Services, ServicesConfig, Stopper, SystemClock};
use evercrawl_engine::walk::Walk;
use evercrawl_fetch::{AllowPrivate, FetchConfig, Identity, Network};
use evercrawl_state::{MemoryStore, Settings, State};
use evercrawl_testweb::{ServeConfig, TestServer, World, WorldConfig, check_access_log, serve};
use evercrawl_urls::parse_seed_line;
use tempfile::TempDir;

use super::common::{archive_settings, small_crawl, unsynced};

const DELAY: Duration = Duration::from_millis(40);

/// A world that is served, and a place for files.
struct Web {
    server: TestServer,
    dir: TempDir,
}

impl Web {
    fn serve() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let access_log = Some(dir.path().join("access.jsonl"));
        let world = World::new(WorldConfig { hosts: 4, pages: 60, seed: 8, ..WorldConfig::calm() });
        let server = serve(world, ServeConfig { access_log, ..ServeConfig::default() }).unwrap();
        Web { server, dir }
    }

    fn config(&self, budget: Option<f64>) -> CrawlConfig {
        let mut walk = small_crawl();
        walk.frontier.pace.host = DELAY;
        walk.frontier.new_only = true;
        walk.plan.rate = budget;
        let product = "evercrawl/test".to_owned();
        let mut fetch = FetchConfig::new(Identity { product, contact: None, from: None });
        fetch.allow_private = AllowPrivate::networks(Network::LOOPBACK.to_vec());
        fetch.connect_to = vec![format!("::{}", self.server.addr()).parse().unwrap()];
        let limits = RunLimits { once: true, concurrency: 16, ..RunLimits::default() };
        let archive = ArchiveConfig {
            prefix: "t".into(),
            roll_at: 1 << 30,
            machine: "t".into(),
            operator: String::new(),
        };
        CrawlConfig {
            walk,
            fetch,
            limits,
            workers: 2,
            archive,
            ranking: RankingConfig::default(),
            rendering: None,
            cookie_file: None,
        }
    }

    /// A walk from the front pages of these hosts.
    fn walk(&self, hosts: &[u32], config: &CrawlConfig) -> Walk<MemoryStore> {
        let settings = Settings { seed: 11, shards: 64 };
        let state = State::open(Arc::new(MemoryStore::default()), settings, None).unwrap();
        let dir = self.dir.path().join(format!("{hosts:?}"));
        std::fs::create_dir_all(&dir).unwrap();
        let now = SystemClock.now();
        let settings = archive_settings(1, 1 << 30);
        let (writer, _) = archive::Writer::open(unsynced(&dir), &[], settings, now).unwrap();
        let mut walk = Walk::new(Arc::new(config.walk.clone()), state, writer, 3, now).unwrap();
        for host in hosts {
            let url = format!("http://{}/", self.server.world().host_name(*host));
            let seed = parse_seed_line(&url, config.walk.reading.steps).unwrap().unwrap();
            walk.add_seed(&seed, now).unwrap();
        }
        walk
    }

    /// Whether every host got its pause after each request.
    fn assert_polite(self, requests: usize) {
        let world = World::new(self.server.world().config().clone());
        self.server.shutdown().unwrap();
        let log: &Path = &self.dir.path().join("access.jsonl");
        let gap = DELAY.saturating_sub(Duration::from_millis(10));
        let manners = check_access_log(log, gap, |host, path| world.allows(host, path)).unwrap();
        assert!(manners.is_clean(), "{manners:#?}");
        let lines = std::fs::read_to_string(log).unwrap().lines().count();
        assert!(lines > requests, "{lines}");
    }
}

type Run = Result<Vec<(Ended, u64)>, EngineError>;

/// Runs a walk from the front pages of `hosts` on a thread of its own, so many times one after another.
fn run<'scope>(
    scope: &'scope Scope<'scope, '_>,
    (web, services): (&'scope Web, &'scope Services<MemoryStore>),
    name: &'static str,
    hosts: &'static [u32],
    times: usize,
) -> ScopedJoinHandle<'scope, Run> {
    scope.spawn(move || {
        let (mut config, inbox) = (web.config(None), Inbox::default());
        config.limits.min_free_disk = 1;
        let mut walk = web.walk(hosts, &config);
        let mut ends = Vec::new();
        for _ in 0..times {
            let (stopper, free_disk) = (Stopper::default(), || Some(u64::from(name != "full")));
            let crawl = Crawl {
                name,
                walk,
                config: &config,
                stopper: &stopper,
                inbox: &inbox,
                free_disk: &free_disk,
            };
            let (ended, progress, stopped) = services.run(crawl, |_, _| {})?;
            ends.push((ended, progress.tally.pages));
            walk = stopped;
        }
        walk.close()?;
        Ok(ends)
    })
}

#[track_caller]
fn wait_until(what: &str, mut came: impl FnMut() -> bool) {
    let began = Instant::now();
    while !came() {
        assert!(began.elapsed() < Duration::from_secs(120), "waited too long for {what}");
        sleep(Duration::from_millis(5));
    }
}

fn pages(services: &Services<MemoryStore>, name: &str) -> Option<u64> {
    let entry = services.walks().into_iter().find(|entry| entry.name == name)?;
    Some(entry.progress.map_or(0, |progress| progress.tally.pages))
}

#[test]
fn walks_come_and_go_while_others_run_and_share_the_pauses_of_hosts() {
    let web = Web::serve();
    let services = Services::start(ServicesConfig { workers: 2, ..Default::default() }).unwrap();
    std::thread::scope(|scope| {
        let at = (&web, &services);
        let long = run(scope, at, "long", &[0, 1], 2);
        wait_until("the first pages", || pages(&services, "long") > Some(10));

        let refused = run(scope, at, "long", &[2], 1).join().unwrap().unwrap_err();
        assert!(refused.to_string().contains("long is being crawled already"), "{refused}");

        // The same hosts, and another one.
        let other = run(scope, at, "other", &[0, 1, 2], 1);
        wait_until("pages of both", || pages(&services, "other") > Some(5));
        let mut names: Vec<String> = services.walks().into_iter().map(|walk| walk.name).collect();
        names.sort();
        assert_eq!(names, ["long", "other"]);

        let full = run(scope, at, "full", &[3], 1).join().unwrap().unwrap();
        assert_eq!(full[0].0, Ended::DiskFull);

        assert!(services.remove("long") && !services.remove("nobody"));
        let ends = long.join().unwrap().unwrap();
        assert_eq!([ends[0].0, ends[1].0], [Ended::Interrupted, Ended::Done]);
        assert!(ends[1].1 > ends[0].1, "it goes on where it was: {ends:?}");
        assert_eq!(other.join().unwrap().unwrap()[0].0, Ended::Done);
    });
    assert!(services.walks().is_empty());
    services.stop().unwrap();
    web.assert_polite(5 * 50);
}

#[test]
fn a_budget_of_all_is_divided_and_can_change_while_walks_run() {
    let web = Web::serve();
    let budget = ServicesConfig { workers: 2, budget: Some(20.0), ..Default::default() };
    let services = Services::start(budget).unwrap();
    std::thread::scope(|scope| {
        let at = (&web, &services);
        let walks = [("a", &[0][..]), ("b", &[1]), ("c", &[2])];
        let walks = walks.map(|(name, hosts)| run(scope, at, name, hosts, 1));
        let budgets = || -> Vec<f64> {
            let progress = services.walks().into_iter().filter_map(|walk| walk.progress);
            progress.filter_map(|progress| progress.budget).collect()
        };
        wait_until("parts for all", || {
            budgets().len() == 3 && budgets().iter().sum::<f64>() < 22.0
        });
        let visited =
            || -> u64 { ["a", "b", "c"].iter().filter_map(|name| pages(&services, name)).sum() };
        let (began, before) = (Instant::now(), visited());
        wait_until("some pages", || visited() > before + 20);
        let most = 20.0 * began.elapsed().as_secs_f64() + 24.0;
        assert!((visited() - before) as f64 <= most, "the budget is kept");
        services.set_budget(None);
        wait_until("no budget", || budgets().is_empty());
        for walk in walks {
            assert_eq!(walk.join().unwrap().unwrap()[0].0, Ended::Done);
        }
    });
    services.stop().unwrap();
    web.assert_polite(3 * 40);
}
