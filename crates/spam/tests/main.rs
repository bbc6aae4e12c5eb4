//! All integration tests of this crate in one binary: linking one binary per file takes minutes.
//!
//! `cargo test -p evercrawl-spam --test spam fresh_web::` runs the tests of one file.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr, reason = "tests")]

mod fresh_web;
mod large_farm;
