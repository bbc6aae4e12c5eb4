//! Does a page run to its end, does nothing escape, and does a hostile page cost no more than its caps?
#![allow(clippy::unwrap_used, clippy::print_stderr, clippy::print_stdout, reason = "tests")]
#![allow(clippy::disallowed_methods, reason = "tests wait for processes, in real time")]

mod ending;
mod hostile;
mod no_escape;
mod reading;
mod support;
