//! How good is a page, whether it is widely known or not?
//!
//! A page's popularity `P` is its quality `Q`, the share of people who like it once they know it, times
//! the share who know it (Cho, Roy and Adams 2005). People come to know a page by visiting it, and
//! visit it the more the more popular it is; so from how fast popularity grows, quality can be read
//! long before the page is popular.
//!
//! Popularity and quality are shares, from 0 to 1. Time has any unit; `rate` is visits per person in it,
//! to a page as popular as can be.

/// How visits follow popularity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Attention {
    /// In proportion: people follow links. Popularity grows as a logistic curve.
    Links {
        /// Visits per person and unit of time to a page of popularity 1.
        rate: f64,
    },
    /// As its 9/4th power: people follow a search engine that shows the popular first. Young pages stay
    /// unknown far longer.
    Search {
        /// Visits per person and unit of time to a page of popularity 1.
        rate: f64,
    },
}

impl Attention {
    /// How fast popularity grows at a popularity, for a page of this quality.
    pub fn growth(self, quality: f64, popularity: f64) -> f64 {
        self.visits(popularity) * (quality - popularity)
    }

    /// How long popularity takes from `from` to `to`, for a page of this quality.
    ///
    /// `None` unless `0 < from <= to < quality`: what is higher is never reached.
    pub(crate) fn time_between(self, quality: f64, from: f64, to: f64) -> Option<f64> {
        let possible = from > 0.0 && from <= to && to < quality && quality.is_finite();
        let time = match self {
            Attention::Links { rate } => {
                let odds = |p: f64| (p / (quality - p)).ln();
                (odds(to) - odds(from)) / (rate * quality)
            }
            Attention::Search { rate } => {
                let scale = 4.0 / (rate * quality.powf(2.25));
                scale * (search_time(to / quality) - search_time(from / quality))
            }
        };
        Some(time).filter(|time| possible && time.is_finite())
    }

    /// The popularity that a page of this quality has, `time` after it was `popularity`.
    ///
    /// A page that is more popular than good stays so in this model, where nobody forgets.
    pub(crate) fn popularity_after(self, quality: f64, popularity: f64, time: f64) -> f64 {
        if !(popularity > 0.0 && popularity < quality && time > 0.0) {
            return popularity;
        }
        match self {
            Attention::Links { rate } => {
                let unaware = (quality / popularity - 1.0) * (-rate * quality * time).exp();
                quality / (1.0 + unaware)
            }
            Attention::Search { .. } => {
                let reached = |p: f64| {
                    self.time_between(quality, popularity, p).is_some_and(|taken| taken <= time)
                };
                last_where(popularity, quality, reached)
            }
        }
    }

    /// Quality from two snapshots of popularity, `time` apart, by the slope between them: eq. 21 of the
    /// survey by Meng, Wang and Yan, with its lost differences put back.
    ///
    /// It takes the growth of the whole time for that of its end. Quality is never below popularity.
    /// `None` where a page without popularity says nothing.
    pub fn quality_by_slope(self, before: f64, after: f64, time: f64) -> Option<f64> {
        let quality = (after - before) / time / self.visits(after) + after;
        let says_something = after > 0.0 && time > 0.0 && quality.is_finite();
        says_something.then(|| quality.max(after))
    }

    /// Quality from two snapshots of popularity, `time` apart: the one whose curve goes through both.
    ///
    /// A page that grew faster than a perfect one could is held for perfect; one that did not grow has
    /// no more to it than it shows. `None` where nothing can be said.
    pub fn quality(self, before: f64, after: f64, time: f64) -> Option<f64> {
        let says_something = before > 0.0 && after > 0.0 && after.is_finite() && time > 0.0;
        let slow = |quality: f64| self.popularity_after(quality, before, time) <= after;
        says_something.then(|| if after <= before { after } else { last_where(after, 1.0, slow) })
    }

    /// Visits per person and unit of time.
    fn visits(self, popularity: f64) -> f64 {
        match self {
            Attention::Links { rate } => rate * popularity,
            Attention::Search { rate } => rate * popularity.powf(2.25),
        }
    }
}

/// The antiderivative of `dx / (4 x^(9/4) (1 - x))`.
///
/// Eq. 23 of the survey is its power series, which crawls as `x` nears 1; with `x = u^4` it has a closed
/// form, good everywhere.
fn search_time(x: f64) -> f64 {
    let u = x.sqrt().sqrt();
    0.5 * (u.atanh() - u.atan()) - 0.2 * u.powi(-5) - u.recip()
}

/// The highest number from `low` to `high` at which `holds`, which holds up to some number; `low` where it
/// holds nowhere.
fn last_where(mut low: f64, mut high: f64, holds: impl Fn(f64) -> bool) -> f64 {
    if high <= low || holds(high) {
        return high.max(low);
    }
    // Halving ends when no number is left in between.
    loop {
        let middle = low + (high - low) / 2.0;
        if middle <= low || middle >= high {
            return low;
        }
        if holds(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BOTH: [Attention; 2] = [Attention::Links { rate: 0.7 }, Attention::Search { rate: 3.0 }];

    /// The time that growth takes, by Simpson's rule over the logarithm of popularity.
    fn by_quadrature(attention: Attention, quality: f64, from: f64, to: f64) -> f64 {
        const PARTS: usize = 20_000;
        let (start, width) = (from.ln(), (to / from).ln() / PARTS as f64);
        let slowness = |part: usize| {
            let p = (start + width * part as f64).exp();
            p / attention.growth(quality, p)
        };
        let weight = |part: usize| match part {
            0 | PARTS => 1.0,
            odd if odd % 2 == 1 => 4.0,
            _ => 2.0,
        };
        width / 3.0 * (0..=PARTS).map(|part| weight(part) * slowness(part)).sum::<f64>()
    }

    #[test]
    fn times_agree_with_quadrature() {
        for attention in BOTH {
            for quality in [0.05, 0.4, 0.97] {
                for (from, to) in [(0.01, 0.02), (0.1, 0.5), (0.001, 0.9), (0.5, 0.99)] {
                    let (from, to) = (from * quality, to * quality);
                    let time = attention.time_between(quality, from, to).unwrap();
                    let want = by_quadrature(attention, quality, from, to);
                    assert!(
                        (time / want - 1.0).abs() < 1e-9,
                        "{attention:?} {quality} {from} {to}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_closed_form_is_the_series_of_the_survey() {
        let (rate, quality, from, to): (f64, f64, f64, f64) = (3.0, 0.4, 0.01, 0.2);
        let term = |i: f64| {
            let power = i - 2.25;
            (to.powf(power) - from.powf(power)) / (power * quality.powf(i))
        };
        let series: f64 = (1..200).map(f64::from).map(term).sum::<f64>() / rate;
        let time = Attention::Search { rate }.time_between(quality, from, to).unwrap();
        assert!((time / series - 1.0).abs() < 1e-12, "{time} for {series}");
    }

    #[test]
    fn the_slope_between_near_snapshots_is_the_growth() {
        for attention in BOTH {
            let (quality, before, time) = (0.6, 0.3, 1e-6);
            let after = attention.popularity_after(quality, before, time);
            let found = attention.quality_by_slope(before, after, time).unwrap();
            assert!((found - quality).abs() < 1e-6, "{attention:?}: {found}");
        }
        // By hand: (0.3 - 0.2) / 2 / (0.5 * 0.3) + 0.3.
        let links = Attention::Links { rate: 0.5 };
        let found = links.quality_by_slope(0.2, 0.3, 2.0).unwrap();
        assert!((found - (1.0 / 3.0 + 0.3)).abs() < 1e-12, "{found}");
    }

    #[test]
    fn a_young_page_that_rises_comes_before_one_that_is_popular() {
        for attention in BOTH {
            let young = |time| attention.popularity_after(0.9, 0.05, time);
            let old = |time| attention.popularity_after(0.3, 0.29, time);
            let quality = |page: &dyn Fn(f64) -> f64| attention.quality(page(1.0), page(2.0), 1.0);
            assert!(young(2.0) < old(2.0), "{attention:?}: it is not popular yet");
            assert!(quality(&young) > quality(&old), "{attention:?}");
        }
    }

    #[test]
    fn what_says_nothing_is_not_answered_and_what_cannot_be_is_bounded() {
        for attention in BOTH {
            for (before, after, time) in
                [(0.0, 0.1, 1.0), (0.1, 0.0, 1.0), (0.1, 0.2, 0.0), (f64::NAN, 0.2, 1.0)]
            {
                assert_eq!(attention.quality(before, after, time), None);
            }
            assert_eq!(attention.quality_by_slope(0.1, 0.0, 1.0), None);
            assert_eq!(attention.quality(0.3, 0.2, 1.0), Some(0.2));
            assert_eq!(attention.quality_by_slope(0.3, 0.2, 1.0), Some(0.2));
            assert_eq!(attention.quality(1e-6, 0.9, 1e-3), Some(1.0));
            assert_eq!(attention.popularity_after(0.2, 0.3, 5.0), 0.3);
            assert_eq!(attention.time_between(0.5, 0.1, 0.5), None);
        }
    }

    proptest! {
        #[test]
        fn the_curve_through_two_snapshots_is_found_again(
            quality in 0.05f64..1.0,
            known in 0.02f64..0.9,
            time in 0.1f64..3.0,
        ) {
            for attention in BOTH {
                let before = quality * known;
                let after = attention.popularity_after(quality, before, time);
                prop_assert!(before <= after && after <= quality);
                let found = attention.quality(before, after, time).unwrap();
                let again = attention.popularity_after(found, before, time);
                prop_assert!((again - after).abs() < 1e-12, "{} for {}", again, after);
                // Where growth is too small to be seen in the last digits, quality cannot be either.
                if after - before > 1e-4 {
                    prop_assert!((found - quality).abs() < 1e-6, "{} for {}", found, quality);
                }
            }
        }
    }
}
