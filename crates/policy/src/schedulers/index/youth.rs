//! How much more often does a page change while it is young?
//!
//! What was just written is mended, answered and added to; then it rests. A page's directory cannot tell, as most of
//! its pages are old. What visits to young pages find, beside what was to be expected of old ones, can.

use evercrawl_estimate::quick;

use crate::page::{Days, NEVER};
use crate::persist::persist_fields;

/// How long a page is young after it was found.
const YOUTH: Days = 28.0;

/// What is believed before young pages were seen, as on most sites they do change more often; how many changes' worth
/// of belief that is, and after how many older ones fade.
const USUAL: f64 = 5.0;
const DOUBT: f64 = 1.0;
const MEMORY: f64 = 100.0;

/// How many times as often it can be at most. A blog's article is mended for days, and then left alone for years.
const MOST: f64 = 30.0;

/// Changes of young pages: found, and expected if they were old.
#[derive(Clone, Copy, Debug)]
pub(super) struct YoungPages {
    found: f64,
    expected: f64,
    /// When the first page was seen.
    began: Days,
}

persist_fields!(YoungPages { found, expected, began });

impl Default for YoungPages {
    fn default() -> Self {
        YoungPages { found: 0.0, expected: 0.0, began: NEVER }
    }
}

impl YoungPages {
    /// A page was seen at `now`.
    pub(super) fn record_discovery(&mut self, now: Days) {
        self.began = self.began.min(now);
    }

    /// Whether a page is young that was found at `found`. At first all pages are new to a crawl, which says nothing of
    /// their age.
    pub(super) fn is_young(&self, found: Days, now: Days) -> bool {
        found - self.began >= YOUTH && now - found < YOUTH
    }

    /// How many times as often as an old page a young one changes. Never less: that nothing was found on new
    /// pages yet is no reason to leave them alone.
    pub(super) fn change_factor(&self) -> f64 {
        ((USUAL * DOUBT + self.found) / (DOUBT + self.expected)).clamp(1.0, MOST)
    }

    /// Learns from a visit to a young page by which an old one would have changed `expected` times.
    pub(super) fn learn(&mut self, expected: f64, changed: bool) {
        if !(expected > 0.0 && expected.is_finite()) {
            return;
        }
        let usual = self.change_factor() * expected;
        // How many changes there were, where there was one at least.
        let found = if changed { usual / quick::decay(usual) } else { 0.0 };
        let keep = if self.expected > MEMORY { 1.0 - expected.min(1.0) / MEMORY } else { 1.0 };
        self.found = keep * self.found + found;
        self.expected = keep * self.expected + expected;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;

    /// The pace learned where young pages change `pace` times as often as old ones.
    fn learned(pace: f64) -> f64 {
        let (mut youth, mut random) = (YoungPages::default(), SplitMix64::new(3));
        for _ in 0..5000 {
            let expected = 0.3 * random.uniform();
            youth.learn(expected, random.uniform() < -(-pace * expected).exp_m1());
        }
        youth.change_factor()
    }

    #[test]
    fn learns_how_much_faster_young_pages_change() {
        assert!((learned(4.0) - 4.0).abs() < 0.5, "{}", learned(4.0));
        assert!((learned(1.0) - 1.0).abs() < 0.2, "{}", learned(1.0));
        assert_eq!(learned(0.2), 1.0);
        assert!((20.0..=MOST).contains(&learned(50.0)), "{}", learned(50.0));
    }

    #[test]
    fn nonsense_teaches_nothing() {
        let mut youth = YoungPages::default();
        for expected in [f64::NAN, f64::INFINITY, -1.0, 0.0] {
            youth.learn(expected, true);
        }
        assert_eq!(youth.change_factor(), USUAL);
    }

    #[test]
    fn what_is_found_at_first_is_of_any_age() {
        let mut youth = YoungPages::default();
        assert!(!youth.is_young(90.0, 91.0), "nothing was seen yet");
        [20.0, 0.0, 90.0].into_iter().for_each(|at| youth.record_discovery(at));
        assert!(!youth.is_young(20.0, 21.0));
        assert!(youth.is_young(90.0, 117.0) && !youth.is_young(90.0, 119.0));
        assert!(!youth.is_young(f64::NEG_INFINITY, 91.0));
    }
}
