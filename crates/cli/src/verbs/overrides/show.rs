//! How is a wish told, to people and to programs?

use evercrawl_model::{Override, Time};
use serde_json::{Value, json};

use crate::units::show_duration;

/// A wish in words.
pub(super) fn words(user_override: &Override) -> String {
    match user_override {
        Override::Pin { url, every, .. } => {
            format!("{url} is visited every {}", show_duration(*every))
        }
        Override::Boost { pattern, times } => {
            format!("pages that match `{pattern}` count x{times}")
        }
        Override::Pause { authority, .. } => format!("{authority} is left alone"),
        Override::Trust { authority, .. } => {
            format!("{authority} is crawled like any other, whatever it is taken for")
        }
        Override::Exclude { pattern } => {
            format!("pages that match `{pattern}` are neither fetched nor followed")
        }
    }
}

/// A wish as JSON, with since when where it stands.
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
