//! Walks with real sockets, threads and time.
//!
//! ```text
//!             orders                    jobs                     reports
//! walk ────────────────> fetcher ─────────────> workers ─────────────────> walk
//! (own thread)           (one thread, async)    (own threads)                │
//!   └── commits ──> committer (own thread) ── done ──────────────────────────┘
//! ```
//!
//! Any number of walks share the fetcher, the workers and the committers ([`Services`]). Everything in flight is a lease
//! of some walk, so each walk alone knows when all of its own is done: the queues between are bounded by the number of
//! leases that walks let out.

mod allowance;
mod background_job;
mod clock;
mod driver;
mod fetcher;
mod handover;
mod inbox;
mod judge;
mod latency;
mod on_the_spot;
mod proxy_rests;
mod ranker;
mod retainer;
mod roster;
mod services;
mod walk_port;
mod worker;

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use evercrawl_model::{Outcome, Time};
use evercrawl_state::{Counters, Store};

use crate::EngineError;
use crate::config::CrawlConfig;
use crate::frontier::Lease;
use crate::importance::{MeanHostImportance, RankBasis};
use crate::process::Processed;
use crate::walk::{Committed, RobotsAnswer, Tally, Walk};

pub use clock::SystemClock;
pub use inbox::Inbox;
use judge::Verdicts;
pub use latency::Latency;
use proxy_rests::ProxyRest;
use ranker::Weighing;
use retainer::Dropping;
pub use roster::WalkEntry;
pub use services::{Services, ServicesConfig};

/// Asks a running crawl to stop, from a signal handler or another thread.
#[derive(Clone, Debug, Default)]
pub struct Stopper(Arc<AtomicU8>);

impl Stopper {
    /// The first call lets what is in flight finish; the second does not wait for it.
    pub fn stop(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn asked(&self) -> u8 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Everything was visited.
    Done,
    /// Only hosts that asked for a pause still have pages.
    DoneButResting,
    /// The page or byte limit was reached.
    SizeLimit,
    /// The time limit was reached.
    TimeLimit,
    /// The disk is nearly full.
    DiskFull,
    /// The user asked.
    Interrupted,
}

/// How a run is doing, for display.
#[derive(Clone, Debug)]
pub struct Progress {
    /// When.
    pub at: Time,
    /// When the run began.
    pub began: Time,
    /// What was done in this run.
    pub tally: Tally,
    /// Totals of the data directory.
    pub counters: Counters,
    /// Requests out.
    pub in_flight: usize,
    /// Hosts active.
    pub active_hosts: usize,
    /// When something may next be asked, where nothing may now.
    pub waiting_until: Option<Time>,
    /// When more may be received, where the bytes of a day are used up.
    pub day_used_up: Option<Time>,
    /// Requests a second that may be made, where that is bounded.
    pub budget: Option<f64>,
    /// How long it took to find what to do next.
    pub next: Latency,
    /// What was last heard of a proxy that failed.
    pub proxy_trouble: Option<String>,
    /// What pages were last ranked by, where a run ranks them.
    pub ranked_by: Option<RankBasis>,
    /// Some hosts that do not answer, with how the last request to them ended; and how many there are.
    pub silent_hosts: (Vec<(String, Outcome)>, usize),
}

/// What the fetcher is to do.
enum Order {
    Page(Box<Lease>),
    Locate(Box<Lease>),
    Robots { origin: String, lease: Box<Lease> },
}

/// What the walk hears from its helpers.
enum Report {
    Page(Box<Processed>),
    Located(Box<Lease>, Option<IpAddr>),
    Robots(Box<RobotsAnswer>),
    ProxyRests(Box<Lease>, ProxyRest),
    Committed(Committed),
    Uncommitted(EngineError),
    Dropping(Box<Dropping>),
    Ranked(RankBasis, MeanHostImportance),
    Weighing(Box<Weighing>),
    Judged(Verdicts),
    Broken(EngineError),
}

/// A walk to be run, and what it is run with.
pub struct Crawl<'a, S> {
    /// Its name among the walks of the process, such as its data directory.
    pub name: &'a str,
    /// The walk.
    pub walk: Walk<S>,
    /// What it was told.
    pub config: &'a CrawlConfig,
    /// Asks it to stop.
    pub stopper: &'a Stopper,
    /// What others ask of it.
    pub inbox: &'a Inbox,
    /// Bytes that are free on its disk.
    pub free_disk: &'a dyn Fn() -> Option<u64>,
}

/// Runs `walk` alone until one of its limits is reached or `stopper` is asked, and does what is left in
/// `inbox`; `show` hears how it is doing, a few times a second.
pub fn run<S: Store + 'static>(
    walk: Walk<S>,
    config: &CrawlConfig,
    stopper: &Stopper,
    inbox: &Inbox,
    free_disk: impl Fn() -> Option<u64>,
    show: impl FnMut(&Progress, &Walk<S>),
) -> Result<(Ended, Progress, Walk<S>), EngineError> {
    let services =
        Services::start(ServicesConfig { workers: config.workers, ..Default::default() })?;
    let crawl = Crawl { name: "the crawl", walk, config, stopper, inbox, free_disk: &free_disk };
    let done = services.run(crawl, show);
    let stopped = services.stop();
    let done = done?;
    stopped.map(|()| done)
}
