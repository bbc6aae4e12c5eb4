//! How many waiting pages are to be asked about again by now?

use crate::page::Days;

/// Pages that one visit pays for at most, so that large collections take no more than their share.
const MOST_A_VISIT: f64 = 10.0;

/// Goes round all pages that wait, some after each visit.
///
/// A page is told when it is due by what was known then. What is learned later, of its directory or of what a
/// fetch must be worth, may make it due sooner, and where a page waits for a year nobody would notice. To ask about
/// all of them at once is no good either: many would be due at the same moment, and what a fetch must be worth
/// would swing with them.
#[derive(Debug)]
pub struct Rota {
    /// The time up to which all had their turn.
    until: Days,
}

impl Default for Rota {
    fn default() -> Self {
        Rota { until: Days::NEG_INFINITY }
    }
}

impl Rota {
    /// After a visit at `now`: how many of so many `pages` have their turn, where each has one in every so many days.
    pub fn turns(&mut self, pages: usize, every: Days, now: Days) -> usize {
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
        let mut rota = Rota::default();
        rota.turns(560, 28.0, 0.0);
        let turns: usize = (1..=2800).map(|at| rota.turns(560, 28.0, f64::from(at) / 100.0)).sum();
        assert!((559..=560).contains(&turns), "{turns}");
    }

    #[test]
    fn a_visit_pays_for_few_and_nothing_is_owed_for_long() {
        let mut rota = Rota::default();
        assert_eq!(rota.turns(1_000_000, 28.0, 5.0), 10, "the first visit of all");
        assert_eq!(rota.turns(1_000_000, 28.0, 6.0), 10);
        assert_eq!(rota.turns(28, 28.0, 6.0), 0);
    }

    #[test]
    fn odd_numbers_give_nobody_a_turn() {
        for (pages, every) in [(0, 28.0), (9, NEVER), (9, Days::NAN)] {
            assert_eq!(Rota::default().turns(pages, every, 3.0), 0);
        }
        assert_eq!(Rota::default().turns(9, 28.0, Days::NAN), 0);
    }
}
