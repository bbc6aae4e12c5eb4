//! What is a page, a host, a visit, an outcome, an event? Plain values, nothing else.
//!
//! Every other crate speaks in these types. They know nothing of disks, sockets or clocks: a
//! [`Time`] is handed in by whoever owns one.

mod key;
mod page;
mod time;

pub use key::{HostKey, Keyer, PageKey};
pub use page::Refusal;
pub use time::{ParseTimeError, Time};
