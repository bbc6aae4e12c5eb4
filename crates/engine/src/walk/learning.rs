//! What changes when pages turn out to matter otherwise, or a host is taken for spam?

use std::sync::Arc;

use evercrawl_archive::SegmentStore;
use evercrawl_model::{Event, HostKey, Importance, PageKey, Suspicion, Time};
use evercrawl_state::Store;

use super::Walk;
use super::delivery::waits_by_value;
use super::overriding::reread_suspects;
use super::revisits::reschedule;
use crate::EngineError;
use crate::importance::{CrawlOrder, MeanHostImportance, band_of_importance};
use crate::suspicion::Suspects;

impl<S: Store> Walk<S> {
    /// Takes over how much pages matter; those that are worth a visit sooner come sooner, and new ones in the
    /// order that was asked for.
    pub fn weigh(
        &mut self,
        pages: Vec<(PageKey, Importance)>,
        now: Time,
    ) -> Result<(), EngineError> {
        let event = Event::ImportanceChanged { pages };
        self.ledger.apply(&event, now)?;
        let Event::ImportanceChanged { pages } = event else { return Ok(()) };
        let order = self.revisits.planner.plan().order;
        for (page, _) in pages {
            let Some(row) = self.ledger.view().page(page)? else { continue };
            if order == CrawlOrder::Rank && waits_by_value(&row, order) {
                let band = band_of_importance(row.importance);
                self.ledger.apply(&Event::Requeued { page, band, at: now }, now)?;
            } else {
                let due = self.revisits.planner.earlier_due(page, &row, now);
                reschedule(page, due, &mut self.ledger, now)?;
            }
        }
        Ok(())
    }

    /// What pages of each host matter on average, by the latest ranking.
    pub fn set_usual(&mut self, usual: MeanHostImportance) {
        self.insight.usual = usual;
    }

    /// The hosts that something is done about.
    pub fn suspects(&self) -> Arc<Suspects> {
        self.insight.suspects.clone()
    }

    /// The segments of the archive.
    pub fn segments(&self) -> Arc<dyn SegmentStore> {
        Arc::clone(self.recorder.writer.segments())
    }

    /// Takes over what hosts are taken for.
    pub fn suspect(
        &mut self,
        found: Vec<(HostKey, Option<Suspicion>)>,
        now: Time,
    ) -> Result<(), EngineError> {
        for (host, suspicion) in found {
            self.ledger.apply(&Event::SuspicionChanged { host, suspicion }, now)?;
        }
        reread_suspects(self.ledger.view(), &mut self.insight, &mut self.revisits.planner)?;
        // Some may be suspect no more.
        self.sweep.put_back();
        self.revisits.review_all();
        Ok(())
    }
}
