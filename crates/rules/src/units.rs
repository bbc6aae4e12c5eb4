//! How long is `14d`?

/// Seconds of `30s`, `15m`, `2h`, `14d`, `1w`, also of several in a row: `1h30m`.
pub fn duration(text: &str) -> Option<f64> {
    let (mut rest, mut seconds) = (text.trim(), 0.0);
    while !rest.is_empty() {
        let length = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = rest[..length].parse().ok()?;
        let unit = rest[length..].chars().next()?;
        let each = match unit {
            's' => 1.0,
            'm' => 60.0,
            'h' => 3600.0,
            'd' => 86_400.0,
            'w' => 604_800.0,
            _ => return None,
        };
        seconds += number * each;
        rest = &rest[length + 1..];
    }
    (!text.trim().is_empty() && seconds.is_finite()).then_some(seconds)
}

/// The largest unit that says it well: `14 d`, `90 min`.
pub fn show_duration(seconds: f64) -> String {
    let (each, unit) = match seconds {
        s if s >= 2.0 * 86_400.0 => (86_400.0, "d"),
        s if s >= 2.0 * 3600.0 => (3600.0, "h"),
        s if s >= 120.0 => (60.0, "min"),
        _ => (1.0, "s"),
    };
    format!("{:.0} {unit}", seconds / each)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_and_shown() {
        for (text, want) in [
            ("30s", Some(30.0)),
            ("1h30m", Some(5400.0)),
            ("1.5d", Some(129_600.0)),
            ("2w", Some(1_209_600.0)),
            ("", None),
            ("10", None),
            ("h", None),
            ("3y", None),
        ] {
            assert_eq!(duration(text), want, "{text}");
        }
        assert_eq!(
            [show_duration(59.0), show_duration(5400.0), show_duration(1e6)],
            ["59 s", "90 min", "12 d"]
        );
    }
}
