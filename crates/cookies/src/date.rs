//! Which moment does the date of an `Expires` attribute mean?
//!
//! Servers write dates in many ways, so RFC 6265 (5.1.1) looks for a time, a day, a month and a year in any order.

/// The moment in seconds since 1970; `None` where the text is no date.
pub(crate) fn parse(text: &[u8]) -> Option<i64> {
    let (mut time, mut day, mut month, mut year) = (None, None, None, None);
    for token in text.split(|&byte| is_delimiter(byte)).filter(|token| !token.is_empty()) {
        if time.is_none()
            && let Some(found) = time_of(token)
        {
            time = Some(found);
        } else if day.is_none()
            && let Some(found) = number(token, 1, 2)
        {
            day = Some(found);
        } else if month.is_none()
            && let Some(found) = month_of(token)
        {
            month = Some(found);
        } else if year.is_none()
            && let Some(found) = number(token, 2, 4)
        {
            year = Some(found);
        }
    }
    let year = match year? {
        short @ 70..=99 => short + 1900,
        short @ 0..=69 => short + 2000,
        full => full,
    };
    let (day, month, (hour, minute, second)) = (day?, month?, time?);
    let exists = year >= 1601
        && (1..=days_in(year, month)).contains(&day)
        && hour <= 23
        && minute <= 59
        && second <= 59;
    exists.then(|| days_since_1970(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second)
}

fn is_delimiter(byte: u8) -> bool {
    matches!(byte, 0x09 | 0x20..=0x2f | 0x3b..=0x40 | 0x5b..=0x60 | 0x7b..=0x7e)
}

/// A number of `least` to `most` digits at the beginning of a token, after which no digit follows.
fn number(token: &[u8], least: usize, most: usize) -> Option<i64> {
    let digits = token.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let fits = (least..=most).contains(&digits);
    fits.then(|| token[..digits].iter().fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0')))
}

/// Hours, minutes and seconds of `1:02:03`.
fn time_of(token: &[u8]) -> Option<(i64, i64, i64)> {
    let mut parts = token.splitn(3, |&byte| byte == b':');
    let mut whole = || {
        let part = parts.next()?;
        let number = number(part, 1, 2)?;
        Some((part, number))
    };
    let ((hour, hours), (minute, minutes), (_, seconds)) = (whole()?, whole()?, whole()?);
    let is_digits = |part: &[u8]| part.iter().all(u8::is_ascii_digit);
    (is_digits(hour) && is_digits(minute)).then_some((hours, minutes, seconds))
}

/// 1 for any word that begins with `jan`.
fn month_of(token: &[u8]) -> Option<i64> {
    const MONTHS: &[u8] = b"janfebmaraprmayjunjulaugsepoctnovdec";
    let start = token.get(..3)?.to_ascii_lowercase();
    let at = MONTHS.chunks(3).position(|month| month == start)?;
    i64::try_from(at + 1).ok()
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 => 28 + i64::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 1970-01-01 to a day of the Gregorian calendar. Years are counted from March, so that the leap day is the
/// last of its year.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days_before_month = (153 * month + 2) / 5;
    year * 365 + year / 4 - year / 100 + year / 400 + days_before_month + day - 1 - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn dates_are_read_as_servers_write_them() {
        for (text, seconds) in [
            ("Thu, 01 Jan 1970 00:00:00 GMT", Some(0)),
            ("Wed, 21 Oct 2026 07:28:00 GMT", Some(1_792_567_680)),
            ("Wednesday, 21-Oct-26 07:28:00 GMT", Some(1_792_567_680)),
            ("Wed Oct 21 07:28:00 2026", Some(1_792_567_680)),
            ("21 October 2026 7:28:00", Some(1_792_567_680)),
            ("Tue, 29 Feb 2028 00:00:00 GMT", Some(1_835_395_200)),
            ("Thu, 31 Dec 1699 23:59:59 GMT", Some(-8_520_336_001)),
            ("Wed, 29 Feb 2027 00:00:00 GMT", None),
            ("Wed, 21 Oct 1600 07:28:00 GMT", None),
            ("Wed, 32 Oct 2026 07:28:00 GMT", None),
            ("Wed, 21 Oct 2026 24:28:00 GMT", None),
            ("Wed, 21 Oct 2026 07:60:00 GMT", None),
            ("Wed, 21 Oct 2026", None),
            ("tomorrow", None),
            ("", None),
        ] {
            assert_eq!(parse(text.as_bytes()), seconds, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_date_or_none(text in prop::collection::vec(any::<u8>(), 0..60)) {
            let _ = parse(&text);
        }

        #[test]
        fn days_follow_one_another(day in 0i64..20_000) {
            // The day after the last of a month is the first of the next.
            let (mut year, mut month, mut rest) = (1970, 1, day);
            while rest >= days_in(year, month) {
                rest -= days_in(year, month);
                month += 1;
                if month > 12 {
                    (year, month) = (year + 1, 1);
                }
            }
            prop_assert_eq!(days_since_1970(year, month, rest + 1), day);
        }
    }
}
