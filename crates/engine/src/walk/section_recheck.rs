//! Which waiting pages come sooner because pages like them changed?
//!
//! When much changed in a group (a directory, a section, what a hub links to), its other pages are
//! worth a visit sooner than they were scheduled. Where they lie is known by host alone, so the pages of
//! the host are reviewed, in pieces between other work, for all its groups at once. A visit pays
//! for a few of them and no more, so that large hosts take no more than their share.

use std::collections::{BTreeMap, HashSet};

use evercrawl_model::{HostKey, PageKey, Time};
use evercrawl_policy::Group;
use evercrawl_state::Store;

use super::ledger::Ledger;
use super::revisits::{PIECE, piece_after, reschedule};
use crate::EngineError;
use crate::planner::Planner;

/// Hosts that wait to be reviewed. What is beyond is found when its pages come up.
const MOST_HOSTS: usize = 10_000;

/// Pages that each visit pays for; more than some pieces' worth are not saved up.
const PAGES_A_VISIT: usize = 10;
const MOST_SAVED: usize = 10 * PIECE;

/// The groups in which much changed.
#[derive(Debug, Default)]
pub(super) struct SectionRecheck {
    waiting: BTreeMap<HostKey, HashSet<Group>>,
    /// The last page that was reviewed, and the groups that its host is reviewed for.
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

    /// Reviews some more pages of a host in which much changed.
    pub(super) fn review_piece<S: Store>(
        &mut self,
        planner: &Planner,
        ledger: &mut Ledger<S>,
        now: Time,
    ) -> Result<(), EngineError> {
        let Some((after, groups)) = self.next() else { return Ok(()) };
        let pages = piece_after(ledger.view(), Some(after))?;
        let ours = pages.iter().take_while(|(page, _)| page.host == after.host).count();
        for (page, row) in &pages[..ours] {
            reschedule(
                *page,
                planner.earlier_due_in_groups(&groups, *page, row, now),
                ledger,
                now,
            )?;
        }
        self.saved -= ours;
        if ours == PIECE {
            self.at = pages.last().map(|(page, _)| (*page, groups));
        }
        Ok(())
    }
}
