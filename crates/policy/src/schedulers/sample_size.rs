//! How many pages of each site should be sampled before the rest of the budget is spent?

/// A rule for the size of the sample (S3, section 1.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SampleSize {
    /// √(N r), the authors' rule of thumb: needs to know nothing of how sites differ.
    #[default]
    Root,
    /// Eq. 17 as printed, √(N r f(ρ_r) / 6(ρ_r - ρ̄)). Singular where ρ_r <= ρ̄.
    Printed,
    /// Eq. 17 with the mean above the threshold, ρ̄_r, for ρ_r: S3 defines it and never uses it, so a
    /// bar seems to be lost.
    Barred,
    /// √(N f ρ_r (1-ρ_r) / 2(ρ_r - ρ̄ + r(ρ̄_r - ρ_r))): our own derivation to leading order.
    Derived,
}

/// How the shares of changed pages are spread over sites.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShareSpread {
    /// ρ_r: the share that only the r-th part of the sites exceeds.
    pub threshold: f64,
    /// f(ρ_r): the density of shares at the threshold.
    pub density: f64,
    /// ρ̄: the mean share.
    pub mean: f64,
    /// ρ̄_r: the mean of the shares above the threshold.
    pub mean_above: f64,
}

impl ShareSpread {
    /// Reads the spread from the sites' shares; `None` with fewer than four sites.
    ///
    /// The density is that of the tenth of the sites around the threshold (at least two).
    pub fn of(shares: &[f64], r: f64) -> Option<Self> {
        let mut shares: Vec<f64> = shares.iter().copied().filter(|s| s.is_finite()).collect();
        if shares.len() < 4 {
            return None;
        }
        shares.sort_unstable_by(|a, b| b.total_cmp(a));
        let count = shares.len();
        let above = ((r.clamp(0.0, 1.0) * count as f64).round() as usize).clamp(1, count - 1);
        let reach = (count / 20).max(1);
        let (low, high) = (above.saturating_sub(reach), (above + reach).min(count - 1));
        let width = (shares[low] - shares[high]).max(1e-3);
        let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
        Some(ShareSpread {
            threshold: shares[above],
            density: (high - low) as f64 / count as f64 / width,
            mean: mean(&shares),
            mean_above: mean(&shares[..above]),
        })
    }
}

impl SampleSize {
    /// The size for sites of `pages` pages on average, when the budget is the share `r` of all pages.
    ///
    /// [`Root`](Self::Root) where the spread is not known or the formula is singular.
    pub fn of(self, pages: f64, r: f64, spread: Option<ShareSpread>) -> f64 {
        let root = (pages * r).sqrt();
        let Some(spread) = spread else { return root };
        let ShareSpread { threshold, density, mean, mean_above } = spread;
        let squared = match self {
            SampleSize::Root => return root,
            SampleSize::Printed => pages * r * density / (6.0 * (threshold - mean)),
            SampleSize::Barred => pages * r * density / (6.0 * (mean_above - mean)),
            SampleSize::Derived => {
                let gap = threshold - mean + r * (mean_above - threshold);
                pages * density * threshold * (1.0 - threshold) / (2.0 * gap)
            }
        };
        if squared > 0.0 && squared.is_finite() { squared.sqrt() } else { root }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;
    use crate::testing::golden;

    #[test]
    fn singular_or_unknown_falls_back_to_the_root() {
        let flat = ShareSpread { threshold: 0.2, density: 1.0, mean: 0.3, mean_above: 0.5 };
        assert_eq!(SampleSize::Printed.of(100.0, 0.25, Some(flat)), 5.0);
        assert_eq!(SampleSize::Derived.of(100.0, 0.25, None), 5.0);
        assert!(SampleSize::Barred.of(100.0, 0.25, Some(flat)) > 0.0);
    }

    #[test]
    fn the_spread_of_even_shares_is_even() {
        let shares: Vec<f64> = (0..1000).map(|i| (f64::from(i) + 0.5) / 1000.0).collect();
        let spread = ShareSpread::of(&shares, 0.1).unwrap();
        for (got, want) in [
            (spread.threshold, 0.9),
            (spread.density, 1.0),
            (spread.mean, 0.5),
            (spread.mean_above, 0.95),
        ] {
            assert!((got - want).abs() < 2e-3, "{spread:?}");
        }
        assert_eq!(ShareSpread::of(&[0.5; 3], 0.1), None);
        assert!(ShareSpread::of(&[0.5; 9], f64::NAN).is_some());
    }

    /// The reference gives each rule's size but not ρ̄ and ρ̄_r: those follow from eq. 17's two forms,
    /// and with them the derived form must come out.
    #[test]
    fn all_three_forms_agree_with_the_reference() {
        let Some(golden) = golden("sampling_mc") else { return };
        for case in golden.as_array().unwrap() {
            let number = |key: &str| case[key].as_f64();
            let (pages, r) = (number("N").unwrap(), number("r").unwrap());
            assert!(
                (SampleSize::Root.of(pages, r, None) - number("sqrt_Nr").unwrap()).abs() < 1e-9
            );
            let (threshold, density) = (number("rho_r").unwrap(), number("f").unwrap());
            let gap = |size: f64| pages * r * density / (6.0 * size * size);
            let printed = number("seed_eq17_rho_r").unwrap();
            let barred = number("seed_eq17_mean_above").unwrap();
            if printed > 1e4 {
                continue; // singular: it does not tell the mean
            }
            let mean = threshold - gap(printed);
            let spread = ShareSpread { threshold, density, mean, mean_above: mean + gap(barred) };
            for (rule, want) in [
                (SampleSize::Printed, printed),
                (SampleSize::Barred, barred),
                (SampleSize::Derived, number("derived").unwrap()),
            ] {
                let got = rule.of(pages, r, Some(spread));
                assert!((got - want).abs() < 1e-9 * want, "{rule:?} {got} {want}");
            }
        }
    }

    /// The share of all pages that greedy sampling finds changed, over many sites of 100 pages whose
    /// shares of changed pages are spread evenly, with a budget of a tenth of all pages.
    fn yield_of(size: usize) -> f64 {
        const SITES: usize = 20_000;
        const PAGES: usize = 100;
        let mut random = SplitMix64::new(17);
        let mut sites: Vec<(usize, u64, usize)> = (0..SITES)
            .map(|_| {
                let changed = random.below(PAGES + 1);
                let mut left = changed;
                for drawn in 0..size {
                    left -= usize::from(random.below(PAGES - drawn) < left);
                }
                (changed - left, random.next_u64(), left)
            })
            .collect();
        sites.sort_unstable_by(|a, b| b.cmp(a));
        let found: usize = sites.iter().map(|&(in_sample, _, _)| in_sample).sum();
        let whole = (SITES * PAGES / 10 - SITES * size) / (PAGES - size);
        let more: usize = sites[..whole].iter().map(|&(_, _, left)| left).sum();
        (found + more) as f64 / (SITES * PAGES) as f64
    }

    #[test]
    fn all_forms_come_near_the_best_yield() {
        let yields: Vec<f64> = (0..=8).map(|size| yield_of(size.max(1))).collect();
        let best = yields.iter().copied().fold(0.0, f64::max);
        assert!((best - 0.0713).abs() < 0.001, "the reference found 0.0713: {yields:?}");
        let even = ShareSpread { threshold: 0.9, density: 1.0, mean: 0.5, mean_above: 0.95 };
        for (rule, loss) in [
            (SampleSize::Root, 0.01),
            (SampleSize::Derived, 0.01),
            (SampleSize::Printed, 0.03),
            (SampleSize::Barred, 0.03),
        ] {
            let size = rule.of(100.0, 0.1, Some(even)).round() as usize;
            assert!(yields[size] > best * (1.0 - loss), "{rule:?} {size}: {yields:?}");
        }
    }
}
