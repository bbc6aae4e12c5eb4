//! Which validators is a server asked with?

/// The validators of a conditional request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conditions {
    /// Send the `ETag`.
    pub etag: bool,
    /// Send the `Last-Modified`.
    pub last_modified: bool,
}

impl Conditions {
    /// Send all known validators.
    pub const ALL: Self = Conditions { etag: true, last_modified: true };
    /// Send none: the server must send the page.
    pub const NONE: Self = Conditions { etag: false, last_modified: false };
}
