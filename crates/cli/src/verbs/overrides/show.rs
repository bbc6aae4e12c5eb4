//! How is an override shown, as text and as JSON?

use evercrawl_model::{HostKey, Override, PageKey, Time};
use evercrawl_urls::Patterns;
use serde_json::{Value, json};

use super::Opened;
use crate::units::show_duration;

/// An override as text.
pub(super) fn words(user_override: &Override) -> String {
    match user_override {
        Override::Pin { url, every, .. } => {
            format!("{url} is visited every {}", show_duration(*every))
        }
        Override::Boost { pattern, times } => {
            format!("pages matching `{pattern}` weigh {times}x")
        }
        Override::Pause { authority, .. } => format!("{authority} is paused"),
        Override::Trust { authority, .. } => {
            format!("{authority} is trusted: never treated as spam or a mirror")
        }
        Override::Exclude { pattern } => {
            format!("pages matching `{pattern}` are excluded: not fetched, links not followed")
        }
    }
}

/// An override as JSON, with the time since when it holds.
pub(super) fn describe(user_override: &Override, since: Option<Time>) -> Value {
    let mut line = match user_override {
        Override::Pin { url, every, .. } => {
            json!({"url": url, "every_seconds": every.as_secs_f64()})
        }
        Override::Boost { pattern, times } => json!({"pattern": pattern, "times": times}),
        Override::Pause { authority, .. } | Override::Trust { authority, .. } => {
            json!({"host": authority})
        }
        Override::Exclude { pattern } => json!({"pattern": pattern}),
    };
    line["wish"] = json!(user_override.code());
    if let Some(since) = since {
        line["since"] = json!(since.rfc3339());
    }
    line
}

/// The overrides of one URL, as text.
pub(crate) fn standing(
    opened: &Opened,
    url: &str,
    host: HostKey,
    page: Option<PageKey>,
) -> anyhow::Result<Vec<String>> {
    let mut found = Vec::new();
    for (user_override, since) in opened.state.overrides()? {
        let concerned = match &user_override {
            Override::Pin { page: pinned, .. } => page == Some(*pinned),
            Override::Pause { host: named, .. } | Override::Trust { host: named, .. } => {
                host == *named
            }
            Override::Boost { pattern, .. } | Override::Exclude { pattern } => {
                Patterns::new(user_override.code(), std::slice::from_ref(pattern))?.is_match(url)
            }
        };
        if concerned {
            found.push(format!("{} since {since}", words(&user_override)));
        }
    }
    Ok(found)
}
