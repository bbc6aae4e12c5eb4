//! How do policies do in worlds, at budgets, from seeds? One row each, the same on any number of
//! threads.

mod budget;
mod copies;
mod crawl;
mod machine;
mod signals;
mod truth_observer;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use evercrawl_policy::registry::{Entry, Goal, Setup, Unfit, find};
use evercrawl_policy::{Days, Policy};

pub use budget::FetchBudget;
pub use signals::Signals;
pub use truth_observer::{TruePageState, TruthObserver};

use crate::cache::{self, CacheKey, OutcomeCache};
use crate::judge::PageClassifier;
use crate::measure::MeanWithError;
use crate::row::ResultRow;
use crate::score::RunOutcome;
use crate::source::{WorldError, WorldSource};
use crate::world::LabWorld;

/// The policy that knows the true mean rates.
const CLAIRVOYANT: &str = "clairvoyant";
/// The policy that knows all changes to come.
const ORACLE: &str = "oracle";

/// The largest world in which those two run unasked.
const REFERENCES_UP_TO: usize = 50_000;

/// The runs to make: every policy in every world at every budget from every seed.
#[derive(Clone, Debug)]
pub struct RunPlan {
    /// Where worlds come from.
    pub worlds: Vec<WorldSource>,
    /// The policies.
    pub policies: Vec<&'static Entry>,
    /// The budgets.
    pub budgets: Vec<FetchBudget>,
    /// The seeds.
    pub seeds: Vec<u64>,
    /// What all runs have in common.
    pub terms: RunTerms,
    /// Whether each is compared with those who know the truth; `None`: unless the world is large.
    pub references: Option<bool>,
    /// How many run at a time.
    pub threads: usize,
    /// Where rows of runs made before are; every new one is put there as soon as it is made.
    pub cache: Option<OutcomeCache>,
}

/// The terms of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunTerms {
    /// The goal given to policies.
    pub goal: Goal,
    /// How long a round lasts.
    pub round: Days,
    /// For how long every page was fetched every week before the crawl begins.
    pub warm: Days,
    /// What a fetch costs that finds nothing new; one that does costs 1.
    pub cost_unchanged: f64,
}

impl Default for RunTerms {
    /// Freshness, rounds of a week, nothing known before, every fetch at the same cost.
    fn default() -> Self {
        RunTerms { goal: Goal::Freshness, round: 7.0, warm: 0.0, cost_unchanged: 1.0 }
    }
}

/// What happens while a plan is carried out.
#[derive(Debug)]
pub enum RunProgress {
    /// A run is done.
    Row(Box<ResultRow>),
    /// A policy cannot run in a world.
    Unfit {
        /// The world.
        world: String,
        /// Why not.
        why: Unfit,
    },
    /// Where the work stands.
    Progress {
        /// The world that is crawled.
        world: String,
        /// How much of the plan is done, from 0 to 1: worlds count alike, and in a world all weeks of all
        /// runs.
        done: f64,
    },
}

/// Carries out `plan`, world by world, and tells `listen` in the plan's order; ends early, with what
/// is done, when `stop` is set.
pub fn run(
    plan: &RunPlan,
    stop: &AtomicBool,
    mut listen: impl FnMut(RunProgress),
) -> Result<(), WorldError> {
    for (number, source) in plan.worlds.iter().enumerate() {
        // A world that cannot be fingerprinted cannot be read either: reading it reports the error.
        let shelf = plan.cache.as_ref().and_then(|c| Some((c, cache::fingerprint(source).ok()?)));
        let alike = if source.is_made() { 1 } else { plan.seeds.len().max(1) };
        let batches = plan.seeds.len().div_ceil(alike);
        for (batch, seeds) in plan.seeds.chunks(alike).enumerate() {
            if stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            let world = source.world(seeds[0], plan.terms.warm)?;
            let mut of_all = |news: RunProgress| match news {
                RunProgress::Progress { world, done } => {
                    let worlds = number as f64 + (batch as f64 + done) / batches as f64;
                    listen(RunProgress::Progress {
                        world,
                        done: worlds / plan.worlds.len() as f64,
                    });
                }
                other => listen(other),
            };
            Batch::new(plan, &world, shelf, seeds, &mut of_all).run(stop, &mut of_all);
        }
    }
    Ok(())
}

/// How often progress is reported.
const TICK: Duration = Duration::from_millis(200);

/// What runs under way listen to, and say.
struct ProgressWatch<'a> {
    /// Set when they are to be given up.
    stop: &'a AtomicBool,
    /// Rounds that all of them have begun.
    rounds: AtomicUsize,
}

/// The runs of one world.
struct Batch<'a> {
    plan: &'a RunPlan,
    world: &'a LabWorld,
    /// Where its rows are kept, and the world's fingerprint.
    shelf: Option<(&'a OutcomeCache, u128)>,
    judge: PageClassifier,
    jobs: Vec<Job>,
    asked: Vec<RequestedPolicies>,
}

#[derive(Clone, Copy)]
struct Job {
    policy: &'static Entry,
    /// By number in the plan.
    budget: usize,
    seed: u64,
}

/// A run that was asked for, and those that it is compared with, by number.
struct RequestedPolicies {
    job: usize,
    clairvoyant: Option<usize>,
    oracle: Option<usize>,
}

impl<'a> Batch<'a> {
    /// References come first, as every other run waits for them.
    fn new(
        plan: &'a RunPlan,
        world: &'a LabWorld,
        shelf: Option<(&'a OutcomeCache, u128)>,
        seeds: &[u64],
        listen: &mut impl FnMut(RunProgress),
    ) -> Self {
        let judge = PageClassifier::new(world);
        let mut batch = Batch { plan, world, shelf, judge, jobs: Vec::new(), asked: Vec::new() };
        let fit: Vec<&'static Entry> =
            plan.policies.iter().copied().filter(|policy| batch.fits(policy, listen)).collect();
        let compare = plan.references.unwrap_or(world.pages.len() <= REFERENCES_UP_TO);
        for budget in 0..plan.budgets.len() {
            for &seed in seeds {
                let reference = |name| find(name).ok().filter(|_| compare);
                let mut place = |policy| batch.place(Job { policy, budget, seed });
                let clairvoyant = reference(CLAIRVOYANT).map(&mut place);
                let oracle = reference(ORACLE).map(&mut place);
                for &policy in &fit {
                    let job = batch.place(Job { policy, budget, seed });
                    batch.asked.push(RequestedPolicies { job, clairvoyant, oracle });
                }
            }
        }
        batch
    }

    fn fits(&self, policy: &Entry, listen: &mut impl FnMut(RunProgress)) -> bool {
        let lacks_links = policy.needs_links()
            && self.world.server.as_ref().is_none_or(|server| server.total_links() == 0);
        if lacks_links {
            let why = Unfit::NeedsLinks(policy.name);
            listen(RunProgress::Unfit { world: self.world.name.clone(), why });
        }
        !lacks_links
    }

    /// The number of the job; the same for the same job.
    fn place(&mut self, job: Job) -> usize {
        self.jobs.iter().position(|other| other.has_policy(&job)).unwrap_or_else(|| {
            self.jobs.push(job);
            self.jobs.len() - 1
        })
    }

    fn run(&self, stop: &AtomicBool, listen: &mut impl FnMut(RunProgress)) {
        let (sender, receiver) = mpsc::channel();
        let next = AtomicUsize::new(0);
        let watch = ProgressWatch { stop, rounds: AtomicUsize::new(0) };
        std::thread::scope(|scope| {
            for _ in 0..self.plan.threads.clamp(1, self.jobs.len().max(1)) {
                let (sender, next, watch) = (sender.clone(), &next, &watch);
                scope.spawn(move || {
                    while let Some(&job) = self.jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let Some(outcome) = self.outcome(job, watch) else { return };
                        if sender.send((job, outcome)).is_err() {
                            return;
                        }
                    }
                });
            }
            drop(sender);
            self.report_progress(&receiver, &watch, listen);
        });
    }

    /// How many rounds a run has.
    fn rounds(&self) -> usize {
        ((self.world.span.to - self.world.span.begin) / self.plan.terms.round).ceil() as usize
    }

    /// Tells of rows in the order in which they were asked for, each as soon as all before it and what
    /// it is compared with are there.
    fn report_progress(
        &self,
        receiver: &mpsc::Receiver<(Job, RunOutcome)>,
        watch: &ProgressWatch<'_>,
        listen: &mut impl FnMut(RunProgress),
    ) {
        let mut outcomes: Vec<Option<RunOutcome>> = vec![None; self.jobs.len()];
        let mut told = 0;
        loop {
            match receiver.recv_timeout(TICK) {
                Ok((job, outcome)) => {
                    if let Some(number) = self.jobs.iter().position(|other| other.has_policy(&job))
                    {
                        outcomes[number] = Some(outcome);
                    }
                }
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
            }
            while let Some(row) = self.asked.get(told).and_then(|asked| asked.row(&outcomes)) {
                listen(RunProgress::Row(Box::new(row)));
                told += 1;
            }
            let rounds = watch.rounds.load(Ordering::Relaxed) as f64;
            let done = rounds / (self.jobs.len() * self.rounds()) as f64;
            listen(RunProgress::Progress { world: self.world.name.clone(), done });
        }
    }

    /// What came of a job: made before, or made now and kept. `None` if stopped before the end.
    fn outcome(&self, job: Job, watch: &ProgressWatch<'_>) -> Option<RunOutcome> {
        let Some((cache, key)) = self.place_in_cache(job) else { return self.made(job, watch) };
        if let Some(outcome) = cache.find(&key) {
            watch.rounds.fetch_add(self.rounds(), Ordering::Relaxed);
            return Some(outcome);
        }
        let outcome = self.made(job, watch)?;
        cache.keep(key, &outcome);
        Some(outcome)
    }

    fn place_in_cache(&self, job: Job) -> Option<(&OutcomeCache, CacheKey)> {
        let (cache, world) = self.shelf?;
        let budget = &self.plan.budgets[job.budget];
        let rest = (job.policy.name, budget, job.seed, &self.plan.terms);
        Some((cache, cache.key(world, &rest)))
    }

    /// `None` if stopped before the end.
    fn made(&self, job: Job, watch: &ProgressWatch<'_>) -> Option<RunOutcome> {
        let before = machine::cpu_time();
        let policy = self.policy(job).ok()?;
        let crawl =
            crawl::SimulatedCrawl::new(self.world, &self.judge, &self.plan.terms, policy, job.seed);
        let budget = &self.plan.budgets[job.budget];
        let outcome = crawl.run(budget, job.seed, watch)?;
        let used = machine::cpu_time().saturating_sub(before);
        let row = ResultRow {
            world: self.world.name.clone(),
            policy: job.policy.name.to_owned(),
            budget: budget.to_string(),
            goal: goal_name(self.plan.terms.goal).to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            cpu_seconds: used.as_secs_f64(),
            peak_rss_bytes: machine::peak_memory(),
            ..outcome.row
        };
        Some(RunOutcome { row, ..outcome })
    }

    /// Makes the policy of what a crawler may know; of the truth, only for those who need it.
    fn policy(&self, job: Job) -> Result<Box<dyn Policy>, Unfit> {
        let setup = Setup {
            server: self.world.server.as_ref(),
            past: &self.world.past,
            seed: job.seed,
            goal: self.plan.terms.goal,
            ..Setup::default()
        };
        if !job.policy.needs_truth() {
            return job.policy.make(&setup);
        }
        let rates = self.judge.rates(self.world);
        job.policy.make(&Setup { rates: Some(rates), ..setup }).or_else(|_| {
            let changes = self.judge.changes(self.world);
            job.policy.make(&Setup { changes: Some(changes), ..setup })
        })
    }
}

impl Job {
    fn has_policy(&self, other: &Job) -> bool {
        (self.policy.name, self.budget, self.seed) == (other.policy.name, other.budget, other.seed)
    }
}

impl RequestedPolicies {
    /// Sets a row in relation to its references, once all are there: by value, which all of them optimise.
    fn row(&self, outcomes: &[Option<RunOutcome>]) -> Option<ResultRow> {
        let own = outcomes[self.job].as_ref()?;
        let beside = |reference: Option<usize>| -> Option<Option<MeanWithError>> {
            let Some(number) = reference else { return Some(None) };
            Some(own.beside(outcomes[number].as_ref()?))
        };
        let (clairvoyant, oracle) = (beside(self.clairvoyant)?, beside(self.oracle)?);
        Some(own.row.clone().beside(clairvoyant, oracle))
    }
}

/// What a goal is called.
pub fn goal_name(goal: Goal) -> &'static str {
    match goal {
        Goal::Freshness => "freshness",
        Goal::Coverage => "coverage",
        Goal::Age => "age",
    }
}
