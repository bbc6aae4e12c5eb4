//! How does what others saw become visits? As answers do, by the same steps, at the time at which they came.
//!
//! Nothing is asked of any server: each visit brings its answer along. It is read, compared, archived and planned as
//! if it had been fetched then. What it does not do is speak of hosts as they are now: their pauses, failures and
//! addresses stay as they are, and no audit counts.
//!
//! The visits of a page stand in the log in order of time. So a visit from before the last one that is known of its
//! page is not taken.

use evercrawl_fetch::Fetched;
use evercrawl_model::{Discovery, Event, NextVisit, PageKey, Refusal, Time, Visit};
use evercrawl_state::{PageRow, Place, Store};
use evercrawl_urls::Canonical;

use super::Walk;
use crate::EngineError;
use crate::frontier::Lease;
pub use crate::process::Seen;
use crate::process::{Job, Processed};

/// A visit that others made.
#[derive(Debug)]
pub struct PastVisit {
    /// When.
    pub at: Time,
    /// What came.
    pub came: WhatCame,
    /// Whether the page is to be visited from now on.
    pub revisit: bool,
}

/// What came of a visit that others made.
#[derive(Debug)]
pub enum WhatCame {
    /// The answer, with its content.
    Answer(Box<Fetched>),
    /// An answer of which little is known.
    Seen(Seen),
}

/// What became of a visit that was to be imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Imported {
    /// It is in the log; whether its record is in the archive.
    Taken {
        /// Whether there is a record of it.
        archived: bool,
    },
    /// It is known: the page was visited in that second.
    Known,
    /// The page was visited later than that, by what is known.
    Older,
    /// The crawl does not take the page in.
    Refused(Refusal),
}

impl<S: Store> Walk<S> {
    /// Takes in a visit that others made.
    pub fn import(&mut self, url: &Canonical, visit: PastVisit) -> Result<Imported, EngineError> {
        let at = visit.at;
        let (key, row) = match self.page_to_import(url, at)? {
            Ok(found) => found,
            Err(reason) => return Ok(Imported::Refused(reason)),
        };
        if let Some(verdict) = self.known_or_older(&row, at)? {
            return Ok(verdict);
        }
        // What the crawl would come back to anyway stays where it is.
        let is_expected = row
            .place
            .is_some_and(|place| !matches!(place, Place::New(..)) || row.via.is_some() || row.seed);
        let first = *self.imports_from.get_or_insert(self.ledger.view().counters().logged);
        self.revisits.learn_from_plan(&self.ledger, at);
        let place = row.place.unwrap_or(Place::Due(at));
        let mut lease = Lease::read(self.ledger.view(), (key, row), place, at)?;
        lease.is_unmasked = self.insight.unmasked.covers(self.ledger.view(), &lease.row)?;
        let processed = self.read_past_visit(lease, visit.came, at)?;
        let archived = processed.records.is_some();
        self.complete(processed, at)?;
        if !visit.revisit && !is_expected {
            self.leave_alone(key, at)?;
        }
        let end = self.ledger.view().counters().logged;
        self.ledger.apply(&Event::Imported { first, end }, at)?;
        Ok(Imported::Taken { archived })
    }

    /// Why a visit to a page at a time is not taken, where that follows from visits that are known.
    pub fn known_at(&self, url: &Canonical, at: Time) -> Result<Option<Imported>, EngineError> {
        let (key, _) = self.links.key(url);
        match self.ledger.view().find(key.host, url.as_str())? {
            Some((_, row)) => self.known_or_older(&row, at),
            None => Ok(None),
        }
    }

    /// The visit to a page in the second of `at`; looks through at most so many.
    pub fn visit_at(
        &self,
        url: &Canonical,
        at: Time,
        most: usize,
    ) -> Result<Option<Visit>, EngineError> {
        let (key, _) = self.links.key(url);
        let view = self.ledger.view();
        let Some((_, row)) = view.find(key.host, url.as_str())? else { return Ok(None) };
        for visit in view.history(&row).take(most) {
            let (_, visit) = visit?;
            if visit.at.secs() <= at.secs() {
                return Ok(Some(visit).filter(|visit| visit.at.secs() == at.secs()));
            }
        }
        Ok(None)
    }

    /// Whether a page's `ETag` or `Last-Modified` is held.
    pub fn holds_validators(&self, url: &Canonical) -> Result<bool, EngineError> {
        let (key, _) = self.links.key(url);
        let found = self.ledger.view().find(key.host, url.as_str())?;
        Ok(found.and_then(|(_, row)| row.past).is_some_and(|past| !past.validators.is_empty()))
    }

    /// Whether a URL would be fetched if a page linked to it.
    pub fn is_wanted(&self, url: &Canonical, at: Time) -> bool {
        self.links.verdict(url, 0, at).is_ok()
    }

    /// Whether there are any seeds.
    pub fn has_seeds(&self) -> Result<bool, EngineError> {
        let view = self.ledger.view();
        let seed = view.seed_hosts().next().transpose()?;
        Ok(seed.is_some() || view.listed_seeds().next().transpose()?.is_some())
    }

    /// The page of a URL, which is known from now on.
    fn page_to_import(
        &mut self,
        url: &Canonical,
        at: Time,
    ) -> Result<Result<(PageKey, PageRow), Refusal>, EngineError> {
        let (key, _) = self.links.key(url);
        if let Some(found) = self.ledger.view().find(key.host, url.as_str())? {
            return Ok(Ok(found));
        }
        let found = Discovery { seed: false, ..self.links.given(url.clone(), 0, at) };
        let applied = self.ledger.apply(&Event::Discovered(found), at)?;
        let found = self.ledger.view().find(key.host, url.as_str())?;
        Ok(found.ok_or(applied.refused.unwrap_or(Refusal::BadUrl)))
    }

    /// Why a visit at `at` is not taken: others to the page are known, from that second or later. Archives of others
    /// know times to the second only.
    fn known_or_older(&self, row: &PageRow, at: Time) -> Result<Option<Imported>, EngineError> {
        let Some(past) = row.past.as_ref().filter(|past| past.last_visit.secs() >= at.secs())
        else {
            return Ok(None);
        };
        if past.last_visit.secs() == at.secs() {
            return Ok(Some(Imported::Known));
        }
        for visit in self.ledger.view().history(row) {
            let (_, visit) = visit?;
            if visit.at.secs() <= at.secs() {
                let known = visit.at.secs() == at.secs();
                return Ok(Some(if known { Imported::Known } else { Imported::Older }));
            }
        }
        Ok(Some(Imported::Older))
    }

    fn read_past_visit(
        &mut self,
        lease: Lease,
        came: WhatCame,
        at: Time,
    ) -> Result<Processed, EngineError> {
        let lease = Box::new(Lease { is_past: true, ..lease });
        let mut processed = match came {
            WhatCame::Answer(fetched) => {
                let job = Job { lease, fetched: *fetched, rendered: None, asked: at, ended: at };
                self.process(job)?
            }
            WhatCame::Seen(seen) => self.recorder.processor.seen_by_others(lease, seen, at),
        };
        if let Some(digest) = processed.claim {
            self.recorder.recent.settle(digest, true);
        }
        // What others met says nothing of how long we are to wait, and nothing can be asked about it now.
        processed.is_imported = true;
        processed.is_in_doubt = false;
        processed.visited.host = evercrawl_model::HostUpdate::default();
        processed.verdict = processed.verdict.filter(|(why, _)| *why == Refusal::ContentType);
        Ok(processed)
    }

    /// A page whose history is wanted, and no more.
    fn leave_alone(&mut self, page: PageKey, at: Time) -> Result<(), EngineError> {
        let never = Event::Rescheduled { page, next: NextVisit::Never, policy_notes: None };
        self.ledger.apply(&never, at).map(drop)
    }
}
