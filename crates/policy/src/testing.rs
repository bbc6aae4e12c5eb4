//! Tiny worlds to try policies on: pages, their changes, and a clock that is counted up.

use crate::agenda::Agenda;
use crate::page::{Days, Finding, Page, Visit};
use crate::policy::{Policy, Round};
use crate::random::SplitMix64;
use crate::truth::ChangeTimes;

/// Pages that change when they are told to.
pub(crate) struct World {
    pub(crate) pages: Vec<Page>,
    pub(crate) changes: ChangeTimes,
}

impl World {
    /// `pages` pages that never change.
    pub(crate) fn still(pages: u32) -> Self {
        World::with_changes(pages, [])
    }

    /// `pages` pages that change at the given times.
    pub(crate) fn with_changes(pages: u32, changes: impl IntoIterator<Item = (u32, Days)>) -> Self {
        let changes: Vec<_> = changes.into_iter().collect();
        let changes = ChangeTimes::new(pages as usize, &changes);
        World { pages: (0..pages).map(Page::new).collect(), changes }
    }

    /// Gives every page a copy made at `at`.
    pub(crate) fn fetch_all(&mut self, at: Days) {
        self.pages.iter_mut().for_each(|page| page.last = at);
    }

    /// What a visit of `page` at `at` would find.
    pub(crate) fn visit(&self, page: &Page, at: Days) -> Visit {
        let changed = !page.is_known() || self.changes.changed_within(page.id, page.last, at);
        Visit::new(at, if changed { Finding::Changed } else { Finding::Same })
    }

    /// Runs `policy` for daily rounds of `budget` fetches and counts the fetches of each page.
    pub(crate) fn run(&mut self, policy: Box<dyn Policy>, days: u32, budget: usize) -> Vec<usize> {
        let mut agenda = Agenda::new(policy, self.pages.clone(), 0.0);
        let mut fetched = vec![0; self.pages.len()];
        for day in 0..days {
            let round = Round { start: f64::from(day), length: 1.0, fetches: budget };
            agenda.begin_round(&round);
            for slot in 0..budget {
                let now = round.start + (slot as f64 + 0.5) / budget as f64;
                let Some(id) = agenda.next_page(now) else { break };
                fetched[id as usize] += 1;
                let visit = self.visit(&agenda.pages()[id as usize], now);
                agenda.record_visit(id, &visit);
            }
            assert_eq!(agenda.next_page(round.start + 1.0), None, "asked for more than the budget");
        }
        self.pages = agenda.pages().to_vec();
        fetched
    }

    /// Runs one round of a policy in rounds, all of it at `now`, and tells which pages it fetched.
    pub(crate) fn round(
        &mut self,
        policy: &mut dyn Policy,
        now: Days,
        budget: usize,
        mut fetched: impl FnMut(u32),
    ) {
        policy.plan_round(&Round { start: now, length: 1.0, fetches: budget }, &mut self.pages);
        let mut room = budget;
        let mut chosen = Vec::new();
        while room > 0 {
            chosen.clear();
            policy.choose_pages(now, room, &self.pages, &mut chosen);
            assert!(chosen.len() <= room, "asked for more than the budget");
            if chosen.is_empty() {
                break;
            }
            for &id in &chosen {
                let visit = self.visit(&self.pages[id as usize], now);
                let page = &mut self.pages[id as usize];
                let seen = page.record(&visit);
                policy.record_visit(page, &seen);
                fetched(id);
            }
            room -= chosen.len();
        }
    }
}

/// Whether all are the same.
pub(crate) fn all_equal(values: impl IntoIterator<Item = usize>) -> bool {
    let mut values = values.into_iter();
    let first = values.next();
    values.all(|value| Some(value) == first)
}

/// A part of the reference values; `None`, said aloud, where they are not at hand.
pub(crate) fn golden(part: &str) -> Option<serde_json::Value> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/golden/scheduling.json");
    let Ok(text) = std::fs::read_to_string(path) else {
        eprintln!("SKIPPED: no reference values at {path}");
        return None;
    };
    let all: serde_json::Value = serde_json::from_str(&text).expect("reference values are JSON");
    Some(all[part].clone())
}

/// The freshness of pages that change at random, averaged over pages and the days after `from`, when
/// `policy` makes `budget` fetches a day. What visits find is drawn; given the visits, the freshness
/// is its exact expectation.
pub(crate) fn expected_freshness(
    policy: Box<dyn Policy>,
    rates: &[f64],
    budget: usize,
    days: u32,
    from: u32,
) -> f64 {
    let pages = (0..rates.len() as u32).map(|id| Page { last: 0.0, ..Page::new(id) });
    let mut agenda = Agenda::new(policy, pages.collect(), 0.0);
    let mut random = SplitMix64::new(7);
    let mut fresh = 0.0;
    let mut add = |rate: f64, last: Days, until: Days| {
        let fresh_until = |t: Days| -(-rate * (t - last)).exp_m1() / rate;
        fresh += fresh_until(until) - fresh_until(last.max(f64::from(from)).min(until));
    };
    for day in 0..days {
        agenda.begin_round(&Round { start: f64::from(day), length: 1.0, fetches: budget });
        for slot in 0..budget {
            let now = f64::from(day) + slot as f64 / budget as f64;
            let Some(id) = agenda.next_page(now) else { break };
            let (rate, last) = (rates[id as usize], agenda.pages()[id as usize].last);
            add(rate, last, now);
            let same = random.uniform() < (-rate * (now - last)).exp();
            agenda.record_visit(
                id,
                &Visit::new(now, if same { Finding::Same } else { Finding::Changed }),
            );
        }
    }
    for page in agenda.pages() {
        add(rates[page.id as usize], page.last, f64::from(days));
    }
    fresh / f64::from(days - from) / rates.len() as f64
}
