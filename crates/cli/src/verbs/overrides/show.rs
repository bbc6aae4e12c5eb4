//! How is an override shown, as text and as JSON?

use evercrawl_model::{Override, Time};
use serde_json::{Value, json};

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
