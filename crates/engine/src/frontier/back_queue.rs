//! What does one host have to fetch? A window in memory on its queue on disk.

use std::collections::VecDeque;

use evercrawl_model::{Band, HostKey, PageKey, Time};
use evercrawl_state::{Lane, Place, Queued, State, StateError, Store};

use super::lane_of;
use super::selector::Selector;

/// How many pages of a lane are read at once.
const WINDOW: usize = 32;
const BANDS: usize = Band::COUNT as usize;

/// The back queue of an active host: a lane for each band of new pages, and one for known pages
/// by due time.
pub(super) struct BackQueue {
    host: HostKey,
    lanes: [Window; BANDS + 2],
    /// Pages that are out, and so must not be handed out again.
    leased: Vec<u64>,
}

/// Which kind of page is asked for first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    DueFirst,
    NewFirst,
    NewOnly,
}

/// The next pages of a lane, and where to read on.
#[derive(Default)]
struct Window {
    pages: VecDeque<Queued>,
    /// Where the part begins that was not read yet: before it nothing is left but what is leased.
    low_water: (u64, u64),
    /// True when nothing is left behind the window.
    dry: bool,
}

impl BackQueue {
    pub(super) fn new(host: HostKey) -> Self {
        BackQueue { host, lanes: Default::default(), leased: Vec::new() }
    }

    /// Takes the next page: a known one that is due by `horizon`, or a new one from the band that
    /// the selector chose; `order` says which kind is asked for first.
    pub(super) fn take<S: Store>(
        &mut self,
        state: &State<S>,
        now: Time,
        horizon: Time,
        selector: &mut Selector,
        order: Order,
    ) -> Result<Option<(PageKey, Place)>, StateError> {
        let due = |queue: &mut Self| match queue.pop(state, Lane::Recheck, now)? {
            Some(found) => Ok(Some(found)),
            None => queue.pop(state, Lane::Due, horizon),
        };
        if order == Order::DueFirst
            && let Some(found) = due(self)?
        {
            return Ok(Some(found));
        }
        for band in selector.bands() {
            if let Some(found) = self.pop(state, Lane::New(band), horizon)? {
                return Ok(Some(found));
            }
        }
        if order == Order::NewFirst { due(self) } else { Ok(None) }
    }

    fn pop<S: Store>(
        &mut self,
        state: &State<S>,
        lane: Lane,
        horizon: Time,
    ) -> Result<Option<(PageKey, Place)>, StateError> {
        let window = &mut self.lanes[slot(lane)];
        let until = match lane {
            Lane::New(_) => u64::MAX,
            Lane::Due | Lane::Recheck => horizon.millis().saturating_add(1),
        };
        if window.pages.is_empty() && !window.dry {
            let pages = state.lane(self.host, lane, window.low_water, until, WINDOW)?;
            if let Some(last) = pages.last() {
                window.low_water = (last.position, last.page.url.wrapping_add(1));
            }
            // Time alone brings more pages into the lane of due ones: it is never dry for good.
            window.dry = pages.is_empty() && matches!(lane, Lane::New(_));
            window.pages = pages.into();
        }
        let leased = &self.leased;
        while window.pages.front().is_some_and(|queued| leased.contains(&queued.page.url)) {
            window.pages.pop_front();
        }
        // The window may have been read up to a later horizon.
        let found = window.pages.pop_front_if(|queued| queued.position < until);
        Ok(found.map(|queued| (queued.page, place_of(lane, queued.position))))
    }

    /// A page is handed out.
    pub(super) fn leased(&mut self, page: PageKey) {
        self.leased.push(page.url);
    }

    /// Whether a page is handed out.
    pub(super) fn is_leased(&self, page: PageKey) -> bool {
        self.leased.contains(&page.url)
    }

    /// A page that was handed out is settled.
    pub(super) fn released(&mut self, page: PageKey) {
        self.leased.retain(|&url| url != page.url);
    }

    /// A page that was taken goes back to where it was.
    pub(super) fn give_back(&mut self, page: PageKey, place: Place) {
        let window = &mut self.lanes[slot(lane_of(place))];
        window.pages.push_front(Queued { position: position_of(place), page });
    }

    /// A page came to wait: the window must not have passed it.
    pub(super) fn noticed(&mut self, page: PageKey, place: Place) {
        let window = &mut self.lanes[slot(lane_of(place))];
        let at = (position_of(place), page.url);
        window.dry = false;
        window.low_water = window.low_water.min(at);
        // Behind pages that are not due yet it would wait for them: they are read again after it.
        if window.pages.front().is_some_and(|first| at < (first.position, first.page.url)) {
            window.pages.clear();
        }
    }

    /// The front queue to wait in, and from when on: now for new pages (if any are `waiting`),
    /// else when the first known page is due; `None` when nothing waits.
    pub(super) fn front<S: Store>(
        &self,
        state: &State<S>,
        waiting: bool,
    ) -> Result<Option<(Band, Time)>, StateError> {
        for band in (0..Band::COUNT).map(Band::new).filter(|_| waiting) {
            if !state.lane(self.host, Lane::New(band), (0, 0), u64::MAX, 1)?.is_empty() {
                return Ok(Some((band, Time::EPOCH)));
            }
        }
        for (lane, band) in [(Lane::Due, Band::REVISITS), (Lane::Recheck, Band::BLOCKED)] {
            if let Some(first) = state.lane(self.host, lane, (0, 0), u64::MAX, 1)?.first() {
                return Ok(Some((band, Time::from_millis(first.position))));
            }
        }
        Ok(None)
    }
}

fn slot(lane: Lane) -> usize {
    match lane {
        Lane::New(band) => usize::from(band.number()),
        Lane::Due => BANDS,
        Lane::Recheck => BANDS + 1,
    }
}

fn place_of(lane: Lane, position: u64) -> Place {
    match lane {
        Lane::New(band) => Place::New(band, position),
        Lane::Due => Place::Due(Time::from_millis(position)),
        Lane::Recheck => Place::Recheck(Time::from_millis(position)),
    }
}

fn position_of(place: Place) -> u64 {
    match place {
        Place::New(_, turn) => turn,
        Place::Due(at) | Place::Recheck(at) => at.millis(),
    }
}
