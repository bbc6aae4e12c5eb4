//! When is a page visited again? As the planner says, sooner where a change is in doubt or the page is pinned.

use evercrawl_model::Time;
use evercrawl_state::{StateError, Store, View};

use super::moved;
use crate::overrides::Overrides;
use crate::planner::VisitContext;
use crate::process::{Job, Processed};
use crate::schedule::Schedule;
use crate::walk::confirming;
use crate::walk::revisits::Revisits;

/// Sets when a page is visited again, and what is noted of it, after a visit that found so many new links.
pub(in crate::walk) fn plan<S: Store>(
    view: &View<S>,
    processed: &mut Processed,
    new_links: u32,
    revisits: &mut Revisits,
    overrides: &Overrides,
    schedule: &Schedule,
    now: Time,
) -> Result<(), StateError> {
    let Job { lease, ended, .. } = &processed.job;
    let (page, ended) = (lease.page, *ended);
    let conditional = lease.validators_to_send() != (None, None);
    let former = moved::former(view, &lease.row)?;
    let look = VisitContext { ended, new_links, conditional, moved_from: former };
    if processed.visited.visit.noise.in_doubt {
        let due = confirming::second_look(lease, schedule, ended);
        revisits.planner.record_doubt(&lease.row, &mut processed.visited, due);
        revisits.visited(page.host, view.counters().pages, now);
        return Ok(());
    }
    revisits.planner.record_visit(&lease.row, schedule, &mut processed.visited, &look);
    revisits.visited(page.host, view.counters().pages, now);
    revisits.confirming.visited(processed, schedule);
    let visited = &mut processed.visited;
    visited.next = overrides.apply_pin(page, ended, visited.next);
    Ok(())
}
