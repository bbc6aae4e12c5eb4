//! What did the user set for single URLs, patterns or hosts?

use std::time::Duration;

use crate::{HostKey, PageKey};

/// A user override. At most one of each kind applies to one subject.
#[derive(Clone, Debug, PartialEq)]
pub enum Override {
    /// A page is visited at least this often, whatever the policy says.
    Pin {
        /// The page.
        page: PageKey,
        /// Its canonical URL.
        url: String,
        /// The longest interval between visits.
        every: Duration,
    },
    /// Pages whose URL matches have another weight.
    Boost {
        /// A regular expression.
        pattern: String,
        /// The factor on their weight.
        times: f32,
    },
    /// A host gets no requests.
    Pause {
        /// The host.
        host: HostKey,
        /// Its name, with the port unless it is the scheme's default.
        authority: String,
    },
    /// A host is never treated as spam.
    Trust {
        /// The host.
        host: HostKey,
        /// Its name, with the port unless it is the scheme's default.
        authority: String,
    },
    /// Pages whose URL matches are neither fetched nor followed.
    Exclude {
        /// A regular expression.
        pattern: String,
    },
}

impl Override {
    /// The name of its kind, as shown to users.
    pub const fn code(&self) -> &'static str {
        match self {
            Override::Pin { .. } => "pin",
            Override::Boost { .. } => "boost",
            Override::Pause { .. } => "pause",
            Override::Trust { .. } => "trust",
            Override::Exclude { .. } => "exclude",
        }
    }

    /// Its subject: a URL, a pattern or a host name.
    pub fn subject(&self) -> &str {
        match self {
            Override::Pin { url, .. } => url,
            Override::Boost { pattern, .. } | Override::Exclude { pattern } => pattern,
            Override::Pause { authority, .. } | Override::Trust { authority, .. } => authority,
        }
    }
}
