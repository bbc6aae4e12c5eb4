//! What does a method collect in one round, and how much of what had changed is in it?

use evercrawl_policy::schedulers::breadth::BreadthFirst;
use evercrawl_policy::schedulers::history::History;
use evercrawl_policy::schedulers::sample_size::SampleSize;
use evercrawl_policy::schedulers::sampling::{SampleSource, Sampling, Spend};
use evercrawl_policy::schedulers::tops::{TopChecks, Tops};
use evercrawl_policy::schedulers::uniform::Uniform;
use evercrawl_policy::{Agenda, Days, Finding, Page, Policy, Round, SplitMix64, Visit};
use evercrawl_sites::PartitionMethod;

use crate::report::trace::{SiteTrace, WEEK};

/// The methods of the paper, and those it compares with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CollectionMethod {
    All,
    BreadthFirst,
    History,
    A,
    B,
    C,
    C1,
    CThenB,
    ChoTrue,
    ChoSampled,
    ChoA,
    ChoB,
    ChoC,
}

impl CollectionMethod {
    pub(super) fn name(self) -> &'static str {
        match self {
            CollectionMethod::All => "all",
            CollectionMethod::BreadthFirst => "BFS",
            CollectionMethod::History => "HIST",
            CollectionMethod::A => "A",
            CollectionMethod::B => "B",
            CollectionMethod::C => "C",
            CollectionMethod::C1 => "C1",
            CollectionMethod::CThenB => "C, then B",
            CollectionMethod::ChoTrue => "Cho, true ratios",
            CollectionMethod::ChoSampled => "Cho, sampled",
            CollectionMethod::ChoA => "Cho + A",
            CollectionMethod::ChoB => "Cho + B",
            CollectionMethod::ChoC => "Cho + C",
        }
    }

    /// The policy of the same method, whose look it has in figures.
    pub(super) fn known_as(self) -> &'static str {
        match self {
            CollectionMethod::All => "uniform",
            CollectionMethod::BreadthFirst => "bfs",
            CollectionMethod::History => "hist",
            CollectionMethod::A => "A",
            CollectionMethod::B => "B",
            CollectionMethod::C => "C",
            CollectionMethod::C1 => "C1",
            CollectionMethod::CThenB => "C-then-B",
            CollectionMethod::ChoTrue => "sampling-true",
            CollectionMethod::ChoSampled => "sampling",
            CollectionMethod::ChoA => "sampling+A",
            CollectionMethod::ChoB => "sampling+B",
            CollectionMethod::ChoC => "sampling+C",
        }
    }

    /// Whether the method itself says when it is done. The others go on for as long as they may.
    pub(super) fn is_its_own_limit(self) -> bool {
        matches!(
            self,
            CollectionMethod::All
                | CollectionMethod::A
                | CollectionMethod::B
                | CollectionMethod::C
                | CollectionMethod::C1
        )
    }

    fn policy(self, trace: &SiteTrace, seed: u64) -> Box<dyn Policy> {
        let server = &trace.server;
        let tops = |method, looks| Box::new(Tops::new(server, method, looks)) as Box<dyn Policy>;
        let told = |spend| {
            Box::new(Sampling::new(SampleSource::Truth(trace.changes.clone()), spend))
                as Box<dyn Policy>
        };
        match self {
            CollectionMethod::All => Box::new(Uniform::new()),
            CollectionMethod::BreadthFirst => Box::new(BreadthFirst::new(server)),
            CollectionMethod::History => Box::new(History::default()),
            CollectionMethod::A => tops(PartitionMethod::A, TopChecks::All),
            CollectionMethod::B => tops(PartitionMethod::B, TopChecks::All),
            CollectionMethod::C => tops(PartitionMethod::C, TopChecks::Chain),
            CollectionMethod::C1 => tops(PartitionMethod::C, TopChecks::OneStep),
            CollectionMethod::CThenB => tops(PartitionMethod::C, TopChecks::ChainThenAll),
            CollectionMethod::ChoTrue => told(Spend::Greedy),
            CollectionMethod::ChoSampled => {
                let source = SampleSource::Samples(SampleSize::Root, SplitMix64::new(seed));
                Box::new(Sampling::new(source, Spend::Greedy))
            }
            CollectionMethod::ChoA => told(Spend::tops(server, PartitionMethod::A, TopChecks::All)),
            CollectionMethod::ChoB => told(Spend::tops(server, PartitionMethod::B, TopChecks::All)),
            CollectionMethod::ChoC => {
                told(Spend::tops(server, PartitionMethod::C, TopChecks::Chain))
            }
        }
    }
}

/// A period with a round at its end; all copies were current at its start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Period {
    pub(super) start: Days,
    pub(super) end: Days,
}

impl Period {
    /// All periods of so many weeks in the trace's year: one begins every four weeks, or as soon as the
    /// last is over.
    pub(super) fn all(trace: &SiteTrace, weeks: u32) -> Vec<Period> {
        let (length, step) = (f64::from(weeks) * WEEK, f64::from(weeks.min(4)) * WEEK);
        let period = |start: Days| Period { start, end: start + length };
        let starts = (0..).map(|i| trace.from + f64::from(i) * step);
        // Half a day more: years are 52 weeks, but not to the last bit.
        starts.map(period).take_while(|period| period.end <= trace.to + 0.5).collect()
    }
}

/// What a round saw.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct CollectionCounts {
    /// Pages there were.
    pub(super) live: usize,
    /// Those that had changed.
    pub(super) changed: usize,
    /// Pages collected.
    pub(super) fetched: usize,
    /// Those of them that had changed.
    pub(super) found: usize,
}

/// A trace at the end of a period: what lived at its start and what has changed since.
pub(super) struct CollectionState<'a> {
    pub(super) trace: &'a SiteTrace,
    pub(super) period: Period,
    pages: Vec<Page>,
    changed: Vec<bool>,
}

impl<'a> CollectionState<'a> {
    pub(super) fn new(trace: &'a SiteTrace, period: Period) -> Self {
        let weeks = trace.changed_weeks(period.start - 52.0 * WEEK, period.start);
        let page = |(id, changes): (u32, u32)| Page {
            last: period.start,
            group: trace.server.directory(id),
            alive: trace.lives(id, period.start),
            changes,
            checks: 52,
            watched: (52.0 * WEEK) as f32,
            ..Page::new(id)
        };
        let pages: Vec<Page> = trace.numbers().zip(weeks).map(page).collect();
        let changed = |page: &Page| {
            page.alive && trace.changes.changed_within(page.id, period.start, period.end)
        };
        CollectionState { trace, period, changed: pages.iter().map(changed).collect(), pages }
    }

    pub(super) fn lives(&self, page: u32) -> bool {
        self.pages[page as usize].alive
    }

    pub(super) fn changed(&self, page: u32) -> bool {
        self.changed[page as usize]
    }

    /// What `how` collects, of at most `limit` pages.
    pub(super) fn collect(&self, how: CollectionMethod, limit: usize) -> CollectionCounts {
        let Period { start, end } = self.period;
        let policy = how.policy(self.trace, start as u64);
        let mut agenda = Agenda::new(policy, self.pages.clone(), start);
        let live = self.pages.iter().filter(|page| page.alive).count();
        let fetches = limit.min(live);
        agenda.begin_round(&Round { start: end, length: end - start, fetches });
        let mut seen = self.nothing_fetched();
        while let Some(page) = agenda.next_page(end) {
            agenda.record_visit(page, &Visit::new(end, self.found(page)));
            seen.count(self.changed(page));
        }
        seen
    }

    /// The result of fetching exactly `pages`.
    pub(super) fn fetch(&self, pages: impl Iterator<Item = u32>) -> CollectionCounts {
        let mut seen = self.nothing_fetched();
        pages.filter(|&page| self.lives(page)).for_each(|page| seen.count(self.changed(page)));
        seen
    }

    fn nothing_fetched(&self) -> CollectionCounts {
        let live = self.pages.iter().filter(|page| page.alive).count();
        let changed = self.changed.iter().filter(|changed| **changed).count();
        CollectionCounts { live, changed, ..CollectionCounts::default() }
    }

    fn found(&self, page: u32) -> Finding {
        if !self.trace.lives(page, self.period.end) {
            Finding::Gone
        } else if self.changed(page) {
            Finding::Changed
        } else {
            Finding::Same
        }
    }
}

impl CollectionCounts {
    fn count(&mut self, changed: bool) {
        self.fetched += 1;
        self.found += usize::from(changed);
    }
}

/// Means over periods.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Rates {
    /// The share of collected pages that had changed.
    pub(super) update: f64,
    /// The share of changed pages that was collected.
    pub(super) cover: f64,
    /// The share of pages that was collected.
    pub(super) collected: f64,
    /// The share of pages that had changed.
    pub(super) changed: f64,
}

impl Rates {
    /// Every period counts the same; those in which nothing changed do not count for cover.
    pub(super) fn of<'a>(seen: impl Iterator<Item = &'a CollectionCounts> + Clone) -> Self {
        let mean = |top: fn(&CollectionCounts) -> usize, bottom: fn(&CollectionCounts) -> usize| {
            let shares = seen.clone().filter(|s| bottom(s) > 0);
            let (sum, count) = shares.fold((0.0, 0.0), |(sum, count), seen| {
                (sum + top(seen) as f64 / bottom(seen) as f64, count + 1.0)
            });
            sum / count
        };
        Rates {
            update: mean(|s| s.found, |s| s.fetched),
            cover: mean(|s| s.found, |s| s.changed),
            collected: mean(|s| s.fetched, |s| s.live),
            changed: mean(|s| s.changed, |s| s.live),
        }
    }

    /// The mean of several sites.
    pub(super) fn mean(all: &[Rates]) -> Self {
        let mean = |value: fn(&Rates) -> f64| all.iter().map(value).sum::<f64>() / all.len() as f64;
        Rates {
            update: mean(|r| r.update),
            cover: mean(|r| r.cover),
            collected: mean(|r| r.collected),
            changed: mean(|r| r.changed),
        }
    }
}

#[cfg(test)]
pub(super) mod testing {
    use crate::report::trace::SiteTrace;
    use crate::report::trace::testing::trace;

    /// S0's worked example: R links to A and D, A to B and C, D to E, E to F, C to G, G to H; R, A to E
    /// and F to H are directories. In the first week of the year R, A and H change, in the third D.
    pub(crate) fn example() -> SiteTrace {
        let directories = [0, 1, 1, 1, 1, 1, 2, 2, 2];
        let links = [(0, 1), (0, 4), (1, 2), (1, 3), (4, 5), (5, 6), (3, 7), (7, 8)];
        let changes = [(0, 52.5), (1, 52.5), (8, 52.5), (4, 54.5), (5, 40.0), (5, 41.0), (2, 44.0)];
        trace(&directories, &links, &changes)
    }
}

#[cfg(test)]
mod tests {
    use super::testing::example;
    use super::*;

    fn collected(how: CollectionMethod, limit: usize) -> (usize, usize) {
        let trace = example();
        let state = CollectionState::new(&trace, Period::all(&trace, 2)[0]);
        let seen = state.collect(how, limit);
        assert_eq!((seen.live, seen.changed), (9, 3));
        (seen.fetched, seen.found)
    }

    #[test]
    fn methods_collect_what_the_paper_says_of_its_example() {
        let all = usize::MAX;
        assert_eq!(collected(CollectionMethod::All, all), (9, 3));
        // Tops R, A, D, F (deepest reached of its directory is G at 4 as F): R and A changed.
        assert_eq!(
            collected(CollectionMethod::A, all),
            (8, 2),
            "R, A, D and B, C, E by A; F and G, not H"
        );
        // Sites (A,B,C), (D,E), (E,F), (G,H): A changed, so B and C; tops D, E, G.
        assert_eq!(collected(CollectionMethod::B, all), (7, 2), "R, A, B, C, D, E, G");
        assert_eq!(
            collected(CollectionMethod::C, all),
            (6, 2),
            "R, A, B, C, D and G below A; E below D is not"
        );
        assert_eq!(collected(CollectionMethod::BreadthFirst, 3), (3, 2), "R, A, D");
        assert_eq!(
            collected(CollectionMethod::History, 2),
            (2, 0),
            "E and B changed most in the year before"
        );
        assert_eq!(
            collected(CollectionMethod::ChoTrue, 1),
            (1, 1),
            "R's directory had changed wholly"
        );
    }

    #[test]
    fn periods_begin_every_four_weeks_at_most() {
        let trace = example();
        let count = |weeks| Period::all(&trace, weeks).len();
        assert_eq!((count(2), count(4), count(12), count(24)), (26, 13, 11, 8));
    }

    #[test]
    fn rates_are_means_of_periods() {
        let seen = [
            CollectionCounts { live: 10, changed: 2, fetched: 5, found: 1 },
            CollectionCounts { live: 10, changed: 0, fetched: 1, found: 0 },
        ];
        let rates = Rates::of(seen.iter());
        assert_eq!((rates.update, rates.cover), (0.1, 0.5));
        assert_eq!((rates.collected, rates.changed), (0.3, 0.1));
    }
}
