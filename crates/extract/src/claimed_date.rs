//! When does a server claim that something changed? Dates as feeds and sitemaps really write them.
//!
//! A claimed date is weak evidence: one that cannot be read, or cannot be true, is ignored.

use evercrawl_model::Time;

/// 1990 and 2100: the web is not older, and no page was changed in the far future.
const EARLIEST: Time = Time::from_secs(631_152_000);
const LATEST: Time = Time::from_secs(4_102_444_800);
/// Longest text that is tried.
const LONGEST: usize = 64;

/// Reads a date in ISO 8601 or RFC 2822 form.
pub(crate) fn parse(text: &str) -> Option<Time> {
    let text = text.trim();
    if text.len() > LONGEST {
        return None;
    }
    let time = Time::parse_iso(text)
        .or_else(|_| Time::parse_http(text))
        .or_else(|_| Time::parse_http(&without_ornaments(text)))
        .ok()?;
    (EARLIEST..LATEST).contains(&time).then_some(time)
}

/// `Thursday, 5 January 2017 ...` as `5 Jan 2017 ...`: weekdays are often wrong and months long.
fn without_ornaments(text: &str) -> String {
    let mut words: Vec<&str> = text
        .split(|c: char| c.is_whitespace() || c == ',')
        .filter(|word| !word.is_empty())
        .collect();
    if words.first().is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_alphabetic())) {
        words.remove(0);
    }
    if let Some(month) = words.get_mut(1) {
        *month = month.get(..3).unwrap_or(month);
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_dates_as_people_write_them() {
        for (text, want) in [
            ("2004-10-01T18:23:17+00:00", "2004-10-01T18:23:17Z"),
            (" 2004-10-01T18:23:17.5+02:00 ", "2004-10-01T16:23:17.500Z"),
            ("2004-10-01T18:23Z", "2004-10-01T18:23:00Z"),
            ("2004-10-01T18:23:17+0200", "2004-10-01T16:23:17Z"),
            ("2004-10-01 18:23:17", "2004-10-01T18:23:17Z"),
            ("2005-01-01", "2005-01-01T00:00:00Z"),
            ("2005-01", "2005-01-01T00:00:00Z"),
            ("2005", "2005-01-01T00:00:00Z"),
            ("Thu, 05 Jan 2017 13:34:51 +0100", "2017-01-05T12:34:51Z"),
            ("Mon, 05 Jan 2017 13:34:51 +0100", "2017-01-05T12:34:51Z"),
            ("Thursday, 5 January 2017 13:34:51 GMT", "2017-01-05T13:34:51Z"),
            ("05 Jan 17 13:34:54 +0100", "2017-01-05T12:34:54Z"),
            ("Thu, 05 Jan 2017 13:34 EST", "2017-01-05T18:34:00Z"),
        ] {
            assert_eq!(parse(text).map(Time::rfc3339).as_deref(), Some(want), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_true_is_no_claim() {
        for text in [
            "",
            "yesterday",
            "05 Jan 17 13:34:55",
            "0001-01-01T00:00:00Z",
            "1970-01-01T00:00:00Z",
            "9999-12-31",
            "2017-02-30",
            "Thu, 05 Jan 2017",
            &"2017-01-05".repeat(50),
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
