//! What did the user set for URLs, patterns and hosts?

use evercrawl_model::{Override, Time};
use serde::{Deserialize, Serialize};

use crate::code::At;
use crate::noise::NoiseView;

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
        times: f32,
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
        OverrideView { what: user_override.into(), since: At(since) }
    }
}

impl From<&Override> for OverrideKind {
    fn from(user_override: &Override) -> Self {
        match user_override.clone() {
            Override::Pin { url, every, .. } => {
                OverrideKind::Pin { url, every_seconds: every.as_secs_f64() }
            }
            Override::Boost { pattern, times } => OverrideKind::Boost { pattern, times },
            Override::Pause { authority, .. } => OverrideKind::Pause { host: authority },
            Override::Trust { authority, .. } => OverrideKind::Trust { host: authority },
            Override::Exclude { pattern } => OverrideKind::Exclude { pattern },
        }
    }
}

/// What came of a request about overrides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OverridesView {
    /// Those in force.
    Listed(ListedOverrides),
    /// Those that were set or removed.
    Changed(Vec<ChangedOverride>),
    /// What an exclusion would do; nothing was changed.
    Counted(ExclusionCount),
    /// What was learned of a page's noise.
    Noise {
        /// What was learned.
        noise: Box<NoiseView>,
        /// Whether it was forgotten.
        forgotten: bool,
    },
}

/// Overrides in force.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ListedOverrides {
    /// The kind that was asked for; `None`: all.
    pub kind: Option<String>,
    /// The overrides.
    pub overrides: Vec<OverrideView>,
}

/// An override that was set or removed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChangedOverride {
    /// What it does.
    #[serde(flatten)]
    pub what: OverrideKind,
    /// Whether it holds now.
    pub now: OverrideNow,
    /// What held before, where that was something else.
    pub before: Option<OverrideKind>,
    /// What the user should know.
    pub note: Option<OverrideNote>,
}

/// Whether an override holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OverrideNow {
    /// It was set.
    Holds,
    /// It was removed.
    Ended,
}

/// Why an override has another effect than one might expect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum OverrideNote {
    /// The page was unknown, and is a seed now.
    NewSeed,
    /// The page is excluded.
    Excluded,
    /// The page's host is paused.
    HostPaused,
    /// The page is refused.
    Refused {
        /// The code of the reason.
        reason: String,
    },
    /// There is no budget that weights could divide.
    NoBudget,
}

/// What an exclusion would do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExclusionCount {
    /// The regular expression.
    pub pattern: String,
    /// Known pages that match.
    pub matching: u64,
    /// Known pages.
    pub known: u64,
    /// Some that match.
    pub examples: Vec<String>,
}
