//! The walk: due, fetch, extract, compare, archive, commit, next due.
//!
//! [`Walk`] owns the state, the frontier and the archive, and is driven from outside: asked for
//! the next step, told what came of it, told to begin and end commits. It reads no clock, waits
//! for nothing and starts no thread, so the live driver and the rehearsal run the very same walk.
//!
//! - `asking`: what may be asked of a host?
//! - `planning`: how is the budget spent on known pages?
//! - `signals`: who says that a page changed?
//! - `weighing`: what if pages matter otherwise than was known?
//! - `claiming`: who speaks for pages, and where do new ones wait?
//! - `mirroring`: what does a visit tell of mirrors, and which of their pages wait?
//! - `suspecting`: what changes when a host is taken for spam?
//! - `wishing`: how do the user's wishes change the walk?
//! - `completing`: what does a visit mean, for its page and for its host?
//! - `probing`: how does a host answer for what does not exist?
//! - `retaining`: how does what is dropped leave?
//! - `committing`: how does what was done last?

mod asking;
mod claiming;
mod committing;
mod completing;
mod confirming;
mod joining;
mod mirroring;
mod overriding;
mod periodic_review;
mod planning;
mod probing;
mod retaining;
mod section_recheck;
mod signals;
mod suspecting;
mod weighing;

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, RwLock};
use std::time::Duration;

use evercrawl_archive as archive;
use evercrawl_estimate::signal::SignalSource;
use evercrawl_model::{Discovery, Event, PageKey, PageKind, Refusal, Time};
use evercrawl_state::{Applied, Counters, Load, Place, State, Store, View};
use evercrawl_urls::{Canonical, Scope, ScopeKind, Seed, UrlFilter};

use crate::EngineError;
use crate::config::WalkConfig;
use crate::frontier::{AUDIT_DUE, Frontier, Lease, NextLease};
use crate::importance::MeanHostImportance;
use crate::links::LinkReader;
use crate::mirrors::Mirrors;
use crate::overrides::Overrides;
use crate::planner::Planner;
use crate::process::{Ids, Job, Processed, Processor};
use crate::recent::Recent;
use crate::suspicion::Suspects;
use crate::today::Today;
use crate::waiting::Waiting;
pub use asking::{RobotsAnswer, keeps_waiting, read_robots};
pub use committing::{Commit, Committed};
use confirming::Confirming;
pub use overriding::OverrideChange;
use overriding::Sweep;
use periodic_review::PeriodicReview;
use planning::{Ahead, PIECE};
pub use planning::{planner, planner_at_once};
use section_recheck::SectionRecheck;
pub use signals::{SignalCounts, SignalOutcome};

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

/// What was done in this run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Pages asked for.
    pub pages: u64,
    /// robots.txt files asked for.
    pub robots: u64,
    /// Payload bytes received.
    pub bytes: u64,
    /// Bytes added to the archive.
    pub archived: u64,
    /// Pages visited for the first time.
    pub first: u64,
    /// Changes found.
    pub changes: u64,
    /// Requests for known pages whose time had come.
    pub due: u64,
    /// How late these were in all, in milliseconds.
    pub late_ms: u64,
    /// Requests for known pages ahead of their time: what the budget left.
    pub ahead: u64,
    /// Requests for pages drawn by lot.
    pub audits: u64,
    /// Requests for pages of hosts that are taken for spam.
    pub suspect: u64,
}

/// The walk, with all it owns.
pub struct Walk<S> {
    config: Arc<WalkConfig>,
    state: State<S>,
    frontier: Frontier,
    archive: archive::Writer,
    links: LinkReader,
    recent: Arc<Recent>,
    again: Processor<S>,
    planner: Planner,
    overrides: Arc<Overrides>,
    mirrors: Mirrors,
    suspects: Arc<Suspects>,
    usual: MeanHostImportance,
    sweep: Sweep,
    ahead: Ahead,
    section_recheck: SectionRecheck,
    periodic_review: PeriodicReview,
    confirming: Confirming,
    /// Words that pages changed, while they are out.
    overheard: HashMap<PageKey, (SignalSource, Time)>,
    /// Sets of tags that were looked at, and whether one is of interest.
    tags_of_interest: HashMap<u32, bool>,
    /// True once records were dropped in this run.
    drops: bool,
    tally: Tally,
    today: Today,
    seed: u64,
}

impl<S: Store> Walk<S> {
    /// Begins or goes on with a crawl in `state`, archiving to `archive`.
    pub fn new(
        config: Arc<WalkConfig>,
        state: State<S>,
        archive: archive::Writer,
        seed: u64,
        now: Time,
    ) -> Result<Self, EngineError> {
        Self::resume(config, state, archive, None, seed, now)
    }

    /// The same with what the planner of the last run had [`learned`](Planner::learned).
    pub fn resume(
        config: Arc<WalkConfig>,
        mut state: State<S>,
        archive: archive::Writer,
        learned: Option<&[u8]>,
        seed: u64,
        now: Time,
    ) -> Result<Self, EngineError> {
        let scope = scope(config.scope, state.view())?;
        let overrides = Arc::new(Overrides::read(state.view())?);
        let gate = Arc::new(RwLock::new(UrlFilter::new(scope, overrides.rules(&config.rules))?));
        let links =
            LinkReader::new(&config.reading, gate, state.view().keyer()).without(state.seen());
        let careful = !state.view().was_clean();
        // Opening the archive has finished what earlier runs left.
        let left = state.view().archive()?.into_iter().filter(|file| !file.finished);
        state.finish_archive(&left.map(|file| file.serial).collect::<Vec<_>>())?;
        // From the first request on, a crash must be seen as one.
        state.flush_now()?;
        let frontier = Frontier::new(config.frontier, seed, now, careful);
        let recent = Arc::new(Recent::default());
        let (reading, ids) = (state.reading(), Ids::new(seed));
        let told = (config.reading.clone(), config.schedule);
        let again = Processor::new(told, links.clone(), reading, recent.clone(), ids);
        let (tally, today) = (Tally::default(), Today::read(state.view(), now)?);
        let planner = planning::planner(config.plan, learned, state.view())?;
        let mirrors = Mirrors::read(state.view())?;
        let suspects = Arc::new(Suspects::read(state.view(), &config.plan.spam)?);
        let ahead = Ahead::default();
        let mut walk = Walk {
            config,
            state,
            frontier,
            archive,
            links,
            recent,
            again,
            planner,
            overrides,
            mirrors,
            suspects,
            usual: MeanHostImportance::default(),
            sweep: Sweep::at_start(),
            ahead,
            section_recheck: SectionRecheck::default(),
            periodic_review: PeriodicReview::default(),
            confirming: Confirming::default(),
            overheard: HashMap::new(),
            tags_of_interest: HashMap::new(),
            drops: false,
            tally,
            today,
            seed,
        };
        walk.set_pins()?;
        Ok(walk)
    }

    /// A processor for one more thread.
    pub fn processor(&self, n: u64) -> Processor<S> {
        let ids = Ids::new(self.seed ^ (n + 1) << 48);
        let reading = self.state.reading();
        let told = (self.config.reading.clone(), self.config.schedule);
        Processor::new(told, self.links.clone(), reading, self.recent.clone(), ids)
    }

    /// What content is on its way to disk.
    pub fn recent(&self) -> Arc<Recent> {
        self.recent.clone()
    }

    /// The archive file that records must be made for.
    pub fn file(&self) -> archive::FileId {
        self.archive.file()
    }

    /// The state, for readers.
    pub fn state(&self) -> &View<S> {
        self.state.view()
    }

    /// Totals of the data directory.
    pub fn counters(&self) -> &Counters {
        self.state.view().counters()
    }

    /// What was done in this run.
    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// What was found today.
    pub fn today(&self) -> Today {
        self.today
    }

    /// Which hosts are like others.
    pub fn mirrors(&self) -> &Mirrors {
        &self.mirrors
    }

    /// What waits, and for what.
    pub fn waiting(&self, now: Time) -> Result<Waiting, EngineError> {
        Ok(Waiting::read(self.state.view(), &self.overrides, now)?)
    }

    /// Leases that are out, and hosts that are active.
    pub fn activity(&self) -> (usize, usize) {
        (self.frontier.in_flight(), self.frontier.active_hosts())
    }

    /// Adds a seed; true when it was not known.
    pub fn add_seed(&mut self, seed: &Seed, now: Time) -> Result<bool, EngineError> {
        let Some(found) = self.seed_to_load(seed, now)? else { return Ok(false) };
        let candidates = seed.target.candidates(self.config.reading.steps);
        candidates.first().into_iter().for_each(|url| self.links.widen(url));
        let applied = self.apply(&Event::Discovered(found), now)?;
        Ok(applied.queued.is_some())
    }

    /// What a seed is to the state, before it widens the scope.
    pub fn seed_to_load(
        &mut self,
        seed: &Seed,
        now: Time,
    ) -> Result<Option<Discovery>, EngineError> {
        let tags = self.state.tag_set(&seed.tags.join(" "))?;
        let candidates = seed.target.candidates(self.config.reading.steps);
        let guess = candidates.len() > 1;
        let first = candidates.into_iter().next();
        Ok(first.map(|url| Discovery { guess, ..self.links.given(url, tags, now) }))
    }

    /// Lets many seeds in together; returns how many were not known. They are in the scope and among
    /// what is due from the next time on that the state is opened. `hear` is told how many are done.
    pub fn load(
        &mut self,
        load: Load,
        now: Time,
        hear: &mut dyn FnMut(u64),
    ) -> Result<u64, EngineError> {
        self.commit_now()?;
        Ok(self.state.load(load, now, hear)?)
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
        Ok(self.apply(&Event::Discovered(found), now)?.queued.is_some())
    }

    /// Another budget, in requests a second, from now on.
    pub fn set_budget(&mut self, rate: Option<f64>) {
        self.planner.set_rate(rate);
    }

    /// The planner, for readers.
    pub fn planner(&self) -> &Planner {
        &self.planner
    }

    /// What to do next at `now`. Whoever drives is let do other work after some pages that were put off:
    /// when the budget falls, all that is due may be.
    pub fn next(&mut self, now: Time) -> Result<Step, EngineError> {
        self.replan(now)?;
        for _ in 0..PIECE {
            let mut events = Vec::new();
            let next = self.frontier.lease_next_page(self.state.view(), now, &mut events)?;
            for event in &events {
                self.apply(event, now)?;
            }
            match next {
                NextLease::Page(lease) => {
                    if !self.withheld(&lease, now)?
                        && let Some(lease) = self.worth_it(lease, now)?
                        && let Some(step) = self.admit(lease, now)?
                    {
                        return Ok(step);
                    }
                }
                NextLease::More => break,
                // Hosts laid to rest just now may be the ones to wait for.
                NextLease::Wait(_) | NextLease::Empty if !events.is_empty() => {}
                NextLease::Wait(_) if self.looks_ahead(now) => {}
                NextLease::Wait(until) => return Ok(Step::Wait(self.ahead.no_later(until, now))),
                NextLease::Empty => return Ok(Step::Empty),
            }
        }
        Ok(Step::Wait(now))
    }

    /// Lets a leased page through when robots.txt allows it; `None` when it does not.
    fn admit(&mut self, mut lease: Box<Lease>, now: Time) -> Result<Option<Step>, EngineError> {
        let Some(url) = Canonical::from_trusted(lease.row.url.clone()) else {
            return self.refuse(&lease, Refusal::BadUrl, None, now);
        };
        let (host, https) = (lease.page.host, url.is_https());
        if self.frontier.needs_address(host) {
            return Ok(Some(Step::Locate(lease)));
        }
        if self.frontier.robots_rules(host, https, now).is_none() {
            let Some(rules) = self.stored_rules(url.origin(), now)? else {
                self.frontier.record_robots_request(&lease, now);
                return Ok(Some(Step::Robots { origin: url.origin().to_owned(), lease }));
            };
            self.frontier.set_robots_rules(host, https, rules);
            if self.frontier.is_pausing(host, now) {
                self.frontier.defer_page(&lease, now);
                return Ok(None);
            }
        }
        let rules = self.frontier.robots_rules(host, https, now);
        let allowed = rules.is_none_or(|r| r.robots.verdict(url.path_and_query()).allowed);
        if !allowed {
            let again = rules.map(|rules| rules.expires);
            return self.refuse(&lease, Refusal::Robots, again, now);
        }
        self.frontier.record_request(&lease, now);
        lease.conditions = self.planner.prepare_request(lease.page, &lease.row);
        self.count(&lease, now);
        Ok(Some(Step::Fetch(lease)))
    }

    /// Counts what a request is made for.
    fn count(&mut self, lease: &Lease, now: Time) {
        self.tally.suspect += u64::from(self.suspects.contains(lease.page.host));
        let Place::Due(due) = lease.place else { return };
        if self.planner.is_audit(lease.page) {
            self.tally.audits += 1;
        } else if due > now {
            self.tally.ahead += 1;
        } else {
            self.tally.due += 1;
            // A page that is wanted at once waits from the beginning of time.
            let late = if due > AUDIT_DUE { now.since(due) } else { Duration::ZERO };
            self.tally.late_ms += u64::try_from(late.as_millis()).unwrap_or(u64::MAX);
        }
    }

    fn refuse(
        &mut self,
        lease: &Lease,
        reason: Refusal,
        again: Option<Time>,
        now: Time,
    ) -> Result<Option<Step>, EngineError> {
        let event = refusal(lease.page, reason, again, now);
        self.planner.forget_page(lease.page);
        self.frontier.end_lease(lease.page, now);
        if lease.row.kind == PageKind::Probe {
            self.may_not_probe(lease, now)?;
        } else {
            self.apply(&event, now)?;
        }
        Ok(None)
    }

    /// The address of a page's host was looked up; `None` where that failed, which the visit
    /// itself will tell.
    pub fn located(&mut self, lease: &Lease, ip: Option<IpAddr>, now: Time) {
        self.frontier.set_address(lease.page.host, ip);
        self.frontier.defer_page(lease, now);
    }

    /// The machine's clock was set ahead, to `now`.
    pub fn clock_set(&mut self, now: Time) {
        self.frontier.restart_pauses(now);
    }

    fn apply(&mut self, event: &Event, now: Time) -> Result<Applied, EngineError> {
        let applied = self.state.apply(event)?;
        self.frontier.update_windows(&applied, now);
        Ok(applied)
    }

    /// A number from 0 to 1 that differs between hosts and moments, and repeats in a simulation.
    fn jitter(&self, page: PageKey, now: Time) -> f64 {
        let mixed = (page.host.host ^ now.millis() ^ self.seed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        f64::from(u32::try_from(mixed >> 32).unwrap_or(0)) / f64::from(u32::MAX)
    }

    /// Reads an answer on this thread, as the workers do.
    pub fn process(&mut self, job: Job) -> Result<Processed, EngineError> {
        let file = self.archive.file();
        Ok(self.again.process(job, file)?)
    }
}

/// What becomes of a page that is not to be fetched, for good or for now.
fn refusal(page: PageKey, reason: Refusal, again: Option<Time>, at: Time) -> Event {
    if reason.puts_aside() {
        Event::PutAside { page, reason, at }
    } else {
        Event::Refused { page, reason, at, again }
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
