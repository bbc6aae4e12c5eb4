//! How well did a run do? Exact integrals over the scored window, week by week, host by host, and by
//! how often pages change.

mod drawn;
mod tally;

use evercrawl_policy::Days;
use serde::{Deserialize, Serialize};

use crate::judge::{PageClassifier, RateClass};
use crate::measure::MeanWithError;
use crate::row::{PartScores, ResultRow, Week};
use crate::world::{LabWorld, Span};
pub(crate) use drawn::ResampledScores;
use drawn::Resamples;
use tally::{Parts, ScoreSums, Sums};

/// Worlds with more hosts than this are not listed host by host.
const MOST_HOSTS: usize = 200;

/// Pages are resampled in at most so many blocks, each page always in the same one. Pages of a block
/// have nothing in common, so the spread of the blocks tells that of the pages.
const BLOCKS: usize = 1024;

const WEEK: Days = 7.0;

/// The running sums of a run.
pub(crate) struct RunScore<'a> {
    world: &'a LabWorld,
    judge: &'a PageClassifier,
    from: Days,
    to: Days,
    weeks: Parts,
    hosts: Parts,
    classes: Parts,
    blocks: Vec<ScoreSums>,
    edits: u64,
}

/// What came of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct RunOutcome {
    pub(crate) row: ResultRow,
    /// What it takes to compare it with another run on the same pages.
    pub(crate) drawn: ResampledScores,
}

/// What a fetch came to.
pub(crate) enum Gain {
    /// It brought something that was not known.
    News,
    /// It showed what was known.
    Nothing,
    /// It failed.
    Failed,
}

impl<'a> RunScore<'a> {
    pub(crate) fn new(world: &'a LabWorld, judge: &'a PageClassifier) -> Self {
        let Span { from, to, .. } = world.span;
        let weeks = ((to - from) / WEEK).ceil().max(1.0) as usize;
        RunScore {
            world,
            judge,
            from,
            to,
            weeks: Parts::new(weeks),
            hosts: Parts::new(if world.hosts.len() > MOST_HOSTS { 0 } else { world.hosts.len() }),
            classes: Parts::new(RateClass::ALL.len()),
            blocks: vec![ScoreSums::default(); world.pages.len().clamp(1, BLOCKS)],
            edits: 0,
        }
    }

    /// Loads the data of `page` into the cache.
    pub(crate) fn touch(&self, page: u32) {
        std::hint::black_box(self.judge.class(page));
    }

    /// The week that `at` lies in, counted from the start of the window; negative before it.
    pub(crate) fn week(&self, at: Days) -> i16 {
        ((at - self.from) / WEEK).floor() as i16
    }

    /// Whether `at` is scored.
    pub(crate) fn covers(&self, at: Days) -> bool {
        self.from <= at && at < self.to
    }

    /// The page lived from `start` to `end`.
    pub(crate) fn lived(&mut self, page: u32, start: Days, end: Days) {
        if self.clip(start, end).is_some() {
            self.parts(page, |tally| tally.pages += 1);
        }
        self.add(page, (start, end), |sums| &mut sums.live, |a, b| b - a);
    }

    /// The copy of the page was current from `start` to `end`.
    pub(crate) fn was_fresh(&mut self, page: u32, start: Days, end: Days) {
        self.add(page, (start, end), |sums| &mut sums.fresh, |a, b| b - a);
    }

    /// The copy of the page was out of date from `start` to `end`.
    pub(crate) fn was_stale(&mut self, page: u32, start: Days, end: Days) {
        let area = |a: Days, b: Days| (b - a) * ((a + b) / 2.0 - start);
        self.add(page, (start, end), |sums| &mut sums.age, area);
    }

    /// The page changed at `at`; the caller says whether for the first time in its week.
    pub(crate) fn changed(&mut self, page: u32, at: Days, first_in_week: bool) {
        if self.covers(at) {
            self.edits += 1;
            self.count(page, at, |tally| tally.changes += u64::from(first_in_week));
        }
    }

    /// The page was fetched at `at`.
    pub(crate) fn fetched(&mut self, page: u32, at: Days, cost: f64, gain: &Gain) {
        if self.covers(at) {
            let found = u64::from(matches!(gain, Gain::News));
            self.count(page, at, |tally| {
                tally.fetches += 1;
                tally.finds += found;
                tally.cost += cost;
            });
        }
    }

    /// A change of the page was found at `at`, the first of its week.
    pub(crate) fn detected(&mut self, page: u32, at: Days) {
        self.count(page, at, |tally| tally.detected += 1);
    }

    /// The final score.
    pub(crate) fn outcome(&self, seed: u64) -> RunOutcome {
        let resamples = Resamples::new(&self.blocks, seed);
        RunOutcome { row: self.row(seed, &resamples), drawn: resamples.fresh() }
    }

    fn row(&self, seed: u64, resamples: &Resamples) -> ResultRow {
        let all = self.weeks.sums().fold(ScoreSums::default(), |all, week| all.plus(&week));
        ResultRow {
            seed,
            pages: self.classes.sums().map(|class| class.pages).sum(),
            fetches: all.fetches,
            cost: all.cost,
            edits: self.edits,
            changes: all.changes,
            detected: all.detected,
            finds: all.finds,
            wasted: all.fetches - all.finds,
            scores: resamples.scores(&all),
            weeks: self.week_list(),
            hosts: named(&self.hosts, self.world.hosts.iter().map(|host| host.name.as_str())),
            classes: named(&self.classes, RateClass::ALL.iter().map(|class| class.name())),
            ..ResultRow::default()
        }
    }

    fn clip(&self, start: Days, end: Days) -> Option<(Days, Days)> {
        let (start, end) = (start.max(self.from), end.min(self.to));
        (start < end).then_some((start, end))
    }

    /// Counts something of a page for its host and its class.
    fn parts(&mut self, page: u32, add: impl Fn(&mut ScoreSums)) {
        let host = self.world.pages[page as usize].host as usize;
        if let Some(tally) = self.hosts.of_page(page).get_mut(host) {
            add(tally);
        }
        add(&mut self.classes.of_page(page)[self.judge.class(page) as usize]);
    }

    fn block(&mut self, page: u32) -> &mut ScoreSums {
        &mut self.blocks[page as usize % BLOCKS]
    }

    fn count(&mut self, page: u32, at: Days, add: impl Fn(&mut ScoreSums)) {
        add(&mut self.weeks.of_page(page)[((at - self.from) / WEEK) as usize]);
        add(self.block(page));
        self.parts(page, add);
    }

    /// Adds to the sum that `which` names how `much` it is of the page from `start` to `end`, as far as that is
    /// scored.
    fn add(
        &mut self,
        page: u32,
        (start, end): (Days, Days),
        which: impl Fn(&mut Sums) -> &mut f64,
        much: impl Fn(Days, Days) -> f64,
    ) {
        let Some((start, end)) = self.clip(start, end) else { return };
        let weight = f64::from(self.world.pages[page as usize].weight);
        let whole = much(start, end);
        self.block(page).add(&which, whole, weight);
        self.parts(page, |tally| tally.add(&which, whole, weight));
        let weeks = self.weeks.of_page(page);
        let mut week = ((start - self.from) / WEEK) as usize;
        let mut at = start;
        while at < end && week < weeks.len() {
            let next = (self.from + WEEK * (week + 1) as f64).min(end);
            weeks[week].add(&which, much(at, next), weight);
            (at, week) = (next, week + 1);
        }
    }

    fn week_list(&self) -> Vec<Week> {
        let weeks = (0u32..).zip(self.weeks.tallied());
        weeks.map(|(week, (_, tallied))| Week { week, tallied }).collect()
    }
}

impl RunOutcome {
    /// The fresh value relative to that of `best`; `None` if that had none.
    pub(crate) fn beside(&self, best: &RunOutcome) -> Option<MeanWithError> {
        let [own, other] = [self, best].map(|outcome| outcome.row.scores.freshness_weighted);
        let bounds = self.drawn.over(&best.drawn);
        (other > 0.0).then(|| MeanWithError { value: own / other, bounds })
    }
}

/// What came of each part, under its name.
fn named<'n>(parts: &Parts, names: impl Iterator<Item = &'n str>) -> Vec<PartScores> {
    let part = |(name, (sum, tallied)): (&str, (ScoreSums, _))| PartScores {
        name: name.to_owned(),
        pages: sum.pages,
        tallied,
    };
    names.zip(parts.tallied()).map(part).collect()
}
