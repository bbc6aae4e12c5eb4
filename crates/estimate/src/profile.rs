//! At which hours and on which weekdays does a page change?
//!
//! Rates that follow the working week are a change of clock: measured in expected changes instead of
//! hours, the page is Poisson again. So a profile only converts times; no estimator or policy needs
//! to know of it.

const DAYS: usize = 7;
const HOURS: usize = 24;
const WEEK: usize = DAYS * HOURS;
/// Evidence, in changes, that an hour or a day must outweigh before the profile bends.
const SMOOTHING: f64 = 4.0;

/// A weekly profile: relative change rates of the 168 hours, with mean 1.
///
/// Times are hours since some Monday 00:00 in the page's own time zone, so the caller decides what
/// a Monday is; they may be negative.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// Profile time from the start of the week to the start of each hour.
    until: Vec<f64>,
}

impl Profile {
    /// Returns the profile without a rhythm, whose clock is the ordinary one.
    pub fn flat() -> Self {
        Self::new(&[1.0; DAYS], &[1.0; HOURS])
    }

    /// Creates a profile from relative rates of weekdays (Monday first) and of hours.
    ///
    /// Negative and senseless rates count as 0. Hours of rate 0 keep a trace (1e-6), so that time
    /// never stands still and every conversion has an answer.
    pub fn new(days: &[f64; DAYS], hours: &[f64; HOURS]) -> Self {
        let rate = |i: usize| sensible(days[i / HOURS]) * sensible(hours[i % HOURS]);
        let mean = (0..WEEK).map(rate).sum::<f64>() / WEEK as f64;
        let relative = |i: usize| if mean > 0.0 { (rate(i) / mean).max(1e-6) } else { 1.0 };
        let total: f64 = (0..WEEK).map(relative).sum();
        let mut until = Vec::with_capacity(WEEK + 1);
        let mut sum = 0.0;
        for i in 0..WEEK {
            until.push(sum);
            sum += relative(i) * (WEEK as f64 / total);
        }
        until.push(WEEK as f64);
        Self { until }
    }

    /// Returns the relative rate at a time.
    pub fn rate_at(&self, time: f64) -> f64 {
        let (_, hour, _) = place(time);
        self.until[hour + 1] - self.until[hour]
    }

    /// Returns the profile time that passes from `from` to `to`: ∫ rate dt.
    pub fn elapsed(&self, from: f64, to: f64) -> f64 {
        self.reading(to) - self.reading(from)
    }

    /// Returns the moment at which `elapsed` profile time has passed since `from`.
    pub fn after(&self, from: f64, elapsed: f64) -> f64 {
        let reading = self.reading(from) + elapsed;
        if !reading.is_finite() {
            return reading;
        }
        let week = (reading / WEEK as f64).floor();
        let within = reading - week * WEEK as f64;
        let hour = self.until.partition_point(|&start| start <= within).clamp(1, WEEK) - 1;
        let share = (within - self.until[hour]) / (self.until[hour + 1] - self.until[hour]);
        week * WEEK as f64 + hour as f64 + share.clamp(0.0, 1.0)
    }

    /// The profile's clock: profile time since time 0.
    fn reading(&self, time: f64) -> f64 {
        if !time.is_finite() {
            return time;
        }
        let (week, hour, share) = place(time);
        let (start, end) = (self.until[hour], self.until[hour + 1]);
        week * WEEK as f64 + start + share * (end - start)
    }
}

/// Counts from which a profile is learned: changes found and changes expected, by hour and by day.
#[derive(Debug, Clone, PartialEq)]
pub struct ProfileCounts {
    found: Vec<f64>,
    expected: Vec<f64>,
}

impl Default for ProfileCounts {
    fn default() -> Self {
        Self { found: vec![0.0; WEEK], expected: vec![0.0; WEEK] }
    }
}

impl ProfileCounts {
    /// Learns from an interval of a page with mean rate `rate` (changes an hour) and its outcome.
    ///
    /// When in the interval a change fell is unknown; it is spread as `current` would have it (an
    /// EM step). Intervals longer than a week tell nothing about hours and are left out.
    pub fn observe(&mut self, current: &Profile, from: f64, to: f64, rate: f64, changed: bool) {
        let valid = from.is_finite() && to > from && to - from <= WEEK as f64 && rate >= 0.0;
        let total = current.elapsed(from, to);
        if !valid || !rate.is_finite() || total <= 0.0 {
            return;
        }
        let expected = rate * total;
        let found = if changed { expected / -(-expected).exp_m1().min(-1e-12) } else { 0.0 };
        let mut time = from;
        while time < to {
            let (_, hour, share) = place(time);
            let next = (time + (1.0 - share).max(1e-9)).min(to);
            let part = current.elapsed(time, next) / total;
            self.found[hour] += found * part;
            self.expected[hour] += rate * (next - time);
            time = next;
        }
    }

    /// Returns the profile that the counts make: (K + found)/(K + expected) by weekday, times by hour.
    pub fn profile(&self) -> Profile {
        let ratio = |belongs: &dyn Fn(usize) -> bool| {
            let sum = |list: &[f64]| -> f64 {
                list.iter().enumerate().filter(|(i, _)| belongs(*i)).map(|(_, v)| v).sum()
            };
            (SMOOTHING + sum(&self.found)) / (SMOOTHING + sum(&self.expected))
        };
        let days = std::array::from_fn(|day| ratio(&|i| i / HOURS == day));
        let hours = std::array::from_fn(|hour| ratio(&|i| i % HOURS == hour));
        Profile::new(&days, &hours)
    }
}

/// The week, the hour within it, and the share of that hour which has passed.
fn place(time: f64) -> (f64, usize, f64) {
    let week = (time / WEEK as f64).floor();
    let within = time - week * WEEK as f64;
    let hour = (within as usize).min(WEEK - 1);
    (week, hour, (within - hour as f64).clamp(0.0, 1.0))
}

fn sensible(rate: f64) -> f64 {
    if rate > 0.0 { rate.min(1e12) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Uniforms, assert_close};
    use proptest::prelude::*;

    fn office() -> Profile {
        let hours = std::array::from_fn(|h| if (9..17).contains(&h) { 1.0 } else { 0.1 });
        Profile::new(&[1.0, 1.0, 1.0, 1.0, 1.0, 0.1, 0.1], &hours)
    }

    #[test]
    fn a_flat_profile_is_the_ordinary_clock() {
        let flat = Profile::flat();
        assert_close(flat.elapsed(-30.5, 400.25), 430.75, 1e-12);
        assert_close(flat.after(-30.5, 430.75), 400.25, 1e-12);
        assert_close(flat.rate_at(5.0), 1.0, 1e-12);
    }

    #[test]
    fn a_week_is_a_week_in_every_profile() {
        assert_close(office().elapsed(13.7, 13.7 + 168.0), 168.0, 1e-9);
        assert!(office().rate_at(10.0) > 5.0 * office().rate_at(3.0));
    }

    #[test]
    fn nonsense_is_answered() {
        let odd = [f64::NAN, -1.0, f64::INFINITY, 0.0, 1.0, 1.0, 1.0];
        let profile = Profile::new(&odd, &[0.0; 24]);
        assert_close(profile.elapsed(0.0, 168.0), 168.0, 1e-9);
        assert_eq!(office().after(0.0, f64::INFINITY), f64::INFINITY);
        assert!(office().after(f64::NAN, 1.0).is_nan());
        assert!(office().rate_at(f64::NAN) > 0.0 && office().rate_at(1e300) > 0.0);
        let mut counts = ProfileCounts::default();
        counts.observe(&office(), f64::NAN, 1.0, 1.0, true);
        counts.observe(&office(), 0.0, f64::INFINITY, 1.0, true);
        assert_eq!(counts, ProfileCounts::default());
    }

    #[test]
    fn the_rhythm_is_learned_from_checks_alone() {
        let (truth, mut random) = (office(), Uniforms::new(6));
        let mut learned = Profile::flat();
        for _ in 0..3 {
            let (mut counts, mut time) = (ProfileCounts::default(), 0.0);
            for _ in 0..20_000 {
                let next = time + 1.0 + 10.0 * random.next();
                let quiet = (-0.1 * truth.elapsed(time, next)).exp();
                counts.observe(&learned, time, next, 0.1, random.next() > quiet);
                time = next;
            }
            learned = counts.profile();
        }
        assert!(learned.rate_at(12.0) > 2.0 && learned.rate_at(3.0) < 0.7);
        assert!(learned.rate_at(12.0) > 3.0 * learned.rate_at(5.0 * 24.0 + 12.0));
    }

    proptest! {
        #[test]
        fn the_clock_can_be_read_backwards(from in -1e4..1e4_f64, span in 0.0..1e4_f64) {
            let profile = office();
            let elapsed = profile.elapsed(from, from + span);
            prop_assert!(elapsed >= 0.0);
            prop_assert!((profile.after(from, elapsed) - from - span).abs() < 1e-6);
        }
    }
}
