//! What did visits bring?

use evercrawl_query::{ClassCount, Status, TallyView};
use maud::{PreEscaped, html};

use super::{Analytics, Section, nothing};
use crate::codes;
use crate::parts::{Titles, columns, counts_table, table};
use crate::words::{bytes, count, figures, percent, plural, seconds, short, visible};

pub(super) fn outcomes(shown: &Analytics<'_>) -> Section {
    let by_outcome = &shown.status.total.visits_by_outcome;
    let failed: u64 =
        by_outcome.iter().filter(|(code, _)| codes::is_failure(code)).map(|(_, count)| count).sum();
    let sentence = format!(
        "{} of {} failed; of the last {}, {} did.",
        percent(failed as f64 / shown.status.total.visits.max(1) as f64),
        plural(shown.status.total.visits, "visit"),
        count(shown.tally.visits),
        percent(
            shown.tally.by_change.get("failed").copied().unwrap_or(0) as f64
                / shown.tally.visits.max(1) as f64
        )
    );
    let rows = by_outcome.iter().map(|(code, count)| {
        (
            html! { (codes::outcome(code)) },
            *count,
            if codes::is_failure(code) { "k3" } else { "k0" },
        )
    });
    let body = if by_outcome.is_empty() {
        nothing("No visit yet.")
    } else {
        counts_table("Visits by outcome", "Outcome", rows)
    };
    Section { id: "outcomes", title: "Outcomes", sentence, body }
}

pub(super) fn by_host(tally: &TallyView) -> Section {
    let top: u64 = tally.hosts.iter().take(5).map(|host| host.visits).sum();
    let sentence = format!(
        "The last {} went to {}; the five with most got {} of them.",
        plural(tally.visits, "visit"),
        plural(tally.hosts_seen, "host"),
        percent(top as f64 / tally.visits.max(1) as f64)
    );
    let heads = [
        ("", "Host"),
        ("num", "Visits"),
        ("num", "Changed"),
        ("num", "Failed"),
        ("num", "Received"),
        ("num", "Answer"),
    ];
    let rows = html! { @for host in tally.hosts.iter().take(25) { tr {
        th scope="row" { (visible(&host.host)) }
        td.num { (count(host.visits)) }
        td.num { (percent(host.changes as f64 / (host.visits - host.first_visits).max(1) as f64)) }
        td.num { (percent(host.failed as f64 / host.visits.max(1) as f64)) }
        td.num { (bytes(host.bytes)) }
        td.num { (seconds(host.mean_ms / 1000.0)) }
    } } };
    let body = if tally.hosts.is_empty() {
        nothing("No visit yet.")
    } else {
        table("Outcomes by host", &heads, &rows)
    };
    Section { id: "hosts", title: "Outcomes by host", sentence, body }
}

pub(super) fn discovery(status: &Status) -> Section {
    let links = &status.survey.learned.new_links;
    let best = links
        .iter()
        .filter(|one| one.a_visit.is_some())
        .max_by(|a, b| a.a_visit.unwrap_or(0.0).total_cmp(&b.a_visit.unwrap_or(0.0)));
    let sentence = match best {
        Some(one) => format!(
            "A visit to a known {} leads to {} new links on average; no other kind leads to more.",
            one.kind,
            figures(one.a_visit.unwrap_or(0.0))
        ),
        None => "No known page was visited again yet.".to_owned(),
    };
    let heads = [("", "Kind of page"), ("num", "Visits"), ("num", "New links"), ("num", "A visit")];
    let rows = html! { @for one in links { tr {
        th scope="row" { (one.kind) } td.num { (short(one.visits)) } td.num { (short(one.links)) }
        td.num { (one.a_visit.map_or("\u{2013}".to_owned(), figures)) }
    } } };
    Section {
        id: "discovery",
        title: "Discovery yield",
        sentence,
        body: table("New links by kind of page", &heads, &rows),
    }
}

fn classes(counts: &[ClassCount], worded: impl Fn(u64) -> String) -> Vec<(String, f64)> {
    let mut last = 0;
    let class = |one: &ClassCount| {
        let name = match one.to {
            Some(to) => format!("\u{2264} {}", worded(to)),
            None => format!("> {}", worded(last)),
        };
        last = one.to.unwrap_or(last);
        (name, one.count as f64)
    };
    let mut named: Vec<(String, f64)> = counts.iter().map(class).collect();
    while named.last().is_some_and(|class| class.1 == 0.0) {
        named.pop();
    }
    named
}

/// The class in the middle of the counts.
fn median(classes: &[(String, f64)]) -> Option<&str> {
    let total: f64 = classes.iter().map(|class| class.1).sum();
    let mut so_far = 0.0;
    classes
        .iter()
        .find(|class| {
            so_far += class.1;
            so_far * 2.0 >= total
        })
        .filter(|_| total > 0.0)
        .map(|class| class.0.as_str())
}

pub(super) fn sizes(tally: &TallyView) -> Section {
    let named = classes(&tally.sizes, bytes);
    let sentence = match median(&named) {
        Some(median) => format!(
            "The last {} received {}; half of the answers with content are {median}.",
            plural(tally.visits, "visit"),
            bytes(tally.bytes)
        ),
        None => "No content was received lately.".to_owned(),
    };
    let titles = Titles {
        id: "a-sizes",
        title: "Answers by size",
        sentence: &sentence,
        worded: &short,
        top: None,
    };
    let body = if named.is_empty() {
        nothing("No visit yet.")
    } else {
        html! { (PreEscaped(columns(&titles, "k2", &named))) }
    };
    Section { id: "sizes", title: "Bytes", sentence, body }
}

pub(super) fn times(tally: &TallyView) -> Section {
    let named = classes(&tally.times, |ms| seconds(ms as f64 / 1000.0));
    let sentence = match median(&named) {
        Some(median) => {
            format!("Half of the last {} took {median}.", plural(tally.visits, "visit"))
        }
        None => "No visit yet.".to_owned(),
    };
    let titles = Titles {
        id: "a-times",
        title: "Visits by how long they took",
        sentence: &sentence,
        worded: &short,
        top: None,
    };
    let body = if named.is_empty() {
        nothing("No visit yet.")
    } else {
        html! { (PreEscaped(columns(&titles, "k2", &named))) }
    };
    Section { id: "times", title: "How long visits take", sentence, body }
}

pub(super) fn duplicates(status: &Status) -> Section {
    let total = &status.total;
    let share = |count: u64| percent(count as f64 / total.visits.max(1) as f64);
    let sentence = format!(
        "{} of the visits brought what another page had already brought, and {} nearly that; {} brought nothing new.",
        share(total.duplicates),
        share(total.near_duplicates),
        share(total.unchanged.not_modified + total.unchanged.same_digest + total.unchanged.noise)
    );
    let rows = [
        (html! { "Exact copies of another page" }, total.duplicates, "k1"),
        (html! { "Near copies of another page" }, total.near_duplicates, "k4"),
        (html! { "Not modified (304)" }, total.unchanged.not_modified, "k0"),
        (html! { "Same bytes" }, total.unchanged.same_digest, "k0"),
        (html! { "Only noise differed" }, total.unchanged.noise, "k2"),
    ];
    let body = counts_table("Visits that brought nothing new", "What came", rows.into_iter());
    Section { id: "duplicates", title: "Duplicates", sentence, body }
}

pub(super) fn types(tally: &TallyView) -> Section {
    let sentence = sampled_sentence(&tally.by_content_type, tally.looked_up, "media type");
    let named =
        |code: &str| if code.is_empty() { "none named".to_owned() } else { code.to_owned() };
    let rows = tally
        .by_content_type
        .iter()
        .map(|(code, count)| (html! { (visible(&named(code))) }, *count, "k0"));
    let body = if tally.looked_up == 0 {
        nothing("No content is held yet.")
    } else {
        counts_table("Media types", "Type", rows)
    };
    Section { id: "types", title: "Media types", sentence, body }
}

pub(super) fn languages(tally: &TallyView) -> Section {
    let sentence = sampled_sentence(&tally.by_language, tally.texts_read, "language");
    let named = |code: &str| if code.is_empty() { "not known".to_owned() } else { code.to_owned() };
    let rows = tally
        .by_language
        .iter()
        .map(|(code, count)| (html! { (visible(&named(code))) }, *count, "k0"));
    let body = if tally.texts_read == 0 {
        nothing("No text is held yet.")
    } else {
        counts_table("Languages", "Language", rows)
    };
    Section { id: "languages", title: "Languages", sentence, body }
}

/// The most frequent of what a sample showed, with twice its standard error.
fn sampled_sentence(
    counts: &std::collections::BTreeMap<String, u64>,
    sample: u64,
    what: &str,
) -> String {
    match counts.iter().max_by_key(|(_, count)| **count) {
        Some((code, count)) if sample > 0 => {
            let share = *count as f64 / sample as f64;
            let error = 2.0 * (share * (1.0 - share) / sample as f64).sqrt();
            let code = if code.is_empty() { "none" } else { code };
            format!(
                "The most frequent {what} is {code}: {} \u{b1} {} of the answers, by a look at {}.",
                percent(share),
                percent(error),
                plural(sample, "sample")
            )
        }
        _ => format!("No {what} is known yet."),
    }
}
