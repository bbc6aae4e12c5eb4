//! Which page is fetched next? One that the frontier offers, once nothing says that it has to wait.

use std::time::Duration;

use evercrawl_model::{Band, Event, HostKey, HostLikeness, PageKind, Refusal, Time};
use evercrawl_state::{PageRow, Place, Store};
use evercrawl_urls::Canonical;
use tracing::debug;

use super::completion::refusal;
use super::insight::Insight;
use super::revisits::PIECE;
use super::robots_txt::stored_rules;
use super::steps::mirrors::page_at;
use super::steps::soft_404;
use super::sweep::put_aside;
use super::{Step, Walk};
use crate::EngineError;
use crate::frontier::{Lease, NextLease};
use crate::mirrors::{is_undecided, may_stand_in};

/// How long a page of a mirror waits for its original to be explored, since it was found.
const FOR_ORIGINAL: Duration = Duration::from_secs(86_400);
/// How long a page waits until it can be compared.
const FOR_COMPARISON: Duration = Duration::from_secs(60);
/// After which time a page that waits for another host comes up again.
const MOMENT: Duration = Duration::from_secs(1);
/// How long a suspect host rests when suspect hosts have had their share: for a run that ends when all is
/// visited that is longer than it waits.
const SUSPECT_REST: Duration = Duration::from_secs(600);

impl<S: Store> Walk<S> {
    /// What to do next at `now`. The driver is let do other work after some pages that were put off:
    /// when the budget falls, all that is due may be.
    pub fn next(&mut self, now: Time) -> Result<Step, EngineError> {
        self.revisits.replan(&mut self.ledger, now)?;
        for _ in 0..PIECE {
            let (next, rested) = self.ledger.next(now)?;
            match next {
                NextLease::Page(lease) => {
                    if let Some(step) = self.offer(lease, now)? {
                        return Ok(step);
                    }
                }
                NextLease::More => break,
                // Hosts laid to rest just now may be the ones to wait for.
                NextLease::Wait(_) | NextLease::Empty if rested => {}
                NextLease::Wait(_) if self.revisits.look_ahead(&mut self.ledger.frontier, now) => {}
                NextLease::Wait(until) => {
                    return Ok(Step::Wait(self.revisits.next_look_ahead(until, now)));
                }
                NextLease::Empty => return Ok(Step::Empty),
            }
        }
        Ok(Step::Wait(now))
    }

    /// What to do for a page that the frontier offers; `None` when it has to wait, or is refused.
    fn offer(&mut self, lease: Box<Lease>, now: Time) -> Result<Option<Step>, EngineError> {
        if self.has_to_wait(&lease, now)? {
            return Ok(None);
        }
        let (overrides, ledger) = (&self.insight.overrides, &mut self.ledger);
        match self.revisits.judge(lease, overrides, ledger, now)? {
            Some(lease) => self.admit(lease, now),
            None => Ok(None),
        }
    }

    /// Whether a leased page is not to be asked for now; then the lease is over.
    fn has_to_wait(&mut self, lease: &Lease, now: Time) -> Result<bool, EngineError> {
        let page = lease.page;
        if let Some(reason) = self.insight.refusal(self.ledger.view(), page, &lease.row)? {
            debug!(reason = reason.code(), url = lease.row.url, "put aside");
            self.ledger.frontier.end_lease(page, now);
            put_aside(page, reason, &mut self.ledger, &mut self.revisits.planner, now)?;
            if reason == Refusal::Mirror {
                self.look_for_lost_links(lease, now)?;
            }
            return Ok(true);
        }
        let until = if self.insight.overrides.is_paused(page.host) {
            Some(Time::NEVER)
        } else {
            let all = self.counts.tally.pages + self.ledger.frontier.in_flight() as u64;
            let may_ask =
                self.insight.suspects.may_request(page.host, self.counts.tally.suspect, all);
            (!may_ask).then(|| now.after(SUSPECT_REST))
        };
        let Some(until) = until else { return self.lets_other_host_go_first(lease, now) };
        self.give_back_until(lease, until, now);
        self.ledger.rest_if_paused(page.host, now)?;
        Ok(true)
    }

    /// A leased page goes back, and its host is not asked before `until`.
    fn give_back_until(&mut self, lease: &Lease, until: Time, now: Time) {
        self.ledger.frontier.block(lease.page.host, until, lease.host_failures);
        self.ledger.frontier.defer_page(lease, now);
    }

    /// A page of a mirror is put aside, and what it links to is known from its original alone: what the
    /// original has lost of that is looked for at the mirror. Which links that has, and what became of them, is read in
    /// the original's rows.
    fn look_for_lost_links(&mut self, lease: &Lease, now: Time) -> Result<(), EngineError> {
        let (mirror, view) = (lease.page.host, self.ledger.view());
        let Some(original) = self.insight.mirrors.original_of(mirror) else { return Ok(()) };
        let Some(url) = Canonical::from_trusted(lease.row.url.clone()) else { return Ok(()) };
        let Some((key, _)) = page_at(view, original, &url)? else { return Ok(()) };
        let links = view.links(key)?.unwrap_or_default();
        for target in links.into_iter().filter(|target| target.host == original) {
            let row = self.ledger.view().page(target)?;
            let lost = row.filter(|row| row.past.is_some() && !may_stand_in(row));
            if let Some(url) = lost.and_then(|row| Canonical::from_trusted(row.url)) {
                self.look_for(&url, mirror, now)?;
            }
        }
        Ok(())
    }

    /// Whether a new page waits until its host can be compared with the other, or until the original was
    /// explored: it may well have the page, and not be known to. Both is read in the other host's rows.
    fn lets_other_host_go_first(&mut self, lease: &Lease, now: Time) -> Result<bool, EngineError> {
        let (page, row) = (lease.page, &lease.row);
        let (Some(likeness), Some(url)) = (
            compared_with(&self.insight, page.host, row),
            Canonical::from_trusted(row.url.clone()),
        ) else {
            return Ok(false);
        };
        let other = page_at(self.ledger.view(), likeness.compared_with, &url)?;
        let comparable = other.as_ref().is_some_and(|(_, row)| row.past.is_some());
        let waits = match likeness.is_mirror {
            true => other.is_none(),
            false => is_undecided(&likeness) && !comparable,
        };
        if !waits {
            return Ok(false);
        }
        if !matches!(lease.place, Place::New(Band::LAST, _)) {
            self.ledger.frontier.end_lease(page, now);
            self.ledger.apply(&Event::Requeued { page, band: Band::LAST, at: now }, now)?;
            return Ok(true);
        }
        let patience = if likeness.is_mirror { FOR_ORIGINAL } else { FOR_COMPARISON };
        let waits = now.since(row.found) < patience
            && self.is_being_explored(likeness.compared_with, now)?;
        if waits {
            self.give_back_until(lease, now.after(MOMENT), now);
        }
        Ok(waits)
    }

    /// Whether a host answers, and has pages that were never visited.
    fn is_being_explored(&self, host: HostKey, now: Time) -> Result<bool, EngineError> {
        let paused = self.insight.overrides.is_paused(host);
        let row = self.ledger.view().host(host)?.filter(|_| !paused);
        Ok(row.is_some_and(|row| row.waiting > 0 && row.failures == 0 && row.blocked_until <= now))
    }

    /// Lets a leased page through when robots.txt allows it; `None` when it does not.
    fn admit(&mut self, mut lease: Box<Lease>, now: Time) -> Result<Option<Step>, EngineError> {
        let Some(url) = Canonical::from_trusted(lease.row.url.clone()) else {
            return self.refuse(&lease, Refusal::BadUrl, None, now).map(|()| None);
        };
        let (host, https) = (lease.page.host, url.is_https());
        let (view, frontier) = (self.ledger.state.view(), &mut self.ledger.frontier);
        let agent = &self.config.reading.agent;
        if frontier.needs_address(host) {
            return Ok(Some(Step::Locate(lease)));
        }
        if frontier.robots_rules(host, https, now).is_none() {
            let Some(rules) = stored_rules(view, url.origin(), agent, now)? else {
                frontier.record_robots_request(&lease, now);
                return Ok(Some(Step::Robots { origin: url.origin().to_owned(), lease }));
            };
            frontier.set_robots_rules(host, https, rules);
            if frontier.is_pausing(host, now) {
                frontier.defer_page(&lease, now);
                return Ok(None);
            }
        }
        let rules = frontier.robots_rules(host, https, now);
        if !rules.is_none_or(|r| r.robots.verdict(url.path_and_query()).allowed) {
            let again = rules.map(|rules| rules.expires);
            return self.refuse(&lease, Refusal::Robots, again, now).map(|()| None);
        }
        frontier.record_request(&lease, now);
        lease.conditions = self.revisits.planner.prepare_request(lease.page, &lease.row);
        self.count_request(&lease, now);
        Ok(Some(Step::Fetch(lease)))
    }

    /// Counts what a request is made for.
    fn count_request(&mut self, lease: &Lease, now: Time) {
        let suspect = self.insight.suspects.contains(lease.page.host);
        let audit = self.revisits.planner.is_audit(lease.page);
        self.counts.requested(lease.place, suspect, audit, now);
    }

    /// A leased page is not to be fetched, for now or for good.
    pub(super) fn refuse(
        &mut self,
        lease: &Lease,
        reason: Refusal,
        again: Option<Time>,
        now: Time,
    ) -> Result<(), EngineError> {
        debug!(reason = reason.code(), url = lease.row.url, "refused");
        let page = lease.page;
        self.revisits.planner.forget_page(page);
        self.ledger.frontier.end_lease(page, now);
        if lease.row.kind == PageKind::Probe {
            return self.carry_out(soft_404::forbidden(lease, now), now).map(drop);
        }
        self.ledger.apply(&refusal(page, reason, again, now), now).map(drop)
    }
}

/// What is known of the host of a new page, where that decides on the page.
fn compared_with(insight: &Insight, host: HostKey, row: &PageRow) -> Option<HostLikeness> {
    let new = row.past.is_none() && row.kind == PageKind::Page && !row.seed;
    let decides = new && insight.holds_mirrors && !insight.overrides.is_trusted(host);
    insight.mirrors.likeness_of(host).filter(|_| decides).copied()
}
