//! New pages or known pages first? A configured share of all requests goes to new pages, and no host neglects one
//! kind.
//!
//! Few hosts may have new pages; then all requests to them together are fewer than the share. Still not all of these
//! requests are for new pages, since a host without end would never be revisited. So each kind gets at least half of
//! its share of a host's own requests, where both are queued.

use super::back_queue::Order;

/// How far the share may be off, in pages.
const MAX_CREDIT: f64 = 50.0;

/// The share of new pages, over all hosts.
pub(super) struct NewPageShare {
    discover: f64,
    /// How many requests are owed to new pages.
    credit: f64,
}

/// How many pages of one kind a host gave in a row, most recently.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Streak {
    is_new: bool,
    length: u32,
}

impl NewPageShare {
    /// A share of `discover`, from 0 to 1.
    pub(super) fn new(discover: f64) -> Self {
        NewPageShare { discover, credit: 0.0 }
    }

    /// Which kind comes first on a host with this streak.
    pub(super) fn choose_order(&self, row: Streak) -> Order {
        let owed = if row.is_new { 1.0 - self.discover } else { self.discover };
        // A streak this long leaves the other kind with half of its share.
        let too_many = f64::from(row.length) * owed >= 2.0 - owed;
        match (too_many && row.is_new, too_many, self.credit >= 0.0) {
            (true, ..) | (_, false, false) => Order::DueFirst,
            _ => Order::NewFirst,
        }
    }

    /// Counts a page that a host gave.
    pub(super) fn record_lease(&mut self, row: &mut Streak, is_new: bool) {
        let credit = self.credit + self.discover - f64::from(is_new);
        self.credit = credit.clamp(-MAX_CREDIT, MAX_CREDIT);
        let length = if row.is_new == is_new { row.length.saturating_add(1) } else { 1 };
        *row = Streak { is_new, length };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The share of new pages of one host that has both kinds without end, next to others that have only one.
    fn share_of_new(discover: f64, others_are_new: Option<bool>) -> f64 {
        let (mut share, mut row, mut other) =
            (NewPageShare::new(discover), Streak::default(), Streak::default());
        let mut new = 0;
        for _ in 0..1000 {
            let is_new = share.choose_order(row) == Order::NewFirst;
            share.record_lease(&mut row, is_new);
            new += u32::from(is_new);
            for _ in 0..9 {
                others_are_new
                    .into_iter()
                    .for_each(|is_new| share.record_lease(&mut other, is_new));
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
