//! All integration tests of this crate in one binary: linking one binary per file takes minutes.
//!
//! `cargo test -p evercrawl-extract --test extract decode::` runs the tests of one file.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr, reason = "tests")]

mod decode;
mod html;
mod html_suites;
mod listing;
mod pdf;
mod places;
mod properties;
mod sitemap_suite;
mod suite;
