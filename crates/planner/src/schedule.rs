//! When is a page visited again, and how long does a failing host rest?

use std::time::Duration;

use evercrawl_model::{Change, NextVisit, Outcome, Time};

/// The rules for the next visit. Without a policy's due times every page gets the same interval.
#[derive(Clone, Copy, Debug)]
pub struct Schedule {
    /// How long after a visit a page is due again.
    pub recrawl: Duration,
    /// How often a first visit is retried before the page waits like any other.
    pub tries: u8,
    /// The first backoff of a failing host; it doubles with each failure in a row.
    pub back_off: Duration,
    /// The longest backoff, and the longest Retry-After that is respected.
    pub max_back_off: Duration,
    /// After this many failures in a row a host counts as dead and is requested once per `max_back_off`.
    pub dead_after: u16,
    /// A change of less than this share of a page counts as no change.
    pub least_change: f64,
    /// How soon a page is revisited after it changed back to earlier content, to confirm that; `None`: no sooner than
    /// usual.
    pub confirm: Option<Duration>,
    /// How soon a page gets a second look when it cannot be told whether what differs is noise; `None`: what is in
    /// doubt counts as a change at once.
    pub second_look: Option<Duration>,
    /// After this many failed visits in a row a page is refused and only rechecked rarely.
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
            second_look: None,
            give_up_after: 16,
        }
    }
}

/// A page that is gone or refused is rechecked after this many intervals.
const RARE_VISIT_INTERVALS: u32 = 10;

/// The longest delay before a failed page is retried.
const MAX_RETRY_DELAY: Duration = Duration::from_secs(24 * 3600);

impl Schedule {
    /// When to visit a page again after a visit at `at`, with this many `failures` in a row (this one included);
    /// `held` says that the page has stored content.
    pub(crate) fn next_visit(
        &self,
        change: Change,
        at: Time,
        failures: u8,
        held: bool,
    ) -> NextVisit {
        match change {
            Change::Gone => NextVisit::Recheck(self.rare_visit(at)),
            Change::Failed if !held && failures < self.tries => NextVisit::Retry,
            _ => NextVisit::Due(at.after(self.recrawl)),
        }
    }

    /// The retry delay after this many failed visits in a row: `shortest` after the first, then doubling up to a day.
    pub(crate) fn retry_delay(shortest: Duration, failures: u8) -> Duration {
        let doubled = shortest.saturating_mul(1 << failures.saturating_sub(1).min(20));
        doubled.min(MAX_RETRY_DELAY).max(shortest)
    }

    /// When to recheck a page that will probably fail.
    pub fn rare_visit(&self, at: Time) -> Time {
        at.after(self.recrawl.saturating_mul(RARE_VISIT_INTERVALS))
    }

    /// How long to block a host after a failure or at its request: for what it asked, or else a backoff that doubles
    /// with each failure in a row. `jitter` (0 to 1) spreads the backoffs of hosts that failed together.
    pub fn host_backoff(&self, asked: Option<Duration>, failures: u16, jitter: f64) -> Duration {
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

/// True when an outcome concerns the whole host: it did not answer, or asked for fewer requests.
pub fn is_host_failure(outcome: Outcome, status: u16) -> bool {
    let silent = matches!(
        outcome,
        Outcome::Dns | Outcome::Connect | Outcome::Tls | Outcome::Timeout | Outcome::Disconnected
    );
    silent || is_overload_status(status)
}

/// True for statuses by which a host says that it is requested too often.
pub fn is_overload_status(status: u16) -> bool {
    matches!(status, 429 | 503)
}

/// Reads a `Retry-After` header: seconds, or a date.
pub fn parse_retry_after(value: &str, now: Time) -> Option<Duration> {
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
            assert_eq!(Schedule::retry_delay(minute, failures), minute * minutes, "{failures}");
        }
        let week = Duration::from_secs(7 * 86_400);
        assert_eq!(Schedule::retry_delay(week, 3), week);
    }

    #[test]
    fn failures_are_tried_again_first_and_then_wait_like_others() {
        let schedule = Schedule::default();
        let day = NextVisit::Due(NOW.after(schedule.recrawl));
        assert_eq!(schedule.next_visit(Change::Failed, NOW, 1, false), NextVisit::Retry);
        assert_eq!(schedule.next_visit(Change::Failed, NOW, 3, false), day);
        assert_eq!(schedule.next_visit(Change::Failed, NOW, 1, true), day);
        assert_eq!(schedule.next_visit(Change::Same, NOW, 0, true), day);
        assert_eq!(
            schedule.next_visit(Change::Gone, NOW, 0, true),
            NextVisit::Recheck(NOW.after(schedule.recrawl * 10))
        );
    }

    #[test]
    fn pauses_double_up_to_a_day() {
        let schedule = Schedule::default();
        let pause = |failures| schedule.host_backoff(None, failures, 0.5).as_secs();
        assert_eq!([1, 2, 3, 4].map(pause), [5, 10, 20, 40]);
        assert_eq!(pause(5), 24 * 3600);
        assert!(schedule.host_backoff(None, 1, 0.0) < schedule.host_backoff(None, 1, 1.0));
        let asked = Some(Duration::from_secs(90));
        assert_eq!(schedule.host_backoff(asked, 9, 0.5).as_secs(), 90);
        let absurd = Some(Duration::from_secs(1 << 40));
        assert_eq!(schedule.host_backoff(absurd, 1, 0.5), schedule.max_back_off);
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        assert_eq!(parse_retry_after(" 120 ", NOW), Some(Duration::from_secs(120)));
        let date = "Sun, 15 Nov 2026 22:16:50 GMT";
        assert_eq!(parse_retry_after(date, NOW), Some(Duration::from_secs(60)));
        assert_eq!(parse_retry_after("Sun, 15 Nov 2020 22:16:50 GMT", NOW), Some(Duration::ZERO));
        assert_eq!(parse_retry_after("soon", NOW), None);
    }
}
