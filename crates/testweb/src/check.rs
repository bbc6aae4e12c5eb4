//! Was the caller polite? Reads an access log and finds requests that overlap, follow too closely, or were forbidden.

use crate::server::LogLine;
use serde::Serialize;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::time::Duration;

/// What an access log says about its caller.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LogCheckReport {
    /// Requests in the log.
    pub requests: u64,
    /// Hosts in the log.
    pub hosts: u64,
    /// Requests that began before an earlier one to the same host had ended.
    pub overlaps: u64,
    /// Requests that began less than the gap after the end of the one before, overlapping ones included.
    pub too_close: u64,
    /// Requests that began less than the gap after the beginning of the one before.
    pub too_close_start_to_start: u64,
    /// Requests that were not allowed.
    pub forbidden: u64,
    /// Least time from an end to the next beginning, in microseconds; negative when requests overlap.
    pub least_gap_us: Option<i64>,
    /// The first few offences in words.
    pub examples: Vec<String>,
}

impl LogCheckReport {
    /// Whether the caller was polite.
    pub fn is_clean(&self) -> bool {
        self.overlaps == 0 && self.too_close == 0 && self.forbidden == 0
    }

    fn check_host(&mut self, host: &str, requests: &mut [(u64, u64)], gap_us: u64) {
        requests.sort_unstable();
        let mut busy_until = 0;
        let mut before = None;
        for &(start_us, end_us) in requests.iter() {
            if let Some(last_start_us) = before {
                self.check_gap(host, start_us, busy_until, gap_us);
                self.too_close_start_to_start += u64::from(start_us - last_start_us < gap_us);
            }
            before = Some(start_us);
            busy_until = end_us.max(busy_until);
        }
    }

    fn check_gap(&mut self, host: &str, start_us: u64, busy_until: u64, gap_us: u64) {
        let gap = start_us as i64 - busy_until as i64;
        self.least_gap_us = Some(self.least_gap_us.map_or(gap, |least| least.min(gap)));
        self.overlaps += u64::from(gap < 0);
        if gap < gap_us as i64 {
            self.too_close += 1;
            self.record_violation(|| format!("{host}: a request at {start_us} us began {gap} us after the one before had ended"));
        }
    }

    fn record_violation(&mut self, offence: impl FnOnce() -> String) {
        if self.examples.len() < EXAMPLES {
            self.examples.push(offence());
        }
    }
}

/// Checks an access log against a least gap between requests to one host and a rule for allowed URLs.
pub fn check_access_log(
    path: impl AsRef<Path>,
    min_gap: Duration,
    allowed: impl Fn(&str, &str) -> bool,
) -> io::Result<LogCheckReport> {
    let gap_us = u64::try_from(min_gap.as_micros()).unwrap_or(u64::MAX >> 1);
    let mut report = LogCheckReport::default();
    let mut by_host: HashMap<String, Vec<(u64, u64)>> = HashMap::new();
    for line in BufReader::new(File::open(path)?).lines() {
        let line = line?;
        let request: LogLine<'_> = serde_json::from_str(&line)?;
        report.requests += 1;
        if !allowed(&request.host, &request.path) {
            report.forbidden += 1;
            report
                .record_violation(|| format!("{}: {} is not allowed", request.host, request.path));
        }
        by_host
            .entry(request.host.into_owned())
            .or_default()
            .push((request.start_us, request.end_us));
    }
    report.hosts = by_host.len() as u64;
    for (host, requests) in &mut by_host {
        report.check_host(host, requests, gap_us);
    }
    Ok(report)
}

const EXAMPLES: usize = 10;

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn check(requests: &[(&str, &str, u64, u64)]) -> LogCheckReport {
        let mut log = tempfile::NamedTempFile::new().unwrap();
        for (host, path, start, end) in requests {
            writeln!(
                log,
                r#"{{"host":"{host}","path":"{path}","status":200,"start_us":{start},"end_us":{end},"agent":"a","conditional":false,"bytes":1}}"#
            )
            .unwrap();
        }
        check_access_log(log.path(), Duration::from_micros(100), |_, path| path != "/no").unwrap()
    }

    #[test]
    fn a_polite_caller_is_clean_whatever_the_order_of_lines() {
        let report = check(&[("b", "/", 150, 400), ("a", "/2", 300, 350), ("a", "/1", 100, 200)]);
        assert!(report.is_clean(), "{report:?}");
        assert_eq!((report.requests, report.hosts, report.least_gap_us), (3, 2, Some(100)));
    }

    #[test]
    fn each_offence_is_counted_as_what_it_is() {
        let close = check(&[("a", "/1", 100, 200), ("a", "/2", 299, 300)]);
        assert_eq!((close.overlaps, close.too_close, close.too_close_start_to_start), (0, 1, 0));
        let overlap = check(&[("a", "/1", 100, 200), ("a", "/2", 199, 220), ("a", "/3", 500, 501)]);
        assert_eq!(
            (overlap.overlaps, overlap.too_close, overlap.too_close_start_to_start),
            (1, 1, 1)
        );
        assert_eq!(overlap.least_gap_us, Some(-1));
        let forbidden = check(&[("a", "/no", 100, 200)]);
        assert_eq!(
            (forbidden.forbidden, forbidden.is_clean(), forbidden.examples.len()),
            (1, false, 1)
        );
    }

    #[test]
    fn a_long_request_overlaps_all_that_begin_while_it_lasts() {
        let report =
            check(&[("a", "/1", 100, 9_000), ("a", "/2", 1_000, 1_100), ("a", "/3", 3_000, 3_100)]);
        assert_eq!(report.overlaps, 2);
    }

    #[test]
    fn a_broken_line_is_an_error_rather_than_a_clean_report() {
        let mut log = tempfile::NamedTempFile::new().unwrap();
        writeln!(log, "{{").unwrap();
        assert!(check_access_log(log.path(), Duration::ZERO, |_, _| true).is_err());
    }
}
