//! How does someone else's crawl of a world do? Watched fetch by fetch, and scored like a run.

use std::ops::Range;

use evercrawl_policy::{Days, Finding};

use super::copies::Copies;
use crate::judge::PageClassifier;
use crate::row::ResultRow;
use crate::score::RunScore;
use crate::world::LabWorld;

/// Sees every fetch of a crawl that is not driven from here, and knows the truth.
pub struct TruthObserver<'a> {
    world: &'a LabWorld,
    judge: &'a PageClassifier,
    copies: Copies<'a>,
    /// When each page was last fetched.
    fetched: Vec<Days>,
    score: RunScore<'a>,
}

/// What a fetch shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TruePageState {
    /// What was found.
    pub found: Finding,
    /// When the page changed last, if that was since the last fetch.
    pub modified: Option<Days>,
}

impl<'a> TruthObserver<'a> {
    /// Before the first page is known.
    pub fn new(world: &'a LabWorld, judge: &'a PageClassifier) -> Self {
        let (copies, score) = (Copies::new(world), RunScore::new(world, judge));
        TruthObserver { world, judge, copies, fetched: Vec::new(), score }
    }

    /// The pages born up to `now` that were not announced before.
    pub fn born(&mut self, now: Days) -> Range<u32> {
        let first = self.copies.len() as u32;
        let born = self.world.pages[first as usize..].iter().take_while(|page| page.born <= now);
        born.for_each(|_| self.copies.add(None));
        self.fetched.resize(self.copies.len(), f64::NEG_INFINITY);
        first..self.copies.len() as u32
    }

    /// How many pages live at `now`.
    pub fn live(&self, now: Days) -> usize {
        self.judge.live(self.world, now)
    }

    /// `page` is fetched at `now`; it costs nothing where it is not `charged`.
    pub fn observe_page(&mut self, page: u32, now: Days, charged: bool) -> TruePageState {
        let made = std::mem::replace(&mut self.fetched[page as usize], now);
        let look = self.copies.fetch(page, made, now, &mut self.score);
        if charged {
            self.score.fetched(page, now, 1.0, &look.gain);
        }
        TruePageState { found: look.found, modified: look.modified }
    }

    /// The score at the end of the world.
    pub fn row(mut self, seed: u64) -> ResultRow {
        let made = |page: u32| self.fetched[page as usize];
        self.copies.close(made, self.world.span.to, &mut self.score);
        self.score.outcome(seed).row
    }
}
