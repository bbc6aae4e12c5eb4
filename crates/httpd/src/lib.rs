//! How is HTTP served to a few callers, within bounds that no caller can move?
//!
//! A [`Server`] listens on one address and speaks HTTP/1.1. One thread reads and writes; a bounded number of threads
//! runs the [`Handler`], which is plain code: it gets a whole [`Request`] and returns a [`Response`], whose body may be
//! a stream. The `Host` header is checked before anything else is looked at.
//!
//! - `request`: what does a caller want?
//! - `response`: what does it get?
//! - `hosts`: under which names may the server be asked?
//! - `server`: who is served, and within which bounds?
//! - `patient`: how long is a caller waited for who takes nothing?

mod hosts;
mod patient;
mod request;
mod response;
mod server;

pub use hosts::Hosts;
pub use hyper::Method;
pub use request::{Head, Request};
pub use response::{Response, StreamBody, StreamEnd, StreamSender, stream};
pub use server::{Bounds, Handler, Server};
