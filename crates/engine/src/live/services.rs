//! What do all walks of a process share? The threads that fetch, read and commit, and what bounds them together.
//!
//! ```text
//!  walk a ── orders ──┐                                         ┌── reports ──> walk a
//!  walk b ── orders ──┼──> fetcher ── jobs ──> workers ─────────┼── reports ──> walk b
//!  walk c ── orders ──┘   (one client,        (one a core)      └── reports ──> walk c
//!     │                    one DNS table)
//!     └── commits ──> committers ── done ──> the walk that made the commit
//! ```
//!
//! A walk joins when [`run`](Services::run) is called and leaves when that returns, so walks come and go while others
//! run. Each has a thread of its own (that of the caller), queues of its own and its own share of the budget; an error
//! of one is no error of the others.

use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::JoinHandle;

use evercrawl_fetch::{Client, FetchConfig};
use evercrawl_render::Renderer;
use evercrawl_state::Store;
use tokio::sync::Semaphore;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::driver::{Driver, spawn};
use super::fetcher::{Fetcher, Joining, RobotsManner, fetch_all};
use super::handover::{Disconnected, Receiver, Sender, queue};
use super::on_the_spot::OnTheSpot;
use super::proxy_rests::ProxyRests;
use super::rendering::{AT_ONCE, CpuBudget, Rendering};
use super::roster::{Roster, WalkEntry};
use super::sub_requests::SubRequests;
use super::walk_port::WalkPort;
use super::worker::{WalkCommit, WalkJob, Worker, commit_all};
use super::{Crawl, Ended, Order, Progress, SystemClock};
use crate::EngineError;
use crate::config::{CrawlConfig, RenderingConfig};
use crate::walk::{Commit, Walk};

/// Commits that are made durable at once: a walk has one at a time, and one that waits for its disk must not hold up
/// the others.
const MOST_COMMITTERS: usize = 4;

/// What the walks of a process may do together.
#[derive(Clone, Copy, Debug, Default)]
pub struct ServicesConfig {
    /// Threads that read pages.
    pub workers: usize,
    /// Whether walks share their pauses from the first one on; else from when a second one joins.
    pub are_several: bool,
    /// Requests out at once, each walk with an equal part; `None`: what each walk may by itself.
    pub concurrency: Option<usize>,
    /// Requests a second, divided by what a fetch is worth in each walk; `None`: what each walk may by itself.
    pub budget: Option<f64>,
    /// Stop all after so many pages of this run.
    pub pages: Option<u64>,
    /// Stop all after so many bytes received in this run.
    pub bytes: Option<u64>,
}

/// The threads that work for all walks of a process.
pub struct Services<S> {
    workers: usize,
    joining: UnboundedSender<Joining<S>>,
    jobs: Sender<WalkJob<S>>,
    commits: Sender<WalkCommit<S>>,
    commit_queue: Receiver<WalkCommit<S>>,
    threads: Mutex<Threads>,
    clients: Mutex<Vec<Weak<Client>>>,
    /// Requests out, of all walks.
    out: Arc<AtomicUsize>,
    roster: Arc<Roster>,
}

#[derive(Default)]
struct Threads {
    all: Vec<JoinHandle<()>>,
    committers: usize,
}

impl<S: Store + 'static> Services<S> {
    /// Starts the threads.
    pub fn start(config: ServicesConfig) -> Result<Self, EngineError> {
        let (jobs, job_queue) = queue();
        let (commits, commit_queue) = queue();
        let (joining, join_queue) = unbounded_channel();
        let workers = config.workers.max(1);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|_| EngineError::Broken("the fetcher"))?;
        let mut all = Vec::new();
        for worker in Worker::crew(workers, &job_queue) {
            all.push(spawn("worker", move || worker.run())?);
        }
        all.push(spawn("fetcher", move || fetch_all(&runtime, join_queue))?);
        let threads = Mutex::new(Threads { all, committers: 0 });
        let roster = Arc::new(Roster::new(config, SystemClock.now()));
        let (clients, out) = (Mutex::default(), Arc::default());
        Ok(Services {
            workers,
            joining,
            jobs,
            commits,
            commit_queue,
            threads,
            clients,
            out,
            roster,
        })
    }

    /// Runs a walk until one of its limits or a limit of all is reached, or it is asked to stop, on the calling thread;
    /// `show` hears how it is doing, a few times a second.
    pub fn run(
        &self,
        crawl: Crawl<'_, S>,
        mut show: impl FnMut(&Progress, &Walk<S>),
    ) -> Result<(Ended, Progress, Walk<S>), EngineError> {
        let Crawl { name, walk, config, stopper, inbox, free_disk } = crawl;
        let membership = self.roster.join(name, stopper, SystemClock.now())?;
        self.add_committer()?;
        let mut driver = Driver::start(walk, config, inbox, membership, self)?;
        let ended = driver.drive(stopper, free_disk, &mut show);
        let progress = driver.progress(SystemClock.now());
        let finished = driver.finish();
        // What went wrong first is what the user should hear of.
        let ended = ended?;
        Ok((ended, progress, finished?))
    }

    /// The walks that run now.
    pub fn walks(&self) -> Vec<WalkEntry> {
        self.roster.walks()
    }

    /// Asks a walk to stop: what it has out may finish, then its [`run`](Self::run) returns. False if there is none of
    /// this name.
    pub fn remove(&self, name: &str) -> bool {
        self.roster.stop(name)
    }

    /// Another budget for all walks together, in requests a second, from now on; `None`: what each may by itself.
    pub fn set_budget(&self, rate: Option<f64>) {
        self.roster.set_budget(rate, SystemClock.now());
    }

    /// Ends the threads. All walks have left: [`run`](Self::run) borrows the services.
    pub fn stop(self) -> Result<(), EngineError> {
        let Services { joining, jobs, commits, commit_queue, threads, .. } = self;
        drop((joining, jobs, commits, commit_queue));
        let threads = threads.into_inner().unwrap_or_else(PoisonError::into_inner);
        let ended: Vec<_> = threads.all.into_iter().map(JoinHandle::join).collect();
        let all = ended.into_iter().all(|ended| ended.is_ok());
        if all { Ok(()) } else { Err(EngineError::Broken("a thread")) }
    }

    /// Readers for one walk: one for each worker.
    pub(super) fn readers(&self) -> usize {
        self.workers
    }

    /// Begins to fetch for a walk; returns where its orders go.
    pub(super) fn fetch_for(
        &self,
        walk: &Walk<S>,
        port: &Arc<WalkPort<S>>,
        config: &CrawlConfig,
    ) -> Result<UnboundedSender<Vec<Order>>, EngineError> {
        let (orders, order_queue) = unbounded_channel();
        let (client, manner) = (self.client(&config.fetch)?, Arc::new(RobotsManner::new(config)));
        let rendering = match &config.rendering {
            Some(how) => Some(self.rendering(walk, config, how, (&client, &manner))?),
            None => None,
        };
        let fetcher = Fetcher {
            client,
            jobs: self.jobs.clone(),
            walk: port.clone(),
            clock: SystemClock,
            on_the_spot: OnTheSpot::new(port.clone(), walk.processor(self.workers as u64)),
            manner,
            rendering,
            out: self.out.clone(),
            proxies: ProxyRests::default(),
        };
        let joined = self.joining.send((fetcher, order_queue));
        joined.map(|()| orders).map_err(|_| EngineError::Broken("the fetcher"))
    }

    /// What renders the pages of a walk. What pages are made of is asked for by no lease, so all walks keep the pauses
    /// that it causes.
    fn rendering(
        &self,
        walk: &Walk<S>,
        config: &CrawlConfig,
        how: &RenderingConfig,
        (client, manner): (&Arc<Client>, &Arc<RobotsManner>),
    ) -> Result<Arc<Rendering<S>>, EngineError> {
        let renderer = Renderer::new(how.page.clone(), how.secret.clone());
        let renderer = renderer.map_err(|error| EngineError::Config(error.to_string()))?;
        let clock = SystemClock;
        let requests = SubRequests {
            client: client.clone(),
            links: walk.link_reader(),
            steps: config.walk.reading.steps,
            agent: config.walk.reading.agent.clone(),
            pauses: self.roster.share_pauses(clock.now()),
            pace: config.walk.frontier,
            manner: manner.clone(),
            reading: walk.reading(),
            clock,
            rules: Mutex::default(),
        };
        Ok(Arc::new(Rendering {
            renderer,
            requests: Arc::new(requests),
            at_once: Semaphore::new(AT_ONCE),
            cpu: CpuBudget::new(how.cpu, clock.now()),
            clock,
        }))
    }

    /// Has a commit made durable.
    pub(super) fn commit(
        &self,
        port: &Arc<WalkPort<S>>,
        commit: Commit<S>,
    ) -> Result<(), EngineError> {
        // Behind: a committer that waits for its disk does not let others wait.
        let sent = self.commits.send_behind((port.clone(), commit));
        sent.map_err(|Disconnected| EngineError::Broken("the committer"))
    }

    /// The client for this configuration: that of another walk if it has the same, else one that shares with it the
    /// table of names and what else it can.
    fn client(&self, config: &FetchConfig) -> Result<Arc<Client>, EngineError> {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        clients.retain(|client| client.strong_count() > 0);
        let others: Vec<Arc<Client>> = clients.iter().filter_map(Weak::upgrade).collect();
        if let Some(same) = others.iter().find(|other| other.config() == config) {
            return Ok(same.clone());
        }
        let nearest = others.iter().find(|other| other.config().dns == config.dns);
        let client = match nearest.or(others.first()) {
            Some(other) => other.beside(config.clone()),
            None => Client::new(config.clone()),
        };
        let client = Arc::new(client.map_err(|error| EngineError::Config(error.to_string()))?);
        clients.push(Arc::downgrade(&client));
        Ok(client)
    }

    /// One more thread that commits, unless there are as many as walks or as there may be.
    fn add_committer(&self) -> Result<(), EngineError> {
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        if threads.committers < self.roster.count().min(MOST_COMMITTERS) {
            let commits = self.commit_queue.clone();
            threads.all.push(spawn("committer", move || commit_all(&commits))?);
            threads.committers += 1;
        }
        Ok(())
    }
}
