//! What does Heritrix's `crawl.log` say of a visit? Twelve columns, separated by spaces; `-` where there is nothing.
//!
//! time, status, bytes, URL, discovery path, referring page, media type, worker, begin and duration, digest, source
//! tag, annotations. A visit without an HTTP status has one of Heritrix's negative codes.

use std::time::Duration;

use evercrawl_model::Outcome;
use evercrawl_query::{LogRow, VisitView};

/// The line of a visit, with its end. `media_type` is what the server said; `None` for a row that is no visit.
pub fn crawl_log_line(row: &LogRow, media_type: Option<&str>) -> Option<String> {
    let visit = row.visit.as_ref()?;
    let begin = visit.time.0;
    let end = begin.after(Duration::from_millis(visit.ms.into()));
    let tag = row.page.tags.join("+");
    Some(format!(
        "{} {:>5} {:>10} {} {} {} {} #000 {}+{} {} {} {}\n",
        log_time(&end.rfc3339()),
        status(visit),
        visit.bytes,
        word(Some(&row.page.url)),
        word(Some(&path(row))),
        word(row.page.via.as_deref()),
        word(media_type.or(Some("unknown"))),
        begin.digits17(),
        visit.ms,
        word(visit.digest.as_deref()),
        word(Some(&tag)),
        annotations(visit),
    ))
}

/// With milliseconds in any case.
fn log_time(text: &str) -> String {
    match text.contains('.') {
        true => text.to_owned(),
        false => text.replace('Z', ".000Z"),
    }
}

/// One word: spaces would begin another column.
fn word(text: Option<&str>) -> String {
    let text = text.unwrap_or_default();
    if text.is_empty() { "-".to_owned() } else { text.replace(char::is_whitespace, "%20") }
}

/// How the page was found: `L` for each link, `-` for a seed. Which of them was a redirect or an embed is not kept.
fn path(row: &LogRow) -> String {
    if row.page.seed { String::new() } else { "L".repeat(usize::from(row.page.depth)) }
}

fn status(visit: &VisitView) -> i32 {
    match (visit.status, visit.outcome.0) {
        (Some(status), _) => status.into(),
        (None, Outcome::Dns) => -1,
        (None, Outcome::Connect | Outcome::Tls) => -2,
        (None, Outcome::Timeout) => -4,
        (None, Outcome::Forbidden) => -5000,
        (None, _) => -3,
    }
}

/// What it found, and what a status alone does not say.
fn annotations(visit: &VisitView) -> String {
    let mut words = vec![format!("change:{}", visit.change)];
    if visit.outcome.0.is_substitute() || visit.status.is_none() {
        words.push(format!("outcome:{}", visit.outcome));
    }
    words.join(",")
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failing test panics")]
mod tests {
    use evercrawl_model::{Change, Time};
    use evercrawl_query::{At, Code, LogPage};

    use super::*;

    fn row(outcome: Outcome, status: Option<u16>) -> LogRow {
        let at = At(Time::from_millis(1_794_780_950_007));
        let visit = VisitView {
            time: at,
            outcome: Code(outcome),
            cause: None,
            status,
            change: Code(Change::New),
            score: 1.0,
            in_doubt: false,
            digest: Some("sha1:X".to_owned()),
            bytes: 42,
            ms: 1993,
            near: None,
            warc: None,
            offset: None,
            length: None,
            url: None,
        };
        let page = LogPage {
            url: "http://a.org/x".to_owned(),
            depth: 2,
            via: Some("http://a.org/".to_owned()),
            tags: vec!["news".to_owned(), "de".to_owned()],
            ..LogPage::default()
        };
        LogRow { number: 1, time: at, page, visit: Some(visit), life: None, held: None }
    }

    #[test]
    fn a_line_has_twelve_columns() {
        let line = crawl_log_line(&row(Outcome::Ok, Some(200)), Some("text/html")).unwrap();
        assert_eq!(
            line,
            "2026-11-15T22:15:52.000Z   200         42 http://a.org/x LL http://a.org/ text/html \
             #000 20261115221550007+1993 sha1:X news+de change:new\n"
        );
        assert_eq!(line.split_whitespace().count(), 12);
    }

    #[test]
    fn failures_have_the_codes_of_heritrix() {
        for (outcome, code) in [
            (Outcome::Dns, "-1"),
            (Outcome::Connect, "-2"),
            (Outcome::Timeout, "-4"),
            (Outcome::Protocol, "-3"),
        ] {
            let line = crawl_log_line(&row(outcome, None), None).unwrap();
            let columns: Vec<&str> = line.split_whitespace().collect();
            assert_eq!((columns[1], columns[6], columns.len()), (code, "unknown", 12));
            assert!(columns[11].ends_with(outcome.code()), "{line}");
        }
    }
}
