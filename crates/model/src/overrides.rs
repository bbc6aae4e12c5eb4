//! What does the user wish of a crawl, beyond its settings?

use std::time::Duration;

use crate::{HostKey, PageKey};

/// Something that the user wishes from now on. At most one of a kind stands for one subject.
#[derive(Clone, Debug, PartialEq)]
pub enum Override {
    /// A page is to be visited at least this often, whatever the policy thinks of it.
    Pin {
        /// The page.
        page: PageKey,
        /// Its canonical URL.
        url: String,
        /// The longest time from one visit to the next.
        every: Duration,
    },
    /// Pages whose URL matches are worth more, or less.
    Boost {
        /// A regular expression.
        pattern: String,
        /// What their weight is multiplied by.
        times: f32,
    },
    /// A host is not to be asked for anything.
    Pause {
        /// The host.
        host: HostKey,
        /// Its name, with the port where it is not the scheme's own.
        authority: String,
    },
    /// A host is crawled like any other, whatever it is taken for.
    Trust {
        /// The host.
        host: HostKey,
        /// Its name, with the port where it is not the scheme's own.
        authority: String,
    },
    /// Pages whose URL matches are neither fetched nor followed.
    Exclude {
        /// A regular expression.
        pattern: String,
    },
}

impl Override {
    /// The name of its kind, as users say it.
    pub const fn code(&self) -> &'static str {
        match self {
            Override::Pin { .. } => "pin",
            Override::Boost { .. } => "boost",
            Override::Pause { .. } => "pause",
            Override::Trust { .. } => "trust",
            Override::Exclude { .. } => "exclude",
        }
    }

    /// What it is about: a URL, a pattern or a host's name.
    pub fn subject(&self) -> &str {
        match self {
            Override::Pin { url, .. } => url,
            Override::Boost { pattern, .. } | Override::Exclude { pattern } => pattern,
            Override::Pause { authority, .. } | Override::Trust { authority, .. } => authority,
        }
    }
}
