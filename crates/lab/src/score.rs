//! How well did a run do? Exact integrals over the scored window, week by week, host by host, and by
//! how often pages change.

use evercrawl_policy::{Days, SplitMix64};

use crate::judge::{Class, Judge};
use crate::row::{Part, Row, Week};
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
    blocks: Vec<Block>,
    weighted: Sums,
    counts: Counts,
}

#[derive(Clone, Copy, Default)]
struct Tally {
    sums: Sums,
    pages: u64,
    fetches: u64,
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

#[derive(Clone, Copy, Default)]
struct Block {
    live: f64,
    fresh: f64,
}

/// What has no parts.
#[derive(Clone, Copy, Default)]
struct Counts {
    cost: f64,
    edits: u64,
    finds: u64,
    wasted: u64,
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
            blocks: vec![Block::default(); world.pages.len().clamp(1, BLOCKS)],
            weighted: Sums::default(),
            counts: Counts::default(),
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
        let Some((start, end)) = self.clip(start, end) else { return };
        self.blocks[page as usize % BLOCKS].live += end - start;
        self.weighted.live += self.weight(page) * (end - start);
        for tally in self.parts(page) {
            tally.pages += 1;
            tally.sums.live += end - start;
        }
        self.by_week(start, end, |sums, a, b| sums.live += b - a);
    }

    /// The copy of the page was current from `start` to `end`.
    pub(crate) fn was_fresh(&mut self, page: u32, start: Days, end: Days) {
        let Some((start, end)) = self.clip(start, end) else { return };
        self.blocks[page as usize % BLOCKS].fresh += end - start;
        self.weighted.fresh += self.weight(page) * (end - start);
        for tally in self.parts(page) {
            tally.sums.fresh += end - start;
        }
        self.by_week(start, end, |sums, a, b| sums.fresh += b - a);
    }

    /// The copy of the page was out of date from `start` to `end`.
    pub(crate) fn was_stale(&mut self, page: u32, start: Days, end: Days) {
        let Some((first, last)) = self.clip(start, end) else { return };
        let area = move |a: Days, b: Days| (b - a) * ((a + b) / 2.0 - start);
        self.weighted.age += self.weight(page) * area(first, last);
        for tally in self.parts(page) {
            tally.sums.age += area(first, last);
        }
        self.by_week(first, last, |sums, a, b| sums.age += area(a, b));
    }

    /// The page changed at `at`; whether for the first time in its week is said by the caller.
    pub(crate) fn changed(&mut self, page: u32, at: Days, first_in_week: bool) {
        if self.covers(at) {
            self.counts.edits += 1;
            self.count(page, at, |tally| tally.changes += u64::from(first_in_week));
        }
    }

    /// The page was fetched at `at`.
    pub(crate) fn fetched(&mut self, page: u32, at: Days, cost: f64, gain: &Gain) {
        if self.covers(at) {
            self.counts.cost += cost;
            self.counts.finds += u64::from(matches!(gain, Gain::News));
            self.counts.wasted += u64::from(!matches!(gain, Gain::News));
            self.count(page, at, |tally| tally.fetches += 1);
        }
    }

    /// A change of the page was found at `at`, the first of its week.
    pub(crate) fn detected(&mut self, page: u32, at: Days) {
        self.count(page, at, |tally| tally.detected += 1);
    }

    /// All that is to be said of the score itself.
    pub(crate) fn row(&self, seed: u64) -> Row {
        let all = self.weeks.iter().fold(Tally::default(), Tally::plus);
        let (low, high) = self.interval(seed);
        let Counts { cost, edits, finds, wasted } = self.counts;
        Row {
            seed,
            pages: self.classes.iter().map(|class| class.pages).sum(),
            fetches: all.fetches,
            cost,
            edits,
            changes: all.changes,
            detected: all.detected,
            finds,
            wasted,
            coverage: all.coverage(),
            update_rate: share(finds as f64, all.fetches as f64),
            freshness: all.sums.freshness(),
            freshness_low: low,
            freshness_high: high,
            freshness_weighted: self.weighted.freshness(),
            age: all.sums.age(),
            age_weighted: self.weighted.age(),
            weeks: (0u32..).zip(&self.weeks).map(|(week, tally)| tally.week(week)).collect(),
            hosts: self.host_parts(),
            classes: Class::ALL.iter().zip(&self.classes).map(|(c, t)| t.part(c.name())).collect(),
            ..Row::default()
        }
    }

    fn weight(&self, page: u32) -> f64 {
        f64::from(self.world.pages[page as usize].weight)
    }

    fn clip(&self, start: Days, end: Days) -> Option<(Days, Days)> {
        let (start, end) = (start.max(self.from), end.min(self.to));
        (start < end).then_some((start, end))
    }

    fn parts(&mut self, page: u32) -> [&mut Tally; 2] {
        let host = self.world.pages[page as usize].host as usize;
        [&mut self.hosts[host], &mut self.classes[self.judge.class(page) as usize]]
    }

    fn count(&mut self, page: u32, at: Days, mut add: impl FnMut(&mut Tally)) {
        add(&mut self.weeks[((at - self.from) / WEEK) as usize]);
        self.parts(page).into_iter().for_each(add);
    }

    fn by_week(&mut self, start: Days, end: Days, add: impl Fn(&mut Sums, Days, Days)) {
        let mut week = ((start - self.from) / WEEK) as usize;
        let mut at = start;
        while at < end && week < self.weeks.len() {
            let next = (self.from + WEEK * (week + 1) as f64).min(end);
            add(&mut self.weeks[week].sums, at, next);
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

    /// The middle 95 % of the freshness of worlds made of the same pages, drawn with replacement.
    fn interval(&self, seed: u64) -> (f64, f64) {
        let mut random = SplitMix64::new(seed);
        let mut drawn = || {
            let mut sum = Block::default();
            for _ in &self.blocks {
                let block = self.blocks[random.below(self.blocks.len())];
                sum.live += block.live;
                sum.fresh += block.fresh;
            }
            share(sum.fresh, sum.live)
        };
        let mut values: Vec<f64> = (0..RESAMPLES).map(|_| drawn()).collect();
        values.sort_by(f64::total_cmp);
        let tail = RESAMPLES / 40;
        (values[tail], values[RESAMPLES - 1 - tail])
    }
}

impl Tally {
    fn plus(self, other: &Tally) -> Tally {
        Tally {
            sums: Sums {
                live: self.sums.live + other.sums.live,
                fresh: self.sums.fresh + other.sums.fresh,
                age: self.sums.age + other.sums.age,
            },
            pages: self.pages + other.pages,
            fetches: self.fetches + other.fetches,
            changes: self.changes + other.changes,
            detected: self.detected + other.detected,
        }
    }

    fn coverage(&self) -> f64 {
        share(self.detected as f64, self.changes as f64)
    }

    fn week(&self, week: u32) -> Week {
        Week {
            week,
            freshness: self.sums.freshness(),
            age: self.sums.age(),
            fetches: self.fetches,
            detected: self.detected,
            changes: self.changes,
        }
    }

    fn part(&self, name: &str) -> Part {
        Part {
            name: name.to_owned(),
            pages: self.pages,
            freshness: self.sums.freshness(),
            age: self.sums.age(),
            coverage: self.coverage(),
            fetches: self.fetches,
        }
    }
}

impl Sums {
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
