//! `sampling`: visit a few pages of every site, then use the rest of the budget where most had changed.

use evercrawl_sites::{Partition, PartitionMethod, Server};

use crate::page::{Days, Finding, NEVER, Page, VisitEvidence};
use crate::policy::{Policy, Round};
use crate::random::SplitMix64;
use crate::schedulers::clusters::{Cluster, Clusters};
use crate::schedulers::sample_size::{SampleSize, ShareSpread};
use crate::schedulers::tops::{TopChecks, check_order};
use crate::schedulers::walk::{SiteWalk, Way};
use crate::schedulers::worklist::Worklist;
use crate::truth::ChangeTimes;

/// Cho and Ntoulas' sampling: what a sample of a site's pages shows stands for the site (S3, 1.3).
///
/// A site is a host here, or a directory where there is only one host. At most half of the budget
/// goes into samples: sites that would cost more are sampled together.
#[derive(Debug)]
pub struct Sampling {
    source: SampleSource,
    spend: Spend,
    clusters: Clusters,
    stage: Stage,
    list: Worklist,
    started: Days,
}

/// Where the change ratios come from.
#[derive(Debug)]
pub enum SampleSource {
    /// From samples of this size, drawn by this generator.
    Samples(SampleSize, SplitMix64),
    /// From the truth, as S0 assumed: an upper bound on the method.
    Truth(ChangeTimes),
}

/// How the budget is spent once the change ratios are known.
#[derive(Debug)]
pub enum Spend {
    /// Whole sites from the highest ratio down, the last one in part. Optimal when samples are all
    /// that is known.
    Greedy,
    /// Each site in proportion to its ratio.
    Proportional,
    /// As greedy, but inside a site top pages tell what to fetch (S0, section 6.3.4).
    Tops(Box<SiteTops>),
}

/// A server cut into sites, to be walked in the order of the change ratios.
#[derive(Debug)]
pub struct SiteTops {
    walk: SiteWalk,
    way: Way,
}

#[derive(Debug, PartialEq)]
enum Stage {
    Sampling,
    Spending,
}

impl Spend {
    /// Lets the tops of `server`, cut by `method`, tell what to fetch.
    pub fn tops(server: &Server, method: PartitionMethod, looks: TopChecks) -> Self {
        let walk = SiteWalk::new(Partition::new(server, method), server.pages());
        let way = check_order(server, &walk, looks);
        Spend::Tops(Box::new(SiteTops { walk, way }))
    }
}

impl Sampling {
    /// Learns the ratios from `source` and spends the budget as `spend` says.
    pub fn new(source: SampleSource, spend: Spend) -> Self {
        let (clusters, list) = (Clusters::default(), Worklist::default());
        Sampling { source, spend, clusters, stage: Stage::Spending, list, started: 0.0 }
    }

    /// The ratios are known: decides how to use the `room` that is left.
    fn decide(&mut self, room: usize, pages: &[Page]) {
        self.stage = Stage::Spending;
        let ranked = self.clusters.rank_by_ratio();
        let (clusters, ranked, started) = (&self.clusters, &ranked[..], self.started);
        let rest = RemainingBudget { clusters, ranked, room, pages, started };
        match &mut self.spend {
            Spend::Greedy => self.list.set(rest.greedy()),
            Spend::Proportional => self.list.set(rest.proportional()),
            Spend::Tops(tops) => tops.follow(clusters, ranked, pages),
        }
    }
}

impl Policy for Sampling {
    fn record_discovery(&mut self, page: &mut Page, _now: Days) {
        page.due = NEVER;
    }

    fn record_visit(&mut self, page: &mut Page, seen: &VisitEvidence) {
        let changed = seen.is_news();
        if let Spend::Tops(tops) = &mut self.spend {
            tops.walk.visited(page.id, changed);
        }
        if self.stage == Stage::Sampling && seen.found != Finding::Failed {
            self.clusters.count(page, changed);
        }
    }

    fn plan_round(&mut self, round: &Round, pages: &mut [Page]) -> bool {
        self.started = round.start;
        self.list.set(Vec::new());
        if let Spend::Tops(tops) = &mut self.spend {
            tops.walk.begin(Way::default());
        }
        match &mut self.source {
            SampleSource::Truth(changes) => {
                self.clusters.form_clusters(pages, usize::MAX);
                self.clusters.count_all(changes, round.start, pages);
                self.decide(round.fetches, pages);
            }
            SampleSource::Samples(rule, random) => {
                self.clusters.form_clusters(pages, usize::MAX);
                let size = sample_size(*rule, &self.clusters, round, pages);
                self.clusters.form_clusters(pages, round.fetches / (2 * size));
                self.list.set(self.clusters.draw_sample(size, random));
                self.stage = Stage::Sampling;
            }
        }
        false
    }

    fn choose_pages(&mut self, _now: Days, room: usize, pages: &[Page], out: &mut Vec<u32>) {
        if self.stage == Stage::Sampling && self.list.is_done() {
            self.decide(room, pages);
        }
        self.list.take_pages(room, pages, out);
        match &mut self.spend {
            Spend::Tops(tops) if out.is_empty() => tops.walk.choose(room, pages, out),
            _ => {}
        }
    }
}

impl SiteTops {
    /// Leads the walk through the sites of the most changed clusters first.
    fn follow(&mut self, clusters: &Clusters, ranked: &[usize], pages: &[Page]) {
        let mut rank = vec![usize::MAX; ranked.len()];
        for (place, &cluster) in ranked.iter().enumerate() {
            rank[cluster] = place;
        }
        let place = |site: &u32| {
            let top = self.walk.partition().tops(*site).first();
            let page = top.and_then(|&top| pages.get(top as usize));
            page.and_then(|page| clusters.cluster_of(page))
                .map_or(usize::MAX, |cluster| rank[cluster])
        };
        let mut way = self.way.clone();
        way.first.make_contiguous().sort_by_cached_key(place);
        self.walk.turn_to(way);
    }
}

fn sample_size(rule: SampleSize, units: &Clusters, round: &Round, pages: &[Page]) -> usize {
    let alive = pages.iter().filter(|page| page.alive).count().max(1) as f64;
    let share = round.fetches as f64 / alive;
    let pages_each = alive / units.all.len().max(1) as f64;
    let spread = ShareSpread::of(&units.past_ratios(), share);
    (rule.of(pages_each, share, spread).round() as usize).clamp(1, round.fetches.max(2) / 2)
}

/// The budget left over after the samples, and the pages it may go to.
struct RemainingBudget<'a> {
    clusters: &'a Clusters,
    ranked: &'a [usize],
    room: usize,
    pages: &'a [Page],
    started: Days,
}

impl RemainingBudget<'_> {
    fn greedy(&self) -> Vec<u32> {
        let mut list = Vec::new();
        for &cluster in self.ranked {
            if list.len() >= self.room {
                break;
            }
            list.extend(self.unsampled(&self.clusters.all[cluster]));
        }
        list
    }

    /// What a site cannot use of its share goes to the others, the most changed first.
    fn proportional(&self) -> Vec<u32> {
        let total: f64 = self.clusters.all.iter().map(Cluster::ratio).sum();
        let (mut list, mut others) = (Vec::new(), Vec::new());
        for &cluster in self.ranked {
            let cluster = &self.clusters.all[cluster];
            let even = 1.0 / self.ranked.len() as f64;
            let share = if total > 0.0 { cluster.ratio() / total } else { even };
            let mut pages = self.unsampled(cluster);
            let quota = ((share * self.room as f64).round() as usize).min(pages.len());
            others.extend(pages.split_off(quota));
            list.extend(pages);
        }
        list.extend(others);
        list
    }

    /// The pages of a cluster that this round has not fetched yet, those not seen for longest first.
    fn unsampled(&self, cluster: &Cluster) -> Vec<u32> {
        let last = |id: &u32| self.pages.get(*id as usize).map_or(NEVER, |page| page.last);
        let mut rest: Vec<u32> =
            cluster.pages.iter().copied().filter(|id| last(id) < self.started).collect();
        rest.sort_by(|a, b| last(a).total_cmp(&last(b)).then(a.cmp(b)));
        rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::World;

    /// Four directories of ten pages; those of directory 2 change every day.
    fn world() -> World {
        let changes =
            (1..30).flat_map(|day| (20..30).map(move |page| (page, f64::from(day) - 0.5)));
        let mut world = World::with_changes(40, changes);
        world.pages.iter_mut().for_each(|page| page.group = page.id / 10);
        world.fetch_all(0.0);
        world
    }

    fn sampling(spend: Spend) -> Sampling {
        Sampling::new(SampleSource::Samples(SampleSize::Root, SplitMix64::new(5)), spend)
    }

    fn fetches_by_directory(policy: &mut Sampling, world: &mut World, budget: usize) -> [usize; 4] {
        let mut counts = [0; 4];
        for day in 1..=3 {
            world.round(policy, f64::from(day), budget, |page| counts[page as usize / 10] += 1);
        }
        counts
    }

    #[test]
    fn greedy_takes_the_whole_of_the_most_changed_site() {
        let counts = fetches_by_directory(&mut sampling(Spend::Greedy), &mut world(), 16);
        assert_eq!(counts[2], 30, "{counts:?}");
        assert_eq!(counts.iter().sum::<usize>(), 48);
    }

    #[test]
    fn proportional_spends_all_of_its_budget_too() {
        let mut world = world();
        let counts = fetches_by_directory(&mut sampling(Spend::Proportional), &mut world, 16);
        assert_eq!(counts[2], 30, "{counts:?}");
        assert_eq!(counts.iter().sum::<usize>(), 48);
    }

    #[test]
    fn the_truth_needs_no_samples() {
        let mut world = world();
        let source = SampleSource::Truth(world.changes.clone());
        let mut policy = Sampling::new(source, Spend::Greedy);
        assert_eq!(fetches_by_directory(&mut policy, &mut world, 10), [0, 0, 30, 0]);
    }

    #[test]
    fn tops_tell_what_to_fetch_inside_the_chosen_sites() {
        // In each directory page 10d links to the others and is linked from page 0.
        let links: Vec<(u32, u32)> = (0..40)
            .filter(|page| page % 10 != 0)
            .map(|page| (page / 10 * 10, page))
            .chain([(0, 10), (0, 20), (0, 30)])
            .collect();
        let directories: Vec<u32> = (0..40).map(|page| page / 10).collect();
        let server = Server::new(&directories, &links, &[0]);
        let mut policy = sampling(Spend::tops(&server, PartitionMethod::A, TopChecks::All));
        let counts = fetches_by_directory(&mut policy, &mut world(), 20);
        assert_eq!(counts[2], 30, "{counts:?}");
        assert!(counts.iter().sum::<usize>() < 60, "unchanged tops save the rest: {counts:?}");
    }

    #[test]
    fn a_budget_of_less_than_a_page_a_site_still_works() {
        let counts = fetches_by_directory(&mut sampling(Spend::Greedy), &mut world(), 2);
        assert_eq!(counts.iter().sum::<usize>(), 6);
        assert_eq!(fetches_by_directory(&mut sampling(Spend::Greedy), &mut world(), 0), [0; 4]);
    }
}
