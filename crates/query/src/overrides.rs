//! What did the user set for URLs, patterns and hosts?

use evercrawl_model::{Override, Time};
use serde::{Deserialize, Serialize};

use crate::code::At;

/// Something that the user set for a URL, a pattern or a host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OverrideView {
    /// What it does.
    #[serde(flatten)]
    pub what: OverrideKind,
    /// Since when it holds.
    pub since: At,
}

/// What an override does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum OverrideKind {
    /// A page is visited at least this often.
    Pin {
        /// The page.
        url: String,
        /// The longest time from visit to visit, in seconds.
        every_seconds: f64,
    },
    /// Pages whose URL matches count more, or less.
    Boost {
        /// A regular expression.
        pattern: String,
        /// What their weight is multiplied by.
        times: f64,
    },
    /// A host is not asked for anything.
    Pause {
        /// The host.
        host: String,
    },
    /// A host is crawled like any other, whatever it is taken for.
    Trust {
        /// The host.
        host: String,
    },
    /// Pages whose URL matches are neither fetched nor followed.
    Exclude {
        /// A regular expression.
        pattern: String,
    },
}

impl OverrideView {
    /// An override that holds since then.
    pub fn new(user_override: &Override, since: Time) -> Self {
        let what = match user_override.clone() {
            Override::Pin { url, every, .. } => {
                OverrideKind::Pin { url, every_seconds: every.as_secs_f64() }
            }
            Override::Boost { pattern, times } => {
                OverrideKind::Boost { pattern, times: times.into() }
            }
            Override::Pause { authority, .. } => OverrideKind::Pause { host: authority },
            Override::Trust { authority, .. } => OverrideKind::Trust { host: authority },
            Override::Exclude { pattern } => OverrideKind::Exclude { pattern },
        };
        OverrideView { what, since: At(since) }
    }
}
