//! What was done in this run, and what was found today?

use std::sync::Arc;
use std::time::Duration;

use evercrawl_fetch::Fetched;
use evercrawl_metrics::{BlockCause, Meters, Phase, RobotsOutcome};
use evercrawl_model::{Change, Time, Visit};
use evercrawl_robots::Access;
use evercrawl_state::Place;

use super::run_hosts::RunHosts;
use crate::frontier::AUDIT_DUE;
use crate::process::Processed;
use crate::today::Today;

/// What was done in this run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Pages asked for.
    pub pages: u64,
    /// robots.txt files asked for.
    pub robots: u64,
    /// Payload bytes received.
    pub bytes: u64,
    /// Bytes added to the archive.
    pub archived: u64,
    /// Pages visited for the first time.
    pub first: u64,
    /// Changes found.
    pub changes: u64,
    /// Requests for known pages whose time had come.
    pub due: u64,
    /// How late these were in all, in milliseconds.
    pub late_ms: u64,
    /// Requests for known pages ahead of their time: what the budget left.
    pub ahead: u64,
    /// Requests for pages that were sampled at random.
    pub audits: u64,
    /// Requests for pages of hosts that are taken for spam.
    pub suspect: u64,
    /// Pages that entered the frontier.
    pub queued: u64,
    /// Pages handed out for fetching.
    pub leased: u64,
    /// Pages that came back from fetching.
    pub released: u64,
}

/// What is counted of visits and requests.
pub(super) struct Counts {
    pub(super) tally: Tally,
    pub(super) today: Today,
    /// The same by host.
    pub(super) hosts: RunHosts,
    /// What other threads read while the crawl runs.
    pub(super) meters: Arc<Meters>,
}

impl Counts {
    /// Counts a visit.
    pub(super) fn visited(&mut self, visit: &Visit, now: Time) {
        self.hosts.visited(visit);
        let tally = &mut self.tally;
        tally.pages += 1;
        tally.bytes += visit.bytes;
        tally.first += u64::from(visit.change == Change::New);
        tally.changes += u64::from(matches!(visit.change, Change::Changed | Change::Near));
        self.today.add(visit.change, now);
    }

    /// Counts a fetch that ended, and what it means for its host.
    pub(super) fn fetched(&mut self, processed: &Processed) {
        self.tally.released += 1;
        observe_phases(&self.meters, &processed.job.fetched);
        match processed.visited.visit.bytes {
            0 => {}
            bytes => self.meters.count_page(bytes),
        }
        self.pause_asked(processed.asked_pause);
        if processed.host_trouble {
            self.host_blocked(processed.asked_pause, BlockCause::Failure);
        }
    }

    /// Counts a request for robots.txt that ended with `access`.
    pub(super) fn robots_fetched(&mut self, access: Access, asked_pause: Option<Duration>) {
        self.tally.robots += 1;
        self.pause_asked(asked_pause);
        let outcome = match access {
            Access::Parse => RobotsOutcome::Fetched,
            Access::AllowAll => RobotsOutcome::Absent,
            Access::DisallowAll => RobotsOutcome::Unreachable,
        };
        self.meters.count_robots_fetch(outcome);
    }

    fn pause_asked(&self, pause: Option<Duration>) {
        pause.into_iter().for_each(|_| self.meters.count_pause_request());
    }

    /// Counts a host that is not asked for a while, because it asked for that or by another `cause`.
    pub(super) fn host_blocked(&self, asked_pause: Option<Duration>, cause: BlockCause) {
        self.meters.count_host_block(asked_pause.map_or(cause, |_| BlockCause::RetryAfter));
    }

    /// Counts bytes that were added to the archive.
    pub(super) fn archived(&mut self, bytes: u64) {
        self.tally.archived += bytes;
    }

    /// Counts a request for a page that waited in this place, by what it is made for.
    pub(super) fn requested(&mut self, place: Place, suspect: bool, audit: bool, now: Time) {
        let tally = &mut self.tally;
        tally.leased += 1;
        tally.suspect += u64::from(suspect);
        let Place::Due(due) = place else { return };
        if audit {
            tally.audits += 1;
        } else if due > now {
            tally.ahead += 1;
        } else {
            tally.due += 1;
            // A page that is wanted at once waits from the beginning of time.
            let late = if due > AUDIT_DUE { now.since(due) } else { Duration::ZERO };
            tally.late_ms += u64::try_from(late.as_millis()).unwrap_or(u64::MAX);
            self.meters.observe_lateness(late);
        }
    }
}

/// Counts how long the phases of a fetch took that it needed.
fn observe_phases(meters: &Meters, fetched: &Fetched) {
    let times = &fetched.times;
    for (phase, time) in [
        (Phase::Dns, times.dns),
        (Phase::Connect, times.connect),
        (Phase::Tls, times.tls),
        (Phase::FirstByte, times.first_byte),
        (Phase::Total, times.total),
    ] {
        if !time.is_zero() {
            meters.observe_fetch_phase(phase, time);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_counts_by_what_it_is_made_for() {
        let now = Time::from_secs(1000);
        let at = |secs| Place::Due(Time::from_secs(secs));
        for (place, audit, want) in [
            (at(990), false, [1, 10_000, 0, 0]),
            (at(1010), false, [0, 0, 1, 0]),
            (at(990), true, [0, 0, 0, 1]),
            (Place::Due(AUDIT_DUE), false, [1, 0, 0, 0]),
            (Place::Recheck(now), false, [0, 0, 0, 0]),
        ] {
            let mut counts = Counts {
                tally: Tally::default(),
                today: Today::default(),
                hosts: RunHosts::default(),
                meters: Arc::default(),
            };
            counts.requested(place, true, audit, now);
            let Tally { due, late_ms, ahead, audits, suspect, .. } = counts.tally;
            assert_eq!(([due, late_ms, ahead, audits], suspect), (want, 1), "{place:?}");
        }
    }
}
