//! What does `evercrawl serve` take?

use std::path::PathBuf;

use clap::Args;

/// Examples for `serve --help`.
pub(super) const SERVE_EXAMPLES: &str = "Examples:
  evercrawl serve                        the collections in this directory
  evercrawl serve --data web             one data directory
  evercrawl serve --listen 127.0.0.1:0   any free port";

/// What is served, and where.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Directory with one data directory per collection, and serve.toml
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) home: PathBuf,
    /// Data directory to serve, instead of those in --home
    #[arg(long, short, value_name = "DIR")]
    pub(crate) data: Vec<PathBuf>,
    /// Address and port to listen on [default: 127.0.0.1:7700, or `listen` in serve.toml]
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) listen: Option<String>,
    /// Do not crawl; show what is there, and what other processes crawl
    #[arg(long)]
    pub(crate) no_crawl: bool,
}

/// The crawl process beside `evercrawl serve`.
#[derive(Debug, Args)]
pub(crate) struct CrawlProcess {
    /// Request budget over all collections, e.g. 5/s
    #[arg(long, value_name = "RATE")]
    pub(crate) budget: Option<String>,
}
