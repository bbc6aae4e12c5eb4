//! Which share of accesses should each page get, if accesses come in a stream of given gaps?
//!
//! Coffman, Liu and Weber's bound (the survey's eq. 32 to 34). One access at a time, with gaps X; page
//! i changes at rate μᵢ and h = E e^(-μX) is the chance that it outlives one gap.

/// The gaps between two accesses of the stream.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PollGap {
    /// Always the same.
    Constant(f64),
    /// Exponential with this mean.
    Exponential(f64),
}

impl PollGap {
    /// Returns h = E e^(-μX), the chance that a page of change rate `rate` outlives one gap.
    pub fn survival(self, rate: f64) -> f64 {
        let rate = rate.max(0.0);
        match self {
            Self::Constant(gap) => (-rate * gap.max(0.0)).exp(),
            Self::Exponential(mean) => 1.0 / (1.0 + rate * mean.max(0.0)),
        }
    }

    /// Returns E\[X\].
    pub fn mean(self) -> f64 {
        match self {
            Self::Constant(mean) | Self::Exponential(mean) => mean.max(0.0),
        }
    }
}

/// Returns the best shares with accesses evenly spaced: ln hᵢ/Σ ln hⱼ (eq. 34, whose x is a share).
///
/// For costs of staleness in proportion to the change rates. In proportion to the rates themselves
/// only if all gaps are alike.
pub fn even_shares(gap: PollGap, rates: &[f64]) -> Vec<f64> {
    shares(rates, |rate| -gap.survival(rate).ln())
}

/// Returns the best shares with accesses drawn at random: in proportion to 1/hᵢ - 1.
pub fn random_shares(gap: PollGap, rates: &[f64]) -> Vec<f64> {
    shares(rates, |rate| 1.0 / gap.survival(rate) - 1.0)
}

/// Returns the least part of time for which a page with a share of accesses can be stale.
///
/// 1 - f(1 - h^(1/f))/(μ E\[X\]) (eq. 32; its exponent 1/f is 1/fᵢ).
pub fn staleness_bound(gap: PollGap, rate: f64, share: f64) -> f64 {
    if rate.is_nan() || rate <= 0.0 {
        return 0.0;
    }
    if share.is_nan() || share <= 0.0 {
        return 1.0;
    }
    let outlived = -(gap.survival(rate).ln() / share).exp_m1();
    (1.0 - share * outlived / (rate * gap.mean())).clamp(0.0, 1.0)
}

/// Brings non-negative sizes to sum 1; all equal where none has any.
fn shares(rates: &[f64], size: impl Fn(f64) -> f64) -> Vec<f64> {
    let sizes =
        rates.iter().map(|rate| size(*rate)).map(|s| if s > 0.0 { s.min(1e300) } else { 0.0 });
    let sizes: Vec<f64> = sizes.collect();
    let sum: f64 = sizes.iter().map(|s| s / 1e150).sum();
    let equal = 1.0 / rates.len().max(1) as f64;
    sizes.into_iter().map(|s| if sum > 0.0 { s / 1e150 / sum } else { equal }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allocate::testing::{assert_close, numbers};
    use crate::testing::golden;

    #[test]
    fn shares_and_bounds_match_the_reference_numbers() {
        let Some(golden) = golden("polling") else { return };
        let rates = numbers(&golden["mu"]);
        for (gap, key) in
            [(PollGap::Constant(1.0), "X_const1"), (PollGap::Exponential(1.0), "X_exp1")]
        {
            let want = |name: &str| numbers(&golden[key][name]);
            let shares = even_shares(gap, &rates);
            for (i, rate) in rates.iter().enumerate() {
                assert_close(gap.survival(*rate), want("h")[i], 1e-9);
                assert_close(shares[i], want("f")[i], 1e-9);
                assert_close(staleness_bound(gap, *rate, shares[i]), want("bound_r")[i], 1e-9);
            }
        }
        let exponential = PollGap::Exponential(1.0);
        let randomised = numbers(&golden["X_exp1"]["f_randomized"]);
        for (got, want) in random_shares(exponential, &rates).iter().zip(randomised) {
            assert_close(*got, want, 1e-9);
        }
        let searched = numbers(&golden["slsqp_check_f"]);
        for (got, want) in even_shares(exponential, &rates).iter().zip(searched) {
            assert_close(*got, want, 1e-6);
        }
    }

    #[test]
    fn no_other_shares_have_a_lower_bound() {
        let (gap, rates) = (PollGap::Exponential(1.0), [0.1, 0.2, 0.3, 0.5]);
        let cost = |shares: &[f64]| -> f64 {
            rates.iter().zip(shares).map(|(r, s)| r * staleness_bound(gap, *r, *s)).sum()
        };
        let best = even_shares(gap, &rates);
        for i in 0..4 {
            for j in 0..4 {
                let mut other = best.clone();
                other[i] += 0.01;
                other[j] -= 0.01;
                assert!(cost(&other) >= cost(&best) - 1e-12);
            }
        }
    }

    #[test]
    fn edges_are_answered() {
        let gap = PollGap::Constant(1.0);
        assert!(even_shares(gap, &[]).is_empty());
        assert_eq!(even_shares(gap, &[0.0, f64::NAN]), [0.5, 0.5]);
        assert_eq!(random_shares(gap, &[f64::INFINITY, 0.0]), [1.0, 0.0]);
        assert_eq!(staleness_bound(gap, 0.0, 0.5), 0.0);
        assert_eq!(staleness_bound(gap, 1.0, 0.0), 1.0);
    }
}
