//! What does a visit mean? The steps from an answer that was read to the state, in the order that they need.
//!
//! [`Walk::take_steps`] is the list. Each step is a plain function of what it needs, in a module of [`steps`], and says
//! what follows from the visit: events for the visited host, and notes to other hosts.
//! [`Walk::carry_out`] applies the former and delivers the latter, at once and in order.

use evercrawl_model::{Event, HostUpdate, PageKey, PageKind, Refusal, Time};
use evercrawl_state::Store;
use tracing::{debug, debug_span};

use super::Walk;
use super::consequences::{Consequence, Consequences};
use super::counts::Counts;
use super::ledger::Ledger;
use super::steps::mirrors::ComparablePage;
use super::steps::{found_links, host_pace, link_evidence, moved, next_visit, soft_404};
use crate::EngineError;
use crate::frontier::Lease;
use crate::planner::Planner;
use crate::process::Processed;

impl<S: Store> Walk<S> {
    /// A page was visited: archives it, applies what that means, and lets its host go on.
    pub fn complete(&mut self, processed: Processed, now: Time) -> Result<(), EngineError> {
        let _visit = debug_span!("visit", url = processed.job.lease.row.url).entered();
        self.counts.fetched(&processed);
        self.ledger.act_for(Some(processed.job.lease.page.host));
        let completed = self.take_steps(processed, now);
        self.ledger.act_for(None);
        completed
    }

    fn take_steps(&mut self, mut processed: Processed, now: Time) -> Result<(), EngineError> {
        let page = processed.job.lease.page;
        if processed.job.lease.row.kind == PageKind::Probe || processed.is_empty_guess() {
            return self.forget_guess(&processed, now);
        }

        // The archive comes first: all that follows relies on the record. Without room for it there is no visit.
        match self.recorder.record(self.ledger.view(), &mut processed, now) {
            Ok(bytes) => self.counts.archived(bytes),
            Err(error) => return self.settle_unarchived(&processed, now).and(Err(error)),
        }

        // What the host's next request waits for is part of the visit.
        processed.visited.host = match processed.is_imported {
            true => HostUpdate::default(),
            false => self.settle_host(&processed, now),
        };
        self.counts.visited(&processed.visited.visit, now);

        // Link evidence before links: it says in which front queue a page waits that was just found. It is computed
        // now, from sums that the links do not change, and applied when the pages are known.
        let tags = processed.job.lease.row.tags;
        let tagged = self.insight.tags.has(self.ledger.view(), tags)?;
        let plan = *self.revisits.planner.plan();
        let evidence = link_evidence::of_visit(self.ledger.view(), &processed, &plan, tagged)?;

        // Links before the visit: how many were new says how much the page is worth as a source of them.
        let moved_to = moved::target(&processed);
        let links = found_links::take(&mut processed, &evidence, &plan, &self.insight.usual, now);
        let new_links = self.carry_out(links, now)?;

        // The lease ends before the page is given its next place, or the frontier would not take it in.
        self.ledger.frontier.end_lease(page, now);
        let (revisits, overrides) = (&mut self.revisits, &self.insight.overrides);
        let (view, schedule) = (self.ledger.view(), &self.config.schedule);
        next_visit::plan(view, &mut processed, new_links, revisits, overrides, schedule, now)?;
        let probe = |lease: &Lease| self.links.probe(lease, now);
        let doubt = soft_404::ask_if_in_doubt(self.ledger.view(), &processed, probe, now)?;
        self.carry_out(doubt.into_iter().collect(), now)?;

        // The visit itself. What follows is judged by the row that it leaves.
        processed = apply_visit(&mut self.ledger, &mut self.counts, processed, now)?;
        let view = self.ledger.view();
        let handed_out = link_evidence::hand_out(view, page, evidence, &plan)?;
        self.carry_out(handed_out, now)?;
        let handed_over = moved::hand_over(self.ledger.view(), page, moved_to)?;
        self.carry_out(handed_over, now)?;
        if let Some(seen) = ComparablePage::of(&processed).filter(|_| self.insight.holds_mirrors) {
            self.compare_with_other_hosts(&seen, now)?;
        }

        // A refusal comes after the visit, which would end it; and signals last, since a refused page ignores them.
        let refusal = refusal_if_hopeless(&processed, &mut self.revisits.planner, now);
        self.carry_out(refusal.into_iter().collect(), now)?;
        let (ledger, planner) = (&mut self.ledger, &mut self.revisits.planner);
        self.waiting_signals.take_up(ledger, planner, page, now)?;
        self.ledger.rest_if_paused(page.host, now)
    }

    /// What a visit means for its host: when it may be asked again.
    fn settle_host(&mut self, processed: &Processed, now: Time) -> HostUpdate {
        let jitter = host_pace::jitter(processed.job.lease.page, now, self.seed);
        let frontier = &mut self.ledger.frontier;
        host_pace::after_visit(processed, frontier, &self.config.schedule, jitter, now)
    }

    /// There was no room for an answer, so there is no visit. What it means for the host holds all the same, should the
    /// crawl end well.
    fn settle_unarchived(&mut self, processed: &Processed, now: Time) -> Result<(), EngineError> {
        let (host, update) = (processed.job.lease.page.host, self.settle_host(processed, now));
        self.ledger.apply(&Event::HostLearned { host, update }, now).map(drop)
    }

    /// A page was looked for that was only a guess, and there is none, or its answer was all that was wanted. No visit
    /// is logged; its host was asked all the same.
    fn forget_guess(&mut self, processed: &Processed, now: Time) -> Result<(), EngineError> {
        let page = processed.job.lease.page;
        self.carry_out(soft_404::answered(processed, now).into_iter().collect(), now)?;
        let update = self.settle_host(processed, now);
        self.ledger.frontier.end_lease(page, now);
        let events = [Event::HostLearned { host: page.host, update }, Event::Forgotten { page }];
        self.carry_out(events.map(Consequence::Event).into(), now)?;
        self.ledger.rest_if_paused(page.host, now)
    }

    /// Applies what follows from a visit, in order. Returns how many URLs came in that were not known: of
    /// what other hosts are sent, only where the answer comes at once.
    pub(super) fn carry_out(
        &mut self,
        consequences: Consequences,
        now: Time,
    ) -> Result<u32, EngineError> {
        let mut new_pages = 0;
        for consequence in consequences {
            match consequence {
                Consequence::Event(event) => drop(self.ledger.apply(&event, now)?),
                Consequence::Note(note) => new_pages += u32::from(self.deliver(note, now)?),
            }
        }
        Ok(new_pages)
    }
}

/// Applies a visit, and gives back what it was made of.
fn apply_visit<S: Store>(
    ledger: &mut Ledger<S>,
    counts: &mut Counts,
    mut processed: Processed,
    now: Time,
) -> Result<Processed, EngineError> {
    let visit = &processed.visited.visit;
    let (outcome, change) = (visit.outcome.code(), visit.change.code());
    debug!(outcome, change, status = visit.status, bytes = visit.bytes, "visited");
    let (host, events) = (visit.page.host, ledger.view().counters().site_events);
    let event = Event::Visited(processed.visited);
    ledger.apply(&event, now)?;
    if ledger.view().counters().site_events > events {
        counts.today.add_site(host, now);
    }
    let Event::Visited(visited) = event else { return Err(EngineError::Broken("a visit")) };
    processed.visited = visited;
    Ok(processed)
}

/// A page that failed too often, or is of no use, is not fetched again as things are.
fn refusal_if_hopeless(
    processed: &Processed,
    planner: &mut Planner,
    now: Time,
) -> Option<Consequence> {
    let (reason, again) = processed.verdict?;
    let lease = &processed.job.lease;
    let page = lease.page;
    planner.forget_page(page);
    let usual = |at| (at, processed.job.ended);
    let again = again.map(|at| planner.recheck_given_up(&lease.row, &processed.visited, usual(at)));
    Some(Consequence::Event(refusal(page, reason, again, now)))
}

/// What becomes of a page that is not to be fetched, for good or for now.
pub(super) fn refusal(page: PageKey, reason: Refusal, again: Option<Time>, at: Time) -> Event {
    if reason.puts_aside() {
        Event::PutAside { page, reason, at }
    } else {
        Event::Refused { page, reason, at, again }
    }
}
