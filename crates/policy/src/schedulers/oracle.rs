//! `oracle`: knows every change, past and to come. No crawler can be better at the same budget.

use std::collections::BinaryHeap;

use crate::page::{Days, Finding, NEVER, Page, VisitEvidence};
use crate::policy::Policy;
use crate::truth::ChangeTimes;

/// How many classes of worth there are, each within a factor of two.
const CLASSES: usize = 256;

/// Fetches only stale pages, first the one whose copy will then be worth most: the time until it changes
/// again, goes, or all is over, times its weight, over its cost.
///
/// That time falls for all waiting pages alike, so a page keeps its place among those of its worth;
/// worths are told apart to a factor of two. Where all pages are worth the same, nothing is better:
/// were another page fetched now and this one later, the two could change places, and what was lost
/// by waiting would be the same or less.
#[derive(Debug)]
pub(crate) struct Oracle {
    changes: ChangeTimes,
    events: Vec<(Days, u32)>,
    at: usize,
    stale: Vec<BinaryHeap<Stale>>,
}

/// A page that is stale until it is fetched, ranked by when it changes next.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Stale {
    next: Days,
    page: u32,
    worth: f32,
}

impl Oracle {
    /// Knows `changes`.
    pub(crate) fn new(changes: ChangeTimes) -> Self {
        let events = changes.by_time();
        Oracle { changes, events, at: 0, stale: vec![BinaryHeap::new(); CLASSES] }
    }

    fn put(&mut self, page: &Page, now: Days) {
        let next =
            self.changes.next_change(page.id, now).unwrap_or(NEVER).min(self.changes.end(page.id));
        let worth = if page.cost > 0.0 { page.weight / page.cost } else { page.weight };
        self.stale[class(worth)].push(Stale { next, page: page.id, worth });
    }

    /// Takes note of the changes up to `now`.
    fn catch_up(&mut self, now: Days, pages: &[Page]) {
        while let Some(&(at, id)) = self.events.get(self.at).filter(|(at, _)| *at <= now) {
            self.at += 1;
            let stale = |page: &&Page| page.alive && page.last < at;
            if let Some(page) = pages.get(id as usize).filter(stale) {
                self.put(page, at);
            }
        }
    }

    /// Drops what is no longer stale, or changed again and stands further down by its new change.
    fn settle(&mut self, class: usize, now: Days, pages: &[Page]) {
        while let Some(top) = self.stale[class].peek() {
            let page = pages.get(top.page as usize).filter(|page| page.alive);
            let held = page.is_some_and(|page| {
                let fresh =
                    page.is_known() && !self.changes.changed_within(page.id, page.last, now);
                !fresh && top.next > now
            });
            if held {
                return;
            }
            self.stale[class].pop();
        }
    }
}

impl Policy for Oracle {
    fn record_discovery(&mut self, page: &mut Page, now: Days) {
        page.due = NEVER;
        if !page.is_known() || self.changes.changed_within(page.id, page.last, now) {
            self.put(page, now);
        }
    }

    fn record_visit(&mut self, page: &mut Page, seen: &VisitEvidence) {
        if seen.found == Finding::Failed {
            self.put(page, seen.at);
        }
    }

    fn choose_pages(&mut self, now: Days, _room: usize, pages: &[Page], out: &mut Vec<u32>) {
        self.catch_up(now, pages);
        for class in 0..CLASSES {
            self.settle(class, now, pages);
        }
        let worth = |stale: &&Stale| f64::from(stale.worth) * (stale.next.min(1e300) - now);
        let tops = self.stale.iter().filter_map(BinaryHeap::peek);
        let best = tops.max_by(|a, b| worth(a).total_cmp(&worth(b))).copied();
        if let Some(best) = best {
            self.stale[class(best.worth)].pop();
            out.push(best.page);
        }
    }
}

/// The binary exponent of the worth.
fn class(worth: f32) -> usize {
    (worth.max(0.0).to_bits() >> 23) as usize % CLASSES
}

impl Eq for Stale {}

impl Ord for Stale {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.next.total_cmp(&other.next).then(other.page.cmp(&self.page))
    }
}

impl PartialOrd for Stale {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::Visit;
    use crate::testing::World;

    #[test]
    fn fetches_only_what_is_stale_and_lasts_longest_first() {
        // Page 0 changes daily; 1 and 2 once, 1 again soon.
        let daily = (0..9).map(|day| (0, f64::from(day) + 0.1));
        let mut world = World::with_changes(4, daily.chain([(1, 0.2), (2, 0.3), (1, 4.0)]));
        world.fetch_all(0.0);
        let oracle = Oracle::new(world.changes.clone());
        let fetched = world.run(Box::new(oracle), 3, 1);
        assert_eq!(fetched, [1, 1, 1, 0]);
    }

    #[test]
    fn weight_counts() {
        let mut world = World::with_changes(2, [(0, 0.1), (1, 0.1), (0, 10.0), (1, 3.0)]);
        world.fetch_all(0.0);
        world.pages[1].weight = 8.0;
        let oracle = Oracle::new(world.changes.clone());
        assert_eq!(world.run(Box::new(oracle), 1, 1), [0, 1]);
    }

    #[test]
    fn what_goes_soon_or_fails_is_not_misjudged() {
        let world = World::with_changes(2, [(0, 0.1), (1, 0.1), (1, 3.0)]);
        let changes = world.changes.clone().with_ends(vec![1.0, 9.0]);
        let mut oracle = Oracle::new(changes);
        let mut pages = world.pages.clone();
        pages.iter_mut().for_each(|page| page.last = 0.0);
        let mut out = Vec::new();
        oracle.choose_pages(0.5, 9, &pages, &mut out);
        assert_eq!(out, [1], "0 goes before 1 changes again");
        let seen = pages[1].record(&Visit::new(0.5, Finding::Failed));
        oracle.record_visit(&mut pages[1], &seen);
        oracle.choose_pages(0.6, 9, &pages, &mut out);
        assert_eq!(out, [1, 1], "it failed, so it is still stale");
        oracle.choose_pages(2.0, 9, &pages, &mut out);
        assert_eq!(out, [1, 1], "0 is gone");
    }

    #[test]
    fn unknown_pages_are_stale_and_dead_ones_are_left_alone() {
        let mut world = World::still(3);
        world.pages[1].alive = false;
        let oracle = Oracle::new(world.changes.clone());
        assert_eq!(world.run(Box::new(oracle), 2, 5), [1, 0, 1]);
    }
}
