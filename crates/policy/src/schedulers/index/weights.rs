//! How much is each kind of hint worth on this host?

use evercrawl_estimate::quick;

use crate::page::Days;
use crate::persist::persist_fields;

/// The number of hints: four kinds of group, then the page's own waiting time and a constant.
pub(crate) const HINTS: usize = 6;

/// The hints about one page at one moment: logarithms of how much faster than usual its time has run.
pub(crate) type Hints = [f64; HINTS];

/// The waiting time at which the hint of waiting is 0, and its bounds.
const USUAL_WAIT: Days = 28.0;
const WAIT_BOUND: f64 = 3.0;

/// The hint of waiting.
pub(crate) fn waiting_hint(waited: Days) -> f64 {
    0.5 * quick::ln(waited / USUAL_WAIT).clamp(-WAIT_BOUND, WAIT_BOUND)
}

/// The most e-folds by which a page's time is stretched or shrunk.
const MOST: f64 = 4.0;

/// The weight of each hint, learned from visits.
///
/// A page that waited τ is treated as if it had waited τ exp(Σ w x). The weights follow the gradient of the log
/// likelihood of what visits find, each with its own step (`AdaGrad`). A hint without information soon has weight 0,
/// and what is left is the plain index rule. The last two hints correct what a Poisson model gets wrong at short or
/// long waits: real pages change in bursts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HintWeights {
    weight: [f64; HINTS],
    squares: [f64; HINTS],
}

persist_fields!(HintWeights { weight, squares });

impl HintWeights {
    /// The initial weights: some trust in directories, which on most sites are edited together, and none in other
    /// groups. Where groups are informative a few visits show it, and where they are not, unearned trust would cost
    /// fetches.
    pub(crate) fn new() -> Self {
        HintWeights { weight: [0.4, 0.0, 0.0, 0.0, 0.0, 0.0], squares: [1.0; HINTS] }
    }

    /// Believes directories.
    #[cfg(test)]
    pub(crate) fn trusting() -> Self {
        HintWeights { weight: [0.8, 0.0, 0.0, 0.0, 0.0, 0.0], ..HintWeights::new() }
    }

    pub(crate) fn weight_of(&self, hint: usize) -> f64 {
        self.weight[hint]
    }

    /// By how much these hints stretch a page's time.
    #[inline]
    pub(crate) fn stretch(&self, hints: &Hints) -> f64 {
        let sum: f64 = self.weight.iter().zip(hints).map(|(weight, hint)| weight * hint).sum();
        quick::exp(sum.clamp(-MOST, MOST))
    }

    /// By how much kin alone stretch it: 1 where they say nothing, or that less than usual has happened.
    pub(crate) fn stretch_by_groups(&self, hints: &Hints) -> f64 {
        let [directory, section, hub, base, ..] = *hints;
        self.stretch(&[directory, section, hub, base, 0.0, 0.0]).max(1.0)
    }

    /// How long a page must wait to be treated as if it had waited `wanted`, where its groups say nothing: with
    /// x = ln(τ/28) the solution of x (1 + w/2) + c = ln(wanted/28). `None` out of the bounds of that hint.
    pub(crate) fn invert_stretch(&self, wanted: Days) -> Option<Days> {
        let [.., waiting, constant] = self.weight;
        let x = (quick::ln(wanted / USUAL_WAIT) - constant) / (1.0 + 0.5 * waiting);
        let inside = x.abs() < WAIT_BOUND && (0.5 * waiting * x + constant).abs() < MOST;
        inside.then(|| USUAL_WAIT * quick::exp(x))
    }

    /// Moves a little towards what was learned on a host.
    pub(crate) fn shrink_towards(&mut self, host: &HintWeights) {
        const SHARE: f64 = 0.01;
        for (weight, learned) in self.weight.iter_mut().zip(host.weight) {
            *weight += SHARE * (learned - *weight);
        }
    }

    /// Moves along `slope`, the derivative of the log likelihood by the sum of weighted hints.
    pub(crate) fn learn(&mut self, hints: &Hints, slope: f64) {
        const STEP: f64 = 0.2;
        if !slope.is_finite() {
            return;
        }
        for (i, hint) in hints.iter().enumerate() {
            let gradient = slope * hint;
            // Most pages have no kin of some kinds: what says nothing moves nothing.
            if gradient == 0.0 {
                continue;
            }
            self.squares[i] += gradient * gradient;
            let moved = self.weight[i] + STEP * gradient / self.squares[i].sqrt();
            // Time runs faster where a group changed, never slower.
            let (low, high) = if i < 4 { (0.0, 1.5) } else { (-2.0, 2.0) };
            self.weight[i] = moved.clamp(low, high);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;

    /// Pages change in a unit of time with rate e^(worth x); returns the weight learned for x.
    fn learned(value: f64) -> f64 {
        let (mut weights, mut random) = (HintWeights::new(), SplitMix64::new(4));
        for _ in 0..20_000 {
            let hints = [4.0 * random.uniform() - 2.0, 0.0, 0.0, 0.0, 0.0, 0.0];
            let changed = random.uniform() < -(-(value * hints[0]).exp()).exp_m1();
            let time = weights.stretch(&hints);
            weights.learn(&hints, if changed { time / time.exp_m1() } else { -time });
        }
        weights.weight_of(0)
    }

    #[test]
    fn learns_what_a_hint_is_worth() {
        for value in [0.0, 0.5, 1.0] {
            assert!((learned(value) - value).abs() < 0.07, "{value}: {}", learned(value));
        }
    }

    /// Where it answers, the wait that it names stretches to what was wanted.
    #[test]
    fn unstretched_is_stretch_backwards() {
        let mut answered = 0;
        for (waiting, constant) in [(0.0, 0.0), (0.7, -1.0), (-1.3, 0.4), (2.0, 2.0), (-2.0, 1.0)] {
            let weights = HintWeights {
                weight: [0.8, 0.2, 0.2, 0.2, waiting, constant],
                ..HintWeights::new()
            };
            for wanted in [0.0, 0.01, 3.0, 28.0, 90.0, 3000.0, f64::INFINITY, f64::NAN] {
                let Some(wait) = weights.invert_stretch(wanted) else { continue };
                let stretched =
                    wait * weights.stretch(&[0.0, 0.0, 0.0, 0.0, waiting_hint(wait), 1.0]);
                assert!((stretched / wanted - 1.0).abs() < 1e-9, "{waiting} {wanted}: {stretched}");
                answered += 1;
            }
        }
        assert!(answered > 10, "{answered}");
    }

    #[test]
    fn kin_alone_stretch_and_never_shrink() {
        let weights = HintWeights { weight: [1.0, 0.5, 0.0, 0.0, 2.0, -2.0], ..HintWeights::new() };
        for (directory, section, stretched) in
            [(0.0, 0.0, 0.0), (1.0, 2.0, 2.0), (1.0, -1.0, 0.5), (-1.0, 0.0, 0.0), (9.0, 0.0, MOST)]
        {
            let by_groups = weights.stretch_by_groups(&[directory, section, 3.0, 3.0, 3.0, 1.0]);
            assert!(
                (by_groups.ln() - stretched).abs() < 1e-9,
                "{directory} {section}: {by_groups}"
            );
        }
    }

    #[test]
    fn stays_within_bounds_whatever_comes() {
        let mut weights = HintWeights::new();
        for slope in [1e9, -1e9, f64::NAN, f64::INFINITY] {
            (0..99).for_each(|_| weights.learn(&[4.0; HINTS], slope));
            assert!((0..4).all(|i| (0.0..=1.5).contains(&weights.weight_of(i))));
        }
        assert!(weights.stretch(&[1e9; HINTS]) <= MOST.exp());
    }
}
