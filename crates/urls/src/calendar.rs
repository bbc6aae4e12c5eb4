//! Is this a page of an endless calendar?
//!
//! Calendars link to the next month for ever, and to the one before. News archives have dates in
//! their paths too, so a date alone says nothing. A URL is refused only when all of these hold:
//!
//! 1. It holds a **date**: a year from 1900 to 2199 and a month joined by one of `/ - _ .`
//!    (`2031/05`, `2031-05-12`, `05.2031`), both without a joint (`20310512`), or parameters that
//!    say so (`year=2031&month=5`).
//! 2. The date is **far**: more than two years ahead, or more than twenty years back.
//! 3. The URL **smells of a calendar**. For dates ahead it holds `calendar` (in several languages)
//!    or a word such as `events`, `agenda`, `month`, `date`. For dates back only `calendar` counts:
//!    archives of past events and of old newspapers are real.
//! 4. No **title** follows the date in the path: `/events/2029/06/12/eclipse` is an article.
//!
//! `/2024/05/01/title` and `/1945/08/15/` pass whatever the time is. A crawl that walks a calendar
//! month by month meets the rule long before year 2200.

use std::{fmt, iter};

use evercrawl_model::Time;

use crate::Canonical;

/// What can be a year; numbers beyond are more likely to be something else.
const YEARS: std::ops::Range<u32> = 1900..2200;
const MONTHS_AHEAD: u64 = 2 * 12;
const MONTHS_BACK: u64 = 20 * 12;
const SECONDS_A_MONTH: u64 = 2_629_746;

/// What words of calendars begin with, in the languages that differ.
const CALENDAR: [&str; 3] = ["calend", "kalend", "takvim"];

/// Words that calendars share with other pages.
const NEARBY: [&str; 22] = [
    "agenda",
    "agendas",
    "booking",
    "cal",
    "date",
    "day",
    "event",
    "events",
    "eventi",
    "eventos",
    "evenements",
    "ical",
    "month",
    "monthly",
    "schedule",
    "schedules",
    "termine",
    "veranstaltungen",
    "week",
    "weekly",
    "year",
    "yearly",
];

/// Words that may follow a date without making the page an article.
const NEUTRAL: [&str; 9] =
    ["asp", "aspx", "default", "htm", "html", "index", "jsp", "php", "shtml"];

/// A month of a year, counted from year 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Month(u64);

impl Month {
    fn new(year: u32, month: u32) -> Option<Self> {
        let valid = YEARS.contains(&year) && (1..=12).contains(&month);
        valid.then(|| Month(u64::from(year) * 12 + u64::from(month) - 1))
    }

    fn of_time(now: Time) -> Self {
        Month(1970 * 12 + now.secs() / SECONDS_A_MONTH)
    }
}

impl fmt::Display for Month {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{:02}", self.0 / 12, self.0 % 12 + 1)
    }
}

/// The far month that makes `url` a page of an endless calendar at time `now`, by the rule above.
pub(crate) fn endless_calendar_month(url: &Canonical, now: Time) -> Option<Month> {
    let Month(now) = Month::of_time(now);
    let query = url.query().unwrap_or_default();
    let in_path = date(url.path());
    let in_query = date(query).or_else(|| Some((named_date(query)?, query.len())));
    let is_endless = |Month(month): Month| {
        let (ahead, back) = (month > now + MONTHS_AHEAD, month + MONTHS_BACK < now);
        (ahead || back) && looks_like_calendar(url.path_and_query(), ahead)
    };
    let in_path =
        in_path.filter(|(month, end)| is_endless(*month) && !has_title(&url.path()[*end..]));
    let found = in_path.or_else(|| in_query.filter(|(month, _)| is_endless(*month)));
    found.map(|(month, _)| month)
}

/// Whether path or query hold a date, near or far.
pub(crate) fn has_date(url: &Canonical) -> bool {
    let query = url.query().unwrap_or_default();
    date(url.path()).is_some() || date(query).is_some() || named_date(query).is_some()
}

/// The first date in `text` and where its month and year end.
fn date(text: &str) -> Option<(Month, usize)> {
    let mut before: Option<Number> = None;
    let mut numbers = numbers(text).peekable();
    while let Some(number) = numbers.next() {
        if let Some(month) = whole_date(&number) {
            return Some((month, number.end));
        }
        if number.len() == 4 && YEARS.contains(&number.value) {
            let joined = |a: &Number, b: &Number| {
                b.start == a.end + 1 && matches!(text.as_bytes()[a.end], b'/' | b'-' | b'_' | b'.')
            };
            let after = numbers.peek().filter(|after| after.len() <= 2 && joined(&number, after));
            if let Some(after) = after
                && let Some(month) = Month::new(number.value, after.value)
            {
                return Some((month, after.end));
            }
            if let Some(before) = before.filter(|b| b.len() <= 2 && joined(b, &number))
                && let Some(month) = Month::new(number.value, before.value.min(12))
            {
                return Some((month, number.end));
            }
        }
        before = Some(number);
    }
    None
}

/// `20310512`.
fn whole_date(number: &Number) -> Option<Month> {
    let (year, month, day) = (number.value / 10_000, number.value / 100 % 100, number.value % 100);
    if number.len() == 8 && (1..=31).contains(&day) { Month::new(year, month) } else { None }
}

/// `year=2031&month=5`.
fn named_date(query: &str) -> Option<Month> {
    let value = |names: [&str; 3]| {
        query.split('&').find_map(|parameter| {
            let (name, value) = parameter.split_once('=')?;
            let is_named = names.iter().any(|known| known.eq_ignore_ascii_case(name));
            if is_named { value.parse::<u32>().ok() } else { None }
        })
    };
    Month::new(value(["year", "yr", "y"])?, value(["month", "mon", "m"])?)
}

struct Number {
    start: usize,
    end: usize,
    value: u32,
}

impl Number {
    fn len(&self) -> usize {
        self.end - self.start
    }
}

/// The runs of digits in a text.
fn numbers(text: &str) -> impl Iterator<Item = Number> + '_ {
    let bytes = text.as_bytes();
    let mut at = 0;
    iter::from_fn(move || {
        let start = at + bytes[at..].iter().position(u8::is_ascii_digit)?;
        let length = bytes[start..].iter().position(|byte| !byte.is_ascii_digit());
        let end = length.map_or(bytes.len(), |length| start + length);
        at = end;
        Some(Number { start, end, value: text[start..end].parse().unwrap_or(u32::MAX) })
    })
}

fn looks_like_calendar(text: &str, nearby_counts: bool) -> bool {
    let text = text.to_ascii_lowercase();
    CALENDAR.iter().any(|stem| text.contains(stem))
        || nearby_counts && words(&text).any(|word| NEARBY.contains(&word))
}

/// Whether a word of three letters and more stands here that is no calendar's.
fn has_title(after_date: &str) -> bool {
    let text = after_date.to_ascii_lowercase();
    words(&text).any(|word| {
        word.bytes().filter(u8::is_ascii_alphabetic).count() >= 3
            && !NEARBY.contains(&word)
            && !NEUTRAL.contains(&word)
            && !CALENDAR.iter().any(|stem| word.contains(stem))
    })
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Time = Time::from_secs(1_794_780_950); // November 2026

    #[test]
    fn only_far_dates_that_smell_are_refused() {
        for (path, month) in [
            ("/calendar/2031/05", Some("2031-05")),
            ("/calendar/2031/05/12/", Some("2031-05")),
            ("/calendar/1971-01", Some("1971-01")),
            ("/events/2031-05/", Some("2031-05")),
            ("/events/month/2031-05", Some("2031-05")),
            ("/EventCalendar.aspx?date=5/2031", Some("2031-05")),
            ("/x?date=2031-05-12", Some("2031-05")),
            ("/x.php?year=2031&month=5", Some("2031-05")),
            ("/cal/day/20310512", Some("2031-05")),
            ("/kalender/2199/12/index.php", Some("2199-12")),
            ("/calendar/2026/05?from=2044-05", Some("2044-05")),
            // Near enough.
            ("/calendar/2026/12", None),
            ("/calendar/2028/10", None),
            ("/calendar/2007/01", None),
            // News, history, archives.
            ("/2024/05/01/title", None),
            ("/2044/05/01/title", None),
            ("/1945/08/15/", None),
            ("/news/1998/03/", None),
            ("/daily/1998/03/05/", None),
            ("/events/1998/03/", None),
            ("/archive.php?year=1998&month=3", None),
            ("/events/2029/06/12/eclipse", None),
            ("/calendar/1905/01/a-history-of-calendars", None),
            // No dates at all.
            ("/calendar/item/123456", None),
            ("/calendar/2031", None),
            ("/events/3000/12", None),
            ("/calendar/2031x05", None),
            ("/calendar/99999999999999999999", None),
            ("/calendar/20311350", None),
        ] {
            let url = Canonical::parse(&format!("http://a.org{path}")).unwrap();
            let got = endless_calendar_month(&url, NOW).map(|month| month.to_string());
            assert_eq!(got.as_deref(), month, "{path}");
        }
    }

    #[test]
    fn time_moves_the_window() {
        let url = Canonical::parse("http://a.org/calendar/2031/05").unwrap();
        let year = |n: u64| Time::from_secs(n * 31_556_952);
        assert!(endless_calendar_month(&url, year(2029 - 1970)).is_some());
        assert!(endless_calendar_month(&url, year(2030 - 1970)).is_none());
        assert!(endless_calendar_month(&url, year(2051 - 1970)).is_none());
        assert!(endless_calendar_month(&url, year(2052 - 1970)).is_some());
        assert!(endless_calendar_month(&url, Time::NEVER).is_some());
    }
}
