//! How well did a run do? Exact integrals over the scored window, week by week, host by host, and by
//! how often pages change.

use evercrawl_policy::{Days, SplitMix64};

use crate::judge::{Class, Judge};
use crate::row::{Part, Row, Tallied, Week};
use crate::world::{Span, World};

/// Worlds with more hosts than this are not listed host by host.
const MOST_HOSTS: usize = 200;

/// Pages are resampled in at most so many blocks, each page always in the same one. Pages of a block
/// have nothing in common, so the spread of the blocks tells that of the pages.
const BLOCKS: usize = 1024;
const RESAMPLES: usize = 1000;

const WEEK: Days = 7.0;

/// What is counted while a run goes on.
pub(crate) struct Score<'a> {
    world: &'a World,
    judge: &'a Judge,
    from: Days,
    to: Days,
    weeks: Vec<Tally>,
    hosts: Vec<Tally>,
    classes: [Tally; Class::ALL.len()],
    blocks: Vec<Tally>,
    edits: u64,
}

/// What is counted of a week, a host, a class or a block of pages.
#[derive(Clone, Copy, Default)]
struct Tally {
    plain: Sums,
    /// Pages counting by their worth.
    weighted: Sums,
    cost: f64,
    pages: u64,
    fetches: u64,
    finds: u64,
    changes: u64,
    detected: u64,
}

/// Time that pages lived, that their copies were current, and the integral of their age.
#[derive(Clone, Copy, Default)]
struct Sums {
    live: f64,
    fresh: f64,
    age: f64,
}

/// What is made of a tally.
struct Scores {
    freshness: f64,
    freshness_weighted: f64,
    age: f64,
    age_weighted: f64,
    coverage: f64,
    update_rate: f64,
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

impl<'a> Score<'a> {
    pub(crate) fn new(world: &'a World, judge: &'a Judge) -> Self {
        let Span { from, to, .. } = world.span;
        let weeks = ((to - from) / WEEK).ceil().max(1.0) as usize;
        Score {
            world,
            judge,
            from,
            to,
            weeks: vec![Tally::default(); weeks],
            hosts: vec![Tally::default(); world.hosts.len()],
            classes: Default::default(),
            blocks: vec![Tally::default(); world.pages.len().clamp(1, BLOCKS)],
            edits: 0,
        }
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
            self.parts(page).into_iter().for_each(|tally| tally.pages += 1);
        }
        self.add(page, start, end, |a, b| Sums { live: b - a, ..Sums::default() });
    }

    /// The copy of the page was current from `start` to `end`.
    pub(crate) fn was_fresh(&mut self, page: u32, start: Days, end: Days) {
        self.add(page, start, end, |a, b| Sums { fresh: b - a, ..Sums::default() });
    }

    /// The copy of the page was out of date from `start` to `end`.
    pub(crate) fn was_stale(&mut self, page: u32, start: Days, end: Days) {
        let area = |a: Days, b: Days| (b - a) * ((a + b) / 2.0 - start);
        self.add(page, start, end, |a, b| Sums { age: area(a, b), ..Sums::default() });
    }

    /// The page changed at `at`; whether for the first time in its week is said by the caller.
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

    /// All that is to be said of the score itself.
    pub(crate) fn row(&self, seed: u64) -> Row {
        let all = self.weeks.iter().fold(Tally::default(), Tally::plus);
        let (low, high) = self.intervals(seed);
        let mean = all.scores();
        Row {
            seed,
            pages: self.classes.iter().map(|class| class.pages).sum(),
            fetches: all.fetches,
            cost: all.cost,
            edits: self.edits,
            changes: all.changes,
            detected: all.detected,
            finds: all.finds,
            wasted: all.fetches - all.finds,
            coverage: mean.coverage,
            coverage_low: low.coverage,
            coverage_high: high.coverage,
            update_rate: mean.update_rate,
            update_rate_low: low.update_rate,
            update_rate_high: high.update_rate,
            freshness: mean.freshness,
            freshness_low: low.freshness,
            freshness_high: high.freshness,
            freshness_weighted: mean.freshness_weighted,
            freshness_weighted_low: low.freshness_weighted,
            freshness_weighted_high: high.freshness_weighted,
            age: mean.age,
            age_low: low.age,
            age_high: high.age,
            age_weighted: mean.age_weighted,
            age_weighted_low: low.age_weighted,
            age_weighted_high: high.age_weighted,
            weeks: (0u32..).zip(&self.weeks).map(|(week, tally)| tally.week(week)).collect(),
            hosts: self.host_parts(),
            classes: Class::ALL.iter().zip(&self.classes).map(|(c, t)| t.part(c.name())).collect(),
            ..Row::default()
        }
    }

    fn clip(&self, start: Days, end: Days) -> Option<(Days, Days)> {
        let (start, end) = (start.max(self.from), end.min(self.to));
        (start < end).then_some((start, end))
    }

    fn parts(&mut self, page: u32) -> [&mut Tally; 2] {
        let host = self.world.pages[page as usize].host as usize;
        [&mut self.hosts[host], &mut self.classes[self.judge.class(page) as usize]]
    }

    fn block(&mut self, page: u32) -> &mut Tally {
        &mut self.blocks[page as usize % BLOCKS]
    }

    fn count(&mut self, page: u32, at: Days, add: impl Fn(&mut Tally)) {
        add(&mut self.weeks[((at - self.from) / WEEK) as usize]);
        add(self.block(page));
        self.parts(page).into_iter().for_each(add);
    }

    /// Adds what `sums` says of the page from `start` to `end`, as far as that is scored.
    fn add(&mut self, page: u32, start: Days, end: Days, sums: impl Fn(Days, Days) -> Sums) {
        let Some((start, end)) = self.clip(start, end) else { return };
        let weight = f64::from(self.world.pages[page as usize].weight);
        let whole = sums(start, end);
        self.block(page).add(&whole, weight);
        self.parts(page).into_iter().for_each(|tally| tally.add(&whole, weight));
        let mut week = ((start - self.from) / WEEK) as usize;
        let mut at = start;
        while at < end && week < self.weeks.len() {
            let next = (self.from + WEEK * (week + 1) as f64).min(end);
            self.weeks[week].add(&sums(at, next), weight);
            (at, week) = (next, week + 1);
        }
    }

    fn host_parts(&self) -> Vec<Part> {
        if self.hosts.len() > MOST_HOSTS {
            return Vec::new();
        }
        let hosts = self.world.hosts.iter().zip(&self.hosts);
        hosts.map(|(host, tally)| tally.part(&host.name)).collect()
    }

    /// The ends of the middle 95 % of the scores of worlds made of the same pages, drawn with replacement.
    fn intervals(&self, seed: u64) -> (Scores, Scores) {
        let mut random = SplitMix64::new(seed);
        let mut drawn = || {
            let draw = |sum: Tally, _| sum.plus(&self.blocks[random.below(self.blocks.len())]);
            self.blocks.iter().fold(Tally::default(), draw).scores()
        };
        let drawn: Vec<Scores> = (0..RESAMPLES).map(|_| drawn()).collect();
        let tail = RESAMPLES / 40;
        (Scores::ranked(&drawn, tail), Scores::ranked(&drawn, RESAMPLES - 1 - tail))
    }
}

impl Tally {
    fn plus(self, other: &Tally) -> Tally {
        Tally {
            plain: self.plain.plus(&other.plain, 1.0),
            weighted: self.weighted.plus(&other.weighted, 1.0),
            cost: self.cost + other.cost,
            pages: self.pages + other.pages,
            fetches: self.fetches + other.fetches,
            finds: self.finds + other.finds,
            changes: self.changes + other.changes,
            detected: self.detected + other.detected,
        }
    }

    fn add(&mut self, sums: &Sums, weight: f64) {
        self.plain = self.plain.plus(sums, 1.0);
        self.weighted = self.weighted.plus(sums, weight);
    }

    fn scores(&self) -> Scores {
        Scores {
            freshness: self.plain.freshness(),
            freshness_weighted: self.weighted.freshness(),
            age: self.plain.age(),
            age_weighted: self.weighted.age(),
            coverage: share(self.detected as f64, self.changes as f64),
            update_rate: share(self.finds as f64, self.fetches as f64),
        }
    }

    fn week(&self, week: u32) -> Week {
        Week { week, tallied: self.tallied() }
    }

    fn part(&self, name: &str) -> Part {
        Part { name: name.to_owned(), pages: self.pages, tallied: self.tallied() }
    }

    fn tallied(&self) -> Tallied {
        let scores = self.scores();
        Tallied {
            freshness: scores.freshness,
            freshness_weighted: scores.freshness_weighted,
            age: scores.age,
            age_weighted: scores.age_weighted,
            coverage: scores.coverage,
            update_rate: scores.update_rate,
            fetches: self.fetches,
            wasted: self.fetches - self.finds,
            cost: self.cost,
            detected: self.detected,
            changes: self.changes,
        }
    }
}

impl Scores {
    /// Of each score by itself the value that `rank` others lie below.
    fn ranked(drawn: &[Scores], rank: usize) -> Scores {
        let of = |score: fn(&Scores) -> f64| {
            let mut values: Vec<f64> = drawn.iter().map(score).collect();
            *values.select_nth_unstable_by(rank, f64::total_cmp).1
        };
        Scores {
            freshness: of(|s| s.freshness),
            freshness_weighted: of(|s| s.freshness_weighted),
            age: of(|s| s.age),
            age_weighted: of(|s| s.age_weighted),
            coverage: of(|s| s.coverage),
            update_rate: of(|s| s.update_rate),
        }
    }
}

impl Sums {
    fn plus(self, other: &Sums, times: f64) -> Sums {
        Sums {
            live: self.live + times * other.live,
            fresh: self.fresh + times * other.fresh,
            age: self.age + times * other.age,
        }
    }

    fn freshness(&self) -> f64 {
        share(self.fresh, self.live)
    }

    fn age(&self) -> f64 {
        share(self.age, self.live)
    }
}

/// A share of nothing is 0.
fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}
