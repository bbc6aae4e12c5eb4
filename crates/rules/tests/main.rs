//! What rules find, and what they say of mistakes.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failing test panics")]

mod findings;
mod mistakes;
