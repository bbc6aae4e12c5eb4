//! Which waiting pages come sooner because pages akin to them changed?
//!
//! When much changed in a group (a directory, a section, what a hub links to), its other pages are
//! worth a look sooner than they were told. Where they lie is known by host alone, so the pages of
//! the host are gone through, in pieces between other work, for all its groups at once. A visit pays
//! for so many of them and no more, so that large hosts take no more than their share.

use std::collections::{BTreeMap, HashSet};

use evercrawl_model::{Event, HostKey, PageKey, Time};
use evercrawl_policy::Group;
use evercrawl_state::Store;

use super::Walk;
use super::planning::PIECE;
use crate::EngineError;

/// Hosts that wait to be gone through. What is beyond is found when its pages come up.
const MOST_HOSTS: usize = 10_000;

/// Pages that each visit pays for; more than some pieces' worth are not saved up.
const PAGES_A_VISIT: usize = 10;
const MOST_SAVED: usize = 10 * PIECE;

/// The groups in which much changed.
#[derive(Debug, Default)]
pub(super) struct SectionRecheck {
    waiting: BTreeMap<HostKey, HashSet<Group>>,
    /// The last page that was gone through, and the groups that its host is gone through for.
    at: Option<(PageKey, HashSet<Group>)>,
    /// Pages that are paid for.
    saved: usize,
}

impl SectionRecheck {
    /// A page of `host` was visited, and much changed in these groups.
    pub(super) fn visited(&mut self, host: HostKey, groups: Vec<Group>) {
        self.saved = (self.saved + PAGES_A_VISIT).min(MOST_SAVED);
        if groups.is_empty() || self.waiting.len() >= MOST_HOSTS {
            return;
        }
        self.waiting.entry(host).or_default().extend(groups);
    }

    /// The page after which to go on, and for which groups.
    fn next(&mut self) -> Option<(PageKey, HashSet<Group>)> {
        if self.saved < PIECE {
            return None;
        }
        let begin = |(host, groups)| (PageKey { host, url: 0 }, groups);
        self.at.take().or_else(|| self.waiting.pop_first().map(begin))
    }
}

impl<S: Store> Walk<S> {
    /// Goes through some more pages of a host in which something stirred.
    pub(super) fn look_at_stirred(&mut self, now: Time) -> Result<(), EngineError> {
        let Some((after, groups)) = self.section_recheck.next() else { return Ok(()) };
        let pages = self.state.view().pages_after(Some(after)).take(PIECE);
        let pages: Vec<_> = pages.collect::<Result<_, _>>()?;
        let ours = pages.iter().take_while(|(page, _)| page.host == after.host).count();
        for (page, row) in &pages[..ours] {
            if let Some(due) = self.planner.earlier_due_in_groups(&groups, *page, row, now) {
                self.apply(&Event::Rescheduled { page: *page, due, policy_notes: None }, now)?;
            }
        }
        self.section_recheck.saved -= ours;
        if ours == PIECE {
            self.section_recheck.at = pages.last().map(|(page, _)| (*page, groups));
        }
        Ok(())
    }
}
