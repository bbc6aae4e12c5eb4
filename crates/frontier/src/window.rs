//! What comes next in a queue on disk? A window on it in memory.
//!
//! A queue is read forwards only. What was taken from it lately is marked on disk, and to read it from its
//! beginning again is to pass over every one of these marks; so whatever comes to wait before the place that
//! was read up to goes into the window at once.

use std::collections::VecDeque;

/// How many entries are read at once.
pub(super) const LENGTH: usize = 32;

/// The next entries of a queue, due or not, and how far it was read.
pub(super) struct Window<T> {
    entries: VecDeque<T>,
    /// All entries up to this one were read: they are in the window, or taken.
    read_to: Option<T>,
    /// True when nothing is left behind the window.
    dry: bool,
}

impl<T> Default for Window<T> {
    fn default() -> Self {
        Window { entries: VecDeque::new(), read_to: None, dry: false }
    }
}

impl<T: Copy + Ord> Window<T> {
    /// The next entry; `read` is asked for those behind the last that was read, where none is in memory. It may have left
    /// the queue since it was read: whoever takes it will see.
    pub(super) fn first<E>(
        &mut self,
        read: impl FnOnce(Option<T>) -> Result<Vec<T>, E>,
    ) -> Result<Option<T>, E> {
        if self.entries.is_empty() && !self.dry {
            self.entries = read(self.read_to)?.into();
            self.dry = self.entries.is_empty();
            self.read_to = self.entries.back().copied().or(self.read_to);
        }
        Ok(self.entries.front().copied())
    }

    /// Takes the next entry out.
    pub(super) fn pop(&mut self) {
        self.entries.pop_front();
    }

    /// An entry came to wait: among those that were read, or to be read in its turn.
    pub(super) fn take_in(&mut self, entry: T) {
        if self.read_to.is_none_or(|last| last < entry) {
            self.dry = false;
            return;
        }
        if let Err(place) = self.entries.binary_search(&entry) {
            self.entries.insert(place, entry);
        }
        if self.entries.len() > 2 * LENGTH {
            self.entries.truncate(LENGTH);
            self.read_to = self.entries.back().copied();
            self.dry = false;
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
        Ok(queue.range(from..).take(LENGTH).copied().collect())
    }

    #[test]
    fn what_comes_before_the_place_that_was_read_up_to_is_not_read_again() {
        let mut window = Window::default();
        assert_eq!(window.first(|_| Ok::<_, ()>(vec![10, 20])), Ok(Some(10)));
        for entry in [15, 5, 10] {
            window.take_in(entry);
        }
        for expected in [5, 10, 15, 20] {
            assert_eq!(window.first(|_| Err("read")), Ok(Some(expected)));
            window.pop();
        }
        window.take_in(7);
        assert_eq!(window.first(|_| Err("read")), Ok(Some(7)));
        window.pop();
        assert_eq!(window.first(Err), Err(Some(20)), "what lies behind is");
    }

    #[test]
    fn an_end_that_was_reached_is_believed_until_something_comes_behind_it() {
        let mut window = Window::default();
        assert_eq!(window.first(|_| Ok::<_, &str>(Vec::new())), Ok(None));
        assert_eq!(window.first(|_| Err("read")), Ok(None));
        window.take_in(3);
        assert_eq!(window.first(|_| Ok::<_, &str>(vec![3])), Ok(Some(3)));
    }

    proptest! {
        /// Whatever comes and goes in any order: the first of the window is the first of the queue, and a window stays small.
        #[test]
        fn a_window_shows_what_its_queue_has(coming in proptest::collection::vec((0u32..500, any::<bool>()), 0..600)) {
            let (mut window, mut queue) = (Window::default(), BTreeSet::new());
            for (entry, takes) in coming {
                if queue.insert(entry) {
                    window.take_in(entry);
                }
                if takes {
                    prop_assert_eq!(window.first(|after| read(&queue, after)), Ok(queue.first().copied()));
                    window.pop();
                    queue.pop_first();
                }
                prop_assert!(window.entries.len() <= 2 * LENGTH);
            }
        }
    }
}
