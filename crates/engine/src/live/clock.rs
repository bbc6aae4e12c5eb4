//! What time is it? The wall clock's time, but it never goes back and never stands still.
//!
//! A machine's clock may be set back while a crawl runs. Were that believed, every pause and every due
//! time that was set before would lie far ahead, and the crawl would wait for it to come. So time goes on
//! at half its pace until the wall clock has caught up. It is the same when the clock was set back between
//! two runs: time begins where the last one ended. When the machine has slept, time is simply later. So it is
//! when the clock is set ahead, but that is counted: pauses seem to be over that are not.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use evercrawl_model::Time;
use rustix::time::{ClockId, clock_gettime};

/// Reads the clock, in the one place that may.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

/// One for the whole process: threads must not see each other's times go back either.
static STEADY: Mutex<Option<Steady>> = Mutex::new(None);

impl SystemClock {
    /// Now.
    pub fn now(self) -> Time {
        self.not_before(Time::EPOCH)
    }

    /// Now, which is from here on taken to be no earlier than `earliest`.
    pub fn not_before(self, earliest: Time) -> Time {
        let mut steady = STEADY.lock().unwrap_or_else(PoisonError::into_inner);
        let (wall, passed) = both_clocks();
        let steady = steady.get_or_insert(Steady { now: wall, passed, set_ahead: 0 });
        steady.now = steady.now.max(Duration::from_millis(earliest.millis()));
        let now = steady.at(wall, passed);
        Time::from_millis(u64::try_from(now.as_millis()).unwrap_or(u64::MAX))
    }

    /// How often the clock was set ahead so far.
    pub(super) fn set_ahead(self) -> u64 {
        let steady = STEADY.lock().unwrap_or_else(PoisonError::into_inner);
        steady.as_ref().map_or(0, |steady| steady.set_ahead)
    }

    /// What a clock that nobody sets says: to tell how long something took.
    pub(super) fn passed(self) -> Duration {
        time_of(ClockId::Monotonic)
    }

    /// For how long the calling thread has had a core so far.
    pub(super) fn thread_time(self) -> Duration {
        time_of(ClockId::ThreadCPUTime)
    }
}

/// The wall clock, and the one that nobody sets, at the same moment: where a busy machine let time pass
/// between the two, they are read again.
#[allow(clippy::disallowed_methods)] // the crawler's one clock
fn both_clocks() -> (Duration, Duration) {
    let look = || {
        let passed = time_of(ClockId::Boottime);
        let wall = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let between = time_of(ClockId::Boottime).saturating_sub(passed);
        ((wall.unwrap_or_default(), passed), between)
    };
    let mut looks = (0..5).map(|_| look());
    let (last, _) = looks.find(|(_, between)| *between < APART / 10).unwrap_or_else(look);
    last
}

fn time_of(clock: ClockId) -> Duration {
    Duration::try_from(clock_gettime(clock)).unwrap_or_default()
}

/// A time that only goes forward.
#[derive(Clone, Copy, Debug)]
struct Steady {
    /// What it was when last asked for, since 1970.
    now: Duration,
    /// What a clock that nobody sets said then.
    passed: Duration,
    /// How often the wall clock was set ahead.
    set_ahead: u64,
}

/// So far the two clocks may run apart between two looks without one having been set.
const APART: Duration = Duration::from_millis(100);

impl Steady {
    /// The time when the wall clock says `wall` and so much has `passed` by the other.
    fn at(&mut self, wall: Duration, passed: Duration) -> Duration {
        let since = passed.saturating_sub(self.passed);
        self.passed = passed;
        self.set_ahead += u64::from(wall > self.now + since + APART);
        self.now = wall.max(self.now + since / 2);
        self.now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_follows_the_wall_clock_forward_and_slows_down_when_that_goes_back() {
        let seconds = Duration::from_secs;
        let mut steady = Steady { now: seconds(1000), passed: seconds(0), set_ahead: 0 };
        for (wall, passed, want, set_ahead) in [
            (1010, 10, 1010, 0),
            (9000, 20, 9000, 1),
            // Set back by 100 seconds: made up for in 200.
            (8910, 30, 9005, 1),
            (9010, 130, 9055, 1),
            (9100, 220, 9100, 1),
            (9110, 230, 9110, 1),
        ] {
            assert_eq!(steady.at(seconds(wall), seconds(passed)), seconds(want), "{wall}");
            assert_eq!(steady.set_ahead, set_ahead, "{wall}");
        }
        // As after a run by a clock that was ahead.
        steady.now = seconds(9210);
        assert_eq!(steady.at(seconds(9120), seconds(240)), seconds(9215));
    }

    #[test]
    fn two_looks_in_order_are_never_out_of_order() {
        let times: Vec<Time> = (0..1000).map(|_| SystemClock.now()).collect();
        assert!(times.is_sorted());
        assert!(times[0] > Time::from_secs(1_700_000_000));
        assert!(SystemClock.not_before(times[999]) >= times[999]);
    }
}
