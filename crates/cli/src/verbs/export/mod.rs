//! `evercrawl export`: the crawl as files that other tools read.
//!
//! Rows come from the data directory, or from the crawl that works in it; records are read from the archive's files
//! here. What follows the log (`warc`, `crawl-log`, tables of captures and visits) resumes where it ended; what shows
//! the present (`urls`, `sitemap`) is written anew and takes the old file's place in one step.

mod args;
mod evidence;
mod log_rows;
mod markdown;
mod page_rows;
mod tables;

use std::fmt::Display;
use std::path::Path;

use serde::Serialize;

pub(crate) use args::{EXAMPLES, Export};

use crate::units::{show_counted, show_size};
use crate::{exit, print};

/// Makes the export that `verb` names.
pub(crate) fn run(verb: &Export) -> anyhow::Result<u8> {
    match verb {
        Export::Warc(args) => log_rows::warc(args),
        Export::Wacz(args) => log_rows::wacz(args),
        Export::Parquet(args) => tables::run(args),
        Export::Markdown(args) => markdown::run(args),
        Export::Evidence(args) => evidence::run(args),
        Export::CrawlLog(args) => log_rows::crawl_log(args),
        Export::Urls(args) => page_rows::urls(args),
        Export::Sitemap(args) => page_rows::sitemap(args),
    }
}

/// What was written.
#[derive(Debug, Default, Serialize)]
struct Written {
    path: String,
    /// Rows of this run.
    rows: u64,
    /// Bytes of the file.
    bytes: u64,
    /// Visits without a record, as where retention dropped it.
    #[serde(skip_serializing_if = "Option::is_none")]
    without_record: Option<u64>,
    /// Pages in the list of a package.
    #[serde(skip_serializing_if = "Option::is_none")]
    pages: Option<u64>,
    /// The number of the last row of the log that is in the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<u64>,
}

impl Written {
    fn to(path: &Path) -> Self {
        Written { path: path.display().to_string(), ..Written::default() }
    }

    /// Tells the user, in words on standard error or as JSON.
    fn print_summary(&self, what: &str, as_json: bool) -> anyhow::Result<u8> {
        if as_json {
            print::json_line(&mut print::data(), self)?;
            return Ok(exit::OK);
        }
        let left_out = match self.without_record {
            None | Some(0) => String::new(),
            Some(count) => format!("; {} without a record left out", show_counted(count, "visit")),
        };
        let (rows, bytes) = (show_counted(self.rows, what), show_size(self.bytes));
        say(format_args!("{rows}, {bytes} in {}{left_out}", self.path));
        Ok(exit::OK)
    }
}

/// Says something that is no data.
fn say(words: impl Display) {
    eprintln!("{}", print::plain(&words.to_string()));
}
