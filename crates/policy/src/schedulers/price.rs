//! At which threshold price do as many pages come due as the budget allows?

use crate::page::{Days, Page};

/// How many pages are sampled.
const SAMPLE: usize = 500;

/// The range and the accuracy of the search.
const DOUBLINGS: usize = 40;
const HALVINGS: usize = 12;

/// The price at which `pages` come due `rate` times a day, estimated from a sample; `wait` gives the time until a
/// page reaches a price. The search begins at `start` if that is a price.
pub(crate) fn price(
    rate: f64,
    pages: &[Page],
    start: f64,
    wait: impl Fn(&Page, f64) -> Days,
) -> f64 {
    let (sample, share) = sample_of(pages);
    let flow = |mu: f64| sample.iter().map(|page| 1.0 / wait(page, mu)).sum::<f64>();
    let is_low = |mu: f64| flow(mu) > rate * share;
    let mut low = if start > 0.0 { start } else { 1.0 };
    let mut high = low;
    for _ in 0..DOUBLINGS {
        match (is_low(low), is_low(high)) {
            (false, _) => low /= 4.0,
            (_, true) => high *= 4.0,
            _ => break,
        }
    }
    for _ in 0..HALVINGS {
        let middle = (low * high).sqrt();
        *(if is_low(middle) { &mut low } else { &mut high }) = middle;
    }
    high
}

/// Visits a day to `pages` at each of these prices, estimated from a sample.
pub(crate) fn visits_at(
    prices: &[f64],
    pages: &[Page],
    wait: impl Fn(&Page, f64) -> Days,
) -> Vec<f64> {
    let (sample, share) = sample_of(pages);
    let visits = |price: &f64| sample.iter().map(|page| 1.0 / wait(page, *price)).sum::<f64>();
    prices.iter().map(|price| visits(price) / share.max(f64::MIN_POSITIVE)).collect()
}

/// Some of the live pages, and which share of them that is.
fn sample_of(pages: &[Page]) -> (Vec<&Page>, f64) {
    let alive = pages.iter().filter(|page| page.alive).count() as f64;
    let step = pages.len().div_ceil(SAMPLE).max(1);
    let sample: Vec<&Page> = pages.iter().step_by(step).filter(|page| page.alive).collect();
    let share = sample.len() as f64 / alive.max(1.0);
    (sample, share)
}
