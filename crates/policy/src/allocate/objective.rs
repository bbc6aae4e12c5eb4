//! What is the budget to buy: freshness, a low age, or a bounded penalty?

use evercrawl_estimate::VisitOrder;
use evercrawl_estimate::curve::g_inverse;

use super::Demand;
use super::age_curve::age_curve_inverse;

/// What an allocation makes best, as a weighted mean over pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Objective {
    /// Most freshness with evenly spaced fetches: Σ w (1-e^-r)/r, r = λ/f (the survey's eq. 28).
    Freshness,
    /// Least age with evenly spaced fetches: Σ w (1/f)(1/2 - 1/r + (1-e^-r)/r²).
    Age,
    /// Least harmonic cost: -Σ w ln(f/(f+λ)) (LambdaCrawl, Kolobov et al. 2019). No page gets nothing.
    Harmonic,
    /// Most freshness with randomly spaced fetches: Σ w f/(f+λ) (Azar et al. 2018).
    Random,
}

impl Objective {
    /// Returns the frequency at which a page's marginal gain has fallen to `price`.
    ///
    /// ```text
    /// Freshness  (w/λ) g(λ/f) = price            f = λ/g⁻¹(price λ/w), 0 if price >= w/λ
    /// Age        w [I²/2 - g(λI)/λ²] = price     I = 1/f; never 0
    /// Harmonic   w λ/(f(f+λ)) = price            f = (-λ + √(λ² + 4wλ/price))/2; never 0
    /// Random     w λ/(f+λ)² = price              f = √(wλ/price) - λ, 0 if price >= w/λ
    /// ```
    ///
    /// A page that never changes, or weighs nothing, gets nothing. One that changes without pause
    /// gets nothing where freshness counts, and its share where age does.
    pub fn frequency(self, rate: f64, weight: f64, price: f64) -> f64 {
        let worthless = weight.is_nan() || weight <= 0.0 || rate.is_nan() || rate < 1e-100;
        if worthless || price == f64::INFINITY {
            return 0.0;
        }
        if price.is_nan() || price <= 0.0 {
            return if self.wants(rate) { f64::INFINITY } else { 0.0 };
        }
        let level = price / weight;
        match self {
            Self::Freshness if rate < f64::INFINITY => rate / g_inverse(level * rate),
            Self::Random if rate < f64::INFINITY => {
                rate * ((1.0 / (level * rate)).sqrt() - 1.0).max(0.0)
            }
            Self::Freshness | Self::Random => 0.0,
            Self::Age if rate < 1e100 => rate / age_curve_inverse(level * rate * rate),
            Self::Age => 1.0 / (2.0 * level).sqrt(),
            Self::Harmonic => 2.0 / level / (1.0 + (1.0 + 4.0 / (level * rate)).sqrt()),
        }
    }

    /// Returns what a page fetched at `frequency` contributes, before its weight.
    pub fn of_page(self, rate: f64, frequency: f64) -> f64 {
        match self {
            Self::Freshness => VisitOrder::Fixed.freshness(rate, frequency),
            Self::Age => VisitOrder::Fixed.age(rate, frequency),
            Self::Harmonic if rate > 0.0 => (rate / frequency.max(0.0)).ln_1p(),
            Self::Harmonic => 0.0,
            Self::Random => VisitOrder::PurelyRandom.freshness(rate, frequency),
        }
    }

    /// Returns the weighted mean over all pages; 0 where nothing has weight.
    pub fn value(self, pages: &[Demand], frequency: &[f64]) -> f64 {
        let (mut sum, mut weights) = (0.0, 0.0);
        for (page, f) in pages.iter().zip(frequency) {
            if page.weight > 0.0 {
                sum += page.weight * self.of_page(page.rate, *f);
                weights += page.weight;
            }
        }
        if weights > 0.0 { sum / weights } else { 0.0 }
    }

    /// Whether ever more fetches would go on helping a page of this rate.
    fn wants(self, rate: f64) -> bool {
        rate < f64::INFINITY || matches!(self, Self::Age | Self::Harmonic)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALL: [Objective; 4] =
        [Objective::Freshness, Objective::Age, Objective::Harmonic, Objective::Random];

    #[test]
    fn useless_pages_get_nothing() {
        for objective in ALL {
            for (rate, weight) in [(0.0, 1.0), (f64::NAN, 1.0), (1.0, 0.0), (1.0, f64::NAN)] {
                assert_eq!(objective.frequency(rate, weight, 0.1), 0.0);
                assert_eq!(objective.frequency(rate, weight, 0.0), 0.0);
            }
            assert_eq!(objective.frequency(1.0, 1.0, f64::INFINITY), 0.0);
            assert_eq!(objective.frequency(1.0, 1.0, 0.0), f64::INFINITY);
        }
        assert_eq!(Objective::Freshness.frequency(f64::INFINITY, 1.0, 0.1), 0.0);
        assert!((Objective::Age.frequency(f64::INFINITY, 1.0, 0.5) - 1.0).abs() < 1e-12);
        assert!((Objective::Harmonic.frequency(f64::INFINITY, 1.0, 0.5) - 2.0).abs() < 1e-12);
    }

    #[test]
    fn freshness_gives_up_a_page_exactly_at_the_stated_price() {
        for objective in [Objective::Freshness, Objective::Random] {
            assert_eq!(objective.frequency(2.0, 3.0, 1.5), 0.0);
            assert!(objective.frequency(2.0, 3.0, 1.5 - 1e-9) > 0.0);
        }
    }

    proptest! {
        #[test]
        fn the_marginal_gain_at_the_frequency_is_the_price(rate in -3.0..3.0_f64, weight in -3.0..3.0_f64, share in 0.01..0.9_f64) {
            let (rate, weight) = (10f64.powf(rate), 10f64.powf(weight));
            let price = share * weight / rate;
            for objective in ALL {
                let f = objective.frequency(rate, weight, price);
                let h = f * 1e-5;
                let slope = (objective.of_page(rate, f + h) - objective.of_page(rate, f - h)) / (2.0 * h);
                // Age is in units of time, so its price is found from the slope, not from the share.
                let gain = slope.abs() * weight;
                prop_assert!((gain / price - 1.0).abs() < 1e-4, "{objective:?}: {gain} {price}");
            }
        }
    }
}
