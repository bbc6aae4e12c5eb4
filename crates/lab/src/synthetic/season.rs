//! At which hours, on which days and in which months is there most to do?

use evercrawl_estimate::profile::Profile;
use evercrawl_policy::Days;

const HOURS_A_DAY: f64 = 24.0;
const DAYS_A_WEEK: f64 = 7.0;
/// A year of the lab has 52 whole weeks.
const WEEKS_A_YEAR: usize = 52;

/// A clock that runs fast when pages change often: a day of it passes in a day on average.
///
/// Day 0 is a Monday. The rhythm of the week is that of [`Profile`]; each week of the year has a
/// pace of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Season {
    week: Profile,
    /// The clock at the start of each week of the year.
    until: Vec<Days>,
}

impl Season {
    /// Relative rates of weekdays (Monday first), of hours, and of twelve equal parts of the year.
    pub fn new(days: &[f64; 7], hours: &[f64; 24], months: &[f64; 12]) -> Self {
        let pace = |week: usize| months[week * 12 / WEEKS_A_YEAR].max(1e-6);
        let mean = (0..WEEKS_A_YEAR).map(pace).sum::<f64>() / WEEKS_A_YEAR as f64;
        let mut until = vec![0.0];
        for week in 0..WEEKS_A_YEAR {
            until.push(until[week] + DAYS_A_WEEK * pace(week) / mean);
        }
        Season { week: Profile::new(days, hours), until }
    }

    /// What the clock shows at a moment.
    pub fn reading(&self, at: Days) -> Days {
        let weeks = (at / DAYS_A_WEEK).floor();
        let within = at - weeks * DAYS_A_WEEK;
        let years = (weeks / WEEKS_A_YEAR as f64).floor();
        let week = (weeks - years * WEEKS_A_YEAR as f64) as usize;
        let share = self.week.elapsed(0.0, within * HOURS_A_DAY) / (DAYS_A_WEEK * HOURS_A_DAY);
        years * self.year() + self.until[week] + share * (self.until[week + 1] - self.until[week])
    }

    /// The moment at which the clock shows `reading`.
    pub fn moment(&self, reading: Days) -> Days {
        if !reading.is_finite() {
            return reading;
        }
        let years = (reading / self.year()).floor();
        let within = reading - years * self.year();
        let week = self.until.partition_point(|&start| start <= within).clamp(1, WEEKS_A_YEAR) - 1;
        let share = (within - self.until[week]) / (self.until[week + 1] - self.until[week]);
        let hours = self.week.after(0.0, share.clamp(0.0, 1.0) * DAYS_A_WEEK * HOURS_A_DAY);
        (years * WEEKS_A_YEAR as f64 + week as f64) * DAYS_A_WEEK + hours / HOURS_A_DAY
    }

    fn year(&self) -> Days {
        self.until[WEEKS_A_YEAR]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn office() -> Season {
        let hours = std::array::from_fn(|hour| if (9..17).contains(&hour) { 1.0 } else { 0.05 });
        let months = std::array::from_fn(|month| if month == 6 { 0.3 } else { 1.0 });
        Season::new(&[1.0, 1.0, 1.0, 1.0, 1.0, 0.1, 0.1], &hours, &months)
    }

    #[test]
    fn a_year_is_a_year_and_noon_outruns_the_night() {
        let season = office();
        assert!((season.reading(364.0) - 364.0).abs() < 1e-9);
        assert!((season.reading(-364.0 * 2.0) + 728.0).abs() < 1e-9);
        let passed = |from: f64, to: f64| season.reading(to) - season.reading(from);
        assert!(passed(0.5, 0.55) > 15.0 * passed(0.1, 0.15));
        assert!(passed(0.5, 0.55) > 9.0 * passed(5.5, 5.55));
        assert!(passed(0.0, 7.0) > 3.0 * passed(27.0 * 7.0, 28.0 * 7.0));
    }

    #[test]
    fn the_clock_can_be_read_backwards() {
        let season = office();
        for i in -2000..2000 {
            let at = f64::from(i) * 0.377;
            let again = season.moment(season.reading(at));
            assert!((again - at).abs() < 1e-6, "{at}: {again}");
        }
        assert_eq!(season.moment(f64::INFINITY), f64::INFINITY);
    }
}
