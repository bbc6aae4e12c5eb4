//! What does a changedetection.io backup hold? Pages that are watched, and when each was seen to change.

use std::collections::HashMap;
use std::io::{self, Read, Seek};
use std::time::Duration;

use evercrawl_compare::Digest;
use evercrawl_engine::walk::Seen;
use evercrawl_model::{Outcome, Time};
use serde_json::Value;

use crate::found::{FoundSeed, FoundVisit, Place, Taker, tag_of};
use crate::zip::{Entry, entries, read_entry};

/// Bytes of a file of settings, and of one version of a page.
const LARGEST: u64 = 64 << 20;
/// Versions of one page that are read.
const MOST_VERSIONS: usize = 100_000;

/// What a watch may say that has no counterpart here.
const NOT_TAKEN: [&str; 15] = [
    "include_filters",
    "subtractive_selectors",
    "trigger_text",
    "ignore_text",
    "text_should_not_be_present",
    "extract_text",
    "conditions",
    "notification_urls",
    "headers",
    "body",
    "proxy",
    "browser_steps",
    "css_filter",
    "xpath_filter",
    "time_schedule_limit",
];

/// Reads a backup.
pub(crate) fn read_backup(file: &mut (impl Read + Seek), take: &mut dyn Taker) -> io::Result<()> {
    let entries = entries(file)?;
    let by_name: HashMap<&str, &Entry> =
        entries.iter().map(|entry| (entry.name.as_str(), entry)).collect();
    let mut settings = Value::Null;
    for name in ["changedetection.json", "url-watches.json"] {
        if let Some(entry) = by_name.get(name) {
            settings = read_json(file, entry, take)?;
        }
    }
    let tags = tag_names(&settings);
    let old = settings.get("watching").and_then(Value::as_object).cloned().unwrap_or_default();
    for (id, watch) in &old {
        read_watch(file, (id, watch), &tags, &by_name, take)?;
    }
    for entry in &entries {
        let Some(id) = entry.name.strip_suffix("/watch.json").filter(|id| !old.contains_key(*id))
        else {
            continue;
        };
        let watch = read_json(file, entry, take)?;
        read_watch(file, (id, &watch), &tags, &by_name, take)?;
    }
    Ok(())
}

fn read_json(
    file: &mut (impl Read + Seek),
    entry: &Entry,
    take: &mut dyn Taker,
) -> io::Result<Value> {
    let read =
        read_entry(file, entry, LARGEST).and_then(|bytes| Ok(serde_json::from_slice(&bytes)?));
    Ok(read.unwrap_or_else(|error: io::Error| {
        take.refuse(Place::Entry(entry.name.clone()), &format!("it cannot be read: {error}"));
        Value::Null
    }))
}

/// The names of tags by their identities.
fn tag_names(settings: &Value) -> HashMap<String, String> {
    let tags = settings.pointer("/settings/application/tags").and_then(Value::as_object);
    let name =
        |(id, tag): (&String, &Value)| Some((id.clone(), tag_of(tag.get("title")?.as_str()?)?));
    tags.into_iter().flatten().filter_map(name).collect()
}

fn read_watch(
    file: &mut (impl Read + Seek),
    (id, watch): (&str, &Value),
    tags: &HashMap<String, String>,
    by_name: &HashMap<&str, &Entry>,
    take: &mut dyn Taker,
) -> io::Result<()> {
    let place = || Place::Entry(format!("watch {id}"));
    let Some(url) = watch.get("url").and_then(Value::as_str).filter(|url| !url.is_empty()) else {
        take.refuse(place(), "a watch without a URL");
        return Ok(());
    };
    let is_set = |value: &Value| match value {
        Value::Null | Value::Bool(false) => false,
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => {
            fields.get("enabled").map_or(!fields.is_empty(), |on| on == &Value::Bool(true))
        }
        Value::String(text) => !text.is_empty(),
        _ => true,
    };
    for name in NOT_TAKEN {
        if watch.get(name).is_some_and(is_set) {
            take.refuse(
                place(),
                &format!("`{name}` of changedetection.io; the URL is taken without it"),
            );
        }
    }
    if watch.get("paused").is_some_and(is_set) {
        take.refuse(
            place(),
            "`paused`; the URL is taken and visited (`evercrawl exclude URL` leaves it out)",
        );
    }
    let seed = FoundSeed { url: url.to_owned(), tags: tags_of(watch, tags), every: every(watch) };
    take.seed(place(), seed);
    read_history(file, id, url, by_name, take)
}

fn tags_of(watch: &Value, names: &HashMap<String, String>) -> Vec<String> {
    let ids = watch.get("tags").and_then(Value::as_array).into_iter().flatten();
    let named = ids.filter_map(Value::as_str).filter_map(|id| names.get(id).cloned());
    let old = watch.get("tag").and_then(Value::as_str).unwrap_or_default();
    named.chain(old.split(',').filter_map(tag_of)).collect()
}

/// How often a page is to be visited, where that is said of this page.
fn every(watch: &Value) -> Option<Duration> {
    if watch.get("time_between_check_use_default").and_then(Value::as_bool) == Some(true) {
        return None;
    }
    let between = watch.get("time_between_check")?;
    let units =
        [("weeks", 604_800), ("days", 86_400), ("hours", 3_600), ("minutes", 60), ("seconds", 1)];
    let seconds = units.iter().map(|(name, unit)| {
        between.get(name).and_then(Value::as_u64).unwrap_or(0).saturating_mul(*unit)
    });
    let seconds = seconds.fold(0_u64, u64::saturating_add);
    (seconds > 0).then(|| Duration::from_secs(seconds))
}

/// Each version was found at a time, and stands in a file of its own.
fn read_history(
    file: &mut (impl Read + Seek),
    id: &str,
    url: &str,
    by_name: &HashMap<&str, &Entry>,
    take: &mut dyn Taker,
) -> io::Result<()> {
    let name = format!("{id}/history.txt");
    let Some(entry) = by_name.get(name.as_str()) else { return Ok(()) };
    let list = match read_entry(file, entry, LARGEST) {
        Ok(list) => list,
        Err(error) => {
            take.refuse(Place::Entry(name), &format!("it cannot be read: {error}"));
            return Ok(());
        }
    };
    for (line, number) in String::from_utf8_lossy(&list).lines().zip(1..).take(MOST_VERSIONS) {
        let place = Place::Entry(format!("{name}, line {number}"));
        let Some((epoch, version)) = line.split_once(',') else {
            take.refuse(place, "it is no line of a history");
            continue;
        };
        let Ok(seconds) = epoch.trim().parse::<u64>() else {
            take.refuse(place, "its time cannot be read");
            continue;
        };
        // Older instances wrote the whole path.
        let version = version.trim().rsplit('/').next().unwrap_or_default();
        let entry = by_name.get(format!("{id}/{version}").as_str());
        let text = entry.map(|entry| read_entry(file, entry, LARGEST));
        let content = match text {
            Some(Ok(text)) => Digest::of_bytes(&text).to_bytes(),
            // That there is a version says that it differs.
            _ => Digest::of_bytes(line.as_bytes()).to_bytes(),
        };
        let seen =
            Seen { outcome: Outcome::Ok, status: 200, content: Some((content, false)), bytes: 0 };
        let at = Time::from_secs(seconds.min(u64::from(u32::MAX) * 4));
        take.visit(place, FoundVisit { url: url.to_owned(), at, seen, media_type: None })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;
    use crate::lists::testing::Kept;
    use crate::zip::testing::package;

    #[test]
    fn watches_come_with_tags_intervals_and_history() {
        let settings = br#"{"settings":{"application":{"tags":{"t1":{"title":"My Shop"}}}}}"#;
        let watch = br#"{"url":"http://a.test/","tags":["t1","gone"],"paused":true,"include_filters":["main"],
            "time_between_check":{"hours":6,"minutes":null},"time_between_check_use_default":false,"trigger_text":[]}"#;
        let history =
            b"1577836800,1.txt\n1577923200,/datastore/u1/2.txt\nnonsense\n1578000000,missing.txt\n";
        let bytes = package(
            &[
                ("changedetection.json", settings),
                ("u1/watch.json", watch),
                ("u1/history.txt", history),
                ("u1/1.txt", b"one"),
                ("u1/2.txt", b"two"),
                ("u2/watch.json", b"{}"),
                ("u3/watch.json", b"not json"),
            ],
            true,
        );
        let mut kept = Kept::default();
        read_backup(&mut Cursor::new(bytes), &mut kept).unwrap();
        assert_eq!(kept.urls(), ["http://a.test/"]);
        assert_eq!(kept.seeds[0].tags, ["my-shop"]);
        assert_eq!(kept.seeds[0].every, Some(Duration::from_secs(6 * 3600)));
        assert_eq!(kept.visits.len(), 3);
        assert_eq!(kept.visits[1].at.rfc3339(), "2020-01-02T00:00:00Z");
        assert_ne!(kept.visits[0].seen.content, kept.visits[1].seen.content);
        assert_eq!(kept.refused.len(), 6, "{:?}", kept.refused);
    }
}
