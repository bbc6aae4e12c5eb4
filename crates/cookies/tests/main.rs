//! Are cookies kept and sent as RFC 6265 and its successor say?
#![allow(clippy::unwrap_used, reason = "a failing test panics")]

mod files;
mod rules;
