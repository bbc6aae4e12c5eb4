//! How long may a page go unseen that changes too fast to be worth a fetch?
//!
//! Such pages would be given up for good, and those that have calmed down since (news of last week, a thread
//! that fell silent) with them: nobody would notice. So they are looked at now and then all the same, and what
//! those looks find tells how often that pays: if one page in n has calmed down, every n turns.

use crate::persist::persist_fields;

/// A turn is a schedule that treats all pages alike; so many of them pass between two looks.
const FEWEST: f64 = 1.5;
const MOST: f64 = 8.0;

/// The chance of no change below which a page that did not change has calmed down.
const SURPRISE: f64 = 0.1;

/// Looks after which older ones begin to fade.
const MEMORY: f64 = 300.0;

/// What looks at pages that had been given up have found.
#[derive(Clone, Copy, Debug)]
pub(super) struct RevisitPatience {
    looks: f64,
    calm: f64,
}

persist_fields!(RevisitPatience { looks, calm });

impl Default for RevisitPatience {
    /// One page in two, until it is known: to find out how many there are takes looks.
    fn default() -> Self {
        RevisitPatience { looks: 2.0, calm: 1.0 }
    }
}

impl RevisitPatience {
    /// How many turns a page may wait that was given up.
    pub(super) fn rounds(&self) -> f64 {
        (self.looks / self.calm).clamp(FEWEST, MOST)
    }

    /// A page that had been given up was looked at, and had changed or not.
    pub(super) fn learn(&mut self, changed: bool) {
        if self.looks > MEMORY {
            let keep = 1.0 - 1.0 / MEMORY;
            (self.looks, self.calm) = (keep * self.looks, keep * self.calm);
        }
        self.looks += 1.0;
        self.calm += f64::from(!changed);
    }
}

/// Whether a page changes so fast that it is sure to have changed, where `same` is the chance that it has not.
pub(super) fn is_restless(same: f64) -> bool {
    same < SURPRISE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_follow_what_looks_have_found() {
        let after = |calm: u32, restless: u32| {
            let mut patience = RevisitPatience::default();
            (0..restless).for_each(|_| patience.learn(true));
            (0..calm).for_each(|_| patience.learn(false));
            patience.rounds()
        };
        assert_eq!(after(0, 0), 2.0);
        assert_eq!((after(0, 100), after(100, 0)), (MOST, FEWEST));
        assert!((after(50, 150) - 4.0).abs() < 0.1);
        assert!(after(1000, 1000) < 1.6, "what was found last counts most");
    }
}
