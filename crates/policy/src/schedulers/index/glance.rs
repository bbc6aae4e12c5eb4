//! What did a page look like when it came up? A visit that follows at once learns from the same look.

use std::cell::Cell;

use evercrawl_estimate::Gamma;
use evercrawl_estimate::signal::Clock;

use super::KINDS;
use super::look::{Look, Sight};
use crate::page::{Days, Page};

/// The last look at a page that came up, until something is learned.
#[derive(Debug, Default)]
pub(super) struct LastGlance(Cell<Option<Glance>>);

/// A look at a page, and what was seen.
#[derive(Clone, Copy, Debug)]
struct Glance {
    page: Page,
    now: Days,
    known: Known,
    sight: Sight,
}

/// What is known of a page at a moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    pub(super) belief: Gamma,
    /// How time runs by who would have said that it changed.
    pub(super) told: Clock,
    /// How much more time than by any other clock has passed by those of its groups since its last visit.
    pub(super) gained: [Days; KINDS],
}

impl LastGlance {
    /// Remembers what `look` showed.
    pub(super) fn keep(&self, look: &Look, sight: Sight) {
        let (page, now) = (uncounted(look.page), look.now);
        self.0.set(Some(Glance { page, now, known: look.known, sight }));
    }

    /// Forgets it, since something is learned, and returns it if it was of this page at this moment.
    pub(super) fn take(&self, page: &Page, now: Days) -> Option<(Known, Sight)> {
        let glance = self.0.take()?;
        let same = glance.now == now && glance.page == uncounted(page);
        same.then_some((glance.known, glance.sight))
    }

    pub(super) fn forget(&self) {
        self.0.set(None);
    }
}

/// A page without what a visit counts, and on which nothing depends that a look shows.
fn uncounted(page: &Page) -> Page {
    let counts = Page::new(page.id);
    let Page { due, checks, changes, watched, unmodified, missing, .. } = counts;
    Page { due, checks, changes, watched, unmodified, missing, ..*page }
}
