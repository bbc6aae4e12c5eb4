//! What should we believe about a page before its first visit?
//!
//! Its host's other pages are the best guess, all pages the next best. The prior is learned from
//! the population itself (empirical Bayes), so that a wrong start mends itself.

use crate::gamma::Gamma;
use crate::special::ln_gamma;

const SHAPES: (f64, f64) = (0.05, 50.0);
const ENOUGH: usize = 20_000;
const GRID: usize = 12;
const EM_STEPS: usize = 60;
const REFINEMENTS: usize = 24;

/// What one page's own history amounts to: changes seen, over a length of time.
///
/// The page's belief is the prior plus this, so a prior can be replaced without the history.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Evidence {
    /// Changes, counted as the belief counts them: a censored one is worth less than one.
    pub changes: f64,
    /// Observation time, in the caller's unit.
    pub time: f64,
}

impl Evidence {
    /// Returns what `belief` has learned since it was `prior`.
    pub fn since(prior: Gamma, belief: Gamma) -> Self {
        Self {
            changes: (belief.shape() - prior.shape()).max(0.0),
            time: (belief.rate() - prior.rate()).max(0.0),
        }
    }

    /// Returns the belief that `prior` and this evidence give.
    pub fn on(self, prior: Gamma) -> Gamma {
        prior.observe_count(self.time, self.changes)
    }

    fn is_usable(&self) -> bool {
        self.changes >= 0.0 && self.changes.is_finite() && self.time > 0.0 && self.time < 1e30
    }
}

/// Learns the prior that best explains a population of pages; `start` without evidence.
///
/// Maximises the negative-binomial likelihood of the evidence,
///
/// ```text
/// Σ lnΓ(A+k) - lnΓ(A) + A ln B - (A+k) ln(B+t),   B = A/m
/// ```
///
/// over the shape A (a grid, then golden section) and the mean m (EM: m is the average of the
/// pages' posterior means). Half an imaginary page at `start`'s mean and a log-normal pull of the
/// shape towards 1 keep small populations from running away; a start wrong by ten is outweighed by
/// a few dozen pages. Of large populations an even sample is taken, so the cost is bounded.
pub fn fit(start: Gamma, pages: &[Evidence]) -> Gamma {
    let sample = pages.iter().step_by(pages.len().div_ceil(ENOUGH).max(1));
    let pages: Vec<Evidence> = sample.copied().filter(Evidence::is_usable).collect();
    if pages.is_empty() {
        return start;
    }
    let population = Population { pages: &pages, start: start.mean() };
    let (low, high) = (SHAPES.0.ln(), SHAPES.1.ln());
    let step = (high - low) / (GRID - 1) as f64;
    let best = (0..GRID)
        .map(|i| low + step * i as f64)
        .map(|log_shape| (population.profile(log_shape), log_shape))
        .fold((f64::NEG_INFINITY, 0.0), |a, b| if b.0 > a.0 { b } else { a });
    let log_shape = golden_section(best.1 - step, best.1 + step, |s| population.profile(s));
    let shape = log_shape.exp().clamp(SHAPES.0, SHAPES.1);
    Gamma::with_mean(population.mean_given(shape), shape)
}

/// A running mean of the rates in a group of pages: two numbers in a host's row.
///
/// The middle level of page, host, all. Each visit exchanges what the page added before for what it
/// adds now, so the group is always up to date without a pass over its pages.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct GroupRates {
    /// Pages counted.
    pub pages: f64,
    /// Sum of their mean rates.
    pub sum: f64,
}

impl GroupRates {
    /// What one page of this mean rate adds.
    pub fn of_page(rate: f64) -> Self {
        Self { pages: 1.0, sum: rate }
    }

    /// What a page adds of which there is this evidence, in a group whose pages are alike: the less time
    /// it was watched, compared with the time `spread` = a/m that a belief of shape a and mean m is worth,
    /// the less it counts.
    ///
    /// With k changes in time t it is (t, k)/(spread + t). The sums' ratio is where EM would end for
    /// pages whose rates are Gamma(a, a/m), without its many steps.
    pub fn of_evidence(evidence: Evidence, spread: f64) -> Self {
        let weight = 1.0 / (spread + evidence.time);
        Self { pages: evidence.time * weight, sum: evidence.changes * weight }
    }

    /// Puts `new` in the place of `old`, which a page had added.
    pub fn exchange(&mut self, old: Self, new: Self) {
        *self = self.plus(new.pages - old.pages, new.sum - old.sum);
    }

    /// Returns what the others add, without a page that adds `page`.
    #[must_use]
    pub fn without(self, page: Self) -> Self {
        self.plus(-page.pages, -page.sum)
    }

    fn plus(self, pages: f64, sum: f64) -> Self {
        if pages.is_finite() && sum.is_finite() {
            Self { pages: (self.pages + pages).max(0.0), sum: (self.sum + sum).max(0.0) }
        } else {
            self
        }
    }

    /// Returns the prior for a page of this group: `above`, moved to the group's own mean.
    ///
    /// `pull` is how many imaginary pages, that are as all are, the group's own must outweigh before its mean is its
    /// own:
    /// the mean is (pull m + Σ rates)/(pull + pages), with m the mean one level up. The shape is that of `above`, since
    /// how much pages of one group differ is learned better from many groups.
    pub fn prior(self, above: Gamma, pull: f64) -> Gamma {
        let mean = (pull * above.mean() + self.sum) / (pull + self.pages);
        Gamma::with_mean(mean, above.shape())
    }
}

struct Population<'a> {
    pages: &'a [Evidence],
    start: f64,
}

impl Population<'_> {
    const START_PAGES: f64 = 0.5;

    fn profile(&self, log_shape: f64) -> f64 {
        let shape = log_shape.exp();
        self.log_likelihood(shape, self.mean_given(shape)) - 0.5 * log_shape * log_shape
    }

    /// The mean that maximises the likelihood for this shape, by EM.
    fn mean_given(&self, shape: f64) -> f64 {
        let count = self.pages.len() as f64 + Self::START_PAGES;
        let mut mean = self.start;
        for _ in 0..EM_STEPS {
            let rate = shape / mean;
            let sum: f64 = self.pages.iter().map(|e| (shape + e.changes) / (rate + e.time)).sum();
            let next = (sum + Self::START_PAGES * self.start) / count;
            let settled = (next - mean).abs() < 1e-9 * mean;
            mean = next;
            if settled {
                break;
            }
        }
        mean
    }

    fn log_likelihood(&self, shape: f64, mean: f64) -> f64 {
        let rate = shape / mean;
        let constant = shape * rate.ln() - ln_gamma(shape);
        let pages: f64 = self
            .pages
            .iter()
            .map(|e| ln_gamma(shape + e.changes) - (shape + e.changes) * (rate + e.time).ln())
            .sum();
        // None where the mean is the start's, whatever the shape.
        let off = (mean / self.start).ln() + self.start / mean - 1.0;
        let pull = Self::START_PAGES * shape * off;
        pages + constant * self.pages.len() as f64 - pull
    }
}

fn golden_section(mut low: f64, mut high: f64, value: impl Fn(f64) -> f64) -> f64 {
    const RATIO: f64 = 0.618_033_988_749_894_9;
    let (mut left, mut right) = (high - RATIO * (high - low), low + RATIO * (high - low));
    let (mut at_left, mut at_right) = (value(left), value(right));
    for _ in 0..REFINEMENTS {
        if at_left > at_right {
            (high, right, at_right) = (right, left, at_left);
            left = high - RATIO * (high - low);
            at_left = value(left);
        } else {
            (low, left, at_left) = (left, right, at_right);
            right = low + RATIO * (high - low);
            at_right = value(right);
        }
    }
    (low + high) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Uniforms;

    /// Pages with rates from `truth`, each checked `checks` times every `tau`, learned from `start`.
    fn population(truth: Gamma, start: Gamma, checks: usize, tau: f64) -> Vec<Evidence> {
        let mut random = Uniforms::new(11);
        (0..2000)
            .map(|_| {
                let rate = truth.quantile(random.next());
                let belief = (0..checks).fold(start, |belief, _| {
                    if random.next() < (-rate * tau).exp() {
                        belief.observe_unchanged(tau)
                    } else {
                        belief.observe_changed(tau)
                    }
                });
                Evidence::since(start, belief)
            })
            .collect()
    }

    #[test]
    fn the_prior_is_found_again_from_a_start_wrong_by_ten() {
        let truth = Gamma::with_mean(0.2, 0.8);
        for wrong in [0.1, 1.0, 10.0] {
            let mut prior = Gamma::with_mean(0.2 * wrong, 1.0);
            for _ in 0..4 {
                prior = fit(prior, &population(truth, prior, 12, 2.0));
            }
            assert!((prior.mean() / 0.2).ln().abs() < 0.15, "start x{wrong}: {prior:?}");
            assert!((prior.shape() / 0.8).ln().abs() < 0.35, "start x{wrong}: {prior:?}");
        }
    }

    #[test]
    fn the_unit_of_time_does_not_matter() {
        let pages = population(Gamma::with_mean(0.2, 0.8), Gamma::with_mean(0.2, 1.0), 3, 2.0);
        let fitted = |unit: f64| {
            let in_units = |page: &Evidence| Evidence { time: page.time * unit, ..*page };
            let pages: Vec<_> = pages[..40].iter().map(in_units).collect();
            fit(Gamma::with_mean(0.2 / unit, 1.0), &pages)
        };
        let (days, weeks, seconds) = (fitted(1.0), fitted(1.0 / 7.0), fitted(86_400.0));
        for other in [weeks, seconds] {
            assert!((other.shape() / days.shape()).ln().abs() < 1e-3, "{days:?} {other:?}");
        }
    }

    #[test]
    fn a_moment_without_a_change_makes_nobody_certain() {
        let pages = [Evidence { changes: 0.0, time: 1e-4 }; 50];
        let prior = fit(Gamma::with_mean(1.0 / 30.0, 1.0), &pages);
        assert!((prior.shape() - 1.0).abs() < 0.1, "{prior:?}");
    }

    #[test]
    fn one_fit_takes_out_most_of_a_wrong_start() {
        let truth = Gamma::with_mean(0.2, 0.8);
        for wrong in [0.1, 10.0] {
            let start = Gamma::with_mean(0.2 * wrong, 1.0);
            let prior = fit(start, &population(truth, start, 12, 2.0));
            assert!((prior.mean() / 0.2).ln().abs() < 0.7, "start x{wrong}: {prior:?}");
        }
    }

    #[test]
    fn a_large_population_is_sampled_evenly() {
        let half = |changes| vec![Evidence { changes, time: 10.0 }; ENOUGH];
        let pages = [half(1.0), half(3.0)].concat();
        let prior = fit(Gamma::new(1.0, 1.0), &pages);
        assert!((prior.mean() - 0.2).abs() < 0.01, "{prior:?}");
    }

    #[test]
    fn nothing_seen_leaves_the_start() {
        let start = Gamma::new(1.0, 7.0);
        assert_eq!(fit(start, &[]), start);
        let useless = Evidence { changes: f64::NAN, time: -1.0 };
        assert_eq!(fit(start, &[useless, Evidence::default()]), start);
    }

    #[test]
    fn a_group_moves_from_its_parent_to_its_own_mean() {
        let above = Gamma::with_mean(1.0, 0.7);
        let mut host = GroupRates::default();
        assert!((host.prior(above, 2.0).mean() - 1.0).abs() < 1e-12);
        let (nothing, page) = (GroupRates::default(), GroupRates::of_page);
        for _ in 0..198 {
            host.exchange(nothing, page(5.0));
        }
        assert!((host.prior(above, 2.0).mean() - 4.96).abs() < 1e-9);
        assert_eq!(host.prior(above, 2.0).shape(), 0.7);
        host.exchange(page(5.0), page(205.0));
        assert!((host.prior(above, 2.0).mean() - 5.96).abs() < 1e-9);
        assert!((host.without(page(205.0)).sum - 197.0 * 5.0).abs() < 1e-9);
        host.exchange(nothing, page(f64::NAN));
        host.exchange(page(f64::NAN), page(1.0));
        assert_eq!(host.pages, 198.0);
    }

    #[test]
    fn evidence_of_like_pages_adds_up_to_where_em_ends() {
        let truth = Gamma::with_mean(0.5, 2.0);
        let pages = population(truth, truth, 6, 2.0);
        let mut group = GroupRates::default();
        for page in &pages {
            group.exchange(GroupRates::default(), GroupRates::of_evidence(*page, truth.rate()));
        }
        let em = Population { pages: &pages, start: 0.5 }.mean_given(2.0);
        assert!((group.sum / group.pages / em - 1.0).abs() < 0.02, "{group:?} {em}");
    }

    #[test]
    fn evidence_moves_between_priors() {
        let prior = Gamma::new(1.0, 2.0);
        let belief = prior.observe_unchanged(3.0).observe_changed(1.0);
        let evidence = Evidence::since(prior, belief);
        let again = evidence.on(prior);
        assert!((again.shape() - belief.shape()).abs() < 1e-12);
        assert!((again.rate() - belief.rate()).abs() < 1e-12);
    }
}
