//! Which walks run in this process, and what may each do beside the others?

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use evercrawl_model::Time;
use evercrawl_policy::allocate::shares::BudgetSplit;

use super::{Progress, ServicesConfig, Stopper, SystemClock};
use crate::EngineError;
use crate::budget_office::{BudgetOffice, BudgetReport};
use crate::frontier::SharedPauses;

/// By what a budget of all is divided. docs/internals/walks.md has what either brings.
const SPLIT: BudgetSplit = BudgetSplit::Price;

/// A walk that runs, for those who list them.
#[derive(Clone, Debug)]
pub struct WalkEntry {
    /// Its name.
    pub name: String,
    /// How it is doing; `None` before it first said so.
    pub progress: Option<Progress>,
}

/// All walks that run in this process.
pub(super) struct Roster {
    config: ServicesConfig,
    members: Mutex<Vec<Arc<Member>>>,
    count: AtomicUsize,
    /// What walks did that have left.
    left: Mutex<Usage>,
    /// Made when a second walk joins, or one that renders: one that is alone keeps its own pauses, and pays for no others.
    pauses: OnceLock<SharedPauses>,
    /// Walks that do not keep the shared pauses yet.
    apart: AtomicUsize,
    /// Divides the budget, if there is one for all.
    budget: Mutex<Option<BudgetOffice>>,
    has_budget: AtomicBool,
    /// The number of the walk that joined last.
    last_id: AtomicU64,
}

/// A walk as the others see it.
struct Member {
    id: u64,
    name: String,
    stopper: Stopper,
    usage: Mutex<Usage>,
    progress: Mutex<Option<Progress>>,
}

/// What a walk has done in this run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Usage {
    /// Pages visited.
    pub(super) pages: u64,
    /// Bytes received.
    pub(super) bytes: u64,
    /// Requests out.
    pub(super) out: u64,
}

impl Usage {
    fn and(self, other: Self) -> Self {
        Usage {
            pages: self.pages + other.pages,
            bytes: self.bytes + other.bytes,
            out: self.out + other.out,
        }
    }
}

impl Roster {
    pub(super) fn new(config: ServicesConfig, now: Time) -> Self {
        let budget = config.budget.map(|rate| BudgetOffice::new(SPLIT, rate, now));
        Roster {
            config,
            has_budget: AtomicBool::new(budget.is_some()),
            budget: Mutex::new(budget),
            last_id: AtomicU64::new(0),
            members: Mutex::default(),
            count: AtomicUsize::new(0),
            left: Mutex::default(),
            pauses: OnceLock::new(),
            apart: AtomicUsize::new(0),
        }
    }

    /// A walk joins; it leaves when what is returned is dropped.
    pub(super) fn join(
        self: &Arc<Self>,
        name: &str,
        stopper: &Stopper,
        now: Time,
    ) -> Result<Membership, EngineError> {
        let mut members = lock(&self.members);
        if members.iter().any(|member| member.name == name) {
            return Err(EngineError::Config(format!("{name} is being crawled already")));
        }
        let id = 1 + self.last_id.fetch_add(1, Ordering::Relaxed);
        let member = Arc::new(Member {
            id,
            name: name.to_owned(),
            stopper: stopper.clone(),
            usage: Mutex::default(),
            progress: Mutex::default(),
        });
        members.push(member.clone());
        lock(&self.budget).iter_mut().for_each(|office| office.open_account(id, now));
        self.count.store(members.len(), Ordering::Relaxed);
        self.apart.fetch_add(1, Ordering::AcqRel);
        if members.len() > 1 || self.config.are_several {
            self.pauses.get_or_init(|| SharedPauses::new(now));
        }
        Ok(Membership { roster: self.clone(), member, keeps_pauses: AtomicBool::new(false) })
    }

    /// From now on all walks keep pauses together, whether there are several or not.
    pub(super) fn share_pauses(&self, now: Time) -> SharedPauses {
        self.pauses.get_or_init(|| SharedPauses::new(now)).clone()
    }

    /// How many walks run.
    pub(super) fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    pub(super) fn walks(&self) -> Vec<WalkEntry> {
        let entry = |member: &Arc<Member>| WalkEntry {
            name: member.name.clone(),
            progress: lock(&member.progress).clone(),
        };
        lock(&self.members).iter().map(entry).collect()
    }

    pub(super) fn stop(&self, name: &str) -> bool {
        let members = lock(&self.members);
        let member = members.iter().find(|member| member.name == name);
        member.inspect(|member| member.stopper.stop()).is_some()
    }

    pub(super) fn set_budget(&self, rate: Option<f64>, now: Time) {
        let members = lock(&self.members);
        let mut budget = lock(&self.budget);
        self.has_budget.store(rate.is_some(), Ordering::Relaxed);
        match (rate, &mut *budget) {
            (None, budget) => *budget = None,
            (Some(rate), Some(office)) => office.set_rate(rate, now),
            (Some(rate), budget) => {
                let office = budget.insert(BudgetOffice::new(SPLIT, rate, now));
                members.iter().for_each(|member| office.open_account(member.id, now));
            }
        }
    }

    /// What all walks have done in this run.
    fn usage(&self) -> Usage {
        self.usage_of(&lock(&self.members))
    }

    /// What `members` did and have out, and what those did that left.
    fn usage_of(&self, members: &[Arc<Member>]) -> Usage {
        let usages = members.iter().map(|member| *lock(&member.usage));
        usages.fold(*lock(&self.left), Usage::and)
    }
}

/// A walk's place among the others; it leaves when this is dropped.
pub(super) struct Membership {
    roster: Arc<Roster>,
    member: Arc<Member>,
    keeps_pauses: AtomicBool,
}

impl Membership {
    /// The pauses that this walk has to keep from now on, told once.
    pub(super) fn new_pauses(&self) -> Option<SharedPauses> {
        let pauses = self.roster.pauses.get()?;
        let first = !self.keeps_pauses.swap(true, Ordering::Relaxed);
        first.then(|| pauses.clone())
    }

    /// This walk keeps the pauses that it was told of.
    pub(super) fn keeps_pauses(&self) {
        self.roster.apart.fetch_sub(1, Ordering::AcqRel);
    }

    /// Whether some walk does not keep the shared pauses yet: until then nobody may ask.
    pub(super) fn must_wait_for_others(&self) -> bool {
        self.roster.pauses.get().is_some() && self.roster.apart.load(Ordering::Acquire) > 0
    }

    /// Requests that this walk may have out at once, by itself `own`.
    pub(super) fn concurrency(&self, own: usize) -> usize {
        let part = |all: usize| (all / self.roster.count().max(1)).max(1);
        self.roster.config.concurrency.map_or(own, |all| own.min(part(all)))
    }

    /// Whether the limit of pages of all walks would be reached by those that are out. If not, one more page is
    /// reserved for this walk, until it says again what it has out: two walks cannot both take the last page.
    pub(super) fn page_limit_near(&self, own: Usage) -> bool {
        let Some(most) = self.roster.config.pages else { return false };
        let members = lock(&self.roster.members);
        *lock(&self.member.usage) = own;
        let all = self.roster.usage_of(&members);
        let is_near = all.pages + all.out >= most;
        if !is_near {
            lock(&self.member.usage).out += 1;
        }
        is_near
    }

    /// Whether a limit of all walks is reached.
    pub(super) fn limit_reached(&self, own: Usage) -> bool {
        let ServicesConfig { pages, bytes, .. } = self.roster.config;
        if pages.is_none() && bytes.is_none() {
            return false;
        }
        *lock(&self.member.usage) = own;
        let all = self.roster.usage();
        pages.is_some_and(|most| all.pages >= most) || bytes.is_some_and(|most| all.bytes >= most)
    }

    /// Whether there is a budget for all walks together.
    pub(super) fn has_budget(&self) -> bool {
        self.roster.has_budget.load(Ordering::Relaxed)
    }

    /// Asks the budget office, if one budget is shared by all walks.
    pub(super) fn budget<T>(&self, ask: impl FnOnce(&mut BudgetOffice) -> T) -> Option<T> {
        lock(&self.roster.budget).as_mut().map(ask)
    }

    /// What this walk was granted, in requests a second.
    pub(super) fn grant(&self) -> Option<f64> {
        self.budget(|office| office.grant(self.member.id))
    }

    /// Reports what this walk could do with requests.
    pub(super) fn report(&self, report: BudgetReport, now: Time) {
        self.budget(|office| office.report(self.member.id, report, now));
    }

    /// Puts up how this walk is doing.
    pub(super) fn put(&self, progress: &Progress) {
        *lock(&self.member.progress) = Some(progress.clone());
    }
}

impl Drop for Membership {
    fn drop(&mut self) {
        let mut members = lock(&self.roster.members);
        members.retain(|member| !Arc::ptr_eq(member, &self.member));
        let mut left = lock(&self.roster.left);
        *left = left.and(Usage { out: 0, ..*lock(&self.member.usage) });
        drop(left);
        self.roster.count.store(members.len(), Ordering::Relaxed);
        drop(members);
        let now = SystemClock.now();
        self.budget(|office| office.close_account(self.member.id, now));
        if !self.keeps_pauses.load(Ordering::Relaxed) {
            self.roster.apart.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
