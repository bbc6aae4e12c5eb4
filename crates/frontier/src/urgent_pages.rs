//! Which pages come before all others that are due? Pages pinned by the user, and pages drawn for an audit.
//!
//! An audited page is due at [`AUDIT_DUE`]. It comes first even where new pages come before due ones: the random draw
//! alone decides when it is visited, not what else its host has queued.

use std::collections::HashMap;

use evercrawl_model::{HostKey, PageKey, Time};
use evercrawl_state::Place;

use super::AUDIT_DUE;

/// The urgent pages of each host, and when each is due.
#[derive(Debug, Default)]
pub(super) struct UrgentPages {
    /// A pinned page that is not queued has no due time ([`Time::NEVER`]).
    pinned: HashMap<HostKey, HashMap<u64, Time>>,
    /// Pages drawn in this run.
    audited: HashMap<HostKey, Vec<u64>>,
}

impl UrgentPages {
    /// Sets the pinned pages and where they are queued.
    pub(super) fn set_pins(&mut self, pages: impl IntoIterator<Item = (PageKey, Option<Place>)>) {
        self.pinned.clear();
        for (page, place) in pages {
            self.pinned.entry(page.host).or_default().insert(page.url, due_time(place));
        }
    }

    /// Records that a page was queued elsewhere, or is no longer queued.
    pub(super) fn update_place(&mut self, page: PageKey, place: Option<Place>) {
        let pinned = self.pinned.get_mut(&page.host).and_then(|pages| pages.get_mut(&page.url));
        if let Some(at) = pinned {
            *at = due_time(place);
        }
        match place {
            Some(Place::Due(AUDIT_DUE)) => {
                self.audited.entry(page.host).or_default().push(page.url)
            }
            _ => self.remove_audit(page),
        }
    }

    fn remove_audit(&mut self, page: PageKey) {
        let Some(drawn) = self.audited.get_mut(&page.host) else { return };
        drawn.retain(|&url| url != page.url);
        if drawn.is_empty() {
            self.audited.remove(&page.host);
        }
    }

    /// The urgent pages of a host that are due at `now`, and where they are queued.
    pub(super) fn due_pages(
        &self,
        host: HostKey,
        now: Time,
    ) -> impl Iterator<Item = (PageKey, Place)> {
        let drawn = self.audited.get(&host).into_iter().flatten().map(|&url| (url, AUDIT_DUE));
        let pinned = self.pinned.get(&host).into_iter().flatten().map(|(&url, &at)| (url, at));
        let due = drawn.chain(pinned.filter(move |(_, at)| *at <= now));
        due.map(move |(url, at)| (PageKey { host, url }, Place::Due(at)))
    }
}

fn due_time(place: Option<Place>) -> Time {
    match place {
        Some(Place::Due(at)) => at,
        _ => Time::NEVER,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: PageKey = PageKey { host: HostKey { shard: 0, host: 1 }, url: 7 };

    #[test]
    fn a_page_that_is_drawn_is_due_until_it_waits_elsewhere() {
        let (mut urgent, now) = (UrgentPages::default(), Time::from_millis(1000));
        urgent.update_place(PAGE, Some(Place::Due(AUDIT_DUE)));
        urgent.set_pins([]);
        let due: Vec<_> = urgent.due_pages(PAGE.host, now).collect();
        assert_eq!(due, [(PAGE, Place::Due(AUDIT_DUE))]);
        for elsewhere in [Some(Place::Due(now)), None] {
            urgent.update_place(PAGE, Some(Place::Due(AUDIT_DUE)));
            urgent.update_place(PAGE, elsewhere);
            assert!(urgent.audited.is_empty(), "{elsewhere:?}");
        }
    }

    #[test]
    fn a_pinned_page_is_due_at_its_time() {
        let (mut urgent, now) = (UrgentPages::default(), Time::from_millis(1000));
        urgent.set_pins([(PAGE, None)]);
        assert_eq!(urgent.due_pages(PAGE.host, now).count(), 0, "it waits for no visit");
        urgent.update_place(PAGE, Some(Place::Due(now)));
        assert_eq!(urgent.due_pages(PAGE.host, now).count(), 1);
        assert_eq!(urgent.due_pages(PAGE.host, Time::from_millis(999)).count(), 0);
    }
}
