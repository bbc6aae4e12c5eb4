//! Who else says that a page changed? Whoever pushes its URL, and lists that are read again.
//!
//! A word makes a page due sooner, as far as such words proved right on its host; it buys no request
//! beyond the budget, and no way around the pace, robots.txt or the scope. Until the page is visited,
//! further words say nothing new.

use std::time::Duration;

use evercrawl_estimate::signal::SignalSource;
use evercrawl_model::{Discovery, Event, PageKey, PageKind, Refusal, Time};
use evercrawl_state::{Applied, PageRow, Standing, Store};
use evercrawl_urls::Canonical;

use super::Walk;
use crate::EngineError;
use crate::links::RefusalCounts;

/// Lists are made anew now and then: an entry can be so much older than the last reading of its
/// list, and have come into it only since. Older ones were heard then, and are not looked up again.
const LISTED_WITHIN: Duration = Duration::from_secs(7 * 86_400);

/// Words for pages that are out, above which it is looked through whether they still are.
const MOST_OVERHEARD: usize = 256;

/// What became of a word that a page changed.
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
    fn add(&mut self, heard: SignalOutcome) {
        match heard {
            SignalOutcome::Known => self.known += 1,
            SignalOutcome::New => self.new += 1,
            SignalOutcome::Refused(reason) => self.refused.add(reason),
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
        let mut told = SignalCounts::default();
        for url in urls {
            told.add(self.signal(url, now)?);
        }
        Ok(told)
    }

    /// Somebody says that a page changed just now.
    pub fn signal(&mut self, url: &Canonical, now: Time) -> Result<SignalOutcome, EngineError> {
        let (key, _) = self.links.key(url);
        let Some((page, row)) = self.state.view().find(key.host, url.as_str())? else {
            return self.signal_new(url, now);
        };
        if let Standing::Refused(reason) = row.standing {
            return Ok(SignalOutcome::Refused(reason));
        }
        self.hear(page, &row, (SignalSource::Push, now), now)?;
        Ok(SignalOutcome::Known)
    }

    /// The page is not known: it is as if a seed had a link to it.
    fn signal_new(&mut self, url: &Canonical, now: Time) -> Result<SignalOutcome, EngineError> {
        let found = match self.links.pushed(url.clone(), now) {
            Ok(found) => found,
            Err(reason) => {
                self.apply(&Event::LinksRefused { reason, count: 1 }, now)?;
                return Ok(SignalOutcome::Refused(reason));
            }
        };
        let applied = self.apply(&Event::Discovered(found), now)?;
        Ok(applied.refused.map_or(SignalOutcome::New, SignalOutcome::Refused))
    }

    /// A URL was found on a page of kind `list` that was `read` before; where it is known already, its list
    /// may say that it changed since. True when it was not known.
    pub(super) fn discover(
        &mut self,
        found: Discovery,
        (list, read): (PageKind, Option<Time>),
        now: Time,
    ) -> Result<bool, EngineError> {
        let recent = |at: &Time| read.is_none_or(|read| at.after(LISTED_WITHIN) > read);
        let claim = found.claimed_change.filter(|at| *at <= now && recent(at));
        let event = Event::Discovered(found);
        let applied = self.apply(&event, now)?;
        let known = applied == Applied::default();
        if let (Some(at), true, Event::Discovered(found)) = (claim, known, &event)
            && let Some((page, row)) = self.state.view().find(found.page.host, &found.url)?
            && row.held()
        {
            let signal_source =
                if list == PageKind::Sitemap { SignalSource::Sitemap } else { SignalSource::Feed };
            self.hear(page, &row, (signal_source, at), now)?;
        }
        Ok(applied.queued.is_some())
    }

    /// Somebody says that a known page changed at some moment.
    fn hear(
        &mut self,
        page: PageKey,
        row: &PageRow,
        (signal_source, at): (SignalSource, Time),
        now: Time,
    ) -> Result<(), EngineError> {
        if row.past.as_ref().is_none_or(|past| at <= past.last_visit) {
            return Ok(());
        }
        if self.frontier.is_leased(page) {
            self.overhear(page, (signal_source, at));
        } else if let Some((due, noted)) = self.planner.apply_signal(page, row, signal_source, now)
        {
            self.apply(&Event::Signalled { page, at, due, policy_notes: noted }, now)?;
        }
        Ok(())
    }

    /// A page that is out changed, maybe after it was asked for.
    fn overhear(&mut self, page: PageKey, word: (SignalSource, Time)) {
        if self.overheard.len() >= MOST_OVERHEARD {
            self.overheard.retain(|page, _| self.frontier.is_leased(*page));
        }
        self.overheard.insert(page, word);
    }

    /// A page was visited: what was said meanwhile counts if it was said after it was asked for.
    pub(super) fn recall(&mut self, page: PageKey, now: Time) -> Result<(), EngineError> {
        let Some(word) = self.overheard.remove(&page) else { return Ok(()) };
        let Some(row) = self.state.view().page(page)? else { return Ok(()) };
        match row.standing {
            Standing::Refused(_) => Ok(()),
            _ => self.hear(page, &row, word, now),
        }
    }
}
