//! How do the crawler's copies stand against the truth?

use evercrawl_policy::{Days, Found};

use crate::score::{Gain, Score};
use crate::world::{Cursor, Fact, World};

/// No week at all, before all others.
const NO_WEEK: i16 = i16::MIN;

/// The copies of all pages that are known so far. A page's account is brought up to date when it is
/// fetched, and at the end: nothing need be done when a page changes.
pub(super) struct Copies<'a> {
    world: &'a World,
    list: Vec<Copy>,
}

/// The copy of one page, and where the page stands in its history.
struct Copy {
    cursor: Cursor,
    /// When it was made; once it is out of date, since when.
    mark: Days,
    state: State,
    /// Whether there was a change since the last fetch.
    unseen: bool,
    /// The week of the last change.
    changed: i16,
    /// The week of the last change that was found, and the week in which one was found.
    found: [i16; 2],
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    /// The page was never fetched.
    None,
    Fresh,
    Stale,
    /// The page went, and no fetch has seen it.
    Dead,
    /// The page went, and that is known.
    Buried,
}

/// What a fetch shows, and what came of it.
pub(super) struct Look {
    pub(super) found: Found,
    pub(super) gain: Gain,
    /// When the page changed last, if that was since the last fetch.
    pub(super) modified: Option<Days>,
}

impl<'a> Copies<'a> {
    pub(super) fn new(world: &'a World) -> Self {
        Copies { world, list: Vec::with_capacity(world.pages.len()) }
    }

    /// How many pages are known.
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// The next page becomes known: with a copy made at `at`, or without one.
    pub(super) fn add(&mut self, at: Option<Days>) {
        let page = self.list.len() as u32;
        let fact = &self.world.pages[page as usize];
        let mark = at.unwrap_or(fact.born);
        let mut cursor = self.world.truth.first(page);
        while cursor.at() <= mark {
            cursor = self.world.truth.next(page, cursor);
        }
        let state = match at {
            _ if fact.dies <= mark => State::Buried,
            Some(_) => State::Fresh,
            None => State::None,
        };
        let (unseen, changed, found) = (false, NO_WEEK, [NO_WEEK; 2]);
        self.list.push(Copy { cursor, mark, state, unseen, changed, found });
    }

    /// Fetches `page`.
    pub(super) fn fetch(&mut self, page: u32, now: Days, score: &mut Score) -> Look {
        let modified = self.catch_up(page, now, score);
        let copy = &mut self.list[page as usize];
        let news = !matches!(copy.state, State::Fresh | State::Buried);
        if copy.unseen {
            copy.count_find(page, now, score);
        }
        let found = match copy.state {
            State::Dead | State::Buried => Found::Gone,
            _ if news => Found::Changed,
            _ => Found::Same,
        };
        copy.close(page, now, score);
        copy.state = if found == Found::Gone { State::Buried } else { State::Fresh };
        copy.mark = now;
        copy.unseen = false;
        Look { found, gain: if news { Gain::News } else { Gain::Nothing }, modified }
    }

    /// Closes all accounts at the end.
    pub(super) fn close(&mut self, end: Days, score: &mut Score) {
        for page in 0..self.list.len() as u32 {
            self.catch_up(page, end, score);
            let fact = &self.world.pages[page as usize];
            let copy = &self.list[page as usize];
            copy.close(page, end, score);
            score.lived(page, fact.born, fact.dies.min(end));
        }
    }

    /// Goes through what happened to `page` up to `now`, and tells when it last changed, if it did.
    fn catch_up(&mut self, page: u32, now: Days, score: &mut Score) -> Option<Days> {
        let copy = &mut self.list[page as usize];
        let Fact { dies, quiet, .. } = self.world.pages[page as usize];
        let mut last = None;
        while copy.cursor.at() <= now && copy.cursor.at() < dies {
            let at = copy.cursor.at();
            copy.change(page, at, score);
            last = Some(at);
            copy.cursor = self.world.truth.next(page, copy.cursor);
        }
        if dies <= now && !matches!(copy.state, State::Dead | State::Buried) {
            copy.close(page, dies, score);
            copy.state = State::Dead;
            if !quiet {
                copy.change(page, dies, score);
            }
        }
        last
    }
}

impl Copy {
    /// Accounts for the time up to `end`.
    fn close(&self, page: u32, end: Days, score: &mut Score) {
        match self.state {
            State::Fresh => score.was_fresh(page, self.mark, end),
            State::Stale | State::None => score.was_stale(page, self.mark, end),
            State::Dead | State::Buried => {}
        }
    }

    fn change(&mut self, page: u32, at: Days, score: &mut Score) {
        if self.state == State::Fresh {
            score.was_fresh(page, self.mark, at);
            (self.state, self.mark) = (State::Stale, at);
        }
        let week = score.week(at);
        score.changed(page, at, week > self.changed);
        (self.changed, self.unseen) = (week, true);
    }

    /// Counts one find a week, and no changed week twice; what changed before the window is no part of
    /// the score.
    fn count_find(&mut self, page: u32, now: Days, score: &mut Score) {
        let week = score.week(now);
        let is_new = self.changed > self.found[0] && week > self.found[1];
        if is_new && self.changed >= 0 && score.covers(now) {
            score.detected(page, now);
            self.found = [self.changed, week];
        }
    }
}
