//! How do the user's overrides change the walk? From the moment they are set, without a restart.

use std::sync::Arc;
use std::time::Duration;

use evercrawl_model::{Band, Event, HostKey, Override, PageKey, Time};
use evercrawl_state::{PageStatus, Place, Store, View};
use evercrawl_urls::Canonical;

use super::Walk;
use super::insight::Insight;
use super::ledger::Ledger;
use super::revisits::reschedule;
use crate::EngineError;
use crate::links::LinkReader;
use crate::overrides::Overrides;
use crate::planner::Planner;
use crate::suspicion::Suspects;

/// A change of the user's overrides.
#[derive(Clone, Debug, PartialEq)]
pub enum OverrideChange {
    /// This holds from now on.
    Begin(Override),
    /// This holds no more.
    End(Override),
    /// What was learned of the noise of a page is forgotten.
    ForgetNoise(PageKey),
}

impl<S: Store> Walk<S> {
    /// What the user set.
    pub fn overrides(&self) -> &Overrides {
        &self.insight.overrides
    }

    /// Makes an override hold, or end. Where it cannot be used, nothing is changed.
    pub fn change_override(
        &mut self,
        change: &OverrideChange,
        now: Time,
    ) -> Result<(), EngineError> {
        match change {
            OverrideChange::Begin(user_override) => self.begin_override(user_override.clone(), now),
            OverrideChange::End(user_override) => self.end_override(user_override, now),
            OverrideChange::ForgetNoise(page) => {
                self.ledger.apply(&Event::NoiseForgotten { page: *page }, now).map(drop)
            }
        }
    }

    fn begin_override(&mut self, user_override: Override, now: Time) -> Result<(), EngineError> {
        self.insight.overrides.validate(&user_override, &self.config.rules)?;
        let user_override = match user_override {
            Override::Pin { url, every, .. } => {
                pin(&mut self.ledger, &self.links, url, every, now)?
            }
            other => other,
        };
        match user_override {
            Override::Exclude { .. } => self.sweep.put_aside(),
            Override::Trust { .. } => self.sweep.put_back(),
            Override::Pin { .. } | Override::Boost { .. } | Override::Pause { .. } => {}
        }
        self.ledger.apply(&Event::OverrideSet { user_override, at: now }, now)?;
        self.reread_overrides()
    }

    fn end_override(&mut self, user_override: &Override, now: Time) -> Result<(), EngineError> {
        let removed = Event::OverrideRemoved { user_override: user_override.clone() };
        self.ledger.apply(&removed, now)?;
        self.reread_overrides()?;
        match user_override {
            Override::Pause { host, .. } => return unpause(&mut self.ledger, *host, now),
            Override::Exclude { .. } => self.sweep.put_back(),
            Override::Pin { .. } | Override::Boost { .. } | Override::Trust { .. } => {}
        }
        Ok(())
    }

    fn reread_overrides(&mut self) -> Result<(), EngineError> {
        let overrides = Arc::new(Overrides::read(self.ledger.view())?);
        self.insight.overrides = overrides.clone();
        self.revisits.planner.set_overrides(overrides.clone());
        reread_suspects(self.ledger.view(), &mut self.insight, &mut self.revisits.planner)?;
        self.revisits.review_all();
        set_pins(&mut self.ledger, &overrides)?;
        Ok(self.links.set_rules(overrides.rules(&self.config.rules))?)
    }

    /// Puts some more pages aside that are excluded by now, or back that are so no more; true
    /// while there are more to read.
    pub fn sweep(&mut self, now: Time) -> Result<bool, EngineError> {
        let planner = &mut self.revisits.planner;
        self.sweep.go_on(&self.insight, &mut self.ledger, planner, now)
    }
}

/// A page that is to be visited at least this often: it is known from now on, and due in time.
fn pin<S: Store>(
    ledger: &mut Ledger<S>,
    links: &LinkReader,
    url: String,
    every: Duration,
    now: Time,
) -> Result<Override, EngineError> {
    let unusable = || EngineError::Config(format!("`{url}` cannot be crawled"));
    let address = Canonical::from_trusted(url.clone()).ok_or_else(unusable)?;
    let (found, _) = links.key(&address);
    if ledger.view().find(found.host, &url)?.is_none() {
        ledger.apply(&Event::Discovered(links.seed(address, 0, now)), now)?;
    }
    let (page, row) = ledger.view().find(found.host, &url)?.ok_or_else(unusable)?;
    let refused = matches!(row.status, PageStatus::Refused(_));
    if let (Some(Place::Due(due) | Place::Recheck(due)), Some(past), false) =
        (row.place, &row.past, refused)
    {
        let latest = past.last_visit.after(every).max(now);
        reschedule(page, Some(latest).filter(|_| latest < due), ledger, now)?;
    }
    Ok(Override::Pin { page, url, every })
}

/// A host is paused no more: whether it has something to fetch is found out at once.
fn unpause<S: Store>(ledger: &mut Ledger<S>, host: HostKey, now: Time) -> Result<(), EngineError> {
    let Some(row) = ledger.view().host(host)? else { return Ok(()) };
    if !ledger.frontier.unblock(host, row.blocked_until, now) {
        let front = Some((Band::REVISITS, now));
        ledger.apply(&Event::HostParked { host, front }, now)?;
    }
    Ok(())
}

/// Tells the frontier which pages are pinned.
pub(super) fn set_pins<S: Store>(
    ledger: &mut Ledger<S>,
    overrides: &Overrides,
) -> Result<(), EngineError> {
    let mut pins = Vec::new();
    for page in overrides.pinned_pages() {
        let row = ledger.view().page(page)?;
        pins.push((page, row.and_then(|row| row.place)));
    }
    ledger.frontier.set_pins(pins);
    Ok(())
}

/// Which hosts are taken for spam is otherwise by now.
pub(super) fn reread_suspects<S: Store>(
    view: &View<S>,
    insight: &mut Insight,
    planner: &mut Planner,
) -> Result<(), EngineError> {
    let suspects = Arc::new(Suspects::read(view, &planner.plan().spam)?);
    insight.suspects = suspects.clone();
    planner.set_suspects(suspects);
    Ok(())
}
