//! What does it change that pages matter more, or less, than was known?

use evercrawl_model::{Discovery, Event, Importance, PageKey, PageKind, Time};
use evercrawl_state::{PageRow, Place, Store};

use super::Walk;
use crate::EngineError;
use crate::importance::{CrawlOrder, MeanHostImportance, band_of_importance, importance_passed_on};
use crate::process::Processed;

impl<S: Store> Walk<S> {
    /// Takes over how much pages matter; those that are worth a visit sooner come sooner, and new ones in the
    /// order that was asked for.
    pub fn weigh(
        &mut self,
        pages: Vec<(PageKey, Importance)>,
        now: Time,
    ) -> Result<(), EngineError> {
        let event = Event::ImportanceChanged { pages };
        self.apply(&event, now)?;
        let Event::ImportanceChanged { pages } = event else { return Ok(()) };
        for (page, _) in pages {
            let Some(row) = self.state.view().page(page)? else { continue };
            if self.planner.plan().order == CrawlOrder::Rank && self.is_ordered(&row) {
                let band = band_of_importance(row.importance);
                self.apply(&Event::Requeued { page, band, at: now }, now)?;
            } else if let Some(due) = self.planner.earlier_due(page, &row, now) {
                self.apply(&Event::Rescheduled { page, due, policy_notes: None }, now)?;
            }
        }
        Ok(())
    }

    /// Whether a page is new and waits by how much it matters.
    pub(super) fn is_ordered(&self, row: &PageRow) -> bool {
        let new = matches!(row.place, Some(Place::New(..))) && row.past.is_none();
        let by_value =
            !matches!(self.planner.plan().order, CrawlOrder::Breadth | CrawlOrder::Sites);
        by_value && new && !row.seed && row.kind == PageKind::Page
    }

    /// How much the pages matter that a visit has found, as far as can be told at once.
    pub(super) fn importance_of_found(&self, processed: &Processed) -> Importance {
        let (plan, source) = (self.planner.plan(), processed.job.lease.row.importance);
        // Before anything was ranked, pages that nobody is known to link to are all alike.
        let source =
            if source == Importance::UNKNOWN { Importance::from_ratio(1.0) } else { source };
        let by_a_list = processed.visited.kind != PageKind::Page;
        match (plan.importance, plan.order == CrawlOrder::Rank) {
            (false, false) => Importance::UNKNOWN,
            (true, false) if by_a_list => self.usual.importance_of(processed.job.lease.page.host),
            _ => importance_passed_on(source, processed.leads.found.len() + processed.leads.known),
        }
    }

    /// What pages of each host matter on average, by the latest ranking.
    pub fn set_usual(&mut self, usual: MeanHostImportance) {
        self.usual = usual;
    }

    /// A page that was found, of this importance, in the front queue where it is to wait.
    pub(super) fn ordered(&self, found: Discovery, importance: Importance) -> Discovery {
        let by_rank = self.planner.plan().order == CrawlOrder::Rank;
        let orders = by_rank && found.kind == PageKind::Page && !found.seed;
        let band = if orders { band_of_importance(importance) } else { found.band };
        Discovery { importance, band, ..found }
    }
}
