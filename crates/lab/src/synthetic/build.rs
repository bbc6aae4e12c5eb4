//! Which pages, hosts and links does a world have that is made from its description?

use evercrawl_policy::{Days, NEVER};
use evercrawl_sites::Server;

use super::batches::Batches;
use super::layout::{PageSpot, SiteLayout};
use super::lines::{CourseLine, CourseLines};
use super::processes::Processes;
use super::spec::{HostKind, PageClass, WorldSpec};
use crate::dice::{Dice, Purpose, exponential};
use crate::world::{ChangeTruth, HostFacts, LabWorld, PageFact, Span};

const WEEK: Days = 7.0;
/// How long pages have been there at the start where none comes or goes.
const OLD: Days = 730.0;

impl WorldSpec {
    /// Makes the world that `seed` gives, called `name`.
    ///
    /// The crawl begins at 0. Changes are known from `history` days before on, for methods that are
    /// handed a past.
    pub fn world(&self, name: &str, seed: u64, history: Days) -> LabWorld {
        let from = WEEK * f64::from(self.before);
        let to = from + WEEK * f64::from(self.weeks);
        let span = Span { since: -history.max(0.0), begin: 0.0, from, to };
        let layout = SiteLayout::new(self, seed, span.since, to);
        let maker = WorldBuilder::new(self, seed, span.since);
        let mut pages = Vec::with_capacity(layout.len());
        let mut lines = CourseLines::new(&self.classes, layout.len());
        for (page, spot) in layout.spots() {
            let (fact, line) = maker.page(page, &spot);
            pages.push(fact);
            lines.push(line);
        }
        let groups = (self.hosts, self.directories);
        let times = (span.since, to);
        let batches = Batches::new(seed, &self.batches, groups, times);
        let truth = ChangeTruth::Drawn(Processes::new(seed, &self.classes, lines, batches, times));
        let past = truth.before(&pages, span.begin);
        LabWorld {
            name: name.to_owned(),
            pages,
            hosts: self.host_facts(seed),
            truth,
            server: self.server(&layout, seed),
            span,
            urls: Vec::new(),
            past,
        }
    }

    fn host_facts(&self, seed: u64) -> Vec<HostFacts> {
        let shares: Vec<f64> = self.kinds.iter().map(|kind| kind.share).collect();
        let kinds = dealt(&shares, self.hosts, Dice::new(seed, Purpose::HostKind));
        let facts = |(host, kind): (u32, usize)| self.kinds[kind].facts(format!("host {host}"));
        (0..).zip(kinds).map(facts).collect()
    }

    fn server(&self, layout: &SiteLayout, seed: u64) -> Option<Server> {
        (self.links > 0).then(|| {
            let directories: Vec<u32> = layout.spots().map(|(_, spot)| spot.directory).collect();
            let links = layout.links(self.links, seed);
            Server::new(&directories, &links, &layout.roots())
        })
    }
}

impl HostKind {
    fn facts(&self, name: String) -> HostFacts {
        HostFacts {
            name,
            noise: self.noise as f32,
            failure: self.failure as f32,
            precision: self.precision as f32,
            recall: self.recall as f32,
            delay: self.delay,
            lastmod: self.lastmod,
        }
    }
}

/// What it takes to make a page of a description.
struct WorldBuilder<'a> {
    spec: &'a WorldSpec,
    start: Days,
    seed: u64,
    hubs: Option<usize>,
    ordinary: Vec<f64>,
}

impl<'a> WorldBuilder<'a> {
    fn new(spec: &'a WorldSpec, seed: u64, start: Days) -> Self {
        let share = |class: &PageClass| if class.hubs { 0.0 } else { class.share };
        let hubs = spec.classes.iter().position(|class| class.hubs);
        WorldBuilder { spec, start, seed, hubs, ordinary: spec.classes.iter().map(share).collect() }
    }

    fn page(&self, page: u32, spot: &PageSpot) -> (PageFact, CourseLine) {
        let number = self.class(page, spot);
        let class = &self.spec.classes[number];
        let score = self.rate_score(page, spot.directory);
        let (rate, later) = self.rates(page, class, score);
        let (born, dies) = self.life(page, class, spot);
        let line = CourseLine {
            rate: rate as f32,
            later: later as f32,
            born: born as f32,
            dies: dies as f32,
            group: spot.directory,
            class: number as u8,
            hub: spot.hub,
        };
        let fact = PageFact {
            born: spot.born.map_or(f64::NEG_INFINITY, f64::from),
            dies: line.dies.into(),
            host: spot.host,
            group: spot.directory,
            kin: spot.kin,
            weight: self.weight(page, class, score) as f32,
            cost: self.spec.cost.at(self.dice(Purpose::Cost).normal(page.into())) as f32,
            quiet: false,
        };
        (fact, line)
    }

    fn class(&self, page: u32, spot: &PageSpot) -> usize {
        let drawn = || pick(&self.ordinary, self.dice(Purpose::Class).uniform(page.into()));
        let hubs = self.hubs.filter(|_| spot.hub);
        hubs.or(spot.class).unwrap_or_else(drawn)
    }

    /// Where the page stands among all by its rate: partly with its directory, partly by itself.
    fn rate_score(&self, page: u32, directory: u32) -> f64 {
        let alike = self.spec.alike;
        let shared = self.dice(Purpose::RateOfDirectory).normal(directory.into());
        let own = self.dice(Purpose::Rate).normal(page.into());
        alike.sqrt() * shared + (1.0 - alike).sqrt() * own
    }

    /// Changes per day at first, and after the turn.
    fn rates(&self, page: u32, class: &PageClass, score: f64) -> (f64, f64) {
        if self.dice(Purpose::Never).uniform(page.into()) < class.never {
            return (0.0, 0.0);
        }
        let rate = class.rate.at(score) / WEEK;
        let turn = &mut self.dice(Purpose::LaterRate).roll(page.into());
        let turns = class.turn.is_some_and(|it| turn.uniform() < it.share);
        let later = if turns { class.rate.at(crate::dice::normal(turn)) / WEEK } else { rate };
        (rate, later)
    }

    /// Born and gone: where pages come and go, their ages at the start are as they will be.
    fn life(&self, page: u32, class: &PageClass, spot: &PageSpot) -> (Days, Days) {
        let random = &mut self.dice(Purpose::Life).roll(page.into());
        let turnover = class.births.max(class.deaths);
        let age = exponential(random) * if turnover > 0.0 { WEEK / turnover } else { OLD };
        let born = spot.born.map_or(self.start - age, f64::from);
        let span = exponential(random) * WEEK / class.deaths;
        let dies = if class.deaths > 0.0 { born.max(self.start) + span } else { NEVER };
        (born, dies)
    }

    fn weight(&self, page: u32, class: &PageClass, score: f64) -> f64 {
        let together = self.spec.correlation;
        let own = self.dice(Purpose::Importance).normal(page.into());
        let score = together * score + (1.0 - together * together).sqrt() * own;
        class.weight * self.spec.importance.at(score)
    }

    fn dice(&self, purpose: Purpose) -> Dice {
        Dice::new(self.seed, purpose)
    }
}

/// Which kind each of `count` hosts is of: as many of each as its share says, to the nearest whole host;
/// chance says which.
fn dealt(shares: &[f64], count: u32, dice: Dice) -> Vec<usize> {
    let mut hosts: Vec<u32> = (0..count).collect();
    hosts.sort_by_key(|&host| dice.key(host.into()));
    let mut kinds = vec![0; hosts.len()];
    let mut left = hosts.into_iter();
    for (kind, of_kind) in apportioned(shares, count).into_iter().enumerate() {
        left.by_ref().take(of_kind).for_each(|host| kinds[host as usize] = kind);
    }
    kinds
}

/// `count` in parts as large as the shares: whole parts first, what is left over to the largest
/// remainders, to the first of equals.
fn apportioned(shares: &[f64], count: u32) -> Vec<usize> {
    let total: f64 = shares.iter().sum();
    let due: Vec<f64> = shares.iter().map(|share| f64::from(count) * share / total).collect();
    let mut parts: Vec<usize> = due.iter().map(|due| due.floor() as usize).collect();
    let mut by_remainder: Vec<usize> = (0..shares.len()).collect();
    by_remainder.sort_by(|&a, &b| (due[b] - due[b].floor()).total_cmp(&(due[a] - due[a].floor())));
    let over = (count as usize).saturating_sub(parts.iter().sum());
    by_remainder.iter().take(over).for_each(|&part| parts[part] += 1);
    parts
}

/// The item that `uniform` falls on when each has a part as large as its share.
pub(super) fn pick(shares: &[f64], uniform: f64) -> usize {
    let mut left = uniform * shares.iter().sum::<f64>();
    let fits = |share: &f64| {
        left -= share;
        left < 0.0
    };
    shares.iter().position(fits).unwrap_or(shares.len().saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_as_large_as_their_shares_to_the_nearest_whole() {
        for (shares, count, parts) in [
            (&[1.0, 1.0][..], 4, vec![2, 2]),
            (&[2.0, 1.0], 6, vec![4, 2]),
            (&[7.0, 3.0], 1, vec![1, 0]),
            (&[1.0, 1.0, 1.0], 5, vec![2, 2, 1]),
            (&[5.0, 3.0, 2.0], 7, vec![4, 2, 1]),
            (&[0.3], 9, vec![9]),
        ] {
            assert_eq!(apportioned(shares, count), parts, "{shares:?} of {count}");
        }
    }

    #[test]
    fn chance_says_which_host_is_of_which_kind_and_not_how_many() {
        let dealt = |seed| dealt(&[1.0, 1.0], 4, Dice::new(seed, Purpose::HostKind));
        let all: Vec<Vec<usize>> = (0..50).map(dealt).collect();
        assert!(all.iter().all(|kinds| kinds.iter().sum::<usize>() == 2), "{all:?}");
        assert_eq!(dealt(3), all[3], "the same seed, the same hosts");
        let mut orders = all.clone();
        orders.sort();
        orders.dedup();
        assert_eq!(orders.len(), 6, "every way to choose two of four");
    }
}
