//! How is a whole number of fetches divided over pages, one by one?
//!
//! The second half of Wolf et al.'s method (the survey's eq. 35 and 36): Fox's greedy rule (1966), and
//! the dynamic programming of Ibaraki and Katoh (1988) where that rule is not exact.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Divides `total` fetches by always giving the next one to the page that gains most from it.
///
/// `cost(page, x)` is a page's cost with x fetches. Exact if that is convex in x for every page;
/// O(R log n) with a heap. Among equal gains the earlier page comes first.
pub fn greedy(pages: usize, total: usize, cost: impl Fn(usize, usize) -> f64) -> Vec<usize> {
    let mut fetches = vec![0; pages];
    let gain = |page: usize, x: usize| Gain { gain: cost(page, x) - cost(page, x + 1), page };
    let mut heap: BinaryHeap<Gain> = (0..pages).map(|page| gain(page, 0)).collect();
    for _ in 0..total {
        let Some(best) = heap.pop() else { break };
        fetches[best.page] += 1;
        heap.push(gain(best.page, fetches[best.page]));
    }
    fetches
}

/// Divides at most `total` fetches by dynamic programming: exact for any cost, O(n R²).
///
/// For costs that are not convex; holds a table of n(R+1) numbers.
pub fn dynamic(pages: usize, total: usize, cost: impl Fn(usize, usize) -> f64) -> Vec<usize> {
    let width = total + 1;
    // best[r]: the least cost of the pages so far with r fetches to spend on them.
    let mut best = vec![0.0; width];
    let mut choice = vec![0; pages.saturating_mul(width)];
    for page in 0..pages {
        let costs: Vec<f64> = (0..width).map(|x| cost(page, x)).collect();
        let mut next = vec![f64::INFINITY; width];
        for r in 0..width {
            for x in 0..=r {
                let sum = best[r - x] + costs[x];
                if sum < next[r] {
                    next[r] = sum;
                    choice[page * width + r] = x;
                }
            }
        }
        best = next;
    }
    let (mut fetches, mut left) = (vec![0; pages], total);
    for page in (0..pages).rev() {
        fetches[page] = choice[page * width + left];
        left -= fetches[page];
    }
    fetches
}

struct Gain {
    gain: f64,
    page: usize,
}

impl Ord for Gain {
    fn cmp(&self, other: &Self) -> Ordering {
        self.gain.total_cmp(&other.gain).then_with(|| other.page.cmp(&self.page))
    }
}

impl PartialOrd for Gain {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Gain {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Gain {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn edges_are_answered() {
        assert!(greedy(0, 5, |_, _| 0.0).is_empty() && dynamic(0, 5, |_, _| 0.0).is_empty());
        assert_eq!(greedy(2, 0, |_, _| 0.0), [0, 0]);
        assert_eq!(dynamic(2, 0, |_, _| 0.0), [0, 0]);
        assert_eq!(greedy(2, 3, |_, _| f64::NAN).iter().sum::<usize>(), 3);
        assert_eq!(dynamic(2, 3, |_, _| f64::NAN), [0, 0]);
    }

    #[test]
    fn only_dynamic_programming_sees_past_a_step() {
        // The first page gains nothing from one fetch and everything from two.
        let cost = |page: usize, x: usize| match page {
            0 => {
                if x >= 2 {
                    0.0
                } else {
                    10.0
                }
            }
            _ => 4.0 - x as f64,
        };
        assert_eq!(greedy(2, 2, cost), [0, 2]);
        assert_eq!(dynamic(2, 2, cost), [2, 0]);
    }

    proptest! {
        #[test]
        fn both_agree_on_convex_costs(scales in prop::collection::vec(0.1..10.0_f64, 1..6), total in 0usize..15) {
            let cost = |page: usize, x: usize| scales[page] / (1.0 + x as f64);
            let sum = |fetches: &[usize]| -> f64 { fetches.iter().enumerate().map(|(p, x)| cost(p, *x)).sum() };
            let (quick, exact) = (greedy(scales.len(), total, cost), dynamic(scales.len(), total, cost));
            prop_assert!((sum(&quick) - sum(&exact)).abs() < 1e-12);
            prop_assert_eq!(quick.iter().sum::<usize>(), total);
        }
    }
}
