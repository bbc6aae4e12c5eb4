//! How is the budget spent on known pages? By the planner's word, page by page.
//!
//! A page that comes up is asked about again, since what a fetch must be worth may have risen while it
//! waited; then it goes back. When that has fallen, waiting pages would come up too late: they are
//! looked at in pieces between other work. And when nothing is due though the budget allows a request,
//! what is due next comes ahead of its time.

use std::sync::Arc;
use std::time::Duration;

use evercrawl_model::{Event, PageKey, Time};
use evercrawl_state::{PageRow, Place, Store, View};

use super::Walk;
use crate::EngineError;
use crate::frontier::{AUDIT_DUE, Lease};
use crate::overrides::Overrides;
use crate::planner::{Deferral, Planner, PlannerConfig};
use crate::suspicion::Suspects;

/// How often it is looked anew which pages may come ahead of their time.
const LOOK_AHEAD_EVERY: Duration = Duration::from_secs(1);
/// Collections up to this size are read at the start to know what pages are like.
const READ_AT_START: u64 = 200_000;
/// Pages that are looked at again in one go.
pub(super) const PIECE: usize = 200;

/// How far ahead of the present the walk looks.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    /// When the horizon was last taken back to the present.
    looked_back: Time,
    /// Nothing is fetched ahead of its time before this moment: it would be of no use.
    from: Time,
    again: Again,
}

/// Where a look at all waiting pages is.
#[derive(Debug, Default)]
enum Again {
    #[default]
    Done,
    /// On its way, after this page. Where it was asked for anew meanwhile it begins again at its end: to
    /// begin at once would leave the last pages of a large collection out for ever.
    After { page: Option<PageKey>, anew: bool },
}

impl Again {
    fn ask(&mut self) {
        *self = match *self {
            Again::Done => Again::After { page: None, anew: false },
            Again::After { page, .. } => Again::After { page, anew: page.is_some() },
        };
    }

    /// All pages up to `last` were looked at; there are no more where it is `None`.
    fn reached(&mut self, last: Option<PageKey>) {
        *self = match (last, &*self) {
            (Some(_), Again::After { anew, .. }) => Again::After { page: last, anew: *anew },
            (None, Again::After { anew: true, .. }) => Again::After { page: None, anew: false },
            _ => Again::Done,
        };
    }
}

impl Ahead {
    /// When to look again, where nothing can be asked before `until`.
    pub(super) fn no_later(&self, until: Time, now: Time) -> Time {
        if self.from > now { until.min(self.from) } else { until }
    }
}

impl<S: Store> Walk<S> {
    /// Keeps the plan in line with what was learned and what time it is.
    pub(super) fn replan(&mut self, now: Time) -> Result<(), EngineError> {
        let [new, held, ..] = self.state.view().counters().standing;
        self.planner.set_page_counts(new, held);
        if self.planner.replan_if_due(now) {
            self.look_again();
        }
        if now.since(self.ahead.looked_back) >= LOOK_AHEAD_EVERY {
            // What has become due since comes before what is only due later.
            self.ahead.looked_back = now;
            self.frontier.reset_horizon(now);
        }
        if let Some(page) = self.planner.draw_audit() {
            self.audit(page, now)?;
        }
        self.look_at_stirred(now)?;
        self.ask_in_turn(now)?;
        let Again::After { page: after, .. } = self.ahead.again else { return Ok(()) };
        let piece: Result<Vec<_>, _> = self.state.view().pages_after(after).take(PIECE).collect();
        let piece = piece?;
        self.ahead.again.reached(piece.last().map(|(page, _)| *page));
        for (page, row) in piece {
            self.planner.sample_page(page, &row);
            if let Some(due) = self.planner.earlier_due(page, &row, now) {
                self.apply(&Event::Rescheduled { page, due, policy_notes: None }, now)?;
            }
        }
        Ok(())
    }

    /// Lets a page that was drawn by lot come before all others, so that it is the lot that decides
    /// and not what else is due.
    fn audit(&mut self, page: PageKey, now: Time) -> Result<(), EngineError> {
        let waits = |row: &PageRow| row.held() && matches!(row.place, Some(Place::Due(_)));
        // After a crash the planner may know pages whose first visit was not committed.
        if self.state.view().page(page)?.as_ref().is_none_or(|row| !waits(row)) {
            self.planner.forget_page(page);
            return Ok(());
        }
        self.apply(&Event::Rescheduled { page, due: AUDIT_DUE, policy_notes: None }, now)?;
        Ok(())
    }

    /// Looks at all waiting pages again: they may be worth more than they were.
    pub(super) fn look_again(&mut self) {
        self.ahead.again.ask();
    }

    /// Lets what is due next come ahead of its time, where the budget allows a request that nothing
    /// else asks for.
    pub(super) fn looks_ahead(&mut self, now: Time) -> bool {
        self.planner.may_fetch_ahead() && self.ahead.from <= now && self.frontier.extend_horizon()
    }

    /// A leased page that is worth a fetch now; `None` when it was put off or given back.
    pub(super) fn worth_it(
        &mut self,
        lease: Box<Lease>,
        now: Time,
    ) -> Result<Option<Box<Lease>>, EngineError> {
        let Place::Due(due) = lease.place else { return Ok(Some(lease)) };
        if self.planner.is_audit(lease.page) || self.confirming.wants(lease.page) {
            return Ok(Some(lease));
        }
        let pinned = self.pinned(&lease).unwrap_or(Time::NEVER);
        if pinned <= now {
            return Ok(Some(lease));
        }
        let verdict = match self.planner.check_due(lease.page, &lease.row, due, now) {
            Err(Deferral::DueLater(later)) if later.min(pinned) <= due => ahead_of_pin(&lease, now),
            verdict => verdict,
        };
        match verdict {
            Ok(()) => return Ok(Some(lease)),
            Err(Deferral::DueLater(due)) => {
                let due = due.min(pinned);
                self.frontier.end_lease(lease.page, now);
                self.apply(&Event::Rescheduled { page: lease.page, due, policy_notes: None }, now)?;
            }
            Err(Deferral::NotWorthFetching(until)) => {
                // What is due later still is no better: nothing is fetched ahead for a while.
                self.frontier.defer_page(&lease, now);
                self.frontier.reset_horizon(now);
                self.ahead.from = until.min(now.after(LOOK_AHEAD_EVERY));
            }
        }
        Ok(None)
    }
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

/// The same without a look at pages, and whether it knows what was learned before: one who asks about a single
/// page does not wait for all of them.
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
    use evercrawl_model::HostKey;

    use super::*;

    #[test]
    fn a_look_at_all_pages_comes_to_the_last_however_often_it_is_asked_for() {
        let page = |url| PageKey { host: HostKey { shard: 0, host: 1 }, url };
        let mut again = Again::default();
        let mut seen = Vec::new();
        again.ask();
        for step in 0..8 {
            let Again::After { page: after, .. } = again else { break };
            if step < 4 {
                again.ask();
            }
            let next = after.map_or(1, |page| page.url + 1);
            seen.extend((next <= 3).then_some(next));
            again.reached((next <= 3).then(|| page(next)));
        }
        assert_eq!(seen, [1, 2, 3, 1, 2, 3]);
        assert!(matches!(again, Again::Done));
    }
}
