//! At which threshold is exactly the budget spent?

use evercrawl_estimate::root::enclose;

/// How far from the budget a sum may be and still count as having met it.
const MET: f64 = 2e-13;

/// The logarithm of a threshold, with the excess there.
type Point = (f64, f64);

/// Two thresholds next to each other, one spending at least the budget and one at most.
///
/// A page at its very threshold asks for nothing or for a good deal, with no number in between: then
/// the budget is met by mixing the two.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PriceSearch {
    /// The threshold; the better of the two.
    pub(super) mu: f64,
    other: f64,
    /// How much of each one's spending to mix, held apart since one may be tiny.
    shares: (f64, f64),
}

impl PriceSearch {
    /// Finds the threshold at which `spent`, which never rises with it, is `budget`.
    ///
    /// The search runs in logarithms of both, where spending is nearly a straight line, from `start`.
    /// 0 if nothing spends the budget, infinite if the budget is nothing.
    pub(super) fn find(start: f64, budget: f64, spent: impl Fn(f64) -> f64) -> Self {
        if budget.is_nan() || budget <= 0.0 {
            return Self::at(f64::INFINITY);
        }
        if budget == f64::INFINITY {
            return Self::at(0.0);
        }
        let excess = |log_mu: f64| {
            let ratio = spent(log_mu.exp()) / budget;
            if (ratio - 1.0).abs() < MET { 0.0 } else { ratio.ln().clamp(-700.0, 700.0) }
        };
        let start = if start > 0.0 && start.is_finite() { start.ln() } else { 0.0 };
        let (best, other) = match surround(start, excess) {
            Ok((near, far)) => enclose(near, far, excess),
            Err(sign) => return Self::at(if sign > 0.0 { f64::INFINITY } else { 0.0 }),
        };
        if best == other {
            return Self::at(best.exp());
        }
        Self::mixed(best.exp(), other.exp(), budget, spent)
    }

    /// Returns the value at the threshold of something that goes with spending, as a frequency does.
    pub(super) fn mix(self, value: impl Fn(f64) -> f64) -> f64 {
        let best = value(self.mu);
        self.other().map_or(best, |other| self.blend(best, value(other)))
    }

    /// Returns the other threshold, where something of it is to be mixed in.
    pub(super) fn other(self) -> Option<f64> {
        (self.shares.1 > 0.0).then_some(self.other)
    }

    /// Mixes the values at the two thresholds.
    pub(super) fn blend(self, here: f64, there: f64) -> f64 {
        self.shares.0 * here + self.shares.1 * there
    }

    fn at(mu: f64) -> Self {
        Self { mu, other: mu, shares: (1.0, 0.0) }
    }

    fn mixed(mu: f64, other: f64, budget: f64, spent: impl Fn(f64) -> f64) -> Self {
        let (here, there) = (spent(mu), spent(other));
        if (here / budget - 1.0).abs() < MET || here == there {
            return Self::at(mu);
        }
        let share = |value: f64, from: f64| ((budget - from) / (value - from)).clamp(0.0, 1.0);
        Self { mu, other, shares: (share(here, there), share(there, here)) }
    }
}

/// Walks from `start` with growing steps until the excess changes its sign.
///
/// Returns the last two points with their values, or the sign that never changed.
fn surround(start: f64, excess: impl Fn(f64) -> f64) -> Result<(Point, Point), f64> {
    let mut near = (start, excess(start));
    let sign = near.1;
    let mut step = 0.02_f64.copysign(sign);
    while sign != 0.0 && near.0.abs() < 690.0 {
        let far = (near.0 + step, excess(near.0 + step));
        if far.1 == 0.0 || far.1.signum() != sign.signum() {
            return Ok((near, far));
        }
        (near, step) = (far, step * 4.0);
    }
    if sign == 0.0 { Ok((near, near)) } else { Err(sign) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_smooth_spending_is_met() {
        for budget in [1e-9, 1.0, 1e12] {
            let found = PriceSearch::find(1.0, budget, |mu| 1.0 / mu.sqrt());
            assert!((found.mu * budget * budget - 1.0).abs() < 1e-12, "{found:?}");
        }
    }

    #[test]
    fn a_jump_is_met_by_mixing() {
        let spent = |mu: f64| if mu < 3.0 { 10.0 } else { 2.0 };
        let found = PriceSearch::find(1.0, 5.0, spent);
        assert!((found.mix(spent) - 5.0).abs() < 1e-12 && (found.mu - 3.0).abs() < 1e-12);
    }

    #[test]
    fn a_budget_out_of_reach_leaves_the_threshold_at_its_end() {
        assert_eq!(PriceSearch::find(1.0, 9.0, |_| 1.0).mu, 0.0);
        assert_eq!(PriceSearch::find(1.0, 0.5, |_| 1.0).mu, f64::INFINITY);
        for nothing in [0.0, -1.0, f64::NAN] {
            assert_eq!(PriceSearch::find(1.0, nothing, |_| 1.0).mu, f64::INFINITY);
        }
    }
}
