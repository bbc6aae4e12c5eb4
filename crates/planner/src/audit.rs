//! Is the reported freshness true? Randomly sampled pages are audited: what was believed about them is compared with
//! what is found.
//!
//! Ordinary visits go where change is expected, so their results say little about all pages. A small share of
//! requests therefore goes to randomly sampled pages, without conditional headers. The difference between what they
//! show and what was believed corrects the estimate and bounds its error.

use std::collections::{HashSet, VecDeque};

use evercrawl_model::PageKey;
use evercrawl_policy::SplitMix64;

/// The most audits that count: older ones say little about today.
const MAX_RESULTS: usize = 400;

/// The standard deviation of the error of beliefs before any audit, as a share of pages.
const PRIOR_DEVIATION: f64 = 0.05;

/// Pseudo-audits counted from the start, as likely to end one way as the other.
const PSEUDO_AUDITS: f64 = 2.0;

/// The results of audits, and the audits in flight.
#[derive(Debug)]
pub(super) struct Audits {
    /// The share of requests used for audits.
    share: f64,
    owed: f64,
    pending: HashSet<PageKey>,
    /// For each audit: whether the copy was right (0 or 1) minus the believed chance; and that chance.
    results: VecDeque<(f32, f32)>,
    random: SplitMix64,
}

/// How audits correct the beliefs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Correction {
    /// Added to the share of pages believed to be fresh.
    pub(super) shift: f64,
    /// The variance of the remaining error.
    pub(super) variance: f64,
    /// The number of audits behind it.
    pub(super) audits: usize,
}

impl Audits {
    /// Audits for `share` of all requests, sampled from `seed`.
    pub(super) fn new(share: f64, seed: u64) -> Self {
        Audits {
            share,
            owed: 0.0,
            pending: HashSet::new(),
            results: VecDeque::new(),
            random: SplitMix64::new(seed),
        }
    }

    /// Counts a request.
    pub(super) fn count_request(&mut self) {
        self.owed += self.share;
    }

    /// Draws the next page to audit, if one is owed.
    pub(super) fn draw_page(&mut self, pages: &[PageKey]) -> Option<PageKey> {
        if self.owed < 1.0 || pages.is_empty() {
            return None;
        }
        self.owed -= 1.0;
        let page = pages[self.random.below(pages.len())];
        self.pending.insert(page).then_some(page)
    }

    /// Whether a page waits for its audit.
    pub(super) fn is_pending(&self, page: PageKey) -> bool {
        self.pending.contains(&page)
    }

    /// Ends the audit of a page, visited or not. Returns true when there was one.
    pub(super) fn end(&mut self, page: PageKey) -> bool {
        self.pending.remove(&page)
    }

    /// Records that an audited copy was `right`, which was believed with chance `believed`.
    pub(super) fn record(&mut self, right: bool, believed: f64) {
        let believed = believed as f32;
        self.results.push_back((f32::from(u8::from(right)) - believed, believed));
        if self.results.len() > MAX_RESULTS {
            self.results.pop_front();
        }
    }

    /// How far beliefs are off: the mean error of audits, shrunk towards none by the prior.
    pub(super) fn correction(&self) -> Correction {
        let count = self.results.len();
        let n = count as f64;
        let prior = PRIOR_DEVIATION * PRIOR_DEVIATION;
        if count == 0 {
            return Correction { shift: 0.0, variance: prior, audits: 0 };
        }
        let mean = self.results.iter().map(|(miss, _)| f64::from(*miss)).sum::<f64>() / n;
        // A few audits that all agree do not prove that there is no error. The variance is at least what the beliefs
        // themselves imply, with some pseudo-audits that went either way.
        let spread = self.results.iter().map(|&(miss, believed)| {
            let (miss, believed) = (f64::from(miss) - mean, f64::from(believed));
            (miss * miss).max(believed * (1.0 - believed))
        });
        let variance = (spread.sum::<f64>() + PSEUDO_AUDITS * 0.25) / (n + PSEUDO_AUDITS) / n;
        let weight = prior / (prior + variance);
        Correction { shift: weight * mean, variance: weight * variance, audits: count }
    }

    /// Appends the encoded results to `out`.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&(self.results.len() as u16).to_le_bytes());
        for (miss, believed) in &self.results {
            out.extend_from_slice(&miss.to_le_bytes());
            out.extend_from_slice(&believed.to_le_bytes());
        }
    }

    /// Restores what [`write`](Self::write) wrote.
    pub(super) fn read(&mut self, from: &mut &[u8]) -> Option<()> {
        let (count, rest) = from.split_first_chunk()?;
        let (pairs, rest) = rest.split_at_checked(8 * usize::from(u16::from_le_bytes(*count)))?;
        let float = |four: &[u8]| four.try_into().map(f32::from_le_bytes).unwrap_or_default();
        self.results = pairs.chunks_exact(8).map(|p| (float(&p[..4]), float(&p[4..]))).collect();
        *from = rest;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Audits of pages that are right with chance `real` and believed to be with chance `believed`.
    fn corrected(real: f64, believed: f64, count: usize, seed: u64) -> (f64, f64) {
        let (mut audits, mut random) = (Audits::new(0.01, 1), SplitMix64::new(seed));
        (0..count).for_each(|_| audits.record(random.uniform() < real, believed));
        let correction = audits.correction();
        (believed + correction.shift, 1.96 * correction.variance.sqrt())
    }

    #[test]
    fn beliefs_that_are_off_are_put_right_and_the_error_is_bounded() {
        for (real, believed) in [(0.9, 0.9), (0.85, 0.92), (0.6, 0.65)] {
            let hits = (0..400).filter(|&seed| {
                let (fresh, error) = corrected(real, believed, 300, seed);
                (fresh - real).abs() <= error
            });
            let hits = hits.count();
            assert!(hits >= 360, "{real} {believed}: {hits} of 400");
        }
        let (fresh, error) = corrected(0.8, 0.9, 400, 3);
        assert!(fresh < 0.86 && error < 0.05, "{fresh} {error}");
    }

    #[test]
    fn without_audits_there_is_doubt() {
        let audits = Audits::new(0.01, 1);
        assert_eq!(
            audits.correction(),
            Correction { shift: 0.0, variance: PRIOR_DEVIATION * PRIOR_DEVIATION, audits: 0 }
        );
    }

    #[test]
    fn a_few_audits_that_contradict_all_beliefs_prove_little() {
        for (count, least) in [(1, 0.97), (3, 0.9)] {
            let (fresh, error) = corrected(0.0, 0.999, count, 1);
            assert!(fresh > least && error > 0.09, "{count} audits: {fresh} {error}");
        }
        let (fresh, error) = corrected(0.0, 0.999, 100, 1);
        assert!(fresh < 0.1 && error < 0.02, "{fresh} {error}");
    }

    #[test]
    fn as_many_are_drawn_as_are_owed() {
        let pages: Vec<PageKey> =
            (0..1000).map(|url| PageKey { url, ..PageKey::default() }).collect();
        let mut audits = Audits::new(0.02, 1);
        let mut drawn = 0;
        for _ in 0..5000 {
            audits.count_request();
            if let Some(page) = audits.draw_page(&pages) {
                drawn += 1;
                assert!(audits.is_pending(page) && audits.end(page) && !audits.end(page));
            }
        }
        assert_eq!(drawn, 100);
    }
}
