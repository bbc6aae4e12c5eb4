//! `evercrawl urls`: every known URL, with its state and why.

use std::collections::HashMap;
use std::io::Write;

use evercrawl_engine::live::SystemClock;
use evercrawl_model::Time;
use evercrawl_state::{DiskStore, PageRow, Place, Standing, State};
use serde_json::{Value, json};

use crate::args::{StateArg, Urls};
use crate::{exit, print};

pub(crate) fn run(args: &Urls) -> anyhow::Result<u8> {
    let opened = super::open(&args.common)?;
    let now = SystemClock.now();
    let tags = opened.state.tag_sets()?;
    let mut out = print::data();
    for page in opened.state.pages() {
        let (_, row) = page?;
        if !wanted(args, &row, &tags, now) {
            continue;
        }
        if args.json {
            print::json_line(&mut out, &describe(&opened.state, &row, &tags, now)?)?;
        } else {
            let status = row.past.as_ref().map_or(0, |past| past.status);
            let reason = reason(&row).unwrap_or("-");
            writeln!(
                out,
                "{:<8} {status:<3} {reason:<20} {}",
                state_of(&row, now),
                print::plain(&row.url)
            )?;
        }
    }
    out.flush()?;
    Ok(exit::OK)
}

fn wanted(args: &Urls, row: &PageRow, tags: &HashMap<u32, String>, now: Time) -> bool {
    let state = args.state.is_none_or(|state| state_name(state) == state_of(row, now));
    let why = args.reason.as_deref().is_none_or(|code| reason(row) == Some(code));
    let tag = args.tag.as_deref().is_none_or(|tag| tags_of(row, tags).any(|has| has == tag));
    state && why && tag
}

fn state_name(state: StateArg) -> &'static str {
    match state {
        StateArg::New => "new",
        StateArg::Due => "due",
        StateArg::Resting => "resting",
        StateArg::Gone => "gone",
        StateArg::Refused => "refused",
    }
}

/// The one word for where a page is.
pub(crate) fn state_of(row: &PageRow, now: Time) -> &'static str {
    match (row.standing, row.place) {
        (Standing::Gone, _) => "gone",
        (Standing::Refused(_), _) => "refused",
        (_, Some(Place::New(..))) => "new",
        (_, Some(Place::Due(at))) if at <= now => "due",
        _ => "resting",
    }
}

/// Why a page is refused, or how its last visit failed.
pub(crate) fn reason(row: &PageRow) -> Option<&'static str> {
    match (row.standing, &row.past) {
        (Standing::Refused(reason), _) => Some(reason.code()),
        (_, Some(past)) if past.failures > 0 || past.status >= 300 && past.status != 304 => {
            Some(past.outcome.code())
        }
        _ => None,
    }
}

fn tags_of<'a>(row: &PageRow, tags: &'a HashMap<u32, String>) -> impl Iterator<Item = &'a str> {
    tags.get(&row.tags).map(|tags| tags.split(' ')).into_iter().flatten()
}

/// A page as JSON.
pub(crate) fn describe(
    state: &State<DiskStore>,
    row: &PageRow,
    tags: &HashMap<u32, String>,
    now: Time,
) -> anyhow::Result<Value> {
    let via = match row.via {
        Some(key) => state.reading().url(key)?,
        None => None,
    };
    let past = row.past.as_ref();
    let time = |at: Option<Time>| at.map(Time::rfc3339);
    let next_due = match row.place {
        Some(Place::Due(at)) => Some(at),
        Some(Place::New(..)) => Some(row.found),
        None => None,
    };
    Ok(json!({
        "url": row.url,
        "state": state_of(row, now),
        "reason": reason(row),
        "status": past.map(|past| past.status).filter(|status| *status > 0),
        "kind": row.kind.code(),
        "depth": row.depth,
        "via": via,
        "seed": row.seed,
        "tags": tags_of(row, tags).collect::<Vec<_>>(),
        "found": row.found.rfc3339(),
        "visits": past.map_or(0, |past| past.visits),
        "changes": past.map_or(0, |past| past.changes),
        "last_visit": time(past.map(|past| past.last_visit)),
        "last_change": time(past.and_then(|past| past.last_change)),
        "claimed_change": time(row.claimed_change),
        "next_due": time(next_due),
        "digest": past.and_then(|past| past.digest).map(digest),
    }))
}

/// A digest as WARC writes it.
pub(crate) fn digest(bytes: [u8; 20]) -> String {
    format!("sha1:{}", evercrawl_compare::Digest::from_bytes(bytes))
}
