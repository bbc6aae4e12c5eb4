//! Which waiting pages come sooner by what was learned since they were scheduled?
//!
//! All that wait are reviewed one after another, some for each visit, in pieces between other work: what is known of
//! a page's directory, or what a fetch must be worth, moves while a page waits for months.

use evercrawl_model::{PageKey, Time};
use evercrawl_state::Store;

use super::ledger::Ledger;
use super::revisits::{PIECE, piece_after, reschedule};
use crate::EngineError;
use crate::planner::Planner;

/// Where the round of all pages is.
#[derive(Debug, Default)]
pub(super) struct PeriodicReview {
    /// The last page that was reviewed.
    after: Option<PageKey>,
    /// How many may be reviewed now.
    turns: usize,
}

impl PeriodicReview {
    /// So many more pages may be reviewed.
    pub(super) fn add_turns(&mut self, turns: usize) {
        self.turns += turns;
    }

    /// Reviews the next pages, when there are enough for a piece.
    pub(super) fn review_piece<S: Store>(
        &mut self,
        planner: &Planner,
        ledger: &mut Ledger<S>,
        now: Time,
    ) -> Result<(), EngineError> {
        if self.turns < PIECE {
            return Ok(());
        }
        let piece = piece_after(ledger.view(), self.after)?;
        self.turns -= PIECE;
        self.after = piece.last().map(|(page, _)| *page);
        for (page, row) in piece {
            reschedule(page, planner.earlier_due_in_rotation(page, &row, now), ledger, now)?;
        }
        Ok(())
    }
}
