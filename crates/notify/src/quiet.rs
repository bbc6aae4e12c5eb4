//! Is it night where the reader is?

use evercrawl_rules::Quiet;
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Milliseconds until the quiet time ends; `None` where it is not quiet. `Err` names a zone that is not known.
pub(crate) fn ends_in(quiet: &Quiet, now_ms: u64) -> Result<Option<u64>, String> {
    let zone = TimeZone::get(&quiet.zone).map_err(|_| {
        format!("quiet: `{}` is not a time zone; use e.g. Europe/Berlin or UTC", quiet.zone)
    })?;
    let at = |ms: u64| {
        let now = Timestamp::from_millisecond(i64::try_from(ms).unwrap_or(i64::MAX))
            .unwrap_or(Timestamp::MAX);
        let local = now.to_zoned(zone.clone());
        (i32::from(local.hour()) * 60 + i32::from(local.minute())) as u16
    };
    let is_quiet = |minute: u16| match quiet.from <= quiet.to {
        true => (quiet.from..quiet.to).contains(&minute),
        false => minute >= quiet.from || minute < quiet.to,
    };
    if !is_quiet(at(now_ms)) {
        return Ok(None);
    }
    // Minute by minute: clocks are put forward and back at night.
    let to_minute = 60_000 - now_ms % 60_000;
    let waits = (0..=25 * 60).map(|minutes| to_minute + minutes * 60_000);
    Ok(waits.into_iter().find(|wait| !is_quiet(at(now_ms + wait))))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failing test panics")]
mod tests {
    use super::*;

    #[test]
    fn nights_end_where_the_reader_is() {
        let night = Quiet { from: 22 * 60, to: 7 * 60, zone: "Europe/Berlin".to_owned() };
        let ms = |text: &str| {
            u64::try_from(text.parse::<Timestamp>().unwrap().as_millisecond()).unwrap()
        };
        for (now, minutes) in [
            ("2026-07-01T12:00:00Z", None),
            ("2026-07-01T20:00:00Z", Some(9 * 60)),
            ("2026-07-01T04:59:30Z", Some(0)),
            ("2026-01-01T05:59:00Z", Some(1)),
            ("2026-01-01T06:00:00Z", None),
            // The clocks are put forward that night.
            ("2026-03-28T21:00:00Z", Some(8 * 60)),
        ] {
            let wait = ends_in(&night, ms(now)).unwrap();
            assert_eq!(wait.map(|wait| wait / 60_000), minutes, "{now}");
        }
        let noon = Quiet { from: 720, to: 780, zone: "UTC".to_owned() };
        assert_eq!(ends_in(&noon, ms("2026-07-01T12:30:00Z")).unwrap(), Some(30 * 60_000));
        let nowhere = Quiet { zone: "Mars/Base".to_owned(), ..noon };
        assert!(ends_in(&nowhere, 0).unwrap_err().contains("Mars/Base"));
    }
}
