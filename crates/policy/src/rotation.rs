//! How many queued pages should be reconsidered by now?

use crate::page::Days;

/// The most pages per visit, so that large collections do not spend all their time on this.
const MOST_A_VISIT: f64 = 10.0;

/// A rotation over all queued pages, a few after each visit.
///
/// A page's due time follows from what was known when it was set. What is learned later, about its directory or the
/// threshold price, may make it due earlier. A page with a due time in a year would not profit. Reconsidering all
/// pages at once is no solution: many would come due at the same moment, and the threshold price would swing.
#[derive(Debug)]
pub struct RevisitRotation {
    /// The time up to which pages were reconsidered.
    until: Days,
}

impl Default for RevisitRotation {
    fn default() -> Self {
        RevisitRotation { until: Days::NEG_INFINITY }
    }
}

impl RevisitRotation {
    /// How many of the `pages` to reconsider after a visit at `now`, if each is reconsidered once per `every` days.
    pub fn pages_due(&mut self, pages: usize, every: Days, now: Days) -> usize {
        let each = every / pages as f64;
        let turns = ((now - self.until) / each).floor();
        if turns > MOST_A_VISIT {
            self.until = now;
        } else if turns >= 1.0 {
            self.until += turns * each;
        }
        turns.clamp(0.0, MOST_A_VISIT) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::NEVER;

    #[test]
    fn every_page_has_its_turn_in_time() {
        let mut rota = RevisitRotation::default();
        rota.pages_due(560, 28.0, 0.0);
        let turns: usize =
            (1..=2800).map(|at| rota.pages_due(560, 28.0, f64::from(at) / 100.0)).sum();
        assert!((559..=560).contains(&turns), "{turns}");
    }

    #[test]
    fn a_visit_pays_for_few_and_nothing_is_owed_for_long() {
        let mut rota = RevisitRotation::default();
        assert_eq!(rota.pages_due(1_000_000, 28.0, 5.0), 10, "the first visit of all");
        assert_eq!(rota.pages_due(1_000_000, 28.0, 6.0), 10);
        assert_eq!(rota.pages_due(28, 28.0, 6.0), 0);
    }

    #[test]
    fn odd_numbers_give_nobody_a_turn() {
        for (pages, every) in [(0, 28.0), (9, NEVER), (9, Days::NAN)] {
            assert_eq!(RevisitRotation::default().pages_due(pages, every, 3.0), 0);
        }
        assert_eq!(RevisitRotation::default().pages_due(9, 28.0, Days::NAN), 0);
    }
}
