//! What is somebody's word that a page changed worth? As much as such words proved to be on its host.

use evercrawl_estimate::signal::{SignalSource, SignalSources};
use std::collections::BTreeMap;

use evercrawl_model::{HostKey, PageKey, PolicyNotes, Time};
use evercrawl_policy::Page;
use evercrawl_state::{PageRow, Place};

use super::{Agreement, Planner, Validator, days, folded, noted};

/// Without a budget nothing else bids for the request: a word is heeded as long as a look has this
/// chance of finding a change.
const WORTH_A_LOOK: f64 = 0.1;

/// Hosts whose tellers are shown by name; those of the others are trusted as they deserve all the same.
const MOST_NAMES: usize = 1000;

/// The names of hosts of which it is known whom to trust, by the number that the policy knows.
#[derive(Debug, Default)]
pub(super) struct Names(BTreeMap<u32, String>);

impl Names {
    pub(super) fn add(&mut self, host: u32, url: &str) {
        if self.0.len() < MOST_NAMES && !self.0.contains_key(&host) {
            let name = url.split('/').nth(2).unwrap_or_default();
            self.0.insert(host, name.to_owned());
        }
    }

    /// Writes them down behind what is in `out`.
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
        let mut names = Names::default();
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
    /// Somebody says that a page changed since it was visited: when it is due by now, which is never
    /// later than it was, and what is noted of it. `None` for a page that was never visited, or of which
    /// that was said before.
    pub fn signalled(
        &mut self,
        key: PageKey,
        row: &PageRow,
        signal_source: SignalSource,
        now: Time,
    ) -> Option<(Time, PolicyNotes)> {
        let past = row.past.as_ref()?;
        let last = past.last_visit;
        let mut page = self.page(key, row);
        self.policy.signalled(&mut page, signal_source, days(now));
        let told = row.claimed_change.is_some_and(|at| at > last && at <= now);
        let note = noted(&page, past.noted.news);
        if told && note == past.noted {
            return None;
        }
        self.names.add(page.host, &row.url);
        let waits = match row.place {
            Some(Place::Due(at) | Place::Recheck(at)) => at,
            _ => Time::NEVER,
        };
        let soonest = now.max(last.after(self.plan.shortest));
        let wanted = match row.held() {
            // There is nothing to be fresh: it is looked for, as it would be if it were new.
            false => soonest,
            true if self.spends_ahead() => self.within_bounds(page.due, last, 0),
            true if self.is_worth_a_look(&page, now) => soonest,
            true => waits,
        };
        if row.held() && self.sample.wants(key) {
            self.sample.put(key, page);
        }
        Some((wanted.min(waits), note))
    }

    /// How far those can be trusted who say that pages of a host changed.
    pub fn signal_sources_of(&self, host: HostKey) -> Option<SignalSources> {
        self.policy.signal_sources(folded(host.host))
    }

    /// The same of the hosts of which such things were said, with their names.
    pub fn signal_sources(&self) -> impl Iterator<Item = (&str, SignalSources)> + '_ {
        let named = self.names.0.iter();
        named.filter_map(|(host, name)| Some((name.as_str(), self.policy.signal_sources(*host)?)))
    }

    /// How far the validators of a host can be trusted, as far as they were looked at.
    pub fn validators_of(&self, host: HostKey) -> impl Iterator<Item = (Validator, Agreement)> {
        self.proofs.of(folded(host.host))
    }

    /// The same of all hosts, with their names.
    pub fn validators(&self) -> impl Iterator<Item = (&str, Validator, Agreement)> + '_ {
        self.names.0.iter().flat_map(|(host, name)| {
            self.proofs.of(*host).map(|(validator, of)| (name.as_str(), validator, of))
        })
    }

    fn is_worth_a_look(&self, page: &Page, now: Time) -> bool {
        let outlook = self.policy.outlook(page, days(now));
        outlook.is_none_or(|outlook| 1.0 - outlook.fresh >= WORTH_A_LOOK)
    }
}
