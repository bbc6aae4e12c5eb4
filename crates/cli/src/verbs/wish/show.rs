//! How is a wish told, to people and to programs?

use evercrawl_model::{HostKey, PageKey, Time, Wish};
use evercrawl_urls::Patterns;
use serde_json::{Value, json};

use super::Opened;
use crate::units::show_duration;

/// A wish in words.
pub(super) fn words(wish: &Wish) -> String {
    match wish {
        Wish::Pin { url, every, .. } => format!("{url} is visited every {}", show_duration(*every)),
        Wish::Boost { pattern, times } => format!("pages that match `{pattern}` count x{times}"),
        Wish::Pause { authority, .. } => format!("{authority} is left alone"),
        Wish::Trust { authority, .. } => {
            format!("{authority} is crawled like any other, whatever it is taken for")
        }
        Wish::Exclude { pattern } => {
            format!("pages that match `{pattern}` are neither fetched nor followed")
        }
    }
}

/// A wish as JSON, with since when where it stands.
pub(super) fn describe(wish: &Wish, since: Option<Time>) -> Value {
    let mut line = match wish {
        Wish::Pin { url, every, .. } => json!({"url": url, "every_seconds": every.as_secs_f64()}),
        Wish::Boost { pattern, times } => json!({"pattern": pattern, "times": times}),
        Wish::Pause { authority, .. } | Wish::Trust { authority, .. } => json!({"host": authority}),
        Wish::Exclude { pattern } => json!({"pattern": pattern}),
    };
    line["wish"] = json!(wish.code());
    if let Some(since) = since {
        line["since"] = json!(since.rfc3339());
    }
    line
}

/// What the user wishes of one URL, each in words.
pub(crate) fn standing(
    opened: &Opened,
    url: &str,
    host: HostKey,
    page: Option<PageKey>,
) -> anyhow::Result<Vec<String>> {
    let mut told = Vec::new();
    for (wish, since) in opened.state.wishes()? {
        let concerned = match &wish {
            Wish::Pin { page: pinned, .. } => page == Some(*pinned),
            Wish::Pause { host: named, .. } | Wish::Trust { host: named, .. } => host == *named,
            Wish::Boost { pattern, .. } | Wish::Exclude { pattern } => {
                Patterns::new(wish.code(), std::slice::from_ref(pattern))?.is_match(url)
            }
        };
        if concerned {
            told.push(format!("{} since {since}", words(&wish)));
        }
    }
    Ok(told)
}
