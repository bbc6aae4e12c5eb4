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

/// The next pages of a lane, due or not, and where to read on.
#[derive(Default)]
struct Window {
    pages: VecDeque<Queued>,
    /// Where the part begins that was not read yet: before it nothing is left but what is leased.
    low_water: (u64, u64),
    /// True when nothing is left behind the window.
    dry: bool,
}

impl Window {
    /// Reads on, where all that was read is taken.
    fn fill<S: Store>(
        &mut self,
        state: &State<S>,
        host: HostKey,
        lane: Lane,
    ) -> Result<(), StateError> {
        if self.pages.is_empty() && !self.dry {
            self.pages = state.lane(host, lane, self.low_water, u64::MAX, WINDOW)?.into();
            self.dry = self.pages.is_empty();
            self.read_up_to_last();
        }
        Ok(())
    }

    fn read_up_to_last(&mut self) {
        if let Some(last) = self.pages.back() {
            self.low_water = (last.position, last.page.url.wrapping_add(1));
        }
    }

    /// A page came to wait: among those that were read, or to be read in its turn.
    fn take_in(&mut self, queued: Queued) {
        let order = |page: &Queued| (page.position, page.page.url);
        let at = order(&queued);
        if self.pages.back().is_none_or(|last| order(last) < at) {
            self.low_water = self.low_water.min(at);
            self.dry = false;
            return;
        }
        if let Err(place) = self.pages.binary_search_by_key(&at, order) {
            self.pages.insert(place, queued);
        }
        if self.pages.len() > 2 * WINDOW {
            self.pages.truncate(WINDOW);
            self.read_up_to_last();
            self.dry = false;
        }
    }
}

impl BackQueue {
    pub(super) fn new(host: HostKey) -> Self {
        BackQueue { host, lanes: Default::default(), leased: Vec::new(), question: None }
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
        state: &State<S>,
    ) -> Result<Option<(PageKey, Place)>, StateError> {
        let (lane, turn) = (lane_of(Place::QUESTION), position_of(Place::QUESTION));
        let found = self.pop_before(state, lane, turn + 1)?;
        self.question = found.map(|(page, _)| page.url).or(self.question);
        Ok(found)
    }

    fn pop<S: Store>(
        &mut self,
        state: &State<S>,
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
        state: &State<S>,
        lane: Lane,
        until: u64,
    ) -> Result<Option<(PageKey, Place)>, StateError> {
        let window = &mut self.lanes[slot(lane)];
        window.fill(state, self.host, lane)?;
        let leased = &self.leased;
        while window.pages.front().is_some_and(|queued| leased.contains(&queued.page.url)) {
            window.pages.pop_front();
        }
        // What was read may be due later.
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
        self.noticed(page, place);
    }

    /// A page came to wait: the window must not have passed it.
    pub(super) fn noticed(&mut self, page: PageKey, place: Place) {
        let queued = Queued { position: position_of(place), page };
        self.lanes[slot(lane_of(place))].take_in(queued);
    }

    /// The front queue to wait in, and from when on: now for new pages (if any are `waiting`),
    /// else when the first known page is due; `None` when nothing waits.
    pub(super) fn front<S: Store>(
        &mut self,
        state: &State<S>,
        waiting: bool,
    ) -> Result<Option<(Band, Time)>, StateError> {
        for band in (0..Band::COUNT).map(Band::new).filter(|_| waiting) {
            if self.first(state, Lane::New(band))?.is_some() {
                return Ok(Some((band, Time::EPOCH)));
            }
        }
        for (lane, band) in [(Lane::Due, Band::REVISITS), (Lane::Recheck, Band::BLOCKED)] {
            if let Some(position) = self.first(state, lane)? {
                return Ok(Some((band, Time::from_millis(position))));
            }
        }
        Ok(None)
    }

    /// Where the first page of a lane waits. It may have gone from there since it was read: whoever asks for
    /// it will see.
    fn first<S: Store>(&mut self, state: &State<S>, lane: Lane) -> Result<Option<u64>, StateError> {
        let window = &mut self.lanes[slot(lane)];
        window.fill(state, self.host, lane)?;
        Ok(window.pages.front().map(|queued| queued.position))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn queued(position: u64) -> Queued {
        Queued { position, page: PageKey { host: HostKey::default(), url: position } }
    }

    fn positions(window: &Window) -> Vec<u64> {
        window.pages.iter().map(|queued| queued.position).collect()
    }

    #[test]
    fn a_page_that_comes_to_wait_is_taken_in_its_turn() {
        let mut window = Window { pages: [10, 20].map(queued).into(), ..Window::default() };
        window.read_up_to_last();
        window.dry = true;
        for position in [15, 5, 10] {
            window.take_in(queued(position));
        }
        assert_eq!(positions(&window), [5, 10, 15, 20]);
        assert!(window.dry && window.low_water == (20, 21), "nothing waits behind them");
        window.take_in(queued(30));
        assert_eq!(positions(&window), [5, 10, 15, 20]);
        assert!(!window.dry && window.low_water == (20, 21), "it is read after them");
    }

    #[test]
    fn what_comes_before_an_empty_window_is_read_again() {
        let mut window = Window { low_water: (20, 21), dry: true, ..Window::default() };
        window.take_in(queued(7));
        assert!(!window.dry && window.low_water == (7, 7) && window.pages.is_empty());
    }

    #[test]
    fn a_window_stays_small_and_what_it_lets_go_is_read_again() {
        let mut window = Window { pages: [queued(1000)].into(), ..Window::default() };
        (0..200).rev().for_each(|position| window.take_in(queued(position)));
        assert!(window.pages.len() <= 2 * WINDOW && !window.dry);
        let last = window.pages.back().map(|last| last.position).unwrap();
        assert_eq!(window.low_water, (last, last + 1));
        assert_eq!(positions(&window), (0..=last).collect::<Vec<_>>());
    }
}
