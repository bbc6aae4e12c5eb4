//! Which of a few kinds of page is this: daily, weekly, monthly?

const FLOOR: f64 = 1e-12;

/// A belief over classes of pages, each with its change rate (the survey's eq. 15 and 16).
///
/// P(k) ∝ P(k) L_k with L = 1 - e^(-λt) if changed, else e^(-λt); each posterior is the next prior.
/// (The example's "changed 5 times" must read "changed when checked after 5 days".) Chances never
/// fall below 1e-12, so that a page may still turn out to be of another class.
#[derive(Debug, Clone, PartialEq)]
pub struct Classes {
    rates: Vec<f64>,
    chances: Vec<f64>,
}

impl Classes {
    /// Creates the belief from pairs of rate and prior chance; chances are brought to sum 1.
    pub fn new(classes: impl IntoIterator<Item = (f64, f64)>) -> Self {
        let (rates, chances) = classes.into_iter().map(|(rate, p)| (rate.max(0.0), p)).unzip();
        let mut belief = Self { rates, chances };
        belief.normalise();
        belief
    }

    /// Learns whether the page had changed after `tau`.
    pub fn observe(&mut self, tau: f64, changed: bool) {
        if tau.is_nan() || tau < 0.0 {
            return;
        }
        for (rate, chance) in self.rates.iter().zip(&mut self.chances) {
            let expected = if *rate > 0.0 { rate * tau } else { 0.0 };
            *chance *= if changed { -(-expected).exp_m1() } else { (-expected).exp() };
        }
        self.normalise();
    }

    /// Returns the chance of each class, in the order given.
    pub fn chances(&self) -> &[f64] {
        &self.chances
    }

    /// Returns the mean rate.
    pub fn mean(&self) -> f64 {
        self.rates.iter().zip(&self.chances).map(|(rate, chance)| rate * chance).sum()
    }

    /// Scales to sum 1 by the largest first, so that a belief of tiny numbers does not vanish.
    fn normalise(&mut self) {
        let largest = self.chances.iter().copied().fold(0.0, f64::max);
        let scale = if largest > 0.0 && largest.is_finite() { largest } else { 1.0 };
        for chance in &mut self.chances {
            let scaled = *chance / scale;
            *chance = if scaled.is_nan() { FLOOR } else { scaled.clamp(FLOOR, 1.0) };
        }
        let sum: f64 = self.chances.iter().sum();
        self.chances.iter_mut().for_each(|chance| *chance /= sum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_close, golden, number, rows};

    #[test]
    fn the_worked_example_matches_the_reference_numbers() {
        let Some(golden) = golden() else { return };
        let example = &golden["bayes_classes"];
        let class = |k| (number(&example["rates"], k), number(&example["prior"], k));
        let mut belief = Classes::new([class("W"), class("M")]);
        for step in rows(example, "steps") {
            belief.observe(number(step, "interval"), step["changed"] == true);
            assert_close(belief.chances()[0], number(&step["posterior"], "W"), 1e-9);
            assert_close(belief.chances()[1], number(&step["posterior"], "M"), 1e-9);
        }
    }

    #[test]
    fn a_long_history_does_not_make_other_classes_impossible() {
        let mut belief = Classes::new([(1.0, 0.5), (0.01, 0.5)]);
        for _ in 0..10_000 {
            belief.observe(1.0, true);
        }
        assert!(belief.chances()[1] > 0.0 && belief.mean() < 1.0);
        for _ in 0..100 {
            belief.observe(1.0, false);
        }
        assert!(belief.chances()[1] > 0.99);
    }

    #[test]
    fn nonsense_is_answered() {
        let mut belief = Classes::new([(f64::NAN, -1.0), (f64::INFINITY, f64::NAN), (0.0, 0.0)]);
        belief.observe(f64::NAN, true);
        belief.observe(0.0, true);
        belief.observe(f64::INFINITY, false);
        assert_close(belief.chances().iter().sum(), 1.0, 1e-12);
        assert!(Classes::new([]).chances().is_empty());
    }
}
