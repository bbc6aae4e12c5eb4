//! What does chance say, given what it is asked about? Draws that depend on their key and on nothing else.

/// What a draw is about, so that draws for different questions about one page are independent.
#[derive(Clone, Copy)]
pub(crate) enum DicePurpose {
    Host = 1,
    Fate,
    Life,
    Rate,
    Arrivals,
    Copy,
    Links,
    Text,
    Edition,
    Pool,
    Outage,
    Cut,
    Lastmod,
    Noise,
    Footer,
    Spam,
}

/// An endless stream of draws, fixed by its key (SplitMix64).
#[derive(Clone)]
pub(crate) struct WorldDice(u64);

impl WorldDice {
    pub(crate) fn new(seed: u64, topic: DicePurpose, first: u64, second: u64) -> Self {
        let about = scramble(seed.wrapping_add(GOLDEN.wrapping_mul(topic as u64)));
        WorldDice(scramble(scramble(about ^ first).wrapping_add(GOLDEN) ^ second))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        scramble(self.0)
    }

    /// Draws from [0, 1).
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Draws from [0, n), or 0 when n is 0.
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(n)) >> 64) as u64
    }

    pub(crate) fn chance(&mut self, share: f64) -> bool {
        self.unit() < share
    }

    /// Chooses one of the kinds by its share, or `rest` for what the shares leave over.
    pub(crate) fn pick<T: Copy>(&mut self, shares: &[(f64, T)], rest: T) -> T {
        let mut left = self.unit();
        for &(share, kind) in shares {
            if left < share {
                return kind;
            }
            left -= share;
        }
        rest
    }

    /// Draws from the standard normal distribution (Box and Muller).
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// Draws from the exponential distribution with mean 1.
    pub(crate) fn exponential(&mut self) -> f64 {
        -(1.0 - self.unit()).ln()
    }
}

const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

fn scramble(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: u64 = 20_000;

    fn mean(mut draw: impl FnMut(&mut WorldDice) -> f64) -> f64 {
        (0..DRAWS).map(|key| draw(&mut WorldDice::new(1, DicePurpose::Host, key, 0))).sum::<f64>()
            / DRAWS as f64
    }

    #[test]
    fn the_first_draws_over_keys_have_the_moments_of_their_distribution() {
        assert!((mean(WorldDice::unit) - 0.5).abs() < 0.01);
        assert!(mean(WorldDice::normal).abs() < 0.03);
        assert!((mean(|dice| dice.normal().powi(2)) - 1.0).abs() < 0.05);
        assert!((mean(WorldDice::exponential) - 1.0).abs() < 0.03);
        assert!((mean(|dice| dice.below(10) as f64) - 4.5).abs() < 0.1);
    }

    #[test]
    fn pick_follows_the_shares() {
        let picked =
            |wanted: u8| mean(|dice| f64::from(dice.pick(&[(0.2, 1), (0.3, 2)], 3) == wanted));
        assert!((picked(1) - 0.2).abs() < 0.015);
        assert!((picked(2) - 0.3).abs() < 0.015);
        assert!((picked(3) - 0.5).abs() < 0.015);
    }

    #[test]
    fn topics_do_not_share_draws() {
        assert_ne!(
            WorldDice::new(1, DicePurpose::Host, 2, 3).next(),
            WorldDice::new(1, DicePurpose::Fate, 2, 3).next()
        );
        assert_eq!(
            WorldDice::new(1, DicePurpose::Host, 2, 3).next(),
            WorldDice::new(1, DicePurpose::Host, 2, 3).next()
        );
    }
}
