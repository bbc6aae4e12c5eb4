//! How much does a page's importance count in planning?

use evercrawl_model::Importance;

/// The share of its rank that a page passes on by its links: PageRank's usual damping.
pub(super) const DAMPING: f64 = 0.85;

/// The largest weight relative to the average page; the smallest is its inverse.
const MOST: f64 = 4.0;

/// The weight of a page's freshness, relative to the average page.
///
/// It is the square root of the page's rank, within bounds. Ranks span four orders of magnitude, but readers' use of
/// pages spans less, and a page with few links may be the one that somebody needs. An unranked page counts as the
/// average one.
pub fn weight_of_importance(importance: Importance) -> f32 {
    importance.ratio().map_or(1.0, |times| times.sqrt().clamp(1.0 / MOST, MOST) as f32)
}

/// The least importance of a page when it is found: what a random jump gives it, plus the share that the page linking
/// to it passes on to each of its `links`.
pub fn importance_passed_on(source: Importance, links: usize) -> Importance {
    let at_least = |times: f64| 1.0 - DAMPING + DAMPING * times / links.max(1) as f64;
    source.ratio().map_or(Importance::UNKNOWN, |times| Importance::from_ratio(at_least(times)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_grow_with_the_root_of_rank_within_bounds() {
        for (times, want) in [(1.0, 1.0), (4.0, 2.0), (0.25, 0.5), (1e4, 4.0), (1e-4, 0.25)] {
            assert!(
                (weight_of_importance(Importance::from_ratio(times)) - want).abs() < 1e-6,
                "{times}"
            );
        }
        assert_eq!(weight_of_importance(Importance::UNKNOWN), 1.0);
    }

    #[test]
    fn a_new_page_has_its_share_of_its_source() {
        let alone = importance_passed_on(Importance::from_ratio(16.0), 1).ratio().unwrap();
        let shared = importance_passed_on(Importance::from_ratio(16.0), 100).ratio().unwrap();
        assert!((alone / 13.75 - 1.0).abs() < 0.05 && (shared / 0.286 - 1.0).abs() < 0.05);
        assert_eq!(importance_passed_on(Importance::UNKNOWN, 3), Importance::UNKNOWN);
        assert_eq!(
            importance_passed_on(Importance::from_ratio(1.0), 0),
            importance_passed_on(Importance::from_ratio(1.0), 1)
        );
    }
}
