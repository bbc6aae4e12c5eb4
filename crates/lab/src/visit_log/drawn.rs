//! What may have happened to a page, given what its visits saw?

use evercrawl_estimate::Gamma;
use evercrawl_policy::{Days, NEVER, SplitMix64};

use super::{LoggedFinding, PageLog};
use crate::dice::{exponential, gamma};
use crate::world::Span;

/// The most changes per day that are sampled in gaps between visits: no crawler keeps up with more.
const FASTEST: f64 = 24.0;
/// Rounds of drawing rate and changes in turn. They forget their start within a few.
const ROUNDS: usize = 20;

/// The sampled history of a page.
pub(super) struct PageHistory {
    pub(super) changes: Vec<Days>,
    pub(super) dies: Days,
}

impl PageLog {
    /// When it was born, as far as the world knows: pages of the first day were always there.
    pub(super) fn born(&self, begin: Days) -> Days {
        let first = self.looks.first().map_or(begin, |look| look.at);
        let born = self.found.min(first);
        if born <= begin { f64::NEG_INFINITY } else { born }
    }

    /// The first and the last visit that saw content.
    pub(super) fn ends(&self) -> (Days, Days) {
        let mut seen =
            self.looks.iter().filter(|look| look.saw != LoggedFinding::Gone).map(|look| look.at);
        let first = seen.next().unwrap_or_default();
        (first, seen.next_back().unwrap_or(first))
    }

    /// Intervals between visits that saw content, and whether it had changed.
    pub(super) fn checks(&self) -> impl Iterator<Item = (Days, Days, bool)> {
        let seen = || self.looks.iter().filter(|look| look.saw != LoggedFinding::Gone);
        seen().zip(seen().skip(1)).map(|(a, b)| (a.at, b.at, b.saw == LoggedFinding::Other))
    }

    pub(super) fn belief(&self, prior: Gamma) -> Gamma {
        self.checks().fold(prior, |belief, (from, to, changed)| {
            let interval = to - from;
            if changed {
                belief.observe_changed(interval)
            } else {
                belief.observe_unchanged(interval)
            }
        })
    }

    /// Samples the page's changes and its end.
    pub(super) fn draw_changes(
        &self,
        prior: Gamma,
        span: Span,
        random: &mut SplitMix64,
    ) -> PageHistory {
        let dies = self.death(random);
        let (mut rate, mut inside) = (self.belief(prior).mean(), Vec::new());
        let watched: Days = self.checks().map(|(from, to, _)| to - from).sum();
        for _ in 0..ROUNDS {
            inside.clear();
            for (from, to, _) in self.checks().filter(|check| check.2) {
                at_least_one(rate, from, to, random, &mut inside);
            }
            let shape = prior.shape() + inside.len() as f64;
            rate = gamma(random, shape) / (prior.rate() + watched);
        }
        let (first, last) = self.ends();
        rate = rate.min(FASTEST);
        let mut changes = Vec::new();
        poisson(rate, self.born(span.begin).max(span.since), first, random, &mut changes);
        changes.append(&mut inside);
        poisson(rate, last, span.to.min(dies), random, &mut changes);
        PageHistory { changes, dies }
    }

    /// Some time between the last visit that saw it and the first that did not, if none came after.
    fn death(&self, random: &mut SplitMix64) -> Days {
        let (_, last) = self.ends();
        let gone = self.looks.iter().find(|look| look.at > last && look.saw == LoggedFinding::Gone);
        gone.map_or(NEVER, |look| last + (look.at - last) * random.uniform())
    }
}

/// A Poisson process between two moments.
fn poisson(rate: f64, from: Days, to: Days, random: &mut SplitMix64, times: &mut Vec<Days>) {
    let mut at = from + exponential(random) / rate;
    while at < to {
        times.push(at);
        at += exponential(random) / rate;
    }
}

/// A Poisson process after `from`, up to `to`, that is known to have a change.
///
/// Its first is exponential, cut off at the end; what follows is as always.
fn at_least_one(rate: f64, from: Days, to: Days, random: &mut SplitMix64, times: &mut Vec<Days>) {
    let chance = -(-rate * (to - from)).exp_m1();
    let wait = -(-chance * random.uniform()).ln_1p() / rate;
    // A rate near 0 leaves nothing but chance: anywhere in the interval.
    let wait =
        if wait.is_finite() && chance > 1e-12 { wait } else { (to - from) * random.uniform() };
    // A visit at the very moment of a change would see it.
    let first = (from + wait).min(to).max(from.next_up().min(to));
    times.push(first);
    poisson(rate, first, to, random, times);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_within_an_interval_are_where_a_poisson_process_has_them() {
        let (mut random, mut firsts, mut counts) = (SplitMix64::new(1), Vec::new(), Vec::new());
        for _ in 0..40_000 {
            let mut times = Vec::new();
            at_least_one(0.7, 10.0, 12.0, &mut random, &mut times);
            assert!(!times.is_empty() && times.iter().all(|at| *at > 10.0 && *at <= 12.0));
            firsts.push(times[0] - 10.0);
            counts.push(times.len() as f64);
        }
        let mean = |list: &[f64]| list.iter().sum::<f64>() / list.len() as f64;
        let (m, chance) = (1.4_f64, -(-1.4_f64).exp_m1());
        assert!((mean(&counts) - m / chance).abs() < 5.0 * 0.93 / 200.0, "{}", mean(&counts));
        let first = 1.0 / 0.7 - 2.0 * (-m).exp() / chance;
        assert!((mean(&firsts) - first).abs() < 5.0 * 0.58 / 200.0, "{} {first}", mean(&firsts));
    }
}
