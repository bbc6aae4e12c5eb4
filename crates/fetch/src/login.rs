//! How do a user name and a password stand in a header?

use data_encoding::BASE64;

/// The value of a header with `user:password`.
pub(crate) fn basic(login: &str) -> String {
    format!("Basic {}", BASE64.encode(login.as_bytes()))
}
