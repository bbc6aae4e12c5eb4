//! How do people write durations, sizes and rates? `10s`, `2h`, `512MiB`, `5/s`.

use std::time::Duration;

use evercrawl_engine::overrides::BOOST_RANGE;
use evercrawl_engine::retention::Rule;
use evercrawl_model::Time;
use evercrawl_policy::registry::Goal;

const TIMES: [(&str, f64); 7] = [
    ("ms", 0.001),
    ("s", 1.0),
    ("min", 60.0),
    ("m", 60.0),
    ("h", 3600.0),
    ("d", 86_400.0),
    ("w", 604_800.0),
];

const SIZES: [(&str, f64); 11] = [
    ("kib", 1024.0),
    ("mib", 1_048_576.0),
    ("gib", 1_073_741_824.0),
    ("tib", 1_099_511_627_776.0),
    ("kb", 1e3),
    ("mb", 1e6),
    ("gb", 1e9),
    ("tb", 1e12),
    ("k", 1e3),
    ("m", 1e6),
    ("b", 1.0),
];

/// Reads `10s`, `1.5h`, `200ms`, `0`.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let example = "write it with a unit, as in `500ms`, `10s`, `5m`, `2h`, `7d`";
    let seconds =
        scaled(text, &TIMES, None).ok_or_else(|| format!("`{text}` is no duration: {example}"))?;
    Duration::try_from_secs_f64(seconds).map_err(|_| format!("`{text}` is too long"))
}

/// Reads `512MiB`, `2GB`, `1000`.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let example = "write it as in `512MiB`, `2GB` or `1000`";
    let bytes = scaled(text, &SIZES, Some(1.0));
    let bytes = bytes.filter(|bytes| *bytes < 1e19);
    // In range and not negative, as checked above; a part of a byte is dropped.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    bytes.map(|bytes| bytes as u64).ok_or_else(|| format!("`{text}` is no size: {example}"))
}

/// Reads `5/s`, `300/m`, `10000/d` as events a second.
pub(crate) fn rate(text: &str) -> Result<f64, String> {
    let wrong = || format!("`{text}` is no rate: write it as in `5/s`, `300/m` or `10000/d`");
    let (count, unit) = text.split_once('/').ok_or_else(wrong)?;
    let count: f64 = count.trim().parse().map_err(|_| wrong())?;
    let unit = unit.trim();
    let seconds = TIMES.iter().find(|(name, _)| *name == unit).map(|(_, seconds)| seconds);
    let rate = count / seconds.ok_or_else(wrong)?;
    if rate > 0.0 && rate.is_finite() {
        Ok(rate)
    } else {
        Err(format!("a rate of `{text}` fetches nothing: give more than 0"))
    }
}

/// Reads `20%` or `0.2` as a share of the whole.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    let (number, of) = text.trim().strip_suffix('%').map_or((text, 1.0), |rest| (rest, 100.0));
    let share = number.trim().parse::<f64>().ok().map(|number| number / of);
    share
        .filter(|share| (0.0..=1.0).contains(share))
        .ok_or_else(|| format!("`{text}` is no share: write it as in `20%`, from 0% to 100%"))
}

/// Reads `x5` or `0.2` as what a page's weight is multiplied by.
pub(crate) fn factor(text: &str) -> Result<f32, String> {
    let number = text.trim().trim_start_matches(['x', 'X', '\u{d7}']);
    let factor = number.parse().ok().filter(|factor| BOOST_RANGE.contains(factor));
    factor.ok_or_else(|| {
        let (least, most) = (BOOST_RANGE.start(), BOOST_RANGE.end());
        format!("`{text}` is no factor: write it as in `x5` or `x0.2`, from x{least} to x{most}")
    })
}

/// Reads what is kept: `last 5`, `90d`, `daily`, `daily 365d`; `None` for `all`.
pub(crate) fn keep_rule(text: &str) -> Result<Option<Rule>, String> {
    let wrong =
        || format!("`{text}` is no rule: write `all`, `last 5`, `90d`, `daily` or `daily 365d`");
    let text = text.trim();
    if text == "all" {
        return Ok(None);
    }
    if let Some(versions) = text.strip_prefix("last") {
        let versions = versions.trim().parse().ok().filter(|versions| *versions > 0);
        return Ok(Some(Rule::Last(versions.ok_or_else(wrong)?)));
    }
    let age = |text: &str| duration(text.trim()).ok().filter(|age| !age.is_zero());
    match text.strip_prefix("daily") {
        Some("") => Ok(Some(Rule::Daily(None))),
        Some(limit) => Ok(Some(Rule::Daily(Some(age(limit).ok_or_else(wrong)?)))),
        None => Ok(Some(Rule::Within(age(text).ok_or_else(wrong)?))),
    }
}

/// Reads what a crawl is for.
pub(crate) fn goal(text: &str) -> Result<Goal, String> {
    match text {
        "freshness" => Ok(Goal::Freshness),
        "coverage" => Ok(Goal::Coverage),
        "age" => Ok(Goal::Age),
        _ => Err(format!("`{text}` is none of freshness, coverage, age")),
    }
}

/// A number and a unit; a number alone only where `bare` says what it counts, or where it is 0.
fn scaled(text: &str, units: &[(&str, f64)], bare: Option<f64>) -> Option<f64> {
    let lower = text.trim().to_ascii_lowercase();
    let digits = lower.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(lower.len());
    let (number, unit) = lower.split_at(digits);
    let number: f64 = number.parse().ok()?;
    let factor = match unit.trim() {
        "" if number == 0.0 => 1.0,
        "" => bare?,
        unit => units.iter().find(|(name, _)| *name == unit)?.1,
    };
    Some(number * factor)
}

/// `3.2 d`, `14 h`, `9 s`, `20 ms`: two digits are enough for a reader.
/// A moment given on the command line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Moment {
    At(Time),
    Ago(Duration),
}

impl Moment {
    /// The moment meant, when it is `now`.
    pub(crate) fn at(self, now: Time) -> Time {
        match self {
            Moment::At(time) => time,
            Moment::Ago(time) => now.before(time),
        }
    }
}

/// Reads a time, or how long ago it was.
pub(crate) fn moment(text: &str) -> Result<Moment, String> {
    let time = Time::parse_iso(text).map(Moment::At);
    time.or_else(|_| duration(text).map(Moment::Ago)).map_err(|_| {
        format!(
            "`{text}` is no time: write 2026-11-16T08:00:00Z, 2026-11-16, or 2h for so long ago"
        )
    })
}

pub(crate) fn show_duration(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    let (value, unit) = match seconds {
        s if s < 1.0 => (s * 1000.0, "ms"),
        s if s < 120.0 => (s, "s"),
        s if s < 7200.0 => (s / 60.0, "min"),
        s if s < 172_800.0 => (s / 3600.0, "h"),
        s => (s / 86_400.0, "d"),
    };
    if value < 10.0 && value.fract() > 0.05 {
        format!("{value:.1} {unit}")
    } else {
        format!("{value:.0} {unit}")
    }
}

/// `1.4 GB`, `320 kB`, `17 B`.
pub(crate) fn show_size(bytes: u64) -> String {
    let bytes = bytes as f64;
    let (value, unit) = match bytes {
        b if b < 1e3 => return format!("{b:.0} B"),
        b if b < 1e6 => (b / 1e3, "kB"),
        b if b < 1e9 => (b / 1e6, "MB"),
        b if b < 1e12 => (b / 1e9, "GB"),
        b => (b / 1e12, "TB"),
    };
    if value < 10.0 { format!("{value:.1} {unit}") } else { format!("{value:.0} {unit}") }
}

/// A duration in seconds, as [`show_duration`] shows it.
pub(crate) fn show_seconds(seconds: f64) -> String {
    show_duration(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
}

/// `1 page`, `12,345 pages`.
pub(crate) fn show_counted(n: u64, what: &str) -> String {
    format!("{} {what}{}", show_count(n), if n == 1 { "" } else { "s" })
}

/// `12,345`.
pub(crate) fn show_count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_need_a_unit() {
        assert_eq!(duration("10s").unwrap(), Duration::from_secs(10));
        assert_eq!(duration("1.5h").unwrap(), Duration::from_secs(5400));
        assert_eq!(duration(" 200 ms").unwrap(), Duration::from_millis(200));
        assert_eq!(duration("0").unwrap(), Duration::ZERO);
        for bad in ["", "10", "s", "-1s", "1 fortnight", "1e9d"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn sizes_and_rates() {
        assert_eq!(size("2GiB").unwrap(), 2 << 30);
        assert_eq!(size("1.5 kB").unwrap(), 1500);
        assert_eq!(size("1000").unwrap(), 1000);
        assert!(size("lots").is_err() && size("-1").is_err());
        assert_eq!(rate("5/s").unwrap(), 5.0);
        assert_eq!(rate("300/m").unwrap(), 5.0);
        for bad in ["5", "0/s", "-1/s", "5/x", "/s", "inf/s"] {
            assert!(rate(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn rules_of_what_is_kept() {
        let day = Duration::from_secs(86_400);
        assert_eq!(keep_rule("all"), Ok(None));
        assert_eq!(keep_rule("last 5"), Ok(Some(Rule::Last(5))));
        assert_eq!(keep_rule("90d"), Ok(Some(Rule::Within(90 * day))));
        assert_eq!(keep_rule("daily"), Ok(Some(Rule::Daily(None))));
        assert_eq!(keep_rule("daily 365d"), Ok(Some(Rule::Daily(Some(365 * day)))));
        for bad in ["", "last", "last 0", "last -1", "0", "daily 0", "weekly", "5"] {
            assert!(keep_rule(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn shown_as_people_say_it() {
        assert_eq!(show_duration(Duration::from_millis(20)), "20 ms");
        assert_eq!(show_duration(Duration::from_secs(9)), "9 s");
        assert_eq!(show_duration(Duration::from_secs(276_480)), "3.2 d");
        assert_eq!(show_size(17), "17 B");
        assert_eq!(show_size(1_400_000_000), "1.4 GB");
        assert_eq!(show_count(1_234_567), "1,234,567");
        assert_eq!(show_count(999), "999");
    }
}
