//! Which page is due first? A queue of a million pages that stays out of the memory's way.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::page::Page;

/// The share of the waiting pages that is brought near at a time, and the least number.
const SHARE: usize = 32;
const LEAST: usize = 1024;

/// Pages by due time, in two parts: a small heap of those due soon, and those due later in no order.
///
/// One heap of all pages would miss the cache at every level. Here the few that are near fit into it,
/// and the rest is only ever read from end to end.
#[derive(Debug, Default)]
pub(crate) struct DueQueue {
    near: BinaryHeap<Reverse<Entry>>,
    far: Vec<Entry>,
    /// What is due before this is near.
    horizon: u64,
    /// How many may be far before it is worth leaving out those that are void.
    room: usize,
}

/// A place in the queue. It is void when the page's due time is no longer the one it was made with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Entry {
    due: u64,
    pub(crate) page: u32,
}

impl Entry {
    pub(crate) fn of(page: &Page) -> Self {
        // The bits of a double order like the number once the sign is folded in.
        let bits = page.due.to_bits();
        let due = if bits >> 63 == 1 { !bits } else { bits | 1 << 63 };
        Entry { due, page: page.id }
    }
}

impl DueQueue {
    /// Holds `entries`, at most `most` of them, instead of what it held; all of them far.
    pub(crate) fn refill(&mut self, most: usize, entries: impl Iterator<Item = Entry>) {
        self.near.clear();
        self.far.clear();
        self.horizon = 0;
        // At once, and room for more: growing by itself, it would be held twice meanwhile.
        self.far.reserve_exact(most + most / 4 + 2 * LEAST);
        self.far.extend(entries);
        self.make_room();
    }

    pub(crate) fn push(&mut self, entry: Entry) {
        if entry.due < self.horizon {
            self.near.push(Reverse(entry));
        } else {
            self.far.push(entry);
        }
    }

    /// Takes the entry that is due first.
    pub(crate) fn pop(&mut self) -> Option<Entry> {
        if self.near.is_empty() {
            self.bring_near();
        }
        self.near.pop().map(|Reverse(entry)| entry)
    }

    /// Leaves out the far entries that `is_void` finds, once there may be many of them: they take memory,
    /// and time whenever the nearest are looked for.
    pub(crate) fn tidy(&mut self, is_void: impl Fn(Entry) -> bool) {
        if self.far.len() > self.room {
            self.far.retain(|&entry| !is_void(entry));
            self.make_room();
        }
    }

    fn make_room(&mut self) {
        let more = self.far.len() / 4 + LEAST;
        self.room = self.far.len() + more;
        self.far.reserve_exact(more + LEAST);
    }

    fn bring_near(&mut self) {
        let stay = self.far.len().saturating_sub((self.far.len() / SHARE).max(LEAST));
        if let Some(last) = stay.checked_sub(1) {
            // The latest to the front, so that those to come can be cut off at the end.
            let (_, boundary, _) = self.far.select_nth_unstable_by(last, |a, b| b.cmp(a));
            self.horizon = boundary.due;
        } else {
            self.horizon = u64::MAX;
        }
        self.near.extend(self.far.drain(stay..).map(Reverse));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;
    use std::collections::BTreeSet;

    fn entry(page: u32, due: f64) -> Entry {
        Entry::of(&Page { due, ..Page::new(page) })
    }

    fn filled(entries: impl Iterator<Item = Entry>) -> DueQueue {
        let mut queue = DueQueue::default();
        queue.refill(0, entries);
        queue
    }

    #[test]
    fn due_times_of_either_sign_order() {
        let order = [f64::NEG_INFINITY, -2.0, -1.0, 0.0, 1.0, 2.0, 1e300];
        assert!(order.windows(2).all(|pair| entry(0, pair[0]) < entry(0, pair[1])));
    }

    /// Ten thousand pages, put back at random: what comes out is what a sorted set would give.
    #[test]
    fn takes_turns_like_a_sorted_set() {
        let mut random = SplitMix64::new(9);
        let first: Vec<Entry> = (0..10_000).map(|page| entry(page, random.uniform())).collect();
        let mut queue = filled(first.iter().copied());
        let mut sorted: BTreeSet<Entry> = first.into_iter().collect();
        for _ in 0..60_000 {
            let taken = queue.pop();
            assert_eq!(taken, sorted.pop_first());
            let Some(taken) = taken else { break };
            if random.below(10) > 0 {
                let again = entry(taken.page, random.uniform() * 3.0);
                queue.push(again);
                sorted.insert(again);
            }
        }
        assert!(sorted.len() < 6_000, "it was emptied by a good part");
    }

    #[test]
    fn void_entries_do_not_pile_up() {
        let mut queue = filled((0..5000).map(|page| entry(page, 1.0)));
        for round in 0u32..100 {
            (0..1000).for_each(|page| queue.push(entry(page, f64::from(round + 2))));
            let valid =
                |page: u32| entry(page, if page < 1000 { f64::from(round + 2) } else { 1.0 });
            queue.tidy(|entry| entry != valid(entry.page));
        }
        assert!(queue.far.len() <= 5000 * 5 / 4 + LEAST + 1000, "{}", queue.far.len());
    }

    #[test]
    fn an_empty_queue_stays_usable() {
        let mut queue = DueQueue::default();
        assert_eq!(queue.pop(), None);
        queue.push(entry(1, 5.0));
        assert_eq!(queue.pop(), Some(entry(1, 5.0)));
        assert_eq!(queue.pop(), None);
    }
}
