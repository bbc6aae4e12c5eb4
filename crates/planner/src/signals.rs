//! How much is a signal (sitemap, feed, push) worth? As much as such signals proved right on its host.

use evercrawl_estimate::signal::{SignalSource, SignalSources};
use std::collections::BTreeMap;

use evercrawl_model::{HostKey, PageKey, PolicyNotes, Time};
use evercrawl_policy::Page;
use evercrawl_state::{PageRow, Place};

use super::{Agreement, Planner, Validator, fold_hash, policy_notes, to_days};

/// Without a budget no other page competes for the request. A signal then brings a page forward if the chance of a
/// change is at least this.
const MIN_CHANCE_OF_CHANGE: f64 = 0.1;

/// The most hosts whose signal sources can be listed by name. Sources of other hosts are learned as well.
const MAX_NAMES: usize = 1000;

/// Names of hosts with signal sources, by the number that the policy uses.
#[derive(Debug, Default)]
pub(super) struct HostNames(BTreeMap<u32, String>);

impl HostNames {
    pub(super) fn add(&mut self, host: u32, url: &str) {
        if self.0.len() < MAX_NAMES && !self.0.contains_key(&host) {
            let name = url.split('/').nth(2).unwrap_or_default();
            self.0.insert(host, name.to_owned());
        }
    }

    /// Appends the encoding to `out`.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&(self.0.len() as u16).to_le_bytes());
        for (host, name) in &self.0 {
            out.extend_from_slice(&host.to_le_bytes());
            out.extend_from_slice(&(name.len() as u16).to_le_bytes());
            out.extend_from_slice(name.as_bytes());
        }
    }

    /// Reads what [`write`](Self::write) wrote.
    pub(super) fn read(from: &mut &[u8]) -> Option<Self> {
        let mut take = |length: usize| {
            let (head, rest) = from.split_at_checked(length)?;
            *from = rest;
            Some(head)
        };
        let count = u16::from_le_bytes(take(2)?.try_into().ok()?);
        let mut names = HostNames::default();
        for _ in 0..count {
            let host = u32::from_le_bytes(take(4)?.try_into().ok()?);
            let length = u16::from_le_bytes(take(2)?.try_into().ok()?);
            let name = String::from_utf8(take(usize::from(length))?.to_vec()).ok()?;
            names.0.insert(host, name);
        }
        Some(names)
    }
}

impl Planner {
    /// Applies a signal that a page changed since its visit. Returns its due time, which is never later than before,
    /// and its notes; `None` for a page never visited, or when the signal is a repetition.
    pub fn apply_signal(
        &mut self,
        key: PageKey,
        row: &PageRow,
        signal_source: SignalSource,
        now: Time,
    ) -> Option<(Time, PolicyNotes)> {
        let past = row.past.as_ref()?;
        let last = past.last_visit;
        let mut page = self.policy_page(key, row);
        self.policy.record_signal(&mut page, signal_source, to_days(now));
        let is_repeated = row.claimed_change.is_some_and(|at| at > last && at <= now);
        let note = policy_notes(&page, past.noted.news);
        if is_repeated && note == past.noted {
            return None;
        }
        self.host_names.add(page.host, &row.url);
        let waits = match row.place {
            Some(Place::Due(at) | Place::Recheck(at)) => at,
            _ => Time::NEVER,
        };
        let soonest = now.max(last.after(self.plan.shortest));
        let wanted = match row.held() {
            // No copy to keep fresh: it is due at once, as a new page is.
            false => soonest,
            true if self.may_fetch_ahead() => self.within_bounds(page.due, last, 0),
            true if self.is_worth_visiting(&page, now) => soonest,
            true => waits,
        };
        if row.held() && self.sample.includes(key) {
            self.sample.insert(key, page);
        }
        Some((wanted.min(waits), note))
    }

    /// How far signals about pages of a host can be trusted.
    pub fn signal_sources_of(&self, host: HostKey) -> Option<SignalSources> {
        self.policy.signal_sources(fold_hash(host.host))
    }

    /// The same for all hosts with signals, by name.
    pub fn signal_sources(&self) -> impl Iterator<Item = (&str, SignalSources)> + '_ {
        let named = self.host_names.0.iter();
        named.filter_map(|(host, name)| Some((name.as_str(), self.policy.signal_sources(*host)?)))
    }

    /// How far the validators of a host can be trusted, if that was tested.
    pub fn validators_of(&self, host: HostKey) -> impl Iterator<Item = (Validator, Agreement)> {
        self.validator_trust.agreements_of(fold_hash(host.host))
    }

    /// The same for all hosts, by name.
    pub fn validators(&self) -> impl Iterator<Item = (&str, Validator, Agreement)> + '_ {
        self.host_names.0.iter().flat_map(|(host, name)| {
            self.validator_trust
                .agreements_of(*host)
                .map(|(validator, of)| (name.as_str(), validator, of))
        })
    }

    fn is_worth_visiting(&self, page: &Page, now: Time) -> bool {
        let outlook = self.policy.outlook(page, to_days(now));
        outlook.is_none_or(|outlook| 1.0 - outlook.fresh >= MIN_CHANCE_OF_CHANGE)
    }
}
