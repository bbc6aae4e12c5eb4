//! May another request go now? A steady flow, whatever the hosts could take.

use std::time::Duration;

use evercrawl_model::Time;

/// Tokens for requests: a steady flow, with room for what a second leaves unused. On a busy machine, or
/// where hosts are at their pace for a moment, the budget is spent all the same; of an hour it is next to
/// nothing.
pub(crate) struct Bucket {
    rate: f64,
    tokens: f64,
    at: Time,
}

impl Bucket {
    pub(crate) fn new(rate: f64, at: Time) -> Self {
        Bucket { rate, tokens: 1.0, at }
    }

    /// The same at another rate from `now` on.
    pub(crate) fn at_rate(self, rate: f64, now: Time) -> Self {
        Bucket { rate, tokens: self.level(now), at: now }
    }

    /// Requests a second.
    pub(crate) fn rate(&self) -> f64 {
        self.rate
    }

    /// Another rate from `now` on.
    pub(crate) fn set_rate(&mut self, rate: f64, now: Time) {
        *self = Bucket { rate, tokens: self.level(now), at: now };
    }

    /// Requests that may go at once.
    pub(crate) fn level(&self, now: Time) -> f64 {
        let burst = 1.0 + self.rate;
        (self.tokens + now.since(self.at).as_secs_f64() * self.rate).min(burst)
    }

    /// When the next request may go; `None`: now.
    pub(crate) fn wait(&self, now: Time) -> Option<Time> {
        let missing = 1.0 - self.level(now);
        let pause = Duration::try_from_secs_f64(missing / self.rate).unwrap_or(Duration::MAX);
        (missing > 0.0).then(|| now.after(pause).after(Duration::from_millis(1)))
    }

    pub(crate) fn take(&mut self, now: Time) {
        self.tokens = self.level(now) - 1.0;
        self.at = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Time = Time::from_secs(1_000_000);

    /// Takes whenever it may, for a minute; returns how often that was.
    fn taken_in_a_minute(rate: f64) -> u32 {
        let mut bucket = Bucket::new(rate, START);
        let (mut now, mut taken) = (START, 0);
        let end = START.after(Duration::from_secs(60));
        while now < end {
            match bucket.wait(now) {
                Some(until) => now = until,
                None => {
                    bucket.take(now);
                    taken += 1;
                }
            }
        }
        taken
    }

    #[test]
    fn the_flow_is_what_was_asked_for() {
        for rate in [0.5, 5.0, 100.0] {
            let (want, got) = (rate * 60.0, f64::from(taken_in_a_minute(rate)));
            assert!(got <= want + 1.0 + rate && got > 0.9 * want, "{rate}: {got}");
        }
    }

    #[test]
    fn what_a_second_left_unused_is_saved_up_and_no_more() {
        let bucket = Bucket::new(5.0, START);
        assert!(bucket.level(START.after(Duration::from_secs(3600))) <= 6.0);
        let few = Bucket::new(10.0 / 3600.0, START);
        assert!(few.level(START.after(Duration::from_secs(36_000))) < 1.01);
    }

    #[test]
    fn a_caller_late_by_less_than_a_second_gets_all_of_the_flow() {
        for rate in [0.5, 5.0, 100.0] {
            let mut bucket = Bucket::new(rate, START);
            let (mut now, mut taken) = (START, 0);
            while now < START.after(Duration::from_secs(600)) {
                match bucket.wait(now) {
                    Some(until) => now = until.after(Duration::from_millis(400)),
                    None => {
                        bucket.take(now);
                        taken += 1;
                    }
                }
            }
            let (want, got) = (rate * 600.0, f64::from(taken));
            assert!((got / want - 1.0).abs() < 0.01 + 2.0 / want, "{rate}: {got} of {want}");
        }
    }
}
