//! When did each page really change? Only for references, which know more than any crawler can.

use evercrawl_sites::Lists;

use crate::page::{Days, NEVER};

/// The times of all changes of all pages, past and future.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChangeTimes {
    order: Lists,
    times: Vec<Days>,
    ends: Vec<Days>,
}

impl ChangeTimes {
    /// Takes `(page, time)` pairs in any order; ignores unknown pages and times that are not finite.
    pub fn new(pages: usize, changes: &[(u32, Days)]) -> Self {
        let mut changes: Vec<(u32, Days)> = changes
            .iter()
            .copied()
            .filter(|&(page, at)| at.is_finite() && (page as usize) < pages)
            .collect();
        changes.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        let places = changes.iter().zip(0u32..).map(|(&(page, _), place)| (page, place));
        let order = Lists::new(pages, places);
        ChangeTimes {
            order,
            times: changes.into_iter().map(|(_, at)| at).collect(),
            ends: Vec::new(),
        }
    }

    /// The same, with an end for each page after which its changes do not count: it disappeared, or the run is over.
    pub fn with_ends(self, ends: Vec<Days>) -> Self {
        ChangeTimes { ends, ..self }
    }

    /// The end of a page.
    pub fn end(&self, page: u32) -> Days {
        self.ends.get(page as usize).copied().unwrap_or(NEVER)
    }

    /// How many pages there are.
    pub fn pages(&self) -> usize {
        self.order.len()
    }

    /// The change times of `page`, ascending.
    pub fn changes_of(&self, page: u32) -> impl DoubleEndedIterator<Item = Days> {
        self.order.row(page).iter().map(|&place| self.times[place as usize])
    }

    /// The change number `n` of `page`, from 0.
    pub fn nth_change(&self, page: u32, n: usize) -> Option<Days> {
        self.order.row(page).get(n).map(|&place| self.times[place as usize])
    }

    /// When `page` first changes after `now`.
    pub fn next_change(&self, page: u32, now: Days) -> Option<Days> {
        let places = self.order.row(page);
        let after = places.partition_point(|&place| self.times[place as usize] <= now);
        places.get(after).map(|&place| self.times[place as usize])
    }

    /// Whether `page` changed after `from`, up to and including `to`.
    pub fn changed_within(&self, page: u32, from: Days, to: Days) -> bool {
        self.next_change(page, from).is_some_and(|at| at <= to)
    }

    /// All `(time, page)`, by time.
    pub(crate) fn by_time(&self) -> Vec<(Days, u32)> {
        let mut pages = vec![0; self.times.len()];
        for (page, place) in self.order.pairs() {
            pages[place as usize] = page;
        }
        self.times.iter().copied().zip(pages).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_next_change_and_what_lies_between() {
        let changes = ChangeTimes::new(3, &[(1, 5.0), (0, 2.0), (1, 1.0), (1, f64::NAN), (9, 3.0)]);
        assert_eq!(changes.changes_of(1).collect::<Vec<_>>(), [1.0, 5.0]);
        assert_eq!((changes.nth_change(1, 1), changes.nth_change(1, 2)), (Some(5.0), None));
        assert_eq!(changes.next_change(1, 1.0), Some(5.0));
        assert_eq!(changes.next_change(1, 0.0), Some(1.0));
        assert_eq!((changes.next_change(1, 5.0), changes.next_change(2, 0.0)), (None, None));
        assert!(changes.changed_within(1, 1.0, 5.0) && !changes.changed_within(1, 1.0, 4.9));
        assert_eq!(changes.next_change(77, 0.0), None);
    }
}
