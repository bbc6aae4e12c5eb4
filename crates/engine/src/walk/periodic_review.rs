//! Which waiting pages come sooner by what was learned since they were told?
//!
//! All that wait are gone through in turn, some for each visit, in pieces between other work: what is known of
//! a page's directory, or what a fetch must be worth, moves while a page waits for months.

use evercrawl_model::{Event, PageKey, Time};
use evercrawl_state::Store;

use super::Walk;
use super::planning::PIECE;
use crate::EngineError;

/// Where the round of all pages is.
#[derive(Debug, Default)]
pub(super) struct PeriodicReview {
    /// The last page that had its turn.
    after: Option<PageKey>,
    /// How many have theirs now.
    turns: usize,
}

impl<S: Store> Walk<S> {
    /// A page was visited, and pays for some turns of others.
    pub(super) fn pay_for_turns(&mut self, now: Time) {
        let pages = self.state.view().counters().pages;
        self.periodic_review.turns += self.planner.pages_to_reconsider(pages, now);
    }

    /// Asks about the next pages, when there are enough for a piece.
    pub(super) fn ask_in_turn(&mut self, now: Time) -> Result<(), EngineError> {
        if self.periodic_review.turns < PIECE {
            return Ok(());
        }
        let piece = self.state.view().pages_after(self.periodic_review.after).take(PIECE);
        let piece: Vec<_> = piece.collect::<Result<_, _>>()?;
        self.periodic_review.turns -= PIECE;
        self.periodic_review.after = piece.last().map(|(page, _)| *page);
        for (page, row) in piece {
            if let Some(due) = self.planner.earlier_due_in_rotation(page, &row, now) {
                self.apply(&Event::Rescheduled { page, due, policy_notes: None }, now)?;
            }
        }
        Ok(())
    }
}
