//! What have users of other tools, and how does it become seeds and visits of a crawl?
//!
//! Every reader takes what it can read, says of the rest why it is not taken and where it stands, and holds a bounded
//! amount of memory, whatever the file claims. What a file is is seen from its content.
//!
//! # Layout
//!
//! - [`kind_of`]: what is this file?
//! - `lists`: URL lists, CSV, sitemaps, OPML, bookmarks, urlwatch
//! - `warc`, `zip`: records and entries of files that may be broken or hostile
//! - `logs`: crawl.log, CDXJ, Nutch dumps: visits without content
//! - `changedetection`: its backup
//! - `scan`: what is in all files, the visits in order of time?
//! - `load`: how do they come into a data directory?

mod changedetection;
mod error;
mod found;
mod http;
mod kind;
mod lines;
mod lists;
mod load;
mod logs;
mod report;
mod scan;
mod source;
mod warc;
mod zip;

pub use error::ImportError;
pub use found::{FoundSeed, Place, Taker};
pub use kind::{Kind, kind_of};
pub use load::{Loader, load};
pub use report::{NotTaken, Report};
pub use scan::{Scanned, scan, scan_bytes};
pub use source::{Input, find_inputs};
