//! Which fields have the rows of the log and pages, for filters?

use evercrawl_query::{LogRow, PageView};

use crate::filter::{Field, Kind, Value};

const fn field(name: &'static str, kind: Kind) -> Field {
    Field { name, kind }
}

/// The fields of visits.
pub const VISIT_FIELDS: &[Field] = &[
    field("url", Kind::Text),
    field("host", Kind::Text),
    field("status", Kind::Number),
    field("outcome", Kind::Text),
    field("change", Kind::Text),
    field("score", Kind::Number),
    field("time", Kind::Time),
    field("bytes", Kind::Size),
    field("ms", Kind::Number),
    field("digest", Kind::Text),
    field("kind", Kind::Text),
    field("depth", Kind::Number),
    field("via", Kind::Text),
    field("seed", Kind::Flag),
    field("tag", Kind::Words),
    field("mime", Kind::Text),
    field("lang", Kind::Text),
];

/// The fields of pages.
pub const PAGE_FIELDS: &[Field] = &[
    field("url", Kind::Text),
    field("host", Kind::Text),
    field("state", Kind::Text),
    field("reason", Kind::Text),
    field("status", Kind::Number),
    field("kind", Kind::Text),
    field("depth", Kind::Number),
    field("via", Kind::Text),
    field("seed", Kind::Flag),
    field("tag", Kind::Words),
    field("found", Kind::Time),
    field("visits", Kind::Number),
    field("changes", Kind::Number),
    field("last_visit", Kind::Time),
    field("last_change", Kind::Time),
    field("digest", Kind::Text),
];

/// The value of a field of a visit. `mime` and `lang` stand in the archive: they are missing here.
pub fn visit_value<'a>(row: &'a LogRow, field: &str) -> Value<'a> {
    let (page, visit) = (&row.page, row.visit.as_ref());
    match field {
        "url" => Value::Text((&*page.url).into()),
        "host" => Value::Text((&*page.host).into()),
        "time" => Value::Time(row.time.0),
        "kind" => Value::text(page.kind.map(|kind| kind.text())),
        "depth" => Value::Number(page.depth.into()),
        "via" => Value::text(page.via.as_deref()),
        "seed" => Value::Flag(page.seed),
        "tag" => Value::Words(&page.tags),
        "status" => Value::number(visit.and_then(|visit| visit.status)),
        "outcome" => Value::text(visit.map(|visit| visit.outcome.text())),
        "change" => Value::text(visit.map(|visit| visit.change.text())),
        "score" => Value::number(visit.map(|visit| visit.score)),
        // As many bytes as a number holds exactly.
        #[allow(clippy::cast_precision_loss, reason = "nobody compares petabytes to the byte")]
        "bytes" => Value::number(visit.map(|visit| visit.bytes as f64)),
        "ms" => Value::number(visit.map(|visit| visit.ms)),
        "digest" => Value::text(visit.and_then(|visit| visit.digest.as_deref())),
        _ => Value::Missing,
    }
}

/// The value of a field of a page.
pub fn page_value<'a>(page: &'a PageView, field: &str) -> Value<'a> {
    match field {
        "url" => Value::Text((&*page.url).into()),
        "host" => Value::text(page.url.split('/').nth(2)),
        "state" => Value::text(Some(page.state.code())),
        "reason" => Value::text(page.reason.as_deref()),
        "status" => Value::number(page.status),
        "kind" => Value::text(Some(page.kind.text())),
        "depth" => Value::Number(page.depth.into()),
        "via" => Value::text(page.via.as_deref()),
        "seed" => Value::Flag(page.seed),
        "tag" => Value::Words(&page.tags),
        "found" => Value::Time(page.found.0),
        "visits" => Value::Number(page.visits.into()),
        "changes" => Value::Number(page.changes.into()),
        "last_visit" => Value::time(page.last_visit.map(|at| at.0)),
        "last_change" => Value::time(page.last_change.map(|at| at.0)),
        "digest" => Value::text(page.digest.as_deref()),
        _ => Value::Missing,
    }
}
