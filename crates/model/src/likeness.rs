//! How much is a host like another?

use crate::{HostKey, Time};

/// What comparing pages at the same paths of two hosts has shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Likeness {
    /// The host that it is compared with.
    pub of: HostKey,
    /// Pages whose content was the same on both.
    pub alike: u32,
    /// Pages that were compared.
    pub compared: u32,
    /// Whether it is taken for a mirror.
    pub mirror: bool,
    /// Since when it is, or is not.
    pub since: Time,
}
