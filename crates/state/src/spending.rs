//! How much was received in the last 24 hours? Kept by quarters of an hour, so that a restart
//! forgets none of it.

use std::time::Duration;

use evercrawl_model::Time;

use crate::StateError;
use crate::codec::{Reader, Writer};

pub(crate) const FORMAT: u8 = 1;
/// A quarter of an hour, in milliseconds.
const QUARTER: u64 = 15 * 60 * 1000;
const DAY: Duration = Duration::from_secs(86_400);
/// A day has 96, and lies in one more.
const MOST: usize = 97;

/// Bytes received, by the quarter of an hour in which they were asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spending {
    /// The number of the quarter, and the bytes; in ascending order.
    quarters: Vec<(u64, u64)>,
}

impl Spending {
    pub(crate) fn add(&mut self, at: Time, bytes: u64) {
        let quarter = at.millis() / QUARTER;
        match self.quarters.binary_search_by_key(&quarter, |(quarter, _)| *quarter) {
            Ok(found) => self.quarters[found].1 += bytes,
            Err(place) => self.quarters.insert(place, (quarter, bytes)),
        }
        let beyond = self.quarters.len().saturating_sub(MOST);
        self.quarters.drain(..beyond);
    }

    /// Bytes received in the 24 hours before `now`; a quarter that lies in them in part counts
    /// whole.
    pub fn received(&self, now: Time) -> u64 {
        let counts = |(quarter, _): &&(u64, u64)| end_of(*quarter).after(DAY) > now;
        self.quarters.iter().filter(counts).map(|(_, bytes)| bytes).sum()
    }

    /// The first moment from `now` on at which less than `most` bytes were received in the 24
    /// hours before.
    pub fn below(&self, most: u64, now: Time) -> Time {
        let ends = self.quarters.iter().map(|(quarter, _)| end_of(*quarter).after(DAY));
        let moments = std::iter::once(now).chain(ends.filter(|end| *end > now));
        moments.into_iter().find(|&at| self.received(at) < most).unwrap_or(Time::NEVER)
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Writer::new(FORMAT);
        out.number(self.quarters.len() as u64);
        for (quarter, bytes) in &self.quarters {
            out.number(*quarter);
            out.number(*bytes);
        }
        out.finish()
    }

    pub(crate) fn decode(row: &[u8]) -> Result<Self, StateError> {
        let mut row = Reader::new(row, FORMAT)?;
        let count: usize = row.small()?;
        let quarters = (0..count).map(|_| Ok((row.number()?, row.number()?)));
        Ok(Spending { quarters: quarters.collect::<Result<_, StateError>>()? })
    }
}

fn end_of(quarter: u64) -> Time {
    Time::from_millis(quarter.saturating_add(1).saturating_mul(QUARTER))
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Time = Time::from_secs(1_800_000_000);

    fn hours(n: u64) -> Time {
        START.after(Duration::from_secs(3600 * n))
    }

    #[test]
    fn what_was_received_counts_for_a_day() {
        let mut spending = Spending::default();
        spending.add(hours(0), 100);
        spending.add(hours(10), 50);
        assert_eq!(spending.received(hours(10)), 150);
        assert_eq!(spending.received(hours(24)), 150, "the first quarter is not over");
        assert_eq!(spending.received(hours(25)), 50);
        assert_eq!(spending.received(hours(35)), 0);
        assert_eq!(Spending::decode(&spending.encode()).unwrap(), spending);
    }

    #[test]
    fn the_bound_ends_when_enough_has_passed() {
        let mut spending = Spending::default();
        spending.add(hours(0), 100);
        spending.add(hours(10), 50);
        assert_eq!(spending.below(151, hours(11)), hours(11));
        let first = spending.below(150, hours(11));
        assert!(first > hours(24) && first <= hours(25), "{first}");
        let second = spending.below(50, hours(11));
        assert!(second > hours(34) && second <= hours(35), "{second}");
        assert_eq!(spending.below(0, hours(11)), Time::NEVER);
    }

    #[test]
    fn it_takes_little_room_for_months() {
        let mut spending = Spending::default();
        (0..10_000).for_each(|n| spending.add(hours(n), 1 << 40));
        assert!(spending.encode().len() < 1200);
        assert_eq!(spending.received(hours(9_999)), 25 << 40);
    }
}
