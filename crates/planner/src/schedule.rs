//! When to come again, and how long to leave a host alone?

use std::time::Duration;

use evercrawl_model::{Change, Next, Outcome, Time};

/// The rules by which a visit leads to the next. For now every page gets the same interval.
#[derive(Clone, Copy, Debug)]
pub struct Schedule {
    /// How long after a visit a page is due again.
    pub recrawl: Duration,
    /// How often a first visit is tried before the page waits like any other.
    pub tries: u8,
    /// The first pause of a host that failed; it doubles with each failure in a row.
    pub back_off: Duration,
    /// The longest such pause, and the longest that a host may ask for.
    pub max_back_off: Duration,
    /// After so many failures in a row a host counts as dead and is asked once in
    /// `max_back_off`.
    pub dead_after: u16,
    /// A visit that finds less than this share of a page to be news found no change.
    pub least_change: f64,
    /// How soon a page that changed to what it had been before is looked at again, to see whether that
    /// holds; `None`: like any other.
    pub confirm: Option<Duration>,
    /// After so many failed visits in a row a page is refused, and looked at again rarely.
    pub give_up_after: u8,
}

impl Default for Schedule {
    fn default() -> Self {
        Schedule {
            recrawl: Duration::from_secs(24 * 3600),
            tries: 3,
            back_off: Duration::from_secs(5),
            max_back_off: Duration::from_secs(24 * 3600),
            dead_after: 5,
            least_change: 0.001,
            confirm: None,
            give_up_after: 16,
        }
    }
}

/// A page that is gone, or given up, is looked for this many intervals later.
const RARELY: u32 = 10;

/// A page that fails is tried again after a day at most.
const LONGEST_RETRY: Duration = Duration::from_secs(24 * 3600);

impl Schedule {
    /// When to visit a page again that was visited at `at`, after `failures` failed visits in a
    /// row (this one included); `held` says that content of it is held.
    pub fn next(&self, change: Change, at: Time, failures: u8, held: bool) -> Next {
        match change {
            Change::Gone => Next::Recheck(self.rarely(at)),
            Change::Failed if !held && failures < self.tries => Next::Retry,
            _ => Next::Due(at.after(self.recrawl)),
        }
    }

    /// How long after the last of so many failed visits in a row a page is tried again, where it was
    /// `shortest` after the first: twice as long each time, a day at most.
    pub fn retry(shortest: Duration, failures: u8) -> Duration {
        let doubled = shortest.saturating_mul(1 << failures.saturating_sub(1).min(20));
        doubled.min(LONGEST_RETRY).max(shortest)
    }

    /// When to look again at a page that there is little hope for.
    pub fn rarely(&self, at: Time) -> Time {
        at.after(self.recrawl.saturating_mul(RARELY))
    }

    /// How long to leave a host alone after it failed or asked for it: what it asked for, else a
    /// pause that doubles with each failure in a row, spread by `jitter` (0 to 1) so that hosts
    /// that failed together do not return together.
    pub fn back_off(&self, asked: Option<Duration>, failures: u16, jitter: f64) -> Duration {
        if let Some(asked) = asked {
            return asked.min(self.max_back_off);
        }
        if failures >= self.dead_after {
            return self.max_back_off;
        }
        let doubled = self.back_off.saturating_mul(1 << (failures.saturating_sub(1)).min(20));
        doubled.mul_f64(0.75 + 0.5 * jitter.clamp(0.0, 1.0)).min(self.max_back_off)
    }
}

/// True when an outcome speaks of the host rather than of the page: it did not answer at all, or
/// asked to be left alone.
pub fn is_host_trouble(outcome: Outcome, status: u16) -> bool {
    let silent =
        matches!(outcome, Outcome::Dns | Outcome::Connect | Outcome::Tls | Outcome::Timeout);
    silent || is_complaint(status)
}

/// True when a host says by this status that it is asked too often.
pub fn is_complaint(status: u16) -> bool {
    matches!(status, 429 | 503)
}

/// Reads a `Retry-After` header: seconds, or a date.
pub fn retry_after(value: &str, now: Time) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse() {
        return Some(Duration::from_secs(seconds));
    }
    Time::parse_http(value).ok().map(|at| at.since(now))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Time = Time::from_secs(1_794_780_950);

    #[test]
    fn a_page_that_fails_is_tried_again_ever_more_rarely() {
        let minute = Duration::from_secs(60);
        for (failures, minutes) in
            [(0, 1), (1, 1), (2, 2), (4, 8), (10, 512), (12, 1440), (200, 1440)]
        {
            assert_eq!(Schedule::retry(minute, failures), minute * minutes, "{failures}");
        }
        let week = Duration::from_secs(7 * 86_400);
        assert_eq!(Schedule::retry(week, 3), week);
    }

    #[test]
    fn failures_are_tried_again_first_and_then_wait_like_others() {
        let schedule = Schedule::default();
        let day = Next::Due(NOW.after(schedule.recrawl));
        assert_eq!(schedule.next(Change::Failed, NOW, 1, false), Next::Retry);
        assert_eq!(schedule.next(Change::Failed, NOW, 3, false), day);
        assert_eq!(schedule.next(Change::Failed, NOW, 1, true), day);
        assert_eq!(schedule.next(Change::Same, NOW, 0, true), day);
        assert_eq!(
            schedule.next(Change::Gone, NOW, 0, true),
            Next::Recheck(NOW.after(schedule.recrawl * 10))
        );
    }

    #[test]
    fn pauses_double_up_to_a_day() {
        let schedule = Schedule::default();
        let pause = |failures| schedule.back_off(None, failures, 0.5).as_secs();
        assert_eq!([1, 2, 3, 4].map(pause), [5, 10, 20, 40]);
        assert_eq!(pause(5), 24 * 3600);
        assert!(schedule.back_off(None, 1, 0.0) < schedule.back_off(None, 1, 1.0));
        let asked = Some(Duration::from_secs(90));
        assert_eq!(schedule.back_off(asked, 9, 0.5).as_secs(), 90);
        let absurd = Some(Duration::from_secs(1 << 40));
        assert_eq!(schedule.back_off(absurd, 1, 0.5), schedule.max_back_off);
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        assert_eq!(retry_after(" 120 ", NOW), Some(Duration::from_secs(120)));
        let date = "Sun, 15 Nov 2026 22:16:50 GMT";
        assert_eq!(retry_after(date, NOW), Some(Duration::from_secs(60)));
        assert_eq!(retry_after("Sun, 15 Nov 2020 22:16:50 GMT", NOW), Some(Duration::ZERO));
        assert_eq!(retry_after("soon", NOW), None);
    }
}
