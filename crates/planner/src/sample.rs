//! What are the pages of a collection like? A fair sample of them, held in memory.
//!
//! A page is in the sample when its key, which is a hash, lies below a bound; when there are too
//! many, the bound is halved. So who is in depends on nothing but the page, and the sample is as
//! fair after a year as on the first day.

use std::collections::HashMap;

use evercrawl_estimate::poisson::age_at;
use evercrawl_model::{PageKey, Time};
use evercrawl_policy::{Kind, Page, Policy};

use super::audit::Correction;
use super::days;
use crate::freshness::Freshness;

/// Most pages in a sample: enough for a share to be known to a third of a percent.
const MOST: usize = 20_000;

/// The variance of a share of which nothing is known. Each look at a page that was seen before makes it less.
const IGNORANCE: f64 = 0.25;

/// Pages that stand for all.
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

    /// The share of all pages that is in.
    pub(super) fn share(&self) -> f64 {
        0.5_f64.powi(i32::try_from(self.halvings).unwrap_or(i32::MAX))
    }

    /// Whether a page belongs into the sample.
    pub(super) fn wants(&self, key: PageKey) -> bool {
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

    /// Takes in a page, or what is new of it.
    pub(super) fn put(&mut self, key: PageKey, page: Page) {
        if let Some(&place) = self.places.get(&key) {
            self.pages[place] = page;
            return;
        }
        self.places.insert(key, self.pages.len());
        self.pages.push(page);
        self.keys.push(key);
        while self.len() > MOST {
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
        let out: Vec<PageKey> = self.keys.iter().copied().filter(|key| !self.wants(*key)).collect();
        out.into_iter().for_each(|key| self.remove(key));
    }

    /// Writes it down behind what is in `out`.
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
            sample.put(PageKey::from_bytes(key)?, Page::read(from)?);
        }
        Some(sample)
    }

    /// How fresh a collection of `held` pages is, of which these are a sample.
    pub(super) fn freshness(
        &self,
        policy: &dyn Policy,
        audited: &Correction,
        held: u64,
        now: Time,
    ) -> Option<Freshness> {
        let now = days(now);
        let (mut count, mut fresh, mut squares) = (0.0_f64, 0.0, 0.0);
        let (mut age, mut rate) = (0.0, 0.0);
        let (mut bent, mut changes, mut checks) = (0.0, 1.0, 1.0);
        // Lists of pages are means to an end: nobody asks how fresh they are.
        let pages = self.pages.iter().filter(|page| page.kind == Kind::Page);
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
        // What the draw of the sample adds to the error: nothing where all pages are in.
        let drawn = (squares / count - mean * mean).max(0.0) / count * (1.0 - self.share());
        // How often pages change on the whole is known by as many changes as were seen. It matters the more,
        // the longer ago the visits were.
        let (bent, pace) = (bent / count, 1.0 / changes);
        let variance = audited.variance + drawn + bent * bent * pace + IGNORANCE / checks;
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
            if sample.wants(key(n)) {
                sample.put(key(n), Page::new(n as u32));
            }
        }
        assert!(sample.len() <= MOST && sample.len() > MOST / 3);
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
