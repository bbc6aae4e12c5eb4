//! The walk under a clock of its own: months in seconds, against any web that can be computed.
//!
//! Nothing here waits or opens a socket. The same walk, frontier, planner and archive run as live;
//! the lab measures them so, and the tests let them crash at any moment.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::net::IpAddr;
use std::time::Duration;

use evercrawl_fetch::Fetched;
use evercrawl_model::{Outcome, Time};
use evercrawl_state::Store;

use crate::EngineError;
use crate::budget::Bucket;
use crate::frontier::Lease;
use crate::process::{Job, outcome_of_answer, outcome_of_failure};
use crate::schedule::parse_retry_after;
use crate::walk::{Commit, RobotsAnswer, Step, Walk};

/// Every host's address.
const ADDRESS: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

/// A request.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The URL.
    pub url: &'a str,
    /// The `ETag` that is held.
    pub etag: Option<&'a str>,
    /// The `Last-Modified` that is held.
    pub last_modified: Option<&'a str>,
}

/// A web that can be asked at any moment.
pub trait Web {
    /// What it answers, and how long that takes.
    fn answer(&mut self, asked: &Asked<'_>, now: Time) -> (Fetched, Duration);
}

/// A walk, the web it crawls, and the moment that both are at.
pub struct Rehearsal<S, W> {
    /// The walk.
    pub walk: Walk<S>,
    /// The web.
    pub web: W,
    now: Time,
    out: BinaryHeap<Reverse<(Time, u64)>>,
    waiting: HashMap<u64, Reply>,
    count: u64,
    committed: Time,
    commit_every: Duration,
    commit_takes: Duration,
    /// A commit on its way to the disk, and when it gets there.
    commit: Option<(Time, Commit<S>)>,
    budget: Option<Bucket>,
}

enum Reply {
    Page(Box<Job>),
    Robots(Box<RobotsAnswer>),
}

impl<S: Store, W: Web> Rehearsal<S, W> {
    /// Begins at `now`, and commits so often.
    pub fn new(walk: Walk<S>, web: W, now: Time, commit_every: Duration) -> Self {
        Rehearsal {
            walk,
            web,
            now,
            out: BinaryHeap::new(),
            waiting: HashMap::new(),
            count: 0,
            committed: now,
            commit_every,
            commit_takes: Duration::ZERO,
            commit: None,
            budget: None,
        }
    }

    /// The moment it is at.
    pub fn now(&self) -> Time {
        self.now
    }

    /// So many pages a second from now on, divided by the planner.
    pub fn set_budget(&mut self, rate: f64) {
        self.walk.set_budget(Some(rate));
        self.set_rate(Some(rate));
    }

    /// At most so many pages a second from now on; `None`: as many as hosts allow.
    pub fn set_rate(&mut self, rate: Option<f64>) {
        self.budget = rate.map(|rate| match self.budget.take() {
            Some(bucket) => bucket.at_rate(rate, self.now),
            None => Bucket::new(rate, self.now),
        });
    }

    /// From now on the disk takes so long for a commit; the walk continues meanwhile.
    pub fn set_commit_time(&mut self, takes: Duration) {
        self.commit_takes = takes;
    }

    /// Lets time pass until `until`, with nothing to do.
    pub fn pass(&mut self, until: Time) {
        self.now = self.now.max(until);
    }

    /// The machine's clock is set ahead: what is out comes when it would have come, which is later by
    /// that clock.
    pub fn set_clock_ahead(&mut self, by: Duration) {
        self.now = self.now.after(by);
        self.out = self.out.drain().map(|Reverse((at, id))| Reverse((at.after(by), id))).collect();
        for reply in self.waiting.values_mut() {
            if let Reply::Page(job) = reply {
                job.ended = job.ended.after(by);
            }
        }
        self.commit = self.commit.take().map(|(at, commit)| (at.after(by), commit));
        self.walk.clock_set(self.now);
    }

    /// Another walk takes over at `now`, with nothing in flight: what a restart after a crash is like. By
    /// then the clock may have been set back.
    pub fn replace(&mut self, walk: Walk<S>, now: Time) {
        self.out.clear();
        self.waiting.clear();
        self.commit = None;
        (self.now, self.committed) = (now, now);
        self.walk = walk;
    }

    /// URLs, and origins of robots.txt files, whose answers have not been taken yet.
    pub fn awaited(&self) -> impl Iterator<Item = &str> {
        self.waiting.values().map(|reply| match reply {
            Reply::Page(job) => job.lease.row.url.as_str(),
            Reply::Robots(answer) => answer.origin.as_str(),
        })
    }

    /// The commit that is on its way to the disk: after a crash it may have got there unheard of.
    pub fn take_commit(&mut self) -> Option<Commit<S>> {
        self.commit.take().map(|(_, commit)| commit)
    }

    /// Waits for the commit that is on its way to the disk.
    pub fn settle(&mut self) -> Result<(), EngineError> {
        let Some((done_at, commit)) = self.commit.take() else { return Ok(()) };
        self.pass(done_at);
        self.walk.end_commit(&commit.run()?)
    }

    /// Crawls until `until`, or until nothing is left to do within `patience`.
    pub fn run(&mut self, until: Time, patience: Duration) -> Result<(), EngineError> {
        while self.now < until {
            self.commit_if_due()?;
            if let Some(at) = self.budget.as_ref().and_then(|budget| budget.wait(self.now)) {
                self.wait(at.min(until))?;
                continue;
            }
            match self.walk.next(self.now)? {
                Step::Fetch(lease) => self.ask_page(lease),
                Step::Locate(lease) => self.walk.located(&lease, Some(ADDRESS), self.now),
                Step::Robots { origin, lease } => self.ask_robots(origin, lease),
                Step::Wait(at) if self.out.is_empty() && at > self.now.after(patience) => {
                    return Ok(());
                }
                Step::Wait(at) => self.wait(at.min(until))?,
                Step::Empty => return Ok(()),
            }
        }
        Ok(())
    }

    /// Ends the commit that has got to the disk, and begins the next when it is time.
    fn commit_if_due(&mut self) -> Result<(), EngineError> {
        if self.now.since(self.committed) >= self.commit_every && self.commit.is_none() {
            self.committed = self.now;
            let done_at = self.now.after(self.commit_takes);
            self.commit = self.walk.begin_commit()?.map(|commit| (done_at, commit));
        }
        match &self.commit {
            Some((done_at, _)) if *done_at <= self.now => self.settle(),
            _ => Ok(()),
        }
    }

    /// Lets time pass until `at`, or until the next answer comes.
    fn wait(&mut self, at: Time) -> Result<(), EngineError> {
        match self.out.peek() {
            Some(&Reverse((answered, id))) if answered <= at => {
                self.out.pop();
                self.now = self.now.max(answered);
                match self.waiting.remove(&id) {
                    Some(Reply::Page(job)) => self.page_came(*job),
                    Some(Reply::Robots(answer)) => self.walk.robots(*answer, self.now),
                    None => Ok(()),
                }
            }
            _ => {
                self.now = at.max(self.now.after(Duration::from_millis(1)));
                Ok(())
            }
        }
    }

    fn page_came(&mut self, job: Job) -> Result<(), EngineError> {
        let processed = self.walk.process(job)?;
        if let Some(digest) = processed.claim {
            self.walk.recent().settle(digest, true);
        }
        self.walk.complete(processed, self.now)
    }

    fn ask_page(&mut self, lease: Box<Lease>) {
        if let Some(budget) = &mut self.budget {
            budget.take(self.now);
        }
        let (etag, last_modified) = lease.validators_to_send();
        let asked = Asked { url: &lease.row.url, etag, last_modified };
        let (fetched, took) = self.web.answer(&asked, self.now);
        let (asked, ended) = (self.now, self.now.after(took));
        self.send(ended, Reply::Page(Box::new(Job { lease, fetched, asked, ended })));
    }

    fn ask_robots(&mut self, origin: String, lease: Box<Lease>) {
        let url = format!("{origin}/robots.txt");
        let asked = Asked { url: &url, etag: None, last_modified: None };
        let (fetched, took) = self.web.answer(&asked, self.now);
        let outcome = match &fetched.result {
            Ok(response) => outcome_of_answer(response, None, false).0,
            Err(failure) => outcome_of_failure(failure).0,
        };
        let (response, ip) = (fetched.result.ok(), fetched.ip);
        let pause = response.as_ref().and_then(|response| response.header("retry-after"));
        let answer = RobotsAnswer {
            origin,
            lease,
            status: response.as_ref().map(|response| response.status),
            outcome,
            forbidden: false,
            asked_pause: pause.and_then(|value| parse_retry_after(value, self.now.after(took))),
            body: response.map(|response| response.body.whole().into_owned()).unwrap_or_default(),
            is_whole: outcome == Outcome::Ok,
            ip,
            took,
        };
        self.send(self.now.after(took), Reply::Robots(Box::new(answer)));
    }

    fn send(&mut self, at: Time, reply: Reply) {
        self.count += 1;
        self.out.push(Reverse((at, self.count)));
        self.waiting.insert(self.count, reply);
    }
}
