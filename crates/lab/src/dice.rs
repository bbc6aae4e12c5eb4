//! Where do a world's draws come from? From (seed, purpose, number), so that any of them can be had
//! again at any time, alone, and what is drawn for one purpose moves nothing else.

use evercrawl_policy::SplitMix64;

/// What a draw decides.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Purpose {
    Class,
    Rate,
    RateOfDirectory,
    LaterRate,
    Wander,
    Never,
    Importance,
    Cost,
    Life,
    Changes,
    GroupEvents,
    TakingPart,
    HostKind,
    Place,
    Links,
    Imputation,
}

/// The draws of one world for one purpose.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64, purpose: Purpose) -> Self {
        Dice(mixed(mixed(seed).wrapping_add(purpose as u64)))
    }

    /// The draws of an item that has items of its own, by its key.
    pub(crate) fn of_key(key: u64) -> Self {
        Dice(key)
    }

    /// A number of its own for item `n`: a seed for what has items of its own.
    pub(crate) fn key(self, n: u64) -> u64 {
        mixed(self.0.wrapping_add(n))
    }

    /// The generator of item `n`.
    pub(crate) fn roll(self, n: u64) -> SplitMix64 {
        SplitMix64::new(self.key(n))
    }

    /// A number between 0 and 1 for item `n`.
    pub(crate) fn uniform(self, n: u64) -> f64 {
        self.roll(n).uniform()
    }

    /// A standard normal number for item `n`.
    pub(crate) fn normal(self, n: u64) -> f64 {
        normal(&mut self.roll(n))
    }
}

fn mixed(number: u64) -> u64 {
    SplitMix64::new(number).next_u64()
}

/// A standard normal number (Box and Muller).
pub(crate) fn normal(random: &mut SplitMix64) -> f64 {
    let length = (-2.0 * random.uniform().ln()).sqrt();
    length * (std::f64::consts::TAU * random.uniform()).cos()
}

/// An exponential number of mean 1.
pub(crate) fn exponential(random: &mut SplitMix64) -> f64 {
    -random.uniform().ln()
}

/// A Gamma number of the given shape and scale 1 (Marsaglia and Tsang, 2000).
pub(crate) fn gamma(random: &mut SplitMix64, shape: f64) -> f64 {
    if shape < 1.0 {
        return gamma(random, shape + 1.0) * random.uniform().powf(1.0 / shape);
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let z = normal(random);
        let v = (1.0 + c * z).powi(3);
        if v > 0.0 && random.uniform().ln() < 0.5 * z * z + d * (1.0 - v + v.ln()) {
            return d * v;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean and variance of `draw`, each with its standard error under normality of the mean.
    fn moments(draw: impl Fn(&mut SplitMix64) -> f64) -> (f64, f64) {
        let mut random = SplitMix64::new(11);
        let values: Vec<f64> = (0..200_000).map(|_| draw(&mut random)).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / values.len() as f64;
        (mean, variance)
    }

    #[test]
    fn draws_have_the_moments_of_their_names() {
        // Five standard errors: sqrt(variance/n) for the mean, about 2.8 % for a kurtosis of 9.
        let check = |(mean, variance): (f64, f64), want_mean: f64, want_variance: f64| {
            let error = 5.0 * (want_variance / 200_000.0_f64).sqrt();
            assert!((mean - want_mean).abs() < error, "{mean} for {want_mean}");
            assert!((variance / want_variance - 1.0).abs() < 0.05, "{variance}");
        };
        check(moments(normal), 0.0, 1.0);
        check(moments(exponential), 1.0, 1.0);
        for shape in [0.4, 1.0, 3.7] {
            check(moments(|random| gamma(random, shape)), shape, shape);
        }
    }

    #[test]
    fn purposes_items_and_seeds_do_not_mix() {
        let mut keys: Vec<u64> = Vec::new();
        for seed in 0..10 {
            for purpose in [Purpose::Class, Purpose::Rate, Purpose::Links] {
                keys.extend((0..100).map(|n| Dice::new(seed, purpose).key(n)));
            }
        }
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), 3000);
    }
}
