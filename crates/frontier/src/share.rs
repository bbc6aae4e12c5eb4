//! New pages or known ones first? A share of all requests is for new pages, and no host forgets one kind over the other.
//!
//! Few hosts may have new pages, and then all requests to them together are fewer than the share. Still they are not all
//! for new pages: a host without end would never be looked at again. So each kind gets at least half of its
//! share of a host's own requests, where both wait.

use super::back_queue::Order;

/// How far the share of new pages may be off, in pages.
const MOST_CREDIT: f64 = 50.0;

/// The share of new pages, over all hosts.
pub(super) struct Share {
    discover: f64,
    /// How many requests new pages are owed.
    credit: f64,
}

/// How many pages of one kind a host gave in a row, most recently.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Row {
    is_new: bool,
    length: u32,
}

impl Share {
    /// A share of `discover`, from 0 to 1.
    pub(super) fn new(discover: f64) -> Self {
        Share { discover, credit: 0.0 }
    }

    /// Which kind a host is asked for that gave these in a row.
    pub(super) fn order(&self, row: Row) -> Order {
        let owed = if row.is_new { 1.0 - self.discover } else { self.discover };
        // So many of one kind to one of the other leave that half of its share.
        let too_many = f64::from(row.length) * owed >= 2.0 - owed;
        match (too_many && row.is_new, too_many, self.credit >= 0.0) {
            (true, ..) | (_, false, false) => Order::DueFirst,
            _ => Order::NewFirst,
        }
    }

    /// A host gave a page.
    pub(super) fn spent(&mut self, row: &mut Row, is_new: bool) {
        let credit = self.credit + self.discover - f64::from(is_new);
        self.credit = credit.clamp(-MOST_CREDIT, MOST_CREDIT);
        let length = if row.is_new == is_new { row.length.saturating_add(1) } else { 1 };
        *row = Row { is_new, length };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The share of new pages of one host that has both kinds without end, beside others that have only one.
    fn share_of_new(discover: f64, others_are_new: Option<bool>) -> f64 {
        let (mut share, mut row, mut other) =
            (Share::new(discover), Row::default(), Row::default());
        let mut new = 0;
        for _ in 0..1000 {
            let is_new = share.order(row) == Order::NewFirst;
            share.spent(&mut row, is_new);
            new += u32::from(is_new);
            for _ in 0..9 {
                others_are_new.into_iter().for_each(|is_new| share.spent(&mut other, is_new));
            }
        }
        f64::from(new) / 1000.0
    }

    #[test]
    fn a_host_by_itself_keeps_the_share() {
        for discover in [0.0, 0.2, 0.5, 0.8, 1.0] {
            let share = share_of_new(discover, None);
            assert!((share - discover).abs() <= 0.01, "{discover}: {share}");
        }
    }

    #[test]
    fn neither_kind_starves_at_a_host_because_of_others() {
        for (discover, least, most) in [(0.2, 0.1, 0.67), (0.5, 0.25, 0.75), (0.8, 0.33, 0.9)] {
            let shares = [true, false].map(|is_new| share_of_new(discover, Some(is_new)));
            assert!((shares[0] - least).abs() <= 0.02, "{discover}: {shares:?}");
            assert!((shares[1] - most).abs() <= 0.02, "{discover}: {shares:?}");
        }
    }

    #[test]
    fn all_or_nothing_is_what_was_asked_for() {
        assert!(share_of_new(0.0, Some(true)) < 0.01);
        assert_eq!(share_of_new(1.0, Some(false)), 1.0);
    }
}
