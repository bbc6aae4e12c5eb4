//! What was found today? Counted as it happens, and read from the end of the visit log at the start.

use evercrawl_model::{Change, HostKey, LogNotice, Time};
use evercrawl_state::{LogEntry, StateError, Store, View};

const DAY_SECS: u64 = 86_400;

/// Entries that are read from the end of the log: enough for an answer at once.
const MOST_READ: u64 = 20_000;

/// What visits since midnight (UTC) found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Today {
    /// The day, counted from the epoch.
    day: u64,
    /// Visits.
    pub visits: u64,
    /// Pages visited for the first time.
    pub first: u64,
    /// Changes found.
    pub changes: u64,
    /// Pages found to be gone.
    pub gone: u64,
    /// How often the same came to or went from the pages of a whole host.
    pub site_events: u64,
    /// The host of the last of these.
    pub last_site: Option<HostKey>,
    /// False where there were more visits today than were read.
    pub complete: bool,
}

impl Today {
    /// What the log says at `now`.
    pub fn read<S: Store>(state: &View<S>, now: Time) -> Result<Self, StateError> {
        let mut today = Today { day: day(now), complete: true, ..Today::default() };
        let from = state.counters().logged.saturating_sub(MOST_READ);
        for (place, entry) in state.log(from).enumerate() {
            let (_, entry) = entry?;
            if day(entry.at()) != today.day {
                continue;
            }
            today.complete &= place > 0 || from == 0;
            match entry {
                LogEntry::Visit(visit, _) => today.add(visit.change, visit.at),
                LogEntry::Notice(LogNotice::SiteChanged { host, at, .. }) => {
                    today.add_site(host, at)
                }
                LogEntry::Notice(LogNotice::LifeChanged { .. }) => {}
            }
        }
        Ok(today)
    }

    /// The same came to or went from the pages of a host.
    pub(crate) fn add_site(&mut self, host: HostKey, at: Time) {
        self.begin(at);
        self.site_events += 1;
        self.last_site = Some(host);
    }

    /// A new day begins at nothing.
    fn begin(&mut self, at: Time) {
        if day(at) > self.day {
            *self = Today { day: day(at), complete: true, ..Today::default() };
        }
    }

    /// One more visit; a new day begins at nothing.
    pub fn add(&mut self, change: Change, at: Time) {
        self.begin(at);
        self.visits += 1;
        match change {
            Change::New => self.first += 1,
            Change::Changed | Change::Near => self.changes += 1,
            Change::Gone => self.gone += 1,
            Change::Same | Change::Failed => {}
        }
    }
}

fn day(at: Time) -> u64 {
    at.millis() / 1000 / DAY_SECS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_day_begins_at_nothing() {
        let mut today = Today { complete: false, ..Today::default() };
        let at = |day: u64| Time::from_secs(day * DAY_SECS + 5);
        today.add(Change::New, at(3));
        today.add(Change::Near, at(3));
        today.add(Change::Gone, at(3));
        assert_eq!((today.visits, today.first, today.changes, today.gone), (3, 1, 1, 1));
        today.add(Change::Same, at(4));
        assert_eq!((today.visits, today.changes, today.complete), (1, 0, true));
    }
}
