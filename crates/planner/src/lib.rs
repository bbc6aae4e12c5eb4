//! When is each page to be visited again? The lab's policies, over pages that lie on disk.
//!
//! A [`Planner`] shows its policy one page at a time, made from the page's row: after a visit, to
//! learn when it is due next, and when it comes up, to learn whether it still is. What the policy
//! wants to know of all pages (what is usual, how many there are for the budget) it learns from a
//! fair sample, which is also what the freshness of the collection is read from. So the cost of a
//! visit does not grow with the collection, and memory holds groups and a sample, never all pages.

mod audit;
mod calibration;
mod conditions;
mod error;
pub mod freshness;
mod learned;
pub mod overrides;
mod page;
mod plan;
mod sample;
pub mod schedule;
mod signals;
mod sooner;
#[cfg(test)]
mod tests;
mod validators;
mod yields;

use std::sync::Arc;
use std::time::Duration;

use evercrawl_estimate::poisson::mean_freshness;
use evercrawl_model::{
    Change, Next, Outcome, PageKey, PolicyNotes, Score, Time, Validators, Visited,
};
use evercrawl_policy::registry::{self, Setup};
use evercrawl_policy::{Days, Found, Page, Policy, Rota, Round, Visit};
use evercrawl_state::{PageRow, PageStatus};

use audit::Audits;
pub use calibration::{CLASSES, Calibration, Outcomes, class};
pub use conditions::Conditions;
pub use error::PlannerError;
use evercrawl_insight::importance::weight;
use evercrawl_insight::suspicion::Suspects;
use freshness::Freshness;
use overrides::Overrides;
use page::{days, folded, found, noted, page_of, time};
pub use plan::Plan;
use sample::Sample;
use schedule::Schedule;
use signals::Names;
use validators::Proofs;
pub use validators::{Agreement, Validator};
pub use yields::{Yield, Yields};

/// The share of a page's interval by which its due time may be off: prices move a little with every
/// visit, and without slack each of them would send many pages back.
const SLACK: f64 = 0.02;

/// Where the draw of audits begins: it need not be secret, only fair.
const AUDIT_SEED: u64 = 0x6175_6469_7473;

/// How often the policy is told of the budget and of all pages, while visits tell something new.
const PLAN_EVERY: Duration = Duration::from_secs(60);
/// However much they tell.
const PLAN_AT_MOST: Duration = Duration::from_secs(1);
/// However little: the hour and the day tell something too.
const PLAN_AT_LEAST: Duration = Duration::from_secs(3600);

/// Why a page that came up is not fetched now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotNow {
    /// It is due at this later time by now.
    PutOff(Time),
    /// It would be ahead of its time, and no use before this moment.
    NotWorthIt(Time),
}

/// A visit, beside what it found.
#[derive(Clone, Debug)]
pub struct Look {
    /// When it was over.
    pub ended: Time,
    /// Links that were not known before.
    pub new_links: u32,
    /// Whether the server was asked "changed since?", and could say no.
    pub conditional: bool,
    /// What the page was before it moved here, where this is its first visit.
    pub former: Option<(PageKey, PageRow)>,
}

/// The policy at work on a data directory.
pub struct Planner {
    plan: Plan,
    policy: Box<dyn Policy>,
    sample: Sample,
    overrides: Arc<Overrides>,
    suspects: Arc<Suspects>,
    audits: Audits,
    names: Names,
    proofs: Proofs,
    calibration: Calibration,
    yields: Yields,
    rota: Rota,
    /// Whether there are so many pages to visit for the first time that more are of no use.
    has_plenty: bool,
    /// How much of a page is news when it changes, on average over all pages; 0 before the first change.
    usual_news: f32,
    planned: Time,
    visits: u64,
    visits_planned: u64,
}

impl Planner {
    /// A planner that knows nothing yet.
    pub fn new(plan: Plan) -> Result<Self, PlannerError> {
        let setup = Setup { goal: plan.goal, ..Setup::default() };
        let policy = registry::find(plan.policy).and_then(|entry| entry.make(&setup));
        Ok(Planner {
            plan,
            policy: policy?,
            sample: Sample::default(),
            overrides: Arc::default(),
            suspects: Arc::default(),
            audits: Audits::new(plan.audits, AUDIT_SEED),
            names: Names::default(),
            proofs: Proofs::default(),
            calibration: Calibration::default(),
            yields: Yields::default(),
            rota: Rota::default(),
            has_plenty: false,
            usual_news: 0.0,
            planned: Time::EPOCH,
            visits: 0,
            visits_planned: 0,
        })
    }

    /// What it was told to do.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// What the user wishes.
    pub fn overrides(&self) -> &Overrides {
        &self.overrides
    }

    /// What the user wishes, from now on.
    pub fn set_overrides(&mut self, overrides: Arc<Overrides>) {
        self.overrides = overrides;
    }

    /// The hosts that are taken for spam, from now on.
    pub fn set_suspects(&mut self, suspects: Arc<Suspects>) {
        self.suspects = suspects;
    }

    /// Another budget, from now on.
    pub fn set_rate(&mut self, rate: Option<f64>) {
        self.plan.rate = rate;
        self.planned = Time::EPOCH;
    }

    /// Whether pages are fetched ahead of their time rather than leave requests unused.
    pub fn spends_ahead(&self) -> bool {
        self.plan.rate.is_some()
    }

    /// Takes a page that is held into the sample, as it stands in its row.
    pub fn remember(&mut self, key: PageKey, row: &PageRow) {
        if self.sample.wants(key) && row.held() {
            let page = self.page(key, row);
            self.sample.put(key, page);
        }
    }

    /// A page is not held any more.
    pub fn forget(&mut self, key: PageKey) {
        self.sample.remove(key);
        self.audits.ends(key);
    }

    /// A page was visited: sets when it is visited again, and what is noted of it.
    pub fn visited(
        &mut self,
        row: &PageRow,
        schedule: &Schedule,
        visited: &mut Visited,
        look: &Look,
    ) {
        let (key, found) = (visited.visit.page, found(visited.visit.change));
        let mut page = self.page(key, row);
        if let Some((key, row)) = &look.former {
            let former = self.page(*key, row);
            self.policy.moved(&former, &mut page);
        }
        if !look.conditional {
            self.learn_of_validators(page.host, row, visited, found);
        }
        self.score_outlook(key, &page, days(visited.visit.at), found);
        let changed = self.record(&mut page, row, visited, look.new_links);
        let news = self.news(row, changed.then_some(visited.visit.score));
        visited.noted = noted(&page, news);
        visited.next = self.next_visit(row, schedule, visited, (look.ended, page.due));
        self.visits += 1;
        match found {
            Found::Same | Found::Changed if self.sample.wants(key) => self.sample.put(key, page),
            Found::Gone => self.sample.remove(key),
            _ => {}
        }
    }

    /// Whether the validators of a page that was sent whole changed when it did.
    fn learn_of_validators(&mut self, host: u32, row: &PageRow, visited: &Visited, found: Found) {
        if let (Some(past), Some(now)) = (&row.past, &visited.validators)
            && matches!(found, Found::Same | Found::Changed)
            && past.validators != Validators::default()
        {
            self.names.add(host, &row.url);
            self.proofs.learn(host, &past.validators, now, found == Found::Changed);
        }
    }

    /// Holds what was expected of a page against what was found.
    fn score_outlook(&mut self, key: PageKey, page: &Page, at: Days, found: Found) {
        let drawn = self.audits.ends(key);
        if found != Found::Failed
            && let Some(outlook) = self.policy.outlook(page, at)
        {
            self.calibration.add(outlook.rate, 1.0 - outlook.fresh, found != Found::Same);
            if drawn {
                self.audits.found(found == Found::Same, outlook.fresh);
            }
        }
    }

    /// Lets the policy learn from a visit; says whether it found the page changed.
    fn record(
        &mut self,
        page: &mut Page,
        row: &PageRow,
        visited: &Visited,
        new_links: u32,
    ) -> bool {
        let modified = visited.validators.as_ref().and_then(|v| v.last_modified.as_deref());
        let modified = modified.filter(|_| self.proofs.dates_are_true(page.host));
        let modified = modified.and_then(|text| Time::parse_http(text).ok()).map(days);
        let wanted = if self.has_plenty { 0 } else { new_links };
        let (at, found) = (days(visited.visit.at), found(visited.visit.change));
        let seen = page.record(&Visit { modified, new_links: wanted, ..Visit::new(at, found) });
        if seen.elapsed.is_some() && seen.succeeded() {
            self.yields.add(row.kind, new_links);
        }
        self.policy.visited(page, &seen);
        seen.changed
    }

    /// How much of a page is news when it changes, after a visit that found so much of it changed.
    fn news(&mut self, row: &PageRow, changed: Option<Score>) -> f32 {
        let before = row.past.as_ref().map_or(0.0, |past| past.noted.news);
        let Some(score) = changed else { return before };
        self.usual_news = averaged(self.usual_news, score, LAST_OF_ALL);
        averaged(before, score, LAST_CHANGE)
    }

    /// When a page is visited again that was visited until `ended`, and that the policy wants at `due`.
    fn next_visit(
        &self,
        row: &PageRow,
        schedule: &Schedule,
        visited: &Visited,
        (ended, due): (Time, Days),
    ) -> Next {
        let change = visited.visit.change;
        let failures = row.past.as_ref().map_or(0, |past| past.failures).saturating_add(1);
        let held = row.past.as_ref().is_some_and(|past| past.digest.is_some());
        let next = schedule.next(change, ended, failures, held);
        let failures = if change == Change::Failed { failures } else { 0 };
        match next {
            Next::Due(_) if self.spends_ahead() => {
                Next::Due(self.within_bounds(due, ended, failures))
            }
            // A tombstone is not looked at more often than a page that never changes.
            Next::Recheck(at) if self.spends_ahead() => {
                Next::Recheck(at.max(ended.after(self.turns(4.0))))
            }
            Next::Due(at) if is_outage(&visited.visit) => {
                Next::Due(at.min(self.soonest(ended, failures)))
            }
            next => next,
        }
    }

    /// What is to be noted of a page that is held, now that `former` turns out to have moved there: what was
    /// learned of the one that was watched for longer.
    pub fn inherited(
        &mut self,
        former: (PageKey, &PageRow),
        (key, row): (PageKey, &PageRow),
    ) -> Option<PolicyNotes> {
        let (before, mut page) = (self.page(former.0, former.1), self.page(key, row));
        if !row.held() || before.watched <= page.watched {
            return None;
        }
        self.policy.moved(&before, &mut page);
        let news = |row: &PageRow| row.past.as_ref().map_or(0.0, |past| past.noted.news);
        let own = news(row);
        Some(noted(&page, if own > 0.0 { own } else { news(former.1) }))
    }

    /// How long it takes to fetch every page so often.
    fn turns(&self, count: f64) -> Duration {
        let pages = self.sample.len() as f64 / self.sample.share();
        let seconds = self.plan.rate.map_or(0.0, |rate| count * pages / rate);
        Duration::try_from_secs_f64(seconds).unwrap_or_default()
    }

    /// When a page is due that the policy wants at `due`, having been visited at `last`, the last of so
    /// many visits in a row that failed.
    fn within_bounds(&self, due: Days, last: Time, failures: u8) -> Time {
        let longest = self.plan.longest.map_or(Time::NEVER, |longest| last.after(longest));
        time(due).max(self.soonest(last, failures)).min(longest)
    }

    /// Before when a page is not visited again.
    fn soonest(&self, last: Time, failures: u8) -> Time {
        last.after(Schedule::retry(self.plan.shortest, failures))
    }

    /// Whether a page that came up, due at `due` and not by lot, is to be fetched at `now`.
    pub fn judge(&self, key: PageKey, row: &PageRow, due: Time, now: Time) -> Result<(), NotNow> {
        // A page that is gone comes up when that is in doubt, and is nothing to be kept fresh.
        let planned = self.spends_ahead() && row.status != PageStatus::Gone;
        let Some(past) = row.past.as_ref().filter(|_| planned) else { return Ok(()) };
        let page = self.page(key, row);
        let today = days(now);
        let wanted = self.policy.due(&page, today);
        let put_off = wanted > today && wanted - days(due) > SLACK * page.elapsed(wanted);
        let longest = self.plan.longest.is_some_and(|most| past.last_visit.after(most) <= now);
        let later = self.within_bounds(wanted, past.last_visit, past.failures);
        if put_off && !longest && later > due {
            return Err(NotNow::PutOff(later));
        }
        let soonest = self.soonest(past.last_visit, past.failures);
        if soonest > now {
            return Err(if due > now {
                NotNow::NotWorthIt(soonest)
            } else {
                NotNow::PutOff(soonest)
            });
        }
        Ok(())
    }

    /// Tells how many pages wait for their first visit, next to those that are held: where they are more,
    /// pages are not valued for leading to others.
    pub fn expect(&mut self, new: u64, held: u64) {
        self.has_plenty = new > held;
    }

    /// A request for a page is made: by what it is asked whether it changed.
    pub fn asked(&mut self, key: PageKey, row: &PageRow) -> Conditions {
        self.audits.asked();
        match &row.past {
            Some(_) if self.audits.is_out(key) => Conditions::NONE,
            Some(past) if self.plan.audits > 0.0 => {
                self.proofs.conditions(folded(key.host.host), &past.validators)
            }
            _ => Conditions::ALL,
        }
    }

    /// A page to be looked at by lot, where it is time for one.
    pub fn draw(&mut self) -> Option<PageKey> {
        self.audits.draw(self.sample.keys())
    }

    /// Whether a page is looked at by lot.
    pub fn is_audit(&self, key: PageKey) -> bool {
        self.audits.is_out(key)
    }

    /// Tells the policy of the budget and of all pages, when it is time to. True when waiting pages
    /// may be due sooner than they were told.
    pub fn tick(&mut self, now: Time) -> bool {
        if !self.is_time_to_plan(now) {
            return false;
        }
        (self.planned, self.visits_planned) = (now, self.visits);
        let length = 7.0;
        let fetches = self.plan.rate.map_or(0.0, |rate| rate * 86_400.0 * length);
        let fetches = (fetches * self.sample.share()).round() as usize;
        let round = Round { start: days(now), length, fetches };
        self.policy.plan(&round, self.sample.pages_mut()) && self.spends_ahead()
    }

    /// A plan looks at the whole sample: it is made anew when visits have told something since.
    fn is_time_to_plan(&self, now: Time) -> bool {
        let since = now.since(self.planned);
        let (visits, sample) = ((self.visits - self.visits_planned) as usize, self.sample.len());
        let some = since >= PLAN_EVERY && visits * 1000 >= sample;
        // Where nothing is to be divided, the policy learns all the same what pages are like, a few times.
        let much = match self.plan.rate {
            Some(_) => visits * 20 > sample,
            None => visits * 5 > self.visits as usize,
        };
        (some || much || since >= PLAN_AT_LEAST) && since >= PLAN_AT_MOST && sample > 0
    }

    /// How fresh the collection is by the sample; `None` where nothing is held.
    pub fn freshness(&self, held: u64, now: Time) -> Option<Freshness> {
        self.sample.freshness(&*self.policy, &self.audits.correction(), held, now)
    }

    /// Where new pages are found.
    pub fn yields(&self) -> &Yields {
        &self.yields
    }

    /// What was predicted of visits, beside what they found.
    pub fn calibration(&self) -> &Calibration {
        &self.calibration
    }

    /// A page as the policy sees it, with the weight that the user gives it.
    fn page(&self, key: PageKey, row: &PageRow) -> Page {
        let news = row.past.as_ref().map_or(0.0, |past| past.noted.news);
        let rank = if self.plan.importance { weight(row.importance) } else { 1.0 };
        let trust = self.suspects.weight(key.host);
        let overridden = self.overrides.weight(&row.url);
        let weight = rank * trust * overridden * worth_of_change(news, self.usual_news);
        Page { weight, ..page_of(key, row) }
    }

    /// How long a page waits from visit to visit, as things are.
    pub fn interval(&self, key: PageKey, row: &PageRow, now: Time) -> Duration {
        let page = Page { last: days(now), ..self.page(key, row) };
        let wait = self.waits(&page, now);
        Duration::try_from_secs_f64(wait * 86_400.0).unwrap_or(Duration::MAX)
    }

    /// How often a page is believed to change, a day; `None` where nothing is.
    pub fn rate_of(&self, key: PageKey, row: &PageRow, now: Time) -> Option<f64> {
        Some(self.policy.outlook(&self.page(key, row), days(now))?.rate)
    }

    /// How fresh the pages will be, on average, if the plan is kept and each page waits so many times as
    /// long as it should; `None` where there is no plan.
    pub fn expected_freshness(&self, now: Time, stretch: f64) -> Option<f64> {
        self.plan.rate?;
        let pages = self.sample.pages().iter().map(|page| Page { last: days(now), ..*page });
        let shares = pages.map(|page| {
            let (rate, wait) =
                (self.policy.outlook(&page, days(now))?.rate, self.waits(&page, now));
            Some(mean_freshness(rate, wait * stretch))
        });
        let shares: Option<Vec<f64>> = shares.collect();
        let shares = shares.filter(|shares| !shares.is_empty())?;
        Some(shares.iter().sum::<f64>() / shares.len() as f64)
    }

    /// Days until a page that was visited at `now` is due.
    fn waits(&self, page: &Page, now: Time) -> Days {
        let bounded = self.within_bounds(self.policy.due(page, days(now)), now, 0);
        days(bounded) - days(now)
    }

    /// The numbers behind the due time of a page.
    pub fn reasons(&self, key: PageKey, row: &PageRow, now: Time) -> Vec<(&'static str, f64)> {
        self.policy.reasons(&self.page(key, row), days(now))
    }
}

/// By how much the last change counts in the average of a page's news, and of all pages'.
const LAST_CHANGE: f32 = 0.2;
const LAST_OF_ALL: f32 = 0.002;

/// The average of what is news at changes, after one more that counts by `share`.
fn averaged(before: f32, score: Score, share: f32) -> f32 {
    let score = score.share() as f32;
    if before > 0.0 { before + share * (score - before) } else { score }
}

/// What a change of a page is worth next to a usual one: a word edited now and then is worth less than a page
/// written anew. Within bounds, since a small edit may be the one that matters.
fn worth_of_change(news: f32, usual: f32) -> f32 {
    if news > 0.0 && usual > 0.0 { (news / usual).sqrt().clamp(0.5, 2.0) } else { 1.0 }
}

/// Whether a visit failed for what may be over soon: a page that is not found is not looked for the sooner.
fn is_outage(visit: &evercrawl_model::Visit) -> bool {
    visit.change == Change::Failed
        && !visit.outcome.is_substitute()
        && visit.outcome != Outcome::ClientError
}
