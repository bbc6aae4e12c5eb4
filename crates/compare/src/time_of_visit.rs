//! Does a passage say little but when the page was visited?
//!
//! `It is 12:34`, `Updated on Thursday, 19 November 2026`, `3 minutes ago`: whoever comes later reads something else
//! though nothing happened, and two looks within one minute or one day read the same. The date or the time must be that
//! of the visit, by some clock on Earth, and hardly another word may stand beside it.

use std::collections::HashSet;

/// Other words that may stand beside the time.
const MOST_WORDS: usize = 4;
/// Longer passages are not looked at.
const LONGEST: usize = 120;
/// How far a clock may be wrong, in minutes.
const WRONG: i64 = 2;

const DAY: i64 = 86_400;
const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
const WEEKDAYS: [&str; 7] =
    ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
const UNITS: [&str; 12] = [
    "second", "seconds", "sec", "minute", "minutes", "min", "mins", "hour", "hours", "day", "days",
    "week",
];
const ZONES: [&str; 10] = ["am", "pm", "utc", "gmt", "est", "edt", "cet", "cest", "pst", "pdt"];

/// Whether a passage says little but the time `at`, in seconds since 1970.
pub(crate) fn names_the_time(passage: &str, at: u64) -> bool {
    if passage.len() > LONGEST || !passage.bytes().any(|byte| byte.is_ascii_digit()) {
        return false;
    }
    let Ok(at) = i64::try_from(at) else { return false };
    Reading::of(passage).is_some_and(|reading| reading.is_now(at))
}

/// What a passage says of dates and times.
#[derive(Default)]
struct Reading {
    /// Hours and minutes.
    clock: Option<(i64, i64)>,
    /// Numbers of a date: of two digits or less, and of four.
    day_numbers: Vec<i64>,
    year: Option<i64>,
    /// From 1.
    month: Option<i64>,
    /// Whether it names a span that ends now.
    ago: bool,
}

impl Reading {
    /// `None` where it says something else, too.
    fn of(passage: &str) -> Option<Self> {
        let lower = passage.to_ascii_lowercase();
        let is_edge = |letter: char| !letter.is_alphanumeric() && !":-/.".contains(letter);
        let tokens: Vec<&str> = lower
            .split(is_edge)
            .map(|token| token.trim_matches([':', '-', '/', '.']))
            .filter(|token| !token.is_empty())
            .collect();
        let mut reading = Reading::default();
        let (mut words, mut at) = (0, 0);
        while let Some(&token) = tokens.get(at) {
            at += 1;
            if is_span(token, tokens.get(at), tokens.get(at + 1)) {
                reading.ago = true;
                at += 2;
            } else if token.bytes().any(|byte| byte.is_ascii_digit()) {
                reading.add_numbers(token)?;
            } else if let Some(month) = month_of(token) {
                reading.month = Some(month);
            } else if !is_weekday(token) && !ZONES.contains(&token) {
                words += 1;
            }
        }
        (words <= MOST_WORDS).then_some(reading)
    }

    /// A clock, a date or a part of one.
    fn add_numbers(&mut self, token: &str) -> Option<()> {
        // `2026-11-19t12:34:56z` is a date and a clock.
        if let Some((date, clock)) = token.split_once('t').filter(|(date, _)| date.len() == 10) {
            self.add_numbers(date)?;
            return self.add_numbers(clock);
        }
        let token = ["am", "pm", "z", "st", "nd", "rd", "th"]
            .iter()
            .find_map(|end| token.strip_suffix(end))
            .unwrap_or(token);
        if token.contains(':') {
            // What is smaller than a second does not matter.
            let token = token.split('.').next().unwrap_or_default();
            let parts = numbers(token, ':')?;
            let (&[hour, minute] | &[hour, minute, _]) = parts.as_slice() else { return None };
            self.clock = Some((hour, minute));
            return (hour < 25 && minute < 60).then_some(());
        }
        for mark in ['-', '/', '.'] {
            if token.contains(mark) {
                let parts = numbers(token, mark).filter(|parts| parts.len() == 3)?;
                parts.into_iter().for_each(|part| self.add_number(part));
                return Some(());
            }
        }
        self.add_number(token.parse().ok()?);
        Some(())
    }

    fn add_number(&mut self, number: i64) {
        if number >= 1000 {
            self.year = Some(number);
        } else {
            self.day_numbers.push(number);
        }
    }

    fn is_now(&self, at: i64) -> bool {
        let is_dated = self.year.is_some() || self.month.is_some() || !self.day_numbers.is_empty();
        if is_dated {
            // Somewhere on Earth it is the day before, or the day after.
            return (-1..=1).any(|days| self.is_day(at + days * DAY));
        }
        match self.clock {
            // Hours depend on where one is.
            Some((_, minute)) => {
                let apart = (at / 60 - minute).rem_euclid(60);
                apart.min(60 - apart) <= WRONG
            }
            None => self.ago,
        }
    }

    /// Whether the date is the day of `at`: its day and month, or its day, month and year, in some order.
    fn is_day(&self, at: i64) -> bool {
        let (year, month, day) = date_of(at);
        if self.year.is_some_and(|said| said != year) {
            return false;
        }
        let said: HashSet<i64> = self.day_numbers.iter().copied().collect();
        match self.month {
            Some(said_month) => said_month == month && self.day_numbers == [day],
            None => {
                let numbers = self.day_numbers.len();
                let with_year = numbers == 3 && said.contains(&(year % 100));
                (numbers == 2 && self.year.is_some() || with_year)
                    && said.contains(&day)
                    && said.contains(&month)
            }
        }
    }
}

/// `3 minutes ago`.
fn is_span(number: &str, unit: Option<&&str>, ago: Option<&&str>) -> bool {
    number.bytes().all(|byte| byte.is_ascii_digit())
        && unit.is_some_and(|unit| UNITS.contains(unit))
        && ago == Some(&"ago")
}

fn numbers(token: &str, mark: char) -> Option<Vec<i64>> {
    token.split(mark).map(|part| part.parse().ok()).collect()
}

fn month_of(token: &str) -> Option<i64> {
    let at = MONTHS.iter().position(|month| is_name(token, month))?;
    i64::try_from(at + 1).ok()
}

fn is_weekday(token: &str) -> bool {
    WEEKDAYS.iter().any(|day| is_name(token, day))
}

/// Whether a token is a name, or short for it.
fn is_name(token: &str, name: &str) -> bool {
    token == name || (token.len() == 3 || token.len() == 4) && name.starts_with(token)
}

/// Year, month and day of a time.
fn date_of(at: i64) -> (i64, i64, i64) {
    // The civil calendar, with years that begin in March.
    let days = at.div_euclid(DAY) + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let march = (5 * of_year + 2) / 153;
    let month = if march < 10 { march + 3 } else { march - 9 };
    let day = of_year - (153 * march + 2) / 5 + 1;
    (year + 400 * era + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// 2026-11-19 21:54:10 UTC.
    const NOW: u64 = 1_795_125_250;

    #[test]
    fn what_says_little_but_the_time_is_known() {
        for says_it in [
            "It is 21:54",
            "Now 11:53:02 pm",
            "Updated on Thursday, 19 November 2026",
            "November 19th, 2026",
            "Thu, 19 Nov 2026 21:54:10 GMT",
            "2026-11-19",
            "Made at 2026-11-19T21:54:10Z",
            "Stand: 20.11.2026, 6:54",
            "11/19/26",
            "Posted 3 minutes ago by Ada",
        ] {
            assert!(names_the_time(says_it, NOW), "{says_it}");
        }
    }

    #[test]
    fn what_says_another_time_or_more_is_not() {
        for other in [
            "",
            "Opens at 9:30",
            "Price 19.11",
            "Price 21.54",
            "19 people look at this",
            "Published on 17 November 2026",
            "19 November 2025",
            "© 2026",
            "19",
            "19 11",
            "19 November 2026: version 2.0 of the program is out",
            "On 19 November 2026 the river rose above the bridge and carried it away",
            "November",
            "yesterday",
            "Today",
            "version 19.11.4",
        ] {
            assert!(!names_the_time(other, NOW), "{other}");
        }
    }

    #[test]
    fn days_are_those_of_the_calendar() {
        assert_eq!(date_of(0), (1970, 1, 1));
        assert_eq!(date_of(951_782_400), (2000, 2, 29));
        assert_eq!(date_of(1_795_125_250), (2026, 11, 19));
    }

    proptest! {
        #[test]
        fn any_words_are_read(words in "[ -~é]{0,60}", at: u64) {
            let _ = names_the_time(&words, at);
        }
    }
}
