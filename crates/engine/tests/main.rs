//! All integration tests of this crate in one binary: linking one binary per file takes minutes.
//!
//! `cargo test -p evercrawl-engine --test engine doubts::` runs the tests of one file.
//! `instructions.rs` is a binary of its own, because valgrind runs it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr, reason = "tests")]

mod batches;
mod common;
mod doubts;
mod endless;
mod fallen_budget;
mod importance;
mod importing;
mod months;
mod moved;
mod orders;
mod power_cuts;
mod robots;
mod shared_budget;
mod signals;
mod simulation;
mod states;
mod turns;
mod walks;
