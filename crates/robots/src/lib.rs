//! May we fetch this? RFC 9309, meta robots, X-Robots-Tag.
//!
//! Three questions, one module each: what the answer to the request for `/robots.txt` allows
//! ([`availability`]), what the file itself allows ([`RobotsTxt`]), and what a fetched page asks of
//! the keeper of the file ([`Directives`]). Nothing here fails: every input has a verdict.
//!
//! ```
//! use evercrawl_robots::RobotsTxt;
//!
//! let robots = RobotsTxt::parse(b"User-agent: *\nDisallow: /private/\n", "evercrawl");
//! let verdict = robots.verdict("/private/diary.html");
//! assert!(!verdict.allowed);
//! assert_eq!(verdict.line.map(|line| (line.number, line.text)), Some((2, "Disallow: /private/")));
//! ```

mod access;
mod directives;
mod file;
mod grammar;
mod pattern;

pub use access::{Access, MIN_REDIRECTS, availability};
pub use directives::Directives;
pub use file::{RobotsTxt, RuleLine, Verdict};
pub use grammar::MAX_BYTES;
