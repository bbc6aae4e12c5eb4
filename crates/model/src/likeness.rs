//! How similar are two hosts?

use crate::{HostKey, Time};

/// The result of comparing pages at the same paths of two hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostLikeness {
    /// The host that it is compared with.
    pub compared_with: HostKey,
    /// Pages whose content was the same on both.
    pub alike_pages: u32,
    /// Pages that were compared.
    pub compared_pages: u32,
    /// Whether the host counts as a mirror of the other.
    pub is_mirror: bool,
    /// Since when `is_mirror` has its value.
    pub since: Time,
}
