//! What can be said to `evercrawl rank`?

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use crate::args::Common;
use crate::units;

#[derive(Debug, Args)]
pub(crate) struct RankArgs {
    #[command(flatten)]
    pub(crate) common: Common,
    /// What makes a page matter
    #[arg(long, value_enum, default_value_t = Method::Pagerank)]
    pub(crate) method: Method,
    /// How likely a surfer is to follow a link rather than jump
    #[arg(long, value_name = "SHARE", default_value = "0.85", value_parser = units::share)]
    pub(crate) damping: f64,
    /// Pages that trust begins with, one URL a line [default: the crawl's seeds]
    #[arg(long, value_name = "FILE")]
    pub(crate) trust: Option<PathBuf>,
    /// How many to show
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(crate) top: usize,
    /// Write the links as CSV (src,dst) for `lab graph` and other programs, and rank nothing
    #[arg(long, value_name = "FILE")]
    pub(crate) export: Option<PathBuf>,
    /// JSON Lines instead of a table
    #[arg(long)]
    pub(crate) json: bool,
    /// Where relative names of files begin: a running crawl that answers is elsewhere
    #[arg(long, hide = true, value_name = "DIR")]
    pub(crate) files_from: Option<PathBuf>,
}

impl RankArgs {
    /// A file as whoever asked has named it.
    pub(crate) fn file(&self, name: &Path) -> PathBuf {
        self.files_from.as_ref().map_or(name.to_owned(), |from| from.join(name))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Method {
    /// How often a surfer comes by
    Pagerank,
    /// How well it is pointed to by pages that point well (authority), and points itself (hub)
    Hits,
    /// How many pages link to it
    Indegree,
    /// What passes through it while cash is handed on along links
    Opic,
    /// PageRank of a surfer who jumps to trusted pages only
    Trustrank,
    /// Hosts by PageRank: a link counts from host to host
    Host,
    /// Registered domains by PageRank
    Domain,
}
