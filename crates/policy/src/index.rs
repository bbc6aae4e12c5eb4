//! When is a page worth fetching, given only its own row and a threshold?
//!
//! The index rule: a page is due when its index reaches μ, whatever all other pages do. With known rates that is the
//! exact optimum of the freshness allocation (its KKT condition, read in time instead of frequency); with a belief it
//! also explores. It is O(1) per page, so it scales to any number.

use evercrawl_estimate::Gamma;
use evercrawl_estimate::curve::{time_to_value, value};

/// What is known about a page's change rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rate {
    /// The exact rate (the lab's clairvoyant policy, or an estimate used as if it were exact).
    Known(f64),
    /// A belief with its uncertainty (the live crawler).
    Believed(Gamma),
}

/// Returns the index of a page of weight `w` when `tau` has passed since its last fetch.
///
/// Known: w g(λτ)/λ. Believed: its mean over the belief, [`Gamma::index`]. Divide `w` by the cost
/// of a fetch where costs differ.
pub fn index_value(rate: Rate, w: f64, tau: f64) -> f64 {
    match rate {
        Rate::Known(rate) => value(w, rate, tau),
        Rate::Believed(belief) => belief.index(w, tau),
    }
}

/// Returns how long after its last fetch a page's index reaches `mu`; infinity if never.
pub(crate) fn due_after(rate: Rate, w: f64, mu: f64) -> f64 {
    match rate {
        Rate::Known(rate) => time_to_value(w, rate, mu),
        Rate::Believed(belief) => belief.time_to_index(w, mu),
    }
}

/// The shortest and the longest time allowed between two fetches of a page.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IntervalLimits {
    /// The shortest interval.
    pub min: f64,
    /// The longest interval: the index of a well-known page is bounded, so it may never be due.
    pub max: f64,
}

impl IntervalLimits {
    /// No limits at all.
    pub const NONE: Self = Self { min: 0.0, max: f64::INFINITY };

    /// Returns the interval, clamped to the limits; the longest one for NaN.
    pub fn apply(self, interval: f64) -> f64 {
        if interval.is_nan() { self.max } else { interval.min(self.max).max(self.min) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allocate::{Demand, Objective, allocate};
    use crate::testing::golden;

    #[test]
    fn a_confident_belief_acts_like_a_known_rate() {
        let sure = Rate::Believed(Gamma::with_mean(0.5, 1e8));
        for tau in [0.1, 1.0, 5.0] {
            let (known, believed) =
                (index_value(Rate::Known(0.5), 2.0, tau), index_value(sure, 2.0, tau));
            assert!((known - believed).abs() < 1e-6 * known, "{known} {believed}");
        }
        let (known, believed) = (due_after(Rate::Known(0.5), 2.0, 1.0), due_after(sure, 2.0, 1.0));
        assert!((known - believed).abs() < 1e-6 * known, "{known} {believed}");
    }

    #[test]
    fn doubt_makes_a_page_due_that_certainty_would_drop() {
        assert_eq!(due_after(Rate::Known(10.0), 1.0, 0.2), f64::INFINITY);
        let doubtful = Rate::Believed(Gamma::with_mean(10.0, 1.0));
        assert!(due_after(doubtful, 1.0, 0.2).is_finite());
    }

    #[test]
    fn limits_hold_even_where_they_cross() {
        let limits = IntervalLimits { min: 1.0, max: 10.0 };
        assert_eq!(limits.apply(0.1), 1.0);
        assert_eq!(limits.apply(f64::INFINITY), 10.0);
        assert_eq!(limits.apply(f64::NAN), 10.0);
        assert_eq!(IntervalLimits { min: 5.0, max: 2.0 }.apply(3.0), 5.0);
    }

    /// The mean freshness from `burn` to `end` when one page is fetched every 1/`budget`: exact, by
    /// the integral of each page's expected freshness between its fetches.
    fn freshness(
        rates: &[f64],
        budget: f64,
        (burn, end): (f64, f64),
        mut choose: impl FnMut(f64, &[f64]) -> usize,
    ) -> f64 {
        let mut last = vec![0.0; rates.len()];
        let mut fresh = 0.0;
        let since = |page: usize, from: f64, to: f64| {
            let fresh_until = |t: f64| -(-rates[page] * (t - from)).exp_m1() / rates[page];
            if to > burn { fresh_until(to) - fresh_until(from.max(burn)) } else { 0.0 }
        };
        for slot in 1..=(end * budget) as u32 {
            let now = f64::from(slot) / budget;
            let page = choose(now, &last);
            fresh += since(page, last[page], now);
            last[page] = now;
        }
        fresh += (0..rates.len()).map(|page| since(page, last[page], end)).sum::<f64>();
        fresh / (end - burn) / rates.len() as f64
    }

    /// The page whose index is highest.
    fn argmax(rates: &[f64]) -> impl FnMut(f64, &[f64]) -> usize {
        move |now, last| {
            let index = |page: usize| index_value(Rate::Known(rates[page]), 1.0, now - last[page]);
            let ranked = (0..rates.len()).map(|page| (index(page), page));
            ranked.fold((-1.0, 0), |best, next| if next.0 >= best.0 { next } else { best }).1
        }
    }

    /// The page whose virtual due time, one interval after the one before, is earliest; the first
    /// ones are spread by the golden ratio.
    fn due(frequency: &[f64]) -> impl FnMut(f64, &[f64]) -> usize {
        let interval: Vec<f64> = frequency.iter().map(|f| 1.0 / f).collect();
        let phase = |i: usize| ((i as f64 + 1.0) * 0.618_033_988_749_894_9).fract();
        let mut due: Vec<f64> =
            interval.iter().enumerate().map(|(i, interval)| phase(i) * interval).collect();
        move |_, _| {
            let next = (0..due.len()).min_by(|a, b| due[*a].total_cmp(&due[*b])).unwrap_or(0);
            due[next] += interval[next];
            next
        }
    }

    #[test]
    fn five_pages_lock_the_index_rule_into_a_round_and_due_times_do_not() {
        let Some(golden) = golden("cho5") else { return };
        let rates = [1.0, 2.0, 3.0, 4.0, 5.0];
        let pages = rates.map(|rate| Demand::new(rate, 1.0));
        let best = allocate(Objective::Freshness, &pages, 5.0, IntervalLimits::NONE).frequency;
        let want = |key: &str| golden[key].as_f64().unwrap();
        let locked = freshness(&rates, 5.0, (100.0, 2000.0), argmax(&rates));
        assert!((locked - want("sim_argmax_index_T2000_burn100")).abs() < 1e-9, "{locked}");
        let spread = freshness(&rates, 5.0, (100.0, 2000.0), due(&best));
        assert!((spread - want("sim_due_T2000_burn100")).abs() < 1e-9, "{spread}");
    }

    #[test]
    fn five_hundred_pages_reach_the_optimum_by_the_index_rule() {
        let Some(golden) = golden("exp500_B250") else { return };
        let mut random = crate::SplitMix64::new(42);
        let rates: Vec<f64> = (0..500).map(|_| -random.uniform().ln()).collect();
        let pages: Vec<Demand> = rates.iter().map(|rate| Demand::new(*rate, 1.0)).collect();
        let best = allocate(Objective::Freshness, &pages, 250.0, IntervalLimits::NONE).frequency;
        let want = |key: &str| golden[key].as_f64().unwrap();
        let got = freshness(&rates, 250.0, (20.0, 40.0), argmax(&rates));
        assert!((got - want("sim_argmax_index_T40_burn20")).abs() < 1e-9, "{got}");
        assert!(got > 0.9999 * want("F_opt") && got <= want("F_opt"), "{got}");
        let spread = freshness(&rates, 250.0, (20.0, 40.0), due(&best));
        assert!((spread - want("sim_due_T40_burn20")).abs() < 1e-9, "{spread}");
    }
}
