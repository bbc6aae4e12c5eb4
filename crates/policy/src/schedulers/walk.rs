//! In what order are the sites of a server visited? Tops first, then the members of sites whose top changed.

use std::collections::VecDeque;

use evercrawl_sites::{Lists, Partition};

use crate::page::Page;
use crate::schedulers::worklist::Worklist;

/// A walk over sites: visits the tops of each, then its members if a top had changed.
///
/// A walk may take several rounds when the budget is small: it continues where it stopped.
#[derive(Debug)]
pub(crate) struct SiteWalk {
    partition: Partition,
    /// For each page, the sites that it lies above.
    below: Lists,
    way: Way,
    /// The site whose tops are being looked at.
    open: Option<u32>,
    stage: Worklist,
    /// What this walk has seen of each page.
    marks: Vec<Mark>,
    done: Vec<bool>,
}

/// The sites to look at.
#[derive(Clone, Debug, Default)]
pub(crate) struct Way {
    /// In this order.
    pub(crate) first: VecDeque<u32>,
    /// And the sites below each that changed, right after it.
    pub(crate) follow: bool,
    /// When nothing is left of those, these.
    pub(crate) then: VecDeque<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Mark {
    Unseen,
    Same,
    Changed,
}

impl SiteWalk {
    pub(crate) fn new(partition: Partition, pages: usize) -> Self {
        let above = partition
            .sites()
            .flat_map(|site| partition.parents(site).iter().map(move |&page| (page, site)));
        let (below, sites) = (Lists::new(pages, above), partition.len());
        SiteWalk {
            partition,
            below,
            way: Way::default(),
            open: None,
            stage: Worklist::default(),
            marks: vec![Mark::Unseen; pages],
            done: vec![false; sites],
        }
    }

    pub(crate) fn partition(&self) -> &Partition {
        &self.partition
    }

    /// The sites that lie below `page`.
    pub(crate) fn below(&self, page: u32) -> &[u32] {
        self.below.row(page)
    }

    /// Whether there is nothing left to look at.
    pub(crate) fn is_done(&self) -> bool {
        let Way { first, then, .. } = &self.way;
        first.is_empty() && then.is_empty() && self.open.is_none() && self.stage.is_done()
    }

    /// Starts over, along `way`.
    pub(crate) fn begin(&mut self, way: Way) {
        self.marks.fill(Mark::Unseen);
        self.done.fill(false);
        self.stage = Worklist::default();
        (self.way, self.open) = (way, None);
    }

    /// Goes along another way, with what was seen since it began.
    pub(crate) fn turn_to(&mut self, way: Way) {
        self.way = way;
    }

    /// Goes on in a new round: what the last one named but did not reach is named again.
    pub(crate) fn resume(&mut self) {
        let marks = &self.marks;
        self.stage.reset_done(|id| marks.get(id as usize) == Some(&Mark::Unseen));
    }

    pub(crate) fn visited(&mut self, page: u32, changed: bool) {
        if let Some(mark) = self.marks.get_mut(page as usize) {
            *mark = if changed { Mark::Changed } else { Mark::Same };
        }
    }

    /// Names the next pages: what is left of this stage, or the next one that is not empty.
    pub(crate) fn choose(&mut self, room: usize, pages: &[Page], out: &mut Vec<u32>) {
        let before = out.len();
        loop {
            self.stage.take_pages(room, pages, out);
            if out.len() > before || !self.next_stage(pages) {
                return;
            }
        }
    }

    fn next_stage(&mut self, pages: &[Page]) -> bool {
        if let Some(site) = self.open.take() {
            self.close(site, pages);
            return true;
        }
        let next = self.way.first.pop_front().or_else(|| self.way.then.pop_front());
        let Some(site) = next else { return false };
        if let Some(done @ false) = self.done.get_mut(site as usize) {
            *done = true;
            self.open = Some(site);
            self.stage.set(self.unseen(self.partition.tops(site)));
        }
        true
    }

    /// The tops were visited: if one had changed, its members come next, and the sites below. Members whose tops are
    /// all dead are always visited.
    fn close(&mut self, site: u32, pages: &[Page]) {
        let (tops, members) = (self.partition.tops(site), self.partition.members(site));
        let changed = |top: &u32| self.marks[*top as usize] == Mark::Changed;
        let alive = |top: &u32| pages.get(*top as usize).is_some_and(|page| page.alive);
        if !tops.iter().any(changed) && tops.iter().any(alive) {
            return;
        }
        self.stage.set(self.unseen(members));
        if self.way.follow {
            for &page in tops.iter().chain(members).rev() {
                for &lower in self.below.row(page).iter().rev() {
                    if !self.done[lower as usize] {
                        self.way.first.push_front(lower);
                    }
                }
            }
        }
    }

    fn unseen(&self, pages: &[u32]) -> Vec<u32> {
        let unseen = |id: &u32| self.marks[*id as usize] == Mark::Unseen;
        pages.iter().copied().filter(unseen).collect()
    }
}
