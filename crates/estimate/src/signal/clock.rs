//! How does time count for a page whose changes should raise signals?

use super::{SIGNAL_SOURCES, SignalRates, positive};
use crate::Gamma;

/// How time counts for a page with signal sources.
///
/// While a source is silent, only changes that it would not have announced can have happened, so time counts less.
/// Its first signal is a jump; after that the source is ignored, and time counts in full. With one source of false
/// signals at rate ν this is exact: P(unchanged) = ν/(ν+seen) e^(-hidden t) e^(-λ(τ-t)) for a first signal after t.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SignalClock {
    /// For each source: until when it was silent (infinite if it still is), the share of changes that it does not
    /// announce, and the jump of its signal.
    signal_sources: [(f64, f64, f64); SIGNAL_SOURCES],
    count: usize,
    /// How far it is known what the signals are worth.
    pub(super) proven: f64,
}

impl SignalClock {
    /// The clock of a page without signal sources.
    pub const PLAIN: Self =
        Self { signal_sources: [(0.0, 1.0, 0.0); SIGNAL_SOURCES], count: 0, proven: 0.0 };

    pub(super) fn with_signal(mut self, rates: SignalRates, first_signal: f64) -> Self {
        let rate = rates.seen + rates.hidden;
        let hidden = if rate > 0.0 { rates.hidden / rate } else { 1.0 };
        let announced = first_signal > 0.0;
        let jump = if announced { rates.equivalent_time(0.0, 1.0).min(1e12) } else { 0.0 };
        self.signal_sources[self.count] =
            (if announced { first_signal } else { f64::INFINITY }, hidden, jump);
        self.count += 1;
        self.signal_sources[..self.count].sort_by(|a, b| a.0.total_cmp(&b.0));
        self
    }

    /// Returns how much of `tau` counts: the part in which a change could have gone unannounced.
    pub fn elapsed_without_signals(&self, tau: f64) -> f64 {
        let (mut passed, mut from) = (0.0, 0.0);
        let signal_sources = &self.signal_sources[..self.count];
        for (place, (until, ..)) in signal_sources.iter().enumerate() {
            let until = until.min(positive(tau));
            passed += (until - from) * hidden_share(&signal_sources[place..]);
            from = until;
        }
        passed + positive(tau) - from
    }

    /// Returns the time that the signals received are equivalent to.
    pub fn signal_jump(&self) -> f64 {
        self.signal_sources[..self.count].iter().map(|(.., jump)| jump).sum()
    }

    /// Returns when [`elapsed_without_signals`](Self::elapsed_without_signals) and [`signal_jump`](Self::signal_jump)
    /// together reach `equivalent`, if no more signals come: 0 if they have, infinity if only a signal could bring
    /// them there.
    pub fn time_to_equivalent(&self, equivalent: f64) -> f64 {
        let mut missing = equivalent - self.signal_jump();
        if missing.is_nan() || missing <= 0.0 {
            return 0.0;
        }
        let mut from = 0.0;
        let signal_sources = &self.signal_sources[..self.count];
        for (place, (until, ..)) in signal_sources.iter().enumerate() {
            let tick = hidden_share(&signal_sources[place..]);
            if missing <= (until - from) * tick {
                return from + missing / tick;
            }
            missing -= (until - from) * tick;
            from = *until;
        }
        from + missing
    }

    /// Learns what a visit after `tau` says about how often the page changes, as far as sources had not
    /// already led there.
    ///
    /// A visit caused by a signal finds a change because there was one, not because changes are frequent: the time
    /// without signals counts as quiet, and the signal as one change.
    #[must_use]
    pub fn learn(&self, belief: Gamma, tau: f64, changed: bool, age: Option<f64>) -> Gamma {
        if !changed {
            return belief.observe_unchanged(tau);
        }
        let passed = self.elapsed_without_signals(tau);
        let quiet = belief.observe_unchanged(positive(tau) - passed);
        let unknown = match age {
            Some(age) if age <= tau => return quiet.observe_change_at(passed, age.min(passed)),
            _ => quiet.observe_changed(passed),
        };
        let announced = Gamma::new(quiet.shape() + 1.0, quiet.rate());
        // A page's evidence stays: a liar who is not known yet must not leave it with changes that were none.
        blend(announced, unknown, self.proven * self.chance_announced(belief.mean(), passed))
    }

    /// The chance that a change that was found had been announced.
    fn chance_announced(&self, rate: f64, passed: f64) -> f64 {
        let first_signal = -(-rate * self.signal_jump()).exp_m1();
        let change = -(-rate * (self.signal_jump() + passed)).exp_m1();
        if change > 0.0 { (first_signal / change).clamp(0.0, 1.0) } else { 0.0 }
    }
}

/// The share of changes that none of these sources announces.
fn hidden_share(signal_sources: &[(f64, f64, f64)]) -> f64 {
    signal_sources.iter().map(|(_, hidden, _)| hidden).product()
}

/// The belief of the same mean and variance as one of two, the first with chance `share`.
fn blend(one: Gamma, other: Gamma, share: f64) -> Gamma {
    let mean = share * one.mean() + (1.0 - share) * other.mean();
    let square = |belief: Gamma| belief.mean() * (belief.mean() + 1.0 / belief.rate());
    let variance = share * square(one) + (1.0 - share) * square(other) - mean * mean;
    if variance > 0.0 && mean > 0.0 {
        Gamma::new(mean * mean / variance, mean / variance)
    } else {
        one
    }
}

#[cfg(test)]
mod tests {
    use super::super::{SignalSources, SourceTrust};
    use super::*;

    #[test]
    fn the_clock_is_slow_until_a_word_jumps_and_then_runs_on() {
        let sure = SourceTrust {
            signals: 9.0,
            true_signals: 99.0,
            expected_changes: 98.0,
            quiet: 400.0,
            ..SourceTrust::default()
        };
        let signal_sources = SignalSources([sure, SourceTrust::default(), SourceTrust::default()]);
        let quiet = signal_sources.clock(&[0.0; 3], 0.25);
        assert!(quiet.elapsed_without_signals(10.0) < 0.2 && quiet.signal_jump() == 0.0);
        let announced = signal_sources.clock(&[10.0, 0.0, 0.0], 0.25);
        assert!(
            (1.0 - (-0.25 * announced.signal_jump()).exp()) > 0.95,
            "{}",
            announced.signal_jump()
        );
        assert!(
            (announced.elapsed_without_signals(12.0) - quiet.elapsed_without_signals(10.0) - 2.0)
                .abs()
                < 1e-9
        );
        for clock in [quiet, announced, SignalClock::PLAIN] {
            for tau in [0.0, 1.0, 9.9, 15.0] {
                let equivalent = clock.elapsed_without_signals(tau) + clock.signal_jump();
                let again = clock.time_to_equivalent(equivalent);
                assert!((again - tau).abs() < 1e-9, "{tau} {again}");
            }
        }
        // What two tellers both would have told of goes by only if both are silent.
        let both =
            SignalSources([sure, sure, SourceTrust::default()]).clock(&[0.0, 5.0, 0.0], 0.25);
        assert!(
            (both.elapsed_without_signals(5.0) - 5.0 * 0.01 * 0.01).abs() < 2e-4,
            "{}",
            both.elapsed_without_signals(5.0)
        );
    }

    #[test]
    fn a_change_that_was_told_of_is_one_change_in_the_time_until_then() {
        let sure = SourceTrust {
            signals: 9.0,
            true_signals: 1e6,
            expected_changes: 1e6,
            quiet: 1e9,
            ..SourceTrust::default()
        };
        let clock = SignalSources([sure, SourceTrust::default(), SourceTrust::default()])
            .clock(&[8.0, 0.0, 0.0], 0.1);
        let belief = Gamma::new(2.0, 20.0);
        let after = clock.learn(belief, 8.5, true, None);
        assert!(
            (after.shape() - 3.0).abs() < 0.02 && (after.rate() - 28.0).abs() < 0.2,
            "{after:?}"
        );
        assert_eq!(SignalClock::PLAIN.learn(belief, 3.0, true, None), belief.observe_changed(3.0));
        assert_eq!(clock.learn(belief, 8.5, false, None), belief.observe_unchanged(8.5));
    }
}
