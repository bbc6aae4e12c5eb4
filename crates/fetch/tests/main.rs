//! All integration tests of this crate in one binary: linking one binary per file takes minutes.
//!
//! `cargo test -p evercrawl-fetch --test fetch addresses::` runs the tests of one file.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr, reason = "tests")]

mod addresses;
mod limits;
mod proxies;
mod quirks;
mod reuse;
mod secure;
mod support;
mod ways_in;
