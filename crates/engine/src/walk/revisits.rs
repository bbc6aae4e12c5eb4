//! When are known pages visited again? As the planner says, page by page, within the budget.
//!
//! A page that comes up is judged again, since what a fetch must be worth may have risen while it
//! waited; then it goes back. When that has fallen, waiting pages would come up too late: they are
//! reviewed in pieces between other work. And when nothing is due though the budget allows a request,
//! what is due next comes ahead of its time.

use std::sync::Arc;
use std::time::Duration;

use evercrawl_model::{Event, HostKey, NextVisit, PageKey, Time};
use evercrawl_state::{PageRow, Place, Store, View};

use super::confirming::{self, Confirming};
use super::ledger::Ledger;
use super::periodic_review::PeriodicReview;
use super::section_recheck::SectionRecheck;
use crate::EngineError;
use crate::frontier::{AUDIT_DUE, Frontier, Lease};
use crate::overrides::Overrides;
use crate::planner::{Deferral, Planner, PlannerConfig};
use crate::suspicion::Suspects;

/// How often the horizon is set anew up to which pages may come ahead of their time.
const LOOK_AHEAD_EVERY: Duration = Duration::from_secs(1);
/// Collections up to this size are read at the start to know what pages are like.
const READ_AT_START: u64 = 200_000;
/// Pages that are reviewed in one go.
pub(super) const PIECE: usize = 200;

/// When known pages are visited again, and which of them are to be reviewed.
pub(super) struct Revisits {
    pub(super) planner: Planner,
    pub(super) confirming: Confirming,
    section_recheck: SectionRecheck,
    periodic_review: PeriodicReview,
    full_review: FullReview,
    /// When the horizon was last taken back to the present.
    looked_back: Time,
    /// Nothing is fetched ahead of its time before this moment: it would be of no use.
    ahead_from: Time,
}

impl Revisits {
    /// Nothing was visited yet in this run.
    pub(super) fn new(planner: Planner) -> Self {
        Revisits {
            planner,
            confirming: Confirming::default(),
            section_recheck: SectionRecheck::default(),
            periodic_review: PeriodicReview::default(),
            full_review: FullReview::default(),
            looked_back: Time::EPOCH,
            ahead_from: Time::EPOCH,
        }
    }

    /// A page of `host` was visited, one of so many that are known: it pays for reviews of others.
    pub(super) fn visited(&mut self, host: HostKey, pages: u64, now: Time) {
        self.section_recheck.visited(host, self.planner.take_changed_groups());
        self.periodic_review.add_turns(self.planner.pages_to_reconsider(pages, now));
    }

    /// Has all waiting pages reviewed: they may be worth more than they were.
    pub(super) fn review_all(&mut self) {
        self.full_review.ask();
    }

    /// Plans anew where that is due, for what the policy learns by it.
    pub(super) fn learn_from_plan<S: Store>(&mut self, ledger: &Ledger<S>, now: Time) {
        let [new, held, ..] = ledger.view().counters().by_status;
        self.planner.set_page_counts(new, held);
        if self.planner.replan_if_due(now) {
            self.review_all();
        }
    }

    /// Keeps the plan in line with what was learned and what time it is.
    pub(super) fn replan<S: Store>(
        &mut self,
        ledger: &mut Ledger<S>,
        now: Time,
    ) -> Result<(), EngineError> {
        self.learn_from_plan(ledger, now);
        if now.since(self.looked_back) >= LOOK_AHEAD_EVERY {
            // What has become due since comes before what is only due later.
            self.looked_back = now;
            ledger.frontier.reset_horizon(now);
        }
        if let Some(page) = self.planner.draw_audit() {
            self.audit(page, ledger, now)?;
        }
        self.section_recheck.review_piece(&self.planner, ledger, now)?;
        self.periodic_review.review_piece(&self.planner, ledger, now)?;
        self.review_piece(ledger, now)
    }

    /// Goes on with the review of all waiting pages.
    fn review_piece<S: Store>(
        &mut self,
        ledger: &mut Ledger<S>,
        now: Time,
    ) -> Result<(), EngineError> {
        let FullReview::After { page: after, .. } = self.full_review else { return Ok(()) };
        let piece = piece_after(ledger.view(), after)?;
        self.full_review.reached(piece.last().map(|(page, _)| *page));
        for (page, row) in piece {
            self.planner.sample_page(page, &row);
            reschedule(page, self.planner.earlier_due(page, &row, now), ledger, now)?;
        }
        Ok(())
    }

    /// Lets a page that was sampled at random come before all others, so that chance decides and not what else is
    /// due.
    fn audit<S: Store>(
        &mut self,
        page: PageKey,
        ledger: &mut Ledger<S>,
        now: Time,
    ) -> Result<(), EngineError> {
        let waits = |row: &PageRow| row.held() && matches!(row.place, Some(Place::Due(_)));
        // After a crash the planner may know pages whose first visit was not committed.
        if ledger.view().page(page)?.as_ref().is_none_or(|row| !waits(row)) {
            self.planner.forget_page(page);
            return Ok(());
        }
        reschedule(page, Some(AUDIT_DUE), ledger, now)
    }

    /// Lets what is due next come ahead of its time, where the budget allows a request that nothing
    /// else asks for.
    pub(super) fn look_ahead(&self, frontier: &mut Frontier, now: Time) -> bool {
        self.planner.may_fetch_ahead() && self.ahead_from <= now && frontier.extend_horizon()
    }

    /// When to look ahead again, where nothing can be asked before `until`.
    pub(super) fn next_look_ahead(&self, until: Time, now: Time) -> Time {
        if self.ahead_from > now { until.min(self.ahead_from) } else { until }
    }

    /// A leased page that is worth a fetch now; `None` when it was put off or given back.
    pub(super) fn judge<S: Store>(
        &mut self,
        lease: Box<Lease>,
        overrides: &Overrides,
        ledger: &mut Ledger<S>,
        now: Time,
    ) -> Result<Option<Box<Lease>>, EngineError> {
        let Place::Due(due) = lease.place else { return self.judge_recheck(lease, ledger, now) };
        let is_second_look = confirming::is_second_look(&lease);
        let is_audit = self.planner.is_audit(lease.page);
        if is_audit || is_second_look && due <= now || self.confirming.wants(lease.page) {
            return Ok(Some(lease));
        }
        let pinned = pinned_due(overrides, &lease).unwrap_or(Time::NEVER);
        if pinned <= now {
            return Ok(Some(lease));
        }
        let verdict = match self.planner.check_due(lease.page, &lease.row, due, now) {
            // A second look that comes at once says little.
            _ if is_second_look => Err(Deferral::NotWorthFetching(due)),
            Err(Deferral::DueLater(later)) if later.min(pinned) <= due => ahead_of_pin(&lease, now),
            verdict => verdict,
        };
        match verdict {
            Ok(()) => return Ok(Some(lease)),
            Err(Deferral::DueLater(due)) => {
                ledger.frontier.end_lease(lease.page, now);
                reschedule(lease.page, Some(due.min(pinned)), ledger, now)?;
            }
            Err(Deferral::NotWorthFetching(until)) => {
                // What is due later still is no better: nothing is fetched ahead for a while.
                ledger.frontier.defer_page(&lease, now);
                ledger.frontier.reset_horizon(now);
                self.ahead_from = until.min(now.after(LOOK_AHEAD_EVERY));
            }
        }
        Ok(None)
    }

    /// A leased page, unless it is to be rechecked and the share of requests for that is used up.
    fn judge_recheck<S: Store>(
        &mut self,
        lease: Box<Lease>,
        ledger: &mut Ledger<S>,
        now: Time,
    ) -> Result<Option<Box<Lease>>, EngineError> {
        let Err(later) = self.planner.check_recheck(lease.page, &lease.row, now) else {
            return Ok(Some(lease));
        };
        let (page, next) = (lease.page, NextVisit::Recheck(later));
        ledger.frontier.end_lease(page, now);
        ledger.apply(&Event::Rescheduled { page, next, policy_notes: None }, now)?;
        Ok(None)
    }
}

/// Where a review of all waiting pages is.
#[derive(Debug, Default)]
enum FullReview {
    #[default]
    Done,
    /// On its way, after this page. Where it was asked for anew meanwhile it begins again at its end: to
    /// begin at once would leave the last pages of a large collection out for ever.
    After { page: Option<PageKey>, anew: bool },
}

impl FullReview {
    fn ask(&mut self) {
        *self = match *self {
            FullReview::Done => FullReview::After { page: None, anew: false },
            FullReview::After { page, .. } => FullReview::After { page, anew: page.is_some() },
        };
    }

    /// All pages up to `last` were reviewed; there are no more where it is `None`.
    fn reached(&mut self, last: Option<PageKey>) {
        let begun = FullReview::After { page: None, anew: false };
        *self = match (last, &*self) {
            (Some(_), FullReview::After { anew, .. }) => {
                FullReview::After { page: last, anew: *anew }
            }
            (None, FullReview::After { anew: true, .. }) => begun,
            _ => FullReview::Done,
        };
    }
}

/// The next pages to be reviewed.
pub(super) fn piece_after<S: Store>(
    view: &View<S>,
    after: Option<PageKey>,
) -> Result<Vec<(PageKey, PageRow)>, EngineError> {
    Ok(view.pages_after(after).take(PIECE).collect::<Result<_, _>>()?)
}

/// Gives a page another due time, where it is to have one.
pub(super) fn reschedule<S: Store>(
    page: PageKey,
    due: Option<Time>,
    ledger: &mut Ledger<S>,
    now: Time,
) -> Result<(), EngineError> {
    let Some(due) = due else { return Ok(()) };
    let next = NextVisit::Due(due);
    ledger.apply(&Event::Rescheduled { page, next, policy_notes: None }, now).map(drop)
}

/// When a leased page must be visited because it is pinned.
fn pinned_due(overrides: &Overrides, lease: &Lease) -> Option<Time> {
    let every = overrides.pin_interval(lease.page)?;
    lease.row.past.as_ref().map(|past| past.last_visit.after(every))
}

/// Whether a page that waits for its pin alone, and cannot be put off beyond it, may come ahead of its
/// time: once half of its time is over, so that a pin does not take what others could use.
fn ahead_of_pin(lease: &Lease, now: Time) -> Result<(), Deferral> {
    let (Some(past), Place::Due(due)) = (&lease.row.past, lease.place) else { return Ok(()) };
    let half = past.last_visit.after(due.since(past.last_visit) / 2);
    if half <= now { Ok(()) } else { Err(Deferral::NotWorthFetching(half)) }
}

/// The planner of a crawl: it knows what it `learned` before, or else at least what pages are held.
pub fn planner<S: Store>(
    plan: PlannerConfig,
    learned: Option<&[u8]>,
    state: &View<S>,
) -> Result<Planner, EngineError> {
    let (mut planner, resumed) = planner_at_once(plan, learned, state)?;
    if !resumed && state.counters().pages <= READ_AT_START && state.counters().visits > 0 {
        for page in state.pages() {
            let (key, row) = page?;
            planner.sample_page(key, &row);
        }
    }
    Ok(planner)
}

/// The same without reading pages, and whether it knows what was learned before: to explain a single page one need
/// not wait for all of them.
pub fn planner_at_once<S: Store>(
    plan: PlannerConfig,
    learned: Option<&[u8]>,
    state: &View<S>,
) -> Result<(Planner, bool), EngineError> {
    let mut planner = Planner::new(plan)?;
    planner.set_overrides(Arc::new(Overrides::read(state)?));
    planner.set_suspects(Arc::new(Suspects::read(state, &plan.spam)?));
    let resumed = learned.is_some_and(|learned| planner.restore_learned(learned));
    Ok((planner, resumed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_review_of_all_pages_comes_to_the_last_however_often_it_is_asked_for() {
        let page = |url| PageKey { host: HostKey { shard: 0, host: 1 }, url };
        let mut review = FullReview::default();
        let mut seen = Vec::new();
        review.ask();
        for step in 0..8 {
            let FullReview::After { page: after, .. } = review else { break };
            if step < 4 {
                review.ask();
            }
            let next = after.map_or(1, |page| page.url + 1);
            seen.extend((next <= 3).then_some(next));
            review.reached((next <= 3).then(|| page(next)));
        }
        assert_eq!(seen, [1, 2, 3, 1, 2, 3]);
        assert!(matches!(review, FullReview::Done));
    }
}
