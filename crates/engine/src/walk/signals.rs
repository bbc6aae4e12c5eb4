//! Who else says that a page changed? Those who push its URL, and lists that are read again.
//!
//! A signal makes a page due sooner, as far as such signals proved right on its host; it buys no request
//! beyond the budget, and no way around the pace, robots.txt or the scope. Until the page is visited,
//! further signals say nothing new.

use std::collections::HashMap;

use evercrawl_estimate::signal::SignalSource;
use evercrawl_model::{Discovery, Event, PageKey, Refusal, Time};
use evercrawl_state::{PageRow, PageStatus, Store};
use evercrawl_urls::Canonical;

use super::Walk;
use super::ledger::Ledger;
use crate::EngineError;
use crate::frontier::Frontier;
use crate::links::{LinkReader, RefusalCounts};
use crate::planner::Planner;

/// Signals for leased pages, above which those of other pages are removed.
const MOST_WAITING: usize = 256;

/// What became of a signal that a page changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignalOutcome {
    /// The page is known; it comes no later than it would have.
    Known,
    /// The page was not known, and now waits for its first visit.
    New,
    /// The page is not to be fetched.
    Refused(Refusal),
}

/// What became of many.
#[derive(Clone, Debug, Default)]
pub struct SignalCounts {
    /// Pages that are known.
    pub known: u64,
    /// Pages that were not.
    pub new: u64,
    /// Pages that are not to be fetched, by reason.
    pub refused: RefusalCounts,
}

impl SignalCounts {
    fn add(&mut self, outcome: SignalOutcome) {
        match outcome {
            SignalOutcome::Known => self.known += 1,
            SignalOutcome::New => self.new += 1,
            SignalOutcome::Refused(reason) => self.refused.add(reason),
        }
    }
}

/// Signals for pages that are being fetched: they count if they came after the request.
#[derive(Debug, Default)]
pub(super) struct WaitingSignals(HashMap<PageKey, (SignalSource, Time)>);

impl WaitingSignals {
    /// Keeps a signal until the page's visit is complete.
    fn keep(&mut self, page: PageKey, signal: (SignalSource, Time), frontier: &Frontier) {
        if self.0.len() >= MOST_WAITING {
            self.0.retain(|page, _| frontier.is_leased(*page));
        }
        self.0.insert(page, signal);
    }

    /// Somebody says that a known page changed at some moment.
    pub(super) fn receive<S: Store>(
        &mut self,
        ledger: &mut Ledger<S>,
        planner: &mut Planner,
        (page, row): (PageKey, &PageRow),
        (source, at): (SignalSource, Time),
        now: Time,
    ) -> Result<(), EngineError> {
        if row.past.as_ref().is_none_or(|past| at <= past.last_visit) {
            return Ok(());
        }
        if ledger.frontier.is_leased(page) {
            self.keep(page, (source, at), &ledger.frontier);
        } else if let Some((due, policy_notes)) = planner.apply_signal(page, row, source, now) {
            ledger.apply(&Event::Signalled { page, at, due, policy_notes }, now)?;
        }
        Ok(())
    }

    /// A list says that a page that is known changed; it is news of pages that are held alone.
    pub(super) fn of_list<S: Store>(
        &mut self,
        ledger: &mut Ledger<S>,
        planner: &mut Planner,
        link: &Discovery,
        signal: (SignalSource, Time),
        now: Time,
    ) -> Result<(), EngineError> {
        match ledger.view().find(link.page.host, &link.url)? {
            Some((page, row)) if row.held() => {
                self.receive(ledger, planner, (page, &row), signal, now)
            }
            _ => Ok(()),
        }
    }

    /// A page was visited: a signal that came meanwhile counts if it speaks of a time after the request.
    pub(super) fn take_up<S: Store>(
        &mut self,
        ledger: &mut Ledger<S>,
        planner: &mut Planner,
        page: PageKey,
        now: Time,
    ) -> Result<(), EngineError> {
        let Some(signal) = self.0.remove(&page) else { return Ok(()) };
        match ledger.view().page(page)? {
            Some(row) if !matches!(row.status, PageStatus::Refused(_)) => {
                self.receive(ledger, planner, (page, &row), signal, now)
            }
            _ => Ok(()),
        }
    }
}

impl<S: Store> Walk<S> {
    /// Somebody says that these pages changed just now.
    pub fn signal_all(
        &mut self,
        urls: &[Canonical],
        now: Time,
    ) -> Result<SignalCounts, EngineError> {
        let mut counts = SignalCounts::default();
        for url in urls {
            counts.add(self.signal(url, now)?);
        }
        Ok(counts)
    }

    /// Somebody says that a page changed just now.
    pub fn signal(&mut self, url: &Canonical, now: Time) -> Result<SignalOutcome, EngineError> {
        let (key, _) = self.links.key(url);
        let Some((page, row)) = self.ledger.view().find(key.host, url.as_str())? else {
            return signal_new(&mut self.ledger, &self.links, url, now);
        };
        if let PageStatus::Refused(reason) = row.status {
            return Ok(SignalOutcome::Refused(reason));
        }
        let (ledger, planner) = (&mut self.ledger, &mut self.revisits.planner);
        let signal = (SignalSource::Push, now);
        self.waiting_signals.receive(ledger, planner, (page, &row), signal, now)?;
        Ok(SignalOutcome::Known)
    }
}

/// The page is not known: it is as if a seed had a link to it.
fn signal_new<S: Store>(
    ledger: &mut Ledger<S>,
    links: &LinkReader,
    url: &Canonical,
    now: Time,
) -> Result<SignalOutcome, EngineError> {
    let found = match links.pushed(url.clone(), now) {
        Ok(found) => found,
        Err(reason) => {
            ledger.apply(&Event::LinksRefused { reason, count: 1 }, now)?;
            return Ok(SignalOutcome::Refused(reason));
        }
    };
    let applied = ledger.apply(&Event::Discovered(found), now)?;
    Ok(applied.refused.map_or(SignalOutcome::New, SignalOutcome::Refused))
}
