//! All integration tests of this crate in one binary: linking one binary per file takes minutes.
//!
//! `cargo test -p evercrawl-state --test state bulk::` runs the tests of one file.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr, reason = "tests")]

mod bulk;
mod events;
mod replay;
mod same_bytes;
