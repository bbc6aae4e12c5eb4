//! Which price makes as many pages come due as the budget allows?

use evercrawl_estimate::quick;

use crate::persist::persist_fields;

/// When the price has fallen to this share, all due times are recomputed: pages put off by the higher price would
/// come up too late.
const FALLEN: f64 = 0.85;

/// The most e-folds by which the price moves in a week.
const FOLDS_A_WEEK: f64 = 1.5;

/// The least number of fetches that count as a week's. The price of a small crawl must not follow every single page.
/// It starts at 0: while it rises, pages are ordered by how long they wait, which treats all alike until more is
/// known.
const LEAST: f64 = 18.0;

/// The threshold price μ of a fetch: it follows the value of the fetched pages, within days.
///
/// When pages wait longer than they should, their value is above μ when they come up, and μ rises. When nothing is
/// due, pages are fetched ahead of their time for less, and μ falls.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PriceController {
    price: f64,
    /// The highest price by which a queued page may have been put off.
    highest: f64,
    fetches_a_week: f64,
}

persist_fields!(PriceController { price, highest, fetches_a_week });

impl PriceController {
    /// μ; 0 before the first fetch.
    pub(crate) fn price(&self) -> f64 {
        self.price
    }

    /// Sets the number of fetches to come. Returns true when it changed so much that the price should be computed
    /// anew.
    pub(crate) fn expect(&mut self, fetches_a_week: f64) -> bool {
        const FACTOR: f64 = 1.5;
        let ratio = fetches_a_week / self.fetches_a_week;
        self.fetches_a_week = fetches_a_week;
        self.price > 0.0 && fetches_a_week > 0.0 && !(1.0 / FACTOR..=FACTOR).contains(&ratio)
    }

    /// Sets the price.
    pub(crate) fn set(&mut self, price: f64) {
        if price > 0.0 && price.is_finite() {
            self.price = price;
            self.highest = self.highest.max(price);
        }
    }

    /// Moves the price towards the value of a fetch.
    pub(crate) fn follow(&mut self, value: f64) {
        if !(value > 0.0 && value.is_finite()) {
            return;
        }
        if self.price <= 0.0 {
            self.price = value;
        }
        let miss = quick::ln(value / self.price).clamp(-1.0, 1.0);
        self.price *= quick::exp(FOLDS_A_WEEK * miss / self.fetches_a_week.max(LEAST));
        self.highest = self.highest.max(self.price);
    }

    /// Whether it fell so far since this last returned true that queued pages would come up too late.
    pub(crate) fn has_fallen(&mut self) -> bool {
        let fallen = self.price < FALLEN * self.highest;
        if fallen {
            self.highest = self.price;
        }
        fallen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn follows_what_fetches_are_worth_and_says_when_it_fell() {
        let mut threshold = PriceController::default();
        assert!(!threshold.expect(100.0), "there is no price yet");
        threshold.follow(f64::NAN);
        assert_eq!(threshold.price(), 0.0);
        (0..1000).for_each(|_| threshold.follow(8.0));
        assert!((threshold.price() - 8.0).abs() < 0.01);
        assert!(!threshold.has_fallen());
        (0..1000).for_each(|_| threshold.follow(2.0));
        assert!((threshold.price() - 2.0).abs() < 0.01);
        assert!(threshold.has_fallen() && !threshold.has_fallen());
        assert!(!threshold.expect(120.0) && threshold.expect(12.0) && !threshold.expect(12.0));
        threshold.set(3.0);
        threshold.set(f64::NAN);
        assert_eq!(threshold.price(), 3.0);
        threshold.follow(1e300);
        assert!(threshold.price() < 3.4, "one page alone moves it little");
    }
}
