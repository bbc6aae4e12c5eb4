//! What a server over made-up collections answers, and whom it refuses.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failing test panics")]

mod answers;
mod common;
mod security;
