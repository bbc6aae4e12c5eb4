//! In which forms can a crawl leave? As WARC, WACZ, tables, crawl.log, lists of URLs and sitemaps.
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
//! - [`Feed`]: what feed readers follow
//! - [`Wacz`]: a package that replays by itself; [`Evidence`]: what a page was made of at a time
//! - [`MarkdownFiles`]: a folder with a Markdown file for each document
//! - [`CaptureTables`], [`VisitTables`], [`PageTable`], [`HostTable`], [`LinkTable`]: Parquet files
//! - [`WarcCopier`], [`crawl_log_line`], [`Sitemap`]: the forms

mod contents;
mod crawl_log;
mod documents;
mod error;
mod evidence;
mod feed;
mod fields;
mod filter;
mod growing_file;
mod markdown_files;
mod page_text;
mod parquet;
mod sitemap;
mod wacz;
mod warc;

pub use contents::{Content, Contents};
pub use crawl_log::crawl_log_line;
pub use documents::{Batch, Document, DocumentForm, Documents, Operation, Refused};
pub use error::ExportError;
pub use evidence::{Evidence, EvidenceRecord};
pub use feed::{Feed, FeedEntry, FeedForm};
pub use fields::{PAGE_FIELDS, VISIT_FIELDS, page_value, visit_value};
pub use filter::{Field, Filter, FilterError, Kind, Value};
pub use growing_file::GrowingFile;
pub use markdown_files::MarkdownFiles;
pub use page_text::{PageText, page_text};
pub use parquet::{CaptureTables, CapturesWritten, HostTable, LinkTable, PageTable, VisitTables};
pub use sitemap::Sitemap;
pub use wacz::{Signer, SortedLines, Wacz, WaczContents, WaczSettings};
pub use warc::WarcCopier;
