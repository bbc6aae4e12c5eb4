//! How stale is a page whose changes are not Poisson, but still a renewal process?
//!
//! Wolf et al.'s model (the survey's eq. 35 and 36, where the upper limit x_j must be x_i). Gaps
//! between changes have a law G of mean 1/λ. Nothing is conditioned on but the fetch: a scheduler that
//! knows the phase of a periodic page can do better (see [`slots`](super::slots)).

use evercrawl_estimate::poisson::age_at;
use evercrawl_estimate::special::{gamma_p, gamma_q};

/// The law of the gaps between changes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RenewalGaps {
    /// Exponential: a Poisson process of this rate.
    Poisson(f64),
    /// Always the same, of this length.
    Periodic(f64),
    /// Gamma with a shape and a rate: more regular than Poisson above shape 1, burstier below.
    Gamma {
        /// Shape k.
        shape: f64,
        /// Rate b; the mean gap is k/b.
        rate: f64,
    },
}

impl RenewalGaps {
    /// Returns the expected stale time within `s` after a fetch, c(s) = ∫₀ˢ (1 - P(fresh)).
    ///
    /// P(fresh at s) = λ∫ₛ^∞ (1-G). Poisson: s - (1-e^(-λs))/λ. Period d: s²/(2d), then s - d/2.
    /// Gamma, integrated twice by parts:
    /// s P(k+1,bs) - (k+1)/(2b) P(k+2,bs) + (bs²/2k) Q(k,bs). No law, no staleness.
    pub fn stale_time(self, s: f64) -> f64 {
        if s.is_nan() || s <= 0.0 {
            return 0.0;
        }
        match self {
            Self::Poisson(rate) => age_at(rate, s),
            Self::Periodic(d) if d > 0.0 => {
                if s <= d {
                    s * s / (2.0 * d)
                } else {
                    s - d / 2.0
                }
            }
            Self::Gamma { shape: k, rate: b } if k > 0.0 && b > 0.0 => {
                let x = b * s;
                s * gamma_p(k + 1.0, x) - (k + 1.0) / (2.0 * b) * gamma_p(k + 2.0, x)
                    + x * s / (2.0 * k) * gamma_q(k, x)
            }
            Self::Periodic(_) | Self::Gamma { .. } => 0.0,
        }
    }

    /// Returns the stale part of a span `span` with `fetches` fetches in it.
    ///
    /// c is convex, so even spacing is best: A(x) = ((x+1)/T) c(T/(x+1)).
    pub fn staleness(self, fetches: usize, span: f64) -> f64 {
        let parts = fetches as f64 + 1.0;
        if span > 0.0 { parts / span * self.stale_time(span / parts) } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allocate::discrete::{dynamic, greedy};
    use crate::allocate::testing::{assert_close, number, numbers};
    use crate::testing::golden;
    use serde_json::Value;

    fn law(row: &Value) -> RenewalGaps {
        let value = |i: usize| row[i].as_f64().unwrap();
        match row[0].as_str().unwrap() {
            "poisson" => RenewalGaps::Poisson(value(1)),
            "det" => RenewalGaps::Periodic(value(1)),
            _ => RenewalGaps::Gamma { shape: value(1), rate: value(2) },
        }
    }

    #[test]
    fn stale_times_match_the_reference_numbers() {
        let Some(golden) = golden("renewal_stale") else { return };
        for row in golden.as_array().unwrap() {
            assert_close(law(&row["dist"]).stale_time(number(row, "s")), number(row, "c"), 1e-9);
        }
    }

    #[test]
    fn both_ways_to_divide_fetches_match_the_reference_numbers() {
        let Some(golden) = golden("renewal_alloc") else { return };
        let laws: Vec<RenewalGaps> = golden["dists"].as_array().unwrap().iter().map(law).collect();
        let (weights, span) = (numbers(&golden["w"]), number(&golden, "T"));
        let cost = |page: usize, x: usize| weights[page] * laws[page].staleness(x, span);
        let total = number(&golden, "R") as usize;
        for (fetches, name) in [(greedy(5, total, cost), "greedy"), (dynamic(5, total, cost), "dp")]
        {
            let want = numbers(&golden[format!("{name}_x")]);
            assert!(fetches.iter().zip(&want).all(|(x, w)| *x as f64 == *w), "{name}");
            let sum: f64 = fetches.iter().enumerate().map(|(page, x)| cost(page, *x)).sum();
            assert_close(sum, number(&golden, &format!("{name}_cost")), 1e-9);
        }
    }

    #[test]
    fn a_gamma_of_shape_one_is_poisson_and_of_large_shape_periodic() {
        for s in [0.1, 1.0, 4.0] {
            let one = RenewalGaps::Gamma { shape: 1.0, rate: 0.5 };
            assert_close(one.stale_time(s), RenewalGaps::Poisson(0.5).stale_time(s), 1e-12);
            let many = RenewalGaps::Gamma { shape: 1e5, rate: 5e4 };
            assert_close(many.stale_time(s), RenewalGaps::Periodic(2.0).stale_time(s), 1e-2);
        }
    }

    #[test]
    fn edges_are_answered() {
        for gaps in [
            RenewalGaps::Poisson(f64::NAN),
            RenewalGaps::Periodic(0.0),
            RenewalGaps::Gamma { shape: -1.0, rate: f64::NAN },
        ] {
            assert_eq!(gaps.stale_time(3.0), 0.0);
            assert_eq!(gaps.staleness(2, f64::NAN), 0.0);
        }
        assert_eq!(RenewalGaps::Poisson(1.0).stale_time(-1.0), 0.0);
    }
}
