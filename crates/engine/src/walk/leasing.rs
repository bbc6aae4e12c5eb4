//! Which page is fetched next? One that the frontier offers, once nothing says that it has to wait.

use std::time::Duration;

use evercrawl_model::{Band, Event, HostKey, HostLikeness, PageKind, Refusal, Time};
use evercrawl_state::{PageRow, Place, Store, View};
use evercrawl_urls::Canonical;

use super::completion::refusal;
use super::delivery::look_for;
use super::insight::Insight;
use super::ledger::Ledger;
use super::revisits::PIECE;
use super::robots_txt::stored_rules;
use super::steps::mirrors::page_at;
use super::steps::soft_404;
use super::sweep::put_aside;
use super::{Step, Walk};
use crate::EngineError;
use crate::frontier::{Frontier, Lease, NextLease};
use crate::mirrors::{Mirrors, is_undecided, may_stand_in};

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
                    if self.has_to_wait(&lease, now)? {
                        continue;
                    }
                    let (overrides, ledger) = (&self.insight.overrides, &mut self.ledger);
                    if let Some(lease) = self.revisits.judge(lease, overrides, ledger, now)?
                        && let Some(step) = self.admit(lease, now)?
                    {
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

    /// Whether a leased page is not to be asked for now; then the lease is over.
    fn has_to_wait(&mut self, lease: &Lease, now: Time) -> Result<bool, EngineError> {
        let page = lease.page;
        if let Some(reason) = self.insight.refusal(self.ledger.view(), page, &lease.row)? {
            self.ledger.frontier.end_lease(page, now);
            put_aside(page, reason, &mut self.ledger, &mut self.revisits.planner, now)?;
            if reason == Refusal::Mirror {
                for url in lost_links(self.ledger.view(), &self.insight.mirrors, lease)? {
                    look_for(&mut self.ledger, &self.links, &url, page.host, now)?;
                }
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
        let Some(until) = until else {
            return lets_other_host_go_first(&mut self.ledger, &self.insight, lease, now);
        };
        give_back_until(&mut self.ledger.frontier, lease, until, now);
        self.ledger.rest_if_paused(page.host, now)?;
        Ok(true)
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
            let unreachable = rules.is_some_and(|rules| rules.unreachable);
            let reason = if unreachable { Refusal::HostDead } else { Refusal::Robots };
            return self.refuse(&lease, reason, again, now).map(|()| None);
        }
        frontier.record_request(&lease, now);
        lease.is_unmasked = self.insight.unmasked.covers(self.ledger.state.view(), &lease.row)?;
        lease.conditions = self.revisits.planner.prepare_request(lease.page, &lease.row);
        let suspect = self.insight.suspects.contains(host);
        let audit = self.revisits.planner.is_audit(lease.page);
        self.counts.requested(lease.place, suspect, audit, now);
        Ok(Some(Step::Fetch(lease)))
    }

    /// A leased page is not to be fetched, for now or for good.
    pub(super) fn refuse(
        &mut self,
        lease: &Lease,
        reason: Refusal,
        again: Option<Time>,
        now: Time,
    ) -> Result<(), EngineError> {
        let page = lease.page;
        self.revisits.planner.forget_page(page);
        self.ledger.frontier.end_lease(page, now);
        if lease.row.kind == PageKind::Probe {
            return self.carry_out(soft_404::forbidden(lease, now), now).map(drop);
        }
        self.ledger.apply(&refusal(page, reason, again, now), now).map(drop)
    }
}

/// A leased page goes back, and its host is not asked before `until`.
fn give_back_until(frontier: &mut Frontier, lease: &Lease, until: Time, now: Time) {
    frontier.block(lease.page.host, until, lease.host_failures);
    frontier.defer_page(lease, now);
}

/// A page of a mirror is put aside, and what it links to is known from its original alone: what the
/// original has lost of that is looked for at the mirror. Which links that has, and what became of them, is read in
/// the original's rows.
fn lost_links<S: Store>(
    view: &View<S>,
    mirrors: &Mirrors,
    lease: &Lease,
) -> Result<Vec<Canonical>, EngineError> {
    let (Some(original), Some(url)) =
        (mirrors.original_of(lease.page.host), Canonical::from_trusted(lease.row.url.clone()))
    else {
        return Ok(Vec::new());
    };
    let Some((key, _)) = page_at(view, original, &url)? else { return Ok(Vec::new()) };
    let mut lost = Vec::new();
    for target in view.links(key)?.unwrap_or_default() {
        if target.host == original
            && let Some(row) = view.page(target)?
            && row.past.is_some()
            && !may_stand_in(&row)
        {
            lost.extend(Canonical::from_trusted(row.url));
        }
    }
    Ok(lost)
}

/// Whether a new page waits until its host can be compared with the other, or until the original was
/// explored: it may well have the page, and not be known to. Both is read in the other host's rows.
fn lets_other_host_go_first<S: Store>(
    ledger: &mut Ledger<S>,
    insight: &Insight,
    lease: &Lease,
    now: Time,
) -> Result<bool, EngineError> {
    let (page, row) = (lease.page, &lease.row);
    let (Some(likeness), Some(url)) =
        (compared_with(insight, page.host, row), Canonical::from_trusted(row.url.clone()))
    else {
        return Ok(false);
    };
    let other = page_at(ledger.view(), likeness.compared_with, &url)?;
    let comparable = other.as_ref().is_some_and(|(_, row)| row.past.is_some());
    let waits = match likeness.is_mirror {
        true => other.is_none(),
        false => is_undecided(&likeness) && !comparable,
    };
    if !waits {
        return Ok(false);
    }
    if !matches!(lease.place, Place::New(Band::LAST, _)) {
        ledger.frontier.end_lease(page, now);
        ledger.apply(&Event::Requeued { page, band: Band::LAST, at: now }, now)?;
        return Ok(true);
    }
    let patience = if likeness.is_mirror { FOR_ORIGINAL } else { FOR_COMPARISON };
    let young = now.since(row.found) < patience;
    let waits = young && is_being_explored(ledger.view(), insight, likeness.compared_with, now)?;
    if waits {
        give_back_until(&mut ledger.frontier, lease, now.after(MOMENT), now);
    }
    Ok(waits)
}

/// Whether a host answers, and has pages that were never visited.
fn is_being_explored<S: Store>(
    view: &View<S>,
    insight: &Insight,
    host: HostKey,
    now: Time,
) -> Result<bool, EngineError> {
    let row = view.host(host)?.filter(|_| !insight.overrides.is_paused(host));
    Ok(row.is_some_and(|row| row.waiting > 0 && row.failures == 0 && row.blocked_until <= now))
}

/// What is known of the host of a new page, where that decides on the page.
fn compared_with(insight: &Insight, host: HostKey, row: &PageRow) -> Option<HostLikeness> {
    let new = row.past.is_none() && row.kind == PageKind::Page && !row.seed;
    let decides = new && insight.holds_mirrors && !insight.overrides.is_trusted(host);
    insight.mirrors.likeness_of(host).filter(|_| decides).copied()
}
