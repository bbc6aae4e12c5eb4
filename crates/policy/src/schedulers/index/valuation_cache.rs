//! What was the valuation of a page when it came up? A visit that follows at once learns from the same one.

use std::cell::Cell;

use evercrawl_estimate::Gamma;
use evercrawl_estimate::signal::SignalClock;

use super::KINDS;
use super::valuation::{EquivalentTimes, PageValuation};
use crate::page::{Days, Page};

/// The last valuation of a page that came up, until something is learned.
#[derive(Debug, Default)]
pub(super) struct LastValuation(Cell<Option<CachedValuation>>);

/// A valuation of a page, with its results.
#[derive(Clone, Copy, Debug)]
struct CachedValuation {
    page: Page,
    now: Days,
    known: KnownInputs,
    times: EquivalentTimes,
}

/// What is known about a page at a moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct KnownInputs {
    pub(super) belief: Gamma,
    /// How time counts, given its signals.
    pub(super) signal_clock: SignalClock,
    /// The extra time that has passed since its last visit by the clocks of its groups.
    pub(super) gained: [Days; KINDS],
}

impl LastValuation {
    /// Caches a valuation.
    pub(super) fn store(&self, valuation: &PageValuation, times: EquivalentTimes) {
        let (page, now) = (without_counters(valuation.page), valuation.now);
        self.0.set(Some(CachedValuation { page, now, known: valuation.known, times }));
    }

    /// Clears the cache, since something is learned; returns the valuation if it is of this page at this moment.
    pub(super) fn take(&self, page: &Page, now: Days) -> Option<(KnownInputs, EquivalentTimes)> {
        let cached = self.0.take()?;
        let same = cached.now == now && cached.page == without_counters(page);
        same.then_some((cached.known, cached.times))
    }

    pub(super) fn forget(&self) {
        self.0.set(None);
    }
}

/// The page without the counters that a visit changes and no valuation reads.
fn without_counters(page: &Page) -> Page {
    let counts = Page::new(page.id);
    let Page { due, checks, changes, watched, unmodified, missing, .. } = counts;
    Page { due, checks, changes, watched, unmodified, missing, ..*page }
}
