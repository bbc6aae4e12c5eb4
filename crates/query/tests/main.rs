//! All integration tests of this crate in one binary: linking one binary per file takes minutes.
//!
//! `cargo test -p evercrawl-query --test query why::` runs the tests of one file.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod common;
mod lately;
mod log;
mod overview;
mod pages;
mod why;
