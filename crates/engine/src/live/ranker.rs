//! How are pages ranked while a crawl runs? All at once, beside it; the walk takes over what was found a
//! piece at a time.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use evercrawl_model::{Importance, PageKey, Time};
use evercrawl_state::{StateError, Store};

use super::Report;
use super::handover::{Sender, queue};
use crate::EngineError;
use crate::importance::{RankBasis, RankSnapshots, Ranks};
use crate::walk::{SignalCounts, Walk};

/// Rankings are kept so far apart.
const KEPT_EVERY: Duration = Duration::from_secs(86_400);

/// Pages whose importance changed, and who is answered once that is committed.
pub(super) struct Weighing {
    pub(super) pages: Vec<(PageKey, Importance)>,
    pub(super) done: Sender<Result<SignalCounts, EngineError>>,
}

/// Ranks all pages, and hands out what is new one piece after another, each once the one before is
/// committed.
pub(super) fn ranking<S: Store + 'static>(
    walk: &Walk<S>,
    kept: Option<RankSnapshots>,
    now: Time,
) -> impl FnOnce(Arc<AtomicBool>, Sender<Report>) + Send + use<S> + 'static {
    let (reading, suspects) = (walk.state().reading(), walk.suspects());
    let memory = walk.planner().plan().link_memory;
    move |stop, reports| {
        let ranks = Ranks::compute(&reading, &suspects, memory, stop);
        if let Ok(ranks) = &ranks {
            drop(reports.send(Report::Ranked(ranks.basis(), ranks.mean_host_importance())));
        }
        let ranks = ranks.and_then(|ranks| compared(ranks, kept.as_ref(), now));
        if let Err(error) = ranks.and_then(|ranks| hand_out(ranks, &reports)) {
            drop(reports.send(Report::Broken(error.into())));
        }
    }
}

/// Compares a ranking with the oldest that is kept, and keeps it unless one is younger than a day.
fn compared<S: Store>(
    mut ranks: Ranks<S>,
    kept: Option<&RankSnapshots>,
    now: Time,
) -> Result<Ranks<S>, StateError> {
    // Counts and ranks cannot be compared.
    let Some(kept) = kept.filter(|_| ranks.basis() == RankBasis::Links) else { return Ok(ranks) };
    if let Some(before) = kept.oldest() {
        ranks.set_previous_snapshot(&before, now);
    }
    if kept.newest_at().is_none_or(|newest| now.since(newest) >= KEPT_EVERY) {
        kept.keep(&ranks.snapshot(now))?;
    }
    Ok(ranks)
}

fn hand_out<S: Store>(mut ranks: Ranks<S>, reports: &Sender<Report>) -> Result<(), StateError> {
    while let Some(pages) = ranks.next_batch()? {
        let (done, committed) = queue();
        let weighing = Report::Weighing(Box::new(Weighing { pages, done }));
        if reports.send(weighing).is_err() || committed.recv().is_none() {
            return Ok(());
        }
    }
    Ok(())
}
