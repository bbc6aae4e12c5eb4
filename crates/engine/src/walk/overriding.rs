//! How do the user's wishes change the walk? From the moment they are told, without a restart.
//!
//! What is excluded is refused as soon as it comes up. Besides, pages are put aside and back in
//! pieces between other work, so that a wish over millions of pages stops nobody.

use std::sync::Arc;
use std::time::Duration;

use evercrawl_model::{Band, Event, HostKey, Override, PageKey, Refusal, Time};
use evercrawl_state::{PageRow, Place, Standing, Store};
use evercrawl_urls::Canonical;

use super::Walk;
use crate::EngineError;
use crate::frontier::Lease;
use crate::overrides::Overrides;

/// Pages that are looked at in one go.
const PIECE: usize = 1000;

/// A change of what the user wishes.
#[derive(Clone, Debug, PartialEq)]
pub enum OverrideChange {
    /// This holds from now on.
    Begin(Override),
    /// This holds no more.
    End(Override),
}

/// How far pages were looked at, after a wish that excludes some or lets some in again.
#[derive(Debug, Default)]
pub(super) struct Sweep {
    pub(super) aside: Option<Cursor>,
    pub(super) back: Option<Cursor>,
}

impl Sweep {
    /// The last run may have ended before all pages were back.
    pub(super) fn at_start() -> Self {
        Sweep { aside: None, back: Some(Cursor::default()) }
    }
}

/// The last page that was looked at; none at the beginning.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cursor(Option<PageKey>);

impl<S: Store> Walk<S> {
    /// What the user wishes.
    pub fn overrides(&self) -> &Overrides {
        &self.overrides
    }

    /// Makes a wish hold, or end. Where it cannot be used, nothing is changed.
    pub fn change_override(
        &mut self,
        change: &OverrideChange,
        now: Time,
    ) -> Result<(), EngineError> {
        match change {
            OverrideChange::Begin(user_override) => self.begin_wish(user_override.clone(), now),
            OverrideChange::End(user_override) => self.end_wish(user_override, now),
        }
    }

    fn begin_wish(&mut self, user_override: Override, now: Time) -> Result<(), EngineError> {
        self.overrides.validate(&user_override, &self.config.rules)?;
        let user_override = match user_override {
            Override::Pin { url, every, .. } => self.pin(url, every, now)?,
            other => other,
        };
        match user_override {
            Override::Exclude { .. } => self.sweep.aside = Some(Cursor::default()),
            Override::Trust { .. } => self.sweep.back = Some(Cursor::default()),
            Override::Pin { .. } | Override::Boost { .. } | Override::Pause { .. } => {}
        }
        self.apply(&Event::OverrideSet { user_override, at: now }, now)?;
        self.reread_overrides()
    }

    /// A page that is to be visited so often: it is known from now on, and due in time.
    fn pin(&mut self, url: String, every: Duration, now: Time) -> Result<Override, EngineError> {
        let unusable = || EngineError::Config(format!("`{url}` cannot be crawled"));
        let address = Canonical::from_trusted(url.clone()).ok_or_else(unusable)?;
        let (found, _) = self.links.key(&address);
        if self.state.view().find(found.host, &url)?.is_none() {
            let seed = self.links.seed(address, 0, now);
            self.apply(&Event::Discovered(seed), now)?;
        }
        let (page, row) = self.state.view().find(found.host, &url)?.ok_or_else(unusable)?;
        let refused = matches!(row.standing, Standing::Refused(_));
        if let (Some(Place::Due(due) | Place::Recheck(due)), Some(past), false) =
            (row.place, &row.past, refused)
        {
            let latest = past.last_visit.after(every).max(now);
            if latest < due {
                self.apply(&Event::Rescheduled { page, due: latest, policy_notes: None }, now)?;
            }
        }
        Ok(Override::Pin { page, url, every })
    }

    fn end_wish(&mut self, user_override: &Override, now: Time) -> Result<(), EngineError> {
        self.apply(&Event::OverrideRemoved { user_override: user_override.clone() }, now)?;
        self.reread_overrides()?;
        match user_override {
            Override::Pause { host, .. } => self.wake(*host, now),
            Override::Exclude { .. } => {
                self.sweep.back = Some(Cursor::default());
                Ok(())
            }
            Override::Pin { .. } | Override::Boost { .. } | Override::Trust { .. } => Ok(()),
        }
    }

    fn reread_overrides(&mut self) -> Result<(), EngineError> {
        self.overrides = Arc::new(Overrides::read(self.state.view())?);
        self.planner.set_overrides(self.overrides.clone());
        self.reread_suspects()?;
        self.look_again();
        self.set_pins()?;
        Ok(self.links.set_rules(self.overrides.rules(&self.config.rules))?)
    }

    /// Tells the frontier which pages are pinned.
    pub(super) fn set_pins(&mut self) -> Result<(), EngineError> {
        let mut pins = Vec::new();
        for page in self.overrides.pinned_pages() {
            let row = self.state.view().page(page)?;
            pins.push((page, row.and_then(|row| row.place)));
        }
        self.frontier.set_pins(pins);
        Ok(())
    }

    /// A host is paused no more: it looks at once whether it has something to fetch.
    fn wake(&mut self, host: HostKey, now: Time) -> Result<(), EngineError> {
        let Some(row) = self.state.view().host(host)? else { return Ok(()) };
        if !self.frontier.unblock(host, row.blocked_until, now) {
            let front = Some((Band::REVISITS, now));
            self.apply(&Event::HostParked { host, front }, now)?;
        }
        Ok(())
    }

    /// Whether a leased page is not to be asked for at the user's wish; then the lease is over.
    pub(super) fn withheld(&mut self, lease: &Lease, now: Time) -> Result<bool, EngineError> {
        let page = lease.page;
        if let Some(reason) = self.aside_for(page, &lease.row)? {
            self.frontier.end_lease(page, now);
            self.put_aside(page, reason, now)?;
            if reason == Refusal::Mirror {
                self.follow_instead(lease, now)?;
            }
            return Ok(true);
        }
        if self.overrides.is_paused(page.host) {
            self.frontier.block(page.host, Time::NEVER, lease.host_failures);
            self.frontier.defer_page(lease, now);
            self.rest_if_paused(page, now)?;
            return Ok(true);
        }
        Ok(self.had_its_share(lease, now)? || self.lets_other_go_first(lease, now)?)
    }

    /// Why a page is not to be fetched for now, if so.
    pub(super) fn aside_for(
        &self,
        page: PageKey,
        row: &PageRow,
    ) -> Result<Option<Refusal>, EngineError> {
        if self.overrides.is_excluded(&row.url) {
            return Ok(Some(Refusal::Excluded));
        }
        if self.overrides.is_trusted(page.host) || self.overrides.pin_interval(page).is_some() {
            return Ok(None);
        }
        // What the user gave is asked for, whatever its host is taken for.
        if self.suspects.excludes(page.host) && !row.seed {
            return Ok(Some(Refusal::Spam));
        }
        Ok(self.waits_for_original(page, row)?.then_some(Refusal::Mirror))
    }

    /// When a leased page must be visited because it is pinned.
    pub(super) fn pinned(&self, lease: &Lease) -> Option<Time> {
        let every = self.overrides.pin_interval(lease.page)?;
        lease.row.past.as_ref().map(|past| past.last_visit.after(every))
    }

    /// Puts some more pages aside that are excluded by now, or back that are so no more; true
    /// while there are more to look at.
    pub fn sweep(&mut self, now: Time) -> Result<bool, EngineError> {
        if let Some(from) = self.sweep.aside.take() {
            self.sweep.aside = self.sweep_aside(from, now)?;
        } else if let Some(from) = self.sweep.back.take() {
            self.sweep.back = self.sweep_back(from, now)?;
        }
        Ok(self.sweep.aside.is_some() || self.sweep.back.is_some())
    }

    fn sweep_aside(&mut self, from: Cursor, now: Time) -> Result<Option<Cursor>, EngineError> {
        let piece: Result<Vec<_>, _> = self.state.view().pages_after(from.0).take(PIECE).collect();
        let piece = piece?;
        let last = piece.last().map(|(page, _)| Cursor(Some(*page)));
        for (page, row) in piece {
            if row.place.is_some() && self.overrides.is_excluded(&row.url) {
                self.put_aside(page, Refusal::Excluded, now)?;
            }
        }
        Ok(last)
    }

    fn sweep_back(&mut self, from: Cursor, now: Time) -> Result<Option<Cursor>, EngineError> {
        let piece: Result<Vec<_>, _> = self.state.view().aside_after(from.0).take(PIECE).collect();
        let piece = piece?;
        let last = piece.last().map(|page| Cursor(Some(*page)));
        for page in piece {
            let reason = match self.state.view().page(page)? {
                Some(row) => self.aside_for(page, &row)?,
                None => None,
            };
            match reason {
                Some(reason) => self.put_aside(page, reason, now)?,
                None => self.put_back(page, now)?,
            }
        }
        Ok(last)
    }

    fn put_aside(&mut self, page: PageKey, reason: Refusal, now: Time) -> Result<(), EngineError> {
        self.planner.forget_page(page);
        self.apply(&Event::PutAside { page, reason, at: now }, now)?;
        Ok(())
    }

    pub(super) fn put_back(&mut self, page: PageKey, now: Time) -> Result<(), EngineError> {
        self.apply(&Event::PutBack { page, at: now }, now)?;
        if let Some(row) = self.state.view().page(page)? {
            self.planner.sample_page(page, &row);
        }
        Ok(())
    }
}
