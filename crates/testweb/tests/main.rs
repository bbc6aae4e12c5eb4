//! All integration tests of this crate in one binary: linking one binary per file takes minutes.
//!
//! `cargo test -p evercrawl-testweb --test testweb pages::` runs the tests of one file.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr, reason = "tests")]

mod pages;
mod reach;
mod server;
