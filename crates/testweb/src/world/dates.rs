//! How is a moment written and read in HTTP, sitemaps and feeds?

use super::bytes::{push_number, push_padded};

/// Appends a date as HTTP writes it: `Sun, 06 Nov 1994 08:49:37 GMT`.
pub(crate) fn push_http_date(out: &mut Vec<u8>, ms: u64) {
    let moment = Moment::at(ms);
    out.extend_from_slice(DAYS[moment.weekday]);
    out.extend_from_slice(b", ");
    push_padded(out, moment.day, 2);
    out.push(b' ');
    out.extend_from_slice(MONTHS[moment.month as usize - 1]);
    out.push(b' ');
    push_number(out, moment.year);
    out.push(b' ');
    moment.push_clock(out);
    out.extend_from_slice(b" GMT");
}

/// Appends a date as sitemaps write it: `1994-11-06T08:49:37Z`.
pub(crate) fn push_iso_date(out: &mut Vec<u8>, ms: u64) {
    let moment = Moment::at(ms);
    push_number(out, moment.year);
    out.push(b'-');
    push_padded(out, moment.month, 2);
    out.push(b'-');
    push_padded(out, moment.day, 2);
    out.push(b'T');
    moment.push_clock(out);
    out.push(b'Z');
}

/// Reads a date in the one form HTTP still asks clients to send, as seconds since 1970.
pub(crate) fn read_http_date(text: &str) -> Option<u64> {
    let (_, date) = text.trim().split_once(", ")?;
    let mut fields = date.split([' ', ':']);
    let day: u64 = fields.next()?.parse().ok()?;
    let name = fields.next()?;
    let month = MONTHS.iter().position(|month| *month == name.as_bytes())? as u64 + 1;
    let year: u64 = fields.next()?.parse().ok()?;
    let mut clock = || fields.next()?.parse::<u64>().ok();
    let (hour, minute, second) = (clock()?, clock()?, clock()?);
    let sane = (1970..=9999).contains(&year)
        && (1..=31).contains(&day)
        && hour < 24
        && minute < 60
        && second < 61;
    sane.then(|| ((days_since_1970(year, month, day) * 24 + hour) * 60 + minute) * 60 + second)
}

const DAYS: [&[u8]; 7] = [b"Thu", b"Fri", b"Sat", b"Sun", b"Mon", b"Tue", b"Wed"];
const MONTHS: [&[u8]; 12] = [
    b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec",
];
const DAYS_IN_400_YEARS: u64 = 146_097;
/// From 1 March of the year 0 to 1 January 1970.
const DAYS_BEFORE_1970: u64 = 719_468;

struct Moment {
    year: u64,
    month: u64,
    day: u64,
    weekday: usize,
    second_of_day: u64,
}

impl Moment {
    /// Divides time into civil fields. Years are counted from March, so that the leap day comes last.
    fn at(ms: u64) -> Self {
        let seconds = ms / 1000;
        let days = seconds / 86_400;
        let (era, of_era) = (
            (days + DAYS_BEFORE_1970) / DAYS_IN_400_YEARS,
            (days + DAYS_BEFORE_1970) % DAYS_IN_400_YEARS,
        );
        let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let day_of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let from_march = (5 * day_of_year + 2) / 153;
        let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
        Moment {
            year: era * 400 + year_of_era + u64::from(month <= 2),
            month,
            day: day_of_year - (153 * from_march + 2) / 5 + 1,
            weekday: (days % 7) as usize,
            second_of_day: seconds % 86_400,
        }
    }

    fn push_clock(&self, out: &mut Vec<u8>) {
        push_padded(out, self.second_of_day / 3_600, 2);
        out.push(b':');
        push_padded(out, self.second_of_day / 60 % 60, 2);
        out.push(b':');
        push_padded(out, self.second_of_day % 60, 2);
    }
}

fn days_since_1970(year: u64, month: u64, day: u64) -> u64 {
    let from_march = if month > 2 { month - 3 } else { month + 9 };
    let year = year - u64::from(month <= 2);
    let (era, year_of_era) = (year / 400, year % 400);
    let day_of_year = (153 * from_march + 2) / 5 + day - 1;
    era * DAYS_IN_400_YEARS + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year
        - DAYS_BEFORE_1970
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn http(ms: u64) -> String {
        let mut out = Vec::new();
        push_http_date(&mut out, ms);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn known_dates_are_written_as_known() {
        for (ms, want) in [
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (784_111_777_000, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (951_782_400_999, "Tue, 29 Feb 2000 00:00:00 GMT"),
            (1_709_164_800_000, "Thu, 29 Feb 2024 00:00:00 GMT"),
            (4_102_444_799_000, "Thu, 31 Dec 2099 23:59:59 GMT"),
        ] {
            assert_eq!(http(ms), want);
        }
        let mut iso = Vec::new();
        push_iso_date(&mut iso, 784_111_777_000);
        assert_eq!(iso, b"1994-11-06T08:49:37Z");
    }

    #[test]
    fn what_is_no_date_is_none() {
        for text in [
            "",
            "0",
            "-1",
            "Sun, 06 Nov",
            "Sun, 99 Nov 1994 08:49:37 GMT",
            "Sun, 06 Foo 1994 08:49:37 GMT",
        ] {
            assert_eq!(read_http_date(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(seconds in 0u64..200_000_000_000) {
            prop_assert_eq!(read_http_date(&http(seconds * 1000)), Some(seconds));
        }

        #[test]
        fn reading_never_panics(text in "\\PC{0,40}") {
            let _ = read_http_date(&text);
        }
    }
}
