//! In which order are new pages fetched? Chooses a front queue for each by what is known about it.

use evercrawl_model::{Band, Importance, Measure};

/// Which new pages come first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CrawlOrder {
    /// Those nearest to a seed.
    #[default]
    Breadth,
    /// Those that most pages link to.
    Links,
    /// Those that rank highest, by a ranking made now and then.
    Rank,
    /// Those with most cash (OPIC).
    Cash,
    /// Those of hosts with most queued pages.
    Sites,
    /// Those that are probably about the topic.
    Topic,
}

impl CrawlOrder {
    /// The names of the orders in settings.
    pub const NAMES: [(&'static str, CrawlOrder); 6] = [
        ("breadth", CrawlOrder::Breadth),
        ("indegree", CrawlOrder::Links),
        ("pagerank", CrawlOrder::Rank),
        ("opic", CrawlOrder::Cash),
        ("larger-sites", CrawlOrder::Sites),
        ("topic", CrawlOrder::Topic),
    ];

    /// The order with a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::NAMES.into_iter().find(|(known, _)| *known == name).map(|(_, order)| order)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, order)| *order == self).map_or("", |(name, _)| name)
    }

    /// The link evidence that the order needs.
    pub fn measure(self) -> Option<Measure> {
        match self {
            CrawlOrder::Links => Some(Measure::Links),
            CrawlOrder::Cash => Some(Measure::Cash),
            CrawlOrder::Topic => Some(Measure::Topic),
            CrawlOrder::Breadth | CrawlOrder::Rank | CrawlOrder::Sites => None,
        }
    }
}

/// The band of a new page when more important pages come first: one band per doubling of importance. The first band
/// is reserved for pages that the user gave.
pub fn band_of_importance(importance: Importance) -> Band {
    let doublings = importance.ratio().unwrap_or(1.0).log2();
    Band::new((3.0 - doublings).round().clamp(1.0, f64::from(Band::LAST.number())) as u8)
}

/// The band of a new page whose expected relevance is between 0 and 1.
pub fn band_on_topic(expected: f64) -> Band {
    let last = f64::from(Band::LAST.number());
    // Half of the possible relevance is already high: a page's own text is only known after its fetch.
    Band::new((last - 2.0 * (last - 1.0) * expected).round().clamp(1.0, last) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_matters_more_waits_in_an_earlier_queue() {
        for (times, want) in [(1.0, 3), (2.0, 2), (4.0, 1), (1e4, 1), (0.25, 5), (1e-4, 7)] {
            assert_eq!(
                band_of_importance(Importance::from_ratio(times)),
                Band::new(want),
                "{times}"
            );
        }
        assert_eq!(band_of_importance(Importance::UNKNOWN), Band::new(3));
        for (expected, want) in [(0.0, 7), (0.125, 6), (0.25, 4), (0.5, 1), (1.0, 1)] {
            assert_eq!(band_on_topic(expected), Band::new(want), "{expected}");
        }
    }

    #[test]
    fn orders_have_names() {
        assert!(CrawlOrder::NAMES.iter().all(|(name, order)| order.name() == *name));
        assert_eq!(CrawlOrder::from_name("fame"), None);
    }
}
