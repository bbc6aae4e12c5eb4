//! Which flags are about pages made by scripts?

use std::path::PathBuf;

use clap::Args;

use super::{Common, CrawlRules};

/// Which pages are rendered; remembered for the next run on the same data directory.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "What to crawl (remembered in the data directory)")]
pub(crate) struct RenderingArgs {
    /// Run the scripts of pages in a browser: never or always; needs Chromium, see `evercrawl doctor`
    /// [default: never]
    #[arg(long, value_name = "WHEN")]
    pub(crate) render: Option<String>,
    /// Most CPU of the browser, as a share of all cores [default: 0.5]
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true)]
    pub(crate) render_cpu: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Doctor {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Fetch {
    /// The URL
    pub(crate) url: String,
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(flatten)]
    pub(crate) rules: CrawlRules,
    /// Print only the decompressed body; with --render, the DOM after its scripts ran
    #[arg(long)]
    pub(crate) body: bool,
    /// Run the page's scripts in a browser without a network; each request that they make is made by
    /// Evercrawl, as robots.txt and pauses allow
    #[arg(long)]
    pub(crate) render: bool,
    /// Write a picture of the rendered page as PNG to this file
    #[arg(long, value_name = "FILE", requires = "render")]
    pub(crate) screenshot: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
