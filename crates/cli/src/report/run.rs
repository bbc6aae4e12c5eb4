//! How do the times and troubles of a run look in words?

use std::collections::BTreeMap;

use evercrawl_query::{CommitTimes, FetchTimes, Run};

use crate::units::{show_count, show_counted, show_seconds};

/// The lines about what a run counts while it happens: only what there is.
pub(super) fn lines(run: &Run) -> Vec<(&'static str, String)> {
    let lines = [
        ("fetches", fetches_text(&run.fetch_times)),
        ("robots.txt", by_code(&run.robots_by_outcome)),
        ("backoffs", backoffs_text(run)),
        ("commits", commits_text(&run.commits)),
    ];
    lines.into_iter().filter_map(|(label, text)| Some((label, text?))).collect()
}

fn fetches_text(of: &FetchTimes) -> Option<String> {
    let mean = show_seconds(of.mean_seconds?);
    Some(format!(
        "{mean} on average{}{}",
        within("half", of.p50_seconds),
        within("99 %", of.p99_seconds)
    ))
}

fn commits_text(of: &CommitTimes) -> Option<String> {
    let mean = show_seconds(of.mean_seconds?);
    let commits = show_counted(of.count, "commit");
    Some(format!("{commits}, {mean} on average{}", within("99 %", of.p99_seconds)))
}

/// Within which time a share of them ended; nothing where that is longer than is counted.
fn within(share: &str, seconds: Option<f64>) -> String {
    seconds
        .map_or_else(String::new, |seconds| format!(", {share} within {}", show_seconds(seconds)))
}

fn backoffs_text(run: &Run) -> Option<String> {
    let text = by_code(&run.host_blocks_by_cause);
    let asked = show_counted(run.retry_after, "response");
    match run.retry_after {
        0 => text,
        _ => {
            Some(format!("{}; {asked} with Retry-After", text.unwrap_or_else(|| "none".to_owned())))
        }
    }
}

/// Counts by code, the most frequent first.
fn by_code(counts: &BTreeMap<String, u64>) -> Option<String> {
    let mut counts: Vec<(u64, &str)> = counts.iter().map(|(code, n)| (*n, &**code)).collect();
    counts.sort_unstable_by(|a, b| b.cmp(a));
    let words: Vec<String> =
        counts.iter().map(|(count, code)| format!("{} {code}", show_count(*count))).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_given_as_far_as_they_are_known() {
        let mut times = FetchTimes { count: 3, mean_seconds: Some(0.02), ..Default::default() };
        assert_eq!(fetches_text(&times).as_deref(), Some("20 ms on average"));
        (times.p50_seconds, times.p99_seconds) = (Some(0.01), Some(1.0));
        let text = "20 ms on average, half within 10 ms, 99 % within 1 s";
        assert_eq!(fetches_text(&times).as_deref(), Some(text));
        assert_eq!(fetches_text(&FetchTimes::default()), None);
    }

    #[test]
    fn the_most_frequent_comes_first() {
        let counts = [("fetched", 2), ("absent", 1500)].map(|(code, n)| (code.to_owned(), n));
        assert_eq!(by_code(&counts.into()).as_deref(), Some("1,500 absent, 2 fetched"));
        assert_eq!(by_code(&BTreeMap::new()), None);
    }
}
