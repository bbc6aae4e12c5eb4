//! What was done in a run, by host, and what failed for which cause?

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use evercrawl_engine::data_dir::replace_file;
use evercrawl_engine::live::Progress;
use evercrawl_query::{FreshnessView, HostRunView, RunHostsView, RunReport, Totals};
use serde_json::{Value, json};

use super::{freshness_text, write_line, write_totals};
use crate::exit::{self, Failure};
use crate::print;
use crate::units::{show_count, show_counted, show_duration, show_size};

/// Hosts that the screen lists.
const LISTED: usize = 10;
/// Hosts in the report on standard output; the report file has all.
const IN_LINE: usize = 100;

/// What a run did, at its end.
pub(crate) struct RunEnd<'a> {
    /// Why it ended: a code, and in words.
    pub(crate) reason: (&'static str, &'static str),
    pub(crate) exit_code: u8,
    pub(crate) data: &'a Path,
    pub(crate) progress: &'a Progress,
    pub(crate) total: Totals,
    pub(crate) freshness: FreshnessView,
    pub(crate) hosts: RunHostsView,
}

impl RunEnd<'_> {
    /// The report as JSON, with at most so many hosts.
    fn json(&self, most_hosts: usize) -> Value {
        let hosts: Vec<&HostRunView> = self.hosts.hosts.iter().take(most_hosts).collect();
        json!({
            "event": "report",
            "finish_reason": self.reason.0,
            "exit_code": self.exit_code,
            "data": self.data,
            "began": evercrawl_query::At(self.progress.began),
            "ended": evercrawl_query::At(self.progress.at),
            "run": RunReport::of(self.progress),
            "freshness": self.freshness,
            "failures": self.hosts.failures,
            "hosts": hosts,
            "hosts_left_out": self.hosts.hosts.len() - hosts.len(),
            "other_hosts": self.hosts.other_hosts,
        })
    }

    /// One line of JSON.
    pub(crate) fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        print::json_line(out, &self.json(IN_LINE))
    }

    /// The whole report, in place of what `path` has.
    pub(crate) fn write_file(&self, path: &Path) -> anyhow::Result<()> {
        let mut text = Vec::new();
        print::json_line(&mut text, &self.json(usize::MAX))?;
        replace_file(path, &text).map_err(|error| {
            let message = format!("--report: {error}; the crawl itself is safe");
            Failure { code: exit::UNEXPECTED, message }.into()
        })
    }

    pub(crate) fn write_words(&self, out: &mut dyn Write) -> io::Result<()> {
        let (tally, time) = (&self.progress.tally, self.progress.at.since(self.progress.began));
        let rate = tally.pages as f64 / time.as_secs_f64().max(0.001);
        writeln!(
            out,
            "{}: {} in {} ({rate:.1}/s), {} received, {} archived",
            self.reason.1,
            show_counted(tally.pages, "page"),
            show_duration(time),
            show_size(tally.bytes),
            show_size(tally.archived),
        )?;
        write_totals(out, &self.total)?;
        write_line(out, "freshness", &freshness_text(&self.freshness))?;
        let run = format!(
            "{}, {}",
            show_counted(tally.first, "new page"),
            show_counted(tally.changes, "change")
        );
        write_line(out, "this run", &run)?;
        write_line(out, "failures", &failures_text(&self.hosts.failures))?;
        self.write_hosts(out)
    }

    /// The hosts with failures, and without any nothing: the totals tell the rest.
    fn write_hosts(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut failing: Vec<&HostRunView> =
            self.hosts.hosts.iter().filter(|host| host.failed() > 0).collect();
        failing.sort_by_key(|host| std::cmp::Reverse((host.silent.is_some(), host.failed())));
        for host in failing.iter().take(LISTED) {
            write_line(out, "", &host_text(host))?;
        }
        match failing.len().saturating_sub(LISTED) {
            0 => Ok(()),
            more => write_line(
                out,
                "",
                &format!("and {} more; --report FILE lists all", show_counted(more as u64, "host")),
            ),
        }
    }
}

fn host_text(host: &HostRunView) -> String {
    let name = print::plain(&host.host);
    let answers = match &host.silent {
        Some(cause) => format!(", no answer ({})", cause_words(cause)),
        None => String::new(),
    };
    format!("{name}: {}{answers}", failures_text(&host.failures))
}

/// Failures by cause, the most frequent first.
fn failures_text(failures: &BTreeMap<String, u64>) -> String {
    let mut causes: Vec<(&String, &u64)> = failures.iter().collect();
    causes.sort_by_key(|(code, count)| (std::cmp::Reverse(**count), (*code).clone()));
    let words: Vec<String> =
        causes.iter().map(|(code, count)| format!("{} {code}", show_count(**count))).collect();
    if words.is_empty() { "none".to_owned() } else { words.join(", ") }
}

/// Why a host does not answer, in words.
pub(crate) fn cause_words(code: &str) -> &str {
    match code {
        "dns" => "name not found",
        "connect" => "connection refused or lost",
        "tls" => "TLS failed",
        "timeout" => "timed out",
        "protocol" => "not HTTP",
        "private_address" => "private address",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_shown_with_what_failed_and_why() {
        let failures = |list: &[(&str, u64)]| {
            list.iter().map(|(code, count)| ((*code).to_owned(), *count)).collect()
        };
        let mut host = HostRunView {
            host: "a.test".to_owned(),
            failures: failures(&[("dns", 2), ("client_error", 12)]),
            silent: Some("dns".to_owned()),
            ..HostRunView::default()
        };
        let want = "a.test: 12 client_error, 2 dns, no answer (name not found)";
        assert_eq!(host_text(&host), want);
        (host.failures, host.silent) = (failures(&[("server_error", 1)]), None);
        assert_eq!(host_text(&host), "a.test: 1 server_error");
        assert_eq!(failures_text(&BTreeMap::new()), "none");
    }
}
