//! All integration tests of this crate in one binary: linking one binary per file takes minutes.
//!
//! `cargo test -p evercrawl-cli --test cli budget::` runs the tests of one file.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr, reason = "tests")]

mod alerts;
mod answers;
mod budget;
mod check;
mod common;
mod control;
mod diff;
mod disk_full;
mod documents;
mod exact_set;
mod export;
mod failing_disk;
mod formats;
mod handed_over;
mod hostile;
mod import;
mod inputs;
mod instead;
mod kill;
mod lab;
mod lab_graph;
mod lab_live;
mod lab_report;
mod lab_run;
mod life;
mod links;
mod listings;
mod lost_state;
mod metrics;
mod mirrors;
mod noise;
mod outsiders;
mod overrides;
mod pace;
mod politeness;
mod push;
mod rank;
mod reports;
mod retention;
mod rules;
mod running;
mod settings;
mod several;
mod spam;
mod status;
mod stop;
mod tables;
mod tools;
mod verbs;
mod ways_in;
mod wild;
