//! How does the server talk with the crawl process beside it? In JSON, one value a line: orders go to its standard
//! input, and news come from its standard output. When its input ends, it stops as if it had been asked to.
//!
//! Questions about a collection go to the collection's own control socket, as those of verbs do.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// What the crawl process is to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CrawlOrder {
    /// Begin to crawl a data directory.
    Start {
        /// The name of the collection.
        name: String,
        /// Its data directory.
        data: PathBuf,
    },
    /// Let what a collection has in flight finish, and leave it.
    Stop {
        /// The name of the collection.
        name: String,
    },
    /// Stop all and end; a second time: without waiting for what is in flight.
    End,
}

/// What the crawl process tells.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CrawlNews {
    /// A collection is being crawled.
    Began {
        /// Its name.
        name: String,
    },
    /// A collection is not crawled any more.
    Ended {
        /// Its name.
        name: String,
        /// The exit code that `crawl` would have.
        code: u8,
        /// What went wrong; `None` where it ended as it should.
        fault: Option<String>,
    },
}
