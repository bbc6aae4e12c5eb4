//! Decides when each page is visited again: the lab's policies, applied to pages on disk.
//!
//! A [`Planner`] shows its policy one page at a time, built from the page's row: after a visit, to learn when it is
//! due next; and when its due time comes, to check that it still is. What the policy must know about all pages (usual
//! change rates, how many pages share the budget) it learns from a fair sample. The freshness of the collection is
//! estimated from the same sample. So the cost of a visit does not grow with the collection, and memory holds groups
//! and a sample, never all pages.

mod audit;
mod calibration;
mod conditions;
mod demand;
mod error;
pub mod freshness;
mod learned;
pub mod overrides;
mod page;
mod plan;
mod rechecks;
mod rescheduling;
mod sample;
pub mod schedule;
mod signals;
#[cfg(test)]
mod tests;
mod validators;
mod yields;

use std::sync::Arc;
use std::time::Duration;

use evercrawl_estimate::poisson::mean_freshness;
use evercrawl_model::{
    Change, NextVisit, Outcome, PageKey, PolicyNotes, Score, Time, Validators, Visited,
};
use evercrawl_policy::registry::{self, Setup};
use evercrawl_policy::{Days, Finding, Page, Policy, RevisitRotation, Round, Visit};
use evercrawl_state::{PageRow, PageStatus, Past};

use audit::Audits;
pub use calibration::{CLASSES, Calibration, PredictionRecord, rate_class};
pub use conditions::Conditions;
pub use error::PlannerError;
use evercrawl_insight::importance::weight_of_importance;
use evercrawl_insight::suspicion::Suspects;
use freshness::Freshness;
use overrides::Overrides;
use page::{fold_hash, from_days, policy_notes, to_days, to_finding, unweighted_policy_page};
pub use plan::PlannerConfig;
use rechecks::Rechecks;
pub use rechecks::{Absence, RecheckCounts};
use sample::Sample;
use schedule::Schedule;
use signals::HostNames;
use validators::ValidatorTrust;
pub use validators::{Agreement, Validator};
pub use yields::{LinkYield, LinkYields};

/// By which share of its interval a due time may be off. The threshold price moves a little with every visit, and
/// without slack each move would reschedule many pages.
const DUE_TIME_SLACK: f64 = 0.02;

/// The seed of the audit sample: it need not be secret, only fair.
const AUDIT_SEED: u64 = 0x6175_6469_7473;

/// A page that is absent is not rechecked before the budget could have fetched every page this many times.
const ROUNDS_UNTIL_RECHECK: f64 = 4.0;

/// How often the policy replans over all pages while visits bring news.
const REPLAN_INTERVAL: Duration = Duration::from_secs(60);
/// The shortest time between two plans, however many visits there are.
const MIN_REPLAN_INTERVAL: Duration = Duration::from_secs(1);
/// The longest time between two plans, even with few visits: rates also depend on the hour and the day.
const MAX_REPLAN_INTERVAL: Duration = Duration::from_secs(3600);

/// Why a page whose due time has come is not fetched now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deferral {
    /// By what is known now, it is due at this later time.
    DueLater(Time),
    /// It would be ahead of its time, and is not worth a fetch before this moment.
    NotWorthFetching(Time),
}

/// The circumstances of a visit, next to what it found.
#[derive(Clone, Debug)]
pub struct VisitContext {
    /// When it ended.
    pub ended: Time,
    /// Links to pages that were unknown before.
    pub new_links: u32,
    /// Whether the request was conditional, so that the server could answer 304.
    pub conditional: bool,
    /// The page that moved here, if this is the first visit after the move.
    pub moved_from: Option<(PageKey, PageRow)>,
}

/// A policy applied to a data directory.
pub struct Planner {
    plan: PlannerConfig,
    policy: Box<dyn Policy>,
    sample: Sample,
    overrides: Arc<Overrides>,
    suspects: Arc<Suspects>,
    audits: Audits,
    host_names: HostNames,
    validator_trust: ValidatorTrust,
    calibration: Calibration,
    yields: LinkYields,
    rechecks: Rechecks,
    rota: RevisitRotation,
    /// True when so many new pages are queued that finding more has no value.
    has_plenty: bool,
    /// How much of a page is news when it changes, averaged over all pages; 0 before the first change.
    usual_news: f32,
    planned: Time,
    visits: u64,
    visits_planned: u64,
}

impl Planner {
    /// A planner without any evidence.
    pub fn new(plan: PlannerConfig) -> Result<Self, PlannerError> {
        let setup = Setup { goal: plan.goal, ..Setup::default() };
        let policy = registry::find(plan.policy).and_then(|entry| entry.make(&setup));
        Ok(Planner {
            plan,
            policy: policy?,
            sample: Sample::default(),
            overrides: Arc::default(),
            suspects: Arc::default(),
            audits: Audits::new(plan.audits, AUDIT_SEED),
            host_names: HostNames::default(),
            validator_trust: ValidatorTrust::default(),
            calibration: Calibration::default(),
            yields: LinkYields::default(),
            rechecks: Rechecks::default(),
            rota: RevisitRotation::default(),
            has_plenty: false,
            usual_news: 0.0,
            planned: Time::EPOCH,
            visits: 0,
            visits_planned: 0,
        })
    }

    /// Its configuration.
    pub fn plan(&self) -> &PlannerConfig {
        &self.plan
    }

    /// The user's overrides.
    pub fn overrides(&self) -> &Overrides {
        &self.overrides
    }

    /// Replaces the user's overrides.
    pub fn set_overrides(&mut self, overrides: Arc<Overrides>) {
        self.overrides = overrides;
    }

    /// Replaces the hosts suspected of spam.
    pub fn set_suspects(&mut self, suspects: Arc<Suspects>) {
        self.suspects = suspects;
    }

    /// Changes the budget.
    pub fn set_rate(&mut self, rate: Option<f64>) {
        self.plan.rate = rate;
        self.planned = Time::EPOCH;
    }

    /// Whether pages are fetched ahead of their time when the budget has requests left.
    pub fn may_fetch_ahead(&self) -> bool {
        self.plan.rate.is_some()
    }

    /// Puts a held page into the sample, if it belongs there.
    pub fn sample_page(&mut self, key: PageKey, row: &PageRow) {
        if self.sample.includes(key) && row.held() {
            let page = self.policy_page(key, row);
            self.sample.insert(key, page);
        }
    }

    /// Removes a page that is no longer held.
    pub fn forget_page(&mut self, key: PageKey) {
        self.sample.remove(key);
        self.audits.end(key);
    }

    /// Records a visit: sets the page's next visit and the policy's notes.
    pub fn record_visit(
        &mut self,
        row: &PageRow,
        schedule: &Schedule,
        visited: &mut Visited,
        look: &VisitContext,
    ) {
        let (key, found) = (visited.visit.page, to_finding(visited.visit.change));
        let mut page = self.policy_page(key, row);
        if let Some((key, row)) = &look.moved_from {
            let former = self.policy_page(*key, row);
            self.policy.record_move(&former, &mut page);
        }
        if !look.conditional {
            self.learn_validators(page.host, row, visited, found);
        }
        self.record_prediction(key, &page, to_days(visited.visit.at), found);
        let changed = self.record_in_policy(&mut page, row, visited, look.new_links);
        let news = self.update_news(row, changed.then_some(visited.visit.score));
        visited.policy_notes = policy_notes(&page, news);
        self.rechecks.learn(row, &page, &visited.visit);
        visited.next = self.next_visit(row, schedule, visited, (look.ended, &page));
        self.visits += 1;
        match found {
            Finding::Same | Finding::Changed if self.sample.includes(key) => {
                self.sample.insert(key, page)
            }
            Finding::Gone => self.sample.remove(key),
            _ => {}
        }
    }

    /// Records a visit in doubt, which is no check yet: the policy keeps what it noted, and a second look comes at `due`.
    pub fn record_doubt(&mut self, row: &PageRow, visited: &mut Visited, due: Time) {
        visited.policy_notes = row.past.as_ref().map(|past| past.noted).unwrap_or_default();
        visited.next = NextVisit::Due(due);
        self.visits += 1;
    }

    /// Learns, from a full response, whether a page's validators changed when the page did.
    fn learn_validators(&mut self, host: u32, row: &PageRow, visited: &Visited, found: Finding) {
        if let (Some(past), Some(now)) = (&row.past, &visited.validators)
            && matches!(found, Finding::Same | Finding::Changed)
            && past.validators != Validators::default()
        {
            self.host_names.add(host, &row.url);
            self.validator_trust.learn(host, &past.validators, now, found == Finding::Changed);
        }
    }

    /// Compares what was predicted for a page with what the visit found.
    fn record_prediction(&mut self, key: PageKey, page: &Page, at: Days, found: Finding) {
        let drawn = self.audits.end(key);
        if found != Finding::Failed
            && let Some(outlook) = self.policy.outlook(page, at)
        {
            self.calibration.add(outlook.rate, 1.0 - outlook.fresh, found != Finding::Same);
            if drawn {
                self.audits.record(found == Finding::Same, outlook.fresh);
            }
        }
    }

    /// Lets the policy learn from a visit. Returns whether the page had changed.
    fn record_in_policy(
        &mut self,
        page: &mut Page,
        row: &PageRow,
        visited: &Visited,
        new_links: u32,
    ) -> bool {
        let modified = visited.validators.as_ref().and_then(|v| v.last_modified.as_deref());
        let modified = modified.filter(|_| self.validator_trust.dates_are_true(page.host));
        let modified = modified.and_then(|text| Time::parse_http(text).ok()).map(to_days);
        let wanted = if self.has_plenty { 0 } else { new_links };
        let (at, found) = (to_days(visited.visit.at), to_finding(visited.visit.change));
        let seen = page.record(&Visit { modified, new_links: wanted, ..Visit::new(at, found) });
        if seen.elapsed.is_some() && seen.succeeded() {
            self.yields.add(row.kind, new_links);
        }
        self.policy.record_visit(page, &seen);
        seen.changed
    }

    /// Updates how much of a page is news when it changes, given the score of the latest change.
    fn update_news(&mut self, row: &PageRow, changed: Option<Score>) -> f32 {
        let before = row.past.as_ref().map_or(0.0, |past| past.noted.news);
        let Some(score) = changed else { return before };
        self.usual_news = averaged(self.usual_news, score, LAST_CHANGE_SHARE_OF_ALL);
        averaged(before, score, LAST_CHANGE_SHARE)
    }

    /// The next visit of a page whose visit ended at `ended`, and that the policy wants when `page` is due.
    fn next_visit(
        &self,
        row: &PageRow,
        schedule: &Schedule,
        visited: &Visited,
        (ended, page): (Time, &Page),
    ) -> NextVisit {
        let change = visited.visit.change;
        if visited.visit.is_move() {
            let usual = (schedule.rare_visit(ended), ended);
            return NextVisit::Recheck(self.recheck_time(row, page, &visited.visit, usual));
        }
        let failures = row.past.as_ref().map_or(0, |past| past.failures).saturating_add(1);
        let held = row.past.as_ref().and_then(Past::whole_digest).is_some();
        let next = schedule.next_visit(change, ended, failures, held);
        let failures = if change == Change::Failed { failures } else { 0 };
        match next {
            NextVisit::Due(_) if self.may_fetch_ahead() => {
                NextVisit::Due(self.within_bounds(page.due, ended, failures))
            }
            NextVisit::Recheck(at) => {
                NextVisit::Recheck(self.recheck_time(row, page, &visited.visit, (at, ended)))
            }
            NextVisit::Due(at) if is_outage(&visited.visit) => {
                NextVisit::Due(at.min(self.earliest_revisit(ended, failures)))
            }
            next => next,
        }
    }

    /// When a page is rechecked that its visit found absent, where `usual` is when its schedule says so. Within a
    /// budget such a page is visited no more often than a page that never changes.
    fn recheck_time(
        &self,
        row: &PageRow,
        page: &Page,
        visit: &evercrawl_model::Visit,
        (usual, ended): (Time, Time),
    ) -> Time {
        let rounds = if self.may_fetch_ahead() { ROUNDS_UNTIL_RECHECK } else { 0.0 };
        let usual = usual.since(ended).max(self.time_to_fetch_all(rounds));
        ended.after(self.rechecks.wait(row, page, visit, (usual, ended)))
    }

    /// When a page is rechecked that was given up by its last visit, where `usual` is when its schedule says so.
    pub fn recheck_given_up(&self, row: &PageRow, visited: &Visited, usual: (Time, Time)) -> Time {
        let page = self.policy_page(visited.visit.page, row);
        self.recheck_time(row, &page, &visited.visit, usual)
    }

    /// Decides whether a page that is to be rechecked at `now` is fetched; otherwise when to ask again.
    pub fn check_recheck(&self, key: PageKey, row: &PageRow, now: Time) -> Result<(), Time> {
        if self.overrides.pin_interval(key).is_some() {
            return Ok(());
        }
        self.rechecks.check(row, now)
    }

    /// How rechecks of pages that were gone, moved or refused are doing.
    pub fn rechecks(&self) -> RecheckCounts {
        self.rechecks.counts()
    }

    /// The notes for a held page, when `former` turns out to have moved there: the page observed for longer passes on
    /// what was learned. `None` when nothing is to be passed on.
    pub fn inherit_notes(
        &mut self,
        former: (PageKey, &PageRow),
        (key, row): (PageKey, &PageRow),
    ) -> Option<PolicyNotes> {
        let (before, mut page) = (self.policy_page(former.0, former.1), self.policy_page(key, row));
        if !row.held() || before.watched <= page.watched {
            return None;
        }
        self.policy.record_move(&before, &mut page);
        let news = |row: &PageRow| row.past.as_ref().map_or(0.0, |past| past.noted.news);
        let own = news(row);
        Some(policy_notes(&page, if own > 0.0 { own } else { news(former.1) }))
    }

    /// How long the budget takes to fetch every page `count` times.
    fn time_to_fetch_all(&self, count: f64) -> Duration {
        let pages = self.sample.len() as f64 / self.sample.share();
        let seconds = self.plan.rate.map_or(0.0, |rate| count * pages / rate);
        Duration::try_from_secs_f64(seconds).unwrap_or_default()
    }

    /// When a page is due that the policy wants at `due`: between the shortest interval (longer after failures) and
    /// the longest after its `last` visit.
    fn within_bounds(&self, due: Days, last: Time, failures: u8) -> Time {
        let longest = self.plan.longest.map_or(Time::NEVER, |longest| last.after(longest));
        from_days(due).max(self.earliest_revisit(last, failures)).min(longest)
    }

    /// The earliest next visit of a page.
    fn earliest_revisit(&self, last: Time, failures: u8) -> Time {
        last.after(Schedule::retry_delay(self.plan.shortest, failures))
    }

    /// Decides whether a page whose due time has come, and that is no audit, is fetched at `now`.
    pub fn check_due(
        &self,
        key: PageKey,
        row: &PageRow,
        due: Time,
        now: Time,
    ) -> Result<(), Deferral> {
        // A page that is gone is only rechecked; there is no copy to keep fresh.
        let planned = self.may_fetch_ahead() && row.status != PageStatus::Gone;
        let Some(past) = row.past.as_ref().filter(|_| planned) else { return Ok(()) };
        let page = self.policy_page(key, row);
        let today = to_days(now);
        let wanted = self.policy.due(&page, today);
        let put_off =
            wanted > today && wanted - to_days(due) > DUE_TIME_SLACK * page.elapsed(wanted);
        let longest = self.plan.longest.is_some_and(|most| past.last_visit.after(most) <= now);
        let later = self.within_bounds(wanted, past.last_visit, past.failures);
        if put_off && !longest && later > due {
            return Err(Deferral::DueLater(later));
        }
        let soonest = self.earliest_revisit(past.last_visit, past.failures);
        if soonest > now {
            return Err(if due > now {
                Deferral::NotWorthFetching(soonest)
            } else {
                Deferral::DueLater(soonest)
            });
        }
        Ok(())
    }

    /// Sets how many new and how many held pages there are. When new pages are more, links to further new pages add
    /// no value to a page.
    pub fn set_page_counts(&mut self, new: u64, held: u64) {
        self.has_plenty = new > held;
    }

    /// Counts a request for a page, and chooses the validators that it sends.
    pub fn prepare_request(&mut self, key: PageKey, row: &PageRow) -> Conditions {
        self.audits.count_request();
        self.rechecks.count_request(row);
        match &row.past {
            Some(_) if self.audits.is_pending(key) => Conditions::NONE,
            Some(past) if self.plan.audits > 0.0 => {
                self.validator_trust.choose_conditions(fold_hash(key.host.host), &past.validators)
            }
            _ => Conditions::ALL,
        }
    }

    /// Draws a page for an audit, when one is owed.
    pub fn draw_audit(&mut self) -> Option<PageKey> {
        self.audits.draw_page(self.sample.keys())
    }

    /// Whether the visit of a page is an audit.
    pub fn is_audit(&self, key: PageKey) -> bool {
        self.audits.is_pending(key)
    }

    /// Lets the policy replan with the current budget and sample, when that is due. Returns true when queued pages
    /// may be due earlier than planned.
    pub fn replan_if_due(&mut self, now: Time) -> bool {
        if !self.is_plan_outdated(now) {
            return false;
        }
        (self.planned, self.visits_planned) = (now, self.visits);
        let length = 7.0;
        let fetches = self.plan.rate.map_or(0.0, |rate| rate * 86_400.0 * length);
        let fetches = (fetches * self.sample.share()).round() as usize;
        let round = Round { start: to_days(now), length, fetches };
        self.policy.plan_round(&round, self.sample.pages_mut()) && self.may_fetch_ahead()
    }

    /// A plan reads the whole sample, so it is only renewed after enough visits.
    fn is_plan_outdated(&self, now: Time) -> bool {
        let since = now.since(self.planned);
        let (visits, sample) = ((self.visits - self.visits_planned) as usize, self.sample.len());
        let some = since >= REPLAN_INTERVAL && visits * 1000 >= sample;
        // Without a budget there is nothing to divide, but a few plans let the policy learn its priors.
        let much = match self.plan.rate {
            Some(_) => visits * 20 > sample,
            None => visits * 5 > self.visits as usize,
        };
        (some || much || since >= MAX_REPLAN_INTERVAL) && since >= MIN_REPLAN_INTERVAL && sample > 0
    }

    /// The freshness of the collection, estimated from the sample; `None` when nothing is held.
    pub fn freshness(&self, held: u64, now: Time) -> Option<Freshness> {
        self.sample.freshness(&*self.policy, &self.audits.correction(), held, now)
    }

    /// New links per visit, by kind of page.
    pub fn yields(&self) -> &LinkYields {
        &self.yields
    }

    /// Predictions for visits, compared with what they found.
    pub fn calibration(&self) -> &Calibration {
        &self.calibration
    }

    /// A page as the policy sees it, with its weight.
    fn policy_page(&self, key: PageKey, row: &PageRow) -> Page {
        let news = row.past.as_ref().map_or(0.0, |past| past.noted.news);
        let rank = if self.plan.importance { weight_of_importance(row.importance) } else { 1.0 };
        let trust = self.suspects.weight(key.host);
        let overridden = self.overrides.boost_factor(&row.url);
        let weight = rank * trust * overridden * value_of_change(news, self.usual_news);
        Page { weight, ..unweighted_policy_page(key, row) }
    }

    /// The time between two visits of a page under the current plan.
    pub fn revisit_interval(&self, key: PageKey, row: &PageRow, now: Time) -> Duration {
        let page = Page { last: to_days(now), ..self.policy_page(key, row) };
        let wait = self.next_due(&page, now);
        Duration::try_from_secs_f64(wait * 86_400.0).unwrap_or(Duration::MAX)
    }

    /// The believed change rate of a page, in changes per day.
    pub fn change_rate_of(&self, key: PageKey, row: &PageRow, now: Time) -> Option<f64> {
        Some(self.policy.outlook(&self.policy_page(key, row), to_days(now))?.rate)
    }

    /// The expected mean freshness if the plan is kept and every interval is stretched by this factor; `None` without
    /// a plan.
    pub fn expected_freshness(&self, now: Time, stretch: f64) -> Option<f64> {
        self.plan.rate?;
        let pages = self.sample.pages().iter().map(|page| Page { last: to_days(now), ..*page });
        let shares = pages.map(|page| {
            let (rate, wait) =
                (self.policy.outlook(&page, to_days(now))?.rate, self.next_due(&page, now));
            Some(mean_freshness(rate, wait * stretch))
        });
        let shares: Option<Vec<f64>> = shares.collect();
        let shares = shares.filter(|shares| !shares.is_empty())?;
        Some(shares.iter().sum::<f64>() / shares.len() as f64)
    }

    /// Days until a page visited at `now` is due.
    fn next_due(&self, page: &Page, now: Time) -> Days {
        let bounded = self.within_bounds(self.policy.due(page, to_days(now)), now, 0);
        to_days(bounded) - to_days(now)
    }

    /// The numbers behind the due time of a page, by name.
    pub fn explain_policy(
        &self,
        key: PageKey,
        row: &PageRow,
        now: Time,
    ) -> Vec<(&'static str, f64)> {
        self.policy.explain(&self.policy_page(key, row), to_days(now))
    }
}

/// The weight of the last change in the average of a page's news, and in that of all pages.
const LAST_CHANGE_SHARE: f32 = 0.2;
const LAST_CHANGE_SHARE_OF_ALL: f32 = 0.002;

/// The average score of changes, after one more that counts by `share`.
fn averaged(before: f32, score: Score, share: f32) -> f32 {
    let score = score.share() as f32;
    if before > 0.0 { before + share * (score - before) } else { score }
}

/// The value of a change of this page next to a usual one: small edits count less than rewritten pages. Bounded,
/// since a small edit may be the one that matters.
fn value_of_change(news: f32, usual: f32) -> f32 {
    if news > 0.0 && usual > 0.0 { (news / usual).sqrt().clamp(0.5, 2.0) } else { 1.0 }
}

/// Whether a visit failed for a reason that may soon be over. A missing page is not retried sooner.
fn is_outage(visit: &evercrawl_model::Visit) -> bool {
    visit.change == Change::Failed
        && !visit.outcome.is_substitute()
        && visit.outcome != Outcome::ClientError
}
