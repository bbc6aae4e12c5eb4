//! Which page is due first? A queue for millions of pages that is sparing with memory accesses.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::page::Page;

/// The part of the queued pages that is sorted at a time, and the least number.
const SHARE: usize = 32;
const LEAST: usize = 1024;

/// The share of stale entries among the far ones before they are removed.
const SPARE: usize = 8;

/// How many upcoming pages are announced at a time, and how many fetches ahead.
const AHEAD: usize = 16;

/// Pages by due time, in four parts: the few that come next, those due soon in order, a small heap of those that
/// joined them since, and those due later in no order.
///
/// One heap of all pages would miss the cache at every level. Here the large part is only ever read from end to end.
#[derive(Debug, Default)]
pub(crate) struct DueQueue {
    /// In order; all other entries come later.
    next: VecDeque<Entry>,
    /// How many of these were added by the last call.
    added: usize,
    /// In reverse order.
    near: Vec<Entry>,
    joined: BinaryHeap<Reverse<Entry>>,
    far: Vec<Entry>,
    /// Entries before this are near.
    horizon: Entry,
    /// How many far entries there may be before stale ones are removed.
    room: usize,
}

/// An entry: a due time, to about a second, above the number of a page. It is stale when the page's due time has
/// moved.
///
/// Half the size of the two values, and compared in one operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Entry(u64);

impl Entry {
    pub(crate) fn of(page: &Page) -> Self {
        /// Ticks per day, and how many days before 0 can be represented: 45 years; after 0, 134.
        const TICKS: f64 = 65_536.0;
        const BEFORE: f64 = 16_384.0;
        // Casts saturate: values out of range come first, or last.
        let due = ((page.due + BEFORE) * TICKS) as u32;
        Entry(u64::from(due) << 32 | u64::from(page.id))
    }

    pub(crate) fn page(self) -> u32 {
        self.0 as u32
    }
}

impl DueQueue {
    /// Replaces all entries by `entries`, at most `most` of them; all of them far.
    pub(crate) fn refill(&mut self, most: usize, entries: impl Iterator<Item = Entry>) {
        self.next.clear();
        self.near.clear();
        self.joined.clear();
        self.far.clear();
        self.horizon = Entry(0);
        // Allocated at once, with reserve: growing by itself, the list would exist twice meanwhile.
        self.far.reserve_exact(most + most / SPARE + 2 * LEAST);
        self.far.extend(entries);
        self.make_room();
    }

    pub(crate) fn push(&mut self, entry: Entry) {
        if self.next.back().is_some_and(|last| entry < *last) {
            self.jump_in(entry);
        } else if entry < self.horizon {
            self.joined.push(Reverse(entry));
        } else {
            self.far.push(entry);
        }
    }

    /// Takes the entry that is due first.
    pub(crate) fn pop(&mut self) -> Option<Entry> {
        let before = self.next.len();
        if before <= AHEAD {
            self.reach_ahead();
        }
        self.added = self.next.len() - before;
        self.next.pop_front()
    }

    /// Now and then, some entries that come soon.
    pub(crate) fn coming(&self) -> impl Iterator<Item = Entry> + '_ {
        self.next.iter().rev().take(self.added).copied()
    }

    fn reach_ahead(&mut self) {
        for _ in 0..AHEAD {
            let Some(entry) = self.take() else { return };
            self.next.push_back(entry);
        }
    }

    /// Inserts an entry before others that come next. The part stays small: its last entry makes room.
    fn jump_in(&mut self, entry: Entry) {
        let place = self.next.partition_point(|other| *other < entry);
        self.next.insert(place, entry);
        if self.next.len() > 2 * AHEAD {
            self.joined.extend(self.next.pop_back().map(Reverse));
        }
    }

    /// Takes the first of the entries that do not come next.
    fn take(&mut self) -> Option<Entry> {
        if self.near.is_empty() && self.joined.is_empty() {
            self.bring_near();
        }
        match (self.near.last(), self.joined.peek()) {
            (Some(near), Some(Reverse(joined))) if joined < near => {}
            (Some(_), _) => return self.near.pop(),
            (None, _) => {}
        }
        self.joined.pop().map(|Reverse(entry)| entry)
    }

    /// Removes far entries that are stale, once there may be many of them: they take memory, and time whenever the
    /// nearest are searched.
    pub(crate) fn tidy(&mut self, is_void: impl Fn(Entry) -> bool) {
        if self.far.len() > self.room {
            self.far.retain(|&entry| !is_void(entry));
            self.make_room();
        }
    }

    fn make_room(&mut self) {
        let more = self.far.len() / SPARE + LEAST;
        self.room = self.far.len() + more;
        self.far.reserve_exact(more + LEAST);
    }

    fn bring_near(&mut self) {
        let stay = self.far.len().saturating_sub((self.far.len() / SHARE).max(LEAST));
        if let Some(last) = stay.checked_sub(1) {
            // The latest first, so that those to come can be cut off at the end.
            let (_, boundary, _) = self.far.select_nth_unstable_by(last, |a, b| b.cmp(a));
            self.horizon = *boundary;
        } else {
            self.horizon = Entry(u64::MAX);
        }
        self.near.extend(self.far.drain(stay..));
        self.near.sort_unstable_by(|a, b| b.cmp(a));
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
        let order = [f64::NEG_INFINITY, -2.0, -1.0, 0.0, 2e-5, 1.0, 20_000.0, 1e300];
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
                let again = entry(taken.page(), random.uniform() * 3.0);
                queue.push(again);
                sorted.insert(again);
            }
        }
        assert!(sorted.len() < 6_000, "it was emptied by a good part");
    }

    #[test]
    fn what_comes_next_is_told_before_it_comes() {
        let mut queue = filled((0..5000).map(|page| entry(page, f64::from(page % 977))));
        let (mut told, mut foretold) = (BTreeSet::new(), 0);
        for _ in 0..900 {
            let taken = queue.pop();
            foretold += usize::from(taken.is_some_and(|entry| told.contains(&entry)));
            told.extend(queue.coming());
        }
        assert!(foretold > 800, "{foretold}");
    }

    #[test]
    fn void_entries_do_not_pile_up() {
        let mut queue = filled((0..5000).map(|page| entry(page, 1.0)));
        for round in 0u32..100 {
            (0..1000).for_each(|page| queue.push(entry(page, f64::from(round + 2))));
            let valid =
                |page: u32| entry(page, if page < 1000 { f64::from(round + 2) } else { 1.0 });
            queue.tidy(|entry| entry != valid(entry.page()));
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
