//! How are a page's changes spread over time? As a renewal process on the page's own clock, on
//! which one change is expected a unit.

use evercrawl_policy::SplitMix64;

use crate::dice::{exponential, gamma};

/// How regular the gaps between changes are. All have mean 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum GapDistribution {
    /// Exponential gaps: nothing is remembered.
    Poisson,
    /// Gamma gaps of this shape, 1/CV²: below 1 burstier than Poisson, above more regular.
    Gamma(f64),
    /// By the calendar, each time late by up to this share of the period.
    Periodic(f64),
    /// In bursts: so many changes each on average, so many days apart within a burst.
    ///
    /// Gaps are short or long by the throw of a coin, which is the same as a Poisson process that is
    /// switched on and off (Kuczura 1973).
    Bursts {
        /// Mean number of changes in a burst.
        size: f64,
        /// Mean gap within a burst, in days.
        within: f64,
    },
}

impl GapDistribution {
    /// The time to the first change, seen from any moment that has nothing to do with the changes.
    ///
    /// That is a random point of a gap that was met in proportion to its length. So the process is
    /// stationary: its mean rate holds from the first day on.
    pub(super) fn first(self, key: u64, rate: f64) -> f64 {
        let random = &mut stream(key, 0);
        match self {
            GapDistribution::Poisson => exponential(random),
            GapDistribution::Gamma(shape) => random.uniform() * gamma(random, shape + 1.0) / shape,
            GapDistribution::Periodic(jitter) => date(key, first_date(key, jitter), jitter),
            GapDistribution::Bursts { size, within } => {
                let two = Two::new(size, within, rate);
                two.gap(random, two.long * two.long_share)
            }
        }
    }

    /// The time from change number `n` (from 0) to the next.
    ///
    /// `key` is the page's, `rate` its changes a day.
    pub(super) fn after(self, key: u64, n: u32, rate: f64) -> f64 {
        let random = &mut stream(key, n + 1);
        match self {
            GapDistribution::Poisson => exponential(random),
            GapDistribution::Gamma(shape) => gamma(random, shape) / shape,
            GapDistribution::Periodic(jitter) => {
                let n = n + first_date(key, jitter);
                date(key, n + 1, jitter) - date(key, n, jitter)
            }
            GapDistribution::Bursts { size, within } => {
                let two = Two::new(size, within, rate);
                two.gap(random, two.long_share)
            }
        }
    }
}

/// The generator of gap `n`. Neighbouring seeds are no neighbours once mixed.
fn stream(key: u64, n: u32) -> SplitMix64 {
    SplitMix64::new(key.wrapping_add(u64::from(n)))
}

/// The date number `n` of a calendar page, with its delay. Number 0 would be before time 0, but for
/// that delay.
fn date(key: u64, n: u32, jitter: f64) -> f64 {
    let late = jitter * stream(!key, n).uniform();
    stream(key, 0).uniform() - 1.0 + f64::from(n) + late
}

/// The number of the first date after time 0.
fn first_date(key: u64, jitter: f64) -> u32 {
    u32::from(date(key, 0, jitter) <= 0.0)
}

/// Gaps of two kinds, exponential each, with mean 1 overall.
struct Two {
    short: f64,
    long: f64,
    long_share: f64,
}

impl Two {
    /// A page that changes faster than bursts do has no bursts: its short gaps are its long ones.
    fn new(size: f64, within: f64, rate: f64) -> Self {
        let long_share = 1.0 / size;
        let short = (within * rate).min(1.0);
        Two { short, long: (1.0 - (1.0 - long_share) * short) / long_share, long_share }
    }

    fn gap(&self, random: &mut SplitMix64, chance_of_long: f64) -> f64 {
        let mean = if random.uniform() < chance_of_long { self.long } else { self.short };
        mean * exponential(random)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [GapDistribution; 7] = [
        GapDistribution::Poisson,
        GapDistribution::Gamma(0.4),
        GapDistribution::Gamma(4.0),
        GapDistribution::Periodic(0.0),
        GapDistribution::Periodic(0.8),
        GapDistribution::Bursts { size: 5.0, within: 0.1 },
        GapDistribution::Bursts { size: 5.0, within: 30.0 },
    ];

    #[test]
    fn gaps_have_mean_one_and_their_own_variation() {
        let wanted = [1.0, 2.5, 0.25, 0.0, 0.8 * 0.8 / 6.0];
        for (at, gaps) in ALL.into_iter().enumerate() {
            let n = 200_000;
            let values: Vec<f64> = (0..n).map(|i| gaps.after(77, i, 1.0)).collect();
            let mean = values.iter().sum::<f64>() / f64::from(n);
            let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / f64::from(n);
            let error = 5.0 * (variance / f64::from(n)).sqrt() + 1e-9;
            assert!((mean - 1.0).abs() < error, "{gaps:?}: {mean}");
            if let Some(want) = wanted.get(at) {
                assert!((variance - want).abs() <= 0.05 * want + 1e-9, "{gaps:?}: {variance}");
            }
        }
    }

    #[test]
    fn the_mean_rate_holds_from_the_first_moment_on() {
        // Renewal processes that begin in equilibrium have exactly t changes in time t on average.
        for gaps in ALL {
            for until in [0.3, 1.0, 2.5] {
                let pages = 40_000;
                let counts = (0..pages).map(|page| {
                    let key = SplitMix64::new(page).next_u64();
                    let (mut time, mut n) = (gaps.first(key, 1.0), 0);
                    while time < until {
                        time += gaps.after(key, n, 1.0);
                        n += 1;
                    }
                    f64::from(n)
                });
                let counts: Vec<f64> = counts.collect();
                let mean = counts.iter().sum::<f64>() / pages as f64;
                let variance =
                    counts.iter().map(|c| (c - mean).powi(2)).sum::<f64>() / pages as f64;
                let error = 5.0 * (variance / pages as f64).sqrt() + 1e-9;
                assert!((mean - until).abs() < error, "{gaps:?} until {until}: {mean}");
            }
        }
    }

    #[test]
    fn bursts_come_together() {
        let gaps = GapDistribution::Bursts { size: 5.0, within: 0.01 };
        let short = (0..10_000).filter(|&n| gaps.after(5, n, 1.0) < 0.05).count();
        assert!((7700..8300).contains(&short), "four gaps in five: {short}");
    }
}
