//! What is known of one cookie?

use std::fmt;

use crate::matching::{domain_matches, path_matches};

/// One cookie.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Cookie {
    pub(crate) name: Box<[u8]>,
    pub(crate) value: Box<[u8]>,
    /// The host or domain that it goes to.
    pub(crate) domain: Box<str>,
    /// Whether it goes to `domain` alone, and not to hosts below it.
    pub(crate) host_only: bool,
    pub(crate) path: Box<str>,
    /// Whether it goes over TLS alone.
    pub(crate) secure: bool,
    /// Whether scripts may not read it; kept for the sake of the file.
    pub(crate) http_only: bool,
    /// When it ends; `None`: with the session.
    pub(crate) expires: Option<i64>,
    /// Whether the user gave it, so that its value is a secret.
    pub(crate) imported: bool,
    /// The order in which cookies were made.
    pub(crate) sequence: u64,
    /// When it was last sent or set.
    pub(crate) used: i64,
}

/// What a cookie is asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target<'a> {
    pub(crate) host: &'a str,
    pub(crate) path: &'a str,
    pub(crate) secure: bool,
}

impl Cookie {
    /// Whether it goes with a request for `target`.
    pub(crate) fn goes_to(&self, target: &Target<'_>, now: i64) -> bool {
        let host = if self.host_only {
            target.host == &*self.domain
        } else {
            domain_matches(target.host, &self.domain)
        };
        host && path_matches(target.path, &self.path)
            && (target.secure || !self.secure)
            && !self.is_expired(now)
    }

    pub(crate) fn is_expired(&self, now: i64) -> bool {
        self.expires.is_some_and(|expires| expires <= now)
    }

    /// Whether `other` takes this one's place.
    pub(crate) fn is_replaced_by(&self, other: &Cookie) -> bool {
        self.name == other.name
            && self.domain == other.domain
            && self.host_only == other.host_only
            && self.path == other.path
    }

    /// How many bytes it counts for.
    pub(crate) fn bytes(&self) -> usize {
        self.name.len() + self.value.len() + self.domain.len() + self.path.len()
    }
}

/// Without the value, which is a secret.
impl fmt::Debug for Cookie {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = String::from_utf8_lossy(&self.name);
        write!(f, "Cookie({name} for {}{})", self.domain, self.path)
    }
}
