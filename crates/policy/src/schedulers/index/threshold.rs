//! What must a fetch be worth, so that as many pages come due as may be fetched?

use evercrawl_estimate::quick;

use crate::persist::persist_fields;

/// When the threshold has fallen to this share, all pages are told anew when they are due: those that were
/// put off by the higher one would come up too late.
const FALLEN: f64 = 0.85;

/// How many e-folds the threshold can move in a week.
const FOLDS_A_WEEK: f64 = 1.5;

/// The least number of fetches that count as a week's. The threshold of a small crawl must not follow every single
/// page; and at first it is nothing: while it rises pages come in order of how long they wait, and a crawl that knows
/// little by then does well to look at all alike.
const LEAST: f64 = 18.0;

/// μ, the price of a fetch: it follows what the pages that are fetched are worth, within days.
///
/// When pages wait longer than they should, they are worth more than μ when their turn comes, and it
/// rises; when nothing is due, pages are fetched ahead of their time for less, and it falls.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PriceController {
    price: f64,
    /// The highest price by which a waiting page may have been put off.
    highest: f64,
    fetches_a_week: f64,
}

persist_fields!(PriceController { price, highest, fetches_a_week });

impl PriceController {
    /// μ; 0 before the first fetch.
    pub(crate) fn price(&self) -> f64 {
        self.price
    }

    /// Tells how many fetches there will be. True when that is so many more or fewer than before that the
    /// price should be asked for anew.
    pub(crate) fn expect(&mut self, fetches_a_week: f64) -> bool {
        const FACTOR: f64 = 1.5;
        let ratio = fetches_a_week / self.fetches_a_week;
        self.fetches_a_week = fetches_a_week;
        self.price > 0.0 && fetches_a_week > 0.0 && !(1.0 / FACTOR..=FACTOR).contains(&ratio)
    }

    /// Starts anew from `price`.
    pub(crate) fn set(&mut self, price: f64) {
        if price > 0.0 && price.is_finite() {
            self.price = price;
            self.highest = self.highest.max(price);
        }
    }

    /// Moves towards what a fetch was worth.
    pub(crate) fn follow(&mut self, worth: f64) {
        if !(worth > 0.0 && worth.is_finite()) {
            return;
        }
        if self.price <= 0.0 {
            self.price = worth;
        }
        let miss = quick::ln(worth / self.price).clamp(-1.0, 1.0);
        self.price *= quick::exp(FOLDS_A_WEEK * miss / self.fetches_a_week.max(LEAST));
        self.highest = self.highest.max(self.price);
    }

    /// Whether it fell so far since this last was true that waiting pages would come up too late.
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
