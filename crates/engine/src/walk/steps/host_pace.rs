//! When may a host be asked again? After its pause, and later if it failed or asked for that.

use std::time::Duration;

use evercrawl_model::{HostUpdate, PageKey, Time};

use crate::frontier::{Frontier, Lease};
use crate::process::{Job, Processed};
use crate::schedule::{Schedule, is_overload_status};

/// What a visit means for its host. The frontier learns it at once, since the next request may be due before the commit.
pub(in crate::walk) fn after_visit(
    processed: &Processed,
    frontier: &mut Frontier,
    schedule: &Schedule,
    jitter: f64,
    now: Time,
) -> HostUpdate {
    let Job { lease, fetched, ended, .. } = &processed.job;
    let (host, took) = (lease.page.host, fetched.times.total);
    if is_overload_status(processed.visited.visit.status) {
        frontier.lengthen_pauses(host);
    }
    frontier.record_answer(host, fetched.ip, took, *ended);
    let next = frontier.pause_for_reading(host, processed.reading, *ended);
    let before = processed.visited.host.clone();
    let mut update = HostUpdate { next_allowed: Some(next), answer_time: Some(took), ..before };
    if processed.host_trouble {
        let until = now.after(backoff(schedule, lease, processed.asked_pause, jitter));
        block(lease, until, frontier, &mut update, now);
    } else {
        forgive(lease, frontier, &mut update);
    }
    update
}

/// How long a host is not asked after another failure, or because it `asked` for a pause.
pub(in crate::walk) fn backoff(
    schedule: &Schedule,
    lease: &Lease,
    asked: Option<Duration>,
    jitter: f64,
) -> Duration {
    schedule.host_backoff(asked, failures(lease), jitter)
}

/// A host failed once more: it is not asked before `until`.
pub(in crate::walk) fn block(
    lease: &Lease,
    until: Time,
    frontier: &mut Frontier,
    update: &mut HostUpdate,
    now: Time,
) {
    update.failures = Some(failures(lease));
    update.blocked_until = Some(until);
    frontier.block_for_all(lease.page.host, until, failures(lease), now);
}

/// A host answered as it should: its failures are forgiven.
pub(in crate::walk) fn forgive(lease: &Lease, frontier: &mut Frontier, update: &mut HostUpdate) {
    update.failures = (lease.host_failures > 0).then_some(0);
    frontier.record_good_answer(lease.page.host);
}

/// The host's failures in a row, with this one.
fn failures(lease: &Lease) -> u16 {
    lease.host_failures.saturating_add(1)
}

/// A number from 0 to 1 that differs between hosts and moments, and repeats in a simulation.
pub(in crate::walk) fn jitter(page: PageKey, now: Time, seed: u64) -> f64 {
    let mixed = (page.host.host ^ now.millis() ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    f64::from(u32::try_from(mixed >> 32).unwrap_or(0)) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use evercrawl_model::Outcome;

    use super::*;
    use crate::walk::steps::test_visit::{START, frontier, visit_to};

    #[test]
    fn a_host_is_blocked_for_longer_with_each_failure_and_forgiven_once_it_answers() {
        let schedule = Schedule::default();
        let mut last = Duration::ZERO;
        for failures in 0..4 {
            let mut failed = visit_to("http://a.test/", Outcome::Timeout);
            failed.host_trouble = true;
            failed.job.lease.host_failures = failures;
            let update = after_visit(&failed, &mut frontier(), &schedule, 0.5, START);
            assert_eq!(update.failures, Some(failures + 1));
            let pause = update.blocked_until.unwrap().since(START);
            assert!(pause > last, "{failures}: {pause:?} after {last:?}");
            last = pause;
        }
        for (failures, want) in [(0, None), (3, Some(0))] {
            let mut good = visit_to("http://a.test/", Outcome::Ok);
            good.job.lease.host_failures = failures;
            let update = after_visit(&good, &mut frontier(), &schedule, 0.5, START);
            assert_eq!((update.failures, update.blocked_until), (want, None));
        }
    }

    #[test]
    fn a_pause_that_a_host_asks_for_is_kept_to_the_end() {
        let mut failed = visit_to("http://a.test/", Outcome::ServerError);
        failed.host_trouble = true;
        failed.asked_pause = Some(Duration::from_secs(5000));
        let update = after_visit(&failed, &mut frontier(), &Schedule::default(), 0.0, START);
        assert!(update.blocked_until.unwrap() >= START.after(Duration::from_secs(5000)));
    }

    #[test]
    fn jitter_is_between_0_and_1_and_repeats() {
        let page = |host| PageKey { host: evercrawl_model::HostKey { shard: 0, host }, url: 1 };
        let all: Vec<f64> = (0..100).map(|host| jitter(page(host), START, 3)).collect();
        assert!(all.iter().all(|jitter| (0.0..=1.0).contains(jitter)));
        assert!(all.iter().any(|jitter| *jitter < 0.2) && all.iter().any(|jitter| *jitter > 0.8));
        assert_eq!(all[7], jitter(page(7), START, 3));
    }
}
