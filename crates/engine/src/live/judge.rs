//! How is spam looked for while a crawl runs? In what was archived, beside it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use evercrawl_model::{HostKey, Suspicion, Time};
use evercrawl_state::Store;

use super::Report;
use super::handover::Sender;
use crate::suspicion::{ArchivedPages, changed_suspicions};
use crate::walk::Walk;

/// Hosts that are taken for something else than was known.
pub(super) type Verdicts = Vec<(HostKey, Option<Suspicion>)>;

/// Looks at some pages of every host.
pub(super) fn judging<S: Store + 'static>(
    walk: &Walk<S>,
    now: Time,
) -> impl FnOnce(Arc<AtomicBool>, Sender<Report>) + Send + use<S> + 'static {
    let (reading, plan) = (walk.state().reading(), *walk.planner().plan());
    let mut archived = ArchivedPages::new(walk.segments());
    move |stop: Arc<AtomicBool>, reports: Sender<Report>| {
        let found = reading.view().and_then(|state| {
            changed_suspicions(&state, &mut archived, &plan.spam, plan.link_memory, now)
        });
        let report = match found {
            Err(error) => Report::Broken(error.into()),
            Ok(found) if found.is_empty() || stop.load(Ordering::Relaxed) => return,
            Ok(found) => Report::Judged(found),
        };
        drop(reports.send(report));
    }
}
