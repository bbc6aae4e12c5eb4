//! How do the crawler's copies stand against the truth?

use evercrawl_policy::{Days, Finding};

use crate::score::{Gain, RunScore};
use crate::world::{ChangeCursor, LabWorld, PageFact};

/// No week at all, before all others.
const NO_WEEK: i16 = i16::MIN;

/// The copies of all pages that are known so far. A page's account is brought up to date when it is
/// fetched, and at the end: nothing need be done when a page changes. When a copy was made is known to who made it.
pub(super) struct Copies<'a> {
    world: &'a LabWorld,
    list: Vec<Copy>,
}

/// The copy of one page, and where the page stands in its history.
struct Copy {
    cursor: ChangeCursor,
    state: CopyState,
    /// The week of the last change.
    changed: i16,
    /// The week of the last change that was found, and the week in which one was found.
    found: [i16; 2],
}

#[derive(Clone, Copy, PartialEq)]
enum CopyState {
    /// The page was never fetched.
    None,
    Fresh,
    Stale,
    /// The page went, and no fetch has seen it.
    Dead,
    /// The page went, and that is known.
    Buried,
}

/// What became of a page since its copy was made.
struct StaleSince {
    /// When that was; once the copy is out of date, since when.
    mark: Days,
    /// Whether there was a change, the page's end among them.
    unseen: bool,
    /// The last change, except its end.
    modified: Option<Days>,
}

/// What a fetch shows, and what came of it.
pub(super) struct FetchResult {
    pub(super) found: Finding,
    pub(super) gain: Gain,
    /// When the page changed last, if that was since the last fetch.
    pub(super) modified: Option<Days>,
}

impl<'a> Copies<'a> {
    pub(super) fn new(world: &'a LabWorld) -> Self {
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
            _ if fact.dies <= mark => CopyState::Buried,
            Some(_) => CopyState::Fresh,
            None => CopyState::None,
        };
        self.list.push(Copy { cursor, state, changed: NO_WEEK, found: [NO_WEEK; 2] });
    }

    /// Loads the data of `page` and its copy into the cache.
    pub(super) fn touch(&self, page: u32) {
        let fact = self.world.pages.get(page as usize).map(|fact| (fact.born, fact.quiet));
        let copy = self.list.get(page as usize).map(|copy| (copy.cursor.at(), copy.changed));
        std::hint::black_box((fact, copy));
        self.world.truth.touch(page);
    }

    /// Fetches `page`, whose copy was made at `made`.
    pub(super) fn fetch(
        &mut self,
        page: u32,
        made: Days,
        now: Days,
        score: &mut RunScore,
    ) -> FetchResult {
        let since = self.catch_up(page, made, now, score);
        let copy = &mut self.list[page as usize];
        let news = !matches!(copy.state, CopyState::Fresh | CopyState::Buried);
        if since.unseen {
            copy.count_find(page, now, score);
        }
        let found = match copy.state {
            CopyState::Dead | CopyState::Buried => Finding::Gone,
            _ if news => Finding::Changed,
            _ => Finding::Same,
        };
        copy.close(page, since.mark, now, score);
        copy.state = if found == Finding::Gone { CopyState::Buried } else { CopyState::Fresh };
        let gain = if news { Gain::News } else { Gain::Nothing };
        FetchResult { found, gain, modified: since.modified }
    }

    /// Closes all accounts at the end, of copies that were made when `made` says.
    pub(super) fn close(&mut self, made: impl Fn(u32) -> Days, end: Days, score: &mut RunScore) {
        for page in 0..self.list.len() as u32 {
            let since = self.catch_up(page, made(page), end, score);
            let fact = &self.world.pages[page as usize];
            self.list[page as usize].close(page, since.mark, end, score);
            score.lived(page, fact.born, fact.dies.min(end));
        }
    }

    /// Goes through what happened to `page` since its copy was made, or since its birth, up to `now`.
    fn catch_up(&mut self, page: u32, made: Days, now: Days, score: &mut RunScore) -> StaleSince {
        let copy = &mut self.list[page as usize];
        let PageFact { born, dies, quiet, .. } = self.world.pages[page as usize];
        let mut since = StaleSince { mark: made.max(born), unseen: false, modified: None };
        while copy.cursor.at() <= now && copy.cursor.at() < dies {
            let at = copy.cursor.at();
            copy.change(page, at, &mut since, score);
            since.modified = Some(at);
            copy.cursor = self.world.truth.next(page, copy.cursor);
        }
        if dies <= now && !matches!(copy.state, CopyState::Dead | CopyState::Buried) {
            copy.close(page, since.mark, dies, score);
            copy.state = CopyState::Dead;
            if !quiet {
                copy.change(page, dies, &mut since, score);
            }
        }
        since
    }
}

impl Copy {
    /// Accounts for the time from `mark` to `end`.
    fn close(&self, page: u32, mark: Days, end: Days, score: &mut RunScore) {
        match self.state {
            CopyState::Fresh => score.was_fresh(page, mark, end),
            CopyState::Stale | CopyState::None => score.was_stale(page, mark, end),
            CopyState::Dead | CopyState::Buried => {}
        }
    }

    fn change(&mut self, page: u32, at: Days, since: &mut StaleSince, score: &mut RunScore) {
        if self.state == CopyState::Fresh {
            score.was_fresh(page, since.mark, at);
            (self.state, since.mark) = (CopyState::Stale, at);
        }
        let week = score.week(at);
        score.changed(page, at, week > self.changed);
        (self.changed, since.unseen) = (week, true);
    }

    /// Counts one find a week, and no changed week twice; what changed before the window is no part of
    /// the score.
    fn count_find(&mut self, page: u32, now: Days, score: &mut RunScore) {
        let week = score.week(now);
        let is_new = self.changed > self.found[0] && week > self.found[1];
        if is_new && self.changed >= 0 && score.covers(now) {
            score.detected(page, now);
            self.found = [self.changed, week];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::PageClassifier;
    use crate::measure::ScoreMeasure;
    use crate::row::ResultRow;
    use crate::testing::listed;

    /// The score of a world whose pages are fetched at the given times, after a first look at 0.
    fn row(world: &LabWorld, fetches: &[(u32, Days)]) -> ResultRow {
        let judge = PageClassifier::new(world);
        let mut score = RunScore::new(world, &judge);
        let mut copies = Copies::new(world);
        let mut made = Vec::new();
        for page in &world.pages {
            let first = (page.born <= 0.0).then_some(0.0);
            copies.add(first);
            made.push(first.unwrap_or(f64::NEG_INFINITY));
        }
        for &(page, now) in fetches {
            let look = copies.fetch(page, made[page as usize], now, &mut score);
            score.fetched(page, now, 1.0, &look.gain);
            made[page as usize] = now;
        }
        copies.close(|page| made[page as usize], world.span.to, &mut score);
        score.outcome(0).row
    }

    #[test]
    fn a_copy_is_small() {
        assert!(size_of::<Copy>() <= 32, "there are millions of them");
    }

    fn close_to(left: f64, right: f64) -> bool {
        (left - right).abs() < 1e-12
    }

    #[test]
    fn freshness_and_age_are_exact() {
        let world = listed(vec![PageFact::PLAIN], &[(0, 2.0), (0, 3.0), (0, 9.0)], 14.0);
        let row = row(&world, &[(0, 5.0), (0, 6.0)]);
        assert!(close_to(row.scores.freshness, (2.0 + 4.0) / 14.0), "{}", row.scores.freshness);
        assert!(close_to(row.scores.age, (4.5 + 12.5) / 14.0), "{}", row.scores.age);
        let [first, second] = [0, 1].map(|week: usize| &row.weeks[week].tallied);
        assert!(
            close_to(first.scores.freshness, 4.0 / 7.0) && close_to(first.scores.age, 4.5 / 7.0)
        );
        assert!(
            close_to(second.scores.freshness, 2.0 / 7.0) && close_to(second.scores.age, 12.5 / 7.0)
        );
        assert_eq!((row.edits, row.changes, row.detected), (3, 2, 1));
        assert_eq!((row.fetches, row.finds, row.wasted), (2, 1, 1));
        assert_eq!((row.scores.coverage, row.scores.update_rate), (0.5, 0.5));
    }

    #[test]
    fn a_week_counts_once_however_often_it_is_found() {
        let changes = [(0, 1.0), (0, 3.0), (0, 5.0), (0, 8.0)];
        let world = listed(vec![PageFact::PLAIN], &changes, 14.0);
        let row = row(&world, &[(0, 2.0), (0, 4.0), (0, 7.5), (0, 9.0)]);
        assert_eq!((row.changes, row.detected, row.finds), (2, 2, 4));
    }

    #[test]
    fn a_page_that_goes_is_live_no_more_and_its_end_is_a_change() {
        let dying = PageFact { dies: 4.0, ..PageFact::PLAIN };
        let world = listed(vec![dying, PageFact { quiet: true, ..dying }], &[(0, 1.0)], 8.0);
        let row = row(&world, &[(0, 6.0), (1, 6.0), (0, 7.0)]);
        assert!(close_to(row.scores.freshness, (1.0 + 4.0) / 8.0), "{}", row.scores.freshness);
        assert!(close_to(row.scores.age, 4.5 / 8.0), "{}", row.scores.age);
        assert_eq!((row.changes, row.detected, row.finds, row.wasted), (1, 1, 2, 1));
    }

    #[test]
    fn a_new_page_is_out_of_date_until_it_is_fetched() {
        let new = PageFact { born: 2.0, ..PageFact::PLAIN };
        let world = listed(vec![new], &[(0, 2.5)], 12.0);
        let fetched = row(&world, &[(0, 6.0)]);
        assert!(close_to(fetched.scores.freshness, 0.6) && close_to(fetched.scores.age, 0.8));
        assert_eq!((fetched.detected, fetched.finds), (1, 1));
        let never = row(&world, &[]);
        assert!(never.scores.freshness == 0.0 && close_to(never.scores.age, 5.0));
    }

    #[test]
    fn weights_and_parts_add_up() {
        let heavy = PageFact { weight: 3.0, ..PageFact::PLAIN };
        let world = listed(vec![heavy, PageFact::PLAIN], &[(0, 5.0)], 10.0);
        let row = row(&world, &[]);
        assert!(
            close_to(row.scores.freshness, 0.75)
                && close_to(row.scores.freshness_weighted, 25.0 / 40.0)
        );
        assert!(close_to(row.scores.age_weighted, 37.5 / 40.0));
        let pages: Vec<u64> = row.classes.iter().map(|class| class.pages).collect();
        assert_eq!((pages, row.hosts[0].pages, row.pages), (vec![1, 0, 0, 1], 2, 2));
        let (low, high) = row.scores.of(ScoreMeasure::Freshness).bounds.unwrap();
        assert!(low <= row.scores.freshness && row.scores.freshness <= high);
        let (host, week) = (&row.hosts[0].tallied, &row.weeks[0].tallied);
        assert!(close_to(host.scores.freshness_weighted, 25.0 / 40.0));
        assert_eq!((host.changes, host.detected, week.changes), (1, 0, 1));
    }
}
