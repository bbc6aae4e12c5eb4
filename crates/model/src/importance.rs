//! How much does a page matter next to others? One byte, on a scale of ratios.

/// A page's importance relative to the average page, in steps of an eighth of a doubling; or unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Importance(u8);

impl Importance {
    /// Not ranked yet.
    pub const UNKNOWN: Importance = Importance(0);

    /// The average page's step.
    const AVERAGE: f64 = 128.0;
    /// Steps in a doubling.
    const STEPS: f64 = 8.0;

    /// The nearest step to `times` what the average page matters; unknown where that is no number
    /// above 0.
    pub fn from_ratio(times: f64) -> Self {
        if times.is_nan() || times <= 0.0 {
            return Self::UNKNOWN;
        }
        let step = (Self::AVERAGE + Self::STEPS * times.log2()).round().clamp(1.0, 255.0);
        // A whole number from 1 to 255.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        Importance(step as u8)
    }

    /// The importance relative to the average page, if known.
    pub fn ratio(self) -> Option<f64> {
        (self != Self::UNKNOWN)
            .then(|| 2f64.powf((f64::from(self.0) - Self::AVERAGE) / Self::STEPS))
    }

    /// Its number in compact rows; 0 where it is unknown.
    pub fn number(self) -> u8 {
        self.0
    }

    /// Reads what [`number`](Self::number) gave.
    pub fn from_number(n: u8) -> Self {
        Importance(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_come_back_within_a_step_and_nonsense_is_unknown() {
        for times in [1e-4, 0.15, 1.0, 3.7, 60_000.0] {
            let back = Importance::from_ratio(times).ratio().unwrap();
            assert!((back / times).log2().abs() <= 1.0 / 16.0 + 1e-9, "{times} {back}");
        }
        assert_eq!(Importance::from_ratio(1.0).ratio(), Some(1.0));
        assert!(Importance::from_ratio(1e-300) < Importance::from_ratio(f64::INFINITY));
        for nonsense in [0.0, -1.0, f64::NAN] {
            assert_eq!(Importance::from_ratio(nonsense), Importance::UNKNOWN);
        }
        assert_eq!(Importance::UNKNOWN.ratio(), None);
        let all = (0..=255).map(Importance::from_number);
        assert!(
            all.clone()
                .all(|it| it.ratio().map_or(Importance::UNKNOWN, Importance::from_ratio) == it)
        );
    }
}
