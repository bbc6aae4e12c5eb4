//! In which order are pages fetched that nobody has visited yet? A front queue for each, by what is known of it.

use evercrawl_model::{Band, Importance, Measure};

/// Which new pages come first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Those nearest to a seed.
    #[default]
    Breadth,
    /// Those that most pages link to.
    Links,
    /// Those that rank highest, by a ranking made now and then.
    Rank,
    /// Those with most cash (OPIC).
    Cash,
    /// Those of hosts of which most pages wait.
    Sites,
    /// Those that are likely to be about the topic.
    Topic,
}

impl Order {
    /// The names by which users ask for them.
    pub const NAMES: [(&'static str, Order); 6] = [
        ("breadth", Order::Breadth),
        ("indegree", Order::Links),
        ("pagerank", Order::Rank),
        ("opic", Order::Cash),
        ("larger-sites", Order::Sites),
        ("topic", Order::Topic),
    ];

    /// The order of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::NAMES.into_iter().find(|(known, _)| *known == name).map(|(_, order)| order)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, order)| *order == self).map_or("", |(name, _)| name)
    }

    /// What is counted for it, link by link.
    pub fn measure(self) -> Option<Measure> {
        match self {
            Order::Links => Some(Measure::Links),
            Order::Cash => Some(Measure::Cash),
            Order::Topic => Some(Measure::Topic),
            Order::Breadth | Order::Rank | Order::Sites => None,
        }
    }
}

/// The front queue of a new page, where those that matter more come first: a queue for each doubling, and
/// the first one left to what the user gave.
pub fn band(importance: Importance) -> Band {
    let doublings = importance.times().unwrap_or(1.0).log2();
    Band::new((3.0 - doublings).round().clamp(1.0, f64::from(Band::LAST.number())) as u8)
}

/// The front queue of a new page of which so much is expected, from 0 to 1.
pub fn band_on_topic(expected: f64) -> Band {
    let last = f64::from(Band::LAST.number());
    // Half of what can be expected is much: what a page says itself is known only when it is fetched.
    Band::new((last - 2.0 * (last - 1.0) * expected).round().clamp(1.0, last) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_matters_more_waits_in_an_earlier_queue() {
        for (times, want) in [(1.0, 3), (2.0, 2), (4.0, 1), (1e4, 1), (0.25, 5), (1e-4, 7)] {
            assert_eq!(band(Importance::of(times)), Band::new(want), "{times}");
        }
        assert_eq!(band(Importance::UNKNOWN), Band::new(3));
        for (expected, want) in [(0.0, 7), (0.125, 6), (0.25, 4), (0.5, 1), (1.0, 1)] {
            assert_eq!(band_on_topic(expected), Band::new(want), "{expected}");
        }
    }

    #[test]
    fn orders_have_names() {
        assert!(Order::NAMES.iter().all(|(name, order)| order.name() == *name));
        assert_eq!(Order::from_name("fame"), None);
    }
}
