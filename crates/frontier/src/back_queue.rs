//! What does one host have to fetch? A window in memory onto its queue on disk.

use evercrawl_model::{Band, HostKey, PageKey, Time};
use evercrawl_state::{Lane, Place, StateError, Store, View};

use super::band_selector::BandSelector;
use super::window::{READ_LENGTH, Window};

const BANDS: usize = Band::COUNT as usize;

/// The back queue of an active host: one lane per band of new pages, and one for known pages by due time.
pub(super) struct BackQueue {
    host: HostKey,
    /// Positions of pages, and their keys on the host.
    lanes: [Window<(u64, u64)>; BANDS + 2],
    /// Leased pages, which must not be leased again.
    leased: Vec<u64>,
    /// The last soft-404 probe of the host.
    question: Option<u64>,
}

/// Which kind of page is taken first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    DueFirst,
    NewFirst,
    NewOnly,
}

impl BackQueue {
    pub(super) fn new(host: HostKey) -> Self {
        BackQueue { host, lanes: Default::default(), leased: Vec::new(), question: None }
    }

    /// Takes the next page: a known one that is due by `horizon`, or a new one from the band that the selector chose;
    /// `order` says which kind comes first.
    pub(super) fn take_page<S: Store>(
        &mut self,
        state: &View<S>,
        now: Time,
        horizon: Time,
        selector: &mut BandSelector,
        order: Order,
    ) -> Result<Option<(PageKey, Place)>, StateError> {
        if let Some(question) = self.question(state)? {
            return Ok(Some(question));
        }
        let due = |queue: &mut Self| match queue.pop(state, Lane::Recheck, now)? {
            Some(found) => Ok(Some(found)),
            None => queue.pop(state, Lane::Due, horizon),
        };
        if order == Order::DueFirst
            && let Some(found) = due(self)?
        {
            return Ok(Some(found));
        }
        // Suspect pages are in the last band until the probe is answered: before that they would be suspect again.
        let unanswered = self.question.is_some_and(|url| self.leased.contains(&url));
        for band in selector.bands().filter(|band| !unanswered || *band != Band::LAST) {
            if let Some(found) = self.pop(state, Lane::New(band), horizon)? {
                return Ok(Some(found));
            }
        }
        if order == Order::NewFirst { due(self) } else { Ok(None) }
    }

    /// Takes the soft-404 probe, which comes before all pages.
    fn question<S: Store>(
        &mut self,
        state: &View<S>,
    ) -> Result<Option<(PageKey, Place)>, StateError> {
        let (lane, turn) = (lane_of(Place::QUESTION), position_of(Place::QUESTION));
        let found = self.pop_before(state, lane, turn + 1)?;
        self.question = found.map(|(page, _)| page.url).or(self.question);
        Ok(found)
    }

    fn pop<S: Store>(
        &mut self,
        state: &View<S>,
        lane: Lane,
        horizon: Time,
    ) -> Result<Option<(PageKey, Place)>, StateError> {
        let until = match lane {
            Lane::New(_) => u64::MAX,
            Lane::Due | Lane::Recheck => horizon.millis().saturating_add(1),
        };
        self.pop_before(state, lane, until)
    }

    fn pop_before<S: Store>(
        &mut self,
        state: &View<S>,
        lane: Lane,
        until: u64,
    ) -> Result<Option<(PageKey, Place)>, StateError> {
        while let Some((position, url)) = self.first(state, lane)? {
            let leased = self.leased.contains(&url);
            // A page that was read into the window may be due later.
            if position >= until && !leased {
                break;
            }
            self.lanes[lane_index(lane)].pop();
            if !leased {
                let page = PageKey { host: self.host, url };
                return Ok(Some((page, place_of(lane, position))));
            }
        }
        Ok(None)
    }

    /// Marks a page as leased.
    pub(super) fn mark_leased(&mut self, page: PageKey) {
        self.leased.push(page.url);
    }

    /// Whether a page is leased.
    pub(super) fn is_leased(&self, page: PageKey) -> bool {
        self.leased.contains(&page.url)
    }

    /// Marks a page as no longer leased.
    pub(super) fn mark_released(&mut self, page: PageKey) {
        self.leased.retain(|&url| url != page.url);
    }

    /// Returns a page that was taken to its position.
    pub(super) fn put_back(&mut self, page: PageKey, place: Place) {
        self.insert(page, place);
    }

    /// Inserts a page that was queued, so that the window does not skip it.
    pub(super) fn insert(&mut self, page: PageKey, place: Place) {
        self.lanes[lane_index(lane_of(place))].insert((position_of(place), page.url));
    }

    /// The front queue for this host, and from when on: now for new pages (if any are `waiting`), else when the first
    /// known page is due; `None` when nothing is queued.
    pub(super) fn front_queue<S: Store>(
        &mut self,
        state: &View<S>,
        waiting: bool,
    ) -> Result<Option<(Band, Time)>, StateError> {
        for band in (0..Band::COUNT).map(Band::new).filter(|_| waiting) {
            if self.first(state, Lane::New(band))?.is_some() {
                return Ok(Some((band, Time::EPOCH)));
            }
        }
        for (lane, band) in [(Lane::Due, Band::REVISITS), (Lane::Recheck, Band::BLOCKED)] {
            if let Some((position, _)) = self.first(state, lane)? {
                return Ok(Some((band, Time::from_millis(position))));
            }
        }
        Ok(None)
    }

    /// The position of the first page of a lane, and its key on the host.
    fn first<S: Store>(
        &mut self,
        state: &View<S>,
        lane: Lane,
    ) -> Result<Option<(u64, u64)>, StateError> {
        let host = self.host;
        self.lanes[lane_index(lane)].first(|last| {
            let from = last.map_or((0, 0), |(position, url)| (position, url.wrapping_add(1)));
            let pages = state.lane(host, lane, from, u64::MAX, READ_LENGTH)?;
            Ok(pages.iter().map(|queued| (queued.position, queued.page.url)).collect())
        })
    }
}

fn lane_index(lane: Lane) -> usize {
    match lane {
        Lane::New(band) => usize::from(band.number()),
        Lane::Due => BANDS,
        Lane::Recheck => BANDS + 1,
    }
}

/// The lane that a place belongs to.
fn lane_of(place: Place) -> Lane {
    match place {
        Place::New(band, _) => Lane::New(band),
        Place::Due(_) => Lane::Due,
        Place::Recheck(_) => Lane::Recheck,
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
