//! What every policy owes whoever drives it, tried on random small worlds: it keeps to the budget,
//! leaves dead pages alone, does the same thing twice, and gets round to every page.
#![allow(clippy::expect_used, reason = "a test stops at what it did not expect")]

use std::collections::HashSet;

use evercrawl_policy::registry::{ALL, Entry, Setup};
use evercrawl_policy::{
    Agenda, ChangeTimes, Days, Finding, Page, Policy, Round, SplitMix64, Visit, VisitEvidence,
};
use evercrawl_sites::Server;
use proptest::prelude::*;

/// These fetch what they rank highest round after round: that is what they are compared for.
const NARROW: [&str; 2] = ["bfs", "chile-literal"];

#[derive(Clone, Debug)]
struct World {
    pages: u32,
    hosts: u32,
    links: Vec<(u32, u32)>,
    changes: Vec<(u32, Days)>,
    dies: Vec<(u32, Days)>,
    seed: u64,
}

fn any_world() -> impl Strategy<Value = World> {
    (2u32..30, 1u32..4, any::<u64>()).prop_flat_map(|(pages, hosts, seed)| {
        let links = proptest::collection::vec((0..pages, 0..pages), 1..60);
        let changes = proptest::collection::vec((0..pages, 0.0..40.0), 0..80);
        let dies = proptest::collection::vec((0..pages, 0.0..40.0), 0..4);
        (links, changes, dies).prop_map(move |(mut links, changes, dies)| {
            links.push((0, 1));
            World { pages, hosts, links, changes, dies, seed }
        })
    })
}

impl World {
    fn policy(&self, entry: &Entry) -> Box<dyn Policy> {
        let directories: Vec<u32> = (0..self.pages).map(|page| page % 5).collect();
        let server = Server::new(&directories, &self.links, &[0]);
        let changes = ChangeTimes::new(self.pages as usize, &self.changes);
        let rates: Vec<f64> =
            (0..self.pages).map(|p| changes.changes_of(p).count() as f64 / 40.0).collect();
        let setup = Setup {
            server: Some(&server),
            rates: Some(&rates),
            changes: Some(&changes),
            seed: self.seed,
            ..Setup::default()
        };
        entry.make(&setup).expect("everything is offered")
    }

    fn pages(&self) -> Vec<Page> {
        let page = |id| Page { host: id % self.hosts, group: id % 5, ..Page::new(id) };
        (0..self.pages).map(page).collect()
    }

    fn visit(&self, page: &Page, changes: &ChangeTimes, at: Days) -> Visit {
        if self.dies.iter().any(|&(id, when)| id == page.id && when <= at) {
            return Visit::new(at, Finding::Gone);
        }
        let changed = !page.is_known() || changes.changed_within(page.id, page.last, at);
        Visit::new(at, if changed { Finding::Changed } else { Finding::Same })
    }

    /// Runs a policy for `days` rounds of a day and lists what was fetched when.
    fn run(&self, entry: &Entry, days: u32, budget: usize) -> Vec<(u32, u32)> {
        let changes = ChangeTimes::new(self.pages as usize, &self.changes);
        let policy = Box::new(Checked(self.policy(entry)));
        let mut agenda = Agenda::new(policy, self.pages(), 0.0);
        let mut fetched = Vec::new();
        for day in 0..days {
            agenda.begin_round(&Round { start: f64::from(day), length: 1.0, fetches: budget });
            for slot in 0.. {
                let now = f64::from(day) + f64::from(slot) / (budget + 1) as f64;
                let Some(id) = agenda.next_page(now) else { break };
                assert!(agenda.pages()[id as usize].alive, "{}: a dead page", entry.name);
                fetched.push((day, id));
                let visit = self.visit(&agenda.pages()[id as usize], &changes, now);
                agenda.record_visit(id, &visit);
            }
            let today = fetched.iter().filter(|(when, _)| *when == day).count();
            assert!(today <= budget, "{}: {today} of {budget}", entry.name);
        }
        fetched
    }
}

/// A policy under watch: what it names must be within room, alive, and named once.
struct Checked(Box<dyn Policy>);

impl Policy for Checked {
    fn record_discovery(&mut self, page: &mut Page, now: Days) {
        self.0.record_discovery(page, now);
        assert!(!page.due.is_nan());
    }

    fn record_visit(&mut self, page: &mut Page, seen: &VisitEvidence) {
        self.0.record_visit(page, seen);
        assert!(!page.due.is_nan());
    }

    fn due(&self, page: &Page, now: Days) -> Days {
        self.0.due(page, now)
    }

    fn plan_round(&mut self, round: &Round, pages: &mut [Page]) -> bool {
        self.0.plan_round(round, pages)
    }

    fn choose_pages(&mut self, now: Days, room: usize, pages: &[Page], out: &mut Vec<u32>) {
        assert!(out.is_empty());
        self.0.choose_pages(now, room, pages, out);
        assert!(out.len() <= room, "{} named, room for {room}", out.len());
        let once: HashSet<u32> = out.iter().copied().collect();
        assert_eq!(once.len(), out.len(), "named twice: {out:?}");
        assert!(out.iter().all(|&id| pages[id as usize].alive), "named a dead page: {out:?}");
    }

    fn record_gone(&mut self, page: &Page) {
        self.0.record_gone(page);
    }

    fn failures_until_dead(&self) -> u8 {
        self.0.failures_until_dead()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn every_policy_keeps_the_contract(world in any_world(), budget in 0usize..8) {
        for entry in ALL {
            let first = world.run(entry, 30, budget);
            prop_assert_eq!(&first, &world.run(entry, 30, budget), "{} differs from itself", entry.name);
        }
    }

    #[test]
    fn every_page_is_visited_in_the_end(world in any_world(), budget in 2usize..8) {
        for entry in ALL.iter().filter(|entry| !NARROW.contains(&entry.name)) {
            // Some spend most of a small budget on pages that they know: they get the time that takes.
            let fetched = world.run(entry, 600_u32.div_ceil(budget as u32).max(120), budget);
            let visited: HashSet<u32> = fetched.iter().map(|&(_, id)| id).collect();
            prop_assert_eq!(visited.len(), world.pages as usize, "{}", entry.name);
        }
    }

    #[test]
    fn nonsense_is_survived(seed in any::<u64>()) {
        let odd = [0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, 1e-300, 3.0];
        let world = World {
            pages: 12,
            hosts: 2,
            links: vec![(0, 1), (1, 2), (2, 0), (5, 6)],
            changes: odd.iter().map(|&at| (3, at)).collect(),
            dies: Vec::new(),
            seed,
        };
        let mut random = SplitMix64::new(seed);
        for entry in ALL {
            let mut pages = world.pages();
            for page in &mut pages {
                page.weight = odd[random.below(odd.len())] as f32;
                page.cost = odd[random.below(odd.len())] as f32;
                page.last = odd[random.below(odd.len())];
            }
            let mut agenda = Agenda::new(world.policy(entry), pages, odd[random.below(odd.len())]);
            for _ in 0..6 {
                let (start, length) = (odd[random.below(odd.len())], odd[random.below(odd.len())]);
                agenda.begin_round(&Round { start, length, fetches: random.below(6) });
                while let Some(id) = agenda.next_page(odd[random.below(odd.len())]) {
                    let modified = Some(odd[random.below(odd.len())]);
                    let found = [Finding::Same, Finding::Changed, Finding::Failed][random.below(3)];
                    let at = odd[random.below(odd.len())];
                    agenda.record_visit(id, &Visit { at, finding: found, modified, new_links: 1 });
                    agenda.record_signal(random.below(20) as u32, at);
                }
            }
        }
    }
}
