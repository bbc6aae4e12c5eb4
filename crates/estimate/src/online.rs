//! Can a rate be learned with one or two numbers a page, and no solving?
//!
//! Two estimators of Avrachenkov, Patil and Thoppe (2020, formulas from memory). They assume that
//! fetches come at random with exponential gaps; then a fetch finds a change with chance λ/(λ+p).

/// The law-of-large-numbers estimator: two counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Lln {
    /// Fetches so far, k.
    pub fetches: u64,
    /// Fetches that found a change, I.
    pub changes: u64,
}

impl Lln {
    /// Learns from one fetch.
    #[must_use]
    pub fn observe(self, changed: bool) -> Self {
        Self {
            fetches: self.fetches.saturating_add(1),
            changes: self.changes.saturating_add(u64::from(changed)),
        }
    }

    /// Returns p(I+α)/(k+α-I), for fetches at rate `p`; a positive α keeps it from 0 and infinity.
    pub fn rate(self, p: f64, alpha: f64) -> f64 {
        let alpha = if alpha > 0.0 { alpha } else { 0.0 };
        let found = self.changes.min(self.fetches) as f64;
        let missed = self.fetches as f64 - found;
        if found + alpha > 0.0 { p.max(0.0) * ((found + alpha) / (missed + alpha)) } else { 0.0 }
    }
}

/// The stochastic-approximation estimator: one number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sa {
    /// The current estimate, x.
    pub rate: f64,
}

impl Sa {
    /// Learns from one fetch: x += η(I(x+p) - x), whose mean step is zero exactly at x = λ.
    ///
    /// η in 0..1; falling as 1/k it converges, held constant it follows a drifting rate.
    #[must_use]
    pub fn observe(self, p: f64, changed: bool, eta: f64) -> Self {
        let target = if changed { self.rate + p } else { 0.0 };
        let next = self.rate + eta.clamp(0.0, 1.0) * (target - self.rate);
        Self { rate: if next.is_finite() && next >= 0.0 { next } else { self.rate } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Uniforms;

    #[test]
    fn both_find_the_rate_under_random_fetches() {
        let (mut random, p, truth) = (Uniforms::new(8), 2.0, 0.5);
        let (mut lln, mut sa) = (Lln::default(), Sa { rate: 2.0 });
        for k in 1..200_000 {
            let changed = random.next() > (-truth * random.gap(p)).exp();
            lln = lln.observe(changed);
            sa = sa.observe(p, changed, 2.0 / (f64::from(k) + 10.0));
        }
        assert!((lln.rate(p, 1.0) - truth).abs() < 0.01, "{lln:?}");
        assert!((sa.rate - truth).abs() < 0.02, "{sa:?}");
    }

    #[test]
    fn even_fetches_mislead_them() {
        let (mut random, mut lln) = (Uniforms::new(8), Lln::default());
        for _ in 0..100_000 {
            lln = lln.observe(random.next() > (-1.0_f64).exp());
        }
        // Even gaps find a change with chance 1 - e^-1, which is read as e - 1 changes a fetch.
        assert!((lln.rate(1.0, 0.0) - (1f64.exp() - 1.0)).abs() < 0.03);
    }

    #[test]
    fn edges_are_answered() {
        assert_eq!(Lln::default().rate(1.0, 0.0), 0.0);
        assert_eq!(Lln::default().rate(1.0, 0.5), 1.0);
        assert_eq!(Lln { fetches: 1, changes: 1 }.rate(1.0, 0.0), f64::INFINITY);
        let sa = Sa { rate: 1.0 };
        assert_eq!(sa.observe(f64::NAN, true, 0.5), sa);
        assert_eq!(sa.observe(-9.0, true, 1.0), sa);
    }
}
