//! What comes next in a queue on disk? A window onto it in memory.
//!
//! A queue is only read forwards. Entries that were taken lately leave markers on disk, and reading the queue from
//! its beginning would pass over each of them. So an entry that is queued before the position read so far goes
//! straight into the window.

use std::collections::VecDeque;

/// How many entries are read at once.
pub(super) const READ_LENGTH: usize = 32;

/// The next entries of a queue, due or not, and how far the queue was read.
pub(super) struct Window<T> {
    entries: VecDeque<T>,
    /// All entries up to this one were read: they are in the window, or were taken.
    read_to: Option<T>,
    /// True when no entry is left behind the window.
    exhausted: bool,
}

impl<T> Default for Window<T> {
    fn default() -> Self {
        Window { entries: VecDeque::new(), read_to: None, exhausted: false }
    }
}

impl<T: Copy + Ord> Window<T> {
    /// The next entry. Calls `read` for the entries after the last one read, when none is in memory. The entry may
    /// have left the queue since then: the caller checks.
    pub(super) fn first<E>(
        &mut self,
        read: impl FnOnce(Option<T>) -> Result<Vec<T>, E>,
    ) -> Result<Option<T>, E> {
        if self.entries.is_empty() && !self.exhausted {
            self.entries = read(self.read_to)?.into();
            self.exhausted = self.entries.is_empty();
            self.read_to = self.entries.back().copied().or(self.read_to);
        }
        Ok(self.entries.front().copied())
    }

    /// Removes the next entry.
    pub(super) fn pop(&mut self) {
        self.entries.pop_front();
    }

    /// Inserts an entry that was queued, unless it lies behind the window and will be read later.
    pub(super) fn insert(&mut self, entry: T) {
        if self.read_to.is_none_or(|last| last < entry) {
            self.exhausted = false;
            return;
        }
        if let Err(place) = self.entries.binary_search(&entry) {
            self.entries.insert(place, entry);
        }
        if self.entries.len() > 2 * READ_LENGTH {
            self.entries.truncate(READ_LENGTH);
            self.read_to = self.entries.back().copied();
            self.exhausted = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn read(queue: &BTreeSet<u32>, after: Option<u32>) -> Result<Vec<u32>, ()> {
        let from = after.map_or(0, |last| last + 1);
        Ok(queue.range(from..).take(READ_LENGTH).copied().collect())
    }

    #[test]
    fn what_comes_before_the_place_that_was_read_up_to_is_not_read_again() {
        let mut window = Window::default();
        assert_eq!(window.first(|_| Ok::<_, ()>(vec![10, 20])), Ok(Some(10)));
        for entry in [15, 5, 10] {
            window.insert(entry);
        }
        for expected in [5, 10, 15, 20] {
            assert_eq!(window.first(|_| Err("read")), Ok(Some(expected)));
            window.pop();
        }
        window.insert(7);
        assert_eq!(window.first(|_| Err("read")), Ok(Some(7)));
        window.pop();
        assert_eq!(window.first(Err), Err(Some(20)), "what lies behind is");
    }

    #[test]
    fn an_end_that_was_reached_is_believed_until_something_comes_behind_it() {
        let mut window = Window::default();
        assert_eq!(window.first(|_| Ok::<_, &str>(Vec::new())), Ok(None));
        assert_eq!(window.first(|_| Err("read")), Ok(None));
        window.insert(3);
        assert_eq!(window.first(|_| Ok::<_, &str>(vec![3])), Ok(Some(3)));
    }

    proptest! {
        /// In any order of arrivals and removals, the first of the window is the first of the queue, and the window
        /// stays small.
        #[test]
        fn a_window_shows_what_its_queue_has(coming in proptest::collection::vec((0u32..500, any::<bool>()), 0..600)) {
            let (mut window, mut queue) = (Window::default(), BTreeSet::new());
            for (entry, takes) in coming {
                if queue.insert(entry) {
                    window.insert(entry);
                }
                if takes {
                    prop_assert_eq!(window.first(|after| read(&queue, after)), Ok(queue.first().copied()));
                    window.pop();
                    queue.pop_first();
                }
                prop_assert!(window.entries.len() <= 2 * READ_LENGTH);
            }
        }
    }
}
