//! In which forms can a crawl leave? As WARC, crawl.log, lists of URLs and sitemaps.
//!
//! Every export is fed with the rows that [`evercrawl_query`] answers with, whether a crawl runs or not, and reads
//! what was fetched from the archive by itself. It holds a bounded number of rows in memory.
//!
//! # Layout
//!
//! - [`Filter`]: which rows are wanted?
//! - [`Contents`]: what was fetched by a visit?
//! - [`GrowingFile`]: a file that continues where an earlier export ended
//! - [`Documents`]: what a search index is to hold, as operations by number
//! - [`Wacz`]: a package that replays by itself
//! - [`WarcCopier`], [`crawl_log_line`], [`Sitemap`]: the forms

mod contents;
mod crawl_log;
mod documents;
mod error;
mod fields;
mod filter;
mod growing_file;
mod page_text;
mod sitemap;
mod wacz;
mod warc;

pub use contents::{Content, Contents};
pub use crawl_log::crawl_log_line;
pub use documents::{Batch, Document, DocumentForm, Documents, Operation, Refused};
pub use error::ExportError;
pub use fields::{PAGE_FIELDS, VISIT_FIELDS, page_value, visit_value};
pub use filter::{Field, Filter, FilterError, Kind, Value};
pub use growing_file::GrowingFile;
pub use page_text::{PageText, page_text};
pub use sitemap::Sitemap;
pub use wacz::{Wacz, WaczContents, WaczSettings};
pub use warc::WarcCopier;
