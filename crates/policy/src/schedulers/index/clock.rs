//! How much happened in a group of pages while one of them waited?
//!
//! Pages of a group are often edited together. A group's clock runs at the pace at which its visited pages were found
//! to change, compared with what was expected of them. It jumps when a batch of edits is discovered, and nearly
//! stands still while all is quiet.

use evercrawl_estimate::quick;

use crate::page::Days;
use crate::persist::persist_fields;

/// Recent time is divided into weeks, earlier time into months of four weeks: half a year, and two years of months. A
/// slow crawl revisits a page once a year or less, and must still know which batch it finds.
const WEEK: Days = 7.0;
const WEEKS_A_MONTH: i64 = 4;
const MONTHS_BY_WEEK: i64 = 7;
const MONTHS: i64 = 20;
const WEEKS: i64 = MONTHS_BY_WEEK * WEEKS_A_MONTH;
const BINS: usize = (WEEKS + MONTHS) as usize;

/// Times beyond this are invalid.
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
    /// The weeks, then the months before them, each kind in a ring.
    bins: [TimeSlot; BINS],
    /// By how much (the logarithm of) the time that pages have waited by this clock rose since they were last
    /// reconsidered; falls are subtracted.
    risen: f32,
    /// When that was.
    changed_groups: Days,
}

/// The first and the last slot of a time, in the clock of any group.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlotRange([usize; 2]);

impl SlotRange {
    /// The slots of the time from `from` to `to`.
    pub(crate) fn between(from: Days, to: Days) -> Self {
        SlotRange([from, to].map(|time| week_slot(week_of(time))))
    }
}

/// The result of a visit: a page that changes at `rate` was found changed, or not, after it waited.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WaitInterval {
    pub(crate) from: Days,
    pub(crate) to: Days,
    pub(crate) rate: f64,
    pub(crate) changed: bool,
}

/// Changes found and changes expected in a week or a month.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct TimeSlot {
    found: f32,
    expected: f32,
}

persist_fields!(GroupClock { latest, bins, risen, changed_groups });
persist_fields!(TimeSlot { found, expected });

impl GroupClock {
    /// A clock without evidence, at `now`.
    pub(crate) fn new(now: Days) -> Self {
        GroupClock {
            latest: week_of(now),
            bins: [TimeSlot::default(); BINS],
            risen: 0.0,
            changed_groups: f64::NEG_INFINITY,
        }
    }

    /// The extra time that passed by this clock from `from` to `to`: the integral of its pace, minus 1.
    pub(crate) fn gained(&self, from: Days, to: Days, kappa: f64) -> Days {
        let mut gained = 0.0;
        each_part(self.latest, (from, to), |bin, length| {
            gained += (self.bins[bin].pace(kappa) - 1.0) * length;
        });
        gained
    }

    /// Loads these slots into the cache.
    pub(crate) fn touch(&self, SlotRange([first, last]): SlotRange) {
        let ends = self.bins[first].found + self.bins[last].found;
        std::hint::black_box((self.latest, ends + self.risen));
    }

    /// Learns from a visit to a page that had waited.
    ///
    /// The expected number of changes, given at least one, is divided over the weeks in proportion to their pace (a
    /// step of EM). So a known batch takes on further finds, and pages fetched since then are not suspected. `gained`
    /// is what the clock had [gained](Self::gained) then.
    pub(crate) fn learn(&mut self, visit: &WaitInterval, gained: Days, kappa: f64) {
        let &WaitInterval { from, to, rate, changed } = visit;
        let moved = self.advance(week_of(to));
        let gained = if moved { self.gained(from, to, kappa) } else { gained };
        let elapsed = to - from + gained;
        let share = if changed { rate / quick::decay(rate * elapsed).max(1e-12) } else { 0.0 };
        let mut rise = 0.0;
        each_part(self.latest, (from, to), |bin, length| {
            let bin = &mut self.bins[bin];
            let before = bin.pace(kappa);
            bin.expected += (rate * length) as f32;
            bin.found += (share * before * length) as f32;
            rise += (bin.pace(kappa) - before) * length;
        });
        let folds = quick::ln_1p(rise / elapsed);
        if folds.is_finite() {
            self.risen = (self.risen + folds as f32).max(0.0);
        }
    }

    /// Scales the changes expected so far, after the believed rates changed by `factor`.
    pub(crate) fn scale(&mut self, factor: f64) {
        self.bins.iter_mut().for_each(|bin| bin.expected *= factor as f32);
    }

    /// Whether it rose so far that its pages should be reconsidered; at most once a day. `weight` is the weight of
    /// its hint.
    pub(crate) fn has_risen(&mut self, now: Days, weight: f64) -> bool {
        const RISE: f64 = 0.25;
        let is_due = f64::from(self.risen) * weight > RISE && now - self.changed_groups > 1.0;
        if is_due {
            (self.risen, self.changed_groups) = (0.0, now);
        }
        is_due
    }

    /// Whether it has no evidence of the last half year.
    pub(crate) fn is_idle(&self, now: Days) -> bool {
        week_of(now) - self.latest > WEEKS
    }

    /// Makes `week` the latest: old weeks are added up to months, old months are forgotten. Returns true if that
    /// happened.
    fn advance(&mut self, week: i64) -> bool {
        let month = month_of(self.latest);
        if week - self.latest > WEEKS + MONTHS * WEEKS_A_MONTH {
            (self.bins, self.latest) = ([TimeSlot::default(); BINS], week);
        }
        for week in self.latest + 1..=week {
            if week % WEEKS_A_MONTH == 0 {
                self.add_up(month_of(week) - MONTHS_BY_WEEK);
            }
            self.bins[week_slot(week)] = TimeSlot::default();
        }
        self.latest = self.latest.max(week);
        month_of(self.latest) != month
    }

    fn add_up(&mut self, month: i64) {
        let first = month * WEEKS_A_MONTH;
        let weeks = (first..first + WEEKS_A_MONTH).map(|week| self.bins[week_slot(week)]);
        self.bins[month_slot(month)] = weeks.fold(TimeSlot::default(), TimeSlot::plus);
    }
}

impl TimeSlot {
    fn pace(self, kappa: f64) -> f64 {
        (kappa + f64::from(self.found)) / (kappa + f64::from(self.expected))
    }

    fn plus(self, other: TimeSlot) -> TimeSlot {
        TimeSlot { found: self.found + other.found, expected: self.expected + other.expected }
    }
}

/// Passes the slots that `from` to `to` overlaps, in a clock whose last week is `latest`, with the overlapping time
/// of each.
fn each_part(latest: i64, (from, to): (Days, Days), mut take: impl FnMut(usize, Days)) {
    // The first week that still has its own slot: always the first of a month.
    let first = (month_of(latest) - MONTHS_BY_WEEK + 1) * WEEKS_A_MONTH;
    let (from_week, to_week) = (week_of(from), week_of(to).min(latest));
    if from_week < first {
        let oldest = month_of(from_week).max(month_of(first) - MONTHS);
        for month in oldest..month_of(first).min(month_of(to_week) + 1) {
            let start = month * WEEKS_A_MONTH;
            take(month_slot(month), overlap((start, start + WEEKS_A_MONTH), from, to));
        }
    }
    for week in from_week.max(first)..=to_week {
        take(week_slot(week), overlap((week, week + 1), from, to));
    }
}

fn overlap((start, end): (i64, i64), from: Days, to: Days) -> Days {
    (to.min(end as f64 * WEEK) - from.max(start as f64 * WEEK)).max(0.0)
}

fn week_of(time: Days) -> i64 {
    let weeks = time.clamp(-FAR, FAR) / WEEK;
    let whole = weeks as i64;
    // Rounds down, not towards 0; without a call, since this runs several times per fetch.
    whole - i64::from(weeks < whole as f64)
}

fn month_of(week: i64) -> i64 {
    week.div_euclid(WEEKS_A_MONTH)
}

fn week_slot(week: i64) -> usize {
    week.rem_euclid(WEEKS) as usize
}

fn month_slot(month: i64) -> usize {
    (WEEKS + month.rem_euclid(MONTHS)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    const KAPPA: f64 = 0.05;

    impl GroupClock {
        fn record_check(&mut self, (from, to): (Days, Days), rate: f64, changed: bool, kappa: f64) {
            let gained = self.gained(from, to, kappa);
            self.learn(&WaitInterval { from, to, rate, changed }, gained, kappa);
        }
    }

    #[test]
    fn knows_nothing_at_first_and_runs_like_any_other() {
        let clock = GroupClock::new(100.0);
        for (from, to) in [(90.0, 100.0), (-1000.0, 100.0), (100.0, 400.0)] {
            assert!(clock.gained(from, to, KAPPA).abs() < 1e-9);
        }
    }

    #[test]
    fn jumps_at_a_find_and_stands_where_nothing_is_found() {
        let mut clock = GroupClock::new(0.0);
        clock.record_check((14.0, 21.0), 0.01, true, KAPPA);
        assert!(clock.gained(14.0, 21.0, KAPPA) > 4.0 * 7.0);
        assert!(clock.gained(28.0, 35.0, KAPPA).abs() < 1e-9, "the future is as usual");
        let mut quiet = GroupClock::new(0.0);
        (0..20).for_each(|_| quiet.record_check((14.0, 21.0), 0.05, false, KAPPA));
        assert!(quiet.gained(14.0, 21.0, KAPPA) < 0.5 - 7.0);
    }

    #[test]
    fn finds_are_put_down_to_the_batch_that_is_known() {
        let mut clock = GroupClock::new(0.0);
        (0..5).for_each(|_| clock.record_check((14.0, 20.0), 0.01, true, KAPPA));
        let passed = |clock: &GroupClock| 13.0 + clock.gained(28.0, 41.0, KAPPA);
        let before = passed(&clock);
        clock.record_check((7.0, 41.0), 0.01, true, KAPPA);
        assert!(passed(&clock) < 1.5 * before, "fetched since: not suspected");
    }

    #[test]
    fn a_batch_is_remembered_for_two_years() {
        let mut clock = GroupClock::new(0.0);
        (0..9).for_each(|_| clock.record_check((280.0, 286.0), 0.1, true, KAPPA));
        let before = clock.gained(280.0, 286.0, KAPPA);
        for (day, known) in [(300.0, 1.0), (600.0, 0.25), (800.0, 0.25), (1100.0, 0.0)] {
            clock.record_check((day, day + 1.0), 0.1, false, KAPPA);
            let gained = clock.gained(280.0, 286.0, KAPPA);
            assert!(gained >= 0.8 * known * before, "{day}: {gained} of {before}");
            assert!(known > 0.0 || gained.abs() < 1e-9, "{day}: {gained}");
        }
    }

    #[test]
    fn after_a_long_pause_nothing_is_left() {
        let mut clock = GroupClock::new(0.0);
        clock.record_check((0.0, 6.0), 0.1, true, KAPPA);
        assert!(!clock.is_idle(100.0) && clock.is_idle(300.0));
        clock.record_check((4000.0, 4006.0), 0.1, false, KAPPA);
        assert!(clock.gained(0.0, 3990.0, KAPPA).abs() < 1e-9);
    }

    #[test]
    fn stirs_when_it_rose_and_not_twice_a_day() {
        let mut clock = GroupClock::new(0.0);
        assert!(!clock.has_risen(7.0, 1.0));
        clock.record_check((0.0, 7.0), 0.01, true, KAPPA);
        assert!(!clock.has_risen(7.0, 0.0), "its word is worth nothing");
        assert!(clock.has_risen(7.0, 1.0) && !clock.has_risen(9.0, 1.0));
    }

    #[test]
    fn odd_times_are_survived() {
        let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, 0.0, 1e300];
        for from in odd {
            for to in odd {
                let mut clock = GroupClock::new(from);
                clock.record_check((from, to), 1.0, true, KAPPA);
                clock.record_check((to, from), f64::NAN, false, KAPPA);
                let _ =
                    (clock.gained(from, to, KAPPA), clock.is_idle(to), clock.has_risen(to, 1.0));
            }
        }
    }
}
