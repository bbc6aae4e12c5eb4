//! How much has happened in a group of pages while one of them waited?
//!
//! Pages of a group are often edited together. A group's clock runs at the pace at which its visited
//! pages were found to change, compared with what was expected of them: it jumps when a batch of edits
//! comes to light and nearly stands while all is quiet.

use crate::page::Days;

/// How long a bin is, and how many are kept: half a year.
const BIN: Days = 7.0;
const BINS: i64 = 26;

/// Times beyond this are no times.
const FAR: Days = 1e9;

/// The pace of one group, week by week.
///
/// In week u its pages changed m = (κ + found)/(κ + expected) times as often as they usually do: the
/// mean of a Gamma belief about m, whose prior of mean 1 is worth κ changes. Weeks of which nothing is
/// known have m = 1.
#[derive(Clone, Debug)]
pub(crate) struct GroupClock {
    /// The number of the latest week.
    latest: i64,
    found: [f32; BINS as usize],
    expected: [f32; BINS as usize],
    /// By how much (the logarithm of) its pace rose since its pages were last looked at again.
    risen: f32,
    /// When that was.
    stirred: Days,
}

impl GroupClock {
    /// A clock of which nothing is known, at `now`.
    pub(crate) fn new(now: Days) -> Self {
        GroupClock {
            latest: bin_of(now),
            found: [0.0; BINS as usize],
            expected: [0.0; BINS as usize],
            risen: 0.0,
            stirred: f64::NEG_INFINITY,
        }
    }

    /// The time that has passed by this clock from `from` to `to`: the integral of its pace.
    pub(crate) fn elapsed(&self, from: Days, to: Days, kappa: f64) -> Days {
        let bins = self.bins(from, to);
        let gained: f64 = bins.map(|(bin, length)| (self.pace(bin, kappa) - 1.0) * length).sum();
        to - from + gained
    }

    /// Learns that a page that changes at `rate` was found changed, or not, after waiting from `from`
    /// to `to`.
    ///
    /// The expected number of changes, given that there was one at least, is divided over the weeks in
    /// proportion to their pace (a step of EM); so a batch that is already known takes on further finds,
    /// and pages fetched since then are not suspected.
    pub(crate) fn learn(&mut self, (from, to): (Days, Days), rate: f64, changed: bool, kappa: f64) {
        self.advance(bin_of(to));
        let expected = rate * self.elapsed(from, to, kappa);
        let share = if changed { rate / -(-expected).exp_m1().min(-1e-12) } else { 0.0 };
        let mut rise: f64 = 0.0;
        for (bin, length) in self.bins(from, to) {
            let (before, slot) = (self.pace(bin, kappa), slot_of(bin));
            self.expected[slot] += (rate * length) as f32;
            self.found[slot] += (share * before * length) as f32;
            rise = rise.max((self.pace(bin, kappa) / before).ln());
        }
        self.risen += rise as f32;
    }

    /// Whether its pace rose so far that its pages should be looked at again; at most once a day.
    /// `weight` is what its word is worth.
    pub(crate) fn stirs(&mut self, now: Days, weight: f64) -> bool {
        const RISE: f64 = 0.25;
        let stirs = f64::from(self.risen) * weight > RISE && now - self.stirred > 1.0;
        if stirs {
            (self.risen, self.stirred) = (0.0, now);
        }
        stirs
    }

    /// Whether it has known nothing since `now` less half a year.
    pub(crate) fn is_idle(&self, now: Days) -> bool {
        bin_of(now) - self.latest > BINS
    }

    fn pace(&self, bin: i64, kappa: f64) -> f64 {
        let slot = slot_of(bin);
        (kappa + f64::from(self.found[slot])) / (kappa + f64::from(self.expected[slot]))
    }

    /// The weeks that are kept and that `from` to `to` touches, with how much of each.
    fn bins(&self, from: Days, to: Days) -> impl Iterator<Item = (i64, Days)> + use<> {
        let first = bin_of(from).max(self.latest - BINS + 1);
        (first..=bin_of(to).min(self.latest)).map(move |bin| {
            let (start, end) = (bin as f64 * BIN, (bin + 1) as f64 * BIN);
            (bin, (end.min(to) - start.max(from)).max(0.0))
        })
    }

    fn advance(&mut self, bin: i64) {
        for new in (self.latest + 1..=bin).rev().take(BINS as usize) {
            (self.found[slot_of(new)], self.expected[slot_of(new)]) = (0.0, 0.0);
        }
        self.latest = self.latest.max(bin);
    }
}

fn bin_of(time: Days) -> i64 {
    (time.clamp(-FAR, FAR) / BIN).floor() as i64
}

fn slot_of(bin: i64) -> usize {
    bin.rem_euclid(BINS) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    const KAPPA: f64 = 0.05;

    #[test]
    fn knows_nothing_at_first_and_runs_like_any_other() {
        let clock = GroupClock::new(100.0);
        for (from, to) in [(90.0, 100.0), (-1000.0, 100.0), (100.0, 400.0)] {
            assert!((clock.elapsed(from, to, KAPPA) - (to - from)).abs() < 1e-9);
        }
    }

    #[test]
    fn jumps_at_a_find_and_stands_where_nothing_is_found() {
        let mut clock = GroupClock::new(0.0);
        clock.learn((14.0, 21.0), 0.01, true, KAPPA);
        assert!(clock.elapsed(14.0, 21.0, KAPPA) > 5.0 * 7.0);
        assert!((clock.elapsed(28.0, 35.0, KAPPA) - 7.0).abs() < 1e-9, "the future is as usual");
        let mut quiet = GroupClock::new(0.0);
        (0..20).for_each(|_| quiet.learn((14.0, 21.0), 0.05, false, KAPPA));
        assert!(quiet.elapsed(14.0, 21.0, KAPPA) < 0.5);
    }

    #[test]
    fn finds_are_put_down_to_the_batch_that_is_known() {
        let mut clock = GroupClock::new(0.0);
        (0..5).for_each(|_| clock.learn((14.0, 20.0), 0.01, true, KAPPA));
        let before = clock.elapsed(28.0, 41.0, KAPPA);
        clock.learn((7.0, 41.0), 0.01, true, KAPPA);
        assert!(clock.elapsed(28.0, 41.0, KAPPA) < 1.5 * before, "fetched since: not suspected");
    }

    #[test]
    fn forgets_after_half_a_year() {
        let mut clock = GroupClock::new(0.0);
        clock.learn((0.0, 6.0), 0.1, true, KAPPA);
        assert!(!clock.is_idle(100.0) && clock.is_idle(300.0));
        clock.learn((400.0, 406.0), 0.1, false, KAPPA);
        assert!((clock.elapsed(0.0, 6.0, KAPPA) - 6.0).abs() < 1e-9);
    }

    #[test]
    fn stirs_when_it_rose_and_not_twice_a_day() {
        let mut clock = GroupClock::new(0.0);
        assert!(!clock.stirs(7.0, 1.0));
        clock.learn((0.0, 7.0), 0.01, true, KAPPA);
        assert!(!clock.stirs(7.0, 0.0), "its word is worth nothing");
        assert!(clock.stirs(7.0, 1.0) && !clock.stirs(9.0, 1.0));
    }

    #[test]
    fn odd_times_are_survived() {
        let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, 0.0, 1e300];
        for from in odd {
            for to in odd {
                let mut clock = GroupClock::new(from);
                clock.learn((from, to), 1.0, true, KAPPA);
                clock.learn((to, from), f64::NAN, false, KAPPA);
                let _ = (clock.elapsed(from, to, KAPPA), clock.is_idle(to), clock.stirs(to, 1.0));
            }
        }
    }
}
