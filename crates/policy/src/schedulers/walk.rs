//! In what order are the sites of a server looked at: tops first, then the members of those whose
//! top changed?

use evercrawl_sites::Partition;

use crate::page::Page;
use crate::schedulers::worklist::Worklist;

/// A walk over sites: looks at the tops of each, then at its members if one of the tops had changed.
///
/// A walk may take several rounds where the budget is small: it goes on where it stopped.
#[derive(Debug)]
pub(crate) struct SiteWalk {
    partition: Partition,
    order: Vec<Stop>,
    at: usize,
    /// The site whose tops are being looked at.
    open: Option<u32>,
    stage: Worklist,
    /// What this walk has seen of each page.
    marks: Vec<Mark>,
    /// Whether each page lies in a site whose top changed during this walk.
    stirred: Vec<bool>,
    done: Vec<bool>,
}

/// A site to look at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stop {
    pub(crate) site: u32,
    /// Only if a site above it has changed during this walk, or nothing lies above it.
    pub(crate) gated: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Mark {
    Unseen,
    Same,
    Changed,
}

impl SiteWalk {
    pub(crate) fn new(partition: Partition, pages: usize) -> Self {
        let sites = partition.len();
        SiteWalk {
            partition,
            order: Vec::new(),
            at: 0,
            open: None,
            stage: Worklist::default(),
            marks: vec![Mark::Unseen; pages],
            stirred: vec![false; pages],
            done: vec![false; sites],
        }
    }

    pub(crate) fn partition(&self) -> &Partition {
        &self.partition
    }

    /// Whether every site has had its turn.
    pub(crate) fn is_done(&self) -> bool {
        self.at >= self.order.len() && self.open.is_none() && self.stage.is_done()
    }

    /// Starts over, along `order`.
    pub(crate) fn begin(&mut self, order: Vec<Stop>) {
        self.marks.fill(Mark::Unseen);
        self.stirred.fill(false);
        self.done.fill(false);
        self.stage = Worklist::default();
        (self.order, self.at, self.open) = (order, 0, None);
    }

    /// Goes on along another way, with what was seen since it began.
    pub(crate) fn turn_to(&mut self, order: Vec<Stop>) {
        (self.order, self.at) = (order, 0);
    }

    /// Goes on in a new round: what the last one named but did not reach is named again.
    pub(crate) fn resume(&mut self) {
        let marks = &self.marks;
        self.stage.again(|id| marks.get(id as usize) == Some(&Mark::Unseen));
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
            self.stage.give(room, pages, out);
            if out.len() > before || !self.next_stage() {
                return;
            }
        }
    }

    fn next_stage(&mut self) -> bool {
        if let Some(site) = self.open.take() {
            self.close(site);
            return true;
        }
        let Some(&Stop { site, gated }) = self.order.get(self.at) else { return false };
        self.at += 1;
        if !self.done[site as usize] && (!gated || self.is_enabled(site)) {
            self.done[site as usize] = true;
            self.open = Some(site);
            self.stage.set(self.unseen(self.partition.tops(site)));
        }
        true
    }

    /// The tops have been looked at: if one had changed, the members are next.
    fn close(&mut self, site: u32) {
        let (tops, members) = (self.partition.tops(site), self.partition.members(site));
        if tops.iter().any(|&top| self.marks[top as usize] == Mark::Changed) {
            for &page in tops.iter().chain(members) {
                self.stirred[page as usize] = true;
            }
            self.stage.set(self.unseen(members));
        }
    }

    /// Several sites may lie above one: any that changed is enough.
    fn is_enabled(&self, site: u32) -> bool {
        let parents = self.partition.parents(site);
        parents.is_empty() || parents.iter().any(|&page| self.stirred[page as usize])
    }

    fn unseen(&self, pages: &[u32]) -> Vec<u32> {
        let unseen = |id: &u32| self.marks[*id as usize] == Mark::Unseen;
        pages.iter().copied().filter(unseen).collect()
    }
}
