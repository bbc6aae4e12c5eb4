//! What are the pages of a collection like? A fair sample of them, held in memory.
//!
//! A page is in the sample when its key, which is a hash, is below a bound. When the sample grows too large, the
//! bound is halved. So membership depends on nothing but the page, and the sample is as fair after a year as on the
//! first day.

use std::collections::HashMap;

use evercrawl_estimate::poisson::age_at;
use evercrawl_model::{PageKey, Time};
use evercrawl_policy::{Page, PageKind, Policy};

use super::audit::Correction;
use super::to_days;
use crate::freshness::Freshness;

/// The most pages in a sample: enough to know a share to a third of a percent.
const MAX_PAGES: usize = 20_000;

/// The variance of an unknown share. Each revisit reduces it.
const UNKNOWN_VARIANCE: f64 = 0.25;

/// Sampled pages, which represent all pages.
#[derive(Debug, Default)]
pub(super) struct Sample {
    /// How often the bound was halved.
    halvings: u32,
    pages: Vec<Page>,
    keys: Vec<PageKey>,
    places: HashMap<PageKey, usize>,
}

impl Sample {
    pub(super) fn len(&self) -> usize {
        self.pages.len()
    }

    /// The share of all pages that is sampled.
    pub(super) fn share(&self) -> f64 {
        0.5_f64.powi(i32::try_from(self.halvings).unwrap_or(i32::MAX))
    }

    /// Whether a page belongs to the sample.
    pub(super) fn includes(&self, key: PageKey) -> bool {
        key.url.leading_zeros() >= self.halvings
    }

    pub(super) fn keys(&self) -> &[PageKey] {
        &self.keys
    }

    pub(super) fn pages(&self) -> &[Page] {
        &self.pages
    }

    pub(super) fn pages_mut(&mut self) -> &mut [Page] {
        &mut self.pages
    }

    /// Inserts a page, or updates it.
    pub(super) fn insert(&mut self, key: PageKey, page: Page) {
        if let Some(&place) = self.places.get(&key) {
            self.pages[place] = page;
            return;
        }
        self.places.insert(key, self.pages.len());
        self.pages.push(page);
        self.keys.push(key);
        while self.len() > MAX_PAGES {
            self.halve();
        }
    }

    pub(super) fn remove(&mut self, key: PageKey) {
        let Some(place) = self.places.remove(&key) else { return };
        self.pages.swap_remove(place);
        self.keys.swap_remove(place);
        if let Some(&moved) = self.keys.get(place) {
            self.places.insert(moved, place);
        }
    }

    fn halve(&mut self) {
        self.halvings += 1;
        let out: Vec<PageKey> =
            self.keys.iter().copied().filter(|key| !self.includes(*key)).collect();
        out.into_iter().for_each(|key| self.remove(key));
    }

    /// Appends the encoding to `out`.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.halvings.to_le_bytes());
        out.extend_from_slice(&(self.len() as u32).to_le_bytes());
        for (key, page) in self.keys.iter().zip(&self.pages) {
            out.extend_from_slice(&key.to_bytes());
            page.write(out);
        }
    }

    /// Reads what [`write`](Self::write) wrote.
    pub(super) fn read(from: &mut &[u8]) -> Option<Self> {
        let mut number = || {
            let (head, rest) = from.split_first_chunk()?;
            *from = rest;
            Some(u32::from_le_bytes(*head))
        };
        let (halvings, count) = (number()?, number()?);
        let mut sample = Sample { halvings, ..Sample::default() };
        for _ in 0..count {
            let (key, rest) = from.split_at_checked(PageKey::LEN)?;
            *from = rest;
            sample.insert(PageKey::from_bytes(key)?, Page::read(from)?);
        }
        Some(sample)
    }

    /// The freshness of a collection of `held` pages, estimated from this sample of them.
    pub(super) fn freshness(
        &self,
        policy: &dyn Policy,
        audited: &Correction,
        held: u64,
        now: Time,
    ) -> Option<Freshness> {
        let now = to_days(now);
        let (mut count, mut fresh, mut squares) = (0.0_f64, 0.0, 0.0);
        let (mut age, mut rate) = (0.0, 0.0);
        let (mut bent, mut changes, mut checks) = (0.0, 1.0, 1.0);
        // Lists of pages are a means to an end: their freshness does not count.
        let pages = self.pages.iter().filter(|page| page.kind == PageKind::Page);
        for page in pages.filter(|page| page.is_known()) {
            let outlook = policy.outlook(page, now)?;
            count += 1.0;
            fresh += outlook.fresh;
            squares += outlook.fresh * outlook.fresh;
            bent -= outlook.fresh * outlook.fresh.max(f64::MIN_POSITIVE).ln();
            changes += f64::from(page.changes);
            checks += f64::from(page.checks);
            rate += outlook.rate;
            age += age_at(outlook.rate, page.elapsed(now));
        }
        if count == 0.0 {
            return None;
        }
        let mean = fresh / count;
        // The sampling error: none when all pages are in the sample.
        let drawn = (squares / count - mean * mean).max(0.0) / count * (1.0 - self.share());
        // The mean change rate is known from as many changes as were found. Its error matters more, the longer ago
        // the visits were.
        let (bent, pace) = (bent / count, 1.0 / changes);
        let variance = audited.variance + drawn + bent * bent * pace + UNKNOWN_VARIANCE / checks;
        Some(Freshness {
            held,
            fresh: (mean + audited.shift).clamp(0.0, 1.0),
            error: (1.96 * variance.sqrt()).min(1.0),
            audits: audited.audits as u64,
            age_seconds: age / count * 86_400.0,
            changes_a_day: rate / count,
        })
    }
}

#[cfg(test)]
mod tests {
    use evercrawl_model::HostKey;

    use super::*;

    fn key(n: u64) -> PageKey {
        let url = n.wrapping_mul(0x9e37_79b9_7f4a_7c15).swap_bytes();
        PageKey { host: HostKey { shard: 0, host: 1 }, url }
    }

    #[test]
    fn stays_small_and_fair_and_comes_back_whole() {
        let mut sample = Sample::default();
        for n in 0..100_000 {
            if sample.includes(key(n)) {
                sample.insert(key(n), Page::new(n as u32));
            }
        }
        assert!(sample.len() <= MAX_PAGES && sample.len() > MAX_PAGES / 3);
        let all = sample.len() as f64 / sample.share();
        assert!((all / 100_000.0 - 1.0).abs() < 0.05, "{all}");
        for n in (0..100_000).step_by(3) {
            sample.remove(key(n));
        }
        assert!(sample.keys.iter().enumerate().all(|(at, key)| sample.places[key] == at));
        let mut bytes = Vec::new();
        sample.write(&mut bytes);
        let again = Sample::read(&mut bytes.as_slice()).unwrap();
        assert_eq!((again.len(), again.share()), (sample.len(), sample.share()));
        assert_eq!(again.pages, sample.pages);
        assert!(Sample::read(&mut &bytes[..bytes.len() - 1]).is_none());
    }
}
