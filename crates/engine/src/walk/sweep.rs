//! Which pages are put aside, and which come back, when the user or what is known of hosts says otherwise?
//!
//! What is excluded is refused as soon as it comes up. Besides, pages are put aside and back in
//! pieces between other work, so that an override over millions of pages stops nobody.

use evercrawl_model::{Event, PageKey, Refusal, Time};
use evercrawl_state::Store;

use super::insight::Insight;
use super::ledger::Ledger;
use crate::EngineError;
use crate::planner::Planner;

/// Pages that are read in one go.
const PIECE: usize = 1000;

/// How far pages were read, after a change that excludes some or lets some in again.
#[derive(Debug, Default)]
pub(super) struct Sweep {
    aside: Option<Cursor>,
    back: Option<Cursor>,
}

/// The last page that was read; none at the beginning.
#[derive(Clone, Copy, Debug, Default)]
struct Cursor(Option<PageKey>);

impl Sweep {
    /// The last run may have ended before all pages were back.
    pub(super) fn at_start() -> Self {
        Sweep { aside: None, back: Some(Cursor::default()) }
    }

    /// Some pages are excluded from now on.
    pub(super) fn put_aside(&mut self) {
        self.aside = Some(Cursor::default());
    }

    /// Some pages may be excluded no more.
    pub(super) fn put_back(&mut self) {
        self.back = Some(Cursor::default());
    }

    /// Puts some more pages aside that are excluded by now, or back that are so no more; true
    /// while there are more to read.
    pub(super) fn go_on<S: Store>(
        &mut self,
        insight: &Insight,
        ledger: &mut Ledger<S>,
        planner: &mut Planner,
        now: Time,
    ) -> Result<bool, EngineError> {
        if let Some(from) = self.aside.take() {
            self.aside = put_piece_aside(from, insight, ledger, planner, now)?;
        } else if let Some(from) = self.back.take() {
            self.back = put_piece_back(from, insight, ledger, planner, now)?;
        }
        Ok(self.aside.is_some() || self.back.is_some())
    }
}

fn put_piece_aside<S: Store>(
    from: Cursor,
    insight: &Insight,
    ledger: &mut Ledger<S>,
    planner: &mut Planner,
    now: Time,
) -> Result<Option<Cursor>, EngineError> {
    let piece: Result<Vec<_>, _> = ledger.view().pages_after(from.0).take(PIECE).collect();
    let piece = piece?;
    let last = piece.last().map(|(page, _)| Cursor(Some(*page)));
    for (page, row) in piece {
        if row.place.is_some() && insight.overrides.is_excluded(&row.url) {
            put_aside(page, Refusal::Excluded, ledger, planner, now)?;
        }
    }
    Ok(last)
}

fn put_piece_back<S: Store>(
    from: Cursor,
    insight: &Insight,
    ledger: &mut Ledger<S>,
    planner: &mut Planner,
    now: Time,
) -> Result<Option<Cursor>, EngineError> {
    let piece: Result<Vec<_>, _> = ledger.view().aside_after(from.0).take(PIECE).collect();
    let piece = piece?;
    let last = piece.last().map(|page| Cursor(Some(*page)));
    for page in piece {
        let reason = match ledger.view().page(page)? {
            Some(row) => insight.refusal(ledger.view(), page, &row)?,
            None => None,
        };
        match reason {
            Some(reason) => put_aside(page, reason, ledger, planner, now)?,
            None => put_back(page, ledger, planner, now)?,
        }
    }
    Ok(last)
}

/// A page is not fetched as long as a reason holds.
pub(super) fn put_aside<S: Store>(
    page: PageKey,
    reason: Refusal,
    ledger: &mut Ledger<S>,
    planner: &mut Planner,
    now: Time,
) -> Result<(), EngineError> {
    planner.forget_page(page);
    ledger.apply(&Event::PutAside { page, reason, at: now }, now).map(drop)
}

/// The reason holds no more.
pub(super) fn put_back<S: Store>(
    page: PageKey,
    ledger: &mut Ledger<S>,
    planner: &mut Planner,
    now: Time,
) -> Result<(), EngineError> {
    ledger.apply(&Event::PutBack { page, at: now }, now)?;
    if let Some(row) = ledger.view().page(page)? {
        planner.sample_page(page, &row);
    }
    Ok(())
}
