//! The walk: due, fetch, extract, compare, archive, commit, next due.
//!
//! [`Walk`] owns the state, the frontier and the archive, and is driven from outside: asked for
//! the next step, told what came of it, told to begin and end commits. It reads no clock, waits
//! for nothing and starts no thread, so the live driver and the simulation run the very same walk.

mod planning;
mod signals;
mod wishing;

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, RwLock};
use std::time::Duration;

use evercrawl_archive as archive;
use evercrawl_model::{
    Change, Discovery, Event, HostUpdate, PageKey, RecordAt, Refusal, RobotsCopy, Time,
};
use evercrawl_robots::{Access, RobotsTxt, availability};
use evercrawl_state::{Applied, ArchiveFile, Counters, Overlay, Reading, State, Store, View};
use evercrawl_urls::{Base, Canonical, Gate, Scope, ScopeKind, Seed};

use crate::EngineError;
use crate::config::CrawlConfig;
use crate::frontier::{Frontier, Lease, Next, Rules};
use crate::links::LinkReader;
use crate::planner::Planner;
use crate::process::{Ids, Job, Processed, Processor};
use crate::recent::Recent;
use crate::wishes::Wishes;
use planning::Ahead;
pub use planning::planner;
pub use signals::{Heard, Told};
use wishing::Sweep;
pub use wishing::WishChange;

/// How long a robots.txt is believed.
const ROBOTS_FRESH: Duration = Duration::from_secs(24 * 3600);
/// How long to wait before asking again for one that its host would not give.
const ROBOTS_RETRY: Duration = Duration::from_secs(3600);

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

/// A robots.txt that was asked for.
#[derive(Debug)]
pub struct RobotsAnswer {
    /// Scheme, host and port.
    pub origin: String,
    /// The page that it was asked for.
    pub lease: Box<Lease>,
    /// The final status; `None` where no answer came.
    pub status: Option<u16>,
    /// True when the host's address is one that we do not connect to.
    pub forbidden: bool,
    /// How long the host asked to be left alone.
    pub asked_pause: Option<Duration>,
    /// The body.
    pub body: Vec<u8>,
    /// The host's address.
    pub ip: Option<IpAddr>,
    /// How long it took.
    pub took: Duration,
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
}

/// A commit on its way: to be synced, committed and finished in this order, on any thread.
pub struct Commit<S> {
    checkpoint: archive::Checkpoint,
    changes: Arc<Overlay>,
    reading: Reading<S>,
    batch: u64,
}

impl<S: Store> Commit<S> {
    /// Makes the archive last, then the state; then closes archive files that are full.
    pub fn run(&self) -> Result<Committed, EngineError> {
        self.checkpoint.sync()?;
        self.reading.commit(&self.changes)?;
        Ok(Committed { finished: self.checkpoint.finish()?, batch: self.batch })
    }
}

/// A commit that is done.
#[derive(Debug)]
pub struct Committed {
    finished: Vec<u32>,
    batch: u64,
}

/// The walk, with all it owns.
pub struct Walk<S> {
    config: Arc<CrawlConfig>,
    state: State<S>,
    frontier: Frontier,
    archive: archive::Writer,
    links: LinkReader,
    recent: Arc<Recent>,
    again: Processor<S>,
    planner: Planner,
    wishes: Arc<Wishes>,
    sweep: Sweep,
    ahead: Ahead,
    /// Words that pages changed, while they are out.
    overheard: HashMap<PageKey, Time>,
    tally: Tally,
    seed: u64,
}

impl<S: Store> Walk<S> {
    /// Begins or goes on with a crawl in `state`, archiving to `archive`.
    pub fn new(
        config: Arc<CrawlConfig>,
        state: State<S>,
        archive: archive::Writer,
        seed: u64,
        now: Time,
    ) -> Result<Self, EngineError> {
        Self::resume(config, state, archive, None, seed, now)
    }

    /// The same with what the planner of the last run had [`learned`](Planner::learned).
    pub fn resume(
        config: Arc<CrawlConfig>,
        mut state: State<S>,
        archive: archive::Writer,
        learned: Option<&[u8]>,
        seed: u64,
        now: Time,
    ) -> Result<Self, EngineError> {
        let scope = scope(config.scope, &state)?;
        let wishes = Arc::new(Wishes::read(&state)?);
        let gate = Arc::new(RwLock::new(Gate::new(scope, wishes.rules(&config.rules))?));
        let links = LinkReader::new(&config, gate, state.keyer());
        let careful = !state.was_clean();
        // From the first request on, a crash must be seen as one.
        state.flush_now()?;
        let frontier = Frontier::new(config.frontier, seed, now, careful);
        let recent = Arc::new(Recent::default());
        let (reading, ids) = (state.reading(), Ids::new(seed));
        let again = Processor::new(config.clone(), links.clone(), reading, recent.clone(), ids);
        let tally = Tally::default();
        let planner = planning::planner(config.plan, learned, &state)?;
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
            wishes,
            sweep: Sweep::at_start(),
            ahead,
            overheard: HashMap::new(),
            tally,
            seed,
        };
        walk.set_pins()?;
        Ok(walk)
    }

    /// A processor for one more thread.
    pub fn processor(&self, n: u64) -> Processor<S> {
        let ids = Ids::new(self.seed ^ (n + 1) << 48);
        let reading = self.state.reading();
        Processor::new(self.config.clone(), self.links.clone(), reading, self.recent.clone(), ids)
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
    pub fn state(&self) -> &State<S> {
        &self.state
    }

    /// Totals of the data directory.
    pub fn counters(&self) -> &Counters {
        self.state.counters()
    }

    /// What was done in this run.
    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// Leases that are out, and hosts that are active.
    pub fn activity(&self) -> (usize, usize) {
        (self.frontier.in_flight(), self.frontier.active_hosts())
    }

    /// Adds a seed; true when it was not known.
    pub fn add_seed(&mut self, seed: &Seed, now: Time) -> Result<bool, EngineError> {
        let tags = self.state.tag_set(&seed.tags.join(" "))?;
        let candidates = seed.target.candidates(self.config.steps);
        let Some(url) = candidates.first() else { return Ok(false) };
        let mut found = self.links.seed(url.clone(), tags, now);
        found.guess = candidates.len() > 1;
        let applied = self.apply(&Event::Discovered(found), now)?;
        Ok(applied.queued.is_some())
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

    /// What to do next at `now`.
    pub fn next(&mut self, now: Time) -> Result<Step, EngineError> {
        self.replan(now)?;
        loop {
            let mut events = Vec::new();
            let next = self.frontier.next(&self.state, now, &mut events)?;
            for event in &events {
                self.apply(event, now)?;
            }
            match next {
                Next::Page(lease) => {
                    if !self.withheld(&lease, now)?
                        && let Some(lease) = self.worth_it(lease, now)?
                        && let Some(step) = self.admit(lease, now)?
                    {
                        return Ok(step);
                    }
                }
                // Hosts laid to rest just now may be the ones to wait for.
                Next::Wait(_) | Next::Empty if !events.is_empty() => {}
                Next::Wait(_) if self.looks_ahead(now) => {}
                Next::Wait(until) => return Ok(Step::Wait(self.ahead.no_later(until, now))),
                Next::Empty => return Ok(Step::Empty),
            }
        }
    }

    /// Lets a leased page through when robots.txt allows it; `None` when it does not.
    fn admit(&mut self, lease: Box<Lease>, now: Time) -> Result<Option<Step>, EngineError> {
        let Some(url) = Canonical::from_trusted(lease.row.url.clone()) else {
            return self.refuse(&lease, Refusal::BadUrl, None, now);
        };
        let (host, https) = (lease.page.host, url.is_https());
        if self.frontier.needs_address(host) {
            return Ok(Some(Step::Locate(lease)));
        }
        if self.frontier.rules(host, https, now).is_none() {
            let Some(rules) = self.stored_rules(url.origin(), now)? else {
                self.frontier.asks_rules(&lease, now);
                return Ok(Some(Step::Robots { origin: url.origin().to_owned(), lease }));
            };
            self.frontier.set_rules(host, https, rules);
            if self.frontier.must_wait(host, now) {
                self.frontier.give_back(&lease, now);
                return Ok(None);
            }
        }
        let rules = self.frontier.rules(host, https, now);
        let allowed = rules.is_none_or(|r| r.robots.verdict(url.path_and_query()).allowed);
        if !allowed {
            let again = rules.map(|rules| rules.expires);
            return self.refuse(&lease, Refusal::Robots, again, now);
        }
        self.frontier.departs(&lease, now);
        self.planner.asked();
        Ok(Some(Step::Fetch(lease)))
    }

    fn refuse(
        &mut self,
        lease: &Lease,
        reason: Refusal,
        again: Option<Time>,
        now: Time,
    ) -> Result<Option<Step>, EngineError> {
        let event = Event::Refused { page: lease.page, reason, again };
        self.planner.forget(lease.page);
        self.frontier.finished(lease.page, now);
        self.apply(&event, now)?;
        Ok(None)
    }

    /// The rules of an origin as last fetched, where they can still be believed.
    fn stored_rules(&self, origin: &str, now: Time) -> Result<Option<Rules>, EngineError> {
        let copy = self.state.robots(origin)?.filter(|copy| copy.expires > now);
        Ok(copy.map(|copy| Rules {
            robots: Arc::new(read_robots(&copy, &self.config.agent)),
            expires: copy.expires,
        }))
    }

    /// The address of a page's host was looked up; `None` where that failed, which the visit
    /// itself will tell.
    pub fn located(&mut self, lease: &Lease, ip: Option<IpAddr>, now: Time) {
        self.frontier.located(lease.page.host, ip);
        self.frontier.give_back(lease, now);
    }

    /// A robots.txt came, or did not.
    pub fn robots(&mut self, answer: RobotsAnswer, now: Time) -> Result<(), EngineError> {
        let (page, access) = (answer.lease.page, availability(answer.status));
        self.frontier.rules_answered(page.host);
        if answer.forbidden {
            return self.refuse(&answer.lease, Refusal::PrivateAddress, None, now).map(drop);
        }
        self.tally.robots += 1;
        let mut update = HostUpdate { ip: answer.ip, ..HostUpdate::default() };
        if answer.status.is_none() && answer.lease.row.guess && answer.lease.row.seed {
            self.frontier.answered(page.host, answer.ip, answer.took, now);
            return self.try_plain(&answer.lease, now);
        }
        let mut expires = now.after(ROBOTS_FRESH);
        if access == Access::DisallowAll {
            // Nothing is allowed until it can be had: the whole host waits, its pages stay.
            let asked = answer.asked_pause.or(answer.status.map(|_| ROBOTS_RETRY));
            expires = self.leave_alone(&answer.lease, asked, &mut update, now);
        }
        let body = if access == Access::Parse { answer.body } else { Vec::new() };
        let copy = RobotsCopy { at: now, expires, status: answer.status.unwrap_or(0), body };
        if access != Access::DisallowAll {
            self.recovered(&answer.lease, &mut update);
            let robots = Arc::new(read_robots(&copy, &self.config.agent));
            self.discover_sitemaps(&answer.origin, &robots, &answer.lease, now)?;
            let https = answer.origin.starts_with("https:");
            self.frontier.set_rules(page.host, https, Rules { robots, expires });
        }
        // By the rules just learned: a Crawl-delay holds from the first page on.
        let next_allowed = self.frontier.answered(page.host, answer.ip, answer.took, now);
        update.next_allowed = Some(next_allowed);
        self.apply(&Event::RobotsLearned { origin: answer.origin, copy }, now)?;
        self.apply(&Event::HostLearned { host: page.host, update }, now)?;
        self.frontier.give_back(&answer.lease, now);
        self.rest_if_blocked(page, now)
    }

    /// A host failed or asked for a pause: it gets one, and the moment it ends is returned.
    fn leave_alone(
        &mut self,
        lease: &Lease,
        asked: Option<Duration>,
        update: &mut HostUpdate,
        now: Time,
    ) -> Time {
        let failures = lease.host_failures.saturating_add(1);
        let jitter = self.jitter(lease.page, now);
        let until = now.after(self.config.schedule.back_off(asked, failures, jitter));
        update.failures = Some(failures);
        update.blocked_until = Some(until);
        self.frontier.block(lease.page.host, until, failures);
        until
    }

    /// A host answered as it should: its failures are forgiven.
    fn recovered(&mut self, lease: &Lease, update: &mut HostUpdate) {
        update.failures = (lease.host_failures > 0).then_some(0);
        self.frontier.recovered(lease.page.host);
    }

    /// A bare domain does not answer by `https`: it is tried by `http`.
    fn try_plain(&mut self, lease: &Lease, now: Time) -> Result<(), EngineError> {
        if let Some(twin) = self.links.plain_twin(lease, now) {
            self.apply(&Event::Discovered(twin), now)?;
        }
        let again = Some(self.config.schedule.rarely(now));
        self.refuse(lease, Refusal::HostDead, again, now).map(drop)
    }

    /// Sitemaps that robots.txt names; or on a seed's host the usual place, where it names none.
    fn discover_sitemaps(
        &mut self,
        origin: &str,
        robots: &RobotsTxt,
        lease: &Lease,
        now: Time,
    ) -> Result<(), EngineError> {
        if !self.config.take.sitemaps {
            return Ok(());
        }
        let Ok(base) = Base::new(&format!("{origin}/"), self.config.steps) else { return Ok(()) };
        let mut named: Vec<String> = robots.sitemaps().map(str::to_owned).collect();
        let seed_host = self.state.host(lease.page.host)?.is_some_and(|host| host.seed);
        let guess = named.is_empty() && seed_host;
        if guess {
            named.push("/sitemap.xml".to_owned());
        }
        for href in named {
            let Ok(url) = base.join(&href) else { continue };
            match self.links.list_verdict(&url, now) {
                Ok(()) => {
                    self.apply(&Event::Discovered(self.links.list(url, lease, guess, now)), now)?
                }
                Err(reason) => self.apply(&Event::LinksRefused { reason, count: 1 }, now)?,
            };
        }
        Ok(())
    }

    /// A page was visited: archive it, apply what it means, let its host go on.
    pub fn complete(&mut self, mut processed: Processed, now: Time) -> Result<(), EngineError> {
        if processed.is_empty_guess() {
            return self.forget(&processed, now);
        }
        if let Some(records) = processed.records.take() {
            let at = self.append(records, &processed, now)?;
            processed.visited.visit.record = at;
        }
        let page = processed.job.lease.page;
        self.settle_host(&mut processed, now);
        self.tally.pages += 1;
        self.tally.bytes += processed.visited.visit.bytes;
        let change = processed.visited.visit.change;
        self.tally.first += u64::from(change == Change::New);
        self.tally.changes += u64::from(matches!(change, Change::Changed | Change::Near));
        for (reason, count) in processed.refused.iter() {
            self.apply(&Event::LinksRefused { reason, count }, now)?;
        }
        let read = processed.job.lease.row.past.as_ref().and_then(|past| past.last_look);
        for found in processed.found {
            self.discover(found, read, now)?;
        }
        self.frontier.finished(page, now);
        let Job { lease, ended, .. } = &processed.job;
        self.planner.visited(&lease.row, &self.config.schedule, &mut processed.visited, *ended);
        let visited = &mut processed.visited;
        visited.next = self.wishes.no_later(page, *ended, visited.next);
        self.apply(&Event::Visited(processed.visited), now)?;
        if let Some((reason, again)) = processed.verdict {
            self.planner.forget(page);
            self.apply(&Event::Refused { page, reason, again }, now)?;
        }
        self.recall(page, now)?;
        self.rest_if_blocked(page, now)
    }

    /// What a visit means for its host: when it may be asked again.
    fn settle_host(&mut self, processed: &mut Processed, now: Time) {
        let Job { lease, fetched, ended, .. } = &processed.job;
        let took = fetched.times.total;
        let next = self.frontier.answered(lease.page.host, fetched.ip, took, *ended);
        let host = &mut processed.visited.host;
        host.next_allowed = Some(next);
        host.answer_time = Some(took);
        if processed.host_trouble {
            self.leave_alone(lease, processed.asked_pause, host, now);
        } else {
            self.recovered(lease, host);
        }
    }

    /// A list was looked for where lists usually are, and there is none.
    fn forget(&mut self, processed: &Processed, now: Time) -> Result<(), EngineError> {
        let (page, fetched) = (processed.job.lease.page, &processed.job.fetched);
        self.frontier.answered(page.host, fetched.ip, fetched.times.total, processed.job.ended);
        self.frontier.finished(page, now);
        self.apply(&Event::Forgotten { page }, now)?;
        Ok(())
    }

    fn append(
        &mut self,
        mut records: archive::Encoded,
        processed: &Processed,
        now: Time,
    ) -> Result<Option<RecordAt>, EngineError> {
        loop {
            match self.archive.append(&records, now) {
                Ok(at) => {
                    self.tally.archived += records.size() as u64;
                    return Ok(Some(at));
                }
                Err(archive::WriteError::Stale) => {
                    match self.again.encode(processed, self.archive.file()) {
                        Some(fresh) => records = fresh,
                        None => return Ok(None),
                    }
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn rest_if_blocked(&mut self, page: PageKey, now: Time) -> Result<(), EngineError> {
        let mut events = Vec::new();
        self.frontier.rest_if_blocked(&self.state, page.host, now, &mut events)?;
        for event in &events {
            self.apply(event, now)?;
        }
        Ok(())
    }

    fn apply(&mut self, event: &Event, now: Time) -> Result<Applied, EngineError> {
        let applied = self.state.apply(event)?;
        self.frontier.noticed(&applied, now);
        Ok(applied)
    }

    /// A number from 0 to 1 that differs between hosts and moments, and repeats in a simulation.
    fn jitter(&self, page: PageKey, now: Time) -> f64 {
        let mixed = (page.host.host ^ now.millis() ^ self.seed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        f64::from(u32::try_from(mixed >> 32).unwrap_or(0)) / f64::from(u32::MAX)
    }

    /// Keys that changed since the last commit began.
    pub fn pending(&self) -> usize {
        self.state.pending()
    }

    /// Begins a commit of all that was applied so far; `None` when there is nothing to commit or
    /// the last commit is not done.
    pub fn begin_commit(&mut self) -> Result<Option<Commit<S>>, EngineError> {
        if !self.state.can_freeze() {
            return Ok(None);
        }
        let checkpoint = self.checkpoint()?;
        let Some(changes) = self.state.freeze() else { return Ok(None) };
        let batch = self.recent.begin_batch();
        Ok(Some(Commit { checkpoint, changes, reading: self.state.reading(), batch }))
    }

    /// How far the archive has come, told to the state as part of the next commit.
    fn checkpoint(&mut self) -> Result<archive::Checkpoint, EngineError> {
        let checkpoint = self.archive.checkpoint()?;
        let files: Vec<ArchiveFile> = checkpoint.files.iter().map(archive_file).collect();
        self.state.set_archive(&files);
        Ok(checkpoint)
    }

    /// A commit is done.
    pub fn end_commit(&mut self, done: &Committed) -> Result<(), EngineError> {
        self.archive.finished(&done.finished);
        self.recent.committed(done.batch);
        self.state.flushed()?;
        Ok(self.state.finish_archive(&done.finished)?)
    }

    /// Commits what was applied so far, here and now.
    pub fn commit_now(&mut self) -> Result<(), EngineError> {
        match self.begin_commit()? {
            Some(commit) => self.end_commit(&commit.run()?),
            None => Ok(()),
        }
    }

    /// Sorts what was added in bulk into the rest of the state, so that the next crawl need not.
    pub fn merge(&mut self) -> Result<(), EngineError> {
        self.commit_now()?;
        Ok(self.state.merge()?)
    }

    /// Commits everything, closes the archive and marks the end of a clean run.
    pub fn close(mut self) -> Result<Counters, EngineError> {
        let checkpoint = self.checkpoint()?;
        checkpoint.sync()?;
        self.state.flush_now()?;
        self.archive.close(&checkpoint)?;
        let serials: Vec<u32> = checkpoint.files.iter().map(|file| file.serial).collect();
        self.state.finish_archive(&serials)?;
        self.state.close()?;
        Ok(self.state.counters().clone())
    }

    /// Reads an answer on this thread, as the workers do.
    pub fn process(&mut self, job: Job) -> Result<Processed, EngineError> {
        let file = self.archive.file();
        Ok(self.again.process(job, file)?)
    }
}

/// What a crawl from the seeds in `state` is about.
pub fn scope<S: Store>(kind: ScopeKind, state: &View<S>) -> Result<Scope, EngineError> {
    let mut scope = Scope::new(kind);
    if kind == ScopeKind::Any {
        return Ok(scope);
    }
    for url in state.seeds() {
        if let Some(url) = Canonical::from_trusted(url?) {
            scope.add(&url);
        }
    }
    Ok(scope)
}

/// The rules in a stored robots.txt.
pub fn read_robots(copy: &RobotsCopy, agent: &str) -> RobotsTxt {
    RobotsTxt::of_answer((copy.status > 0).then_some(copy.status), &copy.body, agent)
}

fn archive_file(file: &archive::FilePosition) -> ArchiveFile {
    ArchiveFile {
        serial: file.serial,
        name: file.name.clone(),
        warc_len: file.warc_len,
        cdxj_len: file.cdxj_len,
        open: file.open,
        finished: false,
    }
}
