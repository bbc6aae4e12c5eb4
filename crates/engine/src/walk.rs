//! The walk: due, fetch, extract, compare, archive, commit, next due.
//!
//! [`Walk`] owns the state, the frontier and the archive, and is driven from outside: asked for
//! the next step, given what came of it, and asked to begin and end commits. It reads no clock, waits
//! for nothing and starts no thread, so the live driver and the rehearsal run the very same walk.
//!
//! - `leasing`: which page is fetched next?
//! - `robots_txt`: what does a robots.txt that was asked for mean?
//! - `completion`: what does a visit mean? The list of its `steps`.
//! - `consequences`: what follows from a visit, for its host and for others?
//! - `delivery`: what does a host do with the notes that it gets?
//! - `recorder`: how does an answer get into the archive?
//! - `revisits`: when are known pages visited again?
//! - `section_recheck`, `periodic_review`, `confirming`: which of them come sooner?
//! - `signals`: who says that a page changed?
//! - `insight`: what is known beside the pages' rows?
//! - `learning`: what if pages matter otherwise, or a host is spam?
//! - `overriding`, `sweep`: how do the user's overrides change the walk?
//! - `importing`: how does what others saw become visits?
//! - `retaining`: how does what is dropped leave?
//! - `committing`: how is what was done made durable?

mod committing;
mod completion;
mod confirming;
mod consequences;
mod counts;
mod delivery;
mod importing;
mod insight;
mod learning;
mod leasing;
mod ledger;
mod overriding;
mod periodic_review;
mod recorder;
mod retaining;
mod revisits;
mod robots_txt;
mod run_hosts;
mod section_recheck;
mod signals;
mod steps;
mod sweep;

use std::net::IpAddr;
use std::sync::{Arc, RwLock};
use std::time::Duration;

use evercrawl_archive as archive;
use evercrawl_metrics::Meters;
use evercrawl_model::{Discovery, Event, HostUpdate, Time};
use evercrawl_policy::allocate::shares::BudgetDemand;
use evercrawl_state::{Counters, Load, State, Store, View};
use evercrawl_urls::{Canonical, Scope, ScopeKind, Seed, UrlFilter};

use crate::EngineError;
use crate::budget_office::BudgetReport;
use crate::config::WalkConfig;
use crate::frontier::{Frontier, Lease, SharedPauses};
use crate::links::LinkReader;
use crate::mirrors::Mirrors;
use crate::planner::Planner;
use crate::process::{Ids, Job, Processed, Processor};
use crate::recent::Recent;
pub use crate::robots::{keeps_waiting, read_robots, robots_failure};
use crate::today::Today;
use crate::waiting::{Waiting, only_hosts_wait_that};
pub use committing::{Commit, Committed};
use counts::Counts;
pub use counts::Tally;
pub use importing::{Imported, PastVisit, Seen, WhatCame};
use insight::Insight;
use ledger::Ledger;
pub use overriding::OverrideChange;
use recorder::Recorder;
use revisits::Revisits;
pub use revisits::{planner, planner_at_once};
pub use robots_txt::RobotsAnswer;
pub use run_hosts::{HostRun, RunHosts};
use signals::WaitingSignals;
pub use signals::{SignalCounts, SignalOutcome};
use sweep::Sweep;

/// A walk asks for no more of a shared budget than visits all its new pages in this time.
const NEW_PAGES_WITHIN: Duration = Duration::from_secs(60);

/// Requests without an answer after which a run that visits new pages alone gives a host up.
const SILENT_AFTER: u32 = 2;

/// What the driver is to do next.
#[derive(Debug)]
pub enum Step {
    /// Ask for this page.
    Fetch(Box<Lease>),
    /// Find out the address of the page's host first, so that it can be paced.
    Locate(Box<Lease>),
    /// Ask for the robots.txt of this origin first.
    Robots {
        /// Scheme, host and port.
        origin: String,
        /// The page that it is asked for.
        lease: Box<Lease>,
    },
    /// Nothing may be asked before this moment.
    Wait(Time),
    /// Nothing is left to do, now or later.
    Empty,
}

/// The walk, with all it owns.
pub struct Walk<S> {
    config: Arc<WalkConfig>,
    /// The state, and the frontier that follows it.
    ledger: Ledger<S>,
    /// The archive.
    recorder: Recorder<S>,
    links: LinkReader,
    /// The planner, and which known pages are to be reviewed.
    revisits: Revisits,
    /// What is known beside the pages' rows.
    insight: Insight,
    /// Signals for pages that are being fetched.
    waiting_signals: WaitingSignals,
    /// Which pages are being put aside and back.
    sweep: Sweep,
    counts: Counts,
    seed: u64,
    /// The number of the first row of the log that this run imports.
    imports_from: Option<u64>,
}

impl<S: Store> Walk<S> {
    /// Begins or resumes a crawl in `state`, archiving to `archive`.
    pub fn new(
        config: Arc<WalkConfig>,
        state: State<S>,
        archive: archive::Writer,
        seed: u64,
        now: Time,
    ) -> Result<Self, EngineError> {
        Self::resume(config, state, archive, None, seed, now)
    }

    /// The same with what the planner of the last run had [`encode_learned`](Planner::encode_learned).
    pub fn resume(
        config: Arc<WalkConfig>,
        mut state: State<S>,
        archive: archive::Writer,
        learned: Option<&[u8]>,
        seed: u64,
        now: Time,
    ) -> Result<Self, EngineError> {
        let spam = &config.plan.spam;
        let (holds_mirrors, tags) = (config.hold_mirrors, &config.topic_tags);
        let insight = Insight::read(state.view(), spam, holds_mirrors, tags, &config.noise_off)?;
        let scope = scope(config.scope, state.view())?;
        let rules = insight.overrides.rules(&config.rules);
        let gate = Arc::new(RwLock::new(UrlFilter::new(scope, rules)?));
        let links = LinkReader::new(&config.reading, gate, state.view().keyer());
        let links = links.without(state.seen());
        let careful = !state.view().was_clean();
        // Opening the archive has finished what earlier runs left.
        let left = state.view().archive()?.into_iter().filter(|file| !file.finished);
        state.finish_archive(&left.map(|file| file.serial).collect::<Vec<_>>())?;
        // From the first request on, a crash must be seen as one.
        state.flush_now()?;
        let today = Today::read(state.view(), now)?;
        let (hosts, meters) = (RunHosts::default(), Arc::default());
        let counts = Counts { tally: Tally::default(), today, hosts, meters };
        let planner = revisits::planner(config.plan, learned, state.view())?;
        let frontier = Frontier::new(config.frontier, seed, now, careful);
        let recorder = Recorder::new(&config, archive, links.clone(), state.reading(), seed);
        let mut ledger = Ledger::new(state, frontier);
        overriding::set_pins(&mut ledger, &insight.overrides)?;
        Ok(Walk {
            config,
            ledger,
            recorder,
            links,
            revisits: Revisits::new(planner),
            insight,
            waiting_signals: WaitingSignals::default(),
            sweep: Sweep::at_start(),
            counts,
            seed,
            imports_from: None,
        })
    }

    /// A processor for one more thread.
    pub fn processor(&self, n: u64) -> Processor<S> {
        let ids = Ids::new(self.seed ^ (n + 1) << 48);
        let reading = self.ledger.state.reading();
        let config = (self.config.reading.clone(), self.config.schedule);
        Processor::new(config, self.links.clone(), reading, self.recent(), ids)
    }

    /// What content is on its way to disk.
    pub fn recent(&self) -> Arc<Recent> {
        self.recorder.recent.clone()
    }

    /// The archive file that records must be made for.
    pub fn file(&self) -> archive::FileId {
        self.recorder.writer.file()
    }

    /// The state, for readers.
    pub fn state(&self) -> &View<S> {
        self.ledger.view()
    }

    /// Totals of the data directory.
    pub fn counters(&self) -> &Counters {
        self.ledger.view().counters()
    }

    /// What was done in this run.
    pub fn tally(&self) -> Tally {
        Tally { queued: self.ledger.queued, ..self.counts.tally }
    }

    /// What is counted while it happens, for any thread.
    pub fn meters(&self) -> Arc<Meters> {
        self.counts.meters.clone()
    }

    /// What was asked of each host in this run.
    pub fn run_hosts(&self) -> &RunHosts {
        &self.counts.hosts
    }

    /// Whether all that is left are new pages of hosts that gave no answer in this run, however often they
    /// were asked. False where there are more hosts than a quick look reads.
    pub fn waits_for_silent_hosts_alone(&self, now: Time) -> Result<bool, EngineError> {
        let silent = |host| self.counts.hosts.is_silent(host, SILENT_AFTER);
        Ok(only_hosts_wait_that(self.ledger.view(), now, silent)?)
    }

    /// What was found today.
    pub fn today(&self) -> Today {
        self.counts.today
    }

    /// Which hosts are like others.
    pub fn mirrors(&self) -> &Mirrors {
        &self.insight.mirrors
    }

    /// What waits, and for what.
    pub fn waiting(&self, now: Time) -> Result<Waiting, EngineError> {
        Ok(Waiting::read(self.ledger.view(), &self.insight.overrides, now)?)
    }

    /// Leases that are out, and hosts that are active.
    pub fn activity(&self) -> (usize, usize) {
        (self.ledger.frontier.in_flight(), self.ledger.frontier.active_hosts())
    }

    /// Adds a seed; true when it was not known.
    pub fn add_seed(&mut self, seed: &Seed, now: Time) -> Result<bool, EngineError> {
        let Some(found) = self.seed_to_load(seed, now)? else { return Ok(false) };
        let candidates = seed.target.candidates(self.config.reading.steps);
        candidates.first().into_iter().for_each(|url| self.links.widen(url));
        let applied = self.ledger.apply(&Event::Discovered(found), now)?;
        Ok(applied.queued.is_some())
    }

    /// What a seed is to the state, before it widens the scope.
    pub fn seed_to_load(
        &mut self,
        seed: &Seed,
        now: Time,
    ) -> Result<Option<Discovery>, EngineError> {
        let tags = self.ledger.state.tag_set(&seed.tags.join(" "))?;
        let candidates = seed.target.candidates(self.config.reading.steps);
        let guess = candidates.len() > 1;
        let first = candidates.into_iter().next();
        Ok(first.map(|url| Discovery { guess, ..self.links.given(url, tags, now) }))
    }

    /// Lets many seeds in together; returns how many were not known. They are in the scope and among
    /// what is due from the next time on that the state is opened. `report` is told how many are done.
    pub fn load(
        &mut self,
        load: Load,
        now: Time,
        report: &mut dyn FnMut(u64),
    ) -> Result<u64, EngineError> {
        self.commit_now()?;
        Ok(self.ledger.state.load(load, now, report)?)
    }

    /// Adds a page that is known from elsewhere, announced by the page numbered `hub`; true
    /// when it was not known.
    pub fn add_page(
        &mut self,
        url: Canonical,
        hub: Option<u32>,
        now: Time,
    ) -> Result<bool, EngineError> {
        let found = Discovery { hub, ..self.links.seed(url, 0, now) };
        Ok(self.ledger.apply(&Event::Discovered(found), now)?.queued.is_some())
    }

    /// Another budget, in requests a second, from now on.
    pub fn set_budget(&mut self, rate: Option<f64>) {
        self.revisits.planner.set_rate(rate);
    }

    /// What this walk could do with requests beside other walks, if the known pages of all were visited once in `turn`.
    pub(crate) fn budget_report(&self, turn: Duration, now: Time) -> BudgetReport {
        let [new, held, ..] = self.counters().by_status;
        let planner = self.planner();
        let demand = BudgetDemand {
            new: new as f64 / NEW_PAGES_WITHIN.as_secs_f64(),
            discovery: self.config.frontier.discover,
            ..planner.demand(turn, now)
        };
        BudgetReport { demand, held: held as f64, currency: planner.currency() }
    }

    /// The planner, for readers.
    pub fn planner(&self) -> &Planner {
        &self.revisits.planner
    }

    /// The address of a page's host was looked up; `None` where that failed, which the visit
    /// itself will show.
    pub fn located(&mut self, lease: &Lease, ip: Option<IpAddr>, now: Time) {
        self.ledger.frontier.set_address(lease.page.host, ip);
        self.ledger.frontier.defer_page(lease, now);
    }

    /// The proxy of a leased page's host rests until then, and the host with it. Nothing is held against the host or
    /// the page, which were not asked.
    pub fn proxy_rests(
        &mut self,
        lease: &Lease,
        until: Time,
        now: Time,
    ) -> Result<(), EngineError> {
        let host = lease.page.host;
        self.ledger.frontier.end_robots_request(host);
        self.ledger.frontier.block(host, until, lease.host_failures);
        let update = HostUpdate { blocked_until: Some(until), ..HostUpdate::default() };
        self.ledger.apply(&Event::HostLearned { host, update }, now)?;
        self.ledger.frontier.defer_page(lease, now);
        self.ledger.rest_if_paused(host, now)
    }

    /// The machine's clock was set ahead, to `now`.
    pub fn clock_set(&mut self, now: Time) {
        self.ledger.frontier.restart_pauses(now);
    }

    /// Other walks run in this process: from `now` on, no host or address gets less than its pause from all together.
    pub fn share_pauses(&mut self, shared: SharedPauses, now: Time) {
        self.ledger.frontier.share_pauses(shared, now);
    }

    /// This walk asks nothing more: what it has out does not hold up other walks.
    pub fn leave_shared_pauses(&mut self, now: Time) {
        self.ledger.frontier.leave_shared_pauses(now);
    }

    /// Reads an answer on this thread, as the workers do.
    pub fn process(&mut self, job: Job) -> Result<Processed, EngineError> {
        let file = self.recorder.writer.file();
        Ok(self.recorder.processor.process(job, file)?)
    }
}

/// What a crawl from the seeds in `state` is about.
pub fn scope<S: Store>(kind: ScopeKind, state: &View<S>) -> Result<Scope, EngineError> {
    let mut scope = Scope::new(kind);
    let mut add = |url: String| Canonical::from_trusted(url).iter().for_each(|url| scope.add(url));
    match kind {
        ScopeKind::Any => {}
        ScopeKind::Page | ScopeKind::Prefix => {
            state.seeds().try_for_each(|url| url.map(&mut add))?;
        }
        // Their hosts are far fewer than the seeds can be.
        ScopeKind::Host | ScopeKind::Domain => {
            state.listed_seeds().try_for_each(|url| url.map(&mut add))?;
            for host in state.seed_hosts() {
                add(format!("http://{}/", host?.1.authority));
            }
        }
    }
    Ok(scope)
}
