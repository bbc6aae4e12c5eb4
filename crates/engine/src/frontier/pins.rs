//! Which pages do not wait behind others that are due? Those that the user pinned.

use std::collections::HashMap;

use evercrawl_model::{HostKey, PageKey, Time};
use evercrawl_state::Place;

/// The pinned pages of each host, and when each is due; never, while it waits for no visit.
#[derive(Debug, Default)]
pub(super) struct Pins(HashMap<HostKey, HashMap<u64, Time>>);

impl Pins {
    pub(super) fn new(pages: impl IntoIterator<Item = (PageKey, Option<Place>)>) -> Self {
        let mut pins = Pins::default();
        for (page, place) in pages {
            pins.0.entry(page.host).or_default().insert(page.url, due(place));
        }
        pins
    }

    /// A page came to wait somewhere else.
    pub(super) fn noticed(&mut self, page: PageKey, place: Place) {
        let pinned = self.0.get_mut(&page.host).and_then(|pages| pages.get_mut(&page.url));
        if let Some(at) = pinned {
            *at = due(Some(place));
        }
    }

    /// The pages of a host that are due at `now`, and where they wait.
    pub(super) fn due(&self, host: HostKey, now: Time) -> impl Iterator<Item = (PageKey, Place)> {
        let pages = self.0.get(&host).into_iter().flatten();
        let due = pages.filter(move |(_, at)| **at <= now);
        due.map(move |(&url, &at)| (PageKey { host, url }, Place::Due(at)))
    }
}

fn due(place: Option<Place>) -> Time {
    match place {
        Some(Place::Due(at)) => at,
        _ => Time::NEVER,
    }
}
