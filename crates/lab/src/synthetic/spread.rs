//! How do rates, weights and costs differ from page to page?

use evercrawl_estimate::special::gamma_q;

/// A distribution of positive numbers with a given mean.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueSpread {
    /// The mean over all pages.
    pub mean: f64,
    /// How they lie around it.
    pub shape: SpreadShape,
}

/// The form of a [`ValueSpread`].
#[derive(Clone, Debug, PartialEq)]
pub enum SpreadShape {
    /// All alike.
    Same,
    /// Lognormal with this sigma.
    Lognormal(f64),
    /// Pareto with this exponent, cut off at this many times the least value.
    Pareto {
        /// The exponent: smaller is more unequal.
        exponent: f64,
        /// The largest value over the least.
        most: f64,
    },
    /// Exponential.
    Exponential,
    /// Anything from 0 to twice the mean.
    Uniform,
    /// One of these, each as likely; ascending.
    Values(Vec<f64>),
}

impl ValueSpread {
    /// All pages alike.
    pub fn same(mean: f64) -> Self {
        ValueSpread { mean, shape: SpreadShape::Same }
    }

    /// The value of a page that stands at the standard normal score `z` among all.
    ///
    /// Scores instead of draws, so that two properties of a page can be correlated: a Gaussian
    /// copula.
    pub fn at(&self, z: f64) -> f64 {
        match &self.shape {
            SpreadShape::Same => self.mean,
            SpreadShape::Lognormal(sigma) => self.mean * (sigma * z - sigma * sigma / 2.0).exp(),
            SpreadShape::Pareto { exponent, most } => {
                let value = above(z).powf(-1.0 / exponent).min(*most);
                self.mean * value / pareto_mean(*exponent, *most)
            }
            SpreadShape::Exponential => -above(z).ln() * self.mean,
            SpreadShape::Uniform => 2.0 * self.mean * above(-z),
            SpreadShape::Values(values) => {
                let place = (above(-z) * values.len() as f64) as usize;
                values[place.min(values.len().saturating_sub(1))]
            }
        }
    }
}

/// The mean of a Pareto number of least value 1 that is cut off at `most`: 1 + ∫ P(X > x) dx.
fn pareto_mean(exponent: f64, most: f64) -> f64 {
    let power = 1.0 - exponent;
    1.0 + if power.abs() < 1e-9 { most.ln() } else { (most.powf(power) - 1.0) / power }
}

/// The chance that a standard normal number is above `z`.
fn above(z: f64) -> f64 {
    let tail = gamma_q(0.5, z * z / 2.0) / 2.0;
    if z > 0.0 { tail } else { 1.0 - tail }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shapes() -> Vec<ValueSpread> {
        let spread = |shape| ValueSpread { mean: 0.7, shape };
        vec![
            spread(SpreadShape::Same),
            spread(SpreadShape::Lognormal(1.5)),
            spread(SpreadShape::Pareto { exponent: 1.2, most: 1000.0 }),
            spread(SpreadShape::Pareto { exponent: 1.0, most: 50.0 }),
            spread(SpreadShape::Exponential),
            spread(SpreadShape::Uniform),
            spread(SpreadShape::Values(vec![0.1, 0.3, 0.7, 1.7])),
        ]
    }

    #[test]
    fn the_mean_is_as_said_and_order_is_kept() {
        for spread in shapes() {
            // The integral over the normal density, by the midpoint rule.
            let (mut sum, step) = (0.0, 1e-3);
            let mut last = 0.0;
            for i in -9000..9000 {
                let z = (f64::from(i) + 0.5) * step;
                let value = spread.at(z);
                assert!(value >= last && value.is_finite(), "{spread:?} at {z}");
                last = value;
                sum += value * (-z * z / 2.0).exp() * step;
            }
            let mean = sum / std::f64::consts::TAU.sqrt();
            assert!((mean / spread.mean - 1.0).abs() < 2e-3, "{spread:?}: {mean}");
        }
    }

    #[test]
    fn a_pareto_value_is_cut_off() {
        let spread =
            ValueSpread { mean: 1.0, shape: SpreadShape::Pareto { exponent: 0.9, most: 20.0 } };
        assert!((spread.at(8.0) / spread.at(-8.0) - 20.0).abs() < 1e-9);
    }
}
