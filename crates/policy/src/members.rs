//! Which pages belong to a group? Needed when evidence on some of them concerns the others.

use std::ops::Range;

use crate::numbers::ByNumber;
use crate::page::{Group, Page};

/// The pages of every group; built on first use, since few policies need it.
#[derive(Debug, Default)]
pub(crate) struct Members {
    of: ByNumber<Vec<Range<u32>>, Group>,
}

impl Members {
    /// Adds all pages, unless that was done.
    pub(crate) fn gather(&mut self, pages: &[Page]) {
        if self.of.is_empty() {
            pages.iter().for_each(|page| self.put(page));
            // Lists that grow one by one would leave much memory unused.
            self.of.values_mut().for_each(Vec::shrink_to_fit);
        }
    }

    /// Adds a new page, if the others were added.
    pub(crate) fn add(&mut self, page: &Page) {
        if !self.of.is_empty() {
            self.put(page);
        }
    }

    /// Their numbers, ascending.
    pub(crate) fn of(&self, group: Group) -> impl Iterator<Item = u32> + '_ {
        self.of.get(&group).into_iter().flatten().cloned().flatten()
    }

    /// Pages of a group mostly have consecutive numbers: a range takes no more room than one page.
    fn put(&mut self, page: &Page) {
        for group in page.groups() {
            let rows = self.of.entry(group).or_default();
            match rows.last_mut() {
                Some(row) if row.end == page.id => row.end += 1,
                _ => rows.push(page.id..page.id + 1),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_those_that_were_put_in_whether_or_not_they_follow_each_other() {
        let page = |id: u32| Page { group: u32::from(id % 10 > 6), ..Page::new(id) };
        let pages: Vec<Page> = (0..100).map(page).collect();
        let mut members = Members::default();
        members.add(&page(7));
        members.gather(&pages);
        members.add(&page(100));
        for number in [0, 1] {
            let is_member = |page: &&Page| page.group == number;
            let wanted: Vec<u32> = (0..=100).filter(|&id| is_member(&&page(id))).collect();
            let group = pages.iter().find(is_member).and_then(|page| page.groups().next());
            assert_eq!(group.map(|group| members.of(group).collect()), Some(wanted));
        }
    }
}
