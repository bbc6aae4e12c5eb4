//! How much does it count, when visits are planned, that a page matters?

use evercrawl_model::Importance;

/// The share of its rank that a page passes on by its links: PageRank's usual damping.
pub(super) const DAMPING: f64 = 0.85;

/// No page counts more than so many times the average one, and none less than the reverse.
const MOST: f64 = 4.0;

/// What a page's freshness counts next to the average page's.
///
/// The root of its rank, within bounds. Ranks span four orders of magnitude, and what readers do with pages
/// less; a page that few link to may be the one that somebody needs. A page that was not ranked yet counts
/// as the average one.
pub fn weight(importance: Importance) -> f32 {
    importance.times().map_or(1.0, |times| times.sqrt().clamp(1.0 / MOST, MOST) as f32)
}

/// What a page is known to matter at least when it is found: what a surfer brings who jumps, and what the
/// page that it was found on passes on to each of its `links`.
pub fn passed_on(source: Importance, links: usize) -> Importance {
    let at_least = |times: f64| 1.0 - DAMPING + DAMPING * times / links.max(1) as f64;
    source.times().map_or(Importance::UNKNOWN, |times| Importance::of(at_least(times)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_grow_with_the_root_of_rank_within_bounds() {
        for (times, want) in [(1.0, 1.0), (4.0, 2.0), (0.25, 0.5), (1e4, 4.0), (1e-4, 0.25)] {
            assert!((weight(Importance::of(times)) - want).abs() < 1e-6, "{times}");
        }
        assert_eq!(weight(Importance::UNKNOWN), 1.0);
    }

    #[test]
    fn a_new_page_has_its_share_of_its_source() {
        let alone = passed_on(Importance::of(16.0), 1).times().unwrap();
        let shared = passed_on(Importance::of(16.0), 100).times().unwrap();
        assert!((alone / 13.75 - 1.0).abs() < 0.05 && (shared / 0.286 - 1.0).abs() < 0.05);
        assert_eq!(passed_on(Importance::UNKNOWN, 3), Importance::UNKNOWN);
        assert_eq!(passed_on(Importance::of(1.0), 0), passed_on(Importance::of(1.0), 1));
    }
}
