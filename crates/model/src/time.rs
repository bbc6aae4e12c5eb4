//! When? Milliseconds since the Unix epoch, as a value that is always passed in.

use std::fmt;
use std::time::Duration;

/// A moment in UTC, to the millisecond.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

impl Time {
    /// The Unix epoch: the earliest moment there is.
    pub const EPOCH: Time = Time(0);
    /// A moment later than any real one: "never".
    pub const NEVER: Time = Time(u64::MAX);

    /// The moment `ms` milliseconds after the Unix epoch.
    pub const fn from_millis(ms: u64) -> Self {
        Time(ms)
    }

    /// The moment `s` seconds after the Unix epoch.
    pub const fn from_secs(s: u64) -> Self {
        Time(s.saturating_mul(1000))
    }

    /// Milliseconds since the Unix epoch.
    pub const fn millis(self) -> u64 {
        self.0
    }

    /// Whole seconds since the Unix epoch.
    pub const fn secs(self) -> u64 {
        self.0 / 1000
    }

    /// This moment, `by` later; never overflows.
    pub fn after(self, by: Duration) -> Self {
        Time(self.0.saturating_add(u64::try_from(by.as_millis()).unwrap_or(u64::MAX)))
    }

    /// This moment, `by` earlier; stops at the epoch.
    pub fn before(self, by: Duration) -> Self {
        Time(self.0.saturating_sub(u64::try_from(by.as_millis()).unwrap_or(u64::MAX)))
    }

    /// How long after `earlier` this is; zero when it is not after it.
    pub fn since(self, earlier: Time) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }

    /// `2026-11-15T22:15:50Z`, or with milliseconds where there are any.
    pub fn rfc3339(self) -> String {
        let stamp = self.timestamp();
        if self.0.is_multiple_of(1000) { format!("{stamp:.0}") } else { format!("{stamp:.3}") }
    }

    /// Fourteen digits, as CDX indexes and WARC file names write it: `20261115221550`.
    pub fn digits14(self) -> String {
        let at = self.civil();
        let parts = [at.month(), at.day(), at.hour(), at.minute(), at.second()];
        let year = i64::from(at.year());
        let number = parts.into_iter().fold(year, |sum, part| 100 * sum + i64::from(part));
        format!("{number:014}")
    }

    /// Seventeen digits, to the millisecond.
    pub fn digits17(self) -> String {
        format!("{}{:03}", self.digits14(), self.0 % 1000)
    }

    /// `Sun, 15 Nov 2026 22:15:50 GMT`, as HTTP headers write it.
    pub fn http_date(self) -> String {
        self.civil().strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()
    }

    /// Reads an HTTP date: the fixed form, RFC 850's and asctime's. Numeric zones count too.
    pub fn parse_http(text: &str) -> Result<Self, ParseTimeError> {
        const FORMS: [&str; 4] = [
            "%a, %d %b %Y %H:%M:%S GMT",
            "%A, %d-%b-%y %H:%M:%S GMT",
            "%a %b %e %H:%M:%S %Y",
            "%a, %d %b %Y %H:%M:%S UTC",
        ];
        let text = text.trim();
        for form in FORMS {
            if let Ok(at) = jiff::civil::DateTime::strptime(form, text) {
                return Self::from_civil(at);
            }
        }
        let zoned = jiff::fmt::rfc2822::parse(text).map_err(|_| ParseTimeError)?;
        Self::from_timestamp(zoned.timestamp())
    }

    /// Reads an ISO 8601 date as people write it: a year, a month, a day, or a full date and time
    /// with or without a zone (none means UTC).
    pub fn parse_iso(text: &str) -> Result<Self, ParseTimeError> {
        let text = text.trim();
        if let Ok(stamp) = text.parse::<jiff::Timestamp>() {
            return Self::from_timestamp(stamp);
        }
        if let Ok(at) = text.parse::<jiff::civil::DateTime>() {
            return Self::from_civil(at);
        }
        let day = match text.len() {
            4 => format!("{text}-01-01"),
            7 => format!("{text}-01"),
            _ => return Err(ParseTimeError),
        };
        let date = day.parse::<jiff::civil::Date>().map_err(|_| ParseTimeError)?;
        Self::from_civil(date.at(0, 0, 0, 0))
    }

    /// Reads what [`digits14`](Self::digits14) or [`digits17`](Self::digits17) gave.
    pub fn parse_digits(text: &str) -> Result<Self, ParseTimeError> {
        let (seconds, ms) = text.split_at_checked(14).ok_or(ParseTimeError)?;
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if !digits(text) || !matches!(ms.len(), 0 | 3) {
            return Err(ParseTimeError);
        }
        let at = jiff::civil::DateTime::strptime("%Y%m%d%H%M%S", seconds);
        let at = Self::from_civil(at.map_err(|_| ParseTimeError)?)?;
        Ok(at.after(Duration::from_millis(ms.parse().unwrap_or(0))))
    }

    fn timestamp(self) -> jiff::Timestamp {
        i64::try_from(self.0)
            .ok()
            .and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok())
            .unwrap_or(jiff::Timestamp::MAX)
    }

    fn civil(self) -> jiff::civil::DateTime {
        jiff::tz::Offset::UTC.to_datetime(self.timestamp())
    }

    fn from_civil(at: jiff::civil::DateTime) -> Result<Self, ParseTimeError> {
        let stamp = jiff::tz::Offset::UTC.to_timestamp(at).map_err(|_| ParseTimeError)?;
        Self::from_timestamp(stamp)
    }

    fn from_timestamp(stamp: jiff::Timestamp) -> Result<Self, ParseTimeError> {
        u64::try_from(stamp.as_millisecond()).map(Time).map_err(|_| ParseTimeError)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.rfc3339())
    }
}

/// The text is not a date in a known form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseTimeError;

impl fmt::Display for ParseTimeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a date after 1970 in a known form")
    }
}

impl std::error::Error for ParseTimeError {}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: Time = Time::from_secs(1_794_780_950);

    #[test]
    fn writes_the_forms_that_formats_ask_for() {
        assert_eq!(AT.rfc3339(), "2026-11-15T22:15:50Z");
        assert_eq!(AT.after(Duration::from_millis(7)).rfc3339(), "2026-11-15T22:15:50.007Z");
        assert_eq!(AT.digits14(), "20261115221550");
        assert_eq!(AT.after(Duration::from_millis(7)).digits17(), "20261115221550007");
        assert_eq!(AT.http_date(), "Sun, 15 Nov 2026 22:15:50 GMT");
    }

    #[test]
    fn reads_every_http_form() {
        for text in [
            "Sun, 15 Nov 2026 22:15:50 GMT",
            "Sunday, 15-Nov-26 22:15:50 GMT",
            "Sun Nov 15 22:15:50 2026",
            "Sun, 15 Nov 2026 23:15:50 +0100",
            "  Sun, 15 Nov 2026 22:15:50 GMT ",
        ] {
            assert_eq!(Time::parse_http(text), Ok(AT), "{text}");
        }
        assert!(Time::parse_http("yesterday").is_err());
        assert!(Time::parse_http("Thu, 01 Jan 1950 00:00:00 GMT").is_err());
    }

    #[test]
    fn reads_iso_dates_of_every_length() {
        let day = Time::from_secs(1_794_700_800);
        for (text, want) in [
            ("2026-11-15T22:15:50Z", AT),
            ("2026-11-15T23:15:50+01:00", AT),
            ("2026-11-15T22:15:50", AT),
            ("2026-11-15", day),
            ("2026-11", Time::from_secs(1_793_491_200)),
            ("2026", Time::from_secs(1_767_225_600)),
        ] {
            assert_eq!(Time::parse_iso(text), Ok(want), "{text}");
        }
        assert!(Time::parse_iso("soon").is_err());
    }

    #[test]
    fn digits_come_back_as_they_went() {
        let at = AT.after(Duration::from_millis(7));
        assert_eq!(Time::parse_digits(&AT.digits14()), Ok(AT));
        assert_eq!(Time::parse_digits(&at.digits17()), Ok(at));
        for text in
            ["", "2026", "20261315221550", "2026111522155x", "202611152215500", "+2026111522155"]
        {
            assert!(Time::parse_digits(text).is_err(), "{text}");
        }
    }

    #[test]
    fn arithmetic_stays_in_range() {
        assert_eq!(Time::EPOCH.before(Duration::from_secs(1)), Time::EPOCH);
        assert_eq!(Time::NEVER.after(Duration::from_secs(1)), Time::NEVER);
        assert_eq!(Time::EPOCH.since(AT), Duration::ZERO);
        assert!(!Time::NEVER.rfc3339().is_empty());
    }
}
