//! Which policies are there, by name, and what does each need?

use evercrawl_sites::{PartitionMethod, Server};
use thiserror::Error;

use crate::allocate::Objective;
use crate::page::Days;
use crate::policy::Policy;
use crate::random::SplitMix64;
use crate::schedulers::adaptive::Adaptive;
use crate::schedulers::breadth::BreadthFirst;
use crate::schedulers::chile::{Chile, ChileVariant};
use crate::schedulers::dependence::{Dependence, Grouping};
use crate::schedulers::gamma::GammaIndex;
use crate::schedulers::history::History;
use crate::schedulers::index::IndexRule;
use crate::schedulers::optimal::Optimal;
use crate::schedulers::oracle::Oracle;
use crate::schedulers::proportional::Proportional;
use crate::schedulers::sample_size::SampleSize;
use crate::schedulers::sampling::{SampleSource, Sampling, Spend};
use crate::schedulers::tianwang::Tianwang;
use crate::schedulers::tops::{TopChecks, Tops};
use crate::schedulers::uniform::Uniform;
use crate::schedulers::webfountain::WebFountain;
use crate::truth::ChangeTimes;

/// What a policy may be given at the start, besides the pages.
#[derive(Clone, Copy, Debug, Default)]
pub struct Setup<'a> {
    /// Directories and links; page i of the server is page i of the agenda.
    pub server: Option<&'a Server>,
    /// `(page, time)` of changes known beforehand.
    pub past: &'a [(u32, Days)],
    /// The true rate of every page: for references only.
    pub rates: Option<&'a [f64]>,
    /// All changes: for references only.
    pub changes: Option<&'a ChangeTimes>,
    /// The seed of random numbers.
    pub seed: u64,
    /// What the crawl optimises.
    pub goal: Goal,
}

/// What a crawl optimises; for policies that support several goals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Goal {
    /// The most time with current copies.
    #[default]
    Freshness,
    /// The most changes found.
    Coverage,
    /// The least time with outdated copies.
    Age,
}

/// A policy by name.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its name, on the command line and in tables.
    pub name: &'static str,
    /// What it does, in one line.
    pub about: &'static str,
    make: Make,
}

/// How a policy is built, which also says what it needs.
#[derive(Clone, Copy, Debug)]
enum Make {
    Plain(fn(&Setup) -> Box<dyn Policy>),
    FromLinks(fn(&Setup, &Server) -> Box<dyn Policy>),
    FromRates(fn(&[f64]) -> Box<dyn Policy>),
    FromChanges(fn(&ChangeTimes) -> Box<dyn Policy>),
}

/// Why a policy cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Unfit {
    /// There is no policy with this name.
    #[error("there is no policy '{0}'; choose one of {names}", names = names().join(", "))]
    Unknown(String),
    /// It needs links and there are none.
    #[error("policy '{0}' follows links and this world has none; choose one that does not")]
    NeedsLinks(&'static str),
    /// It needs to know the true changes.
    #[error("policy '{0}' knows the truth, so it runs in the lab only")]
    NeedsTruth(&'static str),
}

/// Every policy, in the order in which tables list them.
pub const ALL: &[Entry] = &[
    Entry {
        name: "index",
        about: "a page is due when a fetch is worth a threshold, by its own visits and those of its kin (default)",
        make: Make::Plain(|setup| Box::new(IndexRule::for_goal(setup.goal))),
    },
    Entry {
        name: "gamma",
        about: "the index rule over what a page's own visits and its directory's showed",
        make: Make::Plain(|_| Box::new(GammaIndex::default())),
    },
    Entry {
        name: "uniform",
        about: "every page as often as every other",
        make: Make::Plain(|_| Box::new(Uniform::new())),
    },
    Entry {
        name: "proportional",
        about: "in proportion to the estimated change rate",
        make: Make::Plain(|_| Box::new(Proportional::new())),
    },
    Entry {
        name: "optimal",
        about: "eq. 13, floored, then the exact allocation for freshness",
        make: Make::Plain(|_| Box::new(Optimal::estimated(Objective::Freshness))),
    },
    Entry {
        name: "adaptive",
        about: "sooner after a change, later after none, by Nutch's numbers",
        make: Make::Plain(|_| Box::new(Adaptive::NUTCH)),
    },
    Entry {
        name: "adaptive-stormcrawler",
        about: "the same by StormCrawler's numbers",
        make: Make::Plain(|_| Box::new(Adaptive::STORM_CRAWLER)),
    },
    Entry {
        name: "bfs",
        about: "from the top page outwards, every round anew",
        make: Make::FromLinks(|_, server| Box::new(BreadthFirst::new(server))),
    },
    Entry {
        name: "hist",
        about: "the pages that changed most often so far",
        make: Make::Plain(|_| Box::new(History::default())),
    },
    Entry {
        name: "A",
        about: "a directory's shallowest pages tell whether to fetch the rest of it",
        make: Make::FromLinks(|_, server| tops(server, PartitionMethod::A, TopChecks::All)),
    },
    Entry {
        name: "B",
        about: "pages linked from other directories tell of the pages they link to",
        make: Make::FromLinks(|_, server| tops(server, PartitionMethod::B, TopChecks::All)),
    },
    Entry {
        name: "C",
        about: "as B, but a site is looked at only below one that changed",
        make: Make::FromLinks(|_, server| tops(server, PartitionMethod::C, TopChecks::Chain)),
    },
    Entry {
        name: "C1",
        about: "as C, but only the site directly above must have changed",
        make: Make::FromLinks(|_, server| tops(server, PartitionMethod::C, TopChecks::OneStep)),
    },
    Entry {
        name: "C-then-B",
        about: "C first, then B with what is left of the budget",
        make: Make::FromLinks(|_, server| {
            tops(server, PartitionMethod::C, TopChecks::ChainThenAll)
        }),
    },
    Entry {
        name: "open",
        about: "as B with its gaps closed: members of members belong to the site",
        make: Make::FromLinks(|_, server| tops(server, PartitionMethod::Open, TopChecks::All)),
    },
    Entry {
        name: "sampling",
        about: "sample every site, then whole sites from the most changed down",
        make: Make::Plain(|setup| sampling(setup, SampleSize::Root, Spend::Greedy)),
    },
    Entry {
        name: "sampling-proportional",
        about: "sample every site, then each in proportion to what had changed",
        make: Make::Plain(|setup| sampling(setup, SampleSize::Root, Spend::Proportional)),
    },
    Entry {
        name: "sampling-eq17",
        about: "as sampling, with samples of the size that eq. 17 gives",
        make: Make::Plain(|setup| sampling(setup, SampleSize::Barred, Spend::Greedy)),
    },
    Entry {
        name: "sampling-derived",
        about: "as sampling, with samples of the size that our derivation gives",
        make: Make::Plain(|setup| sampling(setup, SampleSize::Derived, Spend::Greedy)),
    },
    Entry {
        name: "sampling+A",
        about: "sample every site; A inside the most changed ones",
        make: Make::FromLinks(|setup, server| {
            sampling(
                setup,
                SampleSize::Root,
                Spend::tops(server, PartitionMethod::A, TopChecks::All),
            )
        }),
    },
    Entry {
        name: "sampling+B",
        about: "sample every site; B inside the most changed ones",
        make: Make::FromLinks(|setup, server| {
            sampling(
                setup,
                SampleSize::Root,
                Spend::tops(server, PartitionMethod::B, TopChecks::All),
            )
        }),
    },
    Entry {
        name: "sampling+C",
        about: "sample every site; C inside the most changed ones",
        make: Make::FromLinks(|setup, server| {
            sampling(
                setup,
                SampleSize::Root,
                Spend::tops(server, PartitionMethod::C, TopChecks::Chain),
            )
        }),
    },
    Entry {
        name: "sampling-true",
        about: "as sampling, told the true change ratios: its upper bound",
        make: Make::FromChanges(|changes| {
            Box::new(Sampling::new(SampleSource::Truth(changes.clone()), Spend::Greedy))
        }),
    },
    Entry {
        name: "S1",
        about: "members that follow their top alike are fetched together, at the pace of the closest",
        make: Make::FromLinks(|setup, server| {
            let pivots = Grouping::Pivots { width: 0.05 };
            Box::new(Dependence::new(server, PartitionMethod::Open, pivots, setup.past))
        }),
    },
    Entry {
        name: "S1-components",
        about: "the same with groups as printed: components of the interval graph, width 5 %",
        make: Make::FromLinks(|setup, server| {
            let components = Grouping::Components { width: 0.05, tolerance: 0.0 };
            Box::new(Dependence::new(server, PartitionMethod::C, components, setup.past))
        }),
    },
    Entry {
        name: "chile",
        about: "most gain first: quality, size and the chance to have changed",
        make: Make::Plain(|_| Box::new(Chile::new(ChileVariant::Gain))),
    },
    Entry {
        name: "chile-literal",
        about: "the value as printed, which takes fresh pages first",
        make: Make::Plain(|_| Box::new(Chile::new(ChileVariant::Literal))),
    },
    Entry {
        name: "tianwang",
        about: "cycles over five tables, a tenth of each for new pages",
        make: Make::Plain(|_| Box::new(Tianwang::new(0.1))),
    },
    Entry {
        name: "webfountain",
        about: "epochs of rate classes under one bandwidth, solved ahead (reconstruction)",
        make: Make::Plain(|_| Box::new(WebFountain::new())),
    },
    Entry {
        name: "clairvoyant",
        about: "given the true rates, the exact allocation for freshness",
        make: Make::FromRates(|rates| {
            Box::new(Optimal::clairvoyant(Objective::Freshness, rates.to_vec()))
        }),
    },
    Entry {
        name: "oracle",
        about: "knows every change, past and to come",
        make: Make::FromChanges(|changes| Box::new(Oracle::new(changes.clone()))),
    },
];

/// All names, in order.
pub fn names() -> Vec<&'static str> {
    ALL.iter().map(|entry| entry.name).collect()
}

/// Finds a policy by name, in either case.
pub fn find(name: &str) -> Result<&'static Entry, Unfit> {
    let entry = ALL.iter().find(|entry| entry.name.eq_ignore_ascii_case(name));
    entry.ok_or_else(|| Unfit::Unknown(name.to_owned()))
}

impl Entry {
    /// Whether it uses links.
    pub fn needs_links(&self) -> bool {
        matches!(self.make, Make::FromLinks(_))
    }

    /// Whether it knows what no crawler can know.
    pub fn needs_truth(&self) -> bool {
        matches!(self.make, Make::FromRates(_) | Make::FromChanges(_))
    }

    /// Builds the policy from `setup`.
    pub fn make(&self, setup: &Setup) -> Result<Box<dyn Policy>, Unfit> {
        match self.make {
            Make::Plain(make) => Ok(make(setup)),
            Make::FromLinks(make) => {
                let linked = setup.server.filter(|server| server.total_links() > 0);
                linked.map(|server| make(setup, server)).ok_or(Unfit::NeedsLinks(self.name))
            }
            Make::FromRates(make) => setup.rates.map(make).ok_or(Unfit::NeedsTruth(self.name)),
            Make::FromChanges(make) => setup.changes.map(make).ok_or(Unfit::NeedsTruth(self.name)),
        }
    }
}

fn tops(server: &Server, method: PartitionMethod, looks: TopChecks) -> Box<dyn Policy> {
    Box::new(Tops::new(server, method, looks))
}

fn sampling(setup: &Setup, size: SampleSize, spend: Spend) -> Box<dyn Policy> {
    Box::new(Sampling::new(SampleSource::Samples(size, SplitMix64::new(setup.seed)), spend))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_either_case_and_none_twice() {
        for entry in ALL {
            assert_eq!(find(&entry.name.to_lowercase()).unwrap().name, entry.name);
            assert!(!entry.about.is_empty() && entry.about.len() < 110, "{}", entry.name);
        }
        let unknown = find("newest").err().unwrap();
        assert!(unknown.to_string().contains("index, gamma, uniform"), "{unknown}");
    }

    #[test]
    fn what_is_missing_is_said() {
        for entry in ALL {
            let made = entry.make(&Setup::default());
            let error = made.err();
            if entry.needs_links() {
                assert_eq!(error, Some(Unfit::NeedsLinks(entry.name)));
            } else if entry.needs_truth() {
                assert_eq!(error, Some(Unfit::NeedsTruth(entry.name)));
            } else {
                assert_eq!(error, None);
            }
        }
    }
}
