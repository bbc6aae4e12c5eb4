//! What regions choose and say, and that no page makes them slow.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failing test panics")]

mod fields;
mod hostile;
mod regions;
