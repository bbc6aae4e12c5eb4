//! What does a visit mean, for its page and for its host?

use std::time::Duration;

use evercrawl_archive as archive;
use evercrawl_model::{
    self as model, Change, Event, HostKey, HostUpdate, PageKey, PageKind, RecordAt, Time,
};
use evercrawl_state::Store;

use super::claiming::Spoken;
use super::mirroring::Sight;
use super::{Walk, joining, refusal};
use crate::EngineError;
use crate::frontier::Lease;
use crate::planner::VisitContext;
use crate::process::{Job, Processed};
use crate::schedule::is_overload_status;

impl<S: Store> Walk<S> {
    /// A host failed or asked for a pause: it gets one, and the moment it ends is returned.
    pub(super) fn leave_alone(
        &mut self,
        lease: &Lease,
        asked: Option<Duration>,
        update: &mut HostUpdate,
        now: Time,
    ) -> Time {
        let failures = lease.host_failures.saturating_add(1);
        let jitter = self.jitter(lease.page, now);
        let until = now.after(self.config.schedule.host_backoff(asked, failures, jitter));
        update.failures = Some(failures);
        update.blocked_until = Some(until);
        self.frontier.block(lease.page.host, until, failures);
        until
    }

    /// A host answered as it should: its failures are forgiven.
    pub(super) fn recovered(&mut self, lease: &Lease, update: &mut HostUpdate) {
        update.failures = (lease.host_failures > 0).then_some(0);
        self.frontier.record_good_answer(lease.page.host);
    }

    /// A page was visited: archive it, apply what it means, let its host go on.
    pub fn complete(&mut self, mut processed: Processed, now: Time) -> Result<(), EngineError> {
        if processed.job.lease.row.kind == PageKind::Probe {
            return self.probed(&mut processed, now);
        }
        if processed.is_empty_guess() {
            return self.forget(&mut processed, now);
        }
        self.refer_anew(&mut processed)?;
        if let Some(records) = processed.records.take() {
            match self.append(records, &processed, now) {
                Ok(at) => processed.visited.visit.record = at,
                Err(error) => return self.heed_unarchived(processed, now).and(Err(error)),
            }
        }
        self.settle_host(&mut processed, now);
        self.tell(&processed, now);
        let spoken = self.speak(&processed)?;
        let target = joining::target(&processed);
        let new_links = self.follow(&mut processed, &spoken, now)?;
        self.frontier.end_lease(processed.job.lease.page, now);
        self.plan_next(&mut processed, new_links, now)?;
        self.apply_visit(processed, spoken, target, now)
    }

    /// Counts a visit.
    fn tell(&mut self, processed: &Processed, now: Time) {
        let visit = &processed.visited.visit;
        self.tally.pages += 1;
        self.tally.bytes += visit.bytes;
        self.tally.first += u64::from(visit.change == Change::New);
        self.tally.changes += u64::from(matches!(visit.change, Change::Changed | Change::Near));
        self.today.add(visit.change, now);
    }

    /// Takes up where a page leads; returns how many of these pages are new.
    fn follow(
        &mut self,
        processed: &mut Processed,
        spoken: &[Spoken],
        now: Time,
    ) -> Result<u32, EngineError> {
        for (reason, count) in processed.leads.refused.iter() {
            self.apply(&Event::LinksRefused { reason, count }, now)?;
        }
        let importance = self.importance_of_found(processed);
        let row = &processed.job.lease.row;
        let list = (row.kind, row.past.as_ref().and_then(|past| past.last_look));
        let mut new_links = 0;
        for found in std::mem::take(&mut processed.leads.found) {
            let found = self.placed(found, importance, spoken)?;
            new_links += u32::from(self.discover(found, list, now)?);
        }
        Ok(new_links)
    }

    /// When the page is to be visited next.
    fn plan_next(
        &mut self,
        processed: &mut Processed,
        new_links: u32,
        now: Time,
    ) -> Result<(), EngineError> {
        let Job { lease, ended, .. } = &processed.job;
        let (page, ended) = (lease.page, *ended);
        let conditional = lease.validators_to_send() != (None, None);
        let former = joining::former(self.state.view(), &lease.row)?;
        let look = VisitContext { ended, new_links, conditional, moved_from: former };
        self.planner.record_visit(&lease.row, &self.config.schedule, &mut processed.visited, &look);
        self.section_recheck.visited(page.host, self.planner.take_changed_groups());
        self.pay_for_turns(now);
        self.confirming.visited(processed, &self.config.schedule);
        if processed.suspect {
            let lease = processed.job.lease.clone();
            self.probe(&lease, now)?;
        }
        let visited = &mut processed.visited;
        if visited.visit.is_move() {
            visited.next = model::NextVisit::Recheck(self.config.schedule.rare_visit(ended));
        }
        visited.next = self.overrides.apply_pin(page, ended, visited.next);
        Ok(())
    }

    /// Applies a visit, and what follows from it for others.
    fn apply_visit(
        &mut self,
        processed: Processed,
        spoken: Vec<Spoken>,
        target: Option<(HostKey, Box<str>)>,
        now: Time,
    ) -> Result<(), EngineError> {
        let page = processed.job.lease.page;
        let sight = Sight::of(&processed);
        let events = self.counters().site_events;
        self.apply(&Event::Visited(processed.visited), now)?;
        self.heed(page, spoken, now)?;
        self.join(page, target, now)?;
        if self.counters().site_events > events {
            self.today.add_site(page.host, now);
        }
        if let Some(sight) = sight {
            self.liken(&sight, now)?;
        }
        if let Some((reason, again)) = processed.verdict {
            self.planner.forget_page(page);
            self.apply(&refusal(page, reason, again, now), now)?;
        }
        self.recall(page, now)?;
        self.rest_if_paused(page, now)
    }

    /// What a visit means for its host: when it may be asked again.
    fn settle_host(&mut self, processed: &mut Processed, now: Time) {
        let Job { lease, fetched, ended, .. } = &processed.job;
        let took = fetched.times.total;
        if is_overload_status(processed.visited.visit.status) {
            self.frontier.lengthen_pauses(lease.page.host);
        }
        self.frontier.record_answer(lease.page.host, fetched.ip, took, *ended);
        let next = self.frontier.pause_for_reading(lease.page.host, processed.reading, *ended);
        let host = &mut processed.visited.host;
        host.next_allowed = Some(next);
        host.answer_time = Some(took);
        if processed.host_trouble {
            self.leave_alone(lease, processed.asked_pause, host, now);
        } else {
            self.recovered(lease, host);
        }
    }

    /// There was no room for an answer, so there is no visit. What it asked of us holds all the same, should the
    /// crawl end well.
    fn heed_unarchived(&mut self, mut processed: Processed, now: Time) -> Result<(), EngineError> {
        self.settle_host(&mut processed, now);
        let (host, update) = (processed.job.lease.page.host, processed.visited.host);
        self.apply(&Event::HostLearned { host, update }, now).map(drop)
    }

    /// A list was looked for where lists usually are, and there is none. No visit tells of it; its host was
    /// asked all the same.
    pub(super) fn forget(
        &mut self,
        processed: &mut Processed,
        now: Time,
    ) -> Result<(), EngineError> {
        let page = processed.job.lease.page;
        self.settle_host(processed, now);
        let update = std::mem::take(&mut processed.visited.host);
        self.frontier.end_lease(page, now);
        self.apply(&Event::HostLearned { host: page.host, update }, now)?;
        self.apply(&Event::Forgotten { page }, now)?;
        self.rest_if_paused(page, now)
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

    pub(super) fn rest_if_paused(&mut self, page: PageKey, now: Time) -> Result<(), EngineError> {
        let mut events = Vec::new();
        self.frontier.park_if_paused(self.state.view(), page.host, now, &mut events)?;
        for event in &events {
            self.apply(event, now)?;
        }
        Ok(())
    }
}
