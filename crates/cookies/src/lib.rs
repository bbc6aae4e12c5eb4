//! Which cookies may be kept, and which go with a request?
//!
//! A [`Jar`] keeps the cookies of one crawl by the rules of RFC 6265 and its successor (6265bis): [`Jar::store`] takes a
//! `Set-Cookie` value, [`Jar::header`] makes the `Cookie` value of a request. [`Jar::import`] reads a cookies.txt as
//! browsers and curl write it; [`Jar::to_file`] and [`Jar::read_file`] keep a jar between runs.
//!
//! Nothing here reads a clock or a file: times are seconds since 1970, and files are bytes. Every jar is bounded in
//! cookies per site, cookies in all and bytes ([`JarLimits`]), whatever servers send.

mod cookie;
mod date;
mod file;
mod jar;
mod matching;
mod set_cookie;

pub use file::{BadCookieFile, Imported};
pub use jar::{CookieHeader, Jar, JarLimits};
pub use matching::is_public_suffix;
pub use set_cookie::RejectedCookie;
