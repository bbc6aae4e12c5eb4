//! How is a budget divided when some pages announce every change and others none?
//!
//! LambdaCrawl's complete observability (Kolobov et al., NeurIPS 2019): a page that pushes is fetched
//! with some probability at each announcement, and never without one.

use super::Demand;
use super::exact::{FrequencyBounds, finite};
use super::objective::Objective;
use super::threshold::PriceSearch;
use crate::index::IntervalLimits;

/// A budget divided between silent pages and pages that push.
#[derive(Debug, Clone, PartialEq)]
pub struct PushSplit {
    /// The marginal harmonic cost per unit of budget, the same on both sides.
    pub mu: f64,
    /// Fetches per unit of time of each silent page.
    pub frequency: Vec<f64>,
    /// The chance that an announcement of each pushing page is followed by a fetch.
    pub probability: Vec<f64>,
}

/// Divides `budget` so that the harmonic cost of all pages together is least.
///
/// A pushing page costs -w ln p and spends c λ p, so p = min(1, w/(μ c λ)); silent pages are as in
/// [`Objective::Harmonic`]. The paper solves the two classes apart and then seeks the split of equal
/// marginal cost; that is one threshold for both.
pub fn split(silent: &[Demand], pushing: &[Demand], budget: f64) -> PushSplit {
    let bounds = FrequencyBounds::new(IntervalLimits::NONE);
    let frequency = |page: &Demand, mu: f64| bounds.frequency(Objective::Harmonic, page, mu);
    let spent = |mu: f64| {
        let polled: f64 = silent.iter().map(|page| page.price() * frequency(page, mu)).sum();
        let pushed: f64 = pushing.iter().map(|page| spent_on(page, probability(page, mu))).sum();
        polled + pushed
    };
    let threshold = PriceSearch::find(1.0, budget, spent);
    let mix = |value: &dyn Fn(f64) -> f64| finite(threshold.mix(value));
    PushSplit {
        mu: threshold.mu,
        frequency: silent.iter().map(|page| mix(&|mu| frequency(page, mu))).collect(),
        probability: pushing.iter().map(|page| mix(&|mu| probability(page, mu))).collect(),
    }
}

/// Returns the harmonic cost of a pushing page, -w ln p, before its weight: 0 if always fetched.
pub fn push_cost(probability: f64) -> f64 {
    -probability.clamp(0.0, 1.0).ln()
}

/// Following every announcement of a page that makes none costs nothing, so it is followed.
fn probability(page: &Demand, mu: f64) -> f64 {
    if page.weight.is_nan() || page.weight <= 0.0 {
        return 0.0;
    }
    let spending = mu * page.price() * page.rate.max(0.0);
    if spending > 0.0 { (page.weight / spending).min(1.0) } else { 1.0 }
}

fn spent_on(page: &Demand, probability: f64) -> f64 {
    if probability > 0.0 {
        page.price() * page.rate.clamp(0.0, f64::MAX) * probability
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allocate::testing::population;
    use crate::random::SplitMix64;

    fn cost(silent: &[Demand], pushing: &[Demand], split: &PushSplit) -> f64 {
        let polled: f64 = silent
            .iter()
            .zip(&split.frequency)
            .map(|(page, f)| page.weight * Objective::Harmonic.of_page(page.rate, *f))
            .sum();
        let pushed: f64 =
            pushing.iter().zip(&split.probability).map(|(p, q)| p.weight * push_cost(*q)).sum();
        polled + pushed
    }

    fn spent(silent: &[Demand], pushing: &[Demand], split: &PushSplit) -> f64 {
        let polled: f64 = split.frequency.iter().zip(silent).map(|(f, page)| page.cost * f).sum();
        polled + pushing.iter().zip(&split.probability).map(|(p, q)| spent_on(p, *q)).sum::<f64>()
    }

    #[test]
    fn alone_pushing_pages_share_by_weight_over_rate() {
        // The paper's p = min(1, B w/(λ Σw)): 4·5/(1·20) saturates the first page, and the other two
        // share what is left.
        let page = |rate, weight| Demand::new(rate, weight);
        let pages = [page(1.0, 10.0), page(4.0, 5.0), page(4.0, 5.0)];
        let got = split(&[], &pages, 4.0);
        assert!((got.probability[0] - 1.0).abs() < 1e-9);
        assert!((got.probability[1] - 3.0 * 5.0 / (4.0 * 10.0)).abs() < 1e-9);
        assert!((spent(&[], &pages, &got) - 4.0).abs() < 1e-9);
    }

    #[test]
    fn no_other_split_is_better() {
        let silent = population(1, 20, |u| -u.ln(), |u| 1.0 / u);
        let pushing = population(2, 20, |u| -u.ln(), |u| 1.0 / u);
        let best = split(&silent, &pushing, 10.0);
        assert!((spent(&silent, &pushing, &best) - 10.0).abs() < 1e-9);
        let mut random = SplitMix64::new(3);
        for _ in 0..200 {
            let mut other = best.clone();
            other.frequency.iter_mut().for_each(|f| *f *= 0.5 + random.uniform());
            other
                .probability
                .iter_mut()
                .for_each(|p| *p = (*p * (0.5 + random.uniform())).min(1.0));
            let scale = (10.0 / spent(&silent, &pushing, &other)).min(1.0);
            other.frequency.iter_mut().for_each(|f| *f *= scale);
            other.probability.iter_mut().for_each(|p| *p *= scale);
            assert!(cost(&silent, &pushing, &other) >= cost(&silent, &pushing, &best));
        }
    }

    #[test]
    fn edges_are_answered() {
        let none = split(&[], &[], 1.0);
        assert_eq!((none.mu, none.frequency.len()), (0.0, 0));
        let rich = split(&[], &[Demand::new(2.0, 1.0)], 50.0);
        assert_eq!((rich.mu, rich.probability), (0.0, vec![1.0]));
        let poor = split(&[Demand::new(2.0, 1.0)], &[Demand::new(2.0, 1.0)], 0.0);
        assert_eq!((poor.frequency, poor.probability), (vec![0.0], vec![0.0]));
        assert_eq!(split(&[], &[Demand::new(0.0, 1.0)], 1.0).probability, [1.0]);
    }
}
