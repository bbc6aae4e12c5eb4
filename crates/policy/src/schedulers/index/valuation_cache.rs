//! What did a page look like when it came up? A visit that follows at once learns from the same look.

use std::cell::Cell;

use evercrawl_estimate::Gamma;
use evercrawl_estimate::signal::SignalClock;

use super::KINDS;
use super::valuation::{EquivalentTimes, PageValuation};
use crate::page::{Days, Page};

/// The last look at a page that came up, until something is learned.
#[derive(Debug, Default)]
pub(super) struct LastValuation(Cell<Option<CachedValuation>>);

/// A look at a page, and what was seen.
#[derive(Clone, Copy, Debug)]
struct CachedValuation {
    page: Page,
    now: Days,
    known: KnownInputs,
    sight: EquivalentTimes,
}

/// What is known of a page at a moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct KnownInputs {
    pub(super) belief: Gamma,
    /// How time runs by who would have said that it changed.
    pub(super) told: SignalClock,
    /// How much more time than by any other clock has passed by those of its groups since its last visit.
    pub(super) gained: [Days; KINDS],
}

impl LastValuation {
    /// Remembers what `look` showed.
    pub(super) fn store(&self, look: &PageValuation, sight: EquivalentTimes) {
        let (page, now) = (without_counters(look.page), look.now);
        self.0.set(Some(CachedValuation { page, now, known: look.known, sight }));
    }

    /// Forgets it, since something is learned, and returns it if it was of this page at this moment.
    pub(super) fn take(&self, page: &Page, now: Days) -> Option<(KnownInputs, EquivalentTimes)> {
        let glance = self.0.take()?;
        let same = glance.now == now && glance.page == without_counters(page);
        same.then_some((glance.known, glance.sight))
    }

    pub(super) fn forget(&self) {
        self.0.set(None);
    }
}

/// A page without what a visit counts, and on which nothing depends that a look shows.
fn without_counters(page: &Page) -> Page {
    let counts = Page::new(page.id);
    let Page { due, checks, changes, watched, unmodified, missing, .. } = counts;
    Page { due, checks, changes, watched, unmodified, missing, ..*page }
}
