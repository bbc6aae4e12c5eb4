//! Is a budget that several walks share worth more where a common price divides it? By the truth about webs whose pages
//! change at random times, each at a rate of its own.
//!
//! `cargo test --release -p evercrawl-engine --test engine shared_budget:: -- --ignored --nocapture` prints the table of
//! docs/internals/walks.md.

use std::collections::HashMap;
use std::time::Duration;

use evercrawl_engine::rehearsal::{Asked, Rehearsal, Web};
use evercrawl_engine::shared_rehearsal::SharedRehearsal;
use evercrawl_fetch::Fetched;
use evercrawl_model::Time;
use evercrawl_policy::SplitMix64;
use evercrawl_policy::allocate::shares::BudgetSplit;
use evercrawl_state::MemoryStore;

use super::common::fetched;
use super::common::rehearsed::{HOUR, START, TOOK, begun, words};

const DAY: Duration = Duration::from_secs(86_400);

/// Pages that change: how many, and how often a usual one does.
#[derive(Clone, Copy)]
struct Kind {
    pages: usize,
    changes_a_day: f64,
}

/// A site of pages that change, and what the crawler last saw of each.
struct Changing {
    host: String,
    /// When each page changes.
    changes: Vec<Vec<Time>>,
    /// How often each page had changed when it was last fetched.
    seen: HashMap<usize, usize>,
    fetches: u64,
}

impl Changing {
    fn new(number: usize, kind: Kind, days: u32, random: &mut SplitMix64) -> Self {
        let mut times = || {
            // Rates of a site differ: by a factor of e, usually.
            let normal = (0..12).map(|_| random.uniform()).sum::<f64>() - 6.0;
            let rate = kind.changes_a_day * normal.exp();
            let (mut at, mut times) = (0.0, Vec::new());
            loop {
                at += -random.uniform().max(1e-12).ln() / rate;
                if at > f64::from(days) {
                    return times;
                }
                times.push(START.after(Duration::from_secs_f64(at * DAY.as_secs_f64())));
            }
        };
        let changes = (0..kind.pages).map(|_| times()).collect();
        let host = format!("s{number}.test");
        Changing { host, changes, seen: HashMap::new(), fetches: 0 }
    }

    fn version(&self, page: usize, now: Time) -> usize {
        self.changes[page].partition_point(|at| *at <= now)
    }

    /// How many pages are held as they are.
    fn fresh(&self, now: Time) -> usize {
        self.seen.iter().filter(|(page, seen)| self.version(**page, now) == **seen).count()
    }
}

impl Web for Changing {
    fn answer(&mut self, asked: &Asked<'_>, now: Time) -> (Fetched, Duration) {
        self.fetches += 1;
        let path = asked.url.rsplit_once('/').unwrap().1;
        let (status, body) = match path.parse::<usize>() {
            Ok(page) => {
                let version = self.version(page, now);
                self.seen.insert(page, version);
                (200, format!("{page} {} {}", words(page as u64), words(7919 * version as u64 + 1)))
            }
            Err(_) if path.is_empty() => {
                (200, (0..self.changes.len()).map(|n| format!("<a href=/{n}>{n}</a>")).collect())
            }
            Err(_) => (404, String::new()),
        };
        (fetched(status, &[("content-type", "text/html")], body, TOOK), TOOK)
    }
}

/// Mean freshness over all pages of all walks in the last half of the time, and each walk's part of the budget at the
/// end, for a budget of so many visits to each page a day.
fn freshness(
    kinds: &[Kind],
    split: BudgetSplit,
    a_day: f64,
    days: u32,
    seed: u64,
) -> (f64, Vec<f64>) {
    let mut random = SplitMix64::new(seed);
    let dirs: Vec<_> = kinds.iter().map(|_| tempfile::tempdir().unwrap()).collect();
    let walks: Vec<Rehearsal<MemoryStore, Changing>> = kinds
        .iter()
        .enumerate()
        .map(|(n, kind)| {
            let web = Changing::new(n, *kind, days, &mut random);
            let seed = format!("http://{}/", web.host);
            begun(dirs[n].path(), web, &[seed], |config| {
                config.frontier.pace.host = Duration::from_millis(100);
                config.sitemaps = false;
            })
        })
        .collect();
    let all: usize = kinds.iter().map(|kind| kind.pages).sum();
    let rate = a_day * all as f64 / DAY.as_secs_f64();
    let mut shared = SharedRehearsal::new(walks, split, rate, 24 * HOUR);
    let (mut sum, mut looks) = (0.0, 0.0);
    let half = START.after(DAY * days / 2);
    let look = |walks: &[Rehearsal<MemoryStore, Changing>]| {
        let now = walks[0].now();
        if now > half {
            let fresh: usize = walks.iter().map(|walk| walk.web.fresh(now)).sum();
            sum += fresh as f64 / all as f64;
            looks += 1.0;
        }
    };
    shared.run(START.after(DAY * days), look).unwrap();
    let parts = shared.granted().iter().map(|grant| grant / rate).collect();
    (sum / looks, parts)
}

/// Walks of one kind of site each: their sizes and rates differ by two orders of magnitude.
fn unlike(scale: usize) -> Vec<Kind> {
    let kind = |pages, changes_a_day| Kind { pages: pages * scale, changes_a_day };
    vec![
        kind(40, 3.0),
        kind(20, 1.0),
        kind(80, 0.3),
        kind(10, 0.3),
        kind(60, 0.1),
        kind(20, 0.03),
        kind(120, 0.03),
        kind(50, 0.005),
    ]
}

/// Walks over parts of one web.
fn alike(scale: usize) -> Vec<Kind> {
    vec![Kind { pages: 50 * scale, changes_a_day: 0.1 }; 8]
}

#[test]
fn a_common_price_is_worth_more_than_equal_parts() {
    let of = |split| freshness(&unlike(1), split, 0.2, 30, 1).0;
    let (equal, price) = (of(BudgetSplit::Equal), of(BudgetSplit::Price));
    assert!(price > equal + 0.01, "{price} by price, {equal} in equal parts");
}

#[test]
#[ignore = "a measurement, some minutes"]
fn what_divisions_of_a_budget_bring() {
    for (name, kinds) in [("unlike", unlike(5)), ("alike", alike(5))] {
        for a_day in [0.05, 0.2, 0.6] {
            for split in [BudgetSplit::Equal, BudgetSplit::Weight, BudgetSplit::Price] {
                let runs: Vec<_> =
                    (1..=3).map(|seed| freshness(&kinds, split, a_day, 90, seed)).collect();
                let mean = runs.iter().map(|run| run.0).sum::<f64>() / runs.len() as f64;
                let parts: Vec<String> =
                    runs[0].1.iter().map(|part| format!("{:.1}", 100.0 * part)).collect();
                eprintln!("{name} {a_day} {split:?}: {mean:.4}  {}", parts.join(" "));
            }
        }
    }
}
