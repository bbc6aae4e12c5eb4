//! What does a hint from outside (sitemap, feed, push) say about whether a page has changed?
//!
//! A signal may be false and a change may go unsignalled; how often is learned, never assumed.
//! The result is an equivalent elapsed time, so that everything else goes on as without signals.

/// The rates behind a page's signals (theory: Busa-Fekete et al. 2025; this form is our own).
///
/// Changes come at rate `seen` + `hidden`; the seen ones raise a signal, and so do false alarms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SignalRates {
    /// Rate of changes that raise a signal.
    pub seen: f64,
    /// Rate of changes that do not.
    pub hidden: f64,
    /// Rate of signals without a change.
    pub false_alarms: f64,
}

impl SignalRates {
    /// Returns P(unchanged | n signals, τ) = (ν/(ν+seen))ⁿ e^(-hidden τ).
    pub fn survival(self, tau: f64, signals: f64) -> f64 {
        (-self.expected(tau, signals)).exp()
    }

    /// Returns the time without signals after which the page would be as likely to be unchanged.
    ///
    /// (hidden τ + n ln((ν+seen)/ν))/(seen + hidden): quiet time counts only for hidden changes,
    /// each signal is a jump; infinite when a signal never lies.
    pub fn equivalent_time(self, tau: f64, signals: f64) -> f64 {
        let rate = positive(self.seen) + positive(self.hidden);
        if rate > 0.0 { self.expected(tau, signals) / rate } else { positive(tau) }
    }

    fn expected(self, tau: f64, signals: f64) -> f64 {
        let quiet = positive(self.hidden) * positive(tau);
        let seen = positive(self.seen);
        if signals > 0.0 && seen > 0.0 {
            quiet + signals * (seen / positive(self.false_alarms)).ln_1p()
        } else {
            quiet
        }
    }
}

/// How far one kind of signal of one host can be trusted, learned from visits.
///
/// Four counts that start at one imaginary case each way, so that trust is never absolute.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trust {
    /// Visits after a signal that found a change.
    pub true_alarms: f64,
    /// Visits after a signal that found none.
    pub false_alarms: f64,
    /// Visits that found a change of which no signal had told.
    pub silent_changes: f64,
}

impl Default for Trust {
    fn default() -> Self {
        Self { true_alarms: 1.0, false_alarms: 1.0, silent_changes: 1.0 }
    }
}

impl Trust {
    /// Learns from a visit: was there a signal since the last one, and had the page changed?
    ///
    /// A quiet page without a signal teaches nothing about signals.
    #[must_use]
    pub fn observe(mut self, signalled: bool, changed: bool) -> Self {
        match (signalled, changed) {
            (true, true) => self.true_alarms += 1.0,
            (true, false) => self.false_alarms += 1.0,
            (false, true) => self.silent_changes += 1.0,
            (false, false) => {}
        }
        self
    }

    /// Fades old counts towards the start, keeping the share `keep`.
    #[must_use]
    pub fn forget(self, keep: f64) -> Self {
        let keep = if keep >= 0.0 { keep.min(1.0) } else { 0.0 };
        let fade = |count: f64| 1.0 + keep * (count - 1.0);
        Self {
            true_alarms: fade(self.true_alarms),
            false_alarms: fade(self.false_alarms),
            silent_changes: fade(self.silent_changes),
        }
    }

    /// Returns the chance that a signal means a change.
    pub fn precision(self) -> f64 {
        share(self.true_alarms, self.false_alarms)
    }

    /// Returns the chance that a change raises a signal.
    pub fn recall(self) -> f64 {
        share(self.true_alarms, self.silent_changes)
    }

    /// Returns the signal rates of a page that changes at `rate`.
    ///
    /// seen = recall λ, hidden = (1 - recall)λ, and ν such that seen/(seen+ν) is the precision.
    pub fn rates(self, rate: f64) -> SignalRates {
        let rate = positive(rate);
        let seen = self.recall() * rate;
        SignalRates {
            seen,
            hidden: rate - seen,
            false_alarms: seen * positive(self.false_alarms) / positive(self.true_alarms),
        }
    }
}

fn share(hits: f64, misses: f64) -> f64 {
    let (hits, misses) = (positive(hits), positive(misses));
    if hits + misses > 0.0 { hits / (hits + misses) } else { 0.5 }
}

fn positive(value: f64) -> f64 {
    if value > 0.0 { value.min(1e300) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Uniforms, assert_close, golden, number, rows};

    #[test]
    fn survival_matches_the_reference_numbers() {
        let Some(golden) = golden() else { return };
        for row in rows(&golden, "ncis") {
            let rates = SignalRates {
                seen: number(row, "lam_seen"),
                hidden: number(row, "lam_hidden"),
                false_alarms: number(row, "nu_false"),
            };
            let (tau, n) = (number(row, "tau"), number(row, "n"));
            assert_close(rates.survival(tau, n), number(row, "p_fresh"), 1e-9);
            let rate = rates.seen + rates.hidden;
            let again = (-rate * rates.equivalent_time(tau, n)).exp();
            assert_close(again, number(row, "p_fresh"), 1e-9);
        }
    }

    #[test]
    fn survival_is_what_chance_shows() {
        let rates = SignalRates { seen: 0.8, hidden: 0.2, false_alarms: 0.3 };
        let (mut random, tau) = (Uniforms::new(5), 2.0);
        let count = |random: &mut Uniforms, rate: f64| {
            let (mut time, mut n) = (random.gap(rate), 0);
            while time < tau {
                time += random.gap(rate);
                n += 1;
            }
            n
        };
        let (mut fresh, mut total) = ([0.0; 4], [0.0; 4]);
        for _ in 0..200_000 {
            let (seen, hidden) = (count(&mut random, 0.8), count(&mut random, 0.2));
            let signals = seen + count(&mut random, 0.3);
            if signals < 4 {
                total[signals] += 1.0;
                fresh[signals] += f64::from(seen + hidden == 0);
            }
        }
        for n in 0..4 {
            let want = rates.survival(tau, n as f64);
            assert!((fresh[n] / total[n] - want).abs() < 0.01, "{n}");
        }
    }

    #[test]
    fn trust_is_learned_and_never_absolute() {
        let mut trust = Trust::default();
        for _ in 0..98 {
            trust = trust.observe(true, true).observe(false, false);
        }
        assert!((trust.precision() - 0.99).abs() < 1e-12);
        assert!((trust.recall() - 0.99).abs() < 1e-12);
        assert!((trust.forget(0.0).precision() - 0.5).abs() < 1e-12);
        let rates = trust.rates(2.0);
        assert!((rates.seen + rates.hidden - 2.0).abs() < 1e-12);
        assert!(rates.equivalent_time(1.0, 1.0).is_finite());
    }

    #[test]
    fn nonsense_is_answered() {
        let odd = [f64::NAN, f64::INFINITY, -1.0, 0.0, 1.0];
        for a in odd {
            for b in odd {
                let rates = SignalRates { seen: a, hidden: b, false_alarms: a };
                assert!((0.0..=1.0).contains(&rates.survival(b, a)), "{a} {b}");
                assert!(rates.equivalent_time(b, a) >= 0.0, "{a} {b}");
                let trust = Trust { true_alarms: a, false_alarms: b, silent_changes: a };
                assert!(trust.rates(b).seen >= 0.0, "{a} {b}");
            }
        }
    }
}
