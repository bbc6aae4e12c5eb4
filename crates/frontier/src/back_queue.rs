//! What does one host have to fetch? A window in memory on its queue on disk.

use evercrawl_model::{Band, HostKey, PageKey, Time};
use evercrawl_state::{Lane, Place, StateError, Store, View};

use super::selector::Selector;
use super::window::{LENGTH, Window};

const BANDS: usize = Band::COUNT as usize;

/// The back queue of an active host: a lane for each band of new pages, and one for known pages
/// by due time.
pub(super) struct BackQueue {
    host: HostKey,
    /// Where pages stand, and their keys on the host.
    lanes: [Window<(u64, u64)>; BANDS + 2],
    /// Pages that are out, and so must not be handed out again.
    leased: Vec<u64>,
    /// What the host was last asked that is no page of it.
    question: Option<u64>,
}

/// Which kind of page is asked for first.
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

    /// Takes the next page: a known one that is due by `horizon`, or a new one from the band that
    /// the selector chose; `order` says which kind is asked for first.
    pub(super) fn take<S: Store>(
        &mut self,
        state: &View<S>,
        now: Time,
        horizon: Time,
        selector: &mut Selector,
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
        // Pages in doubt wait in the last band for its answer: without it they would be in doubt again.
        let unanswered = self.question.is_some_and(|url| self.leased.contains(&url));
        for band in selector.bands().filter(|band| !unanswered || *band != Band::LAST) {
            if let Some(found) = self.pop(state, Lane::New(band), horizon)? {
                return Ok(Some(found));
            }
        }
        if order == Order::NewFirst { due(self) } else { Ok(None) }
    }

    /// What the host is to be asked before all else.
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
            // What was read may be due later.
            if position >= until && !leased {
                break;
            }
            self.lanes[slot(lane)].pop();
            if !leased {
                let page = PageKey { host: self.host, url };
                return Ok(Some((page, place_of(lane, position))));
            }
        }
        Ok(None)
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
        self.noticed(page, place);
    }

    /// A page came to wait: the window must not have passed it.
    pub(super) fn noticed(&mut self, page: PageKey, place: Place) {
        self.lanes[slot(lane_of(place))].take_in((position_of(place), page.url));
    }

    /// The front queue to wait in, and from when on: now for new pages (if any are `waiting`),
    /// else when the first known page is due; `None` when nothing waits.
    pub(super) fn front<S: Store>(
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

    /// Where the first page of a lane waits, and its key on the host.
    fn first<S: Store>(
        &mut self,
        state: &View<S>,
        lane: Lane,
    ) -> Result<Option<(u64, u64)>, StateError> {
        let host = self.host;
        self.lanes[slot(lane)].first(|last| {
            let from = last.map_or((0, 0), |(position, url)| (position, url.wrapping_add(1)));
            let pages = state.lane(host, lane, from, u64::MAX, LENGTH)?;
            Ok(pages.iter().map(|queued| (queued.position, queued.page.url)).collect())
        })
    }
}

fn slot(lane: Lane) -> usize {
    match lane {
        Lane::New(band) => usize::from(band.number()),
        Lane::Due => BANDS,
        Lane::Recheck => BANDS + 1,
    }
}

/// The lane that a place lies in.
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
