//! Which pages belong to a group? Asked when what was found on some of them concerns the others.

use crate::numbers::ByNumber;
use crate::page::{Group, Page};

/// The pages of every group; empty until it is needed for the first time, as few policies need it.
#[derive(Debug, Default)]
pub(crate) struct Members {
    of: ByNumber<Vec<u32>, Group>,
}

impl Members {
    /// Takes in all pages, unless it has them.
    pub(crate) fn gather(&mut self, pages: &[Page]) {
        if self.of.is_empty() {
            // Counted first: lists that grow one by one leave much memory behind.
            let mut sizes: ByNumber<usize, Group> = ByNumber::default();
            pages.iter().flat_map(Page::groups).for_each(|g| *sizes.entry(g).or_default() += 1);
            self.of = sizes.into_iter().map(|(g, size)| (g, Vec::with_capacity(size))).collect();
            pages.iter().for_each(|page| self.put(page));
        }
    }

    /// Takes in a page that is new, if it has the others.
    pub(crate) fn add(&mut self, page: &Page) {
        if !self.of.is_empty() {
            self.put(page);
        }
    }

    pub(crate) fn of(&self, group: Group) -> &[u32] {
        self.of.get(&group).map_or(&[], Vec::as_slice)
    }

    fn put(&mut self, page: &Page) {
        for group in page.groups() {
            self.of.entry(group).or_default().push(page.id);
        }
    }
}
