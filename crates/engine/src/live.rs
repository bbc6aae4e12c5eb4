//! The walk with real sockets, threads and time.
//!
//! ```text
//!            orders                    jobs                     reports
//! walk ────────────────> fetcher ─────────────> workers ─────────────────> walk
//! (this thread)          (one thread, async)    (own threads)                │
//!   └── commits ──> committer (own thread) ── done ──────────────────────────┘
//! ```
//!
//! Everything in flight is a lease of the walk, so the walk alone knows when all is done: the
//! queues between are bounded by the number of leases it lets out.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded, unbounded};
use evercrawl_archive::FileId;
use evercrawl_extract::decode;
use evercrawl_fetch::{Client, Failure, Request, Validators};
use evercrawl_model::Time;
use evercrawl_state::Store;

use crate::EngineError;
use crate::config::CrawlConfig;
use crate::frontier::Lease;
use crate::process::{Job, Processed, Processor};
use crate::recent::Recent;
use crate::walk::{Commit, Committed, RobotsAnswer, Step, Tally, Walk};

/// Changed keys after which a commit begins, whatever the time.
const COMMIT_KEYS: usize = 50_000;
/// How long changes wait for a commit.
const COMMIT_EVERY: Duration = Duration::from_millis(1000);
/// How long the walk sleeps at most before it looks at stop signals and the clock again.
const TICK: Duration = Duration::from_millis(200);
/// How long a run that ends when all is visited waits for hosts that asked to be left alone.
const PATIENCE: Duration = Duration::from_secs(120);

/// Reads the wall clock, in the one place that may.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl SystemClock {
    /// Now.
    #[allow(clippy::disallowed_methods)] // the crawler's one clock
    pub fn now(self) -> Time {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        Time::from_millis(now.map_or(0, |d| u64::try_from(d.as_millis()).unwrap_or(u64::MAX)))
    }
}

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
    /// Only hosts that asked to be left alone still have pages.
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

/// How a run is doing, for whoever shows it.
#[derive(Clone, Debug)]
pub struct Progress {
    /// When.
    pub at: Time,
    /// When the run began.
    pub began: Time,
    /// What was done in this run.
    pub tally: Tally,
    /// Totals of the data directory.
    pub counters: evercrawl_state::Counters,
    /// Requests out.
    pub in_flight: usize,
    /// Hosts active.
    pub active_hosts: usize,
    /// When something may next be asked, where nothing may now.
    pub waiting_until: Option<Time>,
}

enum Order {
    Page(Box<Lease>),
    Locate(Box<Lease>),
    Robots { origin: String, lease: Box<Lease> },
}

enum Report {
    Page(Box<Processed>),
    Located(Box<Lease>, Option<IpAddr>),
    Robots(Box<RobotsAnswer>),
    Committed(Committed),
    Broken(EngineError),
}

/// Runs `walk` until one of its limits is reached or `stopper` is asked; `show` hears how it is
/// doing, a few times a second.
pub fn run<S: Store + 'static>(
    walk: Walk<S>,
    config: &Arc<CrawlConfig>,
    stopper: &Stopper,
    free_disk: impl Fn() -> Option<u64>,
    mut show: impl FnMut(&Progress, &Walk<S>),
) -> Result<(Ended, Progress, Walk<S>), EngineError> {
    let clock = SystemClock;
    let mut driver = Driver::start(walk, config, clock)?;
    let ended = driver.drive(stopper, &free_disk, &mut show);
    let progress = driver.progress(clock.now(), None);
    let walk = driver.finish()?;
    Ok((ended?, progress, walk))
}

struct Driver<S> {
    walk: Walk<S>,
    config: Arc<CrawlConfig>,
    clock: SystemClock,
    began: Time,
    orders: Option<tokio::sync::mpsc::UnboundedSender<Order>>,
    reports: Receiver<Report>,
    commits: Option<Sender<Commit<S>>>,
    current_file: Arc<std::sync::Mutex<FileId>>,
    threads: Vec<JoinHandle<()>>,
    abandon: Arc<AtomicBool>,
    budget: Option<Bucket>,
    committed_at: Time,
    committing: bool,
}

impl<S: Store + 'static> Driver<S> {
    fn start(
        walk: Walk<S>,
        config: &Arc<CrawlConfig>,
        clock: SystemClock,
    ) -> Result<Self, EngineError> {
        let (report, reports) = unbounded();
        let (job, jobs) = unbounded();
        let (orders, order_queue) = tokio::sync::mpsc::unbounded_channel();
        let (commits, commit_queue) = bounded(1);
        let client = Client::new(config.fetch.clone())
            .map_err(|error| EngineError::Config(error.to_string()))?;
        let current_file = Arc::new(std::sync::Mutex::new(walk.file()));
        let abandon = Arc::new(AtomicBool::new(false));
        let mut threads = Vec::new();
        for n in 0..config.workers.max(1) {
            let worker = Worker {
                processor: walk.processor(n as u64),
                jobs: jobs.clone(),
                reports: report.clone(),
                recent: walk.recent(),
                current_file: current_file.clone(),
            };
            threads.push(spawn("worker", move || worker.run())?);
        }
        let fetcher = Fetcher { client: client.into(), jobs: job, reports: report.clone(), clock };
        let (fetch_config, gone) = (config.clone(), abandon.clone());
        threads.push(spawn("fetcher", move || fetcher.run(order_queue, &fetch_config, &gone))?);
        threads.push(spawn("committer", move || commit_all(&commit_queue, &report))?);
        let now = clock.now();
        Ok(Driver {
            walk,
            config: config.clone(),
            clock,
            began: now,
            orders: Some(orders),
            reports,
            commits: Some(commits),
            current_file,
            threads,
            abandon,
            budget: config.limits.budget.map(|rate| Bucket::new(rate, now)),
            committed_at: now,
            committing: false,
        })
    }

    fn drive(
        &mut self,
        stopper: &Stopper,
        free_disk: &impl Fn() -> Option<u64>,
        show: &mut impl FnMut(&Progress, &Walk<S>),
    ) -> Result<Ended, EngineError> {
        let mut shown = Time::EPOCH;
        let mut ending: Option<Ended> = None;
        loop {
            let now = self.clock.now();
            self.take_reports(now)?;
            self.commit_if_due(now)?;
            if now.since(shown) >= TICK {
                shown = now;
                show(&self.progress(now, None), &self.walk);
                ending = ending.or_else(|| self.limit_reached(stopper, free_disk, now));
            }
            if let Some(ended) = ending {
                if stopper.asked() > 1 || self.walk.activity().0 == 0 {
                    return Ok(ended);
                }
                self.wait_for_reports(now.after(TICK), now)?;
                continue;
            }
            match self.order(now)? {
                Ordered::Wait(until) => {
                    self.wait_for_reports(until.min(now.after(TICK)), now)?;
                }
                Ordered::Over(ended) => ending = Some(ended),
            }
        }
    }

    /// Orders what may be fetched now.
    fn order(&mut self, now: Time) -> Result<Ordered, EngineError> {
        loop {
            if self.walk.activity().0 >= self.config.limits.concurrency || self.page_limit_near() {
                return Ok(Ordered::Wait(Time::NEVER));
            }
            if let Some(until) = self.budget.as_ref().and_then(|budget| budget.wait(now)) {
                return Ok(Ordered::Wait(until));
            }
            let order = match self.walk.next(now)? {
                Step::Fetch(lease) => Order::Page(lease),
                Step::Locate(lease) => {
                    self.send(Order::Locate(lease))?;
                    continue;
                }
                Step::Robots { origin, lease } => Order::Robots { origin, lease },
                Step::Wait(until) => return Ok(self.wait_or_end(until, now)),
                Step::Empty => return Ok(Ordered::Over(Ended::Done)),
            };
            if let Some(budget) = &mut self.budget {
                budget.take(now);
            }
            self.send(order)?;
        }
    }

    fn send(&self, order: Order) -> Result<(), EngineError> {
        let sent = self.orders.as_ref().is_some_and(|orders| orders.send(order).is_ok());
        if sent { Ok(()) } else { Err(EngineError::Broken("the fetcher")) }
    }

    /// Nothing can be asked before `until`: a run that ends when all is visited does not wait for
    /// hosts that rest for long.
    fn wait_or_end(&self, until: Time, now: Time) -> Ordered {
        let idle = self.walk.activity().0 == 0;
        if !self.config.limits.once || !idle || until <= now.after(PATIENCE) {
            return Ordered::Wait(until);
        }
        let [new, ..] = self.walk.counters().standing;
        Ordered::Over(if new == 0 { Ended::Done } else { Ended::DoneButResting })
    }

    /// The pages asked for and out reach the limit.
    fn page_limit_near(&self) -> bool {
        let asked = self.walk.tally().pages + self.walk.activity().0 as u64;
        self.config.limits.pages.is_some_and(|most| asked >= most)
    }

    fn limit_reached(
        &self,
        stopper: &Stopper,
        free_disk: &impl Fn() -> Option<u64>,
        now: Time,
    ) -> Option<Ended> {
        let limits = &self.config.limits;
        let tally = self.walk.tally();
        let size = limits.pages.is_some_and(|most| tally.pages >= most)
            || limits.bytes.is_some_and(|most| tally.bytes >= most);
        if stopper.asked() > 0 {
            Some(Ended::Interrupted)
        } else if free_disk().is_some_and(|free| free < limits.min_free_disk) {
            Some(Ended::DiskFull)
        } else if size {
            Some(Ended::SizeLimit)
        } else if limits.time.is_some_and(|most| now.since(self.began) >= most) {
            Some(Ended::TimeLimit)
        } else {
            None
        }
    }

    fn take_reports(&mut self, now: Time) -> Result<(), EngineError> {
        while let Ok(report) = self.reports.try_recv() {
            self.take(report, now)?;
        }
        Ok(())
    }

    /// Sleeps until a report comes, but not beyond `until`.
    fn wait_for_reports(&mut self, until: Time, now: Time) -> Result<(), EngineError> {
        let patience = until.since(now).min(TICK);
        match self.reports.recv_timeout(patience) {
            Ok(report) => self.take(report, self.clock.now()),
            Err(RecvTimeoutError::Timeout) => Ok(()),
            Err(RecvTimeoutError::Disconnected) => Err(EngineError::Broken("the workers")),
        }
    }

    fn take(&mut self, report: Report, now: Time) -> Result<(), EngineError> {
        match report {
            Report::Page(processed) => {
                self.walk.complete(*processed, now)?;
                self.publish_file();
                Ok(())
            }
            Report::Located(lease, ip) => {
                self.walk.located(&lease, ip, now);
                Ok(())
            }
            Report::Robots(answer) => self.walk.robots(*answer, now),
            Report::Committed(done) => {
                self.committing = false;
                self.walk.end_commit(&done)
            }
            Report::Broken(error) => Err(error),
        }
    }

    /// Workers make records for the file that is current.
    fn publish_file(&self) {
        if let Ok(mut current) = self.current_file.lock() {
            *current = self.walk.file();
        }
    }

    fn commit_if_due(&mut self, now: Time) -> Result<(), EngineError> {
        let due =
            now.since(self.committed_at) >= COMMIT_EVERY || self.walk.pending() >= COMMIT_KEYS;
        if self.committing || !due {
            return Ok(());
        }
        self.committed_at = now;
        let Some(commit) = self.walk.begin_commit()? else { return Ok(()) };
        self.committing = true;
        let sent = self.commits.as_ref().is_some_and(|commits| commits.send(commit).is_ok());
        if sent { Ok(()) } else { Err(EngineError::Broken("the committer")) }
    }

    fn progress(&self, at: Time, waiting_until: Option<Time>) -> Progress {
        let (in_flight, active_hosts) = self.walk.activity();
        Progress {
            at,
            began: self.began,
            tally: self.walk.tally(),
            counters: self.walk.counters().clone(),
            in_flight,
            active_hosts,
            waiting_until,
        }
    }

    /// Lets all threads end, and the commit that is on its way.
    fn finish(mut self) -> Result<Walk<S>, EngineError> {
        self.abandon.store(true, Ordering::Relaxed);
        self.orders = None;
        self.commits = None;
        while self.committing {
            match self.reports.recv() {
                Ok(Report::Committed(done)) => {
                    self.committing = false;
                    self.walk.end_commit(&done)?;
                }
                Ok(Report::Broken(error)) => return Err(error),
                Ok(_) => {}
                Err(_) => return Err(EngineError::Broken("the committer")),
            }
        }
        // Whoever still sends a report must not wait for somebody to take it: the queue of
        // reports has no bound, so all threads come to their end.
        for thread in self.threads.drain(..) {
            thread.join().map_err(|_| EngineError::Broken("a thread"))?;
        }
        Ok(self.walk)
    }
}

enum Ordered {
    Wait(Time),
    Over(Ended),
}

/// Tokens for requests: a steady flow with a little room for bursts.
struct Bucket {
    rate: f64,
    tokens: f64,
    at: Time,
}

impl Bucket {
    fn new(rate: f64, at: Time) -> Self {
        Bucket { rate, tokens: 1.0, at }
    }

    fn level(&self, now: Time) -> f64 {
        let burst = (self.rate / 10.0).max(1.0);
        (self.tokens + now.since(self.at).as_secs_f64() * self.rate).min(burst)
    }

    /// When the next request may go; `None`: now.
    fn wait(&self, now: Time) -> Option<Time> {
        let missing = 1.0 - self.level(now);
        let pause = Duration::try_from_secs_f64(missing / self.rate).unwrap_or(Duration::MAX);
        (missing > 0.0).then(|| now.after(pause).after(Duration::from_millis(1)))
    }

    fn take(&mut self, now: Time) {
        self.tokens = self.level(now) - 1.0;
        self.at = now;
    }
}

/// Reads pages, away from the sockets.
struct Worker<S> {
    processor: Processor<S>,
    jobs: Receiver<Job>,
    reports: Sender<Report>,
    recent: Arc<Recent>,
    current_file: Arc<std::sync::Mutex<FileId>>,
}

impl<S: Store> Worker<S> {
    fn run(mut self) {
        while let Ok(job) = self.jobs.recv() {
            let Ok(file) = self.current_file.lock().map(|file| *file) else { return };
            match self.processor.process(job, file) {
                Ok(processed) => {
                    let claim = processed.claim.map(|d| (d, processed.records.is_some()));
                    if self.reports.send(Report::Page(Box::new(processed))).is_err() {
                        return;
                    }
                    // Only now: whoever refers to the record must come after it.
                    if let Some((digest, stored)) = claim {
                        self.recent.settle(digest, stored);
                    }
                }
                Err(error) => {
                    let _ = self.reports.send(Report::Broken(error.into()));
                    return;
                }
            }
        }
    }
}

fn commit_all<S: Store>(commits: &Receiver<Commit<S>>, reports: &Sender<Report>) {
    while let Ok(commit) = commits.recv() {
        let report = match commit.run() {
            Ok(done) => Report::Committed(done),
            Err(error) => Report::Broken(error),
        };
        if reports.send(report).is_err() {
            return;
        }
    }
}

/// Asks for pages, on one thread, many at a time.
#[derive(Clone)]
struct Fetcher {
    client: Arc<Client>,
    jobs: Sender<Job>,
    reports: Sender<Report>,
    clock: SystemClock,
}

impl Fetcher {
    fn run(
        self,
        mut orders: tokio::sync::mpsc::UnboundedReceiver<Order>,
        config: &CrawlConfig,
        abandon: &AtomicBool,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let Ok(runtime) = runtime else {
            let _ = self.reports.send(Report::Broken(EngineError::Broken("the fetcher")));
            return;
        };
        let redirects = usize::from(config.take.max_redirects).max(5);
        let unpack = config.unpack;
        let local = tokio::task::LocalSet::new();
        local.block_on(&runtime, async move {
            while let Some(order) = orders.recv().await {
                let fetcher = self.clone();
                tokio::task::spawn_local(async move {
                    match order {
                        Order::Page(lease) => fetcher.page(lease).await,
                        Order::Locate(lease) => fetcher.locate(lease).await,
                        Order::Robots { origin, lease } => {
                            fetcher.robots(origin, lease, redirects, unpack).await;
                        }
                    }
                });
            }
        });
        debug_assert!(abandon.load(Ordering::Relaxed), "orders end only when the run does");
    }

    async fn locate(&self, lease: Box<Lease>) {
        let ip = match Request::new(&lease.row.url) {
            Ok(request) => self.client.locate(&request).await.ok(),
            Err(_) => None,
        };
        let _ = self.reports.send(Report::Located(lease, ip));
    }

    async fn page(&self, lease: Box<Lease>) {
        let asked = self.clock.now();
        let held = lease.row.past.as_ref().map(|past| &past.validators);
        let validators = held
            .map(|v| Validators { etag: v.etag.clone(), last_modified: v.last_modified.clone() });
        let fetched = match Request::new(&lease.row.url) {
            Ok(request) => {
                self.client.fetch(&request.if_changed(validators.unwrap_or_default())).await
            }
            Err(_) => unaskable(),
        };
        let ended = self.clock.now();
        let _ = self.jobs.send(Job { lease, fetched, asked, ended });
    }

    async fn robots(
        &self,
        origin: String,
        lease: Box<Lease>,
        redirects: usize,
        unpack: decode::Caps,
    ) {
        let mut answer = RobotsAnswer {
            lease,
            status: None,
            forbidden: false,
            body: Vec::new(),
            ip: None,
            took: Duration::ZERO,
            origin,
        };
        if let Ok(request) = Request::new(&format!("{}/robots.txt", answer.origin)) {
            let mut hops = self.client.fetch_following(&request, redirects).await;
            answer.ip = hops.first().and_then(|hop| hop.fetched.ip);
            answer.took = hops.iter().map(|hop| hop.fetched.times.total).sum();
            let result = hops.pop().map(|hop| hop.fetched.result);
            answer.forbidden = matches!(result, Some(Err(Failure::Forbidden(_))));
            if let Some(Ok(response)) = result {
                let coding = response.headers.get("content-encoding");
                let coding = coding.and_then(|value| value.to_str().ok()).unwrap_or_default();
                answer.status = Some(response.status);
                answer.body = decode::decode(coding, &response.body, unpack).bytes.into_owned();
            }
        }
        let _ = self.reports.send(Report::Robots(Box::new(answer)));
    }
}

/// What stands for a fetch of a URL that cannot be asked for.
fn unaskable() -> evercrawl_fetch::Fetched {
    evercrawl_fetch::Fetched {
        result: Err(Failure::Protocol("the URL cannot be asked for".into())),
        request_bytes: bytes::Bytes::new(),
        times: evercrawl_fetch::Times::default(),
        ip: None,
        bytes_on_wire: 0,
    }
}

fn spawn(
    name: &'static str,
    run: impl FnOnce() + Send + 'static,
) -> Result<JoinHandle<()>, EngineError> {
    let builder = std::thread::Builder::new().name(name.to_owned());
    builder.spawn(run).map_err(|_| EngineError::Broken(name))
}
