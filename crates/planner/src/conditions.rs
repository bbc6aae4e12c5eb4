//! Which validators is a server asked with?

/// By what a server is asked whether a page changed since it was last seen, as far as that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conditions {
    /// By its `ETag`.
    pub etag: bool,
    /// By its `Last-Modified`.
    pub last_modified: bool,
}

impl Conditions {
    /// By whatever is known.
    pub const ALL: Self = Conditions { etag: true, last_modified: true };
    /// It is to be sent in any case.
    pub const NONE: Self = Conditions { etag: false, last_modified: false };
}
