//! What was found today? Counted as it happens, and read from the end of the visit log at the start.

use evercrawl_model::{Change, Time};
use evercrawl_state::{StateError, Store, View};

const DAY_SECS: u64 = 86_400;

/// Visits that are read from the end of the log: enough for an answer at once.
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
    /// False where there were more visits today than were looked at.
    pub complete: bool,
}

impl Today {
    /// What the log says at `now`.
    pub fn read<S: Store>(state: &View<S>, now: Time) -> Result<Self, StateError> {
        let mut today = Today { day: day(now), complete: true, ..Today::default() };
        let from = state.counters().visits.saturating_sub(MOST_READ);
        for (place, visit) in state.visits(from).enumerate() {
            let (_, visit) = visit?;
            if place == 0 && from > 0 && day(visit.at) == today.day {
                today.complete = false;
            }
            if day(visit.at) == today.day {
                today.add(visit.change, visit.at);
            }
        }
        Ok(today)
    }

    /// One more visit; a new day begins at nothing.
    pub fn add(&mut self, change: Change, at: Time) {
        if day(at) > self.day {
            *self = Today { day: day(at), complete: true, ..Today::default() };
        }
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
