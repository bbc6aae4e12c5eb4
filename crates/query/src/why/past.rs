//! What happened to the page so far?

use evercrawl_compare::PageMemory;
use evercrawl_insight::mirrors::{Mirrors, find_stand_in};
use evercrawl_model::{Outcome, PageKey, Refusal};
use evercrawl_state::{PageRow, PageStatus, Past, Store};
use evercrawl_urls::Canonical;

use super::{
    FormerlyStep, Inputs, MirrorStep, MovedStep, Question, Step, SubstituteStep, Verdict,
    VisitsStep, VolatileStep,
};
use crate::code::{At, Code};
use crate::moved;
use crate::source::QueryError;

impl<S: Store> Question<'_, S> {
    /// Former addresses, where it moved, what is in its place, visits, volatile passages.
    pub(super) fn past(&self, key: PageKey, row: &PageRow) -> Result<Vec<Step>, QueryError> {
        let mut steps = Vec::new();
        let formers = moved::formers(self.source, self.config.reading.steps, key, row)?;
        if !formers.is_empty() {
            let urls = formers.into_iter().map(|(_, former)| former.url).collect();
            steps.push(Step::info(Inputs::Formerly(FormerlyStep { urls })));
        }
        let Some(past) = &row.past else { return Ok(steps) };
        steps.extend(self.elsewhere(row, past)?);
        steps.push(Step::info(Inputs::Visits(VisitsStep {
            visits: past.visits,
            last_visit: At(past.last_visit),
            outcome: Code(past.outcome),
            cause: past.cause.map(Code),
            cut: row.held_cut(),
            status: Some(past.status).filter(|status| *status > 0),
            checks: past.checks,
            changes: past.changes,
        })));
        let memory = past.memory.as_deref().and_then(PageMemory::from_bytes);
        steps.extend(memory.as_ref().and_then(volatile));
        Ok(steps)
    }

    /// What is in the page's place, or where it went.
    fn elsewhere(&self, row: &PageRow, past: &Past) -> Result<Option<Step>, QueryError> {
        if row.is_moved() {
            let to = moved::target(self.source, self.config.reading.steps, row)?;
            let to = to.map(Canonical::into_string);
            return Ok(Some(Step::info(Inputs::Moved(MovedStep { to, status: past.status }))));
        }
        let substituted =
            matches!(past.outcome, Outcome::SoftGone | Outcome::LoginWall | Outcome::Parked);
        Ok(substituted.then(|| {
            Step::info(Inputs::Substitute(SubstituteStep {
                outcome: Code(past.outcome),
                confirmed: row.status == PageStatus::Gone,
                copy_kept: past.digest.is_some(),
            }))
        }))
    }

    /// For which page of another host a page of a mirror waits.
    pub(super) fn mirror(&self, key: PageKey, row: &PageRow) -> Result<Option<Step>, QueryError> {
        let state = self.source.state;
        let waits = row.status == PageStatus::Refused(Refusal::Mirror);
        let Some(likeness) = state.likeness(key.host)?.filter(|_| waits) else { return Ok(None) };
        let mirrors = Mirrors::read(state)?;
        let instead = find_stand_in(state, &mirrors, key, row, |_| true)?;
        let step = MirrorStep {
            host: self.source.host_name(key.host)?,
            original: self.source.host_name(likeness.compared_with)?,
            alike: likeness.alike_pages,
            compared: likeness.compared_pages,
            instead: instead.map(|other| other.url.to_string()),
        };
        Ok(Some(Step::new(Inputs::Mirror(step), Verdict::Refuse)))
    }
}

/// What of a page differs again and again and is no change.
fn volatile(memory: &PageMemory) -> Option<Step> {
    let step =
        VolatileStep { places: memory.noise_places() as u64, in_doubt: memory.is_in_doubt() };
    (step.places > 0 || step.in_doubt).then(|| Step::info(Inputs::Volatile(step)))
}
