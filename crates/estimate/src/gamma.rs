//! What do we believe about a page's change rate, and how does each visit update it?
//!
//! The belief is a Gamma distribution over the rate of a Poisson process. Two numbers hold it, so
//! it fits a frontier row; every operation is O(1), so it runs at commit time for every visit.

use crate::index::{gain, gain_inverse};
use crate::quick;
use crate::special::gamma_p_inverse;

const SHAPE: (f64, f64) = (1e-9, 1e9);
const RATE: (f64, f64) = (1e-30, 1e30);

/// A belief about a change rate: λ ~ Gamma(shape, rate), with mean shape/rate.
///
/// `rate` is a time in the caller's unit: the length of observation that the belief is worth.
/// Values are always finite and positive, whatever was fed in: shape within 1e-9..=1e9, rate
/// within 1e-30..=1e30 (both survive storage as `f32`).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gamma {
    shape: f64,
    rate: f64,
}

impl Gamma {
    /// Creates a belief; values out of range are brought to the nearest end, NaN to 1.
    pub fn new(shape: f64, rate: f64) -> Self {
        Self { shape: within(shape, SHAPE), rate: within(rate, RATE) }
    }

    /// Creates the belief with this mean rate and this many changes' worth of certainty.
    pub fn with_mean(mean: f64, shape: f64) -> Self {
        let shape = within(shape, SHAPE);
        Self::new(shape, shape / mean)
    }

    /// Returns the shape a: about how many changes the belief rests on.
    pub fn shape(self) -> f64 {
        self.shape
    }

    /// Returns the rate b: about how long an observation the belief rests on.
    pub fn rate(self) -> f64 {
        self.rate
    }

    /// Returns E\[λ\] = a/b.
    pub fn mean(self) -> f64 {
        self.shape / self.rate
    }

    /// Returns Var\[λ\] = a/b².
    pub fn variance(self) -> f64 {
        self.shape / (self.rate * self.rate)
    }

    /// Returns the rate below which λ lies with probability `p`.
    pub fn quantile(self, p: f64) -> f64 {
        gamma_p_inverse(self.shape, p) / self.rate
    }

    /// Learns that the page did not change within `tau`: b += tau, exactly.
    ///
    /// A negative or NaN time teaches nothing, here and below.
    #[must_use]
    pub fn observe_unchanged(self, tau: f64) -> Self {
        if tau > 0.0 { Self::new(self.shape, self.rate + tau) } else { self }
    }

    /// Learns that the page changed at least once within `tau`, without knowing when.
    ///
    /// The exact posterior is a difference of two Gammas; it is replaced by the Gamma of the same
    /// mean and variance (assumed density filtering). With q = b/(b+τ), E_k = 1 - q^(a+k) and
    /// p = q^a, the textbook moments a/b·E₁/E₀ and a(a+1)/b²·E₂/E₀ give
    ///
    /// ```text
    /// d  = E₂/E₀ - a p ((1-q)/E₀)²      (never less than half of its first term)
    /// a' = a (E₁/E₀)²/d,   b' = b (E₁/E₀)/d
    /// ```
    ///
    /// where E₀E₂ - E₁² = -p(1-q)² has been used to take the cancellation out of the variance; and
    /// E₁ = E₀ + p(1-q), E₂ = E₁ + pq(1-q) need no further powers. The limits hold by themselves: τ
    /// to 0 gives (a+1, b), τ to infinity leaves the belief as it was.
    #[must_use]
    pub fn observe_changed(self, tau: f64) -> Self {
        if tau.is_nan() || tau < 0.0 {
            return self;
        }
        let (a, b) = (self.shape, self.rate);
        let e0 = quick::decay(a * self.log_time(tau));
        if e0 < 1e-140 {
            return Self::new(a + 1.0, b);
        }
        let (p, lost) = (1.0 - e0, 1.0 / (1.0 + b / tau));
        let ratio = 1.0 + p * lost / e0;
        let d = ratio + p * (1.0 - lost) * lost / e0 - a * p * (lost / e0) * (lost / e0);
        Self::new(a * ratio * ratio / d, b * ratio / d)
    }

    /// Learns that the last change within `tau` happened `age` before its end (Last-Modified).
    ///
    /// The density of that is λe^(-λ age) whatever came before, so a += 1, b += age, exactly. An
    /// age outside the interval contradicts the change that was seen: then only the change counts.
    #[must_use]
    pub(crate) fn observe_change_at(self, tau: f64, age: f64) -> Self {
        if (0.0..=tau).contains(&age) {
            Self::new(self.shape + 1.0, self.rate + age)
        } else {
            self.observe_changed(tau)
        }
    }

    /// Learns that exactly `count` changes fell within `tau` (a feed, a revision number).
    #[must_use]
    pub(crate) fn observe_count(self, tau: f64, count: f64) -> Self {
        if tau >= 0.0 && count >= 0.0 {
            Self::new(self.shape + count, self.rate + tau)
        } else {
            self
        }
    }

    /// Returns the chance that nothing changes within `tau`: E\[e^(-λτ)\] = (b/(b+τ))^a.
    pub fn survival(self, tau: f64) -> f64 {
        quick::exp(-self.shape * self.log_time(tau))
    }

    /// Returns the rate of the Poisson process that leaves a page unchanged for `tau` with the same chance.
    ///
    /// It is the mean at first, and falls as `tau` grows: pages that change often are then sure to have changed.
    pub fn rate_over(self, tau: f64) -> f64 {
        let rate = self.shape * self.log_time(tau) / tau;
        if rate.is_finite() { rate } else { self.mean() }
    }

    /// Returns the value of fetching a page of weight `w` now, `tau` after its last fetch.
    ///
    /// ```text
    /// w { b [1 - q^(a-1)]/(a-1) - τ q^a },   q = b/(b+τ)        (a = 1: b ln(1/q) - τ q)
    /// ```
    ///
    /// The staleness that a fetch ends, averaged over the belief: E\[g(λτ)/λ\]. For a <= 1 it grows
    /// without bound, so every page is fetched again some day; for a > 1 it stays below w b/(a-1).
    /// Olston and Pandey (WWW 2008) have it for a known rate; the average is our own derivation.
    pub fn index(self, w: f64, tau: f64) -> f64 {
        let x = self.log_time(tau);
        at_least_zero(w) * (self.rate * gain(self.shape, x))
    }

    /// Returns the same for a crawler that counts changes found instead of time spent fresh.
    ///
    /// w E\[g(λτ)\] = w {1 - q^a (1 + aτ/(b+τ))}. With known rates it leads to proportional
    /// allocation: it wants the very pages that [`index`](Self::index) gives up.
    pub(crate) fn coverage_index(self, w: f64, tau: f64) -> f64 {
        let tau = at_least_zero(tau);
        let changed = quick::decay(self.shape * self.log_time(tau));
        let once = self.shape * (1.0 - changed) / (1.0 + self.rate / tau);
        at_least_zero(w) * (changed - once).max(0.0)
    }

    /// Returns the same for a crawler that counts how long copies have been out of date.
    ///
    /// w E\[τ²/2 - g(λτ)/λ²\] = w ∫₀^τ s (1 - S(s)) ds. It grows without bound for every belief, so no
    /// page is ever given up.
    pub fn age_index(self, w: f64, tau: f64) -> f64 {
        let tau = at_least_zero(tau).min(1e100);
        let (a, x) = (self.shape, self.log_time(tau));
        let late = if (a + 3.0) * x < 1e-2 {
            // The closed form cancels: the first terms of the series.
            a * tau * tau * tau / self.rate * (1.0 / 3.0 - (a + 1.0) * tau / self.rate / 8.0)
        } else {
            let same = power_integral(2.0 - a, x) - power_integral(1.0 - a, x);
            0.5 * tau * tau - self.rate * self.rate * same
        };
        at_least_zero(w) * at_least_zero(late)
    }

    /// Returns the geometric mean of [`index`](Self::index) and the coverage index.
    ///
    /// Real pages change in bursts, of which a visit sees one change only: the coverage index, made for
    /// Poisson pages, hurries to those that have just changed.
    pub fn balanced_index(self, w: f64, tau: f64) -> f64 {
        (self.index(w, tau) * self.coverage_index(w, tau)).sqrt()
    }

    /// Returns the time since the last fetch at which [`balanced_index`](Self::balanced_index) reaches
    /// `mu`, to a part in a thousand; infinity if never.
    pub fn time_to_balanced(self, w: f64, mu: f64) -> f64 {
        self.first_reached(mu, |tau| self.balanced_index(w, tau))
    }

    /// Returns the time since the last fetch at which [`age_index`](Self::age_index) reaches `mu`, to a
    /// part in a thousand; infinity if never.
    pub fn time_to_age(self, w: f64, mu: f64) -> f64 {
        self.first_reached(mu, |tau| self.age_index(w, tau))
    }

    /// Where an index that grows with time reaches `mu`, by halving its logarithm.
    fn first_reached(self, mu: f64, index: impl Fn(f64) -> f64) -> f64 {
        if mu.is_nan() || mu <= 0.0 {
            return 0.0;
        }
        let (mut low, mut high) = (0.5 / self.mean(), 1.0 / self.mean());
        // No further than that the product of two times is still a number: else the middle would be no middle.
        for _ in 0..100 {
            match (index(low) < mu, index(high) < mu) {
                (false, _) => (high, low) = (low, low / 8.0),
                (_, true) => (low, high) = (high, high * 8.0),
                _ => break,
            }
        }
        if index(high) < mu {
            return f64::INFINITY;
        }
        while high > low * 1.001 {
            let middle = (low * high).sqrt();
            *(if index(middle) < mu { &mut low } else { &mut high }) = middle;
        }
        high
    }

    /// Returns the time since the last fetch at which the index reaches `mu`; infinity if never.
    pub fn time_to_index(self, w: f64, mu: f64) -> f64 {
        if w > 0.0 {
            let x = gain_inverse(self.shape, mu / w / self.rate);
            self.rate * -quick::decay(-x)
        } else {
            f64::INFINITY
        }
    }

    /// Fades what was learned since `prior`, keeping the share `keep` of it.
    ///
    /// Rates drift; e^(-elapsed/memory) is the usual share. What is forgotten falls back to the
    /// prior, never to ignorance.
    #[must_use]
    pub fn forget(self, prior: Self, keep: f64) -> Self {
        let keep = if keep >= 0.0 { keep.min(1.0) } else { 0.0 };
        Self::new(
            prior.shape + keep * (self.shape - prior.shape),
            prior.rate + keep * (self.rate - prior.rate),
        )
    }

    /// Limits the certainty to `changes` worth of evidence; the mean stays.
    ///
    /// The simplest forgetting: a rate that jumps is found again after about that many changes.
    #[must_use]
    pub fn capped(self, changes: f64) -> Self {
        if self.shape > changes { Self::with_mean(self.mean(), changes) } else { self }
    }

    /// ln(1 + τ/b): the time scale on which every belief looks alike.
    fn log_time(self, tau: f64) -> f64 {
        quick::ln_1p((at_least_zero(tau) / self.rate).min(f64::MAX))
    }
}

/// ∫ v^(p-1) dv from 1 to e^x.
fn power_integral(p: f64, x: f64) -> f64 {
    if (p * x).abs() < 1e-12 { x } else { (p * x).exp_m1() / p }
}

fn within(value: f64, (low, high): (f64, f64)) -> f64 {
    if value.is_nan() { 1.0 } else { value.clamp(low, high) }
}

fn at_least_zero(value: f64) -> f64 {
    if value > 0.0 { value.min(f64::MAX) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_close, golden, number, numbers, rows};
    use proptest::prelude::*;

    fn belief() -> impl Strategy<Value = Gamma> {
        (-3.0..4.0_f64, -12.0..12.0_f64).prop_map(|(a, b)| Gamma::new(10f64.powf(a), 10f64.powf(b)))
    }

    #[test]
    fn a_change_in_no_time_counts_as_one_and_in_endless_time_as_none() {
        let belief = Gamma::new(0.7, 3.0);
        assert_eq!(belief.observe_changed(0.0), Gamma::new(1.7, 3.0));
        assert_eq!(belief.observe_changed(f64::INFINITY), belief);
        assert_eq!(belief.observe_changed(f64::NAN), belief);
        assert_eq!(belief.observe_changed(-1.0), belief);
    }

    #[test]
    fn a_date_outside_the_interval_is_not_believed() {
        let belief = Gamma::new(1.0, 1.0);
        assert_eq!(belief.observe_change_at(5.0, 2.0), Gamma::new(2.0, 3.0));
        assert_eq!(belief.observe_change_at(5.0, 9.0), belief.observe_changed(5.0));
        assert_eq!(belief.observe_change_at(5.0, f64::NAN), belief.observe_changed(5.0));
    }

    #[test]
    fn nonsense_makes_a_belief_all_the_same() {
        let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, 0.0, 1e300, 1e-300];
        for a in odd {
            for b in odd {
                for tau in odd {
                    let belief = Gamma::new(a, b);
                    let learned = [
                        belief.observe_changed(tau),
                        belief.observe_unchanged(tau),
                        belief.observe_change_at(tau, a),
                        belief.observe_count(tau, b),
                        belief.forget(Gamma::new(b, tau), a),
                        belief.capped(tau),
                        Gamma::with_mean(tau, a),
                    ];
                    for g in learned {
                        assert!(g.shape > 0.0 && g.shape.is_finite(), "{a} {b} {tau} {g:?}");
                        assert!(g.rate > 0.0 && g.rate.is_finite(), "{a} {b} {tau} {g:?}");
                    }
                    assert!((0.0..=1.0).contains(&belief.survival(tau)));
                    assert!(belief.index(a, tau) >= 0.0, "{belief:?} {a} {tau}");
                    assert!(belief.coverage_index(a, tau) >= 0.0, "{belief:?} {a} {tau}");
                    assert!(belief.time_to_index(a, tau) >= 0.0, "{belief:?} {a} {tau}");
                }
            }
        }
    }

    /// With a shape of 1 the index grows with the logarithm of time: a price that is asked for can lie farther
    /// away than two times can be multiplied.
    #[test]
    fn a_price_beyond_all_times_is_never_reached() {
        for price in [10.0, 15.0, 20.0, 26.0, 1e9] {
            let wait = Gamma::new(1.0, 1.0).time_to_balanced(1.0, price);
            let expected = if price < 14.0 { (price * price).exp() } else { f64::INFINITY };
            assert!(
                wait == expected || (wait.ln() / expected.ln() - 1.0).abs() < 0.05,
                "{price}: {wait}"
            );
        }
    }

    #[test]
    fn forgetting_returns_to_the_prior() {
        let prior = Gamma::new(1.0, 2.0);
        let learned = Gamma::new(5.0, 10.0);
        assert_eq!(learned.forget(prior, 0.0), prior);
        assert_eq!(learned.forget(prior, 1.0), learned);
        assert_eq!(learned.forget(prior, 0.5), Gamma::new(3.0, 6.0));
        assert_eq!(learned.capped(1.0), Gamma::new(1.0, 2.0));
        assert_eq!(learned.capped(7.0), learned);
    }

    #[test]
    fn coverage_wants_what_freshness_gives_up() {
        let (busy, quiet) = (Gamma::with_mean(9.0, 50.0), Gamma::with_mean(0.5, 50.0));
        assert!(busy.coverage_index(1.0, 1.0) > quiet.coverage_index(1.0, 1.0));
        assert!(busy.index(1.0, 4.0) < quiet.index(1.0, 4.0));
        // A belief that is nearly certain has the index of the known rate.
        let sure = Gamma::with_mean(0.5, 1e8).coverage_index(2.0, 3.0);
        assert!((sure - 2.0 * crate::curve::g(1.5)).abs() < 1e-7);
    }

    #[test]
    fn the_age_index_is_its_integral_and_that_of_a_known_rate_when_sure() {
        for (a, b) in [(0.3, 2.0), (1.0, 1.0), (2.0, 5.0), (7.0, 3.0)] {
            let belief = Gamma::new(a, b);
            for tau in [1e-4, 0.02, 0.5, 3.0, 40.0] {
                let steps = 20_000;
                let step = tau / f64::from(steps);
                let at = |i: i32| (f64::from(i) + 0.5) * step;
                let sum: f64 = (0..steps).map(|i| at(i) * (1.0 - belief.survival(at(i)))).sum();
                let got = belief.age_index(1.0, tau);
                assert!((got - sum * step).abs() < 1e-4 * got, "{a} {b} {tau}: {got}");
            }
        }
        let sure = Gamma::with_mean(0.5, 1e6).age_index(2.0, 3.0);
        let known = 2.0 * (4.5 - crate::curve::g(1.5) / 0.25);
        assert!((sure - known).abs() < 1e-4 * known, "{sure} {known}");
    }

    #[test]
    fn balance_and_age_are_reached_when_foretold() {
        for (a, b) in [(0.3, 2.0), (1.0, 1.0), (9.0, 50.0)] {
            let belief = Gamma::new(a, b);
            for tau in [0.01, 1.0, 30.0] {
                for (index, found) in [
                    (belief.balanced_index(2.0, tau), Gamma::time_to_balanced as fn(_, _, _) -> _),
                    (belief.age_index(2.0, tau), Gamma::time_to_age),
                ] {
                    let again: f64 = found(belief, 2.0, index);
                    assert!((again / tau - 1.0).abs() < 2e-3, "{a} {b}: {tau} {again}");
                }
            }
            assert_eq!(belief.time_to_balanced(0.0, 1.0), f64::INFINITY);
            assert_eq!(belief.time_to_age(0.0, 1.0), f64::INFINITY);
            assert_eq!(belief.time_to_age(1.0, f64::NAN), 0.0);
        }
    }

    #[test]
    fn half_of_the_belief_lies_below_its_median() {
        let belief = Gamma::new(1.0, 2.0);
        assert!((belief.quantile(0.5) - std::f64::consts::LN_2 / 2.0).abs() < 1e-14);
        assert!(belief.quantile(0.1) < belief.mean() && belief.quantile(0.9) > belief.mean());
    }

    #[test]
    fn the_posterior_walks_through_the_reference_numbers() {
        let Some(golden) = golden() else { return };
        let prior = numbers(&golden["gamma_adf"]["prior"]);
        let mut belief = Gamma::new(prior[0], prior[1]);
        for step in rows(&golden["gamma_adf"], "steps") {
            let tau = number(step, "interval");
            belief = if step["changed"] == true {
                belief.observe_changed(tau)
            } else {
                belief.observe_unchanged(tau)
            };
            assert_close(belief.shape(), number(step, "alpha"), 1e-9);
            assert_close(belief.rate(), number(step, "beta"), 1e-9);
            assert_close(belief.mean(), number(step, "mean"), 1e-9);
            assert_close(belief.survival(1.0), number(step, "p_fresh_1"), 1e-9);
            assert_close(belief.index(1.0, 1.0), number(step, "index_w1_tau1"), 1e-9);
        }
    }

    #[test]
    fn the_index_matches_the_reference_numbers() {
        let Some(golden) = golden() else { return };
        for row in rows(&golden, "gamma_index") {
            let belief = Gamma::new(number(row, "alpha"), number(row, "beta"));
            assert_close(belief.index(1.0, number(row, "tau")), number(row, "index"), 1e-9);
        }
    }

    proptest! {
        #[test]
        fn a_change_adds_evidence_and_at_most_one_change(g in belief(), tau in -12.0..12.0_f64) {
            let next = g.observe_changed(10f64.powf(tau));
            prop_assert!(next.shape >= g.shape * (1.0 - 1e-12), "{next:?}");
            prop_assert!(next.shape <= (g.shape + 1.0) * (1.0 + 1e-9), "{next:?}");
            prop_assert!(next.rate >= g.rate * (1.0 - 1e-12), "{next:?}");
            prop_assert!(next.mean() >= g.mean() * (1.0 - 1e-12), "{next:?}");
        }

        #[test]
        fn a_change_keeps_the_exact_mean(g in belief(), tau in -12.0..12.0_f64) {
            let tau = 10f64.powf(tau);
            let x = (tau / g.rate).ln_1p();
            let exact = g.mean() * (-(g.shape + 1.0) * x).exp_m1() / (-g.shape * x).exp_m1();
            let got = g.observe_changed(tau).mean();
            prop_assert!((got - exact).abs() <= 1e-9 * exact, "{got} {exact}");
        }

        #[test]
        fn the_index_grows_with_time(g in belief(), tau in -12.0..12.0_f64) {
            let tau = 10f64.powf(tau);
            let (now, later) = (g.index(1.0, tau), g.index(1.0, tau * 1.01));
            prop_assert!(now >= 0.0 && later >= now * (1.0 - 1e-12), "{now} {later}");
        }

        #[test]
        fn the_index_is_reached_when_foretold(g in belief(), tau in -4.0..2.0_f64, w in -6.0..6.0_f64) {
            let (tau, w) = (10f64.powf(tau) / g.mean(), 10f64.powf(w));
            let mu = g.index(w, tau);
            let reached = g.index(w, g.time_to_index(w, mu));
            prop_assert!((reached - mu).abs() <= 1e-11 * mu, "{reached} {mu}");
        }

        #[test]
        fn the_unit_of_time_does_not_matter(g in belief(), tau in -6.0..6.0_f64, unit in -3.0..3.0_f64) {
            let (tau, unit) = (10f64.powf(tau), 10f64.powf(unit));
            let scaled = Gamma::new(g.shape, g.rate * unit);
            let (here, there) = (g.observe_changed(tau), scaled.observe_changed(tau * unit));
            prop_assert!((there.rate / unit - here.rate).abs() <= 1e-9 * here.rate);
            prop_assert!((there.shape - here.shape).abs() <= 1e-9 * here.shape);
        }
    }
}
