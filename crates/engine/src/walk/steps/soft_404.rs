//! How does a host answer for what does not exist? It is asked once, when the answer would show what one of its pages is.
//!
//! The address is a page like others while it waits: its request is in the budget, at the host's pace, and
//! robots.txt may forbid it. Then it is forgotten, and only the answer is remembered.

use evercrawl_compare::Soft404Profile;
use evercrawl_model::{Discovery, Event, Time};
use evercrawl_state::{StateError, Store, View};

use crate::frontier::{Lease, SOFT_404_RECHECK_AFTER};
use crate::process::Processed;
use crate::walk::consequences::{Consequence, Consequences};

/// Has the host of a page asked, where a visit left in doubt what the page is, unless it was asked lately. `probe`
/// makes an address that cannot exist.
pub(in crate::walk) fn ask_if_in_doubt<S: Store>(
    view: &View<S>,
    processed: &Processed,
    probe: impl FnOnce(&Lease) -> Option<Discovery>,
    now: Time,
) -> Result<Option<Consequence>, StateError> {
    if !processed.is_in_doubt {
        return Ok(None);
    }
    let lease = &processed.job.lease;
    let known = view.soft_404_profile(lease.page.host)?;
    if known.is_some_and(|known| now.since(known.at) < SOFT_404_RECHECK_AFTER) {
        return Ok(None);
    }
    Ok(probe(lease).map(Event::Discovered).map(Consequence::Event))
}

/// The answer to that question; a host that gave none is asked again at the next doubt.
pub(in crate::walk) fn answered(processed: &Processed, now: Time) -> Option<Consequence> {
    let host = processed.job.lease.page.host;
    let profile = processed.soft_404_profile.as_ref()?.to_bytes();
    Some(Consequence::Event(Event::Probed { host, at: now, profile }))
}

/// robots.txt forbids to ask: what cannot be known counts as well behaved.
pub(in crate::walk) fn forbidden(lease: &Lease, now: Time) -> Consequences {
    let (host, profile) = (lease.page.host, Soft404Profile::HONEST.to_bytes());
    let probed = Event::Probed { host, at: now, profile };
    let forgotten = Event::Forgotten { page: lease.page };
    [probed, forgotten].map(Consequence::Event).into()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use evercrawl_model::{Outcome, PageKind};

    use super::*;
    use crate::walk::steps::test_visit::{START, apply, discover, link_to, state, visit_to};

    #[test]
    fn a_host_is_asked_when_a_page_is_in_doubt_and_not_again_the_same_day() {
        let mut state = state();
        discover(&mut state, "http://a.test/");
        let mut visit = visit_to("http://a.test/", Outcome::Ok);
        let nonsense =
            |_: &Lease| Some(Discovery { kind: PageKind::Probe, ..link_to("http://a.test/0f3a") });
        let ask = |state: &_, visit: &_, at| ask_if_in_doubt(state, visit, nonsense, at).unwrap();
        assert!(ask(state.view(), &visit, START).is_none());
        visit.is_in_doubt = true;
        match ask(state.view(), &visit, START) {
            Some(Consequence::Event(Event::Discovered(found))) => {
                assert_eq!(
                    (found.kind, found.page.host),
                    (PageKind::Probe, visit.job.lease.page.host)
                );
            }
            other => panic!("{other:?}"),
        }
        visit.soft_404_profile = Some(Soft404Profile::HONEST);
        apply(&mut state, answered(&visit, START).into_iter().collect());
        assert!(ask(state.view(), &visit, START.after(Duration::from_secs(3600))).is_none());
        assert!(ask(state.view(), &visit, START.after(2 * SOFT_404_RECHECK_AFTER)).is_some());
    }
}
