//! Does the code keep the rules that ARCHITECTURE.md states and a compiler does not check?
//!
//! - [`layers`]: does each crate depend only on the layers above its own?
//! - [`purity`]: do pure crates stay away from files, sockets, clocks, threads and chance?
//! - [`cycles`]: can the modules of a crate be read in some order, without going in circles?
//! - [`sizes`]: are files and functions short enough to be read in one go?
//! - [`documents`]: is ARCHITECTURE.md an overview, and do lines of documents fit a window?
//! - [`dependencies`]: do the dependencies have licences and sources that `deny.toml` allows?

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on stops there")]

mod cycles;
mod dependencies;
mod documents;
mod layers;
mod lexer;
mod purity;
mod sizes;
mod sources;

/// Fails with all that is wrong, one to a line.
#[track_caller]
fn assert_none(rule: &str, wrong: &[String]) {
    assert!(wrong.is_empty(), "{rule}\n{}", wrong.join("\n"));
}
