//! How is a crawl written as tables for analysis? As Parquet files: Common Crawl's columns first, then ours.
//!
//! | table | a row for each | files |
//! |---|---|---|
//! | captures | archived response | `captures/crawl=NAME/subset=SUBSET/part-N.parquet`, one a finished WARC file |
//! | visits | visit | `visits/part-FIRST-LAST.parquet`, by numbers of the log |
//! | pages | known URL | `pages.parquet` |
//! | hosts | host | `hosts.parquet` |
//! | links | link between known pages | `links.parquet` |
//!
//! As Common Crawl has it, the subset `warc` holds answers with status 200, and `crawldiagnostics` all others. A file
//! has its name only when it is whole.

mod capture_columns;
mod captures;
mod progress;
mod rows;
mod table;
mod url_columns;
mod visits;

pub use captures::{CaptureTables, CapturesWritten};
pub use rows::{HostTable, LinkTable, PageTable};
pub use visits::VisitTables;
