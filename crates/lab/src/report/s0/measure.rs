//! What does every method collect from every site, at every horizon?

use evercrawl_sites::{Partition, PartitionMethod};

use super::collect::{CollectionCounts, CollectionMethod, CollectionState, Period, Rates};
use crate::report::threads::each;
use crate::report::trace::SiteTrace;

/// Weeks from a copy to the next round. The paper has 2, 4, 12 and 24.
pub(super) const HORIZONS: [u32; 7] = [2, 4, 8, 12, 16, 20, 24];
/// The horizons of the paper's tables, by their place in [`HORIZONS`].
pub(super) const PRINTED: [usize; 4] = [0, 1, 3, 6];

/// The methods that are compared at every horizon.
pub(super) const METHODS: [CollectionMethod; 10] = [
    CollectionMethod::All,
    CollectionMethod::BreadthFirst,
    CollectionMethod::History,
    CollectionMethod::A,
    CollectionMethod::B,
    CollectionMethod::C,
    CollectionMethod::C1,
    CollectionMethod::CThenB,
    CollectionMethod::ChoTrue,
    CollectionMethod::ChoSampled,
];
/// Those that are swept over budgets.
pub(super) const SWEPT: [CollectionMethod; 5] = [
    CollectionMethod::ChoTrue,
    CollectionMethod::ChoSampled,
    CollectionMethod::ChoA,
    CollectionMethod::ChoB,
    CollectionMethod::ChoC,
];
/// The budgets, as shares of the pages.
pub(super) const BUDGETS: [f64; 9] = [0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0];
/// The least change ratios of directories in figures 12 and 13.
pub(super) const RATIOS: [f64; 10] = [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.0];
/// The deepest level of figure 9.
pub(super) const DEPTHS: u32 = 8;

/// One site at one horizon.
pub(super) struct SurveyMeasurement {
    /// By method, as [`METHODS`].
    pub(super) methods: Vec<Rates>,
    /// By method and budget, as [`SWEPT`] and [`BUDGETS`]; none at horizons that are not printed.
    pub(super) sweeps: Vec<Vec<Rates>>,
    /// By least change ratio of a directory, as [`RATIOS`].
    pub(super) ratios: Vec<Rates>,
    /// By greatest depth, from 1.
    pub(super) depths: Vec<Rates>,
    /// What tops tell of members, by methods A and B.
    pub(super) told: [SignalledShare; 2],
    /// What root pages and tops of directories tell of their whole.
    pub(super) roots: ByTop,
    pub(super) directories: ByTop,
}

/// How members do when their top has changed, and when it has not.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct SignalledShare {
    with: (usize, usize),
    without: (usize, usize),
}

/// Units (servers, directories) sorted by whether their top had changed: the paper's table 3.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct ByTop {
    pub(super) units: usize,
    /// Those whose top had changed, their pages, and the changed ones among them.
    pub(super) units_told: usize,
    pub(super) pages_told: usize,
    pub(super) changed_told: usize,
    /// All pages and all changed ones.
    pub(super) pages: usize,
    pub(super) changed: usize,
}

/// Measures every trace at every horizon: by trace, then by horizon.
pub(super) fn measure(
    traces: &[SiteTrace],
    progress: &(dyn Fn(&str) + Sync),
) -> Vec<Vec<SurveyMeasurement>> {
    let jobs: Vec<(&SiteTrace, usize)> =
        traces.iter().flat_map(|trace| (0..HORIZONS.len()).map(move |h| (trace, h))).collect();
    let mut measured = each(&jobs, |&(trace, horizon)| {
        let measured = SurveyMeasurement::of(trace, horizon);
        progress(&format!("{} every {} weeks", trace.name, HORIZONS[horizon]));
        measured
    })
    .into_iter();
    traces.iter().map(|_| measured.by_ref().take(HORIZONS.len()).collect()).collect()
}

impl SurveyMeasurement {
    fn of(trace: &SiteTrace, horizon: usize) -> Self {
        let periods = Period::all(trace, HORIZONS[horizon]);
        let sweep = PRINTED.contains(&horizon);
        let parts = [PartitionMethod::A, PartitionMethod::B]
            .map(|method| Partition::new(&trace.server, method));
        let rounds: Vec<OneRound> = periods
            .iter()
            .map(|&period| OneRound::of(&CollectionState::new(trace, period), sweep, &parts))
            .collect();
        let rates = |of: &dyn Fn(&OneRound) -> CollectionCounts| {
            Rates::of(rounds.iter().map(of).collect::<Vec<_>>().iter())
        };
        let budgets = if sweep { BUDGETS.len() } else { 0 };
        let swept =
            |how: usize| (0..budgets).map(|b| rates(&|round| round.sweeps[how][b])).collect();
        let mut sums = OneRound::default();
        rounds.iter().for_each(|round| sums.add(round));
        SurveyMeasurement {
            methods: (0..METHODS.len()).map(|how| rates(&|round| round.methods[how])).collect(),
            sweeps: (0..SWEPT.len()).map(swept).collect(),
            ratios: (0..RATIOS.len()).map(|at| rates(&|round| round.ratios[at])).collect(),
            depths: (0..DEPTHS as usize).map(|at| rates(&|round| round.depths[at])).collect(),
            told: sums.told,
            roots: sums.roots,
            directories: sums.directories,
        }
    }

    pub(super) fn rates(&self, how: CollectionMethod) -> Rates {
        let place = METHODS.iter().position(|other| *other == how);
        place.map_or(Rates::default(), |place| self.methods[place])
    }
}

/// Everything that is measured at the end of one period.
#[derive(Default)]
struct OneRound {
    methods: Vec<CollectionCounts>,
    sweeps: Vec<Vec<CollectionCounts>>,
    ratios: Vec<CollectionCounts>,
    depths: Vec<CollectionCounts>,
    told: [SignalledShare; 2],
    roots: ByTop,
    directories: ByTop,
}

impl OneRound {
    fn of(state: &CollectionState<'_>, sweep: bool, parts: &[Partition; 2]) -> Self {
        let as_many_as_a = state.collect(CollectionMethod::A, usize::MAX).fetched;
        let method = |how: &CollectionMethod| {
            state.collect(*how, if how.is_its_own_limit() { usize::MAX } else { as_many_as_a })
        };
        let budgets = |how: &CollectionMethod| {
            BUDGETS.map(|share| state.collect(*how, state.share(share))).to_vec()
        };
        OneRound {
            methods: METHODS.iter().map(method).collect(),
            sweeps: if sweep { SWEPT.iter().map(budgets).collect() } else { Vec::new() },
            ratios: by_ratio(state),
            depths: (1..=DEPTHS).map(|depth| to_depth(state, depth)).collect(),
            told: [SignalledShare::of(state, &parts[0]), SignalledShare::of(state, &parts[1])],
            roots: ByTop::of_roots(state),
            directories: ByTop::of_sites(state, &parts[0]),
        }
    }

    fn add(&mut self, other: &OneRound) {
        for (sum, told) in self.told.iter_mut().zip(&other.told) {
            sum.add(told);
        }
        self.roots.add(&other.roots);
        self.directories.add(&other.directories);
    }
}

impl CollectionState<'_> {
    fn share(&self, share: f64) -> usize {
        let live = self.trace.numbers().filter(|&page| self.lives(page)).count();
        (share * live as f64).round() as usize
    }
}

/// Collects whole directories whose change ratio is at least so high.
fn by_ratio(state: &CollectionState<'_>) -> Vec<CollectionCounts> {
    let server = &state.trace.server;
    let mut counts = vec![(0.0, 0.0); server.directories()];
    for page in state.trace.numbers().filter(|&page| state.lives(page)) {
        let (changed, all) = &mut counts[server.directory(page) as usize];
        *changed += f64::from(u8::from(state.changed(page)));
        *all += 1.0;
    }
    let collect = |least: f64| {
        let chosen = |page: &u32| {
            let (changed, all) = counts[server.directory(*page) as usize];
            changed >= least * all
        };
        state.fetch(state.trace.numbers().filter(chosen))
    };
    RATIOS.iter().map(|&least| collect(least)).collect()
}

fn to_depth(state: &CollectionState<'_>, depth: u32) -> CollectionCounts {
    let shallow = |page: &u32| state.trace.server.depth(*page) <= depth;
    state.fetch(state.trace.numbers().filter(shallow))
}

impl SignalledShare {
    fn of(state: &CollectionState<'_>, partition: &Partition) -> Self {
        let mut told = SignalledShare::default();
        for site in partition.sites() {
            let changed = partition.tops(site).iter().any(|&top| state.changed(top));
            let counts = if changed { &mut told.with } else { &mut told.without };
            for &member in partition.members(site).iter().filter(|&&page| state.lives(page)) {
                counts.0 += usize::from(state.changed(member));
                counts.1 += 1;
            }
        }
        told
    }

    fn add(&mut self, other: &SignalledShare) {
        for (sum, more) in [(&mut self.with, other.with), (&mut self.without, other.without)] {
            sum.0 += more.0;
            sum.1 += more.1;
        }
    }

    /// P(member changed | top changed) and P(member changed | top unchanged).
    pub(super) fn chances(&self) -> (f64, f64) {
        let chance = |(changed, all): (usize, usize)| changed as f64 / all as f64;
        (chance(self.with), chance(self.without))
    }
}

impl ByTop {
    fn of_roots(state: &CollectionState<'_>) -> Self {
        let roots = state.trace.numbers().filter(|&page| state.trace.server.depth(page) == 1);
        let mut by_top = ByTop::default();
        by_top.count(state, roots, state.trace.numbers());
        by_top
    }

    fn of_sites(state: &CollectionState<'_>, partition: &Partition) -> Self {
        let mut by_top = ByTop::default();
        for site in partition.sites() {
            let (tops, members) = (partition.tops(site), partition.members(site));
            by_top.count(state, tops.iter().copied(), tops.iter().chain(members).copied());
        }
        by_top
    }

    fn count(
        &mut self,
        state: &CollectionState<'_>,
        mut tops: impl Iterator<Item = u32>,
        pages: impl Iterator<Item = u32>,
    ) {
        let (mut all, mut changed) = (0, 0);
        for page in pages.filter(|&page| state.lives(page)) {
            all += 1;
            changed += usize::from(state.changed(page));
        }
        let told = tops.any(|top| state.changed(top));
        let one = usize::from(all > 0);
        self.add(&ByTop {
            units: one,
            units_told: if told { one } else { 0 },
            pages_told: if told { all } else { 0 },
            changed_told: if told { changed } else { 0 },
            pages: all,
            changed,
        });
    }

    pub(super) fn add(&mut self, other: &ByTop) {
        self.units += other.units;
        self.units_told += other.units_told;
        self.pages_told += other.pages_told;
        self.changed_told += other.changed_told;
        self.pages += other.pages;
        self.changed += other.changed;
    }
}

#[cfg(test)]
mod tests {
    use super::super::collect::testing::example;
    use super::*;
    use crate::report::trace::testing::recorded_sites;

    #[test]
    fn directories_depths_and_tops_are_counted_by_hand() {
        let trace = example();
        // Weeks 1 and 2: R, A and H changed; R is a directory, A to E one, F to H one.
        let state = CollectionState::new(&trace, Period::all(&trace, 2)[0]);
        let parts = [PartitionMethod::A, PartitionMethod::B]
            .map(|method| Partition::new(&trace.server, method));
        let round = OneRound::of(&state, false, &parts);
        let counts = |seen: &CollectionCounts| (seen.fetched, seen.found);
        assert_eq!(counts(&round.ratios[0]), (1, 1), "only R's directory changed by 90 %");
        assert_eq!(counts(&round.ratios[6]), (4, 2), "F to H changed by a third");
        assert_eq!(counts(&round.ratios[7]), (9, 3), "A to E by a fifth");
        assert_eq!(counts(&round.depths[1]), (3, 2), "R, A and D");
        // By directory: R alone; A and D are tops of B, C and E; F and G are tops of H.
        assert_eq!(round.told[0], SignalledShare { with: (0, 3), without: (1, 1) });
        let want =
            ByTop { units: 3, units_told: 2, pages_told: 6, changed_told: 2, pages: 9, changed: 3 };
        assert_eq!(round.directories, want);
        assert_eq!((round.roots.units_told, round.roots.changed_told), (1, 3));
    }

    #[test]
    fn a_recorded_site_comes_out_as_an_independent_prototype_had_it() {
        let Some(folder) = recorded_sites() else { return };
        let trace = SiteTrace::read(&folder.join("httpd-manual")).unwrap();
        for (horizon, all, methods) in [
            (
                1,
                8.6,
                [
                    (CollectionMethod::A, 69.0, 1.2),
                    (CollectionMethod::B, 99.0, 1.0),
                    (CollectionMethod::C, 15.0, 0.4),
                    (CollectionMethod::BreadthFirst, 55.0, 0.9),
                ],
            ),
            (
                6,
                35.0,
                [
                    (CollectionMethod::A, 88.0, 1.1),
                    (CollectionMethod::B, 99.0, 1.0),
                    (CollectionMethod::C, 50.0, 0.5),
                    (CollectionMethod::BreadthFirst, 78.0, 1.0),
                ],
            ),
        ] {
            let measured = SurveyMeasurement::of(&trace, horizon);
            let whole = measured.rates(CollectionMethod::All).update;
            assert!((100.0 * whole - all).abs() < 0.1, "{whole}");
            for (how, cover, times) in methods {
                let rates = measured.rates(how);
                assert!((100.0 * rates.cover - cover).abs() < 1.0, "{how:?} {rates:?}");
                assert!((rates.update / whole - times).abs() < 0.1, "{how:?} {rates:?}");
            }
            if horizon == 1 {
                let (with, without) = measured.told[0].chances();
                assert!((100.0 * with - 11.7).abs() < 0.1 && (100.0 * without - 5.0).abs() < 0.1);
            }
        }
    }
}
