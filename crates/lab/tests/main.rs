//! All integration tests of this crate in one binary: linking one binary per file takes minutes.
//!
//! `cargo test -p evercrawl-lab --test lab runs::` runs the tests of one file.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr, reason = "tests")]

mod runs;
mod visit_log;
