//! Who keeps a walk going? One thread for each walk: it takes reports, begins commits, orders what may be
//! fetched, and alone knows when all is done.

use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use evercrawl_model::{Outcome, Time};
use evercrawl_policy::allocate::shares::BudgetDemand;
use evercrawl_state::Store;
use tokio::sync::mpsc::UnboundedSender;

use super::allowance::Allowance;
use super::background_job::BackgroundJob;
use super::handover::{Receiver, RecvError, Sender, queue};
use super::inbox::{Command, Inbox};
use super::judge::judging;
use super::latency::Latency;
use super::proxy_rests::ProxyRest;
use super::ranker::{Weighing, ranking};
use super::retainer::{Dropping, Retainer};
use super::roster::{Membership, Usage};
use super::services::Services;
use super::walk_port::{Never, SharedCookies, WalkPort, save_cookies};
use super::{Ended, Order, Progress, Report, Stopper, SystemClock};
use crate::EngineError;
use crate::budget_office::BudgetReport;
use crate::config::CrawlConfig;
use crate::cookie_file::CookieFile;
use crate::importance::{RankBasis, RankSnapshots};
use crate::walk::{SignalCounts, Step, Walk};

/// Visits after which a commit begins, whatever the time. A crash costs at most what was visited
/// since the last commit, so this bounds how many pages are ever asked for twice.
const COMMIT_VISITS: u64 = 128;
/// Changed keys after which a commit begins: pages full of links must not pile up in memory.
const COMMIT_KEYS: usize = 50_000;
/// How long changes wait for a commit.
const COMMIT_EVERY: Duration = Duration::from_millis(250);
/// How long the walk sleeps at most before it looks at stop signals and the clock again.
const TICK: Duration = Duration::from_millis(200);
/// Orders that go out at once at most: the fetcher need not wait for more.
const MOST_ORDERS: usize = 32;
/// How long a run that reached a limit waits for what is in flight.
const GRACE: Duration = Duration::from_secs(5);
/// How long a run that ends when all is visited waits for hosts that asked for a pause.
const PATIENCE: Duration = Duration::from_secs(120);
/// How soon a walk looks again whether all others keep the pauses that they share.
const MOMENT: Duration = Duration::from_millis(10);

/// Hosts that a progress line names at most.
const NAMED: usize = 3;

/// Somebody who waits for a commit, and the counts they get then.
type Waiting = (Sender<Result<SignalCounts, EngineError>>, SignalCounts);

pub(super) struct Driver<'a, S> {
    walk: Walk<S>,
    config: &'a CrawlConfig,
    clock: SystemClock,
    /// How often the clock had been set ahead when last looked at.
    set_ahead: u64,
    began: Time,
    services: &'a Services<S>,
    membership: Membership,
    port: Arc<WalkPort<S>>,
    /// What is committed with the cookies.
    cookies: SharedCookies,
    /// Ends when nobody can reach this walk any more.
    gone: Receiver<Never>,
    orders: Option<UnboundedSender<Vec<Order>>>,
    reports: Receiver<Report>,
    inbox: Inbox,
    /// Who waits for the next commit, and who for the one that is on its way.
    waiting: [Vec<Waiting>; 2],
    allowance: Allowance,
    committed_at: Time,
    /// Pages that were visited when the last commit began.
    committed_pages: u64,
    committing: bool,
    /// Nothing may be asked before this moment, and nothing is out.
    waiting_until: Option<Time>,
    next: Latency,
    retainer: Retainer,
    ranker: BackgroundJob,
    ranked_by: Option<RankBasis>,
    proxy_trouble: Option<String>,
    judge: BackgroundJob,
}

impl<'a, S: Store + 'static> Driver<'a, S> {
    pub(super) fn start(
        walk: Walk<S>,
        config: &'a CrawlConfig,
        inbox: &Inbox,
        membership: Membership,
        services: &'a Services<S>,
    ) -> Result<Self, EngineError> {
        let (sink, reports) = queue();
        let cookies = CookieFile::of(&config.fetch.access, config.cookie_file.as_deref());
        let cookies = Arc::new(Mutex::new(cookies));
        let readers = services.readers();
        let (port, gone) = WalkPort::open(&walk, readers, sink.clone(), cookies.clone());
        let orders = services.fetch_for(&walk, &port, config)?;
        let clock = SystemClock;
        let now = clock.now();
        let spam_every = config.walk.plan.spam.survey_interval();
        Ok(Driver {
            walk,
            config,
            clock,
            set_ahead: clock.set_ahead(),
            began: now,
            services,
            membership,
            port,
            cookies,
            gone,
            orders: Some(orders),
            reports,
            inbox: inbox.clone(),
            waiting: Default::default(),
            allowance: Allowance::new(config.limits.budget, now),
            committed_at: now,
            committed_pages: 0,
            committing: false,
            waiting_until: None,
            next: Latency::default(),
            ranker: BackgroundJob::new("ranking", config.ranking.every, sink.clone(), now),
            ranked_by: None,
            proxy_trouble: None,
            judge: BackgroundJob::new("judging", spam_every, sink.clone(), now),
            retainer: Retainer::new(&config.walk.retention, sink, now),
        })
    }

    pub(super) fn drive(
        &mut self,
        stopper: &Stopper,
        free_disk: &dyn Fn() -> Option<u64>,
        show: &mut impl FnMut(&Progress, &Walk<S>),
    ) -> Result<Ended, EngineError> {
        let mut shown = Time::EPOCH;
        let mut ending: Option<(Ended, Time)> = None;
        loop {
            let now = self.clock.now();
            if self.clock.set_ahead() > self.set_ahead {
                self.set_ahead = self.clock.set_ahead();
                self.walk.clock_set(now);
            }
            self.take_reports()?;
            let now = self.clock.now();
            self.share_pauses(now);
            if self.membership.has_budget() || self.allowance.has_grant() {
                self.share_budget(now);
            }
            self.take_requests(now)?;
            self.retainer.start_if_due(&self.walk, now)?;
            let kept = || self.config.ranking.kept_in.clone().map(RankSnapshots::new);
            self.ranker.start_if_due(&self.walk, now, |walk| ranking(walk, kept(), now))?;
            self.judge.start_if_due(&self.walk, now, |walk| judging(walk, now))?;
            let sweeps = self.walk.pending() < COMMIT_KEYS && self.walk.sweep(now)?;
            self.commit_if_due(now)?;
            if now.since(shown) >= TICK {
                shown = now;
                let progress = self.progress(now);
                self.membership.put(&progress);
                show(&progress, &self.walk);
                let reached = || Some((self.limit_reached(stopper, free_disk, now)?, now));
                ending = ending.or_else(reached);
            }
            if let Some((ended, since)) = ending {
                // Whoever interrupts can do so twice; a limit is not to be overrun by a slow server.
                let late = ended != Ended::Interrupted && now.since(since) >= GRACE;
                if late || stopper.asked() > 1 || self.walk.activity().0 == 0 {
                    return Ok(ended);
                }
                self.wait_for_reports(now.after(TICK), now)?;
                continue;
            }
            match self.order(now)? {
                Ordered::Wait(until) => {
                    let idle = self.walk.activity().0 == 0;
                    self.waiting_until = idle.then_some(until);
                    let until = if sweeps { now } else { until.min(now.after(TICK)) };
                    self.wait_for_reports(until, now)?;
                }
                Ordered::Over(ended) => ending = Some((ended, now)),
            }
        }
    }

    /// Orders what may be fetched now, all at once: to wake the fetcher for each would let it run and rest by turns
    /// with the walk.
    fn order(&mut self, now: Time) -> Result<Ordered, EngineError> {
        let mut orders = Vec::new();
        let ordered = self.find_orders(now, &mut orders);
        self.send(orders)?;
        ordered
    }

    fn find_orders(&mut self, now: Time, orders: &mut Vec<Order>) -> Result<Ordered, EngineError> {
        if self.membership.must_wait_for_others() {
            return Ok(Ordered::Wait(now.after(MOMENT)));
        }
        let most = self.membership.concurrency(self.config.limits.concurrency);
        loop {
            if self.walk.activity().0 >= most || self.page_limit_near() {
                return Ok(Ordered::Wait(Time::NEVER));
            }
            let enough = self.day_is_used_up(now);
            let waits = enough.or_else(|| self.allowance.wait(&self.membership, now));
            if let Some(until) = waits {
                return Ok(Ordered::Wait(until));
            }
            let began = self.clock.passed();
            let step = self.walk.next(now)?;
            self.next.add(self.clock.passed().saturating_sub(began));
            if orders.len() >= MOST_ORDERS {
                self.send(std::mem::take(orders))?;
            }
            let order = match step {
                Step::Fetch(lease) => Order::Page(lease),
                Step::Locate(lease) => {
                    orders.push(Order::Locate(lease));
                    continue;
                }
                Step::Robots { origin, lease } => Order::Robots { origin, lease },
                Step::Wait(until) => return self.wait_or_end(until, now),
                Step::Empty => return Ok(Ordered::Over(Ended::Done)),
            };
            self.allowance.take(&self.membership, now);
            orders.push(order);
        }
    }

    /// When more may be received, where the bytes of a day are used up. What is out counts with
    /// the size that is usual.
    fn day_is_used_up(&self, now: Time) -> Option<Time> {
        let most = self.config.limits.bytes_per_day?;
        let (counters, out) = (self.walk.counters(), self.walk.activity().0 as u64);
        let usual = counters.bytes / counters.visits.max(1);
        let most = most.saturating_sub(out * usual);
        let until = self.walk.state().spending().below(most, now);
        (until > now).then_some(until)
    }

    fn send(&self, orders: Vec<Order>) -> Result<(), EngineError> {
        if orders.is_empty() {
            return Ok(());
        }
        let sent = self.orders.as_ref().is_some_and(|fetcher| fetcher.send(orders).is_ok());
        if sent { Ok(()) } else { Err(EngineError::Broken("the fetcher")) }
    }

    /// Nothing can be asked before `until`: a run that ends when all is visited does not wait for
    /// hosts that rest for long, nor for those that do not answer.
    fn wait_or_end(&self, until: Time, now: Time) -> Result<Ordered, EngineError> {
        let idle = self.walk.activity().0 == 0;
        if !self.config.limits.once || !idle || until <= now.after(TICK) {
            return Ok(Ordered::Wait(until));
        }
        if until <= now.after(PATIENCE) && !self.walk.waits_for_silent_hosts_alone(now)? {
            return Ok(Ordered::Wait(until));
        }
        let [new, ..] = self.walk.counters().by_status;
        Ok(Ordered::Over(if new == 0 { Ended::Done } else { Ended::DoneButResting }))
    }

    /// Some hosts that do not answer, by name, and how many there are.
    fn silent_hosts(&self) -> (Vec<(String, Outcome)>, usize) {
        let mut silent: Vec<_> = self.walk.run_hosts().silent().collect();
        let all = silent.len();
        silent.sort_unstable_by_key(|(host, _)| *host);
        let named = silent.into_iter().take(NAMED).filter_map(|(host, outcome)| {
            let row = self.walk.state().host(host).ok().flatten()?;
            Some((row.authority, outcome))
        });
        (named.collect(), all)
    }

    /// Keeps the pauses of other walks too, from when the first of them joins.
    fn share_pauses(&mut self, now: Time) {
        if let Some(pauses) = self.membership.new_pauses() {
            self.walk.share_pauses(pauses, now);
            self.membership.keeps_pauses();
        }
    }

    /// The pages asked for and out reach the limit.
    fn page_limit_near(&self) -> bool {
        let own = self.usage();
        let asked = own.pages + own.out;
        self.config.limits.pages.is_some_and(|most| asked >= most)
            || self.membership.page_limit_near(own)
    }

    /// What this walk has done in this run.
    fn usage(&self) -> Usage {
        let (tally, out) = (self.walk.tally(), self.walk.activity().0 as u64);
        Usage { pages: tally.pages, bytes: tally.bytes, out }
    }

    fn limit_reached(
        &self,
        stopper: &Stopper,
        free_disk: &dyn Fn() -> Option<u64>,
        now: Time,
    ) -> Option<Ended> {
        let limits = &self.config.limits;
        let tally = self.walk.tally();
        let size = limits.pages.is_some_and(|most| tally.pages >= most)
            || limits.bytes.is_some_and(|most| tally.bytes >= most)
            || self.membership.limit_reached(self.usage());
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

    fn take_reports(&mut self) -> Result<(), EngineError> {
        while let Some(report) = self.reports.try_recv() {
            self.take(report)?;
        }
        Ok(())
    }

    /// Does what the user asked for; the answer is sent once it is committed.
    fn take_requests(&mut self, now: Time) -> Result<(), EngineError> {
        while let Some(request) = self.inbox.take() {
            match self.fulfil(&request.what, now) {
                Ok(counts) => self.waiting[0].push((request.done, counts)),
                // It cannot be done as asked, and the crawl continues as before.
                Err(error @ EngineError::Config(_)) => drop(request.done.send(Err(error))),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn fulfil(&mut self, what: &Command, now: Time) -> Result<SignalCounts, EngineError> {
        match what {
            Command::Overrides(changes) => {
                let mut changes = changes.iter();
                changes.try_for_each(|change| self.walk.change_override(change, now))?;
                Ok(SignalCounts::default())
            }
            Command::Signals(urls) => self.walk.signal_all(urls, now),
            Command::Budget(rate) => {
                self.set_budget(*rate, now);
                Ok(SignalCounts::default())
            }
        }
    }

    /// Where every page has a fixed interval, a budget is a bound and nothing to divide.
    fn set_budget(&mut self, rate: f64, now: Time) {
        self.allowance.set_own(rate, now);
        self.plan_for(self.allowance.rate());
    }

    fn plan_for(&mut self, rate: Option<f64>) {
        if !self.walk.planner().plan().fixed {
            self.walk.set_budget(rate);
        }
    }

    /// Says what this walk could do with requests, and plans by what it is granted, where all walks share a budget.
    fn share_budget(&mut self, now: Time) {
        let granted = self.membership.grant();
        if self.allowance.follow_grant(granted, now) {
            self.plan_for(self.allowance.rate());
        }
        let Some(usable) = self.allowance.usable(now) else { return };
        let began = self.clock.passed();
        let turn = self.membership.budget(|office| office.turn()).unwrap_or_default();
        let report = self.walk.budget_report(turn, now);
        let demand = BudgetDemand { usable, limit: self.allowance.limit(), ..report.demand };
        self.membership.report(BudgetReport { demand, ..report }, now);
        self.allowance.report_took(self.clock.passed().saturating_sub(began));
    }

    /// Sleeps until a report comes, but not beyond `until`.
    fn wait_for_reports(&mut self, until: Time, now: Time) -> Result<(), EngineError> {
        let patience = until.since(now).min(TICK);
        match self.reports.recv_timeout(patience) {
            Ok(report) => self.take(report),
            Err(RecvError::Yet) => Ok(()),
            Err(RecvError::ForGood) => Err(EngineError::Broken("the workers")),
        }
    }

    fn take(&mut self, report: Report) -> Result<(), EngineError> {
        // Not when the last one was taken: on a busy machine that may be before this answer came, and pauses
        // that it asks for would be over too soon.
        let now = self.clock.now();
        match report {
            Report::Page(processed) => {
                self.walk.complete(*processed, now)?;
                self.port.set_file(self.walk.file());
                Ok(())
            }
            Report::Located(lease, ip) => {
                self.walk.located(&lease, ip, now);
                Ok(())
            }
            Report::Robots(answer) => self.walk.robots(*answer, now),
            Report::ProxyRests(lease, ProxyRest { until, message }) => {
                self.proxy_trouble = message.or(self.proxy_trouble.take());
                self.walk.proxy_rests(&lease, until, now)
            }
            Report::Committed(done) => {
                self.committing = false;
                self.answer(1);
                self.walk.end_commit(&done)
            }
            Report::Uncommitted(error) => {
                // Nothing is on its way any more, and nothing may be built on what failed.
                self.committing = false;
                Err(error)
            }
            Report::Dropping(dropping) => self.drop_piece(*dropping, now),
            Report::Ranked(basis, usual) => {
                self.ranked_by = Some(basis);
                self.walk.set_usual(usual);
                Ok(())
            }
            Report::Weighing(weighing) => self.weigh(*weighing, now),
            Report::Judged(found) => self.walk.suspect(found, now),
            Report::Broken(error) => Err(error),
        }
    }

    fn drop_piece(&mut self, dropping: Dropping, now: Time) -> Result<(), EngineError> {
        self.walk.retain(&dropping.piece, now)?;
        self.waiting[0].push((dropping.done, SignalCounts::default()));
        Ok(())
    }

    fn weigh(&mut self, weighing: Weighing, now: Time) -> Result<(), EngineError> {
        self.walk.weigh(weighing.pages, now)?;
        self.waiting[0].push((weighing.done, SignalCounts::default()));
        Ok(())
    }

    /// Tells those who wait that what they asked for is on disk.
    fn answer(&mut self, part: usize) {
        for (done, counts) in self.waiting[part].drain(..) {
            // Whoever asked may have gone; what was asked for is done.
            let _ = done.send(Ok(counts));
        }
    }

    fn commit_if_due(&mut self, now: Time) -> Result<(), EngineError> {
        let pages = self.walk.tally().pages;
        let due = now.since(self.committed_at) >= COMMIT_EVERY
            || pages - self.committed_pages >= COMMIT_VISITS
            || self.walk.pending() >= COMMIT_KEYS;
        if self.committing || !due {
            return Ok(());
        }
        self.committed_at = now;
        self.committed_pages = pages;
        let Some(commit) = self.walk.begin_commit()? else {
            // Nothing is left to be committed, and so nothing to wait for.
            self.answer(0);
            return Ok(());
        };
        self.committing = true;
        self.waiting[1] = std::mem::take(&mut self.waiting[0]);
        self.services.commit(&self.port, commit)
    }

    pub(super) fn progress(&self, at: Time) -> Progress {
        let (in_flight, active_hosts) = self.walk.activity();
        Progress {
            at,
            began: self.began,
            tally: self.walk.tally(),
            counters: self.walk.counters().clone(),
            in_flight,
            active_hosts,
            waiting_until: self.waiting_until,
            day_used_up: self.day_is_used_up(at),
            budget: self.allowance.rate(),
            next: self.next.clone(),
            ranked_by: self.ranked_by,
            silent_hosts: self.silent_hosts(),
            proxy_trouble: self.proxy_trouble.clone(),
        }
    }

    /// Leaves the services: what is out is dropped; what is being read and committed comes to its end.
    pub(super) fn finish(mut self) -> Result<Walk<S>, EngineError> {
        self.orders = None;
        self.port.close();
        self.waiting = Default::default();
        self.retainer.stop();
        self.ranker.stop();
        self.judge.stop();
        let ended = self.end_commits();
        let Driver { mut walk, port, cookies, gone, clock, .. } = self;
        drop(port);
        // Whoever still sends a report does not wait for somebody to take it: the queue of reports has no bound.
        let nobody = gone.recv();
        debug_assert!(nobody.is_none(), "nothing is ever sent there");
        walk.leave_shared_pauses(clock.now());
        ended.and_then(|()| save_cookies(&cookies)).map(|()| walk)
    }

    /// Waits for the commit that is on its way, and for what is being dropped from the archive.
    fn end_commits(&mut self) -> Result<(), EngineError> {
        while self.committing || self.retainer.is_busy() {
            match self.reports.recv_timeout(TICK) {
                Ok(Report::Committed(done)) => {
                    self.committing = false;
                    self.walk.end_commit(&done)?;
                }
                Ok(Report::Dropping(dropping)) => self.walk.discard(&dropping.piece)?,
                Ok(Report::Broken(error) | Report::Uncommitted(error)) => return Err(error),
                Ok(_) | Err(_) => {}
            }
        }
        Ok(())
    }
}

enum Ordered {
    Wait(Time),
    Over(Ended),
}

pub(super) fn spawn(
    name: &'static str,
    run: impl FnOnce() + Send + 'static,
) -> Result<JoinHandle<()>, EngineError> {
    let builder = std::thread::Builder::new().name(name.to_owned());
    builder.spawn(run).map_err(|_| EngineError::Broken(name))
}
