//! How is a crawl written as tables for analysis? As Parquet files: Common Crawl's columns first, then ours.
//!
//! | table | a row for each | files |
//! |---|---|---|
//! | captures | archived response | `captures/crawl=NAME/subset=SUBSET/WARC.parquet`, one a finished WARC file |
//! | visits | visit | `visits.parquet` |
//! | pages | known URL | `pages.parquet` |
//! | hosts | host | `hosts.parquet` |
//!
//! As Common Crawl has it, the subset `warc` holds answers with status 200, and `crawldiagnostics` all others.

mod captures;
mod rows;
mod table;
mod url_columns;

pub use captures::{CaptureTables, CapturesWritten};
pub use rows::{HostTable, PageTable, VisitTable};
