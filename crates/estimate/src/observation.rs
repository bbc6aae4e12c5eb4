//! What can one visit to a page say about its change rate?

use crate::gamma::Gamma;
use crate::signal::SignalRates;

/// One piece of news about a page, since the last time it was seen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Observation {
    /// It had not changed after `tau`.
    Unchanged {
        /// Time since the last visit.
        tau: f64,
    },
    /// It had changed, at least once, at an unknown time.
    Changed {
        /// Time since the last visit.
        tau: f64,
    },
    /// It had changed, for the last time `age` ago (a Last-Modified that can be believed).
    ChangedAt {
        /// Time since the last visit.
        tau: f64,
        /// Time since the last change.
        age: f64,
    },
    /// It had changed exactly this many times (a feed, a revision number).
    Counted {
        /// Time since the last visit.
        tau: f64,
        /// Number of changes.
        changes: f64,
    },
}

impl Observation {
    /// Returns what a visit preceded by signals says.
    ///
    /// The interval is replaced by its equivalent: an announced change is no surprise and says little about the rate;
    /// one without a signal counts in full.
    pub fn under_signals(rates: SignalRates, tau: f64, signals: f64, changed: bool) -> Self {
        let tau = rates.equivalent_time(tau, signals);
        if changed { Self::Changed { tau } } else { Self::Unchanged { tau } }
    }

    /// Returns the time that the observation covers.
    pub fn tau(self) -> f64 {
        match self {
            Self::Unchanged { tau }
            | Self::Changed { tau }
            | Self::ChangedAt { tau, .. }
            | Self::Counted { tau, .. } => tau,
        }
    }
}

impl Gamma {
    /// Learns from an observation of any kind.
    #[must_use]
    pub fn observe(self, observation: Observation) -> Self {
        match observation {
            Observation::Unchanged { tau } => self.observe_unchanged(tau),
            Observation::Changed { tau } => self.observe_changed(tau),
            Observation::ChangedAt { tau, age } => self.observe_change_at(tau, age),
            Observation::Counted { tau, changes } => self.observe_count(tau, changes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn better_news_makes_a_surer_belief() {
        let prior = Gamma::new(1.0, 1.0);
        let doubt = |o| prior.observe(o).variance() / prior.observe(o).mean().powi(2);
        let censored = doubt(Observation::Changed { tau: 3.0 });
        let dated = doubt(Observation::ChangedAt { tau: 3.0, age: 1.0 });
        let counted = doubt(Observation::Counted { tau: 3.0, changes: 4.0 });
        assert!(censored > dated && dated > counted);
    }

    #[test]
    fn an_announced_change_teaches_less_than_a_surprise() {
        let prior = Gamma::new(1.0, 1.0);
        let rates = SignalRates { seen: 0.9, hidden: 0.1, false_alarms: 0.05 };
        let after = |n| prior.observe(Observation::under_signals(rates, 1.0, n, true)).mean();
        assert!(after(1.0) < after(0.0));
    }

    #[test]
    fn every_kind_knows_its_time() {
        let kinds = [
            Observation::Unchanged { tau: 2.0 },
            Observation::Changed { tau: 2.0 },
            Observation::ChangedAt { tau: 2.0, age: 1.0 },
            Observation::Counted { tau: 2.0, changes: 3.0 },
        ];
        assert!(kinds.iter().all(|kind| kind.tau() == 2.0));
    }
}
