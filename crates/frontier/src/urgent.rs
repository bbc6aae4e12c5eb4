//! Which pages do not wait behind others that are due? Those that the user pinned, and those drawn for an audit.
//!
//! A page that is drawn waits since ever, [`DRAWN`]. It comes first even where new pages come before due ones: its
//! lot decides when it is looked at, and not what else its host has.

use std::collections::HashMap;

use evercrawl_model::{HostKey, PageKey, Time};
use evercrawl_state::Place;

use super::DRAWN;

/// The urgent pages of each host, and when each is due.
#[derive(Debug, Default)]
pub(super) struct Urgent {
    /// Never due, while it waits for no visit.
    pinned: HashMap<HostKey, HashMap<u64, Time>>,
    /// As far as they were drawn in this run.
    drawn: HashMap<HostKey, Vec<u64>>,
}

impl Urgent {
    /// These pages are pinned, and wait there.
    pub(super) fn set_pins(&mut self, pages: impl IntoIterator<Item = (PageKey, Option<Place>)>) {
        self.pinned.clear();
        for (page, place) in pages {
            self.pinned.entry(page.host).or_default().insert(page.url, due(place));
        }
    }

    /// A page came to wait somewhere else, or no longer waits.
    pub(super) fn noticed(&mut self, page: PageKey, place: Option<Place>) {
        let pinned = self.pinned.get_mut(&page.host).and_then(|pages| pages.get_mut(&page.url));
        if let Some(at) = pinned {
            *at = due(place);
        }
        match place {
            Some(Place::Due(DRAWN)) => self.drawn.entry(page.host).or_default().push(page.url),
            _ => self.forget_draw(page),
        }
    }

    fn forget_draw(&mut self, page: PageKey) {
        let Some(drawn) = self.drawn.get_mut(&page.host) else { return };
        drawn.retain(|&url| url != page.url);
        if drawn.is_empty() {
            self.drawn.remove(&page.host);
        }
    }

    /// The pages of a host that are due at `now`, and where they wait.
    pub(super) fn due(&self, host: HostKey, now: Time) -> impl Iterator<Item = (PageKey, Place)> {
        let drawn = self.drawn.get(&host).into_iter().flatten().map(|&url| (url, DRAWN));
        let pinned = self.pinned.get(&host).into_iter().flatten().map(|(&url, &at)| (url, at));
        let due = drawn.chain(pinned.filter(move |(_, at)| *at <= now));
        due.map(move |(url, at)| (PageKey { host, url }, Place::Due(at)))
    }
}

fn due(place: Option<Place>) -> Time {
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
        let (mut urgent, now) = (Urgent::default(), Time::from_millis(1000));
        urgent.noticed(PAGE, Some(Place::Due(DRAWN)));
        urgent.set_pins([]);
        let due: Vec<_> = urgent.due(PAGE.host, now).collect();
        assert_eq!(due, [(PAGE, Place::Due(DRAWN))]);
        for elsewhere in [Some(Place::Due(now)), None] {
            urgent.noticed(PAGE, Some(Place::Due(DRAWN)));
            urgent.noticed(PAGE, elsewhere);
            assert!(urgent.drawn.is_empty(), "{elsewhere:?}");
        }
    }

    #[test]
    fn a_pinned_page_is_due_at_its_time() {
        let (mut urgent, now) = (Urgent::default(), Time::from_millis(1000));
        urgent.set_pins([(PAGE, None)]);
        assert_eq!(urgent.due(PAGE.host, now).count(), 0, "it waits for no visit");
        urgent.noticed(PAGE, Some(Place::Due(now)));
        assert_eq!(urgent.due(PAGE.host, now).count(), 1);
        assert_eq!(urgent.due(PAGE.host, Time::from_millis(999)).count(), 0);
    }
}
