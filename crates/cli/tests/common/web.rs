//! A world of testweb on a free port of loopback, and what a crawl of it ought to find.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use evercrawl_testweb::{
    LogCheckReport, ReachScope, ServeConfig, TestServer, World, WorldConfig, check_access_log,
    serve,
};
use serde::Deserialize;
use tempfile::TempDir;

use super::{NOISE, Place};

/// A world being served, and the log of who asked for what.
pub(crate) struct Web {
    server: TestServer,
    dir: TempDir,
}

/// A line of the access log.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Asked {
    pub(crate) host: String,
    pub(crate) path: String,
    pub(crate) start_us: u64,
}

impl Asked {
    pub(crate) fn url(&self) -> String {
        format!("http://{}{}", self.host, self.path)
    }
}

impl Web {
    pub(crate) fn serve(config: WorldConfig) -> Self {
        Self::serve_with(config, ServeConfig::default())
    }

    /// The same, with a host for each trouble that a server can make.
    pub(crate) fn serve_hostile(config: WorldConfig) -> Self {
        Self::serve_with(
            config,
            ServeConfig { hostile: true, threads: 2, ..ServeConfig::default() },
        )
    }

    fn serve_with(config: WorldConfig, serving: ServeConfig) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("access.jsonl");
        let config = WorldConfig { origin_ms: now_ms(), ..config };
        let serving = ServeConfig { access_log: Some(log), ..serving };
        Web { server: serve(World::new(config), serving).unwrap(), dir }
    }

    pub(crate) fn world(&self) -> &World {
        self.server.world()
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.server.addr()
    }

    /// What a command needs to see this world instead of the web.
    pub(crate) fn flags(&self) -> String {
        format!("--allow-private=127.0.0.0/8 --connect-to ::{}", self.address())
    }

    /// The front pages of the first hosts.
    pub(crate) fn seeds(&self, hosts: u32) -> Vec<String> {
        (0..hosts).map(|host| format!("http://{}/", self.world().host_name(host))).collect()
    }

    /// What time it is for the server.
    pub(crate) fn now_ms(&self) -> u64 {
        self.server.now_ms()
    }

    /// The pages that a crawl from `seeds` must end with.
    pub(crate) fn reachable(&self, seeds: &[String], scope: ReachScope) -> BTreeSet<String> {
        let seeds = seeds.iter().map(String::as_str);
        self.world().reachable(seeds, scope, true, self.now_ms()).collect()
    }

    /// Ends the serving, which completes the log.
    pub(crate) fn stop(self) -> Log {
        let world = World::new(self.world().config().clone());
        self.server.shutdown().unwrap();
        Log { path: self.dir.path().join("access.jsonl"), world, _dir: self.dir }
    }
}

/// The access log of a world that is served no more.
pub(crate) struct Log {
    path: PathBuf,
    world: World,
    _dir: TempDir,
}

impl Log {
    /// Whether the caller kept to robots.txt and to its own pace.
    pub(crate) fn manners(&self, delay: Duration) -> LogCheckReport {
        let gap = delay.saturating_sub(NOISE);
        check_access_log(&self.path, gap, |host, path| self.world.allows(host, path)).unwrap()
    }

    /// Requests in the order in which they came.
    pub(crate) fn requests(&self) -> Vec<Asked> {
        let text = fs::read_to_string(&self.path).unwrap();
        let mut asked: Vec<Asked> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        asked.sort_by_key(|asked| asked.start_us);
        asked
    }
}

/// The pages that a crawl knows, by status; `None` where none came.
pub(crate) fn pages_by_status(place: &Place) -> BTreeMap<Option<u64>, BTreeSet<String>> {
    let mut pages: BTreeMap<_, BTreeSet<String>> = BTreeMap::new();
    for url in place.urls() {
        if url["kind"] == "page" {
            let name = url["url"].as_str().unwrap().to_owned();
            pages.entry(url["status"].as_u64()).or_default().insert(name);
        }
    }
    pages
}

#[allow(clippy::disallowed_methods, reason = "a world begins when its test does")]
fn now_ms() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    u64::try_from(since.as_millis()).unwrap()
}
